//! Conditions: what must hold of the robot, as data. How they are evaluated is the core's matter.
//!
//! ```json
//! {"topic": "/battery_state", "field": "percentage", "greater": 0.05, "max_age_s": 5}
//! {"topic": "~/place", "field": "data", "equal": "{place}"}
//! {"parameter": "/base/speed_mps", "at_most": 0.5}
//! {"component": "battery", "equal": "healthy"}
//! {"or": [{"component": "arm"}, {"not": {"topic": "/lift/state", "field": "data", "in": ["up", "moving"]}}]}
//! ```
//!
//! A text that is nothing but a name in braces, `{place}`, stands for that argument of the call; `{pose.x}` for a field of
//! it. `{{place}}` is the text `{place}`.

mod words;
mod written;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::ComponentName;
pub(crate) use written::is_topic;
use written::{WrittenCondition, WrittenEvidence};

/// How deep conditions may be nested.
pub const MAX_DEPTH: usize = 8;
/// Most checks in one condition.
pub const MAX_CHECKS: usize = 32;
/// Most conditions that a tool may name of one kind.
pub const MAX_CONDITIONS: usize = 16;
/// Longest value in a condition, as JSON, in bytes.
pub const MAX_VALUE_BYTES: usize = 1_024;
/// Longest name of a topic, a field or a parameter, in bytes. That of ROS names.
pub const MAX_NAME_BYTES: usize = 255;
/// How long after a call's success its evidence may take to be seen, where its condition does not say.
pub const DEFAULT_EVIDENCE_WITHIN: Duration = Duration::from_secs(5);
/// Longest time that may be given for anything in a condition.
pub const MAX_SECONDS: f64 = 24.0 * 3600.0;

/// Something that holds of the robot, does not, or is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenCondition", into = "WrittenCondition")]
pub enum Condition {
    /// All of them hold.
    And(Vec<Condition>),
    /// At least one of them holds.
    Or(Vec<Condition>),
    /// It is known not to hold.
    Not(Box<Condition>),
    /// One value, compared.
    Check(Check),
}

/// One value of the robot, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Which value.
    pub source: Source,
    /// How it is compared.
    pub test: Test,
    /// How old the value may be. None: it counts until there is another one, or nobody is there any more to tell it.
    pub max_age: Option<Duration>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum Source {
    /// A field of the latest message of a topic.
    Topic {
        /// As in ROS: `/odom`; `~/place` below the component's own node; `odom` in its namespace.
        topic: String,
        /// Names and indices with dots between them, `pose.pose.position.x`, `cell_voltage.0`. Empty: the whole message.
        field: String,
    },
    /// A parameter of a node.
    Parameter {
        /// The node's name and the parameter's, `/base/speed_mps`.
        parameter: String,
    },
    /// A component or any other node. Its value is its health: `healthy`, `algorithm`, `component`, `system`, `general`, or
    /// `present` if it is on the graph and says nothing of its health.
    Component {
        /// Which.
        component: ComponentName,
    },
}

/// How a value is compared. Values of another kind (a text with a number) make it unknown.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// There is one.
    Present,
    /// It is another than at the beginning of the call.
    Change,
    /// It is this. Numbers are equal whatever their type.
    Equal(Value),
    /// It is not this.
    Different(Value),
    /// It is a number above.
    Greater(Value),
    /// It is a number below.
    Less(Value),
    /// It is this number or one above.
    AtLeast(Value),
    /// It is this number or one below.
    AtMost(Value),
    /// It is one of a list.
    In(Value),
    /// It is a list with this in it, or a text with this text in it.
    Contains(Value),
    /// It is a number at most `tolerance` from `value`.
    Near {
        /// The number.
        value: Value,
        /// How far, both ways. Not negative.
        tolerance: f64,
        /// Of both, for people: `m`. Of `rad` and `deg` the shorter way round counts.
        unit: String,
    },
}

/// What shows that a call did what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenEvidence", into = "WrittenEvidence")]
pub struct Evidence {
    /// What must be seen: something that was observed after the call began.
    pub condition: Condition,
    /// How long after the call said that it succeeded.
    pub within: Duration,
}

