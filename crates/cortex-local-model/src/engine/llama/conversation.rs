//! From messages to tokens: by the template of the model, or plainly where the engine does not know it.

use std::fmt::Write as _;

use cortex_local_model::protocol::{Message, Problem, Role, Template};
use llama_cpp_2::model::{AddBos, LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token_type::LlamaTokenAttr;

/// Bytes of most tokens.
const TOKEN_BYTES: usize = 64;
/// More than any token has.
const MOST_TOKEN_BYTES: usize = 4_096;

/// How conversations are written for a model.
pub(super) struct Conversations {
    template: Option<LlamaChatTemplate>,
    /// The texts that mean something to the template, such as the end of a message.
    marks: Vec<String>,
}

impl Conversations {
    pub(super) fn new(model: &LlamaModel) -> Self {
        let trial = [(Role::User, "a")].map(|(role, text)| Message { role, text: text.to_owned() });
        let own = model.chat_template(None).ok();
        let template = own.filter(|template| applied(model, template, &trial).is_ok());
        Self { template, marks: marks(model) }
    }

    pub(super) fn template(&self) -> Template {
        if self.template.is_some() { Template::Own } else { Template::Plain }
    }

    /// Whether a reply ends where another person's words would begin.
    pub(super) fn ends_plainly(&self) -> bool {
        self.template.is_none()
    }

    /// The tokens of a conversation, up to where the model is to go on.
    pub(super) fn tokens(&self, model: &LlamaModel, messages: &[Message]) -> Result<Vec<LlamaToken>, Problem> {
        let harmless: Vec<Message> = messages
            .iter()
            .map(|message| Message { text: self.without_marks(&message.text), ..message.clone() })
            .collect();
        let text = match &self.template {
            Some(template) => applied(model, template, &harmless)?,
            None => plain(&harmless),
        };
        model.str_to_token(&text, AddBos::Always).map_err(|error| unusable(&error.to_string()))
    }

    /// The text in which no mark of the template is left: whoever could write one could speak for Cortex.
    fn without_marks(&self, text: &str) -> String {
        // C has no text with a zero in it.
        let mut text = text.replace('\0', "\u{fffd}");
        while let Some(mark) = self.marks.iter().find(|mark| text.contains(mark.as_str())) {
            let mut letters = mark.chars();
            let first: String = letters.by_ref().take(1).collect();
            text = text.replace(mark.as_str(), &format!("{first}\u{2060}{}", letters.as_str()));
        }
        text
    }

    /// The bytes of a token of a reply.
    pub(super) fn bytes(&self, model: &LlamaModel, token: LlamaToken) -> Vec<u8> {
        // Marks have none.
        piece(model, token, false)
    }
}

fn piece(model: &LlamaModel, token: LlamaToken, special: bool) -> Vec<u8> {
    let short = model.token_to_piece_bytes(token, TOKEN_BYTES, special, None);
    short.or_else(|_| model.token_to_piece_bytes(token, MOST_TOKEN_BYTES, special, None)).unwrap_or_default()
}

/// The texts of all tokens that control something. One letter alone is no mark: it could not be replaced.
fn marks(model: &LlamaModel) -> Vec<String> {
    let controls = |token: &LlamaToken| {
        let attributes = model.token_attr(*token);
        attributes.contains(LlamaTokenAttr::Control) || attributes.contains(LlamaTokenAttr::UserDefined)
    };
    let texts = (0..model.n_vocab()).map(LlamaToken).filter(controls).map(|token| piece(model, token, true));
    texts
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .filter(|text| text.starts_with('<') && text.len() > 2)
        .collect()
}

fn applied(model: &LlamaModel, template: &LlamaChatTemplate, messages: &[Message]) -> Result<String, Problem> {
    let messages = messages
        .iter()
        .map(|message| LlamaChatMessage::new(message.role.name().to_owned(), message.text.clone()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unusable(&error.to_string()))?;
    model.apply_chat_template(template, &messages, true).map_err(|error| unusable(&error.to_string()))
}

/// A conversation as people would write it down.
fn plain(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        let speaker = match message.role {
            Role::System => "Rules",
            Role::User => "User",
            Role::Assistant => "Assistant",
        };
        // Writing to a text does not fail.
        let _ = writeln!(text, "{speaker}: {}\n", message.text.replace("\nUser:", "\nUser :"));
    }
    text.push_str("Assistant:");
    text
}

fn unusable(problem: &str) -> Problem {
    Problem { problem: format!("the conversation can't be written for the model: {problem}"), fix: String::new() }
}
