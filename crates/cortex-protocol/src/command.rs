//! What a client may ask for. Every client, be it ROS, a page or the command line, uses the same.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Answer, ConnectionId, Control, MissionId, Origin, QuestionId, SessionId, ToolName};
use serde_json::{Map, Value};

/// A task handed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    /// In plain language, any script.
    pub task: String,
    /// The conversation that it belongs to.
    pub session: Option<SessionId>,
    /// Who asks.
    pub origin: Origin,
}

/// What a client may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Command {
    /// Carry out a task.
    Submit {
        /// In plain language, any script.
        task: String,
        /// The conversation that it belongs to.
        session: Option<SessionId>,
    },
    /// End one mission.
    Cancel {
        /// Which.
        mission: MissionId,
    },
    /// Revise the task of a mission that runs: what moves is halted, and the mission plans anew.
    Revise {
        /// Which. None: the one that runs.
        mission: Option<MissionId>,
        /// In plain language.
        text: String,
    },
    /// Answer a question.
    Answer {
        /// Which.
        question: QuestionId,
        /// What.
        answer: Answer,
    },
    /// Run one tool, as a mission of its own, where no other one runs or waits.
    CallTool {
        /// Which.
        tool: ToolName,
        /// With what, as its schema says. No placeholders.
        arguments: Map<String, Value>,
    },
    /// Say that a mission which has ended did not do what was asked; it is reopened.
    Dispute {
        /// Which.
        mission: MissionId,
        /// In plain language.
        reason: String,
    },
    /// Halt everything, now, and take no task until [`Command::Resume`].
    Stop,
    /// Take tasks again after [`Command::Stop`].
    Resume,
    /// Halt what missions and events have in motion, and let them begin nothing, until [`Command::Unpause`]. The mission
    /// that runs stays alive.
    Pause,
    /// Let missions and events go on: the mission that was paused plans anew.
    Unpause,
    /// As [`Command::Pause`], and the controls belong to the connection that this comes over, until
    /// [`Command::HandBack`], or until that connection falls silent.
    TakeOver,
    /// Give the controls back to the missions, as [`Command::Unpause`].
    HandBack,
}

/// What somebody may ask for. Each role may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look on. To stop the robot is everybody's right.
    Watch,
    /// Hand in tasks, answer, resume.
    Operate,
    /// Everything.
    Administer,
}

/// Who asks, and what they may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Principal {
    /// Where from, for the record.
    pub origin: Origin,
    /// What they may.
    pub role: Role,
    /// The live connection over which they ask, where there is one: what holds the controls of the robot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionId>,
}

impl Principal {
    /// An operator.
    #[must_use]
    pub fn operator(origin: Origin) -> Self {
        Self { origin, role: Role::Operate, connection: None }
    }

    /// The same over a live connection, which has shown that it is theirs.
    #[must_use]
    pub fn over(self, connection: ConnectionId) -> Self {
        Self { connection: Some(connection), ..self }
    }

    /// Whether the command is theirs to give.
    ///
    /// # Errors
    /// With the role that it takes.
    pub fn may(&self, command: &Command) -> Result<(), CommandError> {
        let needed = command.role();
        if self.role >= needed {
            return Ok(());
        }
        let reason = format!("that takes the role '{}', and you have the role '{}'", needed.name(), self.role.name());
        Err(CommandError::new(CommandErrorKind::Forbidden, reason))
    }
}

impl Control {
    /// Whether this principal holds the controls: it commands over the very connection that holds them.
    #[must_use]
    pub fn is_held_by(&self, principal: &Principal) -> bool {
        principal.connection.as_ref().is_some_and(|connection| self.is_held_over(connection))
    }
}

