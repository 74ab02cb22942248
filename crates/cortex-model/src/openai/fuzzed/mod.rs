//! Answers of endpoints that nobody has thought of: each is read or refused in words. And replies of models: whatever a model
//! says, a mission gets to its end on it, and calls nothing that it may not.

mod mission;

use cortex_core::Purpose;
use serde_json::json;

use super::exchange::check_json;
use super::*;

/// What a reader makes of an answer besides its text: marks of what was cut, numbers, our own words.
const OUR_WORDS: usize = 200;

/// The key of the endpoint, which one of the corpus repeats.
const KEY: &str = "sk-very-secret-0123456789";
const KEY_BEGINS: &str = "sk-v";

fn request() -> ChatRequest {
    ChatRequest { purpose: Purpose::Plan, messages: Vec::new(), tools: Vec::new(), temperature: 0.0, max_tokens: 64 }
}

/// Reads the body of a successful answer as [`OpenAiModel::chat`] does.
fn read(body: &[u8]) -> Result<(Value, ChatReply), Failure> {
    check_json(body).map_err(Failure::of_fault)?;
    let value: Value = serde_json::from_slice(body).expect("it was checked");
    let reply = reply::read(&value, &request())?;
    Ok((value, reply))
}

/// What people are told of a failure: short, nothing that a terminal would obey, and not the beginning of the key.
fn check_failure(failure: &Failure, body: &str) -> String {
    let key = ApiKey::new(KEY).expect("a key");
    let (told, hint) = (failure.told(Some(&key)), &failure.error.hint);
    assert!(!told.is_empty() && told.chars().count() <= 2 * OUR_WORDS, "{told}");
    assert!(hint.chars().count() <= OUR_WORDS, "{hint}");
    assert!(!told.chars().any(char::is_control), "{told:?}");
    let is_of_the_key = !body.replace(KEY, "").contains(KEY_BEGINS);
    assert!(!is_of_the_key || !told.contains(KEY_BEGINS), "the key is told: {told}");
    format!("{:?} {told}", failure.error.kind)
}

fn check_reply(value: &Value, reply: &ChatReply) {
    let message = value.pointer("/choices/0/message").expect("there is a message");
    let written = message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!(reply.calls.len(), written, "a call was lost or made up");
    let ids: std::collections::BTreeSet<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert!(ids.len() == written && !ids.contains(""), "two calls of one id, or one without: {:?}", reply.calls);
    if let Some("length" | "max_tokens" | "content_filter") =
        value.pointer("/choices/0/finish_reason").and_then(Value::as_str)
    {
        assert!(reply.cut.is_some(), "a reply that was cut counts as whole");
    }
    if let Some(cut) = &reply.cut {
        assert!(cut.chars().count() <= OUR_WORDS && !cut.chars().any(char::is_control), "{cut:?}");
    }
    for call in &reply.calls {
        if let cortex_core::CallArguments::Malformed { text, problem } = &call.arguments {
            assert!(text.chars().count() <= OUR_WORDS && problem.chars().count() <= OUR_WORDS, "{problem}");
            assert!(!problem.chars().any(char::is_control), "{problem:?}");
        }
    }
    let kept = serde_json::to_string(reply).expect("a reply can be written");
    assert_eq!(serde_json::from_str::<ChatReply>(&kept).expect("and read"), *reply, "the tape holds another reply");
}

#[test]
fn every_mutant_of_an_answer_is_read_or_refused_in_words() {
    cortex_fuzz::fuzz(&["fuzz/answers"], |input| {
        let text = String::from_utf8_lossy(input);
        for status in [400, 429, 503] {
            let status = reqwest::StatusCode::from_u16(status).expect("a status");
            check_failure(&Failure::of_status(status, None, &text), &text);
        }
        match read(input) {
            Err(failure) => check_failure(&failure, &text),
            Ok((value, mut reply)) => {
                check_reply(&value, &reply);
                let kinds: Vec<&str> = reply
                    .calls
                    .iter()
                    .map(|call| match call.arguments {
                        cortex_core::CallArguments::Object(_) => "call",
                        cortex_core::CallArguments::Malformed { .. } => "malformed",
                    })
                    .collect();
                let told = format!("{kinds:?} {:?} {:?} {}", reply.cut, reply.refusal.is_some(), reply.text.is_empty());
                reply::estimate_untold(&mut reply, &json!({"model": "m"}), &value);
                assert!(reply.prompt_tokens > 0 && reply.completion_tokens > 0, "an answer that cost nothing");
                told
            }
        }
    });
}
