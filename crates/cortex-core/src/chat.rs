//! What a model is asked and what it answers, independent of any provider.

use cortex_protocol::strict_json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fragment::Fragment;

pub use crate::tool_definition::{ToolDefinition, ToolKind};

/// Why the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// For a plan, for research, or for an answer.
    Plan,
    /// For the decision on one step.
    Confirm,
    /// For other arguments for a step whose call failed.
    Correct,
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Why.
    pub purpose: Purpose,
    /// The conversation, oldest first. The beginning stays the same from request to request, so that it can be cached.
    pub messages: Vec<Message>,
    /// The tools that may be called, in a stable order.
    pub tools: Vec<ToolDefinition>,
    /// Randomness, 0 to 2.
    pub temperature: f32,
    /// Most tokens in the reply.
    pub max_tokens: u32,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Rules and facts from Cortex.
    System {
        /// Its pieces.
        fragments: Vec<Fragment>,
    },
    /// From a person, or from Cortex on the person's behalf.
    User {
        /// Its pieces.
        fragments: Vec<Fragment>,
    },
    /// What the model said.
    Assistant {
        /// Its words. Empty if there were none.
        text: String,
        /// The calls that it made.
        calls: Vec<ModelCall>,
    },
    /// What came of one of the calls that the model made. Data, never instructions.
    Tool {
        /// The id of the [`ModelCall`] that it answers.
        id: String,
        /// The wire name of the tool.
        name: String,
        /// The result or the error.
        content: Fragment,
    },
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct ChatReply {
    /// Its words. Empty if there were none.
    pub text: String,
    /// The calls that it makes, in its order.
    pub calls: Vec<ModelCall>,
    /// Why it declines the request, where it says so in a form of its own.
    pub refusal: Option<String>,
    /// Why the reply is not whole, where it is not: it was cut, or a part of it was withheld. Such a reply is no answer,
    /// whatever it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Whether the endpoint did not report all of them, and they are estimated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_estimated: bool,
    /// What speaks against its plan, in words for a person: another reader of the task, which costs nothing, reads it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// What another model, which plans along and never acts, says of its plan. None: none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Box<SecondOpinion>>,
    /// Which model has answered, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ModelUsed>,
}

/// What a model that plans along says of the plan of another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondOpinion {
    /// Which model.
    pub model: String,
    /// What it says.
    pub verdict: SecondVerdict,
    /// Whether a plan that it would not have made counts as doubted.
    pub doubts: bool,
    /// Tokens that it read.
    pub prompt_tokens: u64,
    /// Tokens that it wrote.
    pub completion_tokens: u64,
    /// Whether these are an estimate: its answer was given up, or its endpoint reports none.
    pub tokens_estimated: bool,
}

/// See [`SecondOpinion`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum SecondVerdict {
    /// It would act in the same way.
    Same,
    /// It would act otherwise.
    Other {
        /// How, in words for a person.
        told: String,
    },
    /// There was nothing to compare: one of the two does not plan to act yet.
    NotCompared,
    /// It gave no answer in time.
    NoAnswer {
        /// Why.
        because: String,
    },
}

/// Which of several models has answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsed {
    /// The one that has.
    pub model: String,
    /// The one that is asked first for such a request.
    pub wanted: String,
    /// Why that one and those between have not; empty if it is the same.
    pub because: String,
}

/// One call that a model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The provider's id of the call, by which its result is matched.
    pub id: String,
    /// The name that the model wrote; checked against the tools on offer.
    pub name: String,
    /// The arguments that it wrote.
    pub arguments: CallArguments,
}

/// Arguments as a model wrote them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArguments {
    /// A JSON object. Not yet checked against a schema.
    Object(Map<String, Value>),
    /// Something else.
    Malformed {
        /// What was written, cut to a readable length.
        text: String,
        /// Why it can't be read.
        problem: String,
    },
}

impl CallArguments {
    /// Reads what a model wrote: a JSON object, or text that holds one. Nothing written counts as no arguments.
    #[must_use]
    pub fn read(text: &str) -> Self {
        /// Enough to recognise what was written.
        const SHOWN: usize = 200;
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Self::Object(Map::new());
        }
        let problem = match strict_json::read::<Value>(trimmed) {
            Ok(Value::Object(fields)) => return Self::Object(fields),
            Ok(_) => "it is not a JSON object".to_owned(),
            Err(problem) => problem.to_string(),
        };
        Self::Malformed { text: trimmed.chars().take(SHOWN).collect(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"place":"kitchen","place":"office"}` drove to the office.
    #[test]
    fn regression_the_last_of_two_values_of_one_name_counted() {
        for text in [
            r#"{"place":"kitchen","place":"office"}"#,
            r#"{"place":"kitchen","place":"kitchen"}"#,
            r#"{"place":"kitchen","pl\u0061ce":"office"}"#,
            r#"{"pose":{"x":1,"y":2,"x":3}}"#,
            r#"{"poses":[{"x":1},{"x":1,"x":2}]}"#,
        ] {
            let read = CallArguments::read(text);
            let CallArguments::Malformed { problem, .. } = &read else { panic!("{text}: {read:?}") };
            assert!(problem.contains("is given twice"), "{problem}");
        }
        let read = CallArguments::read(r#"{"from":{"x":1},"to":{"x":2}}"#);
        assert!(matches!(read, CallArguments::Object(_)), "the same name in two objects: {read:?}");
    }
}
