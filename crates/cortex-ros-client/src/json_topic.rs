//! Publishing a topic from JSON, and reading one of texts.

use cortex_interfaces::{Interfaces, WriteOptions};
use serde_json::Value;

use crate::dynamic::{Endpoints, Subscription};
use crate::publisher::shared;
use crate::{Publisher, QosProfile, RosError, RosNode, TypedMessage, typed};

/// A topic that the node of this process publishes, from JSON.
pub struct JsonTopic<T: TypedMessage> {
    publisher: Publisher<T>,
    name: String,
}

impl<T: TypedMessage> JsonTopic<T> {
    /// Makes the publisher on the node: remap rules apply, and who looks at the node finds it.
    ///
    /// # Errors
    /// When the client library refuses, and after the shutdown.
    pub async fn create(node: &RosNode, topic: &str, quality: QosProfile) -> Result<Self, RosError> {
        let name = topic.to_owned();
        let made = node.with_node(move |node| node.create_publisher::<T>(&name, quality.into())).await??;
        Ok(Self { publisher: shared(made), name: topic.to_owned() })
    }

    /// Publishes a message. One that can't be sent is logged and dropped: the next one is newer.
    ///
    /// # Errors
    /// When it is none of the topic's type.
    pub fn publish(&self, message: &Value) -> Result<(), RosError> {
        let message = typed::from_json(message)
            .map_err(|problem| RosError::Endpoint { name: self.name.clone(), problem: problem.to_string() })?;
        self.publisher.publish(&message);
        Ok(())
    }
}

/// A topic of `std_msgs/msg/String` whose last message is kept by who publishes it.
pub struct LatchedText(Subscription);

impl LatchedText {
    /// Subscribes to it. `topic` is fully qualified.
    ///
    /// # Errors
    /// When the type is not installed, the client library refuses, and after the shutdown.
    pub async fn subscribe(endpoints: &Endpoints, topic: &str) -> Result<Self, RosError> {
        let found = tokio::task::spawn_blocking(|| Interfaces::from_environment().message("std_msgs/msg/String")).await;
        let interface = found.map_err(|_| RosError::ShutDown)??;
        Ok(Self(endpoints.subscribe(topic, &interface, QosProfile::TRANSIENT_LOCAL).await?))
    }

    /// The next message: the one that was kept, and then each new one. None after the shutdown.
    pub async fn next(&mut self) -> Option<String> {
        let message = self.0.next().await?;
        let json = message.view().to_json(&WriteOptions::exact()).value;
        Some(json.get("data").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}
