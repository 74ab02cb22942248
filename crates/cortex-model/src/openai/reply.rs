//! From the body that came back to a [`ChatReply`].
//!
//! Servers differ in almost every field, so everything that can be understood is; what could change the meaning of a
//! call (no choice at all, a reply cut within its calls) is an error instead.

use std::collections::BTreeSet;

use cortex_core::{CallArguments, ChatReply, ChatRequest, Message, ModelCall};
use reqwest::StatusCode;
use serde_json::{Map, Value};

use super::failure::Failure;

/// Reads the body of an answer to `request`.
pub(super) fn read(body: &Value, request: &ChatRequest) -> Result<ChatReply, Failure> {
    let Some(choice) = body.get("choices").and_then(Value::as_array).and_then(|choices| choices.first()) else {
        return Err(without_choice(body));
    };
    let Some(message) = choice.get("message").filter(|message| message.is_object()) else {
        return Err(Failure::bad_reply("the answer holds no message", ""));
    };
    let calls = read_calls(message, request);
    let text = without_thoughts(&read_text(message));
    let finish = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    if finish == "length" && (!calls.is_empty() || text.is_empty()) {
        return Err(Failure::bad_reply(
            format!("the answer was cut at {} tokens, before it was complete", request.max_tokens),
            "Use a model that thinks less before it answers.",
        ));
    }
    let withheld = (finish == "content_filter" && calls.is_empty() && text.is_empty())
        .then(|| "The endpoint's content filter withheld the answer.".to_owned());
    let usage = |key: &str| body.get("usage").and_then(|usage| usage.get(key)).and_then(Value::as_u64).unwrap_or(0);
    Ok(ChatReply {
        text,
        calls,
        refusal: read_refusal(message).or(withheld),
        prompt_tokens: usage("prompt_tokens"),
        completion_tokens: usage("completion_tokens"),
    })
}

/// Some gateways answer 200 and put the error into the body.
fn without_choice(body: &Value) -> Failure {
    match body.get("error").filter(|error| !error.is_null()) {
        Some(error) => {
            let status = error
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok())
                .filter(|status| status.is_client_error() || status.is_server_error());
            Failure::of_status(status.unwrap_or(StatusCode::BAD_GATEWAY), None, &body.to_string())
        }
        None => Failure::bad_reply("the answer holds no choice", "Check that the URL is the base of a chat endpoint."),
    }
}

/// The content: text, a list of parts, or nothing.
fn read_text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part.as_str().or_else(|| part.get("text").and_then(Value::as_str)))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn read_refusal(message: &Value) -> Option<String> {
    let in_parts = message
        .get("content")
        .and_then(Value::as_array)
        .and_then(|parts| parts.iter().find_map(|part| part.get("refusal").and_then(Value::as_str)));
    let refusal = message.get("refusal").and_then(Value::as_str).or(in_parts)?;
    (!refusal.trim().is_empty()).then(|| refusal.trim().to_owned())
}

/// The text without what a model thought aloud. Templates may open the thought in the prompt, so that only its end is
/// in the reply; a thought that never ends is all there is.
fn without_thoughts(text: &str) -> String {
    const CLOSE: &str = "</think>";
    let mut kept = String::new();
    for (index, piece) in text.split("<think>").enumerate() {
        // The first piece is before any thought; each other one begins within one.
        let spoken = if index == 0 { Some(piece) } else { piece.split_once(CLOSE).map(|(_, after)| after) };
        let Some(spoken) = spoken else { continue };
        match spoken.rsplit_once(CLOSE) {
            Some((_, after)) => kept = after.to_owned(),
            None => kept.push_str(spoken),
        }
    }
    kept.trim().to_owned()
}

fn read_calls(message: &Value, request: &ChatRequest) -> Vec<ModelCall> {
    let earlier: usize = request
        .messages
        .iter()
        .map(|message| match message {
            Message::Assistant { calls, .. } => calls.len(),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
        })
        .sum();
    let written = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut calls: Vec<ModelCall> = Vec::with_capacity(written.len());
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    for (index, call) in written.iter().enumerate() {
        // Some servers leave out the wrapper.
        let function = call.get("function").unwrap_or(call);
        let id = call.get("id").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let id = if id.is_empty() || !ids.insert(id) { format!("call-{}", earlier + index + 1) } else { id.to_owned() };
        calls.push(ModelCall {
            id,
            name: function.get("name").and_then(Value::as_str).unwrap_or_default().trim().to_owned(),
            arguments: read_arguments(function.get("arguments")),
        });
    }
    calls
}

