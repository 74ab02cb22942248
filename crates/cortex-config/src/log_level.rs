//! How much is logged, as the configuration says it.

use serde::{Deserialize, Serialize};

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// As it was when the process started.
    #[serde(rename = "")]
    AsStarted,
    /// What has failed.
    Error,
    /// And what is odd.
    Warn,
    /// And what happens.
    Info,
    /// And why.
    Debug,
    /// And every step.
    Trace,
}

impl LogLevel {
    /// The name in `RUST_LOG`; none for [`AsStarted`](Self::AsStarted).
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::AsStarted => None,
            Self::Error => Some("error"),
            Self::Warn => Some("warn"),
            Self::Info => Some("info"),
            Self::Debug => Some("debug"),
            Self::Trace => Some("trace"),
        }
    }
}