impl Command {
    /// The least role that may give it.
    #[must_use]
    pub fn role(&self) -> Role {
        match self {
            Self::Stop => Role::Watch,
            Self::Submit { .. }
            | Self::Cancel { .. }
            | Self::Revise { .. }
            | Self::Answer { .. }
            | Self::CallTool { .. }
            | Self::Dispute { .. }
            | Self::Resume
            | Self::Pause
            | Self::Unpause
            | Self::TakeOver
            | Self::HandBack => Role::Operate,
        }
    }
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Operate => "operate",
            Self::Administer => "administer",
        }
    }
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandOutcome {
    /// The task was taken. What comes of it is told by the events of its mission.
    Submitted {
        /// Its mission.
        mission: MissionId,
    },
    /// The mission was told to end; its last event says how it did.
    Cancelled {
        /// Which.
        mission: MissionId,
    },
    /// The mission takes the revision.
    Revised {
        /// Which.
        mission: MissionId,
    },
    /// The answer counts.
    Answered {
        /// To which question.
        question: QuestionId,
    },
    /// The mission was reopened.
    Reopened {
        /// The mission that reopens it.
        mission: MissionId,
    },
    /// Everything was told to halt.
    Stopped(StopOutcome),
    /// Tasks are taken.
    Resumed {
        /// False if they were taken before.
        was_stopped: bool,
    },
    /// Who has the controls now.
    Control(Control),
}

/// What a stop came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
pub struct StopOutcome {
    /// How many missions were ended.
    pub missions_ended: usize,
    /// Tools that did not confirm that they are at rest.
    pub not_stopped: Vec<ToolName>,
}

impl fmt::Display for CommandOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submitted { mission }
            | Self::Cancelled { mission }
            | Self::Revised { mission }
            | Self::Reopened { mission } => write!(formatter, "{mission}"),
            Self::Answered { question } => write!(formatter, "The answer to {question} counts."),
            Self::Stopped(stopped) => stopped.fmt(formatter),
            Self::Control(control) => control.fmt(formatter),
            Self::Resumed { was_stopped: true } => formatter.write_str("Tasks are taken again."),
            Self::Resumed { was_stopped: false } => formatter.write_str("Cortex was not stopped."),
        }
    }
}

impl fmt::Display for StopOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missions_ended {
            0 => formatter.write_str("No task was running."),
            1 => formatter.write_str("One task was ended."),
            ended => write!(formatter, "{ended} tasks were ended."),
        }
    }
}

/// Why a command was not carried out. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Error)]
#[error("{reason}")]
pub struct CommandError {
    /// For programs.
    pub kind: CommandErrorKind,
    /// For people: what is wrong, and what to do.
    pub reason: String,
}

impl CommandError {
    /// An error for the person who gave the command.
    pub fn new(kind: CommandErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// Kinds of [`CommandError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandErrorKind {
    /// It takes another role.
    Forbidden,
    /// There is no such mission or question.
    NotFound,
    /// It can't be taken as it is written.
    Invalid,
    /// The robot, the mission or the question is not in a state for it.
    Refused,
    /// What it is about is not any more as the person saw it.
    Changed,
    /// Too much is under way; later it may be taken.
    Busy,
    /// Cortex is going down, or has failed.
    Unavailable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_only_watches_may_stop_the_robot_and_nothing_else() {
        let watcher = Principal { role: Role::Watch, ..Principal::operator(Origin::new("web", "a")) };
        assert_eq!(watcher.may(&Command::Stop), Ok(()));
        let refused = watcher.may(&Command::Resume).unwrap_err();
        assert_eq!(refused.kind, CommandErrorKind::Forbidden);
        assert_eq!(refused.reason, "that takes the role 'operate', and you have the role 'watch'");
        let operator = Principal::operator(Origin::new("ros", "/cortex_cli"));
        assert_eq!(operator.may(&Command::Resume), Ok(()));
    }

    #[test]
    fn a_command_is_written_with_its_name() {
        let command = Command::Submit { task: "go".to_owned(), session: None };
        let written = serde_json::to_value(&command).unwrap();
        assert_eq!(written, serde_json::json!({"command": "submit", "task": "go", "session": null}));
        assert_eq!(serde_json::from_value::<Command>(written).unwrap(), command);
    }
}
