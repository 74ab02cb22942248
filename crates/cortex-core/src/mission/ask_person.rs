//! The built-in tool by which a model asks a person to choose: which of two cups is meant. Its text is the model's, so it
//! is quoted; what may be answered is bounded, and so is how often.

use cortex_protocol::question::MAX_CHOICES;
use cortex_protocol::{FailureKind, ToolOutcome};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::Mission;
use crate::chat::{ChatRequest, ToolDefinition, ToolKind};

/// The built-in tool by which a model asks a person.
pub const ASK_PERSON: &str = "ask_person";

/// Longest question, and longest choice, in characters.
const QUESTION_CHARACTERS: usize = 500;
const CHOICE_CHARACTERS: usize = 80;

/// A question of the model to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Choice {
    pub(super) question: String,
    pub(super) choices: Vec<String>,
    pub(super) default: Option<String>,
}

/// Why nobody can be asked so. In words for the model.
#[derive(Debug, PartialEq, Error)]
pub(super) enum ChoiceProblem {
    #[error("'question' must be a question of at most {QUESTION_CHARACTERS} characters")]
    Question,
    #[error("each of 'choices' must be a text of its own of at most {CHOICE_CHARACTERS} characters on one line")]
    Text,
    #[error("'choices' must be 2 to {MAX_CHOICES} texts")]
    Count,
    #[error("'default' must be one of the choices")]
    Default,
}

impl Choice {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// What is wrong, for the model.
    pub(super) fn read(arguments: &Map<String, Value>) -> Result<Self, ChoiceProblem> {
        let question = arguments.get("question").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if question.is_empty() || question.chars().nth(QUESTION_CHARACTERS).is_some() {
            return Err(ChoiceProblem::Question);
        }
        let written = arguments.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut choices: Vec<String> = Vec::with_capacity(written.len());
        for choice in written {
            let choice = choice.as_str().map(str::trim).unwrap_or_default();
            let is_short = choice.chars().nth(CHOICE_CHARACTERS).is_none();
            if choice.is_empty()
                || !is_short
                || choice.contains(char::is_control)
                || choices.iter().any(|known| known == choice)
            {
                return Err(ChoiceProblem::Text);
            }
            choices.push(choice.to_owned());
        }
        if !(2..=MAX_CHOICES).contains(&choices.len()) {
            return Err(ChoiceProblem::Count);
        }
        let default = match arguments.get("default") {
            None | Some(Value::Null) => None,
            Some(default) => {
                let default = default.as_str().map(str::trim).unwrap_or_default();
                if !choices.iter().any(|choice| choice == default) {
                    return Err(ChoiceProblem::Default);
                }
                Some(default.to_owned())
            }
        };
        Ok(Self { question: question.to_owned(), choices, default })
    }
}

impl Mission {
    /// Counts one more question of the model.
    ///
    /// # Errors
    /// When it has asked as often as it may.
    pub(super) fn may_ask_person(&mut self) -> Result<(), ToolOutcome> {
        let most = self.setup.policy.approval.max_questions;
        if self.approvals.choices_asked >= most {
            let message = format!("a person was asked {most} times, the most that a mission may; go on without");
            return Err(ToolOutcome::failure(FailureKind::Denied, message));
        }
        self.approvals.choices_asked += 1;
        Ok(())
    }

    /// Whether the model may ask a person: where something may be done, there may be something to choose.
    pub(super) fn offers_ask_person(&self) -> bool {
        self.setup.policy.approval.max_questions > 0 && self.task_state.class.may_act()
    }

    /// Offers the tool.
    pub(super) fn add_ask_person(&self, chat: &mut ChatRequest) {
        if self.offers_ask_person() {
            chat.tools.push(definition());
        }
    }
}

fn definition() -> ToolDefinition {
    let text = json!({"type": "string"});
    ToolDefinition {
        name: ASK_PERSON.to_owned(),
        description: "Asks a person which is meant, where the task leaves it open. Alone, before you plan.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "question": text,
                "choices": {"type": "array", "items": text, "minItems": 2, "maxItems": MAX_CHOICES},
                "default": {"type": "string", "description": "The choice that counts if nobody answers. Only a safe one."}
            },
            "required": ["question", "choices"]
        }),
        phase: cortex_protocol::ToolPhase::Planning,
        phrases: Vec::new(),
        kind: ToolKind::BuiltIn,
    }
}
