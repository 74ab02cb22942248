//! Whether a thread of ROS did not end when it was told to, as the middleware's now and then do not when several processes
//! come and go at once. [`exit_process`](crate::exit_process) ends the process then.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_ANY: AtomicBool = AtomicBool::new(false);

/// A thread was left behind.
pub(crate) fn note() {
    IS_ANY.store(true, Ordering::Release);
}

/// Whether one was.
pub(crate) fn is_any() -> bool {
    IS_ANY.load(Ordering::Acquire)
}
