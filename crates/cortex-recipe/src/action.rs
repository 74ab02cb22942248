//! What can be done when something fails, or when a person or a model wants it.

use std::collections::BTreeMap;
use std::fmt;

use cortex_protocol::{ComponentName, Effect, ResourceName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::{Parameter, Seconds};

/// The name of an action: a built-in one, or one of the recipe's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ActionName(String);

impl ActionName {
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

impl fmt::Display for ActionName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The actions that need no entry in `[actions]`. They act on the component whose ladder they stand in.
pub const BUILT_IN_ACTIONS: [BuiltIn; 5] =
    [BuiltIn::Restart, BuiltIn::Respawn, BuiltIn::Standby, BuiltIn::NotifyOperator, BuiltIn::PauseMissions];

/// See [`BUILT_IN_ACTIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuiltIn {
    /// Through the lifecycle where Cortex manages it and the process lives; otherwise the process is started anew.
    Restart,
    /// The process is ended and started anew.
    Respawn,
    /// The standby takes its place.
    Standby,
    /// The operator is told.
    NotifyOperator,
    /// Missions wait until the component works again.
    PauseMissions,
}

impl BuiltIn {
    /// The name in recipes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Respawn => "respawn",
            Self::Standby => "standby",
            Self::NotifyOperator => "notify_operator",
            Self::PauseMissions => "pause_missions",
        }
    }

    /// The action of that name.
    #[must_use]
    pub fn named(name: &ActionName) -> Option<Self> {
        BUILT_IN_ACTIONS.into_iter().find(|action| action.name() == name.as_str())
    }
}

/// An action of the recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ActionTable", into = "ActionTable")]
#[schemars(with = "ActionTable")]
pub struct Action {
    /// What is done.
    pub kind: ActionKind,
    /// Whose it is, as far as it is written: [`Recipe::component_of`](crate::Recipe::component_of) says whose it is. The
    /// empty name: nobody's.
    pub component: Option<ComponentName>,
    /// How long it may take.
    pub timeout_s: Seconds,
    /// Whether what it begins may go on without the process of its component: then the end of that process does not
    /// show that it is at rest. A method that says so of itself need not be named here.
    pub outlives_process: bool,
    /// How it is offered to models. Without it, only fallbacks use it.
    pub tool: Option<ToolOffer>,
}

/// What an action does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// A request to a service.
    Service(ServiceCall),
    /// One message on a topic.
    Topic(TopicMessage),
    /// A program, run to its end; exit status 0 is success.
    Command(CommandLine),
    /// A method of a component: its own fallback, for example.
    Method(MethodCall),
    /// Parameters of a component.
    Parameters(ParameterValues),
}

/// A request to a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceCall {
    /// The full name, beginning with a slash.
    pub name: String,
    /// The type, as `std_srvs/srv/Trigger`.
    #[serde(rename = "type")]
    pub interface: String,
    /// The fields of the request; what is left out has its default.
    #[serde(default)]
    pub request: Map<String, Value>,
}

/// One message on a topic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicMessage {
    /// The full name, beginning with a slash.
    pub name: String,
    /// The type, as `std_msgs/msg/Bool`.
    #[serde(rename = "type")]
    pub interface: String,
    /// The fields of the message; what is left out has its default.
    #[serde(default)]
    pub message: Map<String, Value>,
}

/// A program that is run to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandLine {
    /// The program: a name that is looked up in `PATH` and then beside the program of Cortex, or a path. A path with a
    /// slash that is not a full one begins at the folder of the recipe.
    pub program: String,
    /// Its arguments; no shell reads them.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Variables beyond those of Cortex.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// A call of a component's method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodCall {
    /// Whose.
    pub component: ComponentName,
    /// The method's name, as the component describes it.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// Parameters that are set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParameterValues {
    /// Whose.
    pub component: ComponentName,
    /// The new values.
    pub values: Map<String, Value>,
}

/// How an action is offered to models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolOffer {
    /// What it does and when to use it, for a model.
    pub description: String,
    /// What it does to the world. Left out: it may move.
    #[serde(default)]
    pub effect: Effect,
    /// What it holds while it runs.
    #[serde(default)]
    pub resources: Vec<ResourceName>,
    /// Sentences that people use for it.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// What it is told with each call, as JSON Schema of each. `{name}` stands for the value in requests, messages,
    /// arguments and values.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
}

/// The form of the file: one table of those that say what is done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ActionTable {
    /// A request to a service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    service: Option<ServiceCall>,
    /// One message on a topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<TopicMessage>,
    /// A program, run to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<CommandLine>,
    /// A method of a component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<MethodCall>,
    /// Parameters of a component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<ParameterValues>,
    /// Whose it is: what is in quarantine is not told to do anything. Left out: that of the component below whose node the
    /// service or the topic is. Empty: nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    component: Option<ComponentName>,
    /// How long it may take.
    #[serde(default = "default_timeout")]
    timeout_s: Seconds,
    /// Whether what it begins may go on without the process of its component: then the end of that process does not
    /// show that it is at rest. A method that says so of itself need not be named here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    outlives_process: bool,
    /// How it is offered to models. Left out: only fallbacks use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<ToolOffer>,
}

fn default_timeout() -> Seconds {
    Seconds::whole(10)
}

/// An action that does not do one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotOneDeed {
    /// It does nothing.
    #[error(
        "an action does one thing, and this does none; give it one of the tables service, topic, command, method, parameters"
    )]
    None,
    /// It does several things.
    #[error(
        "an action does one thing, and this does several; give it one of the tables service, topic, command, method, \
         parameters"
    )]
    Several,
}

impl TryFrom<ActionTable> for Action {
    type Error = NotOneDeed;

    fn try_from(table: ActionTable) -> Result<Self, NotOneDeed> {
        let actions = [
            table.service.map(ActionKind::Service),
            table.topic.map(ActionKind::Topic),
            table.command.map(ActionKind::Command),
            table.method.map(ActionKind::Method),
            table.parameters.map(ActionKind::Parameters),
        ];
        let mut actions = actions.into_iter().flatten();
        match (actions.next(), actions.next()) {
            (Some(kind), None) => {
                let ActionTable { component, timeout_s, outlives_process, tool, .. } = table;
                Ok(Self { kind, component, timeout_s, outlives_process, tool })
            }
            (None, _) => Err(NotOneDeed::None),
            (Some(_), Some(_)) => Err(NotOneDeed::Several),
        }
    }
}

impl From<Action> for ActionTable {
    fn from(action: Action) -> Self {
        let mut table = Self {
            service: None,
            topic: None,
            command: None,
            method: None,
            parameters: None,
            component: action.component,
            timeout_s: action.timeout_s,
            outlives_process: action.outlives_process,
            tool: action.tool,
        };
        match action.kind {
            ActionKind::Service(service) => table.service = Some(service),
            ActionKind::Topic(topic) => table.topic = Some(topic),
            ActionKind::Command(command) => table.command = Some(command),
            ActionKind::Method(method) => table.method = Some(method),
            ActionKind::Parameters(parameters) => table.parameters = Some(parameters),
        }
        table
    }
}
