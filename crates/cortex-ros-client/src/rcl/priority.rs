//! Which thread goes first where there are more of them than processors.

use libc::{PRIO_PROCESS, setpriority};

/// The niceness of a thread that must not wait for others; 0 is usual, and less goes before more.
const URGENT: i32 = -15;

/// Lets the calling thread go before all others of usual priority. False where that is not allowed: it takes the capability
/// `CAP_SYS_NICE`, or a limit of the process (`RLIMIT_NICE`).
pub fn go_first() -> bool {
    // SAFETY: it takes no pointers. On Linux, 0 stands for the calling thread alone.
    unsafe { setpriority(PRIO_PROCESS, 0, URGENT) == 0 }
}
