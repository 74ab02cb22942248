//! From the text that a local model wrote to a [`ChatReply`]. The grammar shapes it; nothing is believed for that.

use std::collections::BTreeSet;

use cortex_core::{CallArguments, ChatReply, ChatRequest, Message, ModelCall};
use cortex_local_model::protocol::{Done, Finish};
use cortex_protocol::strict_json;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A call as the grammar has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    arguments: Map<String, Value>,
}

/// Whether a reply is a list of calls, as its first letter says.
pub(super) fn is_calls(text: &str) -> bool {
    text.starts_with('[')
}

/// Whether a text can be published while it comes: words, not JSON.
pub(super) fn is_words(text: &str) -> bool {
    !text.starts_with(['[', '{'])
}

/// Reads a reply that has ended.
///
/// # Errors
/// When it is whole and no reply to this request.
pub(super) fn read(text: &str, done: &Done, request: &ChatRequest) -> Result<ChatReply, Unreadable> {
    let reply = ChatReply {
        prompt_tokens: done.prompt_tokens,
        completion_tokens: done.reply_tokens,
        cut: match done.finish {
            Finish::Whole => None,
            Finish::Length => Some(format!("it was cut at {} tokens", done.reply_tokens)),
            Finish::Cancelled => Some("it was cancelled".to_owned()),
        },
        ..ChatReply::default()
    };
    if is_calls(text) && reply.cut.is_none() {
        return Ok(ChatReply { calls: calls(text, request)?, ..reply });
    }
    // Of calls that were cut nobody knows the rest: they are none.
    let words = if is_calls(text) { String::new() } else { text.trim().to_owned() };
    Ok(ChatReply { text: words, ..reply })
}

/// Why a reply can't be used.
pub(super) struct Unreadable(pub(super) String);

fn calls(text: &str, request: &ChatRequest) -> Result<Vec<ModelCall>, Unreadable> {
    let written: Vec<Call> =
        strict_json::read(text).map_err(|problem| Unreadable(format!("its calls can't be read: {problem}")))?;
    let offered: BTreeSet<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    if let Some(call) = written.iter().find(|call| !offered.contains(call.name.as_str())) {
        let name: String = call.name.chars().filter(|letter| !letter.is_control()).take(60).collect();
        return Err(Unreadable(format!("it calls '{name}', which it was not offered")));
    }
    let earlier: usize = request
        .messages
        .iter()
        .map(|message| match message {
            Message::Assistant { calls, .. } => calls.len(),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
        })
        .sum();
    let made = written.into_iter().enumerate().map(|(index, call)| ModelCall {
        id: format!("call-{}", earlier + index + 1),
        name: call.name,
        arguments: CallArguments::Object(call.arguments),
    });
    Ok(made.collect())
}

#[cfg(test)]
mod tests {
    use cortex_core::{Purpose, ToolDefinition, ToolKind};
    use cortex_protocol::ToolPhase;
    use serde_json::json;

    use super::*;

    fn request() -> ChatRequest {
        let tool = ToolDefinition {
            name: "go".to_owned(),
            description: String::new(),
            parameters: json!({"type": "object"}),
            phase: ToolPhase::Execution,
            phrases: Vec::new(),
            kind: ToolKind::Act,
        };
        ChatRequest {
            purpose: Purpose::Plan,
            messages: Vec::new(),
            tools: vec![tool],
            temperature: 0.0,
            max_tokens: 64,
        }
    }

    fn done(finish: Finish) -> Done {
        let (prompt_ms, reply_ms, loosened) = (1.0, 1.0, Vec::new());
        Done { id: 1, finish, prompt_tokens: 20, kept_tokens: 0, reply_tokens: 5, prompt_ms, reply_ms, loosened }
    }

    fn reply(text: &str, finish: Finish) -> Result<ChatReply, String> {
        read(text, &done(finish), &request()).map_err(|Unreadable(problem)| problem)
    }

    #[test]
    fn words_and_calls_are_told_apart_by_their_first_letter() {
        let words = reply("Hello there. [1]\n", Finish::Whole).unwrap();
        assert_eq!((words.text.as_str(), words.prompt_tokens, words.completion_tokens), ("Hello there. [1]", 20, 5));
        let calls =
            reply(r#"[{"name":"go","arguments":{"x":1}},{"name":"go","arguments":{}}]"#, Finish::Whole).unwrap().calls;
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call-1", "call-2"]);
        let decision = reply(r#"{"answer":{"decision":"EXECUTE"}}"#, Finish::Whole).unwrap();
        assert_eq!(decision.text, r#"{"answer":{"decision":"EXECUTE"}}"#);
    }

    #[test]
    fn what_the_grammar_should_have_prevented_is_no_reply() {
        for (text, says) in [
            (r#"[{"name":"fly","arguments":{}}]"#, "calls 'fly'"),
            (r#"[{"name":"go"}]"#, "missing field"),
            (r#"[{"name":"go","arguments":{"x":1,"x":2}}]"#, "given twice"),
            (r#"[{"name":"go","arguments":[]}]"#, "can't be read"),
            (r#"[{"name":"go","arguments":{}}"#, "can't be read"),
            (r#"[{"name":"go","arguments":{}}] and more"#, "can't be read"),
        ] {
            let problem = reply(text, Finish::Whole).unwrap_err();
            assert!(problem.contains(says), "{text}: {problem}");
        }
    }

    #[test]
    fn calls_that_were_cut_are_none() {
        let cut = reply(r#"[{"name":"go","arguments":{}},{"na"#, Finish::Length).unwrap();
        assert_eq!((cut.calls.len(), cut.text.as_str()), (0, ""));
        assert_eq!(cut.cut.as_deref(), Some("it was cut at 5 tokens"));
    }
}
