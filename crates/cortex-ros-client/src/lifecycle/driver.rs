//! Walks the state machine: one transition at a time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use tokio::sync::watch;

use super::state::{Edge, Outcome, State, Transition, Trigger};

/// What a node does on its way.
#[async_trait]
pub trait Managed: Send + Sync + 'static {
    /// Does what the transition means. `start` is the state that it was asked for in. Its time must be bounded; a panic
    /// counts as an error.
    async fn perform(&self, transition: Transition, start: State) -> Outcome;

    /// Lets go of everything after an error; the node is unconfigured then.
    async fn let_go(&self);
}

/// Is told of every arrow that is taken.
pub type Announce = Box<dyn Fn(&Edge) + Send + Sync>;

/// The lifecycle of one node. Clones share it.
#[derive(Clone)]
pub struct Lifecycle {
    shared: Arc<Shared>,
}

struct Shared {
    state: watch::Sender<State>,
    managed: Arc<dyn Managed>,
    announce: Announce,
}

impl Lifecycle {
    /// The lifecycle of `managed`. Whoever watches the `state` sees each change.
    #[must_use]
    pub fn new(state: watch::Sender<State>, managed: Arc<dyn Managed>, announce: Announce) -> Self {
        Self { shared: Arc::new(Shared { state, managed, announce }) }
    }

    /// In which state the node is.
    #[must_use]
    pub fn state(&self) -> State {
        *self.shared.state.borrow()
    }

    /// Changes with the state.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<State> {
        self.shared.state.subscribe()
    }

    /// Carries a transition out and returns how it ended, or `None` if it can't be begun in the present state.
    pub async fn change(&self, transition: Transition) -> Option<Outcome> {
        let start = self.state();
        let edge = start.edge(Trigger::Asked(transition))?;
        if !self.shared.take(edge) {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        // On a task of its own, so that a transition that was begun is ended also when its caller goes away.
        tokio::spawn(async move { shared.perform(transition, start).await }).await.ok()
    }

    /// Brings the node to its end from wherever it is; a transition that is under way is ended first.
    pub async fn finalize(&self) {
        let mut states = self.watch();
        loop {
            let state = *states.borrow_and_update();
            if state == State::Finalized {
                return;
            }
            if state.edge(Trigger::Asked(Transition::ShutDown)).is_some() {
                self.change(Transition::ShutDown).await;
            } else if states.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Shared {
    /// Goes along an edge if the node is still at its start.
    fn take(&self, edge: &Edge) -> bool {
        let taken = self.state.send_if_modified(|state| {
            let here = *state == edge.start;
            if here {
                *state = edge.goal;
            }
            here
        });
        if taken {
            (self.announce)(edge);
        }
        taken
    }

    fn end(&self, outcome: Outcome) {
        let state = *self.state.borrow();
        if let Some(edge) = state.edge(Trigger::Ended(outcome)) {
            self.take(edge);
        }
    }

    async fn perform(&self, transition: Transition, start: State) -> Outcome {
        let performing = AssertUnwindSafe(self.managed.perform(transition, start)).catch_unwind();
        let outcome = performing.await.unwrap_or(Outcome::Error);
        self.end(outcome);
        let asked = start.edge(Trigger::Asked(transition)).map_or("a change", Edge::label);
        let state = *self.state.borrow();
        match outcome {
            Outcome::Success => tracing::info!("lifecycle: {state}, was {start}"),
            Outcome::Failure => tracing::warn!("lifecycle: {asked} failed; {state}, as before"),
            Outcome::Error => tracing::error!("lifecycle: {asked} ended in an error; everything is let go of"),
        }
        if outcome == Outcome::Error {
            let let_go = AssertUnwindSafe(self.managed.let_go()).catch_unwind().await;
            self.end(if let_go.is_ok() { Outcome::Success } else { Outcome::Error });
        }
        outcome
    }
}
