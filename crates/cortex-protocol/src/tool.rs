//! Tools: what can be called, how a call is made, and how it ends.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ComponentName, Conditions, PictureRef, ResourceName, ToolName};

/// In which phase of a mission a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum ToolPhase {
    /// Research: called at once while the plan is made, so it must not change anything.
    Planning,
    /// Called only as a confirmed step of a plan.
    #[default]
    Execution,
    /// Either.
    Both,
}

/// What a tool does to the world. In doubt, [`Effect::Move`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads only.
    Observe,
    /// Changes something that does not move: a light, a parameter, speech.
    Act,
    /// May move the robot or a part of it.
    #[default]
    Move,
}

/// Who says what a tool does to the world. Policy asks people about what nobody has declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum EffectSource {
    /// The contract of its component, the recipe, the configuration, or Cortex for a tool of its own.
    Declared,
    /// The configuration, by a pattern with a wildcard: it may match what nobody thought of.
    Pattern,
    /// Its interface: well known for what it does, and for how it is halted.
    WellKnown,
    /// Its interface: well known for what it does, but nothing halts it.
    TypeOnly,
    /// Nobody: the strictest was assumed.
    #[default]
    Assumed,
}

/// When a step that calls the tool lets the next one be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum Dispatch {
    /// When the call has ended.
    #[default]
    Wait,
    /// As soon as the call was accepted: it goes on in the background and its outcome arrives later.
    Background,
}

/// What cancelling a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum CancelMode {
    /// The answer may just be dropped: nothing goes on.
    Drop,
    /// It must be told to halt, and must say that it did.
    #[default]
    Halt,
}

/// How long a call may take where its tool does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A tool, as registered. Made by [`ToolSpec::new`] and its `with_` methods, so that a new field breaks no provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Canonical and unique.
    pub name: ToolName,
    /// What it does and when to use it, written for the model.
    pub description: String,
    /// JSON Schema (draft 2020-12) of the arguments; its `type` is `object`.
    pub parameters: Value,
    /// When it may be called.
    pub phase: ToolPhase,
    /// What it does to the world; decides what happens when a check fails.
    pub effect: Effect,
    /// Who says so.
    #[serde(default)]
    pub effect_source: EffectSource,
    /// What it holds while it runs.
    pub resources: Vec<ResourceName>,
    /// How long a call may take.
    pub timeout: Duration,
    /// Whether a step waits for the call's end.
    pub dispatch: Dispatch,
    /// What cancelling takes.
    pub cancel: CancelMode,
    /// The component that offers it, where there is one.
    pub component: Option<ComponentName>,
    /// Sentences that people use for it, with `{parameter}` in place of values. For planners without a model.
    pub phrases: Vec<String>,
    /// What must hold before, while and after it is called. Checked without a model.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// The tool that it serves while its component has the place of that tool's component. Such a tool is for nobody to
    /// choose: it is called in place of the other one, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<ToolName>,
    /// Whether what a call begins may go on without the process that carries it out: a motor controller that drives on
    /// by itself, for example. Where it may not, the end of that process is the end of its calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outlives_process: bool,
}

impl ToolSpec {
    /// A tool without arguments that executes something, moves the robot and holds nothing. A call may take 60 s.
    #[must_use]
    pub fn new(name: ToolName, description: String) -> Self {
        Self {
            name,
            description,
            parameters: serde_json::json!({"type": "object", "properties": {}}),
            phase: ToolPhase::default(),
            effect: Effect::default(),
            effect_source: EffectSource::default(),
            resources: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            dispatch: Dispatch::default(),
            cancel: CancelMode::default(),
            component: None,
            phrases: Vec::new(),
            conditions: Conditions::default(),
            serves: None,
            outlives_process: false,
        }
    }

    /// Gives it another name.
    #[must_use]
    pub fn with_name(self, name: ToolName) -> Self {
        Self { name, ..self }
    }

    /// Describes it anew, for the model.
    #[must_use]
    pub fn with_description(self, description: String) -> Self {
        Self { description, ..self }
    }

