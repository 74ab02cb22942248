//! Runs a command that starts robots, and leaves nothing of them behind, however it ends.

use std::ops::Range;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::guard::Guard;
use crate::leftovers::Traces;

/// How soon the command's end and a signal are noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How often the shared memory in use is noted: a process that is killed sooner after its start keeps its secret.
const NOTE_INTERVAL: Duration = Duration::from_millis(500);

/// The processes choose their domains themselves, so only the shared memory that was seen in their hands is theirs.
const NO_PORTS: Range<u16> = 0..0;

/// Runs the command to its end. A signal to this process ends the command, and what it has started.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus> {
    run_with(command, Traces::new(), |traces| Guard::start(traces, &NO_PORTS).map(Some))
}

/// The same, with this guard against the death of this process.
fn run_with(
    command: &mut Command,
    mut traces: Traces,
    guard: impl FnOnce(&Traces) -> Result<Option<Guard>>,
) -> Result<ExitStatus> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot listen for signals")?;
    }
    let _guard = guard(&traces)?;
    let mut child = command
        .envs([traces.variable()])
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let mut noted = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for the command")? {
            break status;
        }
        if stop.swap(false, Ordering::Relaxed)
            && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        {
            // At a terminal the command has had the signal, too; a second one does no harm.
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
        if noted.elapsed() >= NOTE_INTERVAL {
            traces.note_shared_memory();
            noted = Instant::now();
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    traces.end_orphans();
    traces.remove_shared_memory(&NO_PORTS);
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_command_leaves_behind_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("sleep 600 & echo $! > {}/pid; exit 7", folder.path().display());
        let status = run_with(Command::new("sh").args(["-c", &script]), Traces::new(), |_| Ok(None)).unwrap();
        assert_eq!(status.code(), Some(7));
        let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
        let left = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
        assert_eq!(left, "", "it has ended, or is only waiting to be collected");
    }
}
