//! What can be wrong with a component, and what can be told about it.

use std::fmt;

use cortex_recipe::Bytes;
use serde::{Deserialize, Serialize};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an exit status.
    Exited {
        /// Which.
        status: i32,
    },
    /// By a signal.
    Signalled {
        /// Which.
        signal: i32,
        /// Whether it was sent by us.
        by_us: bool,
    },
    /// By the kernel, since it needed more memory than its limit.
    OutOfMemory {
        /// The limit.
        limit_bytes: u64,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The kernel's last word, also when there is no memory left.
        const KILL: i32 = 9;
        match self {
            Self::Exited { status } => write!(formatter, "its process ended with status {status}"),
            Self::Signalled { signal, by_us: true } => {
                write!(formatter, "its process was ended by Cortex (signal {signal})")
            }
            Self::Signalled { signal: KILL, by_us: false } => {
                formatter.write_str("its process was killed (signal 9), perhaps because there was no memory left")
            }
            Self::Signalled { signal, by_us: false } => write!(formatter, "its process was ended by signal {signal}"),
            Self::OutOfMemory { limit_bytes } => {
                write!(formatter, "its process was killed for memory, limit {}", Bytes::of(*limit_bytes))
            }
        }
    }
}

/// A state of `lifecycle_msgs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleState {
    /// Not configured.
    Unconfigured,
    /// Configured, and not at work.
    Inactive,
    /// At work.
    Active,
    /// At its end.
    Finalized,
    /// On the way from one to another.
    Changing,
}

impl fmt::Display for LifecycleState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unconfigured => "unconfigured",
            Self::Inactive => "inactive",
            Self::Active => "active",
            Self::Finalized => "finalized",
            Self::Changing => "changing its state",
        })
    }
}

/// What kind of failure it is; each has a ladder of its own. In the order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// An algorithm inside fails; the component itself works.
    Algorithm,
    /// Something outside fails that it depends on.
    System,
    /// It fails for a reason that is not known.
    General,
    /// The component itself fails.
    Component,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Algorithm => "algorithm",
            Self::System => "system",
            Self::General => "general",
            Self::Component => "component",
        })
    }
}

/// How sure a symptom is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It may be nothing. It is told, and nothing is done.
    Suspicion,
    /// It has failed.
    Failure,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symptom {
    /// How sure it is.
    pub severity: Severity,
    /// Which ladder is for it.
    pub kind: FailureKind,
    /// What is wrong, in words for people.
    pub message: String,
}

/// A verdict in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Works.
    Healthy,
    /// Something is odd.
    Suspect,
    /// Fails.
    Failed {
        /// The worst of its failures.
        kind: FailureKind,
    },
}

impl Health {
    /// The worst of the symptoms.
    #[must_use]
    pub fn of(symptoms: &[Symptom]) -> Self {
        let failures = symptoms.iter().filter(|symptom| symptom.severity == Severity::Failure);
        match failures.map(|symptom| symptom.kind).max() {
            Some(kind) => Self::Failed { kind },
            None if symptoms.is_empty() => Self::Healthy,
            None => Self::Suspect,
        }
    }
}

/// How bad an entry of `/diagnostics` is (`diagnostic_msgs/msg/DiagnosticStatus`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticLevel {
    /// OK.
    Ok,
    /// WARN.
    Warning,
    /// ERROR.
    Error,
    /// STALE.
    Stale,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_that_was_not_ours_is_told_as_such() {
        let killed = |by_us| Ending::Signalled { signal: 9, by_us }.to_string();
        assert!(killed(false).contains("no memory left"));
        assert_eq!(killed(true), "its process was ended by Cortex (signal 9)");
        let for_memory = Ending::OutOfMemory { limit_bytes: 64_000_000 }.to_string();
        assert_eq!(for_memory, "its process was killed for memory, limit 64 MB");
    }
}
