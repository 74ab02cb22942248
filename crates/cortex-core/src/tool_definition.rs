//! Tools as a model is offered them: their definition, their kind and their name on the wire.

use cortex_protocol::{Dispatch, Effect, ToolName, ToolPhase, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool, as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// `[a-zA-Z0-9_-]{1,64}`.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// Whether calling it is a step of a plan, research that is done at once, or either.
    pub phase: ToolPhase,
    /// Sentences that people use for it, with `{parameter}` in place of values. Not sent to language models.
    pub phrases: Vec<String>,
    /// What a call of it is. Language models read it at the head of the description.
    #[serde(default, skip_serializing_if = "ToolKind::is_built_in")]
    pub kind: ToolKind,
}

impl ToolDefinition {
    /// The description as a language model reads it.
    #[must_use]
    pub fn described(&self) -> String {
        match self.kind.head() {
            "" => self.description.clone(),
            head => format!("{head} {}", self.description),
        }
    }
}

/// What a call of a tool is to the mission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// A tool of Cortex itself.
    #[default]
    BuiltIn,
    /// A look: a step among steps, research where only looks are called.
    Look,
    /// A look that is always research.
    LookAtOnce,
    /// A look that is always a step.
    LookAsStep,
    /// A step that ends before the next one begins.
    Act,
    /// A step beside which the next one may begin.
    ActInBackground,
}

impl ToolKind {
    /// What a call of this tool of the robot is.
    #[must_use]
    pub fn of(spec: &ToolSpec) -> Self {
        match (spec.effect, spec.phase, spec.dispatch) {
            (Effect::Observe, ToolPhase::Planning, _) => Self::LookAtOnce,
            (Effect::Observe, ToolPhase::Both, _) => Self::Look,
            (Effect::Observe, ToolPhase::Execution, _) => Self::LookAsStep,
            (Effect::Act | Effect::Move, _, Dispatch::Wait) => Self::Act,
            (Effect::Act | Effect::Move, _, Dispatch::Background) => Self::ActInBackground,
        }
    }

    fn head(self) -> &'static str {
        match self {
            Self::BuiltIn => "",
            Self::Look => "[look]",
            Self::LookAtOnce => "[look, at once]",
            Self::LookAsStep => "[look, as a step]",
            Self::Act => "[act]",
            Self::ActInBackground => "[act, background]",
        }
    }

    fn is_built_in(&self) -> bool {
        *self == Self::BuiltIn
    }
}

/// The canonical name with `-` for every character that providers refuse.
pub(crate) fn plain_wire_name(name: &ToolName) -> String {
    let plain: String = name
        .as_str()
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' })
        .collect();
    if plain.is_empty() { "-".to_owned() } else { plain }
}
