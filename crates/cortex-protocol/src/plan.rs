//! A plan as data. How it is ordered and run is the core's matter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{StepNumber, ToolCall};

/// How much a step matters to its plan.
///
/// Among the steps that may begin, the one that matters most begins first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Priority {
    /// Its failure ends the plan, whatever the policy is.
    Critical,
    /// Before the others.
    High,
    /// As they come.
    #[default]
    Normal,
    /// After the others.
    Low,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepStatus {
    /// Not yet begun.
    #[default]
    Pending,
    /// Dispatched; not yet ended.
    Running,
    /// Ended as it should.
    Success,
    /// Ended otherwise.
    Failed,
    /// Never begun, because the plan or the mission ended, or something it depends on failed.
    Blocked,
    /// Left out by a decision.
    Skipped,
}

impl StepStatus {
    /// Whether the status is final.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its number, from 1.
    pub number: StepNumber,
    /// What is called. Arguments may hold placeholders such as `<output of step 1>`.
    pub call: ToolCall,
    /// The steps that must have ended before this one begins, in order.
    pub after: Vec<StepNumber>,
    /// Where it stands.
    pub status: StepStatus,
    /// How much it matters.
    pub priority: Priority,
    /// Why it repeats what an earlier plan has done. Empty where it does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub again: String,
}

/// Steps that belong together. None of them waits for another of them but where it says so itself; a step or a group that
/// comes after a group waits until all of its steps have ended, goals in the background included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Unique in the plan.
    pub name: String,
    /// In the order of their numbers.
    pub steps: Vec<StepNumber>,
    /// How many of them may run at a time. 1: one after another.
    pub at_once: u32,
}

/// An ordered list of steps with their dependencies and groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
pub struct Plan {
    /// In the order of their numbers.
    pub steps: Vec<Step>,
    /// In the order of their first steps. A step is in one group at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
}

impl Plan {
    /// The group of a step.
    #[must_use]
    pub fn group_of(&self, step: StepNumber) -> Option<&Group> {
        self.groups.iter().find(|group| group.steps.contains(&step))
    }
}