    /// Sets the JSON Schema of its arguments, whose `type` is `object`.
    #[must_use]
    pub fn with_parameters(self, parameters: Value) -> Self {
        Self { parameters, ..self }
    }

    /// Sets when it may be called.
    #[must_use]
    pub fn with_phase(self, phase: ToolPhase) -> Self {
        Self { phase, ..self }
    }

    /// Sets what it does to the world.
    #[must_use]
    pub fn with_effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// Sets who says what it does to the world.
    #[must_use]
    pub fn with_effect_source(self, effect_source: EffectSource) -> Self {
        Self { effect_source, ..self }
    }

    /// Sets what it holds while it runs.
    #[must_use]
    pub fn with_resources(self, resources: Vec<ResourceName>) -> Self {
        Self { resources, ..self }
    }

    /// Sets how long a call may take.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets whether a step waits for the end of a call.
    #[must_use]
    pub fn with_dispatch(self, dispatch: Dispatch) -> Self {
        Self { dispatch, ..self }
    }

    /// Sets what cancelling takes.
    #[must_use]
    pub fn with_cancel(self, cancel: CancelMode) -> Self {
        Self { cancel, ..self }
    }

    /// Sets the component that offers it.
    #[must_use]
    pub fn with_component(self, component: Option<ComponentName>) -> Self {
        Self { component, ..self }
    }

    /// Sets the sentences that people use for it.
    #[must_use]
    pub fn with_phrases(self, phrases: Vec<String>) -> Self {
        Self { phrases, ..self }
    }

    /// Sets what must hold before, while and after it is called.
    #[must_use]
    pub fn with_conditions(self, conditions: Conditions) -> Self {
        Self { conditions, ..self }
    }

    /// Sets the tool that it serves while its component has the place of that tool's component.
    #[must_use]
    pub fn with_serves(self, serves: Option<ToolName>) -> Self {
        Self { serves, ..self }
    }

    /// Sets whether a call may go on without the process that carries it out.
    #[must_use]
    pub fn with_outlives_process(self, outlives_process: bool) -> Self {
        Self { outlives_process, ..self }
    }

    /// What a call of the tool means, as a number: another one where the description, the schema of the arguments, the
    /// effect or a condition is another. A call that was made for one is not to be carried out by the other.
    #[must_use]
    pub fn fingerprint(&self) -> ToolFingerprint {
        // FNV-1a: the same in every build, unlike the hasher of the standard library.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let meaning = (&self.description, &self.parameters, self.effect, self.dispatch, &self.component);
        let mut text = serde_json::json!(meaning).to_string();
        if !self.conditions.is_empty() {
            text.push_str(&serde_json::json!(self.conditions).to_string());
        }
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        ToolFingerprint(hash)
    }
}

/// Tells versions of a tool apart: see [`ToolSpec::fingerprint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolFingerprint(pub u64);

/// A call of a tool, checked or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// Which tool.
    pub tool: ToolName,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// It did what it says.
    Succeeded,
    /// It did not.
    Failed(FailureKind),
    /// It was cancelled before it had ended.
    Cancelled,
    /// It was cancelled before it began: nothing was sent.
    NotBegun,
}

/// Why a call failed. A stable code; the words for people are in [`ToolOutcome::message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The arguments do not fit the schema.
    InvalidArguments,
    /// No such tool, or it is gone.
    NotFound,
    /// The tool is known but can't be reached.
    Unavailable,
    /// The component died, or left the graph, while the call was under way.
    ComponentLost,
    /// No answer within the tool's time.
    Timeout,
    /// The tool itself says that it failed.
    Reported,
    /// The answer can't be read.
    BadResponse,
    /// The tool is no longer what it was when the call was planned.
    Changed,
    /// A precondition does not hold, or is not known to: the call was not sent.
    NotReady,
    /// It waited so long for what others held that its confirmation is out of date: the call was not sent.
    Expired,
    /// An invariant did not hold any more, or was not known to: the call was halted.
    InvariantBroken,
    /// The call says that it succeeded, but what was seen afterwards says otherwise.
    Contradicted,
    /// The call says that it succeeded, but what would show it could not be seen.
    NoEvidence,
    /// A policy forbids it.
    Denied,
    /// A flaw of Cortex.
    Internal,
}

