//! What can be done to a robot by name: requests, messages, methods of components, parameters, transitions.
//!
//! While the robot is stopped, none of it is sent but transitions: those only keep components alive.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::fragment::capped;
use cortex_interfaces::{Interfaces, Message, ReadOptions};
use cortex_protocol::ComponentName;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::RosError;
use crate::directory::{EXECUTE_METHOD, below};
use crate::dynamic::lifecycle::{self, Transition};
use crate::dynamic::parameters::Parameters;
use crate::dynamic::{Endpoints, Quality, Question};
use crate::stop::StopLatch;

/// Characters of a reason that are kept.
const REASON_CHARACTERS: usize = 500;
/// How long a message may be on its way to its readers before its publisher goes.
const DELIVERY: Duration = Duration::from_millis(200);
/// How long one answer to a transition is waited for before it is looked whether the node is on its way at all: a request
/// that was sent while the middleware still knew a dead server only is lost.
const SECOND_LOOK: Duration = Duration::from_secs(2);
/// How long the state is waited for then.
const STATE_LIMIT: Duration = Duration::from_millis(500);
/// The pause between looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Does things to the robot. Clones share what it needs.
#[derive(Clone)]
pub struct Deeds {
    endpoints: Endpoints,
    interfaces: Arc<Interfaces>,
    latch: StopLatch,
}

impl Deeds {
    /// Through these endpoints, unless the latch is closed.
    #[must_use]
    pub fn new(endpoints: &Endpoints, interfaces: &Arc<Interfaces>, latch: &StopLatch) -> Self {
        Self { endpoints: endpoints.clone(), interfaces: Arc::clone(interfaces), latch: latch.clone() }
    }

    /// The last look before something is sent.
    fn may_send(&self) -> Result<(), RosError> {
        if self.latch.is_closed() { Err(RosError::Stopped) } else { Ok(()) }
    }

    /// `what` is how a stop names it while it is not answered.
    async fn ask(&self, what: &str, names: (&str, &str), request: &Value, limit: Duration) -> Result<Value, RosError> {
        let question = Question::prepare(&self.endpoints, &self.interfaces, names, request, limit).await?;
        let _open = self.latch.begin(what.into()).ok_or(RosError::Stopped)?;
        question.send()?.await
    }

    /// Sends a request to a service and waits for its answer. An answer whose field `success` is false is a failure, with
    /// its `message` as the reason.
    ///
    /// # Errors
    /// Why it was not done, in words for people.
    pub async fn request(
        &self,
        service: &str,
        type_name: &str,
        request: &Map<String, Value>,
        limit: Duration,
    ) -> Result<Value, String> {
        let request = Value::Object(request.clone());
        let answer = within(limit, self.ask(service, (service, type_name), &request, limit)).await?;
        if answer.get("success") == Some(&Value::Bool(false)) {
            let reason = answer.get("message").or_else(|| answer.get("error_msg")).and_then(Value::as_str);
            return Err(said(reason.unwrap_or_default()));
        }
        Ok(answer)
    }

    /// Publishes one message, once somebody reads the topic.
    ///
    /// # Errors
    /// Why it was not done, in words for people.
    pub async fn publish(
        &self,
        topic: &str,
        type_name: &str,
        message: &Map<String, Value>,
        limit: Duration,
    ) -> Result<(), String> {
        let (interfaces, name) = (Arc::clone(&self.interfaces), type_name.to_owned());
        let publish = async {
            // It reads files. It fails only when the runtime ends.
            let found = tokio::task::spawn_blocking(move || interfaces.message(&name)).await;
            let interface = found.map_err(|_| RosError::ShutDown)??;
            let message = Message::from_json(&interface, &Value::Object(message.clone()), &ReadOptions::exact())
                .map_err(|problem| RosError::Endpoint { name: topic.to_owned(), problem: problem.to_string() })?;
            let publisher = self.endpoints.publisher(topic, &interface, Quality::RELIABLE).await?;
            publisher.wait_for_reader(limit).await?;
            self.endpoints.check_topic(topic, &interface)?;
            self.may_send()?;
            publisher.publish(&message)?;
            // The middleware forgets what it published with the publisher.
            tokio::time::sleep(DELIVERY).await;
            Ok::<(), RosError>(())
        };
        within(limit.saturating_add(DELIVERY), publish).await
    }

    /// Runs a method of a component and waits for its end; gives its result.
    ///
    /// # Errors
    /// Why it was not done, in words for people.
    pub async fn method(
        &self,
        component: &ComponentName,
        method: &str,
        arguments: &Map<String, Value>,
        limit: Duration,
    ) -> Result<Value, String> {
        let request = json!({"name": method, "kwargs_json": Value::Object(arguments.clone()).to_string()});
        let service = below(component, EXECUTE_METHOD.0);
        let names = (service.as_str(), EXECUTE_METHOD.1);
        let what = format!("{component}.{method}");
        let answer = within(limit, self.ask(&what, names, &request, limit)).await?;
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
        if answer.get("success") != Some(&Value::Bool(true)) {
            return Err(said(text("error_msg")));
        }
        // What is no JSON was done all the same.
        Ok(serde_json::from_str(text("response_json")).unwrap_or_default())
    }

    /// Sets parameters of a component, one after the other.
    ///
    /// # Errors
    /// Why one was not set, in words for people; those before it were.
    pub async fn parameters(
        &self,
        component: &ComponentName,
        values: &Map<String, Value>,
        limit: Duration,
    ) -> Result<(), String> {
        let (end, node) = (Instant::now() + limit, format!("/{component}"));
        let parameters = Parameters::new(&self.endpoints, &self.interfaces);
        for (name, value) in values {
            let left = end.saturating_duration_since(Instant::now());
            let set = async {
                let change = parameters.prepare(&node, name, value, left).await?;
                self.may_send()?;
                change.send()?.await
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
    ) -> Result<(), String> {
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
                        Some(state) if state == transition.target() => Ok(()),
                        Some(state) => Err(format!("the node refuses, or failed; it is {}", capped(&state, 40))),
                        None => Err("the node refuses, or failed".to_owned()),
                    };
                }
                Err(RosError::NoAnswer { .. }) if !left().is_zero() => {}
                Err(problem) => return Err(problem.to_string()),
            }
            // On its way: the end of that is waited for. Where it was: the request was lost, and is sent again.
            loop {
                match self.state(&node, left()).await {
                    Some(state) if state == transition.target() => return Ok(()),
                    Some(state) if transition.is_on_its_way(&state) => {}
                    Some(_) => break,
                    None if left().is_zero() => return Err("the node does not answer".to_owned()),
                    None => {}
                }
                if left().is_zero() {
                    return Err("it takes too long".to_owned());
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

/// Bounds something, and says in words what went wrong.
async fn within<T, E: std::fmt::Display>(
    limit: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done.map_err(|problem| capped(&problem.to_string(), REASON_CHARACTERS)),
        Err(_) => Err(format!("it did not end within {:.1} s", limit.as_secs_f64())),
    }
}

/// The reason that somebody gave.
fn said(reason: &str) -> String {
    let reason = reason.trim();
    if reason.is_empty() { "it gave no reason".to_owned() } else { capped(reason, REASON_CHARACTERS) }
}
