//! What a component does on the way from state to state: the author's hooks, bounded and guarded.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_ros_client::lifecycle::Managed;
pub use cortex_ros_client::lifecycle::{Outcome, State, Transition, state};
use tokio_util::task::AbortOnDropHandle;

use crate::call::Failure;
use crate::context::ComponentContext;
use crate::dispatcher::Dispatcher;
use crate::health::Health;

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

/// The component as its lifecycle drives it.
pub(crate) struct Work {
    pub(crate) hooks: Hooks,
    pub(crate) context: ComponentContext,
    pub(crate) dispatcher: Arc<Dispatcher>,
}

#[async_trait]
impl Managed for Work {
    async fn perform(&self, transition: Transition, start: State) -> Outcome {
        let hooks = &self.hooks;
        match transition {
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
        }
    }

    async fn let_go(&self) {
        self.rest().await;
        self.context.release().await;
    }
}

impl Work {
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
