//! What can be done to a robot by name: requests, messages, methods of components, parameters, transitions.
//!
//! While the robot is stopped, none of it is sent but transitions, which only keep components alive, and methods that bring
//! something to rest, as the component itself describes them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cortex_core::fragment::capped;
use cortex_interfaces::{Interfaces, Message, ReadOptions};
use cortex_protocol::{CancelMode, ComponentDescription, ComponentName, Effect, ToolName, strict_json};
use cortex_ros_client::dynamic::parameters::Parameters;
use cortex_ros_client::dynamic::{Endpoints, PreparedRequest, lifecycle};
use cortex_ros_client::lifecycle::Transition;
use cortex_ros_client::load_interface::load_interface;
use cortex_ros_client::{QosProfile, RosError};
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::calls::{Calls, Followed};
use crate::directory::{Directory, EXECUTE_METHOD, below};
use crate::stop::{StopLatch, StopState};
use crate::tools::sent::{MethodAnswer, Sent, SentMethod, request};
use crate::tools::{OpenCommand, RosTools};
use crate::{AdapterError, Discovery};

/// Characters of a reason that are kept.
const REASON_CHARACTERS: usize = 500;
/// How long a method that was given up is known to a stop, where it is never answered.
const KNOWN_LIMIT: Duration = Duration::from_secs(600);
/// How long its readers get to confirm a message before its publisher goes.
const DELIVERY: Duration = Duration::from_secs(1);
/// How long one answer to a transition is waited for before it is looked whether the node is on its way at all: a request
/// that was sent while the middleware still knew a dead server only is lost.
const SECOND_LOOK: Duration = Duration::from_secs(2);
/// How long the state is waited for then.
const STATE_LIMIT: Duration = Duration::from_millis(500);
/// The pause between looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ActionError {
    /// The robot is stopped, or was while it went on.
    #[error("the robot is stopped")]
    Stopped,
    /// In words for people.
    #[error("{0}")]
    Failed(String),
}

/// Why something failed. In words for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ActionFailure {
    /// It could not be sent, or was not answered.
    #[error("{problem}")]
    Ros {
        /// What ROS says, its beginning.
        problem: String,
    },
    /// It takes longer than it may.
    #[error("it did not end within {:.1} s", .limit.as_secs_f64())]
    TimedOut {
        /// How long it may take.
        limit: Duration,
    },
    /// Whoever was asked says that it has failed.
    #[error("{reason}")]
    Reported {
        /// The reason in its own words, their beginning.
        reason: String,
    },
    /// A node is not in the state that a transition leads to, as far as is known.
    #[error("the node refuses, or failed{}", .state.as_ref().map(|state| format!("; it is {state}")).unwrap_or_default())]
    NotInState {
        /// The state that it is in.
        state: Option<String>,
    },
    /// A node does not say in which state it is.
    #[error("the node does not answer")]
    NoState,
    /// A transition takes longer than it may.
    #[error("it takes too long")]
    TooSlow,
}

impl From<ActionFailure> for ActionError {
    fn from(failure: ActionFailure) -> Self {
        Self::Failed(failure.to_string())
    }
}

/// Whether something was sent, or is withdrawn and never will be: one decision, by whoever comes first. Clones decide
/// about the same.
#[derive(Debug, Clone, Default)]
pub struct SendDecision(Arc<Mutex<Decision>>);

#[derive(Debug, Default, PartialEq, Eq)]
enum Decision {
    #[default]
    Open,
    Sent,
    Withdrawn,
}

impl SendDecision {
    /// Keeps it from being sent. False if it was sent, or a part of it: then whatever it began may go on. Waits for a
    /// send that is under way.
    #[must_use]
    pub fn withdraw(&self) -> bool {
        let mut decision = self.lock();
        if *decision == Decision::Open {
            *decision = Decision::Withdrawn;
        }
        *decision == Decision::Withdrawn
    }

    /// Notes that it was sent, for who sends by other ways.
    pub fn note_sent(&self) {
        let _ = self.send(|| Some(()));
    }

    /// Sends it, unless it was withdrawn; then `send` is not run. `send` says whether it was really sent. It must not
    /// wait.
    fn send<T>(&self, send: impl FnOnce() -> Option<T>) -> Option<T> {
        let mut decision = self.lock();
        if *decision == Decision::Withdrawn {
            return None;
        }
        let sent = send()?;
        *decision = Decision::Sent;
        Some(sent)
    }

    fn lock(&self) -> MutexGuard<'_, Decision> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a method is to a stop, as its component describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Role {
    /// It brings something to rest, which is always allowed.
    Halts,
    /// It only looks.
    Observes,
    /// This method brings it to rest.
    HaltedBy(String),
    /// Nothing is known to bring it to rest.
    Unhalted,
}

