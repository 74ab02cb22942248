//! The methods of the components on the graph, and `inspect_component`, as tools.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::fragment::capped;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{CancelMode, ComponentName, FailureKind, HaltState, ToolOutcome};
use r2r::cortex_msgs::srv::ExecuteMethod;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::calls::{CallKey, Calls, SentCall, key};
use crate::directory::{ComponentState, EXECUTE_METHOD, Loss, Run, below};
use crate::inspection::{self, Inspector};
use crate::{Discovery, GraphWatch, RosError, RosNode};

/// Longest result that is read, in bytes.
const MOST_RESPONSE_BYTES: usize = 4 << 20;
/// Characters of a component's reason that are kept.
const REASON_CHARACTERS: usize = 2_000;
/// Characters of an unreadable answer that are shown.
const SHOWN_CHARACTERS: usize = 200;
/// The caller bounds a call; should it forget, the call ends this much after its time.
const OVERTIME: Duration = Duration::from_secs(60);
/// How long the answer to a call that was given up is waited for, to learn that it is at rest.
const LATE_LIMIT: Duration = Duration::from_secs(600);
/// How long a component may take to halt. The caller bounds it closer.
const HALT_LIMIT: Duration = Duration::from_secs(60);
/// How long the tasks that wait for late answers may take to end.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Offers what the components on the graph can do. Clones share everything.
#[derive(Clone)]
pub struct RosTools {
    discovery: Discovery,
    inspector: Arc<Inspector>,
    calls: Arc<Calls>,
    waiting: TaskTracker,
}

/// A component's answer to a call.
type Answer = Result<ExecuteMethod::Response, RosError>;

impl RosTools {
    /// The tools of what `discovery` finds.
    #[must_use]
    pub fn new(node: &RosNode, graph: &GraphWatch, discovery: &Discovery) -> Self {
        Self {
            discovery: discovery.clone(),
            inspector: Arc::new(Inspector::new(node, graph, discovery)),
            calls: Arc::default(),
            waiting: TaskTracker::new(),
        }
    }

    /// What is known of a node of the robot, a Cortex component or not, as JSON in a stable order.
    ///
    /// # Errors
    /// [`RosError::UnknownNode`], with the names that there are.
    pub async fn inspect(&self, name: &str) -> Result<Value, RosError> {
        self.inspector.inspect(name).await
    }

    /// Ends what waits for late answers, within a bounded time. To be called after the node was shut down.
    pub async fn shut_down(&self) {
        self.waiting.close();
        if tokio::time::timeout(END_LIMIT, self.waiting.wait()).await.is_err() {
            tracing::debug!("some calls were never answered");
        }
    }

    async fn inspect_component(&self, invocation: &Invocation) -> ToolOutcome {
        let Some(name) = invocation.call.arguments.get("component").and_then(Value::as_str) else {
            return ToolOutcome::failure(FailureKind::InvalidArguments, "'component' must be the name of a component");
        };
        match self.inspect(name).await {
            Ok(report) => ToolOutcome::success(report),
            Err(problem @ RosError::UnknownNode { .. }) => {
                ToolOutcome::failure(FailureKind::NotFound, problem.to_string())
            }
            Err(problem) => ToolOutcome::failure(FailureKind::Unavailable, problem.to_string()),
        }
    }

