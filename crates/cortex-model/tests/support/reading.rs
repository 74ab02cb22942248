//! Asking the reader, and showing its replies in one line.
#![allow(dead_code, reason = "each test asks in its own way")]

use cortex_core::{CallArguments, ChatModel as _, ChatReply, ChatRequest, Fragment, Message, Purpose, ToolDefinition};
use cortex_model::Reflex;
use serde_json::Value;

pub(crate) fn request(task: &str, tools: Vec<ToolDefinition>, conversation: Vec<Message>) -> ChatRequest {
    let mut messages = vec![
        Message::System { fragments: vec![Fragment::Rules { text: "Rules.".to_owned() }] },
        Message::User { fragments: vec![Fragment::Task { text: task.to_owned() }] },
    ];
    messages.extend(conversation);
    ChatRequest { purpose: Purpose::Plan, messages, tools, temperature: 0.2, max_tokens: 4_096 }
}

pub(crate) async fn ask(request: &ChatRequest) -> ChatReply {
    Reflex::default().chat(request).await.unwrap()
}

/// The reply in one line: the calls, `!` and the refusal, or the words.
pub(crate) fn shown(reply: &ChatReply) -> String {
    if let Some(refusal) = &reply.refusal {
        assert!(reply.calls.is_empty() && reply.text.is_empty(), "a refusal does nothing else: {reply:?}");
        return format!("! {refusal}");
    }
    if reply.calls.is_empty() {
        return reply.text.clone();
    }
    assert!(reply.text.is_empty(), "{reply:?}");
    let calls: Vec<String> = reply
        .calls
        .iter()
        .map(|call| match &call.arguments {
            CallArguments::Object(arguments) if arguments.is_empty() => call.name.clone(),
            CallArguments::Object(arguments) => format!("{} {}", call.name, Value::Object(arguments.clone())),
            CallArguments::Malformed { .. } => panic!("{call:?}"),
        })
        .collect();
    calls.join(" | ")
}

/// Collects what does not come out as expected, so that one run shows every sentence that fails.
#[derive(Default)]
pub(crate) struct Table(Vec<String>);

impl Table {
    pub(crate) fn row(&mut self, task: &str, reply: &str, expected: &str) {
        if reply != expected {
            self.0.push(format!("{task}\n    expected: {expected}\n    reply:    {reply}"));
        }
    }

    /// A refusal that says this.
    pub(crate) fn refused(&mut self, task: &str, reply: &str, says: &str) {
        if !(reply.starts_with("! ") && reply.contains(says)) {
            self.0.push(format!("{task}\n    should refuse and say: {says}\n    reply: {reply}"));
        }
    }

    pub(crate) fn check(self) {
        assert!(self.0.is_empty(), "{} sentences:\n{}", self.0.len(), self.0.join("\n"));
    }
}

pub(crate) async fn planned(task: &str, tools: Vec<ToolDefinition>) -> String {
    shown(&ask(&request(task, tools, Vec::new())).await)
}
