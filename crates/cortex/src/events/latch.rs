//! What a stop does to events: nothing is begun any more, and what is being done is ended. Until a resume.
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

/// Whether the robot is stopped, and what ends everything that is being done.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    stopped: bool,
    unwanted: CancellationToken,
}

impl State {
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
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

    /// Waits until what they did has ended, at most `patience`. Names the tools that did not confirm that they are at rest.
    pub(crate) async fn at_rest(&self, patience: Duration) -> Vec<ToolName> {
        let mut busy = self.busy.subscribe();
        if tokio::time::timeout(patience, busy.wait_for(|count| *count == 0)).await.is_err() {
            tracing::error!("what events do has not ended within {} s", patience.as_secs());
        }
        self.names().iter().cloned().collect()
    }

    /// They may do things again.
    pub(crate) fn resume(&self) {
        self.names().clear();
        self.state.send_if_modified(|state| {
            let was_stopped = state.stopped;
            if was_stopped {
                *state = State::default();
            }
            was_stopped
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
