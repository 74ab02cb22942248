//! The skills of a robot, for people who look at them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The skills of a robot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsView {
    /// The skills: those that are on, then those that are proposed, then those that are off; each by name.
    pub skills: Vec<SkillView>,
    /// Files that should be skills and are none, each with the reason.
    pub troubles: Vec<String>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillView {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether it is used.
    pub standing: SkillStanding,
    /// Whether the robot learned it from what it has done.
    pub is_learned: bool,
    /// The sentences that it is asked for by.
    pub phrases: Vec<String>,
    /// What else has it fire, in sentences.
    pub triggers: Vec<String>,
    /// What is done, a sentence for each step. Empty: a model has to read it.
    pub steps: Vec<String>,
    /// What came of the tasks that it was told to.
    pub counts: SkillCounts,
}

/// Whether a skill is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillStanding {
    /// It is.
    On,
    /// The robot has learned it, and asks a person whether it may be used.
    Proposed,
    /// A person said no.
    Off,
}

/// What came of the tasks that a skill was told to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillCounts {
    /// Carried out, and at least a part of each was verified.
    pub succeeded: u32,
    /// Carried out, by the word of the tools alone: the robot has nothing to verify them by.
    pub unverified: u32,
    /// Not carried out, or nothing shows that they were.
    pub failed: u32,
    /// Ended by somebody.
    pub cancelled: u32,
    /// A person said that they were not done as they should be.
    pub disputed: u32,
}

impl SkillCounts {
    /// How many tasks tell how well it works.
    #[must_use]
    pub fn tried(self) -> u32 {
        self.succeeded.saturating_add(self.unverified).saturating_add(self.failed).saturating_add(self.disputed)
    }
}

impl std::fmt::Display for SkillCounts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { succeeded, unverified, failed, cancelled, disputed } = self;
        if self.tried() == 0 && *cancelled == 0 {
            return formatter.write_str("not tried yet");
        }
        write!(formatter, "{succeeded} succeeded, {failed} failed")?;
        for (count, word) in [(unverified, "not verified"), (disputed, "disputed"), (cancelled, "cancelled")] {
            if *count > 0 {
                write!(formatter, ", {count} {word}")?;
            }
        }
        Ok(())
    }
}

/// What a person says of a skill that the robot has learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillDecision {
    /// It is to be used.
    Accept,
    /// It is not.
    Reject,
}
