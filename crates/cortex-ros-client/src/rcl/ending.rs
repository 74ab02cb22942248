//! The end of a process in which something hangs.

use std::io::Write as _;
use std::process::ExitCode;

use libc::_exit;

use crate::hung_threads;

/// The last thing that `main` does. Gives the exit status back, unless a thread of ROS did not end: then the process ends
/// here, with that status, since exit handlers would wait for the thread for ever.
#[must_use]
pub fn exit_process(code: ExitCode) -> ExitCode {
    if hung_threads::is_any() {
        // Nobody reading is no reason to stay.
        let _ = std::io::stdout().flush();
        let status = (0..=u8::MAX).find(|status| ExitCode::from(*status) == code);
        exit_at_once(status.unwrap_or(u8::MAX));
    }
    code
}

/// Ends the process at once, with this exit status. No exit handler is run: those of the middleware crash or hang while
/// its threads are at work.
pub fn exit_at_once(status: u8) -> ! {
    // SAFETY: it ends the process and returns to nobody.
    unsafe { _exit(status.into()) }
}