/// What must hold for a call of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// Preconditions: the call is not sent unless they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Condition>,
    /// Invariants: the call is halted at once when one does not hold, or is not known to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<Condition>,
    /// Evidence: the call has failed, whatever it says, unless all of it is seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Evidence>,
}

/// What is wrong with a condition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct ConditionError {
    /// In words, with what would be right.
    pub problem: String,
}

impl From<String> for ConditionError {
    fn from(problem: String) -> Self {
        Self { problem }
    }
}

/// What a text in a condition stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference<'a> {
    /// An argument of the call, or a field of one: names and indices with dots between them.
    Argument(&'a str),
    /// This text.
    Literal(&'a str),
}

/// Reads a text: `{place}` is an argument, `{{place}}` is the text `{place}`, anything else is itself.
#[must_use]
pub fn reference(text: &str) -> Reference<'_> {
    let Some(inner) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return Reference::Literal(text);
    };
    if inner.starts_with('{') && inner.ends_with('}') {
        return Reference::Literal(inner);
    }
    let is_name = |character: char| character.is_alphanumeric() || ['_', '-', '.'].contains(&character);
    if inner.is_empty() || !inner.chars().all(is_name) {
        return Reference::Literal(text);
    }
    Reference::Argument(inner)
}

impl Condition {
    /// That a source passes a test, however old its value is.
    #[must_use]
    pub fn that(source: Source, test: Test) -> Self {
        Self::Check(Check { source, test, max_age: None })
    }

    /// The same, of values that are at most so old. Of conditions that are joined, all of them.
    #[must_use]
    pub fn seen_within(self, age: Duration) -> Self {
        let each = |all: Vec<Self>| all.into_iter().map(|one| one.seen_within(age)).collect();
        match self {
            Self::And(all) => Self::And(each(all)),
            Self::Or(any) => Self::Or(each(any)),
            Self::Not(inner) => Self::Not(Box::new(inner.seen_within(age))),
            Self::Check(check) => Self::Check(Check { max_age: Some(age), ..check }),
        }
    }

    /// Every check in it, in order.
    #[must_use]
    pub fn checks(&self) -> Vec<&Check> {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().flat_map(Self::checks).collect(),
            Self::Not(inner) => inner.checks(),
            Self::Check(check) => vec![check],
        }
    }

    /// The arguments that it refers to, by their first name, in order.
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        let values = self.checks().into_iter().filter_map(|check| check.test.value());
        let texts = values.flat_map(|value| match value {
            Value::String(text) => vec![text.as_str()],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        });
        texts
            .filter_map(|text| match reference(text) {
                Reference::Argument(path) => path.split('.').next(),
                Reference::Literal(_) => None,
            })
            .collect()
    }

    /// The same with every source's name changed.
    #[must_use]
    pub fn with_sources(self, change: &impl Fn(Source) -> Source) -> Self {
        let each = |all: Vec<Self>| all.into_iter().map(|one| one.with_sources(change)).collect();
        match self {
            Self::And(all) => Self::And(each(all)),
            Self::Or(all) => Self::Or(each(all)),
            Self::Not(inner) => Self::Not(Box::new(inner.with_sources(change))),
            Self::Check(check) => Self::Check(Check { source: change(check.source), ..check }),
        }
    }
}

impl Source {
    /// A field of a topic: `~/place`, `data`.
    pub fn topic(topic: impl Into<String>, field: impl Into<String>) -> Self {
        Self::Topic { topic: topic.into(), field: field.into() }
    }

    /// A parameter of a node: `~/speed_mps`.
    pub fn parameter(parameter: impl Into<String>) -> Self {
        Self::Parameter { parameter: parameter.into() }
    }

    /// The health of a component.
    #[must_use]
    pub fn component(component: &str) -> Self {
        Self::Component { component: component.into() }
    }

    /// The same as the component of that name means it: `~/place` is below its node, `odom` in its namespace.
    #[must_use]
    pub fn resolved_for(self, component: &ComponentName) -> Self {
        match self {
            Self::Topic { topic, field } => Self::Topic { topic: resolved(&topic, component), field },
            Self::Parameter { parameter } => Self::Parameter { parameter: resolved(&parameter, component) },
            Self::Component { .. } => self,
        }
    }

