//! Lines of the log of the robot's nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line of the log of a node, as clients are shown it. Its texts are cut, and hold nothing that steers a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// When it was logged, in milliseconds since 1970. Where the clock of the node is far from that of Cortex: when it came.
    pub at_ms: u64,
    /// How serious it is.
    pub level: LogLevel,
    /// The name of the node's logger: `base`, or `arm.gripper` for a node in a namespace.
    pub node: String,
    /// What it says. More lines than one are divided by line feeds.
    pub text: String,
    /// How many lines it stands for: more than one where a node has logged more than is shown.
    pub count: u64,
}

/// How serious a line is, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For those who look for a flaw.
    Debug,
    /// What happens.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
    /// The node can't go on.
    Fatal,
}