/// Does things to the robot. Clones share what it needs.
#[derive(Clone)]
pub struct Actions {
    endpoints: Endpoints,
    interfaces: Arc<Interfaces>,
    directory: watch::Receiver<Arc<Directory>>,
    discovery: Discovery,
    tools: RosTools,
    calls: Arc<Calls<Sent>>,
}

impl Actions {
    /// Beside these tools: a stop of them is a stop of this. What methods do is known from what was discovered.
    #[must_use]
    pub fn new(tools: &RosTools, interfaces: &Arc<Interfaces>) -> Self {
        let around = tools.surroundings();
        Self {
            endpoints: around.endpoints.clone(),
            interfaces: Arc::clone(interfaces),
            directory: around.discovery.directory(),
            discovery: around.discovery.clone(),
            tools: tools.clone(),
            calls: Arc::clone(&around.calls),
        }
    }

    /// The latch that it obeys.
    #[must_use]
    pub fn latch(&self) -> &StopLatch {
        self.calls.latch()
    }

    /// Notes a command that is about to be started; whoever runs it ends it at a stop. None while the robot is stopped.
    #[must_use]
    pub fn begin_command(&self, name: ToolName) -> Option<OpenCommand> {
        self.tools.begin_command(name)
    }

    /// Does something that a stop refuses or ends. What fails meanwhile has failed because of that.
    async fn unless_stopped<T>(&self, work: impl Future<Output = Result<T, ActionFailure>>) -> Result<T, ActionError> {
        let unstopped = StopState { is_stopped: false, ..self.latch().now() };
        work.await.map_err(|failure| match self.latch().now() {
            now if now == unstopped => failure.into(),
            _ => ActionError::Stopped,
        })
    }

    /// The last look before something is sent.
    fn may_send(&self) -> Result<(), AdapterError> {
        if self.latch().is_closed() { Err(AdapterError::Stopped) } else { Ok(()) }
    }

    async fn prepare(
        &self,
        names: (&str, &str),
        request: &Value,
        limit: Duration,
    ) -> Result<PreparedRequest, RosError> {
        PreparedRequest::prepare(&self.endpoints, &self.interfaces, names, request, limit).await
    }

    /// Sends what can't be taken back, and notes it until it is over. None: it was withdrawn, or the robot is stopped.
    fn send<T>(
        &self,
        name: &str,
        decision: &SendDecision,
        send: impl FnOnce() -> T,
    ) -> Result<(T, Followed<Sent>), AdapterError> {
        let sent = Sent::Request(CancelMode::Halt);
        decision.send(|| self.calls.send_beside(name.into(), None, sent, send).ok()).ok_or(AdapterError::Stopped)
    }

    /// Notes what is about to be sent, where nobody can halt what it begins.
    fn note_unhaltable(&self, name: &str, effect: Effect) {
        if effect != Effect::Observe && !self.discovery.shared().policy.ends_with_answer(name) {
            self.latch().note_unhaltable(&name.into());
        }
    }

    /// Sends a request to a service and waits for its answer. An answer whose field `success` is false is a failure, with
    /// its `message` as the reason. `effect` is what it does to the world; only what looks is not named by a later stop.
    /// `decision` says whether it was sent.
    ///
    /// # Errors
    /// Why it was not done, in words for people.
    pub async fn request(
        &self,
        service: &str,
        type_name: &str,
        request: &Map<String, Value>,
        effect: Effect,
        limit: Duration,
        decision: &SendDecision,
    ) -> Result<Value, ActionError> {
        let request = Value::Object(request.clone());
        let asked = async {
            let question = self.prepare((service, type_name), &request, limit).await?;
            let send = || {
                self.note_unhaltable(service, effect);
                question.send()
            };
            let (answer, _open) = self.send(service, decision, send)?;
            Ok::<Value, AdapterError>(answer?.await?)
        };
        let done = async {
            let answer = within(limit, asked).await?;
            if answer.get("success") == Some(&Value::Bool(false)) {
                let reason = answer.get("message").or_else(|| answer.get("error_msg")).and_then(Value::as_str);
                return Err(said(reason.unwrap_or_default()));
            }
            Ok(answer)
        };
        self.unless_stopped(done).await
    }

