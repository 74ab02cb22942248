//! Whether the robot is stopped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cortex_protocol::ToolName;

/// The mark of a state in which the latch is closed; the rest counts the stops.
const CLOSED: u64 = 1;
const STOP: u64 = 2;

/// Closed from `~/stop` to `~/resume`. While it is, no call, goal or message of Cortex may be sent. Looked at without a
/// lock, at the last moment before anything is sent; clones share it.
#[derive(Debug, Clone, Default)]
pub struct StopLatch(Arc<State>);

#[derive(Debug, Default)]
struct State {
    state: AtomicU64,
    /// What was sent beside the tools, as fallbacks do, and is not answered yet.
    deeds: Mutex<Deeds>,
}

#[derive(Debug, Default)]
struct Deeds {
    begun: u64,
    open: BTreeMap<u64, ToolName>,
}

/// Something that may be going on beside the tools, until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenDeed {
    latch: StopLatch,
    number: u64,
}

impl Drop for OpenDeed {
    fn drop(&mut self) {
        self.latch.0.deeds.lock().unwrap_or_else(PoisonError::into_inner).open.remove(&self.number);
    }
}

/// One stop, so that a resume can't undo a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StopNumber(u64);

impl StopLatch {
    /// Whether the robot is stopped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.state.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// Notes something that is to be sent beside the tools, so that a stop can name it. None while the robot is stopped.
    pub(crate) fn begin(&self, name: ToolName) -> Option<OpenDeed> {
        let mut deeds = self.0.deeds.lock().unwrap_or_else(PoisonError::into_inner);
        let number = deeds.begun;
        deeds.begun += 1;
        deeds.open.insert(number, name);
        drop(deeds);
        let deed = OpenDeed { latch: self.clone(), number };
        // Looked at last: a stop closes the latch first, and then looks at what is open.
        (!self.is_closed()).then_some(deed)
    }

    /// What may be going on beside the tools, in the order in which it was begun.
    pub(crate) fn open_deeds(&self) -> Vec<ToolName> {
        self.0.deeds.lock().unwrap_or_else(PoisonError::into_inner).open.values().cloned().collect()
    }

    /// How many stops there were.
    #[must_use]
    pub fn stops(&self) -> u64 {
        self.0.state.load(Ordering::SeqCst) / STOP
    }

    /// Closes it, until the stop is counted: nothing is sent from here on.
    pub(crate) fn hold(&self) {
        self.0.state.fetch_or(CLOSED, Ordering::SeqCst);
    }

    /// Closes it. Each stop has a number of its own, also where it was closed.
    pub(crate) fn close(&self) -> StopNumber {
        let counted = |state: u64| Some(state.wrapping_add(STOP) | CLOSED);
        // It never refuses.
        let before = self.0.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, counted).unwrap_or_default();
        StopNumber(before.wrapping_add(STOP) | CLOSED)
    }

    /// The latest stop, if it is closed.
    pub(crate) fn latest(&self) -> Option<StopNumber> {
        let state = self.0.state.load(Ordering::SeqCst);
        (state & CLOSED != 0).then_some(StopNumber(state))
    }

    /// Opens it after this stop. False if another one came since; then it stays closed.
    pub(crate) fn open(&self, stop: StopNumber) -> bool {
        let StopNumber(state) = stop;
        self.0.state.compare_exchange(state, state & !CLOSED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_going_on_beside_the_tools_is_known_to_a_stop_and_nothing_begins_after_it() {
        let latch = StopLatch::default();
        let back_up = latch.begin("base.back_up".into());
        assert!(back_up.is_some());
        latch.close();
        assert!(latch.begin("base.turn".into()).is_none());
        assert_eq!(latch.open_deeds(), ["base.back_up".into()]);
        drop(back_up);
        assert_eq!(latch.open_deeds(), []);
    }

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
