//! Scripts for the model of a story, and what it was asked.

use cortex_testkit::{OpenAiServer, Served};
use serde_json::Value;

/// The model calls tools: wire names and arguments.
#[must_use]
pub fn calls<const N: usize>(calls: [(&str, Value); N]) -> Served {
    Served::Calls(calls.map(|(name, arguments)| (name.to_owned(), arguments)).to_vec())
}

/// The model says something.
#[must_use]
pub fn says(text: &str) -> Served {
    Served::Text(text.to_owned())
}

/// A model with this script.
///
/// # Panics
/// When no port can be had.
pub async fn model(script: impl IntoIterator<Item = Served>) -> OpenAiServer {
    OpenAiServer::start(script).await.expect("a free port")
}

/// What the model was told in each request: the texts of all messages, with line feeds.
#[must_use]
pub fn prompts(model: &OpenAiServer) -> Vec<String> {
    let text_of = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    let told = |request: &Value| {
        let messages = request["messages"].as_array().into_iter().flatten();
        messages.map(text_of).collect::<Vec<_>>().join("\n")
    };
    model.requests().iter().map(told).collect()
}
