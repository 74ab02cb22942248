//! Whether the robot is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The mark of a state in which the latch is closed; the rest counts the stops.
const CLOSED: u64 = 1;
const STOP: u64 = 2;

/// Closed from `~/stop` to `~/resume`. While it is, no call, goal or message of Cortex may be sent. Looked at without a
/// lock, at the last moment before anything is sent; clones share it.
#[derive(Debug, Clone, Default)]
pub struct StopLatch(Arc<AtomicU64>);

/// One stop, so that a resume can't undo a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StopNumber(u64);

impl StopLatch {
    /// Whether the robot is stopped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// How many stops there were.
    #[must_use]
    pub fn stops(&self) -> u64 {
        self.0.load(Ordering::SeqCst) / STOP
    }

    /// Closes it, until the stop is counted: nothing is sent from here on.
    pub(crate) fn hold(&self) {
        self.0.fetch_or(CLOSED, Ordering::SeqCst);
    }

    /// Closes it. Each stop has a number of its own, also where it was closed.
    pub(crate) fn close(&self) -> StopNumber {
        let counted = |state: u64| Some(state.wrapping_add(STOP) | CLOSED);
        // It never refuses.
        let before = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, counted).unwrap_or_default();
        StopNumber(before.wrapping_add(STOP) | CLOSED)
    }

    /// The latest stop, if it is closed.
    pub(crate) fn latest(&self) -> Option<StopNumber> {
        let state = self.0.load(Ordering::SeqCst);
        (state & CLOSED != 0).then_some(StopNumber(state))
    }

    /// Opens it after this stop. False if another one came since; then it stays closed.
    pub(crate) fn open(&self, stop: StopNumber) -> bool {
        let StopNumber(state) = stop;
        self.0.compare_exchange(state, state & !CLOSED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_closed_from_a_stop_to_its_resume() {
        let latch = StopLatch::default();
        assert_eq!((latch.is_closed(), latch.latest()), (false, None));
        let stop = latch.close();
        assert_eq!((latch.is_closed(), latch.latest(), latch.stops()), (true, Some(stop), 1));
        assert!(latch.open(stop));
        assert_eq!((latch.is_closed(), latch.stops()), (false, 1));
    }

    #[test]
    fn a_resume_does_not_undo_a_later_stop() {
        let latch = StopLatch::default();
        let first = latch.close();
        let second = latch.close();
        assert!(!latch.open(first));
        assert!(latch.is_closed());
        assert!(latch.open(second));
        assert!(!latch.open(second), "a second time it does nothing");
    }
}