fn read_arguments(written: Option<&Value>) -> CallArguments {
    match written {
        None | Some(Value::Null) => CallArguments::Object(Map::new()),
        Some(Value::Object(arguments)) => CallArguments::Object(arguments.clone()),
        Some(Value::String(text)) => CallArguments::read(text),
        Some(other) => CallArguments::read(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use cortex_core::{ModelErrorKind, Purpose};
    use serde_json::json;

    use super::*;

    fn request() -> ChatRequest {
        ChatRequest {
            purpose: Purpose::Plan,
            messages: Vec::new(),
            tools: Vec::new(),
            temperature: 0.0,
            max_tokens: 64,
        }
    }

    fn message(message: &Value) -> Result<ChatReply, Failure> {
        read(&json!({"choices": [{"message": message}]}), &request())
    }

    fn object(value: Value) -> CallArguments {
        CallArguments::Object(value.as_object().cloned().unwrap())
    }

    #[test]
    fn a_reply_after_the_book_is_read_whole() {
        let body = json!({
            "id": "x", "object": "chat.completion", "choices": [{
                "index": 0, "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": "Going.", "refusal": null, "tool_calls": [
                    {"id": "a1", "type": "function", "function": {"name": "go", "arguments": "{\"to\": \"x\"}"}}
                ]}
            }],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3},
        });
        assert_eq!(
            read(&body, &request()),
            Ok(ChatReply {
                text: "Going.".to_owned(),
                calls: vec![ModelCall {
                    id: "a1".to_owned(),
                    name: "go".to_owned(),
                    arguments: object(json!({"to": "x"})),
                }],
                refusal: None,
                prompt_tokens: 12,
                completion_tokens: 3,
            })
        );
    }

    #[test]
    fn calls_are_read_in_every_form_that_servers_use() {
        let reply = message(&json!({"content": null, "tool_calls": [
            {"function": {"name": "a", "arguments": {"x": 1}}},
            {"id": "", "type": null, "function": {"name": "b"}},
            {"id": "same", "function": {"name": "c", "arguments": ""}},
            {"id": "same", "name": "d", "arguments": "{\"y\": [2]}"},
            {"id": 7, "function": {"name": "e", "arguments": "{\"cut"}},
            {"id": "f", "function": {"name": null, "arguments": 5}},
        ]}))
        .unwrap();
        let read: Vec<(&str, &str)> = reply.calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
        assert_eq!(
            read,
            [("call-1", "a"), ("call-2", "b"), ("same", "c"), ("call-4", "d"), ("call-5", "e"), ("f", "")]
        );
        let arguments: Vec<&CallArguments> = reply.calls.iter().map(|call| &call.arguments).collect();
        assert_eq!(arguments[0], &object(json!({"x": 1})));
        assert_eq!(arguments[1], &object(json!({})));
        assert_eq!(arguments[2], &object(json!({})));
        assert_eq!(arguments[3], &object(json!({"y": [2]})));
        assert!(matches!(arguments[4], CallArguments::Malformed { .. }), "{arguments:?}");
        assert!(matches!(arguments[5], CallArguments::Malformed { .. }), "{arguments:?}");
    }

    #[test]
    fn ids_that_are_made_up_go_on_counting_through_a_conversation() {
        let earlier = ModelCall { id: "call-1".to_owned(), name: "a".to_owned(), arguments: object(json!({})) };
        let messages = vec![Message::Assistant { text: String::new(), calls: vec![earlier] }];
        let body = json!({"choices": [{"message": {"tool_calls": [{"function": {"name": "b"}}]}}]});
        let reply = read(&body, &ChatRequest { messages, ..request() }).unwrap();
        assert_eq!(reply.calls[0].id, "call-2");
    }

    #[test]
    fn words_are_read_in_every_form_that_servers_use() {
        for (content, text) in [
            (json!("hello"), "hello"),
            (json!(null), ""),
            (json!(7), ""),
            (json!([{"type": "text", "text": "one"}, {"type": "image"}, "two"]), "one\ntwo"),
            (json!("<think>hm\n</think>\nEXECUTE"), "EXECUTE"),
            (json!("first <think>a</think>second<think>b</think>"), "first second"),
            (json!("the template opened it</think> EXECUTE"), "EXECUTE"),
            (json!("EXECUTE <think>and then it never"), "EXECUTE"),
            (json!("<think><think>nested</think> still thinking</think> ABORT"), "ABORT"),
        ] {
            let reply = message(&json!({"content": content})).unwrap();
            assert_eq!(reply, ChatReply { text: text.to_owned(), ..ChatReply::default() }, "{content}");
        }
    }

    #[test]
    fn a_refusal_is_kept_apart_from_the_words() {
        for message_body in [
            json!({"content": null, "refusal": " I can't. "}),
            json!({"content": [{"type": "refusal", "refusal": "I can't."}]}),
        ] {
            assert_eq!(message(&message_body).unwrap().refusal.as_deref(), Some("I can't."));
        }
    }

    #[test]
    fn what_has_no_usable_answer_is_a_bad_reply() {
        for body in [
            json!({}),
            json!([]),
            json!("text"),
            json!({"choices": []}),
            json!({"choices": {"message": {}}}),
            json!({"choices": [{"text": "old form"}]}),
            json!({"choices": [{"finish_reason": "length", "message": {"content": ""}}]}),
            json!({"choices": [{"finish_reason": "length", "message": {"content": "<think>too long"}}]}),
            json!({"choices": [{"finish_reason": "length", "message":
                {"content": "x", "tool_calls": [{"function": {"name": "go", "arguments": "{\"to\":\"kit"}}]}}]}),
        ] {
            let failure = read(&body, &request()).unwrap_err();
            assert_eq!((failure.error.kind, failure.may_pass), (ModelErrorKind::BadReply, false), "{body}");
        }
    }

    #[test]
    fn an_error_in_a_good_status_is_still_an_error() {
        let limited = json!({"error": {"code": 429, "message": "slow down"}});
        let failure = read(&limited, &request()).unwrap_err();
        assert_eq!(failure.error.kind, ModelErrorKind::RateLimited);
        let unknown = json!({"choices": [], "error": "upstream is gone"});
        let failure = read(&unknown, &request()).unwrap_err();
        assert_eq!(failure.error.kind, ModelErrorKind::ServerFailed);
        assert!(failure.error.message.contains("upstream is gone"), "{failure:?}");
    }
}
