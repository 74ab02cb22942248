//! Methods of components.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::fragment::capped;
use cortex_core::{CallObserver, Invocation};
use cortex_interfaces::Message;
use cortex_protocol::{CancelMode, ComponentName, Effect, FailureKind, HaltState, ToolOutcome, strict_json};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::{ServiceClient, Turn};
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::late_response::ServerLost;
use super::pool::Pool;
use super::sent::{MethodAnswer, Sent, SentMethod, request};
use super::{Surroundings, changed, late_response, progress};
use crate::calls::{ends_with, halted_before_it_was_sent, key};
use crate::directory::{ComponentState, Directory, EXECUTE_METHOD, Loss, Run, below};
use crate::discovery::{method_name, refusal_of_method};

/// Longest result that is read, in bytes.
const MOST_RESPONSE_BYTES: usize = 4 << 20;
/// Characters of a component's reason that are kept.
const REASON_CHARACTERS: usize = 2_000;
/// Characters of an unreadable answer that are shown.
const SHOWN_CHARACTERS: usize = 200;
/// How long a component may take to halt. The caller bounds it closer.
const HALT_LIMIT: Duration = Duration::from_secs(60);

/// How long one whose heartbeat has stopped may take to say that it has halted. One that hears it answers at once; from one
/// that is dead no answer comes, and it must not be longer than that until it is known that it is lost.
const LOST_LIMIT: Duration = Duration::from_millis(500);

/// How long the server of a component that is on the graph may take to be connected with.
const SERVER_LIMIT: Duration = Duration::from_secs(2);

/// How long one that has come anew may take to say what it can do, before a call of it is given up. A good one says it within
/// milliseconds; one that was killed and has just come back is heard once the middleware has dropped its dead server, and
/// all patient attempts to ask it take this long.
const DESCRIPTION_LIMIT: Duration = Duration::from_secs(7);

/// Why a component did not halt what it was to halt.
#[derive(Debug, Error)]
enum NotHalted {
    #[error(transparent)]
    Ros(#[from] RosError),
    #[error("it has left the graph")]
    Left,
    #[error("its heartbeat has stopped")]
    Silent,
    /// In its own words.
    #[error("{reason}")]
    Failed { reason: String },
}

/// A component's answer to a call.
type Answer = Result<Message, RosError>;

/// Calls methods.
pub(super) struct Components {
    around: Arc<Surroundings>,
    clients: Pool<ServiceClient>,
}

/// Who carries out a call, and how.
pub(super) struct Route {
    run: Run,
    component: ComponentName,
    method: String,
    effect: Effect,
    cancel: CancelMode,
    cancel_method: Option<String>,
    ends_with: Option<ComponentName>,
    /// The topic on which the method tells how far it is.
    progress: Option<String>,
}

/// A call on its way.
struct Awaited {
    /// The answer arrives here.
    answer: oneshot::Receiver<Answer>,
    /// Keeps the call's place at the component while its caller waits.
    caller: oneshot::Sender<ServerLost>,
}

impl Components {
    pub(super) fn new(around: &Arc<Surroundings>) -> Self {
        Self { around: Arc::clone(around), clients: Pool::default() }
    }

    /// Finds who carries out the call.
    pub(super) fn route(&self, invocation: &Invocation) -> Result<Route, ToolOutcome> {
        let directory = self.around.discovery.directory().borrow().clone();
        let tool = &invocation.call.tool;
        // What is denied is no more known than what is not there.
        let refusal = refusal_of_method(&self.around.shared().policy, tool.as_str());
        if let (Some(refusal), Some(_)) = (&refusal, directory.find(tool)) {
            tracing::info!("a call of '{tool}' was refused: {refusal}");
        }
        let Some(found) = directory.find(tool).filter(|_| refusal.is_none()) else {
            let problem = format!("there is no tool '{tool}' on the robot, or its component has left");
            return Err(ToolOutcome::failure(FailureKind::NotFound, problem));
        };
        if found.state != ComponentState::Ready {
            let problem = format!("the component '{}' {}", found.name, found.state);
            return Err(ToolOutcome::failure(FailureKind::Unavailable, problem));
        }
        let Some(method) = found.method else {
            let problem = format!("the component '{}' has no such method any more: '{tool}'", found.name);
            return Err(ToolOutcome::failure(FailureKind::NotFound, problem));
        };
        let spec = method.tool(found.name);
        let spec = self.around.shared().policy.conditioned(spec.clone(), &method_name(&spec));
        if let Some(outcome) = changed(&spec, invocation) {
            return Err(outcome);
        }
        Ok(Route {
            run: found.run,
            component: found.name.clone(),
            method: method.name.clone(),
            effect: spec.effect,
            cancel: spec.cancel,
            cancel_method: method.cancel_method.clone(),
            ends_with: ends_with(&spec),
            progress: method.progress_topic(found.name),
        })
    }

