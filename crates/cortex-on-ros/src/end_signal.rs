//! The signals that Cortex ends at, in order: Ctrl-C, the wish of whoever looks after services, and a terminal that is closed
//! or a connection that is lost.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Where Linux says what becomes of signals in this process.
const STATUS: &str = "/proc/self/status";

/// Waits for one of them, and names it.
pub(crate) async fn end_signal() -> io::Result<&'static str> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // What `nohup` has started goes on. The other two are never ignored: a shell has its background processes ignore SIGINT.
    let status = std::fs::read_to_string(STATUS).unwrap_or_default();
    let mut hang_up = match ignores(&status, SignalKind::hangup()) {
        true => None,
        false => Some(signal(SignalKind::hangup())?),
    };
    let hung_up = async {
        match &mut hang_up {
            Some(signal) => signal.recv().await,
            None => std::future::pending().await,
        }
    };
    Ok(tokio::select! {
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
        _ = hung_up => "SIGHUP",
    })
}

/// Whether a process with this status ignores a signal: bit n-1 of a number in hexadecimal digits.
fn ignores(status: &str, kind: SignalKind) -> bool {
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or_default();
    let number = u32::try_from(kind.as_raw_value()).unwrap_or_default();
    number.checked_sub(1).and_then(|bit| ignored.checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nohup_has_set_is_seen() {
        let status = |mask: &str| format!("Name:\tcortex\nSigBlk:\tffffffffffffffff\nSigIgn:\t{mask}\nSigCgt:\t0\n");
        assert!(ignores(&status("0000000000001001"), SignalKind::hangup()));
        assert!(ignores(&status("0000000000000002"), SignalKind::interrupt()));
        for other in ["0000000000001000", "0000000000000002", "", "nonsense"] {
            assert!(!ignores(&status(other), SignalKind::hangup()), "{other}");
        }
        assert!(!ignores("", SignalKind::hangup()));
    }
}