    /// Whether its name says the same wherever it is written.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        match self {
            Self::Topic { topic: name, .. } | Self::Parameter { parameter: name } => name.starts_with('/'),
            Self::Component { .. } => true,
        }
    }
}

pub(crate) fn resolved(name: &str, component: &ComponentName) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    if let Some(below) = name.strip_prefix("~/") {
        return format!("/{component}/{below}");
    }
    match component.as_str().rsplit_once('/') {
        Some((namespace, _)) => format!("/{namespace}/{name}"),
        None => format!("/{name}"),
    }
}

impl Test {
    /// What the value is compared with, if it is with one.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Present | Self::Change => None,
            Self::Equal(value)
            | Self::Different(value)
            | Self::Greater(value)
            | Self::Less(value)
            | Self::AtLeast(value)
            | Self::AtMost(value)
            | Self::In(value)
            | Self::Contains(value)
            | Self::Near { value, .. } => Some(value),
        }
    }

    /// The same with another value.
    #[must_use]
    pub fn with_value(&self, value: Value) -> Self {
        match self {
            Self::Present => Self::Present,
            Self::Change => Self::Change,
            Self::Equal(_) => Self::Equal(value),
            Self::Different(_) => Self::Different(value),
            Self::Greater(_) => Self::Greater(value),
            Self::Less(_) => Self::Less(value),
            Self::AtLeast(_) => Self::AtLeast(value),
            Self::AtMost(_) => Self::AtMost(value),
            Self::In(_) => Self::In(value),
            Self::Contains(_) => Self::Contains(value),
            Self::Near { tolerance, unit, .. } => Self::Near { value, tolerance: *tolerance, unit: unit.clone() },
        }
    }
}

impl Conditions {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.during.is_empty() && self.after.is_empty()
    }

    /// Every condition, whatever its kind.
    pub fn all(&self) -> impl Iterator<Item = &Condition> {
        self.before.iter().chain(&self.during).chain(self.after.iter().map(|evidence| &evidence.condition))
    }

    /// These and those.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.before.extend(more.before);
        self.during.extend(more.during);
        self.after.extend(more.after);
        self
    }

    /// The same with every source's name changed.
    #[must_use]
    pub fn with_sources(self, change: &impl Fn(Source) -> Source) -> Self {
        let each = |all: Vec<Condition>| all.into_iter().map(|one| one.with_sources(change)).collect();
        let evidence = |one: Evidence| Evidence { condition: one.condition.with_sources(change), ..one };
        Self {
            before: each(self.before),
            during: each(self.during),
            after: self.after.into_iter().map(evidence).collect(),
        }
    }

    /// Checks what a single condition can't know. `parameters` is the JSON Schema of the call's arguments.
    ///
    /// # Errors
    /// When there are too many, when one refers to an argument that the tool does not have, or when a precondition asks
    /// for a change although nothing has begun.
    pub fn check(&self, parameters: &Value) -> Result<(), ConditionError> {
        for (kind, count) in [("before", self.before.len()), ("during", self.during.len()), ("after", self.after.len())]
        {
            if count > MAX_CONDITIONS {
                return Err(
                    format!("it names {count} conditions in '{kind}'; at most {MAX_CONDITIONS} are taken").into()
                );
            }
        }
        let changes = |condition: &Condition| condition.checks().iter().any(|check| check.test == Test::Change);
        if let Some(condition) = self.before.iter().find(|condition| changes(condition)) {
            return Err(
                format!("nothing can have changed before the call begins, as 'before' asks: {condition}").into()
            );
        }
        let known = parameters.get("properties").and_then(Value::as_object);
        for condition in self.all() {
            let takes = |name: &str| known.is_some_and(|known| known.contains_key(name));
            if let Some(missing) = condition.arguments().into_iter().find(|name| !takes(name)) {
                let problem = format!(
                    "a condition refers to the argument '{missing}', which it does not take; a text in braces is written \
                     with double ones"
                );
                return Err(problem.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
