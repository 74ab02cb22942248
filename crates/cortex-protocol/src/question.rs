//! Questions to people in mid mission, and what people answer.
//!
//! A question has an id, an exact subject, a deadline and a safe default. An approval is bound to its subject: the bytes of
//! the tool's name and of its arguments, the version of the tool, and the plan. Anything else asks again.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::{Effect, MissionId, ResourceName, StepNumber, ToolFingerprint, ToolName};

/// Longest reason that a person may give, in bytes of UTF-8. It is in later requests to the model.
pub const MAX_REASON_BYTES: usize = 2_048;
/// Most choices of one question.
pub const MAX_CHOICES: usize = 12;

/// Counts the questions of one mission, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct QuestionNumber(pub u32);

/// A question, unique without coordination. Written `{mission}/{number}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct QuestionId {
    /// The mission that asks.
    pub mission: MissionId,
    /// Which of its questions.
    pub number: QuestionNumber,
}

/// Text that is no [`QuestionId`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is no question: a question is written MISSION/NUMBER, as `cortex pending` lists it")]
pub struct InvalidQuestionId(pub String);

impl fmt::Display for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.mission, self.number.0)
    }
}

impl FromStr for QuestionId {
    type Err = InvalidQuestionId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidQuestionId(text.chars().take(100).collect());
        let (mission, number) = text.rsplit_once('/').ok_or_else(invalid)?;
        let number = number.parse().map_err(|_| invalid())?;
        if mission.is_empty() {
            return Err(invalid());
        }
        Ok(Self { mission: mission.into(), number: QuestionNumber(number) })
    }
}

impl TryFrom<String> for QuestionId {
    type Error = InvalidQuestionId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<QuestionId> for String {
    fn from(id: QuestionId) -> Self {
        id.to_string()
    }
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Which question of its mission.
    pub number: QuestionNumber,
    /// In plain language, made by Cortex; what a model or a tool has said is quoted in it.
    pub text: String,
    /// What exactly is asked.
    pub subject: Subject,
    /// How long the answer may take, from the moment of asking. Then the default counts.
    pub patience: Duration,
}

/// What exactly a question is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// Whether one call may be made. The default is no.
    Call {
        /// The call.
        call: CallSubject,
        /// The digest of the plan that the call belongs to.
        plan: PlanDigest,
    },
    /// Whether those steps of a plan that policy asks about may be run. The default is no.
    Plan {
        /// Every step that is asked about, exactly as it would run, in order.
        steps: Vec<CallSubject>,
        /// The digest of the whole plan.
        plan: PlanDigest,
    },
    /// A question of the robot itself: which of several is meant.
    Choice {
        /// What may be answered, in order.
        choices: Vec<String>,
        /// What counts when nobody answers. None: that nobody answered.
        default: Option<String>,
    },
}

/// A call as a person approves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallSubject {
    /// The step of the plan.
    pub step: StepNumber,
    /// The tool.
    pub tool: ToolName,
    /// The arguments, placeholders resolved.
    pub arguments: Map<String, Value>,
    /// The version of the tool.
    pub fingerprint: ToolFingerprint,
    /// What the call does to the world.
    pub effect: Effect,
    /// What it holds.
    pub resources: Vec<ResourceName>,
    /// Why policy asks, each reason a sentence.
    pub because: Vec<String>,
}

/// The digest of a plan: of each step, in order, the tool, its version, the arguments and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PlanDigest(pub String);

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Yes: what was asked may be done.
    Approve {
        /// How far the yes reaches.
        scope: ApprovalScope,
    },
    /// No. The model gets the reason.
    Deny {
        /// In plain language. May be empty.
        reason: String,
    },
    /// One of the choices.
    Choose {
        /// Which, to the letter.
        choice: String,
    },
}

/// How far an approval reaches. The arguments and the version of the tool are part of it in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// Each approved call once.
    #[default]
    Once,
    /// Each approved call as often as this mission makes it.
    Mission,
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// A person answered in time.
    Answered {
        /// What.
        answer: Answer,
        /// Who, as far as that is known.
        by: crate::Origin,
    },
    /// Nobody answered in time: the default counts.
    Expired,
    /// What was asked about has changed, or the mission has ended.
    Withdrawn {
        /// Why.
        because: String,
    },
}

/// An open question, as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenQuestion {
    /// Which.
    pub id: QuestionId,
    /// The task in whose course it is asked.
    pub task: String,
    /// The question.
    pub question: Question,
    /// How much of its patience is left.
    pub left: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = QuestionId { mission: "0199-abc".into(), number: QuestionNumber(3) };
        assert_eq!(id.to_string(), "0199-abc/3");
        assert_eq!("0199-abc/3".parse(), Ok(id));
    }

    #[test]
    fn text_that_is_no_id_is_refused() {
        for text in ["", "/", "/3", "abc", "abc/", "abc/x", "abc/-1", "abc/99999999999"] {
            assert!(text.parse::<QuestionId>().is_err(), "{text}");
        }
    }
}
