//! What an event does: calls tools, does actions, hands in tasks, tells people.

use async_trait::async_trait;
use cortex_protocol::{ComponentName, Origin, Submission, ToolCall, ToolName};
use cortex_recipe::{ActionName, Begins, BuiltIn, Event, EventAction, EventName};
use cortex_runtime::{Place, ProviderId, Runtime};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::failure::EventFailure;
use super::halts::Halts;

/// Restarts components, for the built-in actions.
#[async_trait]
pub(super) trait Restarts: Send + Sync {
    /// Restarts one, and waits until it works again. Or says why it does not.
    async fn restart(&self, component: &ComponentName, action: &ActionName) -> Result<(), EventFailure>;
}

/// Carries out what events do.
pub(super) struct ActionRunner {
    pub(super) runtime: Runtime,
    /// Who does the actions of the recipe.
    pub(super) acting: ProviderId,
    /// None in a dry run.
    pub(super) restarts: Option<Box<dyn Restarts>>,
    /// None in a dry run.
    pub(super) halts: Option<Box<dyn Halts>>,
    pub(super) notify: Box<dyn Fn(String) + Send + Sync>,
}

impl ActionRunner {
    pub(super) fn say(&self, text: String) {
        (self.notify)(text);
    }

    /// Does everything in order; after a failure, what is for that. Ends early when it is not wanted any more.
    pub(super) async fn carry_out(&self, name: &EventName, event: &Event, seen: &str, unwanted: &CancellationToken) {
        for action in &event.actions {
            if unwanted.is_cancelled() {
                return;
            }
            let done = match self.halt(action).await {
                Some(halted) => halted,
                None => {
                    let done = self.one(name, action, seen, unwanted).await;
                    if unwanted.is_cancelled() {
                        tracing::warn!(event = %name, "the robot was stopped; this was ended, and what follows is left out: {action}");
                        return;
                    }
                    done
                }
            };
            match done {
                Ok(()) => tracing::info!(event = %name, "done: {action}"),
                Err(problem) => {
                    self.tell_failure(name, action, &problem);
                    for action in &event.on_failure {
                        if unwanted.is_cancelled() {
                            return;
                        }
                        let done = match self.halt(action).await {
                            Some(halted) => halted,
                            None => self.one(name, action, seen, unwanted).await,
                        };
                        if let Err(problem) = done {
                            self.tell_failure(name, action, &problem);
                        }
                    }
                    return;
                }
            }
        }
    }

    /// Does this if it brings something to rest. A quarantine is not in the way, and a stop does not end it.
    async fn halt(&self, action: &EventAction) -> Option<Result<(), EventFailure>> {
        self.halts.as_ref()?.halt(action).await
    }

    fn tell_failure(&self, name: &EventName, action: &EventAction, problem: &EventFailure) {
        tracing::error!(event = %name, "{action} failed: {problem}");
        self.say(format!("The event {name} could not do this: {action}. {problem}"));
    }

    async fn one(
        &self,
        name: &EventName,
        action: &EventAction,
        seen: &str,
        unwanted: &CancellationToken,
    ) -> Result<(), EventFailure> {
        match action {
            EventAction::Tell { text } => {
                self.say(text.clone());
                Ok(())
            }
            EventAction::Tool { tool, arguments } => self.call(name, tool.clone(), arguments, unwanted).await,
            EventAction::Action { action, arguments, component } => match BuiltIn::named(action) {
                Some(BuiltIn::NotifyOperator) => {
                    let who = component.as_ref().map(|component| format!("{component}: ")).unwrap_or_default();
                    tracing::error!(event = %name, "needs a person: {seen}");
                    self.say(format!("{who}a person is needed ({name}): {seen}"));
                    Ok(())
                }
                Some(_) => {
                    let component = component.as_ref().ok_or(EventFailure::NoComponent)?;
                    match &self.restarts {
                        // A stop ends the waiting; the monitor, which only keeps it alive, goes on.
                        Some(restarts) => tokio::select! {
                            biased;
                            () = unwanted.cancelled() => Err(EventFailure::Stopped),
                            done = restarts.restart(component, action) => done,
                        },
                        None => Ok(()),
                    }
                }
                None => {
                    let tool = ToolName::new(action.as_str());
                    // A tool of the robot that has the same name is another thing.
                    if self.runtime.tool_registry().routes.get(&tool) != Some(&self.acting) {
                        return Err(EventFailure::NotThere);
                    }
                    self.call(name, tool, arguments, unwanted).await
                }
            },
            EventAction::Task { task, begins } => self.task(name, task, *begins, seen, unwanted).await,
        }
    }

    /// One call, as a mission would make it.
    async fn call(
        &self,
        name: &EventName,
        tool: ToolName,
        arguments: &Map<String, Value>,
        unwanted: &CancellationToken,
    ) -> Result<(), EventFailure> {
        let origin = Origin::new("event", name.as_str());
        let call = ToolCall { tool: tool.clone(), arguments: arguments.clone() };
        let outcome = self.runtime.call(origin, call, unwanted.clone()).await;
        if outcome.halt.may_go_on() {
            self.say(format!("WARNING: {tool}, begun by the event {name}, did not confirm that it is at rest."));
        }
        if outcome.is_success() { Ok(()) } else { Err(EventFailure::Call(outcome.message)) }
    }

    /// A task for Cortex itself, to its end.
    async fn task(
        &self,
        name: &EventName,
        task: &str,
        begins: Begins,
        seen: &str,
        unwanted: &CancellationToken,
    ) -> Result<(), EventFailure> {
        let place = match begins {
            Begins::InTurn => Place::Last,
            Begins::Next => Place::Next,
            Begins::Now => Place::Now,
        };
        let submission =
            Submission { task: task.to_owned(), session: None, origin: Origin::new("event", name.as_str()) };
        let ticket = self.runtime.submit_at(place, submission).await.map_err(EventFailure::NotTaken)?;
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
            Ok(result) => Err(EventFailure::Task(result.output)),
            Err(_) => Err(EventFailure::ShuttingDown),
        }
    }
}
