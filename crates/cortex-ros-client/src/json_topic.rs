//! Publishing a topic of any type from JSON, and reading one of texts.

use std::sync::Arc;

use cortex_interfaces::{Interfaces, Message, MessageInterface, ReadOptions, WriteOptions};
use serde_json::Value;

use crate::dynamic::{Endpoints, Publisher, Subscription};
use crate::{QosProfile, RosError};

/// A topic that is published by this process.
pub struct JsonTopic {
    publisher: Publisher,
    interface: Arc<MessageInterface>,
    name: String,
}

impl JsonTopic {
    /// Makes the publisher. `topic` is fully qualified, `type_name` is such as `std_msgs/msg/String`.
    ///
    /// # Errors
    /// When the type is not installed, the client library refuses, and after the shutdown.
    pub async fn create(
        endpoints: &Endpoints,
        topic: &str,
        type_name: &'static str,
        quality: QosProfile,
    ) -> Result<Self, RosError> {
        // It reads files. It fails only when the runtime ends.
        let found = tokio::task::spawn_blocking(move || Interfaces::from_environment().message(type_name)).await;
        let interface = found.map_err(|_| RosError::ShutDown)??;
        let publisher = endpoints.publisher(topic, &interface, quality).await?;
        Ok(Self { publisher, interface, name: topic.to_owned() })
    }

    /// Publishes a message.
    ///
    /// # Errors
    /// When it is none of the topic's type, can't be sent, and after the shutdown.
    pub fn publish(&self, message: &Value) -> Result<(), RosError> {
        let message = Message::from_json(&self.interface, message, &ReadOptions::exact())
            .map_err(|problem| RosError::Endpoint { name: self.name.clone(), problem: problem.to_string() })?;
        self.publisher.publish(&message)
    }
}

/// A topic of `std_msgs/msg/String` whose last message is kept by who publishes it.
pub struct LatchedText(Subscription);

impl LatchedText {
    /// Subscribes to it. `topic` is fully qualified.
    ///
    /// # Errors
    /// As for [`JsonTopic::create`].
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