/// What is known about whether the thing that a call started has come to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum HaltState {
    /// The call ended by itself, or never started, or has nothing that goes on.
    #[default]
    AtRest,
    /// It was told to halt and has said that it did.
    Halted,
    /// It was told to halt and has said that it will not: it goes on.
    Refused,
    /// It may still be going on.
    Unconfirmed,
}

impl HaltState {
    /// Whether what the call started may still be going on.
    #[must_use]
    pub fn may_go_on(self) -> bool {
        matches!(self, Self::Refused | Self::Unconfirmed)
    }
}

/// The one terminal outcome of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolOutcome {
    /// How it ended.
    pub status: OutcomeStatus,
    /// What the tool returned; null unless it succeeded.
    pub value: Value,
    /// Why it did not succeed, in words for a person and a model. Empty on success.
    pub message: String,
    /// Whether what it started is at rest.
    pub halt: HaltState,
    /// What was seen that shows that it did what it says, in words. Empty where nothing but its own word says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The pictures that it took, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PictureRef>,
}

impl ToolOutcome {
    /// The tool did what it says and returned `value`.
    #[must_use]
    pub fn success(value: Value) -> Self {
        Self {
            status: OutcomeStatus::Succeeded,
            value,
            message: String::new(),
            halt: HaltState::AtRest,
            evidence: Vec::new(),
            pictures: Vec::new(),
        }
    }

    /// The tool did not do what it says, and nothing goes on.
    pub fn failure(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            status: OutcomeStatus::Failed(kind),
            value: Value::Null,
            message: message.into(),
            halt: HaltState::AtRest,
            evidence: Vec::new(),
            pictures: Vec::new(),
        }
    }

    /// The call was cancelled; `halt` says whether it is known to be at rest.
    pub fn cancelled(halt: HaltState, message: impl Into<String>) -> Self {
        Self {
            status: OutcomeStatus::Cancelled,
            value: Value::Null,
            message: message.into(),
            halt,
            evidence: Vec::new(),
            pictures: Vec::new(),
        }
    }

    /// The call was cancelled before it began.
    pub fn not_begun(message: impl Into<String>) -> Self {
        Self { status: OutcomeStatus::NotBegun, ..Self::cancelled(HaltState::AtRest, message) }
    }

    /// The same outcome with what is known about rest.
    #[must_use]
    pub fn with_halt(mut self, halt: HaltState) -> Self {
        self.halt = halt;
        self
    }

    /// Whether the tool did what it says.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status == OutcomeStatus::Succeeded
    }

    /// The returned value as a person would read it: text as it is, anything else as compact JSON.
    #[must_use]
    pub fn text(&self) -> String {
        value_as_text(&self.value)
    }
}

/// A JSON value as a person would read it: text without quotes, null as nothing, an object by its member `text` (or by
/// its only member, if that is a text), anything else as compact JSON.
#[must_use]
pub fn value_as_text(value: &Value) -> String {
    let readable = match value {
        Value::Null => return String::new(),
        Value::String(text) => Some(text),
        Value::Object(fields) => match (fields.get("text"), fields.iter().next()) {
            (Some(Value::String(text)), _) => Some(text),
            (None, Some((_, Value::String(text)))) if fields.len() == 1 => Some(text),
            _ => None,
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    readable.map_or_else(|| value.to_string(), Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_person_reads_the_text_of_a_result() {
        for (value, text) in [
            (json!(null), ""),
            (json!("a cup"), "a cup"),
            (json!({"text": "I see a cup.", "sees": ["a cup"]}), "I see a cup."),
            (json!({"answer": "yes"}), "yes"),
            (json!({"text": 7}), "{\"text\":7}"),
            (json!({"percent": 87}), "{\"percent\":87}"),
            (json!([1, 2]), "[1,2]"),
        ] {
            assert_eq!(value_as_text(&value), text);
        }
    }
}
