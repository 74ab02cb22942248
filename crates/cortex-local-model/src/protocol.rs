//! The lines between Cortex and the process of a local model: one JSON object a line, in UTF-8. Cortex writes [`ToModel`] to its
//! standard input and reads [`FromModel`] from its standard output. The standard error output is for people.
//!
//! ```text
//! load ─▶ ready | refused (and the process ends)
//! ask ──▶ piece* (done | failed)
//! cancel ▶ the same as before, soon, with `finish` = cancelled
//! ```
//!
//! One request is under way at a time. The process ends when its input ends.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of these lines. A process that is asked for another one refuses.
pub const VERSION: u32 = 1;

/// The name of the program.
pub const PROGRAM: &str = "cortex-local-model";

/// Most bytes of a line to the process: a long conversation with many tools.
pub const MAX_REQUEST_BYTES: usize = 16 * 1024 * 1024;

/// Most bytes of a line from the process, its end not counted. A piece is a few letters.
pub const MAX_REPLY_BYTES: usize = 64 * 1024;

/// What Cortex wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToModel {
    /// Load the model. The first line, once.
    Load(Load),
    /// Answer.
    Ask(Ask),
    /// Answer no further. For a request that is not under way it means nothing.
    Cancel(Cancel),
}

/// Which model, and how it is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The [`VERSION`] that Cortex speaks.
    pub version: u32,
    /// The file. A full path.
    pub file: PathBuf,
    /// Tokens of a conversation with its answer. 0: as many as the model was trained for.
    pub context_tokens: u32,
    /// Threads that compute. 0: one for each core.
    pub threads: u32,
    /// Layers that a graphics processor computes, if the engine was built for one.
    pub gpu_layers: u32,
    /// Where chance begins.
    pub seed: u32,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Its number: higher than that of the request before.
    pub id: u64,
    /// The conversation, oldest first. What is the same as in the request before, from the beginning, is not computed again.
    pub messages: Vec<Message>,
    /// The tools that the reply may call.
    pub tools: Vec<Tool>,
    /// The JSON Schema of an answer that is no call. None: any words.
    pub answer: Option<Value>,
    /// Randomness, from 0 to 2.
    pub temperature: f32,
    /// Most tokens of the reply.
    pub max_tokens: u32,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Whose.
    pub role: Role,
    /// Its words. The marks of the model's own chat template mean nothing in them.
    pub text: String,
}

/// Whose words these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Rules.
    System,
    /// A person's, or the robot's.
    User,
    /// The model's own.
    Assistant,
}

impl Role {
    /// As chat templates have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A tool, as far as a call of it has to fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// Which request is not wanted any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    /// Its number.
    pub id: u64,
}

/// What the process says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromModel {
    /// The model is loaded.
    Ready(Ready),
    /// It can't be loaded. The last line.
    Refused(Problem),
    /// A piece of the reply: never empty, and whole letters.
    Piece(Piece),
    /// The reply has ended.
    Done(Done),
    /// There is no reply. The next request may succeed.
    Failed(Failed),
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The [`VERSION`] that the process speaks.
    pub version: u32,
    /// The model's own name, if its file has one.
    pub name: String,
    /// Such as `llama` or `qwen3`.
    pub architecture: String,
    /// How many numbers it consists of.
    pub parameters: u64,
    /// Tokens of a conversation with its answer.
    pub context_tokens: u32,
    /// Threads that compute.
    pub threads: u32,
    /// How conversations are written for it.
    pub template: Template,
}

/// How conversations are written for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// By the template in its file.
    Own,
    /// As plain text, because its file has no template that the engine knows. Answers may be worse.
    Plain,
}

/// Why something can't be done, for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What happened.
    pub problem: String,
    /// What to do about it. May be empty.
    pub fix: String,
}

/// See [`FromModel::Piece`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Of which request.
    pub id: u64,
    /// What is to be added to the text.
    pub text: String,
}

/// See [`FromModel::Done`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Which request.
    pub id: u64,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens of the conversation.
    pub prompt_tokens: u64,
    /// Those among them that were not computed again, since the request before began with the same.
    pub kept_tokens: u64,
    /// Tokens of the reply.
    pub reply_tokens: u64,
    /// For the conversation, in milliseconds.
    pub prompt_ms: f64,
    /// For the reply, in milliseconds.
    pub reply_ms: f64,
    /// The tools whose calls the engine could not hold to all that their schemas ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<String>,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It is whole.
    Whole,
    /// It was cut at its bound of tokens, or the context was full.
    Length,
    /// It was cancelled.
    Cancelled,
}

/// See [`FromModel::Failed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Which request.
    pub id: u64,
    /// Why.
    pub problem: Problem,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs of different builds read each other's lines.
    #[test]
    fn lines_are_as_they_are_documented() {
        let cancel = serde_json::to_string(&ToModel::Cancel(Cancel { id: 7 })).unwrap();
        assert_eq!(cancel, r#"{"cancel":{"id":7}}"#);
        let piece = r#"{"piece":{"id":7,"text":"Hel"}}"#;
        assert_eq!(
            serde_json::from_str::<FromModel>(piece).unwrap(),
            FromModel::Piece(Piece { id: 7, text: "Hel".to_owned() })
        );
        let done = r#"{"done":{"id":7,"finish":"length","prompt_tokens":9,"kept_tokens":4,"reply_tokens":2,"prompt_ms":1.5,"reply_ms":3.0}}"#;
        let FromModel::Done(done) = serde_json::from_str(done).unwrap() else { panic!("another line") };
        assert_eq!((done.finish, done.kept_tokens), (Finish::Length, 4));
    }
}
