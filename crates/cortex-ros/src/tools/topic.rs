//! One message of a topic: read, or published where the configuration allows it.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::Invocation;
use cortex_core::fragment::capped;
use cortex_interfaces::MessageInterface;
use cortex_protocol::{FailureKind, ToolOutcome};
use cortex_ros_client::dynamic::Publisher;
use cortex_ros_client::{QosProfile, RosError};
use serde_json::{Value, json};

use super::Surroundings;
use super::messages::{message_of, readable};
use super::pool::Pool;
use crate::built_in::{LONGEST_WAIT_S, WAIT_S};
use crate::calls::key;
use crate::catalog::{Catalog, Entry};

/// How long a reader that is on the graph may take to be connected with.
const READER_LIMIT: Duration = Duration::from_secs(2);
/// How long a call stays with its message until readers confirm it. Some milliseconds as a rule; a reader that had just come
/// asks for what it missed after 70 ms.
const CONFIRM_LIMIT: Duration = Duration::from_millis(500);
/// Topics that are named when there is no such one.
const MOST_TOPICS: usize = 60;
/// Characters of a name that is none.
const NAME_CHARACTERS: usize = 200;

/// Reads and publishes.
pub(super) struct Topics {
    around: Arc<Surroundings>,
    publishers: Pool<Arc<Publisher>>,
}

impl Topics {
    pub(super) fn new(around: &Arc<Surroundings>) -> Self {
        Self { around: Arc::clone(around), publishers: Pool::default() }
    }

    /// Waits for one message.
    pub(super) async fn read(&self, invocation: &Invocation, catalog: &Catalog) -> ToolOutcome {
        let arguments = &invocation.call.arguments;
        let Some(topic) = arguments.get("topic").and_then(Value::as_str) else {
            return ToolOutcome::failure(FailureKind::InvalidArguments, "'topic' must be the name of a topic");
        };
        let topic = format!("/{}", topic.trim_start_matches('/'));
        let seconds = arguments.get("timeout").and_then(Value::as_f64).unwrap_or(WAIT_S);
        if !(seconds > 0.0 && seconds <= LONGEST_WAIT_S) {
            let problem = format!("'timeout' must be a number of seconds above 0 and at most {LONGEST_WAIT_S}");
            return ToolOutcome::failure(FailureKind::InvalidArguments, problem);
        }
        let type_name = match self.type_of(&topic, catalog) {
            Ok(type_name) => type_name,
            Err(outcome) => return outcome,
        };
        match self.next(&topic, &type_name, Duration::from_secs_f64(seconds)).await {
            Ok(Some(message)) => ToolOutcome::success(json!({"topic": topic, "type": type_name, "message": message})),
            Ok(None) => {
                let problem = format!("nothing was published on {topic} within {seconds} s");
                ToolOutcome::failure(FailureKind::Timeout, problem)
            }
            Err(problem) => ToolOutcome::failure(FailureKind::Unavailable, problem.to_string()),
        }
    }

    /// Publishes one message.
    pub(super) async fn publish(&self, invocation: &Invocation, entry: &Entry) -> ToolOutcome {
        let unavailable = |problem: RosError| ToolOutcome::failure(FailureKind::Unavailable, problem.to_string());
        let interface = match self.interface(&entry.type_name).await {
            Ok(interface) => interface,
            Err(problem) => return unavailable(problem),
        };
        let message = match message_of(invocation, &interface, self.around.shared()) {
            Ok(message) => message,
            Err(outcome) => return outcome,
        };
        // Not one that keeps the message for who comes late: what was meant now must not be heard tomorrow.
        let make = async {
            Ok(Arc::new(self.around.endpoints.publisher(&entry.name, &interface, QosProfile::RELIABLE).await?))
        };
        let published = async {
            let publisher = self.publishers.get(&entry.name, &entry.type_name, make).await?;
            publisher.wait_for_reader(READER_LIMIT).await?;
            self.around.endpoints.check_topic(&entry.name, &interface)?;
            let sent = self.around.calls.halts().unless_halted(&key(invocation), || {
                self.around.note_unhaltable(invocation, entry);
                publisher.publish(&message)
            });
            if matches!(sent, Ok(Ok(()))) {
                // Cortex may end with this call. That nobody confirmed says nothing of the message, so it is not told.
                let _ = publisher.confirmed(CONFIRM_LIMIT).await?;
            }
            Ok(sent)
        };
        match published.await {
            Ok(Ok(Ok(()))) => ToolOutcome::success(Value::Null),
            Ok(Err(unsent)) => unsent.outcome(),
            Ok(Ok(Err(problem))) | Err(problem) => unavailable(problem),
        }
    }

    fn type_of(&self, topic: &str, catalog: &Catalog) -> Result<String, ToolOutcome> {
        let Some(offer) = catalog.topic(topic) else {
            // Nobody who asks is told whether a topic that is denied is there; whoever runs the robot is.
            if let Some(refusal) = self.around.shared().policy.refusal(topic) {
                tracing::info!("{} was not read: {refusal}", capped(topic, NAME_CHARACTERS));
            }
            let known: Vec<&str> = catalog.topics().take(MOST_TOPICS).collect();
            let topic = capped(topic, NAME_CHARACTERS);
            let problem = format!("nobody publishes {topic}; there are: {}", known.join(", "));
            return Err(ToolOutcome::failure(FailureKind::NotFound, problem));
        };
        let mut types = offer.types.iter();
        match (types.next(), types.next()) {
            (Some(only), None) => Ok(only.clone()),
            _ => {
                let all: Vec<&str> = offer.types.iter().map(String::as_str).collect();
                let problem = format!("{topic} is published with several types: {}", all.join(", "));
                Err(ToolOutcome::failure(FailureKind::Unavailable, problem))
            }
        }
    }

    async fn next(&self, topic: &str, type_name: &str, limit: Duration) -> Result<Option<Value>, RosError> {
        let interface = self.interface(type_name).await?;
        self.around.endpoints.check_topic(topic, &interface)?;
        // One hears everybody, the other also what was kept for who comes late; not every topic fits both.
        let (mut next, mut kept) = tokio::try_join!(
            self.around.endpoints.subscribe(topic, &interface, QosProfile::BEST_EFFORT),
            self.around.endpoints.subscribe(topic, &interface, QosProfile::TRANSIENT_LOCAL),
        )?;
        let message = async {
            tokio::select! {
                message = next.next() => message,
                message = kept.next() => message,
            }
        };
        match tokio::time::timeout(limit, message).await {
            Ok(Some(message)) => Ok(Some(readable(message.view(), &self.around.shared().conventions))),
            Ok(None) => Err(RosError::ShutDown),
            Err(_) => Ok(None),
        }
    }

    async fn interface(&self, type_name: &str) -> Result<Arc<MessageInterface>, RosError> {
        let type_name = type_name.to_owned();
        self.around.interface(move |interfaces| interfaces.message(&type_name)).await
    }
}
