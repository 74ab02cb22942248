//! From the body that came back to a [`ChatReply`].
//!
//! Servers differ in almost every field, so everything that can be understood is. A body without a choice is an error, and
//! a reply that is not whole is marked as cut: nobody knows what the missing part would have said.

use std::collections::BTreeSet;

use cortex_core::fragment::one_line;
use cortex_core::{CallArguments, ChatReply, ChatRequest, Message, ModelCall};
use reqwest::StatusCode;
use serde_json::{Map, Value};

use super::failure::Failure;
use super::pictures;
use crate::repetition_loop::Text;

/// How servers say that a reply is whole: OpenAI's own words, and those of servers and gateways that pass on a model's.
const WHOLE: [&str; 11] = [
    "stop",
    "tool_calls",
    "function_call",
    "tool_use",
    "end_turn",
    "eos",
    "eos_token",
    "stop_sequence",
    "stop_token",
    "complete",
    "end",
];
/// Why Cortex itself took no more of a reply, in the place of a server's word: it repeats itself, or has no end.
pub(super) const REPEATS: &str = "repetition";
pub(super) const TOO_LONG: &str = "too_long";
/// Most characters of a server's own word for why a reply ended.
const FINISH_CHARACTERS: usize = 60;

/// Reads the body of an answer to `request`.
pub(super) fn read(body: &Value, request: &ChatRequest) -> Result<ChatReply, Failure> {
    let Some(choice) = body.get("choices").and_then(Value::as_array).and_then(|choices| choices.first()) else {
        return Err(without_choice(body));
    };
    let Some(message) = choice.get("message").filter(|message| message.is_object()) else {
        return Err(Failure::bad_reply("the answer holds no message", ""));
    };
    let (text, is_thinking) = without_thoughts(&read_text(message));
    let calls = read_calls(message, request);
    let finish = match choice.get("finish_reason") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(word)) => word.clone(),
        // In a form that nobody knows, it is a word that nobody knows.
        Some(other) => other.to_string(),
    };
    // One that came whole has cost what it costs, and is no answer all the same.
    let finish = if Text::Words.ends_in_loop(&text) { REPEATS.to_owned() } else { finish };
    let unfinished = is_thinking.then(|| "it ended within a thought".to_owned());
    let usage = |key: &str| body.get("usage").and_then(|usage| usage.get(key)).and_then(Value::as_u64).unwrap_or(0);
    Ok(ChatReply {
        text,
        calls,
        refusal: read_refusal(message),
        cut: why_cut(&finish, written(usage("completion_tokens"), request.max_tokens)).or(unfinished),
        prompt_tokens: usage("prompt_tokens"),
        completion_tokens: usage("completion_tokens"),
        ..ChatReply::default()
    })
}

/// The marks around what a model thinks aloud.
const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Bytes of JSON that make a token, about: fewer for text in languages with long tokens, more for others.
const BYTES_OF_A_TOKEN: usize = 4;
/// Tokens that a picture counts as, where the answer does not tell: what common models take for 1,280 x 720 pixels.
const TOKENS_OF_A_PICTURE: u64 = 1_200;