    /// Sends the call, when its turn has come.
    async fn send(&self, invocation: &Invocation, route: &Route) -> Result<Awaited, ToolOutcome> {
        let unavailable = |problem: RosError| ToolOutcome::failure(FailureKind::Unavailable, problem.to_string());
        let component = &route.component;
        let client = self.client(component).await.map_err(unavailable)?;
        let request = request(&client, &route.method, &invocation.call.arguments).map_err(unavailable)?;
        client.wait_for_server(SERVER_LIMIT).await.map_err(unavailable)?;
        let turn = tokio::select! {
            biased;
            () = self.around.calls.halts().until_halted(key(invocation)) => return Err(halted_before_it_was_sent()),
            // Looked at first: what others had sent gives its turn back when the component is lost.
            loss = self.lost(component, route.run) => {
                let then = match loss {
                    Loss::Restarted => "; nothing was sent, and it is offered as it describes itself now",
                    Loss::Left | Loss::Silent => "",
                };
                let problem = format!("the component '{component}' {loss} before '{}' was sent{then}", route.method);
                return Err(ToolOutcome::failure(FailureKind::ComponentLost, problem));
            }
            turn = self.turn(&client, route) => turn?,
        };
        let (cancel, cancel_method) = (route.cancel, route.cancel_method.clone());
        let call = SentMethod { component: component.clone(), cancel, cancel_method, client: client.clone() };
        let calls = &self.around.calls;
        let answer = match calls.send(invocation, route.ends_with.clone(), Sent::Method(call), || client.send(&request))
        {
            Ok(Ok(answer)) => answer,
            Ok(Err(problem)) => {
                calls.answered(&key(invocation));
                return Err(unavailable(problem));
            }
            Err(unsent) => return Err(unsent.outcome()),
        };
        let (deliver, delivered) = oneshot::channel();
        let (caller, given_up) = oneshot::channel();
        let answer = late_response::in_place(answer, turn, given_up);
        self.around.waiting.spawn(late_response::wait(
            answer,
            Arc::clone(calls),
            key(invocation),
            invocation.timeout,
            deliver,
        ));
        Ok(Awaited { answer: delivered, caller })
    }

    /// Waits until the call may be sent: when its turn has come, and those who would get it have said what they can do.
    /// Nothing is sent to one that has not: it may mean something else by the same name.
    async fn turn(&self, client: &ServiceClient, route: &Route) -> Result<Turn, ToolOutcome> {
        let (turn, mut servers) = late_response::turn(client.turn_and_servers(), route.effect).await?;
        let Route { component, run, .. } = route;
        let mut directory = self.around.discovery.directory();
        let end = Instant::now() + DESCRIPTION_LIMIT;
        while !directory.borrow_and_update().is_described_by(component, *run, &servers) {
            self.around.shared().confirm(component);
            if !matches!(tokio::time::timeout_at(end, directory.changed()).await, Ok(Ok(()))) {
                let problem = format!(
                    "another run of '{component}' has come, and has not said yet what it can do; nothing was sent. It is \
                     being asked, and can be called once it has answered"
                );
                return Err(ToolOutcome::failure(FailureKind::Unavailable, problem));
            }
            servers = client
                .servers()
                .map_err(|problem| ToolOutcome::failure(FailureKind::Unavailable, problem.to_string()))?;
        }
        Ok(turn)
    }

