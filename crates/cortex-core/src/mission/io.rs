//! What goes into the machine and what comes out.

use cortex_protocol::mission::Expense;
use cortex_protocol::{
    Answer, CallId, MissionEvent, MissionResult, Origin, Question, QuestionNumber, QuestionOutcome, TaskReading,
    ToolCall, ToolFingerprint, ToolOutcome,
};
use serde::{Deserialize, Serialize};

use super::context::GatheringId;
use crate::availability::Availability;
use crate::chat::{ChatReply, ChatRequest};
use crate::context::{Context, ContextQuery};
use crate::policy::RobotState;
use crate::ports::ModelError;
use crate::toolset::{ToolChanges, ToolSet};

/// Matches a model's reply to the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestId(pub u32);

/// Why a mission is ended from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// Whoever sent the task, or an operator, cancelled it.
    Client,
    /// The robot was stopped.
    Stop,
    /// Cortex is shutting down.
    ShutDown,
    /// The person on whose behalf it runs beside the missions does not have the controls any more.
    ControlsLost {
        /// How they were lost, as a sentence without its full stop.
        because: String,
    },
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// The mission's turn has come.
    Start,
    /// The model answered, or gave up.
    ModelReplied {
        /// Which request.
        request: RequestId,
        /// What it said.
        reply: Result<ChatReply, ModelError>,
    },
    /// Further text of an answer has arrived. Only the whole reply counts.
    AnswerStreamed {
        /// The request that it answers.
        request: RequestId,
        /// The number of bytes of the answer before it.
        offset: usize,
        /// The text.
        text: String,
    },
    /// What is on record for the task was gathered.
    ContextGathered {
        /// For which question.
        gathering: GatheringId,
        /// What it is, and which sources are missing.
        context: Context,
    },
    /// A background call was accepted and goes on.
    CallAccepted {
        /// Which.
        call: CallId,
    },
    /// A running call says how it is getting on.
    CallProgressed {
        /// Which.
        call: CallId,
        /// In its words.
        feedback: String,
    },
    /// A call ended. Comes exactly once for each.
    CallEnded {
        /// Which.
        call: CallId,
        /// How.
        outcome: ToolOutcome,
    },
    /// The tools on offer changed. What older tapes hold; today the difference is told.
    ToolsChanged {
        /// All of them, now.
        tools: ToolSet,
    },
    /// Some of the tools on offer changed.
    ToolsDiffer {
        /// What came, changed or left, since the mission was set up or was told last.
        changes: ToolChanges,
    },
    /// What the monitor keeps from the missions changed.
    #[serde(rename = "contained")]
    AvailabilityChanged {
        /// All of it, now.
        #[serde(rename = "containment")]
        availability: Availability,
    },
    /// A person revises the task. Checked by [`Mission::check_revision`](super::Mission::check_revision) before.
    #[serde(alias = "correct")]
    Revise {
        /// In plain language.
        text: String,
        /// What it asks for. Older tapes hold none.
        #[serde(default)]
        reading: TaskReading,
        /// Who revises it, for the record.
        origin: Origin,
    },
    /// A person answers a question. Checked by [`Mission::check_answer`](super::Mission::check_answer) before.
    Answered {
        /// Which of the mission's questions.
        number: QuestionNumber,
        /// What.
        answer: Answer,
        /// Who, as far as that is known.
        origin: Origin,
    },
    /// What the rules of policy ask of the robot and of the time has changed.
    RobotState {
        /// All of it, now.
        state: RobotState,
    },
    /// What a meter says of the mission so far.
    Metered {
        /// Of what: the way or the energy.
        expense: Expense,
        /// How much since the mission began.
        total: f64,
        /// Whether it still measures. If not, the total is what was last known.
        is_live: bool,
    },
    /// Someone ends the mission.
    Cancel {
        /// Why.
        reason: CancelReason,
    },
    /// Cortex itself can't go on with the mission: it fails with this reason, once everything is at rest.
    GiveUp {
        /// For a person.
        reason: String,
    },
    /// The time that `Mission::next_wake` asked for has come.
    Tick,
}

/// The place of words for a person in their text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpokenPiece {
    /// More of the same text follows.
    More,
    /// The text ends with them.
    #[default]
    Last,
}

impl SpokenPiece {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
    fn is_last(&self) -> bool {
        *self == Self::Last
    }
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Ask the model; answer with [`Input::ModelReplied`].
    AskModel {
        /// Matches the reply.
        request: RequestId,
        /// What to ask.
        chat: ChatRequest,
    },
    /// Gather what is on record for the task; answer with [`Input::ContextGathered`], in bounded time.
    GatherContext {
        /// Matches the answer.
        gathering: GatheringId,
        /// What is to be planned.
        query: ContextQuery,
    },
    /// Drop the model's request.
    AbandonModel {
        /// Which.
        request: RequestId,
    },
    /// Begin a call; answer with exactly one [`Input::CallEnded`].
    Invoke {
        /// Matches the answers.
        call: CallId,
        /// What to call. The arguments fit the schema.
        tool_call: ToolCall,
        /// The version of the tool that the call was made for.
        fingerprint: ToolFingerprint,
    },
    /// Make a call come to rest and end.
    CancelCall {
        /// Which.
        call: CallId,
    },
    /// Ask a person; answer with at most one [`Input::Answered`].
    AskPerson {
        /// What.
        question: Question,
    },
    /// Close a question: it was answered, its time is up, or it is withdrawn.
    CloseQuestion {
        /// Which.
        number: QuestionNumber,
        /// How it ended.
        outcome: QuestionOutcome,
    },
    /// Publish words for a person.
    Say {
        /// The words.
        text: String,
        /// Its place in a text that is published in pieces.
        #[serde(default, skip_serializing_if = "SpokenPiece::is_last")]
        piece: SpokenPiece,
    },
    /// Tell everybody who watches.
    Report {
        /// What happened.
        event: MissionEvent,
    },
    /// The mission is over. Nothing follows.
    Finish {
        /// Its one result.
        result: MissionResult,
    },
}
