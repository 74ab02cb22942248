//! What a client may ask for. Every client, be it ROS, a page or the command line, uses the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, MissionId, QuestionId, SessionId};

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
    Submit(Submission),
    /// End one mission.
    Cancel {
        /// Which.
        mission: MissionId,
    },
    /// Correct the task of a mission that runs: what moves is halted, and the mission plans anew.
    Correct {
        /// Which. None: the one that runs.
        mission: Option<MissionId>,
        /// In plain language.
        text: String,
        /// Who corrects it.
        origin: Origin,
    },
    /// Answer a question.
    Answer {
        /// Which.
        question: QuestionId,
        /// What.
        answer: Answer,
        /// Who answers.
        origin: Origin,
    },
    /// Say that a mission which has ended did not do what was asked; it is reopened.
    Dispute {
        /// Which.
        mission: MissionId,
        /// In plain language.
        reason: String,
        /// Who says so.
        origin: Origin,
    },
    /// Halt everything, now, and take no task until [`Command::Resume`].
    Stop,
    /// Take tasks again after [`Command::Stop`].
    Resume,
}