/// Estimates the tokens that the answer `body` does not tell of, so that a budget of tokens binds with any endpoint.
pub(super) fn estimate_untold(reply: &mut ChatReply, sent: &Value, body: &Value) {
    let estimate =
        |value: &Value| u64::try_from(value.to_string().len().div_ceil(BYTES_OF_A_TOKEN)).unwrap_or(u64::MAX);
    // Nobody reads nothing.
    if reply.prompt_tokens == 0 {
        let pictures = u64::try_from(pictures::shown_in(sent)).unwrap_or(u64::MAX);
        let text = if pictures == 0 { estimate(sent) } else { estimate(&pictures::without_pixels(sent)) };
        reply.prompt_tokens = text.saturating_add(pictures.saturating_mul(TOKENS_OF_A_PICTURE));
        reply.tokens_estimated = true;
    }
    if reply.completion_tokens == 0 {
        // What was thought cost tokens, too.
        reply.completion_tokens = body.pointer("/choices/0/message").map(estimate).unwrap_or_default();
        reply.tokens_estimated = true;
    }
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

/// The tokens of a reply that was cut. A server may cut sooner than it was asked to, and then counts fewer.
fn written(counted: u64, max_tokens: u32) -> u64 {
    let bound = u64::from(max_tokens);
    if counted == 0 { bound } else { counted.min(bound) }
}

/// Why the reply is not whole, by the server's own word. Servers that say nothing are believed. A word that is not known
/// counts as cut: it may say that something is missing, and nobody can read from it that nothing is.
fn why_cut(finish: &str, tokens: u64) -> Option<String> {
    let finish = finish.trim().to_ascii_lowercase();
    match finish.as_str() {
        "" => None,
        whole if WHOLE.contains(&whole) => None,
        "length" | "max_tokens" | "model_length" => Some(format!("it was cut at {tokens} tokens")),
        REPEATS => Some("it repeated itself without end".to_owned()),
        TOO_LONG => Some("it went on without end".to_owned()),
        "content_filter" | "safety" => Some("the endpoint's content filter withheld a part of it".to_owned()),
        other => {
            Some(format!("it ended with '{}', which may mean that it was cut", one_line(other, FINISH_CHARACTERS)))
        }
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

/// The text without what a model thought aloud before it, and whether the thought never ends.
///
/// A thought is what the content begins with, up to the last `</think>`; templates may open it in the prompt, so that only
/// its end is in the reply. Only what follows counts. Where words stand before a thought the text stays as it is: they were
/// said, and so was what comes after them.
fn without_thoughts(text: &str) -> (String, bool) {
    let (words, last) = words_and_last(text.trim());
    (words.trim().to_owned(), last.contains(OPEN))
}

/// The words of a text, and what stands after the last thought that has ended.
fn words_and_last(text: &str) -> (&str, &str) {
    let (thought, last) = text.rsplit_once(CLOSE).map_or((None, text), |(thought, last)| (Some(thought), last));
    let begins_with_it = thought.is_some_and(|thought| thought.starts_with(OPEN) || !thought.contains(OPEN));
    (if begins_with_it { last } else { text }, last)
}

/// Whether the words end a thought that they did not begin: the template of the prompt began it.
pub(super) fn thinks_unannounced(body: &Value) -> bool {
    let content = body.pointer("/choices/0/message/content").and_then(Value::as_str).unwrap_or_default();
    content.split_once(CLOSE).is_some_and(|(thought, _)| !thought.contains(OPEN))
}

/// The words of a reply that is not whole yet, as far as they are certain to be words: up to a thought, or to a possible
/// beginning of one, and without the blanks at the end.
pub(super) fn words_so_far(text: &str) -> &str {
    let (words, _) = words_and_last(text.trim_start());
    let words = words.split(OPEN).next().unwrap_or_default();
    let mark = (1..OPEN.len()).filter_map(|length| OPEN.get(..length)).find(|begun| words.ends_with(begun));
    words.strip_suffix(mark.unwrap_or_default()).unwrap_or(words).trim()
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
    let given = |call: &Value| call.get("id").and_then(Value::as_str).map(str::trim).unwrap_or_default().to_owned();
    let all_given: BTreeSet<String> = written.iter().map(given).collect();
    let mut calls: Vec<ModelCall> = Vec::with_capacity(written.len());
    let (mut used, mut next) = (BTreeSet::new(), earlier + 1);
    for (index, call) in written.iter().enumerate() {
        // Some servers leave out the wrapper.
        let function = call.get("function").unwrap_or(call);
        let mut id = given(call);
        if id.is_empty() || !used.insert(id.clone()) {
            // Made up: the place of the call, unless another call has that id.
            next = next.max(earlier + index + 1);
            while all_given.contains(&format!("call-{next}")) {
                next += 1;
            }
            id = format!("call-{next}");
            next += 1;
        }
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
                cut: None,
                prompt_tokens: 12,
                completion_tokens: 3,
                ..ChatReply::default()
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

    /// A call without an id got `call-2`, which another call of the reply had: two answers of one id.
    #[test]
    fn regression_an_id_that_was_made_up_was_that_of_another_call() {
        let reply = message(&json!({"tool_calls": [
            {"name": "a"}, {"name": "b"}, {"id": "call-1", "name": "c"}, {"id": "call-1", "name": "d"},
            {"id": " call-4", "name": "e"},
        ]}));
        let ids: Vec<String> = reply.unwrap().calls.into_iter().map(|call| call.id).collect();
        assert_eq!(ids, ["call-2", "call-3", "call-1", "call-5", "call-4"]);
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
            (json!("the template opened it</think> EXECUTE"), "EXECUTE"),
            (json!("<think>a</think>EXECUTE<think>b</think> ABORT"), "ABORT"),
            (json!("<think><think>nested</think> still thinking</think> ABORT"), "ABORT"),
        ] {
            let reply = message(&json!({"content": content})).unwrap();
            assert_eq!(reply, ChatReply { text: text.to_owned(), ..ChatReply::default() }, "{content}");
        }
    }

    /// What a model thinks after it has spoken may take back what it said: "EXECUTE <think>no, a child is there</think>"
    /// was read as EXECUTE.
    #[test]
    fn regression_a_thought_after_words_was_left_out_and_the_words_counted() {
        for content in [
            "EXECUTE <think>no, a child is there</think>",
            "Never. <think>hm</think> EXECUTE",
            "first <think>a</think>second<think>b</think>",
        ] {
            let reply = message(&json!({"content": content})).unwrap();
            assert_eq!((reply.text.as_str(), reply.cut), (content, None));
        }
        let unfinished = message(&json!({"content": "EXECUTE <think>and then it never"})).unwrap();
        assert_eq!(unfinished.cut.as_deref(), Some("it ended within a thought"));
    }

    /// A thought that the server keeps apart is not looked at, whatever it says.
    #[test]
    fn reasoning_in_fields_of_its_own_is_no_part_of_the_words() {
        for field in ["reasoning_content", "reasoning", "thinking"] {
            let reply = message(&json!({"content": "ABORT", field: "EXECUTE"})).unwrap();
            assert_eq!(reply, ChatReply { text: "ABORT".to_owned(), ..ChatReply::default() }, "{field}");
        }
    }

    /// "EXECUTE" at the bound of the tokens, or before a filter, was taken for the whole answer.
    #[test]
    fn regression_a_reply_that_was_cut_counted_as_an_answer() {
        let ended = |finish: Value| {
            let body = json!({"choices": [{"finish_reason": finish, "message": {"content": "EXECUTE"}}]});
            read(&body, &request()).unwrap().cut
        };
        for cut in
            ["length", "MAX_TOKENS", "content_filter", "SAFETY", "error", "abort", "insufficient_system_resource"]
        {
            assert!(ended(json!(cut)).is_some(), "{cut}");
        }
        assert_eq!(ended(json!("length")).as_deref(), Some("it was cut at 64 tokens"));
        // The server's own bound was lower, and ours was told.
        let sooner = json!({"choices": [{"finish_reason": "length", "message": {"content": "x"}}],
            "usage": {"completion_tokens": 12}});
        assert_eq!(read(&sooner, &request()).unwrap().cut.as_deref(), Some("it was cut at 12 tokens"));
        for whole in WHOLE {
            assert_eq!(ended(json!(whole)), None, "{whole}");
        }
        assert_eq!((ended(json!("STOP")), ended(json!(null)), ended(json!(""))), (None, None, None));
        let within_a_call = json!({"choices": [{"finish_reason": "length", "message":
            {"content": "x", "tool_calls": [{"function": {"name": "go", "arguments": "{\"to\":\"kit"}}]}}]});
        assert!(read(&within_a_call, &request()).unwrap().cut.is_some());
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
