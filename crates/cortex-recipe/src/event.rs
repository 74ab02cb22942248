//! What the robot does by itself when something happens, without a model being asked.
//!
//! ```toml
//! [events.battery_low]
//! when = { topic = "/battery_state", field = "percentage", less = 0.15 }
//! until = { topic = "/battery_state", field = "percentage", greater = 0.5 }
//! max_age_s = 5.0
//! do = [{ tell = "The battery is low." }, { task = "go to the dock and charge", begins = "now" }]
//! ```

use std::fmt;

use cortex_protocol::{ComponentName, Condition, ToolName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::{ActionName, Seconds};

/// Most events of a recipe.
pub const MAX_EVENTS: usize = 256;
/// Most things that one event does.
pub const MAX_EVENT_ACTIONS: usize = 16;
/// Most times that an event may be allowed to happen within `every_s`.
pub const MAX_AT_MOST: u32 = 1_000;

/// The name of an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct EventName(String);

impl EventName {
    /// Wraps the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// An event: what is looked for, and what is done then.
///
/// It happens when its condition begins to hold, and is ready again when that is known not to hold any more. What is not
/// known never makes it happen and never makes it ready again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// What must hold.
    pub when: Condition,
    /// It is ready again only when this holds, instead of when `when` does not hold any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Condition>,
    /// Instead, it happens when what `when` says was not heard of for so long, and is ready again when it is heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_s: Option<Seconds>,
    /// How long it must hold without a break.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_s: Option<Seconds>,
    /// How old what was seen may be, for each comparison that does not say so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_s: Option<Seconds>,
    /// It happens once in the life of Cortex and never again.
    #[serde(default)]
    pub once: bool,
    /// How often it may happen within `every_s`. What holds longer than that is done as soon as it may.
    #[serde(default = "default_at_most")]
    #[schemars(range(min = 1, max = 1_000))]
    pub at_most: u32,
    /// See `at_most`.
    #[serde(default = "default_every")]
    pub every_s: Seconds,
    /// It happens again when so long after its end it still holds. Left out: not until it was ready again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_s: Option<Seconds>,
    /// What is done, one after the other. The first failure ends it.
    #[serde(rename = "do")]
    pub actions: Vec<EventAction>,
    /// What is done when one of these has failed.
    #[serde(default)]
    pub on_failure: Vec<EventAction>,
}

fn default_at_most() -> u32 {
    6
}

fn default_every() -> Seconds {
    Seconds::whole(60)
}

impl Event {
    /// The condition as it is looked at: with `max_age_s` where a comparison names none.
    #[must_use]
    pub fn condition(&self) -> Condition {
        self.aged(self.when.clone())
    }

    /// As [`condition`](Self::condition), for `until`.
    #[must_use]
    pub fn until(&self) -> Option<Condition> {
        self.until.clone().map(|until| self.aged(until))
    }

    fn aged(&self, condition: Condition) -> Condition {
        match self.silent_s.or(self.max_age_s) {
            Some(age) => with_age(condition, age),
            None => condition,
        }
    }

    /// Everything that it may do, with the key of the list and the place in it.
    pub(crate) fn all_actions(&self) -> impl Iterator<Item = (&'static str, usize, &EventAction)> {
        let listed = |key: &'static str, actions: &'_ [EventAction]| -> Vec<(&'static str, usize)> {
            (0..actions.len()).map(|index| (key, index)).collect()
        };
        let places = listed("do", &self.actions).into_iter().chain(listed("on_failure", &self.on_failure));
        places.zip(self.actions.iter().chain(&self.on_failure)).map(|((key, index), action)| (key, index, action))
    }

    /// Whether it hands Cortex a task.
    #[must_use]
    pub fn gives_tasks(&self) -> bool {
        self.all_actions().any(|(.., action)| matches!(action, EventAction::Task { .. }))
    }
}

/// The same condition, where every comparison without an age has this one.
fn with_age(condition: Condition, age: Seconds) -> Condition {
    let each = |all: Vec<Condition>| all.into_iter().map(|one| with_age(one, age)).collect();
    match condition {
        Condition::And(all) => Condition::And(each(all)),
        Condition::Or(any) => Condition::Or(each(any)),
        Condition::Not(inner) => Condition::Not(Box::new(with_age(*inner, age))),
        Condition::Check(mut check) => {
            check.max_age.get_or_insert(age.duration());
            Condition::Check(check)
        }
    }
}

/// One thing that an event does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ActionTable", into = "ActionTable")]
#[schemars(with = "ActionTable")]
pub enum EventAction {
    /// It calls a tool, as a person with `cortex call` would.
    Tool {
        /// Which.
        tool: ToolName,
        /// With what.
        arguments: Map<String, Value>,
    },
    /// It does an action: a built-in one or one of the recipe.
    Action {
        /// Which.
        action: ActionName,
        /// With what, where the action takes arguments.
        arguments: Map<String, Value>,
        /// For which component, where the action is for one.
        component: Option<ComponentName>,
    },
    /// It hands Cortex a task.
    Task {
        /// In plain language.
        task: String,
        /// When it begins.
        begins: Begins,
    },
    /// It tells people something.
    Tell {
        /// What.
        text: String,
    },
}

/// When the task of an event begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Begins {
    /// After those that wait already.
    #[default]
    InTurn,
    /// When the task that runs has ended, before those that wait.
    Next,
    /// Now: the task that runs is ended.
    Now,
}

