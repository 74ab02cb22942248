//! What a scenario's model says, as a server of the OpenAI form sends it.

use cortex_core::{CallArguments, ChatReply, ModelErrorKind};
use cortex_testkit::{Line, Served};
use serde_json::{Value, json};

/// The line as it is served. What happens in a model's adapter can't be had over a wire.
pub(crate) fn served(line: &Line) -> Served {
    match line {
        Line::Reply(reply) => Served::Raw(200, completion(reply).to_string()),
        Line::Fail(error) => match error.kind {
            ModelErrorKind::Timeout => Served::Hang,
            ModelErrorKind::Unauthorized => Served::Raw(401, "{}".to_owned()),
            _ => Served::Raw(500, "{}".to_owned()),
        },
        Line::After(time, line) => Served::After(*time, Box::new(served(line))),
        Line::Hang => Served::Hang,
        Line::Panic => panic!("no server makes the adapter of a model panic; take away on_ros"),
    }
}

fn completion(reply: &ChatReply) -> Value {
    let calls: Vec<Value> = reply
        .calls
        .iter()
        .map(|call| {
            let arguments = match &call.arguments {
                CallArguments::Object(arguments) => Value::Object(arguments.clone()).to_string(),
                CallArguments::Malformed { text, .. } => text.clone(),
            };
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        })
        .collect();
    let finish = match (&reply.cut, calls.is_empty()) {
        (Some(_), _) => "length",
        (None, true) => "stop",
        (None, false) => "tool_calls",
    };
    let mut message = json!({"role": "assistant", "content": reply.text, "refusal": reply.refusal});
    if let (Some(fields), false) = (message.as_object_mut(), calls.is_empty()) {
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    json!({
        "id": "completion",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 0, "completion_tokens": reply.completion_tokens, "total_tokens": reply.completion_tokens}
    })
}