    /// Finds who carries out the call.
    fn route(&self, invocation: &Invocation) -> Result<Route, ToolOutcome> {
        let directory = self.discovery.directory().borrow().clone();
        let tool = &invocation.call.tool;
        let Some(found) = directory.find(tool) else {
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
        Ok(Route {
            run: found.run,
            method: method.name.clone(),
            call: SentCall {
                component: found.name.clone(),
                cancel: method.tool(found.name).cancel,
                cancel_method: method.cancel_method.clone(),
            },
        })
    }

    /// Sends the call. The answer arrives at the returned channel, unless nobody waits any more.
    async fn send(&self, invocation: &Invocation, route: &Route) -> Result<oneshot::Receiver<Answer>, RosError> {
        let clients = &self.discovery.shared().method_clients;
        let client = clients.get(&below(&route.call.component, EXECUTE_METHOD.0)).await?;
        let request = ExecuteMethod::Request {
            name: route.method.clone(),
            kwargs_json: Value::Object(invocation.call.arguments.clone()).to_string(),
        };
        // Taken down before it is sent: a halt in between must not take it for one that never was.
        self.calls.sent(key(invocation), route.call.clone());
        let answer = match client.send(&request) {
            Ok(answer) => answer,
            Err(problem) => {
                self.calls.answered(&key(invocation));
                return Err(problem);
            }
        };
        let (deliver, delivered) = oneshot::channel();
        let waiting = wait_for_answer(answer, Arc::clone(&self.calls), key(invocation), invocation.timeout, deliver);
        self.waiting.spawn(waiting);
        Ok(delivered)
    }

    /// Resolves when the component of this run is lost.
    async fn lost(&self, component: &ComponentName, run: Run) -> Loss {
        let mut directory = self.discovery.directory();
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
    /// has stopped: it may well hear it, and a halt that is not heard costs nothing. Ends early when it has left.
    async fn run_cancel_method(&self, component: &ComponentName, method: &str) -> Result<HaltState, String> {
        let client = self.discovery.shared().method_clients.get(&below(component, EXECUTE_METHOD.0)).await;
        let client = client.map_err(|problem| problem.to_string())?;
        let request = ExecuteMethod::Request { name: method.to_owned(), kwargs_json: "{}".to_owned() };
        let mut directory = self.discovery.directory();
        let response = tokio::select! {
            biased;
            response = client.call(&request, HALT_LIMIT) => response.map_err(|problem| problem.to_string())?,
            _ = directory.wait_for(|directory| directory.component(component).is_none()) => {
                return Err("it has left the graph".to_owned());
            }
        };
        if response.success { Ok(HaltState::Halted) } else { Err(reason(&response.error_msg)) }
    }
}

/// Who carries out a call, and how.
struct Route {
    run: Run,
    method: String,
    call: SentCall,
}

#[async_trait]
impl ToolProvider for RosTools {
    fn label(&self) -> String {
        "ros".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        if invocation.call.tool.as_str() == inspection::TOOL {
            return self.inspect_component(&invocation).await;
        }
        let route = match self.route(&invocation) {
            Ok(route) => route,
            Err(outcome) => return outcome,
        };
        let answer = match self.send(&invocation, &route).await {
            Ok(answer) => answer,
            Err(problem) => return ToolOutcome::failure(FailureKind::Unavailable, problem.to_string()),
        };
        // What a lost or silent component started may go on without it.
        let unknown = match route.call.cancel {
            CancelMode::Drop => HaltState::AtRest,
            CancelMode::Halt => HaltState::Unconfirmed,
        };
        let component = &route.call.component;
        tokio::select! {
            // An answer that is there counts, even if its component has gone since.
            biased;
            answer = answer => match answer {
                Ok(Ok(response)) => outcome_of(component, response),
                Ok(Err(problem)) => failure(FailureKind::Unavailable, component, problem).with_halt(unknown),
                Err(_) => failure(FailureKind::Timeout, component, "it has not answered").with_halt(unknown),
            },
            loss = self.lost(component, route.run) => {
                let problem = format!("the component '{component}' {loss} while '{}' was under way", route.method);
                ToolOutcome::failure(FailureKind::ComponentLost, problem).with_halt(unknown)
            }
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        let Some(call) = self.calls.open(&key(invocation)) else {
            return HaltState::AtRest;
        };
        match (call.cancel, call.cancel_method) {
            (CancelMode::Drop, _) => HaltState::AtRest,
            (CancelMode::Halt, None) => HaltState::Unconfirmed,
            (CancelMode::Halt, Some(method)) => {
                let halted = self.run_cancel_method(&call.component, &method).await;
                halted.unwrap_or_else(|problem| {
                    tracing::warn!("the component '{}' did not halt: {problem}", call.component);
                    HaltState::Unconfirmed
                })
            }
        }
    }
}

/// Waits for the answer even when its caller has given up: only then is it known that the call is over.
async fn wait_for_answer(
    answer: impl Future<Output = Answer> + Send,
    calls: Arc<Calls>,
    key: CallKey,
    timeout: Duration,
    deliver: oneshot::Sender<Answer>,
) {
    let limit = timeout.saturating_add(OVERTIME).max(LATE_LIMIT);
    let Ok(answer) = tokio::time::timeout(limit, answer).await else {
        return;
    };
    if answer.is_ok() {
        calls.answered(&key);
    }
    if deliver.send(answer).is_err() {
        tracing::debug!("{} of mission {} was answered after it had been given up", key.1, key.0);
    }
}

fn outcome_of(component: &ComponentName, response: ExecuteMethod::Response) -> ToolOutcome {
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
    serde_json::from_str(text).map_or_else(
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
        let response =
            ExecuteMethod::Response { success, error_msg: error_msg.into(), response_json: response_json.into() };
        outcome_of(&"base".into(), response)
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
        for (garbage, says) in
            [("nonsense", "nonsense"), ("{\"a\":", "not JSON"), (nested.as_str(), "recursion"), ("{} {}", "not JSON")]
        {
            let outcome = answer(true, "", garbage);
            assert_eq!(outcome.status, cortex_protocol::OutcomeStatus::Failed(FailureKind::BadResponse));
            assert!(outcome.message.contains("'base'") && outcome.message.contains(says), "{}", outcome.message);
            assert!(outcome.message.len() < 1_000);
        }
        let flood = format!("\"{}\"", "x".repeat(MOST_RESPONSE_BYTES));
        assert!(answer(true, "", &flood).message.contains("at most"));
    }
}