    /// Publishes one message, once somebody reads the topic, which is waited for within `limit`. `decision` says
    /// whether it was sent: what nobody reads is not.
    ///
    /// # Errors
    /// Why it was not done, in words for people.
    pub async fn publish(
        &self,
        topic: &str,
        type_name: &str,
        message: &Map<String, Value>,
        limit: Duration,
        decision: &SendDecision,
    ) -> Result<(), ActionError> {
        let name = type_name.to_owned();
        let publish = async {
            let interface = load_interface(&self.interfaces, move |interfaces| interfaces.message(&name)).await?;
            let message = Message::from_json(&interface, &Value::Object(message.clone()), &ReadOptions::exact())
                .map_err(|problem| RosError::Endpoint { name: topic.to_owned(), problem: problem.to_string() })?;
            let publisher = self.endpoints.publisher(topic, &interface, QosProfile::RELIABLE).await?;
            publisher.wait_for_reader(limit).await?;
            self.endpoints.check_topic(topic, &interface)?;
            let send = || {
                self.note_unhaltable(topic, Effect::Move);
                publisher.publish(&message)
            };
            let (published, _) = self.send(topic, decision, send)?;
            published?;
            // The middleware forgets what it published with the publisher. A reader that is gone confirms nothing.
            let _ = publisher.confirmed(DELIVERY).await;
            Ok::<(), AdapterError>(())
        };
        self.unless_stopped(within(limit.saturating_add(DELIVERY), publish)).await
    }

    /// Runs a method of a component and waits for its end; gives its result. At a stop it is halted by the method that the
    /// component names for that; one that brings something to rest itself is run also while the robot is stopped.
    ///
    /// # Errors
    /// Why it was not done, in words for people.
    pub async fn method(
        &self,
        component: &ComponentName,
        method: &str,
        arguments: &Map<String, Value>,
        limit: Duration,
    ) -> Result<Value, ActionError> {
        let role = self.role(component, method, arguments);
        let run = self.run(component, method, arguments, &role, limit);
        if role == Role::Halts { run.await.map_err(ActionError::from) } else { self.unless_stopped(run).await }
    }

    /// Whether this brings something to rest, as the component itself says: then it is always allowed, whatever has failed
    /// and also while the robot is stopped.
    #[must_use]
    pub fn brings_to_rest(&self, component: &ComponentName, method: &str, arguments: &Map<String, Value>) -> bool {
        self.role(component, method, arguments) == Role::Halts
    }

    fn role(&self, component: &ComponentName, method: &str, arguments: &Map<String, Value>) -> Role {
        let description = self.directory.borrow().component(component).and_then(|known| known.description.clone());
        role(description.as_deref(), method, arguments)
    }

    /// The component whose process carries out a method, where the end of that process is the end of the method.
    fn ends_with(&self, component: &ComponentName, method: &str) -> Option<ComponentName> {
        let description = self.directory.borrow().component(component).and_then(|known| known.description.clone());
        let outlives = description.is_some_and(|known| known.method(method).is_some_and(|it| it.outlives_process));
        (!outlives).then(|| component.clone())
    }

    async fn run(
        &self,
        component: &ComponentName,
        method: &str,
        arguments: &Map<String, Value>,
        role: &Role,
        limit: Duration,
    ) -> Result<Value, ActionFailure> {
        let service = below(component, EXECUTE_METHOD.0);
        let tool = ToolName::of_method(component, method);
        let asked = async {
            let interface = load_interface(&self.interfaces, |interfaces| interfaces.service(EXECUTE_METHOD.1)).await?;
            let client = self.endpoints.service_client(&service, &interface).await?;
            client.wait_for_server(limit).await?;
            let request = request(&client, method, arguments)?;
            let cancel_method = match role {
                Role::Halts => return Ok(client.send(&request)?.await?),
                Role::Observes => {
                    self.may_send()?;
                    return Ok(client.send(&request)?.await?);
                }
                Role::HaltedBy(method) => Some(method.clone()),
                Role::Unhalted => None,
            };
            let (component, cancel) = (component.clone(), CancelMode::Halt);
            let ends_with = self.ends_with(&component, method);
            let sent = SentMethod { component, cancel, cancel_method, client: client.clone() };
            let begun = self.calls.send_beside(tool, ends_with, Sent::Method(sent.clone()), || client.send(&request));
            let (answer, open) = begun.map_err(|_| AdapterError::Stopped)?;
            let (deliver, answered) = oneshot::channel();
            self.tools.surroundings().keep(until_answered(answer?, limit, sent, open, deliver));
            answered.await.unwrap_or(Err(RosError::ShutDown)).map_err(AdapterError::from)
        };
        let MethodAnswer { success, error_msg, response_json } = MethodAnswer::of(&within(limit, asked).await?);
        if !success {
            return Err(said(&error_msg));
        }
        // What is no JSON was done all the same.
        Ok(strict_json::read(&response_json).unwrap_or_default())
    }

    /// Sets parameters of a component, one after the other. `decision` says whether any was sent.
    ///
    /// # Errors
    /// Why one was not set, in words for people; those before it were.
    pub async fn parameters(
        &self,
        component: &ComponentName,
        values: &Map<String, Value>,
        limit: Duration,
        decision: &SendDecision,
    ) -> Result<(), ActionError> {
        self.unless_stopped(self.set(component, values, limit, decision)).await
    }