impl Begins {
    fn is_in_turn(&self) -> bool {
        *self == Self::InTurn
    }
}

/// The form of the file: one of `tool`, `action`, `task`, `tell`, and what belongs to it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ActionTable {
    /// The tool that is called: `base.halt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<ToolName>,
    /// The action that is done: a built-in one or one of the recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<ActionName>,
    /// With what: of a tool or an action.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    arguments: Map<String, Value>,
    /// For which component, where the action is for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    component: Option<ComponentName>,
    /// The task that Cortex is given, in plain language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// When that task begins.
    #[serde(default, skip_serializing_if = "Begins::is_in_turn")]
    begins: Begins,
    /// What people are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tell: Option<String>,
}

/// Why what an event does can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EventDeedProblem {
    /// It is none of the things that an event can do, or several.
    #[error("it is one of these, and one only: 'tool', 'action', 'task', 'tell'")]
    NotOne,
    /// A key that says something of another thing.
    #[error("'{key}' belongs to {to}")]
    Misplaced {
        /// The key.
        key: &'static str,
        /// What it is for.
        to: &'static str,
    },
}

impl TryFrom<ActionTable> for EventAction {
    type Error = EventDeedProblem;

    fn try_from(table: ActionTable) -> Result<Self, EventDeedProblem> {
        let ActionTable { tool, action, arguments, component, task, begins, tell } = table;
        let belongs = |key: &'static str, is_there: bool, to: &'static str| {
            if is_there { Err(EventDeedProblem::Misplaced { key, to }) } else { Ok(()) }
        };
        let action = match (tool, action, task, tell) {
            (Some(tool), None, None, None) => {
                belongs("component", component.is_some(), "an 'action'")?;
                Self::Tool { tool, arguments: arguments.clone() }
            }
            (None, Some(action), None, None) => Self::Action { action, arguments: arguments.clone(), component },
            (None, None, Some(task), None) => {
                belongs("component", component.is_some(), "an 'action'")?;
                Self::Task { task, begins }
            }
            (None, None, None, Some(text)) => {
                belongs("component", component.is_some(), "an 'action'")?;
                Self::Tell { text }
            }
            _ => return Err(EventDeedProblem::NotOne),
        };
        if !matches!(action, Self::Tool { .. } | Self::Action { .. }) {
            belongs("arguments", !arguments.is_empty(), "a 'tool' or an 'action'")?;
        }
        if !matches!(action, Self::Task { .. }) {
            belongs("begins", !begins.is_in_turn(), "a 'task'")?;
        }
        Ok(action)
    }
}

impl From<EventAction> for ActionTable {
    fn from(action: EventAction) -> Self {
        let empty = Self::default();
        match action {
            EventAction::Tool { tool, arguments } => Self { tool: Some(tool), arguments, ..empty },
            EventAction::Action { action, arguments, component } => {
                Self { action: Some(action), arguments, component, ..empty }
            }
            EventAction::Task { task, begins } => Self { task: Some(task), begins, ..empty },
            EventAction::Tell { text } => Self { tell: Some(text), ..empty },
        }
    }
}

impl fmt::Display for EventAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { tool, .. } => formatter.write_str(tool.as_str()),
            Self::Action { action, component: Some(component), .. } => write!(formatter, "{action} of {component}"),
            Self::Action { action, .. } => action.fmt(formatter),
            Self::Task { task, .. } => write!(formatter, "the task \"{task}\""),
            Self::Tell { .. } => formatter.write_str("tell people"),
        }
    }
}