    /// Resolves when the component of this run is lost.
    async fn lost(&self, component: &ComponentName, run: Run) -> Loss {
        let mut directory = self.around.discovery.directory();
        loop {
            if let Some(loss) = directory.borrow_and_update().loss(component, run) {
                return loss;
            }
            if directory.changed().await.is_err() {
                // Discovery has ended; it will not say. The caller's time-out stands.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Runs the method that halts the call. Sent to every component that is on the graph, also to one whose heartbeat
    /// has stopped: it may well hear it, and a halt that is not heard costs nothing. Ends early when it has left, and soon
    /// where it is silent.
    async fn run_cancel_method(
        &self,
        client: &ServiceClient,
        component: &ComponentName,
        method: &str,
    ) -> Result<HaltState, NotHalted> {
        let answered = async {
            // One that was made just now would lose what is sent before the two are connected.
            client.wait_for_server(SERVER_LIMIT).await?;
            client.call(&request(client, method, &Map::new())?, HALT_LIMIT).await
        };
        let mut directory = self.around.discovery.directory();
        let response = tokio::select! {
            biased;
            answer = answered => MethodAnswer::of(&answer?),
            _ = directory.wait_for(|directory| directory.component(component).is_none()) => {
                return Err(NotHalted::Left);
            }
            () = self.silent(component) => return Err(NotHalted::Silent),
        };
        if response.success {
            Ok(HaltState::Halted)
        } else {
            Err(NotHalted::Failed { reason: reason(&response.error_msg) })
        }
    }

    /// Resolves when the heartbeat of the component has stopped and does not come back for a moment.
    async fn silent(&self, component: &ComponentName) {
        let mut directory = self.around.discovery.directory();
        let is_silent = |directory: &Directory| {
            directory.component(component).is_some_and(|component| component.state == ComponentState::Silent)
        };
        loop {
            if directory.wait_for(|directory| is_silent(directory)).await.is_err() {
                return std::future::pending().await;
            }
            let back = directory.wait_for(|directory| !is_silent(directory));
            if tokio::time::timeout(LOST_LIMIT, back).await.is_err() {
                return;
            }
        }
    }

    async fn client(&self, component: &ComponentName) -> Result<ServiceClient, RosError> {
        let (service, type_name) = (below(component, EXECUTE_METHOD.0), EXECUTE_METHOD.1);
        let make = async {
            let interface = self.around.interface(|interfaces| interfaces.service(type_name)).await?;
            self.around.endpoints.service_client(&service, &interface).await
        };
        self.clients.get(&service, type_name, make).await
    }

    /// Carries out a call to its end.
    pub(super) async fn invoke(
        &self,
        invocation: &Invocation,
        route: Route,
        observer: &dyn CallObserver,
    ) -> ToolOutcome {
        let Awaited { answer, caller } = match self.send(invocation, &route).await {
            Ok(sent) => sent,
            Err(outcome) => return outcome,
        };
        // What a lost or silent component started may go on without it.
        let unknown = match route.cancel {
            CancelMode::Drop => HaltState::AtRest,
            CancelMode::Halt => HaltState::Unconfirmed,
        };
        let component = &route.component;
        tokio::select! {
            // An answer that is there counts, even if its component has gone since.
            biased;
            answer = answer => match answer {
                Ok(Ok(response)) => outcome_of(component, &MethodAnswer::of(&response)),
                Ok(Err(problem)) => failure(FailureKind::Unavailable, component, problem).with_halt(unknown),
                Err(_) => failure(FailureKind::Timeout, component, "it has not answered").with_halt(unknown),
            },
            loss = self.lost(component, route.run) => {
                // The answer may have come just now.
                let _ = caller.send(ServerLost);
                let problem = format!("the component '{component}' {loss} while '{}' was under way", route.method);
                tracing::warn!(mission = %invocation.mission, "lost: {problem}");
                ToolOutcome::failure(FailureKind::ComponentLost, problem).with_halt(unknown)
            }
            never = progress::tell(&self.around, route.progress.clone(), observer) => match never {},
        }
    }

    /// Halts a call that an earlier life of this process has made.
    pub(super) async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        let directory = self.around.discovery.directory().borrow().clone();
        let found = directory.find(&invocation.call.tool);
        let Some((component, method)) = found.and_then(|found| Some((found.name.clone(), found.method?.clone())))
        else {
            return HaltState::Unconfirmed;
        };
        let Some(cancel_method) = method.cancel_method else { return HaltState::Unconfirmed };
        let halted = match self.client(&component).await {
            Ok(client) => self.run_cancel_method(&client, &component, &cancel_method).await,
            Err(problem) => Err(problem.into()),
        };
        halted.unwrap_or_else(|problem| {
            tracing::warn!("the component '{component}' did not halt: {problem}");
            HaltState::Unconfirmed
        })
    }

    /// Halts a call under way.
    pub(super) async fn halt(&self, call: &SentMethod) -> HaltState {
        match (call.cancel, &call.cancel_method) {
            (CancelMode::Drop, _) => HaltState::AtRest,
            (CancelMode::Halt, None) => HaltState::Unconfirmed,
            (CancelMode::Halt, Some(method)) => {
                let halted = self.run_cancel_method(&call.client, &call.component, method).await;
                halted.unwrap_or_else(|problem| {
                    tracing::warn!("the component '{}' did not halt: {problem}", call.component);
                    HaltState::Unconfirmed
                })
            }
        }
    }
}

fn outcome_of(component: &ComponentName, response: &MethodAnswer) -> ToolOutcome {
    if !response.success {
        return ToolOutcome::failure(FailureKind::Reported, reason(&response.error_msg));
    }
    let text = response.response_json.trim();
    if text.is_empty() {
        return ToolOutcome::success(Value::Null);
    }
    if text.len() > MOST_RESPONSE_BYTES {
        let problem = format!("its result has {} bytes; at most {MOST_RESPONSE_BYTES} are read", text.len());
        return failure(FailureKind::BadResponse, component, problem);
    }
    strict_json::read(text).map_or_else(
        |problem| {
            let shown = capped(text, SHOWN_CHARACTERS);
            let problem = format!("it says that it succeeded, but its result is not JSON ({problem}): {shown}");
            failure(FailureKind::BadResponse, component, problem)
        },
        ToolOutcome::success,
    )
}

fn failure(kind: FailureKind, component: &ComponentName, problem: impl Display) -> ToolOutcome {
    ToolOutcome::failure(kind, format!("the component '{component}': {problem}"))
}

fn reason(error_msg: &str) -> String {
    let trimmed = error_msg.trim();
    if trimmed.is_empty() { "the component gave no reason".to_owned() } else { capped(trimmed, REASON_CHARACTERS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(success: bool, error_msg: &str, response_json: &str) -> ToolOutcome {
        let response = MethodAnswer { success, error_msg: error_msg.into(), response_json: response_json.into() };
        outcome_of(&"base".into(), &response)
    }

    #[test]
    fn a_result_is_any_json_and_nothing_is_null() {
        assert_eq!(answer(true, "", " {\"at\": \"kitchen\"} "), ToolOutcome::success(json!({"at": "kitchen"})));
        assert_eq!(answer(true, "ignored", " "), ToolOutcome::success(Value::Null));
        assert_eq!(answer(true, "", "3"), ToolOutcome::success(json!(3)));
    }

    #[test]
    fn a_failure_carries_the_reason_and_never_the_result() {
        assert_eq!(answer(false, " blocked ", "{}"), ToolOutcome::failure(FailureKind::Reported, "blocked"));
        let unsaid = ToolOutcome::failure(FailureKind::Reported, "the component gave no reason");
        assert_eq!(answer(false, "", "not json"), unsaid);
        assert!(answer(false, &"x".repeat(1_000_000), "").message.len() < 3_000);
    }

    #[test]
    fn garbage_and_floods_are_bad_responses_that_can_be_read() {
        let nested = "[".repeat(10_000);
        for (garbage, says) in [
            ("nonsense", "nonsense"),
            ("{\"a\":", "not JSON"),
            (nested.as_str(), "recursion"),
            ("{} {}", "not JSON"),
            (r#"{"at":"a","at":"b"}"#, "'at' is given twice"),
        ] {
            let outcome = answer(true, "", garbage);
            assert_eq!(outcome.status, cortex_protocol::OutcomeStatus::Failed(FailureKind::BadResponse));
            assert!(outcome.message.contains("'base'") && outcome.message.contains(says), "{}", outcome.message);
            assert!(outcome.message.len() < 1_000);
        }
        let flood = format!("\"{}\"", "x".repeat(MOST_RESPONSE_BYTES));
        assert!(answer(true, "", &flood).message.contains("at most"));
    }
}
