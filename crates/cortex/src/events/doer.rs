//! What an event does: calls tools, does actions, hands in tasks, tells people.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use cortex_core::{Invocation, ToolProvider, Unobserved};
use cortex_protocol::{
    CallId, ComponentName, MissionId, Origin, Submission, ToolCall, ToolName, ToolOutcome, ToolSpec,
};
use cortex_recipe::{ActionName, Begins, BuiltIn, Event, EventDeed, EventName};
use cortex_runtime::{CallBounds, Place, Runtime, run_call};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Latch;
use crate::custom_actions::CustomActions;

/// Restarts components, for the built-in actions.
#[async_trait]
pub(super) trait Restarts: Send + Sync {
    /// Restarts one, and waits until it works again. Or says why it does not.
    async fn restart(&self, component: &ComponentName, action: &ActionName) -> Result<(), String>;
}

/// Carries out what events do.
pub(super) struct Doer {
    pub(super) runtime: Runtime,
    /// In the order of the runtime's providers.
    pub(super) providers: Vec<Arc<dyn ToolProvider>>,
    /// The actions of the recipe, and who does them: one of the providers.
    pub(super) actions: Arc<CustomActions>,
    pub(super) acting: Arc<dyn ToolProvider>,
    /// None in a dry run.
    pub(super) restarts: Option<Box<dyn Restarts>>,
    pub(super) voice: Box<dyn Fn(String) + Send + Sync>,
    pub(super) bounds: CallBounds,
    pub(super) latch: Latch,
    pub(super) calls: AtomicU32,
}

impl Doer {
    pub(super) fn say(&self, text: String) {
        (self.voice)(text);
    }

    /// Does everything in order; after a failure, what is for that. Ends early when it is not wanted any more.
    pub(super) async fn carry_out(&self, name: &EventName, event: &Event, seen: &str, unwanted: &CancellationToken) {
        for deed in &event.deeds {
            if unwanted.is_cancelled() {
                return;
            }
            let done = self.one(name, deed, seen, unwanted).await;
            if unwanted.is_cancelled() {
                tracing::warn!(event = %name, "the robot was stopped; this was ended, and what follows is left out: {deed}");
                return;
            }
            match done {
                Ok(()) => tracing::info!(event = %name, "done: {deed}"),
                Err(problem) => {
                    self.tell_failure(name, deed, &problem);
                    for deed in &event.on_failure {
                        if unwanted.is_cancelled() {
                            return;
                        }
                        if let Err(problem) = self.one(name, deed, seen, unwanted).await {
                            self.tell_failure(name, deed, &problem);
                        }
                    }
                    return;
                }
            }
        }
    }

    fn tell_failure(&self, name: &EventName, deed: &EventDeed, problem: &str) {
        tracing::error!(event = %name, "{deed} failed: {problem}");
        self.say(format!("The event {name} could not do this: {deed}. {problem}"));
    }

    async fn one(
        &self,
        name: &EventName,
        deed: &EventDeed,
        seen: &str,
        unwanted: &CancellationToken,
    ) -> Result<(), String> {
        match deed {
            EventDeed::Tell { text } => {
                self.say(text.clone());
                Ok(())
            }
            EventDeed::Tool { tool, arguments } => {
                let offer = self.runtime.offer();
                let spec = offer.tools.resolve(tool.as_str()).ok_or("there is no such tool on the robot now")?;
                offer.tools.check(&spec.name, arguments)?;
                let route = offer.routes.get(&spec.name).and_then(|route| self.providers.get(route.0));
                let provider = route.ok_or("nobody carries out that tool")?;
                self.call(name, provider, spec.clone(), arguments, unwanted).await
            }
            EventDeed::Action { action, arguments, component } => match BuiltIn::named(action) {
                Some(BuiltIn::TellOperator) => {
                    let who = component.as_ref().map(|component| format!("{component}: ")).unwrap_or_default();
                    tracing::error!(event = %name, "needs a person: {seen}");
                    self.say(format!("{who}a person is needed ({name}): {seen}"));
                    Ok(())
                }
                Some(_) => {
                    let component = component.as_ref().ok_or("no component is named")?;
                    match &self.restarts {
                        // A stop ends the waiting; the monitor, which only keeps it alive, goes on.
                        Some(restarts) => tokio::select! {
                            biased;
                            () = unwanted.cancelled() => Err("the robot was stopped".to_owned()),
                            done = restarts.restart(component, action) => done,
                        },
                        None => Ok(()),
                    }
                }
                None => {
                    let spec = self.actions.spec(action).ok_or("what it needs is not on the robot now")?;
                    self.call(name, &self.acting, spec, arguments, unwanted).await
                }
            },
            EventDeed::Task { task, begins } => self.task(name, task, *begins, seen, unwanted).await,
        }
    }

    /// One call, as a mission would make it.
    async fn call(
        &self,
        name: &EventName,
        provider: &Arc<dyn ToolProvider>,
        spec: ToolSpec,
        arguments: &Map<String, Value>,
        unwanted: &CancellationToken,
    ) -> Result<(), String> {
        let tool: ToolName = spec.name.clone();
        let invocation = Invocation {
            mission: MissionId::new(format!("event {name}")),
            id: CallId(self.calls.fetch_add(1, Ordering::Relaxed)),
            fingerprint: spec.fingerprint(),
            timeout: spec.timeout,
            call: ToolCall { tool: tool.clone(), arguments: arguments.clone() },
        };
        let call =
            run_call(Arc::clone(provider), spec, invocation, Arc::new(Unobserved), unwanted.clone(), self.bounds);
        let outcome: ToolOutcome = call.await;
        if outcome.halt.may_go_on() {
            self.latch.remember(tool.clone());
            self.say(format!("WARNING: {tool}, begun by the event {name}, did not confirm that it is at rest."));
        }
        if outcome.is_success() { Ok(()) } else { Err(outcome.message) }
    }

    /// A task for Cortex itself, to its end.
    async fn task(
        &self,
        name: &EventName,
        task: &str,
        begins: Begins,
        seen: &str,
        unwanted: &CancellationToken,
    ) -> Result<(), String> {
        let place = match begins {
            Begins::InTurn => Place::Last,
            Begins::Next => Place::Next,
            Begins::Now => Place::Now,
        };
        let submission =
            Submission { task: task.to_owned(), session: None, origin: Origin::new("event", name.as_str()) };
        let ticket = self.runtime.submit_at(place, submission).await.map_err(|rejection| format!("{rejection}."))?;
        self.say(format!("The event {name} gives me a task: \"{task}\". {seen}"));
        let mission = ticket.id.clone();
        let mut result = ticket.result;
        // A stop ends it anyway; this is for one that slipped in between.
        let ended = tokio::select! {
            biased;
            ended = &mut result => ended,
            () = unwanted.cancelled() => {
                self.runtime.cancel(mission).await;
                result.await
            }
        };
        match ended {
            Ok(result) if result.is_success() => Ok(()),
            Ok(result) => Err(result.output),
            Err(_) => Err("Cortex is shutting down.".to_owned()),
        }
    }
}