    async fn set(
        &self,
        component: &ComponentName,
        values: &Map<String, Value>,
        limit: Duration,
        decision: &SendDecision,
    ) -> Result<(), ActionFailure> {
        let (end, node) = (Instant::now() + limit, format!("/{component}"));
        let parameters = Parameters::new(&self.endpoints, &self.interfaces);
        for (name, value) in values {
            let left = end.saturating_duration_since(Instant::now());
            let set = async {
                let change = parameters.prepare(&node, name, value, left).await?;
                let what = format!("{node}/{name}");
                let (answer, _open) = self.send(&what, decision, || change.send())?;
                Ok::<(), AdapterError>(answer?.await?)
            };
            within(left, set).await?;
        }
        Ok(())
    }

    /// Takes a node through a transition, and waits until it is in the state that it leads to.
    ///
    /// # Errors
    /// Why it is not there, in words for people.
    pub async fn change(
        &self,
        component: &ComponentName,
        transition: Transition,
        limit: Duration,
    ) -> Result<(), ActionFailure> {
        let (end, node) = (Instant::now() + limit, format!("/{component}"));
        let left = || end.saturating_duration_since(Instant::now());
        let change = |limit| lifecycle::change(&self.endpoints, &self.interfaces, &node, transition, limit);
        loop {
            // What was waited for long enough is not asked a third time.
            let is_last = left() <= SECOND_LOOK * 2;
            match change(if is_last { left() } else { SECOND_LOOK }).await {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    let state = self.state(&node, left()).await;
                    return match state {
                        // An earlier request, whose answer was lost, has done it.
                        Some(state) if transition.leads_to(&state) => Ok(()),
                        state => Err(ActionFailure::NotInState { state: state.map(|state| capped(&state, 40)) }),
                    };
                }
                Err(RosError::NoAnswer { .. }) if !left().is_zero() => {}
                Err(problem) => return Err(ActionFailure::Ros { problem: problem.to_string() }),
            }
            // On its way: the end of that is waited for. Where it was: the request was lost, and is sent again.
            loop {
                match self.state(&node, left()).await {
                    Some(state) if transition.leads_to(&state) => return Ok(()),
                    Some(state) if transition.is_on_its_way(&state) => {}
                    Some(_) => break,
                    None if left().is_zero() => return Err(ActionFailure::NoState),
                    None => {}
                }
                if left().is_zero() {
                    return Err(ActionFailure::TooSlow);
                }
                tokio::time::sleep(PAUSE.min(left())).await;
            }
        }
    }

    async fn state(&self, node: &str, left: Duration) -> Option<String> {
        let limit = STATE_LIMIT.min(left);
        lifecycle::state(&self.endpoints, &self.interfaces, node, limit).await.ok()
    }
}

/// What its component says of a method. Only without arguments it is the halt that the component names.
fn role(description: Option<&ComponentDescription>, method: &str, arguments: &Map<String, Value>) -> Role {
    let Some(description) = description else { return Role::Unhalted };
    if arguments.is_empty() && description.brings_to_rest(method) {
        return Role::Halts;
    }
    match description.method(method) {
        Some(known) if known.effect() == Effect::Observe => Role::Observes,
        Some(known) => known.cancel_method.clone().map_or(Role::Unhalted, Role::HaltedBy),
        None => Role::Unhalted,
    }
}

/// Waits for the answer of a method, also where its caller has given up: until then it may move, and a stop has to know of
/// it. What takes longer than it may is halted.
async fn until_answered(
    answer: impl Future<Output = Result<Message, RosError>> + Send,
    limit: Duration,
    method: SentMethod,
    open: Followed<Sent>,
    deliver: oneshot::Sender<Result<Message, RosError>>,
) {
    let mut answer = std::pin::pin!(answer);
    if let Ok(answer) = tokio::time::timeout(limit, &mut answer).await {
        // Whoever waited may have given up in this moment.
        let _ = deliver.send(answer);
        return;
    }
    drop(deliver);
    let halted = method.send_halt();
    if let Err(problem) = &halted {
        tracing::warn!("{open:?} took too long, and could not be halted: {problem}");
    }
    let _ = tokio::time::timeout(KNOWN_LIMIT, answer).await;
    drop(open);
}

/// Bounds something.
async fn within<T, E: std::fmt::Display>(
    limit: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, ActionFailure> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => {
            done.map_err(|problem| ActionFailure::Ros { problem: capped(&problem.to_string(), REASON_CHARACTERS) })
        }
        Err(_) => Err(ActionFailure::TimedOut { limit }),
    }
}

/// The reason that somebody gave.
fn said(reason: &str) -> ActionFailure {
    let reason = reason.trim();
    let reason = if reason.is_empty() { "it gave no reason".to_owned() } else { capped(reason, REASON_CHARACTERS) };
    ActionFailure::Reported { reason }
}

#[cfg(test)]
mod tests;
