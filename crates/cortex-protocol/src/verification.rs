//! What is known of what a step did, beyond its tool's own word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FailureKind, OutcomeStatus, ToolOutcome};

/// What is known of what a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// It succeeded, and what its tool names as evidence was seen.
    Verified,
    /// It succeeded by its tool's word alone.
    NotVerified,
    /// It was not done.
    Failed,
    /// Nobody knows: its component was lost, it gave no answer, it did not confirm that it halted, or its evidence could
    /// not be seen.
    Unknown,
}

impl std::fmt::Display for Verification {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Verified => "verified",
            Self::NotVerified => "not verified",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        })
    }
}

impl Verification {
    /// What an outcome says. None of a call: it never ended.
    #[must_use]
    pub fn of(outcome: Option<&ToolOutcome>) -> Self {
        let Some(outcome) = outcome else { return Self::Unknown };
        match outcome.status {
            OutcomeStatus::Succeeded if outcome.evidence.is_empty() => Self::NotVerified,
            OutcomeStatus::Succeeded => Self::Verified,
            _ if outcome.halt.may_go_on() => Self::Unknown,
            OutcomeStatus::Failed(
                FailureKind::ComponentLost
                | FailureKind::Timeout
                | FailureKind::BadResponse
                | FailureKind::NoEvidence
                | FailureKind::Internal,
            ) => Self::Unknown,
            OutcomeStatus::Failed(_) | OutcomeStatus::Cancelled | OutcomeStatus::NotBegun => Self::Failed,
        }
    }
}
