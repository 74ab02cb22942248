//! Signals that end the view.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::WatchError;

/// See the module.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Self, WatchError> {
        let on = |kind| signal(kind).map_err(WatchError::Start);
        Ok(Self {
            interrupt: on(SignalKind::interrupt())?,
            terminate: on(SignalKind::terminate())?,
            hang_up: on(SignalKind::hangup())?,
        })
    }

    /// Waits for one. Returns the exit status that goes with it: leaving with Ctrl-C is the way to leave.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 0,
            _ = self.terminate.recv() => 128 + 15,
            _ = self.hang_up.recv() => 128 + 1,
        }
    }
}
