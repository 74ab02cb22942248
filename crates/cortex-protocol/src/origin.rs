//! Where commands and events come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a command or an event comes from, for the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The kind of entrance: `ros`, `web`, `cli`, `event`.
    pub channel: String,
    /// Which client on it: a node, a browser session, a program.
    pub client: String,
    /// The operating system of the client, or empty where that is not known.
    #[serde(default)]
    pub platform: String,
    /// A hash that tells users apart without naming them, or empty.
    #[serde(default)]
    pub user_id_hash: String,
    /// The conversation, or empty.
    #[serde(default)]
    pub session_id: String,
}

impl Origin {
    /// An origin with only its channel and client known.
    pub fn new(channel: impl Into<String>, client: impl Into<String>) -> Self {
        Self {
            channel: channel.into(),
            client: client.into(),
            platform: String::new(),
            user_id_hash: String::new(),
            session_id: String::new(),
        }
    }
}
