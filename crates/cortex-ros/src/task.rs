//! Tasks as they are on the wire: feedback, results, and the answers of services.

use cortex_protocol::{
    CloudEvent, CommandError, CommandOutcome, MissionEvent, MissionId, MissionResult, MissionStatus,
};
use thiserror::Error;

/// The result of a goal that is open when the server is shut down.
pub(crate) const SHUTTING_DOWN: &str = "Cortex is shutting down";

/// Why the agent has no mission for a task.
#[derive(Debug, Error)]
pub(crate) enum NotSubmitted {
    #[error("{}", .0.reason)]
    Refused(CommandError),
    #[error("the agent failed to take the task; this is a flaw of Cortex")]
    Flaw,
    #[error("{SHUTTING_DOWN}")]
    ShuttingDown,
    #[error("the agent did not take the task in time")]
    TimedOut,
}

/// One feedback message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskUpdate {
    /// Counts the messages of the mission, from 1.
    pub timestep: i32,
    /// Whether it is the last.
    pub completed: bool,
    /// One readable line.
    pub feedback: String,
    /// The same as a CloudEvent in JSON.
    pub event: String,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskResult {
    /// In which way.
    pub ending: TaskEnding,
    /// The answer, or the reason, in words for a person.
    pub output: String,
    /// The mission, or an empty id where none was begun.
    pub mission: MissionId,
}

/// In which way a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEnding {
    /// As it should.
    Succeeded,
    /// Otherwise.
    Failed,
    /// Someone ended it.
    Cancelled,
}

/// What came of `~/stop`, `~/resume`, `~/revise`, `~/answer` or `~/dispute`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceReply {
    /// Whether what was asked for is the case now.
    pub success: bool,
    /// In words for a person; after a stop, what is not confirmed to be at rest; after a revision or a dispute,
    /// the mission.
    pub message: String,
}

impl TaskUpdate {
    /// The event as one feedback message.
    pub(crate) fn of(event: &CloudEvent) -> Self {
        Self {
            timestep: i32::try_from(event.sequence).unwrap_or(i32::MAX),
            completed: matches!(event.data.payload, MissionEvent::Finished { .. }),
            feedback: event.data.text.clone(),
            event: serde_json::to_string(event).unwrap_or_default(),
        }
    }
}

impl TaskResult {
    /// The result of a mission.
    pub(crate) fn of(mission: MissionId, result: &MissionResult) -> Self {
        let ending = match result.status {
            _ if result.is_success() => TaskEnding::Succeeded,
            MissionStatus::Answered | MissionStatus::Succeeded | MissionStatus::Failed => TaskEnding::Failed,
            MissionStatus::Cancelled => TaskEnding::Cancelled,
        };
        Self { ending, output: result.output.clone(), mission }
    }
}

impl ServiceReply {
    /// What came of a command.
    pub(crate) fn of(outcome: Result<CommandOutcome, CommandError>) -> Self {
        match outcome {
            Ok(outcome) => Self { success: true, message: outcome.to_string() },
            Err(error) => Self::refusal(error.to_string()),
        }
    }

    pub(crate) fn refusal(message: impl Into<String>) -> Self {
        Self { success: false, message: message.into() }
    }
}
