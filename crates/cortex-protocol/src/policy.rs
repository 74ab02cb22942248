//! Rules about which calls are allowed, which ask a person, and which are denied. Data only: `cortex-core` judges.
//!
//! ```toml
//! [[policy.rules]]
//! then = "ask"
//! tools = ["base.*"]
//! arguments = { place = { one_of = ["street"] } }
//! because = "The street has traffic."
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Condition, Effect};

/// What policy says of a call, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyVerdict {
    /// The call goes on to its confirmation.
    Allow,
    /// A person must approve the call.
    Ask,
    /// The call is never made.
    Deny,
}

/// One rule. It matches a call when everything that it names matches. Of all rules that match, the strictest counts; where
/// none matches, the defaults count.
///
/// A rule that denies or asks matches also where what it names is not known; one that allows does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// What follows where the rule matches.
    pub then: PolicyVerdict,
    /// Patterns of canonical tool names: `*` is any text. Empty: every tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What the tool does to the world. Empty: anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Arguments by their paths, `speed` or `pose.position.x`. Each must match.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, ArgumentTest>,
    /// What must hold of the robot: its place, its state, another component's health.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// The hours of the day, local time, `22:00-06:00`; the end is not part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// Patterns of who gave the task: the channel (`ros`, `event`), or channel and client (`ros:/cortex/task`). Empty: anybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub who: Vec<String>,
    /// Why, a sentence for people and the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
}

/// What an argument is compared with. Everything that is given must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub struct ArgumentTest {
    /// A number greater than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// A number less than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// One of these values. Texts are compared without regard to case and surrounding space; where the rule asks or denies,
    /// by their letters and digits alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Value>>,
    /// None of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none_of: Option<Vec<Value>>,
    /// A text that holds one of these, without regard to case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<Vec<String>>,
}
