//! Walks the state machine: one transition at a time, the author's hooks bounded and guarded.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::call::Failure;
use crate::context::ComponentContext;
use crate::dispatcher::Dispatcher;
use crate::health::Health;
use crate::lifecycle::state::{Edge, Outcome, State, Transition, Trigger};

/// How long one hook may take.
const HOOK_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) type HookFuture = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;
pub(crate) type Hook = Arc<dyn Fn(ComponentContext) -> HookFuture + Send + Sync>;

/// What the author wants done on the way.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) configure: Option<Hook>,
    pub(crate) activate: Option<Hook>,
    pub(crate) deactivate: Option<Hook>,
    pub(crate) clean_up: Option<Hook>,
}

/// Is told of every arrow that is taken.
pub(crate) type Announce = Box<dyn Fn(&Edge) + Send + Sync>;

/// The lifecycle of one component. Clones share it.
#[derive(Clone)]
pub(crate) struct Lifecycle {
    shared: Arc<Shared>,
}

struct Shared {
    state: watch::Sender<State>,
    hooks: Hooks,
    context: ComponentContext,
    dispatcher: Arc<Dispatcher>,
    announce: Announce,
}

impl Lifecycle {
    /// `state` is the sender of what the dispatcher and the status watch.
    pub(crate) fn new(
        state: watch::Sender<State>,
        hooks: Hooks,
        context: ComponentContext,
        dispatcher: Arc<Dispatcher>,
        announce: Announce,
    ) -> Self {
        Self { shared: Arc::new(Shared { state, hooks, context, dispatcher, announce }) }
    }

    pub(crate) fn state(&self) -> State {
        *self.shared.state.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.shared.state.subscribe()
    }

    /// Carries a transition out and returns how its hook ended, or `None` if it can't be begun in the present state.
    pub(crate) async fn change(&self, transition: Transition) -> Option<Outcome> {
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
    pub(crate) async fn finalize(&self) {
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
            tracing::debug!(from = %edge.start, to = %edge.goal, "lifecycle");
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
        let hooks = &self.hooks;
        let outcome = match transition {
            Transition::Configure => {
                let outcome = self.run("on_configure", hooks.configure.as_ref()).await;
                if outcome == Outcome::Failure {
                    self.context.release().await;
                }
                outcome
            }
            Transition::Activate => {
                let outcome = self.run("on_activate", hooks.activate.as_ref()).await;
                if outcome == Outcome::Failure {
                    self.context.stop_tasks().await;
                }
                outcome
            }
            Transition::Deactivate => self.deactivate().await,
            Transition::CleanUp => self.clean_up().await,
            Transition::ShutDown => {
                let deactivated = if start == State::Active { self.deactivate().await } else { Outcome::Success };
                let configured = matches!(start, State::Active | State::Inactive);
                let cleaned = if configured { self.clean_up().await } else { Outcome::Success };
                if deactivated == Outcome::Success { cleaned } else { deactivated }
            }
        };
        self.end(outcome);
        if outcome == Outcome::Error {
            self.rest().await;
            self.context.release().await;
            self.end(Outcome::Success);
        }
        outcome
    }

    async fn deactivate(&self) -> Outcome {
        self.rest().await;
        self.context.stop_tasks().await;
        self.run("on_deactivate", self.hooks.deactivate.as_ref()).await
    }

    async fn clean_up(&self) -> Outcome {
        let outcome = self.run("on_cleanup", self.hooks.clean_up.as_ref()).await;
        if outcome == Outcome::Success {
            self.context.release().await;
        }
        outcome
    }

    /// Nothing may go on in a component that is not active.
    async fn rest(&self) {
        if let Err(restless) = self.dispatcher.rest().await {
            let message = format!("not at rest: {}", restless.join(", "));
            tracing::error!("{message}");
            self.context.health().report("lifecycle", Health::Component, message);
        }
    }

    async fn run(&self, name: &str, hook: Option<&Hook>) -> Outcome {
        let Some(hook) = hook else { return Outcome::Success };
        let (hook, context) = (Arc::clone(hook), self.context.clone());
        let task = AbortOnDropHandle::new(tokio::spawn(async move { hook(context).await }));
        let (outcome, problem) = match tokio::time::timeout(HOOK_TIMEOUT, task).await {
            Ok(Ok(Ok(()))) => {
                self.context.health().clear(name);
                return Outcome::Success;
            }
            Ok(Ok(Err(failure))) => (Outcome::Failure, failure.to_string()),
            Ok(Err(_)) => (Outcome::Error, "panicked".to_owned()),
            Err(_) => (Outcome::Error, format!("took longer than {} s", HOOK_TIMEOUT.as_secs())),
        };
        tracing::error!("{name}: {problem}");
        self.context.health().report(name, Health::Component, format!("{name}: {problem}"));
        outcome
    }
}
