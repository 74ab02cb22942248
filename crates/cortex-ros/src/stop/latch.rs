//! Whether the robot is stopped.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::begun::Begun;

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
    /// What was begun since the last resume and can't be halted.
    begun: Begun,
    /// What is now, for who waits for it.
    published: watch::Sender<StopState>,
    listeners: Listeners,
    #[cfg(test)]
    race: super::race::Race,
}

/// Whether the robot is stopped, and how many stops there were: both of one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StopState {
    /// How many stops there were.
    pub stops: u64,
    /// Whether the robot is stopped.
    pub is_stopped: bool,
}

/// Who is told of each change.
#[derive(Default)]
struct Listeners(Mutex<Vec<Listener>>);

type Listener = Arc<dyn Fn() + Send + Sync>;

impl fmt::Debug for Listeners {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Listeners")
    }
}

/// One stop, so that a resume can't undo a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StopNumber(u64);

impl StopLatch {
    /// Whether the robot is stopped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let is_closed = self.0.state.load(Ordering::SeqCst) & CLOSED != 0;
        #[cfg(test)]
        self.0.race.was_looked_at();
        is_closed
    }

    /// What is now.
    #[must_use]
    pub fn now(&self) -> StopState {
        let state = self.0.state.load(Ordering::SeqCst);
        StopState { stops: state / STOP, is_stopped: state & CLOSED != 0 }
    }

    /// What is, now and later. Who sends something looks at [`is_closed`](Self::is_closed) all the same.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<StopState> {
        self.0.published.subscribe()
    }

    /// Calls `listener` after each change, from whichever thread makes it: it must not wait. It looks for itself at what
    /// is now.
    pub fn on_change(&self, listener: impl Fn() + Send + Sync + 'static) {
        self.0.listeners.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(listener));
    }

    fn tell(&self) {
        // What is now is looked at under the lock of the channel, so that what is published last is what is.
        self.0.published.send_modify(|published| *published = self.now());
        let listeners = self.0.listeners.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners {
            listener();
        }
    }

    #[cfg(test)]
    pub(super) fn race(&self) -> &super::race::Race {
        &self.0.race
    }

    pub(super) fn begun(&self) -> &Begun {
        &self.0.begun
    }

    /// How many stops there were.
    #[must_use]
    pub fn stops(&self) -> u64 {
        self.0.state.load(Ordering::SeqCst) / STOP
    }

    /// Closes it, until the stop is counted: nothing is sent from here on.
    pub(crate) fn hold(&self) {
        self.0.state.fetch_or(CLOSED, Ordering::SeqCst);
        self.tell();
    }

    /// Closes it. Each stop has a number of its own, also where it was closed.
    pub(crate) fn close(&self) -> StopNumber {
        let counted = |state: u64| Some(state.wrapping_add(STOP) | CLOSED);
        // It never refuses.
        let before = self.0.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, counted).unwrap_or_default();
        self.tell();
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
        let opened = self.0.state.compare_exchange(state, state & !CLOSED, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if opened {
            self.tell();
        }
        opened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_hears_of_each_change_and_sees_what_is_now() {
        let latch = StopLatch::default();
        let seen: Arc<Mutex<Vec<(u64, bool)>>> = Arc::default();
        let (published, into) = (latch.watch(), Arc::clone(&seen));
        latch.on_change(move || {
            let StopState { stops, is_stopped } = *published.borrow();
            into.lock().unwrap().push((stops, is_stopped));
        });
        latch.hold();
        let stop = latch.close();
        assert!(latch.open(stop));
        assert!(!latch.open(stop));
        assert_eq!(*seen.lock().unwrap(), [(0, true), (1, true), (1, false)]);
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
