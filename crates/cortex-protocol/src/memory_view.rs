//! What a robot remembers, for people who look at it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of what somebody asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryAnswer {
    /// Whether the things are at the places that the question names, and where they are; each a sentence or a few.
    pub told: Vec<String>,
    /// The facts that fit, the best first; without a question, those that were seen last, and the body's.
    pub facts: Vec<MemoryFact>,
}

/// A fact, as it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFact {
    /// Its number, by which its observations are asked for.
    pub id: u64,
    /// Of which thing.
    pub subject: String,
    /// What is said of it, such as `is at`.
    pub relation: String,
    /// Such as `kitchen`, or `(1.0 m, 2.0 m) on the map home 1`.
    pub value: String,
    /// Since when, RFC 3339.
    pub since: String,
    /// When it was last seen so, RFC 3339.
    pub as_of: String,
    /// Who says so.
    pub source: String,
    /// Whether that is a person, whose word outranks what it corrects.
    pub is_from_person: bool,
    /// How many observations say so.
    pub observations: u64,
    /// Why it does not hold any more, and since when, as a sentence. None: nothing says that it does not.
    pub ended: Option<String>,
    /// All of it as a sentence, with what is doubtful about it.
    pub sentence: String,
}

/// A task that the robot worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryTask {
    /// Its number.
    pub episode: u64,
    /// In the person's words.
    pub task: String,
    /// When it began, RFC 3339.
    pub began: String,
    /// What happened, in words.
    pub gist: String,
}

/// What a person says of a thing. It outranks what it corrects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryNote {
    /// Of which thing.
    pub subject: String,
    /// What is said of it. Empty: `is at`.
    #[serde(default)]
    pub relation: String,
    /// Such as `kitchen`.
    pub value: String,
}

/// What was forgotten for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryForgotten {
    /// Rows of observations.
    pub observations: u64,
    /// Facts.
    pub facts: u64,
}
