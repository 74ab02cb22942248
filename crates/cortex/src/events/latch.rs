//! What a stop does to events: nothing is begun any more, and what is being done is ended. Until a resume. The same goes for
//! a Cortex that is not active.
//!
//! Stopping never waits, so that anyone may do it from anywhere.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_protocol::ToolName;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The latch. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Latch {
    state: watch::Sender<State>,
    /// How much is being done.
    busy: watch::Sender<usize>,
    not_at_rest: Arc<Mutex<BTreeSet<ToolName>>>,
}

/// Hears of stops and resumes.
pub(super) type Stops = watch::Receiver<State>;

/// Whether events may do things, and what ends everything that is being done.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    stopped: bool,
    /// Whether Cortex is not active.
    rests: bool,
    unwanted: CancellationToken,
}

impl State {
    /// Whether nothing may be done.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped || self.rests
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self { state: watch::Sender::default(), busy: watch::Sender::new(0), not_at_rest: Arc::default() }
    }
}

impl Latch {
    /// From now on events do nothing.
    pub(crate) fn stop(&self) {
        self.state.send_modify(|state| {
            state.stopped = true;
            state.unwanted.cancel();
        });
    }

    /// The same, until [`work`](Self::work): Cortex is not active.
    pub(crate) fn rest(&self) {
        self.state.send_modify(|state| {
            state.rests = true;
            state.unwanted.cancel();
        });
    }

    /// Waits until what they did has ended, at most `patience`. Names the tools that did not confirm that they are at rest.
    pub(crate) async fn at_rest(&self, patience: Duration) -> Vec<ToolName> {
        let mut busy = self.busy.subscribe();
        if tokio::time::timeout(patience, busy.wait_for(|count| *count == 0)).await.is_err() {
            tracing::error!("what events do has not ended within {} s", patience.as_secs());
        }
        self.names().iter().cloned().collect()
    }

    /// They may do things again, unless Cortex is not active.
    pub(crate) fn resume(&self) {
        self.names().clear();
        self.open(|state| state.stopped = false);
    }

    /// They may do things again, unless the robot is stopped.
    pub(crate) fn work(&self) {
        self.open(|state| state.rests = false);
    }

    fn open(&self, change: impl FnOnce(&mut State)) {
        self.state.send_if_modified(|state| {
            let was_stopped = state.is_stopped();
            change(state);
            let opens = was_stopped && !state.is_stopped();
            if opens {
                state.unwanted = CancellationToken::new();
            }
            opens
        });
    }

    pub(super) fn subscribe(&self) -> Stops {
        self.state.subscribe()
    }

    /// Ends what is begun now when a stop comes. After a stop it has ended already.
    pub(super) fn token(&self) -> CancellationToken {
        self.state.borrow().unwanted.clone()
    }

    /// Something is being done until this is dropped.
    pub(super) fn busy(&self) -> Busy {
        self.busy.send_modify(|count| *count += 1);
        Busy(self.busy.clone())
    }

    /// A tool has not confirmed that it is at rest.
    pub(super) fn remember(&self, tool: ToolName) {
        self.names().insert(tool);
    }

    fn names(&self) -> std::sync::MutexGuard<'_, BTreeSet<ToolName>> {
        self.not_at_rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Latch::busy`].
pub(super) struct Busy(watch::Sender<usize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_stopped_for_two_reasons_goes_on_when_both_are_over() {
        let latch = Latch::default();
        let (stops, begun) = (latch.subscribe(), latch.token());
        latch.rest();
        latch.stop();
        assert!(begun.is_cancelled() && latch.token().is_cancelled(), "what is begun now has ended already");
        latch.work();
        assert!(stops.borrow().is_stopped());
        latch.resume();
        assert!(!stops.borrow().is_stopped() && !latch.token().is_cancelled());
        assert!(begun.is_cancelled(), "what was ended stays so");
    }

    #[tokio::test]
    async fn a_stop_waits_for_what_is_being_done_and_names_what_is_not_at_rest() {
        let latch = Latch::default();
        let busy = latch.busy();
        latch.stop();
        let (waiting, other) = (latch.clone(), latch.clone());
        let waiting = tokio::spawn(async move { waiting.at_rest(Duration::from_secs(60)).await });
        other.remember(ToolName::new("base.go_to"));
        drop(busy);
        assert_eq!(waiting.await.unwrap(), [ToolName::new("base.go_to")]);
        latch.resume();
        assert!(latch.at_rest(Duration::from_secs(60)).await.is_empty(), "a person has looked");
    }
}
