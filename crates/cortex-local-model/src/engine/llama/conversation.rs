//! From messages to tokens: by the template of the model, or plainly where the engine does not know it.

use std::fmt::Write as _;

use cortex_local_model::protocol::{Message, Problem, Role, Template};
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;

/// Stands on both sides of the number of a message, where its words belong.
const PLACE: char = '\u{fffc}';

/// How conversations are written for a model.
pub(super) struct Conversations {
    template: Option<LlamaChatTemplate>,
}

impl Conversations {
    pub(super) fn new(model: &LlamaModel) -> Self {
        let own = model.chat_template(None).ok();
        Self { template: own.filter(|template| applied(model, template, &[Role::User]).is_ok()) }
    }

    pub(super) fn template(&self) -> Template {
        if self.template.is_some() { Template::Own } else { Template::Plain }
    }

    /// Whether a reply ends where another person's words would begin.
    pub(super) fn ends_plainly(&self) -> bool {
        self.template.is_none()
    }

    /// The tokens of a conversation, up to where the model is to go on. The marks of the template are tokens of their own where
    /// the template has them, and letters in the words of a message: who could write one there could speak for Cortex.
    pub(super) fn tokens(&self, model: &LlamaModel, messages: &[Message]) -> Result<Vec<LlamaToken>, Problem> {
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        let frame = match &self.template {
            Some(template) => applied(model, template, &roles)?,
            None => plain(&roles),
        };
        let vocabulary = model.vocab();
        let mut tokens = Vec::new();
        for (index, part) in frame.split(PLACE).enumerate() {
            let is_frame = index % 2 == 0;
            let text = if is_frame { part } else { words(messages, part) };
            if !text.is_empty() {
                tokens.extend(vocabulary.tokenize(text.as_bytes(), index == 0, is_frame));
            }
        }
        Ok(tokens)
    }
}

/// The words of the message with this number.
fn words<'m>(messages: &'m [Message], number: &str) -> &'m str {
    let message = number.parse::<usize>().ok().and_then(|index| messages.get(index));
    message.map(|message| message.text.as_str()).unwrap_or_default()
}

/// Where the words of a message belong.
fn place(index: usize) -> String {
    format!("{PLACE}{index}{PLACE}")
}

/// The model's own frame around the words of messages.
fn applied(model: &LlamaModel, template: &LlamaChatTemplate, roles: &[Role]) -> Result<String, Problem> {
    let messages = roles
        .iter()
        .enumerate()
        .map(|(index, role)| LlamaChatMessage::new(role.name().to_owned(), place(index)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unusable(&error.to_string()))?;
    model.apply_chat_template(template, &messages, true).map_err(|error| unusable(&error.to_string()))
}

/// A conversation as people would write it down.
fn plain(roles: &[Role]) -> String {
    let mut text = String::new();
    for (index, role) in roles.iter().enumerate() {
        let speaker = match role {
            Role::System => "Rules",
            Role::User => "User",
            Role::Assistant => "Assistant",
        };
        // Writing to a text does not fail.
        let _ = writeln!(text, "{speaker}: {}\n", place(index));
    }
    text.push_str("Assistant:");
    text
}

fn unusable(problem: &str) -> Problem {
    Problem { problem: format!("the conversation can't be written for the model: {problem}"), fix: String::new() }
}
