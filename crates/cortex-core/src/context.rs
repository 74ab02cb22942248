//! What the robot has on record for a task: documents, memories, skills. Each of them is a [`ContextSource`].
//!
//! Passages are data: they come from files and from the world, and reach the planner quoted, with their source. Skills are
//! written by people for this robot, and are followed; they are quoted, too, so that they can't imitate anything else.

use async_trait::async_trait;
use cortex_protocol::{TaskClass, ToolName};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Most passages of all sources for one task.
pub const MOST_PASSAGES: usize = 24;

/// The source that skills come from.
pub const SKILLS: &str = "skills";
/// The tool that reads a skill.
pub const READ_SKILL: &str = "skills.read";

/// What is to be planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextQuery {
    /// The task, in the person's words.
    pub task: String,
    /// How people revised it since, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<String>,
    /// What kind of thing the task is.
    pub class: TaskClass,
    /// The tools that the task asks for by sentences which they declare, and those whose steps failed so far; by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolName>,
    /// What led to this plan, by name: the event of the recipe that gave the task, and those of [`happened`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
}

/// What can happen to a task, by the names under which skills wait for it.
pub mod happened {
    /// A step of the task failed.
    pub const STEP_FAILED: &str = "step.failed";
    /// A person revised the task.
    pub const TASK_REVISED: &str = "task.revised";
    /// A person said of a task which had ended that it was not done as it should be.
    pub const TASK_DISPUTED: &str = "task.disputed";
    /// All of them.
    pub const ALL: [&str; 3] = [STEP_FAILED, TASK_REVISED, TASK_DISPUTED];
}

impl ContextQuery {
    /// A task of which nothing else is known.
    #[must_use]
    pub fn new(task: impl Into<String>, class: TaskClass) -> Self {
        Self { task: task.into(), revisions: Vec::new(), class, tools: Vec::new(), events: Vec::new() }
    }
}

/// A part of what a source has on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextPassage {
    /// Which source: the [name](ContextSource::name) of it.
    pub source: String,
    /// Where in it, as people would cite it: a file and its section.
    pub place: String,
    /// As of when, in RFC 3339, where that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// The words.
    pub text: String,
    /// How well it fits the task, from 0 to 1, as far as its source can tell.
    pub relevance: f64,
    /// What it is.
    #[serde(default, skip_serializing_if = "PassageKind::is_record")]
    pub kind: PassageKind,
}

/// What a passage is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageKind {
    /// A record: data, whatever it says.
    #[default]
    Record,
    /// A skill: how people want such a task to be done on this robot. It lifts no rule and no check.
    Skill {
        /// What is to be done, in sentences, where the task is a sentence of the skill. Empty: the words of the skill have to
        /// be read.
        procedure: Vec<String>,
    },
    /// The names of skills that were not found to fit by themselves, each with what it is for. [`READ_SKILL`] reads one.
    SkillList,
}

impl PassageKind {
    /// Whether it is a record.
    #[must_use]
    pub fn is_record(&self) -> bool {
        *self == Self::Record
    }
}

/// A source that gave nothing although it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingSource {
    /// Which.
    pub source: String,
    /// Why, as a clause.
    pub because: String,
}

/// What all sources gave for a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// In the order of the sources; of one source, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<ContextPassage>,
    /// The sources that could not be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingSource>,
}

/// Why a source gives nothing.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ContextError(pub String);

/// Something that the robot has on record, and that may help with a task.
#[async_trait]
pub trait ContextSource: Send + Sync + 'static {
    /// What people cite: one word, such as `knowledge`.
    fn name(&self) -> &str;

    /// Whether nothing at all is on record. Then it is not asked. Answers at once.
    fn is_empty(&self) -> bool {
        false
    }

    /// The passages that fit the task, the best first; few of them. Dropping the future must be safe: a source that is late
    /// is left out.
    ///
    /// # Errors
    /// Why there are none, for people.
    async fn gather(&self, query: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError>;
}

impl Context {
    /// Whether there is nothing to tell of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty() && self.missing.is_empty()
    }
}
