//! Where a mission stands, and what follows once everything is at rest.

use std::time::Duration;

use cortex_protocol::{CallId, QuestionNumber, StepNumber, ToolCall, ToolFingerprint, ToolName, ToolOutcome};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::approval::AfterAnswer;
use super::ask_person::Choice;
use super::tool_presence::AfterWait;
use super::{GatheringId, RequestId};
use crate::chat::ModelCall;
use crate::step_groups::StepGroups;

/// What a mission does now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    New,
    /// What is on record for the task is gathered; then the model makes a plan or an answer.
    Gathering {
        gathering: GatheringId,
        until: Duration,
    },
    /// The model makes a plan or an answer.
    Planning {
        request: RequestId,
    },
    /// Planning tools are running; then the plan calls of the same reply, if any, are committed.
    Researching {
        research: Vec<Research>,
        plan_calls: Vec<(ModelCall, ToolName)>,
        arranged: Option<Arranged>,
    },
    /// The model decides upon a step.
    Confirming {
        step: StepNumber,
        request: RequestId,
        /// How often it was asked about this step, this time included.
        asked: u32,
        /// Whether its previous answer could not be read.
        repeated: bool,
        /// The arguments that it was shown in place of the planned ones, and that its EXECUTE lets run.
        #[serde(default)]
        proposed: Option<Map<String, Value>>,
    },
    /// The model is asked for other arguments for a step whose call failed.
    Correcting {
        step: StepNumber,
        request: RequestId,
    },
    /// A person is asked: nothing new begins.
    Asking {
        number: QuestionNumber,
        until: Duration,
        then: AfterAnswer,
    },
    /// CONTINUE: until something in flight ends, or the time is up.
    Waiting {
        step: StepNumber,
        until: Duration,
        asked: u32,
    },
    /// A component is awaited, at rest, before the mission goes on or gives up.
    Away {
        then: AfterWait,
        until: Duration,
    },
    /// Steps are running; none can begin until something in flight ends or lets go.
    Underway,
    /// Everything in flight is coming to rest; then this follows.
    Halting {
        then: Ending,
        until: Duration,
    },
    /// At rest, until the controls are the mission's again. `is_told`: the model knows how the latest plan ended.
    Interrupted {
        is_told: bool,
    },
    Finished,
}

/// How the model arranges the steps of its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Arranged {
    pub(super) model_call: ModelCall,
    pub(super) step_groups: Box<StepGroups>,
}

/// One call of a planning tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Research {
    pub(super) model_call: ModelCall,
    pub(super) state: ResearchState,
}

/// Where a call of a planning tool stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResearchState {
    /// It waits for what another one holds.
    Waiting {
        tool_call: ToolCall,
        fingerprint: ToolFingerprint,
    },
    Running {
        call: CallId,
    },
    /// It is a question to a person, which waits for everything else of the same reply.
    Asking {
        choice: Choice,
    },
    Answered {
        outcome: ToolOutcome,
    },
}

/// What follows once everything is at rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    Replan {
        reason: String,
    },
    /// A person revised the task, and the mission plans anew.
    Revised,
    /// A person paused the robot or took the controls; the mission plans anew when it has them again.
    Interrupted {
        reason: String,
    },
    Failed {
        reason: String,
    },
    /// Everything planned was done, and there will be no closing words, for this reason.
    Closed {
        reason: String,
    },
    Cancelled {
        reason: String,
    },
}
