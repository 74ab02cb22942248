//! What components say of their health on `~/status`.

use std::sync::Arc;

use cortex_interfaces::{Message, WriteLimits, WriteOptions};
use cortex_protocol::ComponentName;
use serde_json::Value;

use super::{AGAIN, Senses, Sign};
use crate::RosError;
use crate::directory::below;
use crate::dynamic::{Listening, Quality};

const TYPE: &str = "cortex_msgs/msg/ComponentStatus";
/// Topic of a component's health, below its node.
const STATUS: &str = "status";
/// How much of it is read.
const LIMITS: WriteLimits = WriteLimits { elements: 20, string_bytes: 500, binary_bytes: 0, total_bytes: 16 * 1_024 };

/// What a component says of its health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The number in `cortex_msgs/msg/ComponentStatus`: 0 is healthy. Not every number means something.
    pub status: u8,
    /// What is wrong, in its words.
    pub message: String,
    /// What it is about: algorithms, components, topics.
    pub sources: Vec<String>,
}

impl Health {
    /// What can't be read is not healthy.
    fn read(message: &Message) -> Self {
        let written = message.view().to_json(&WriteOptions { limits: LIMITS, ..WriteOptions::exact() }).value;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let status = written.get("status").and_then(Value::as_u64).and_then(|status| u8::try_from(status).ok());
        let sources = written.get("sources").and_then(Value::as_array).into_iter().flatten();
        Self {
            status: status.unwrap_or(u8::MAX),
            message: written.get("message").and_then(text).unwrap_or_default(),
            sources: sources.filter_map(text).collect(),
        }
    }
}

/// Tells of each that comes.
pub(super) async fn follow(senses: Senses, component: ComponentName) {
    loop {
        match listen(&senses, &component).await {
            Ok(_heard) => return std::future::pending().await,
            Err(RosError::ShutDown) => return,
            Err(problem) => tracing::warn!("the health of '{component}' can't be heard: {problem}"),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// What is said from now on, and what was said before it was listened to: a component that has just come has said that it
/// is well, and says so again only a second later. Not every publisher fits both.
async fn listen(senses: &Senses, component: &ComponentName) -> Result<[Listening; 2], RosError> {
    let interface = senses.interface(|interfaces| interfaces.message(TYPE)).await?;
    let (tell, presence, name) = (senses.tell.clone(), senses.presence.clone(), component.clone());
    let hear = Arc::new(move |message: &Message| {
        if presence.may_speak(&name) {
            tell(&name, Sign::Status { health: Health::read(message) });
        }
    });
    let topic = below(component, STATUS);
    let listen = |quality| {
        let hear = Arc::clone(&hear);
        senses.endpoints.listen(&topic, &interface, quality, move |message: &Message| hear(message))
    };
    Ok([listen(Quality::HEARS_ALL).await?, listen(Quality::LATCHED).await?])
}
