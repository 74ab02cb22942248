//! From our messages to the body that is sent.

use std::sync::atomic::{AtomicBool, Ordering};

use cortex_core::{CallArguments, ChatRequest, Fragment, Message, ModelCall, Purpose, ToolDefinition};
use serde_json::{Map, Value, json};

use super::pictures::Sight;
use crate::choice::OPENAI_BASE_URL;
use crate::settings::{Streaming, Structured};

/// What an endpoint calls its parameters; learnt from its refusals, since no endpoint tells beforehand.
#[derive(Debug)]
pub(super) struct Dialect {
    /// `max_completion_tokens` rather than `max_tokens`.
    completion_tokens: AtomicBool,
    /// Reasoning models refuse any temperature but their own.
    takes_temperature: AtomicBool,
    /// Whether an answer that has a schema is asked for in it.
    takes_schema: AtomicBool,
    /// Whether a plan or an answer is asked for as a stream.
    streams: AtomicBool,
    /// Whether a stream is asked to tell the tokens that it took.
    tells_usage: AtomicBool,
}

impl Dialect {
    pub(super) fn for_endpoint(base_url: &str, structured: Structured, streaming: Streaming) -> Self {
        Self {
            // The public endpoint knows only the new name for its newer models; many others know only the old one.
            completion_tokens: AtomicBool::new(base_url == OPENAI_BASE_URL),
            takes_temperature: AtomicBool::new(true),
            takes_schema: AtomicBool::new(structured != Structured::Off),
            streams: AtomicBool::new(streaming == Streaming::On),
            tells_usage: AtomicBool::new(true),
        }
    }

    /// Whether this request asks for an answer in a schema.
    pub(super) fn asks_for_schema(&self, request: &ChatRequest) -> bool {
        request.answer_schema().is_some() && self.takes_schema.load(Ordering::Relaxed)
    }

    /// Whether this request asks for a stream. A decision is a few words: nothing can be cut from it, and nobody waits for its
    /// first one.
    pub(super) fn streams(&self, request: &ChatRequest) -> bool {
        request.purpose == Purpose::Plan && self.streams.load(Ordering::Relaxed)
    }

    /// Asks for no schema any more. Returns whether it did until now.
    pub(super) fn give_up_schema(&self) -> bool {
        self.takes_schema.swap(false, Ordering::Relaxed)
    }

    /// Leaves out or renames a parameter that was refused. Returns whether the next request will differ.
    pub(super) fn adapt(&self, parameter: &str) -> bool {
        match parameter {
            "temperature" => self.takes_temperature.swap(false, Ordering::Relaxed),
            // Only from the old name to the new one: an endpoint that knows neither would be asked for ever.
            "max_tokens" => !self.completion_tokens.swap(true, Ordering::Relaxed),
            "stream" => self.streams.swap(false, Ordering::Relaxed),
            usage if usage.starts_with("stream_options") => self.tells_usage.swap(false, Ordering::Relaxed),
            _ => false,
        }
    }
}

/// The body of a chat completion request; with the schema of the answer only if it is wanted.
pub(super) fn body(model: &str, request: &ChatRequest, dialect: &Dialect, sight: &Sight, with_schema: bool) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), sight.with_pictures(&request.messages, message).into());
    // An empty list of tools is refused by several endpoints.
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    if dialect.takes_temperature.load(Ordering::Relaxed) {
        body.insert("temperature".to_owned(), temperature(request.temperature));
    }
    let tokens = if dialect.completion_tokens.load(Ordering::Relaxed) { "max_completion_tokens" } else { "max_tokens" };
    body.insert(tokens.to_owned(), json!(request.max_tokens));
    let streams = dialect.streams(request);
    body.insert("stream".to_owned(), json!(streams));
    if streams && dialect.tells_usage.load(Ordering::Relaxed) {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if let Some((name, schema)) = request.answer_schema().filter(|_| with_schema) {
        let format = json!({"type": "json_schema", "json_schema": {"name": name, "strict": true, "schema": schema}});
        body.insert("response_format".to_owned(), format);
    }
    Value::Object(body)
}

/// The temperature as people wrote it: 0.2, not 0.20000000298023224.
fn temperature(value: f32) -> Value {
    json!(value.to_string().parse::<f64>().unwrap_or(0.0))
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { fragments } => json!({"role": "system", "content": text(fragments)}),
        Message::User { fragments } => json!({"role": "user", "content": text(fragments)}),
        Message::Assistant { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Message::Assistant { text, calls } => json!({
            "role": "assistant",
            "content": if text.is_empty() { Value::Null } else { json!(text) },
            "tool_calls": calls.iter().map(call).collect::<Value>(),
        }),
        Message::Tool { id, name: _, content } => {
            json!({"role": "tool", "tool_call_id": id, "content": content.render()})
        }
    }
}

fn text(fragments: &[Fragment]) -> String {
    let pieces: Vec<String> = fragments.iter().map(Fragment::render).collect();
    pieces.join("\n\n")
}

fn call(call: &ModelCall) -> Value {
    let arguments = match &call.arguments {
        CallArguments::Object(arguments) => Value::Object(arguments.clone()),
        // Servers parse the arguments of earlier calls and fail on what is not JSON.
        CallArguments::Malformed { text, .. } => json!({"unreadable": text}),
    };
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments.to_string()},
    })
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.described(), "parameters": tool.parameters},
    })
}

#[cfg(test)]
mod tests {
    use cortex_protocol::ToolOutcome;

    use super::*;

    fn request(messages: Vec<Message>, tools: Vec<ToolDefinition>) -> ChatRequest {
        ChatRequest { purpose: Purpose::Plan, messages, tools, temperature: 0.2, max_tokens: 500 }
    }

    fn dialect(base_url: &str) -> Dialect {
        Dialect::for_endpoint(base_url, Structured::Auto, Streaming::On)
    }

    #[test]
    fn a_conversation_is_sent_with_its_calls_and_their_results() {
        let arguments = json!({"place": "kitchen"}).as_object().cloned().unwrap();
        let good = ModelCall {
            id: "call_0_1".to_owned(),
            name: "base-go_to".to_owned(),
            arguments: CallArguments::Object(arguments),
        };
        let broken = ModelCall {
            id: "call_0_2".to_owned(),
            name: "light-set".to_owned(),
            arguments: CallArguments::Malformed { text: "{on".to_owned(), problem: "cut".to_owned() },
        };
        let messages = vec![
            Message::System {
                fragments: vec![
                    Fragment::Rules { text: "Be careful.".to_owned() },
                    Fragment::Identity { text: "A robot.".to_owned() },
                ],
            },
            Message::User { fragments: vec![Fragment::Task { text: "go".to_owned() }] },
            Message::Assistant { text: String::new(), calls: vec![good, broken] },
            Message::Tool {
                id: "call_0_1".to_owned(),
                name: "base-go_to".to_owned(),
                content: Fragment::ToolResult { outcome: ToolOutcome::success(json!("arrived")) },
            },
            Message::Assistant { text: "Done.".to_owned(), calls: Vec::new() },
        ];
        let tool = ToolDefinition {
            name: "base-go_to".to_owned(),
            description: "Drives.".to_owned(),
            parameters: json!({"type": "object"}),
            phase: cortex_protocol::ToolPhase::Execution,
            phrases: vec!["go to {place}".to_owned()],
            kind: cortex_core::ToolKind::Act,
        };
        let sent =
            body("qwen3", &request(messages, vec![tool]), &dialect("http://localhost/v1"), &Sight::new(None), true);
        assert_eq!(
            sent,
            json!({
                "model": "qwen3",
                "messages": [
                    {"role": "system", "content": "Be careful.\n\nThe robot: A robot."},
                    {"role": "user", "content": "The task, in the person's words: \"go\""},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "call_0_1", "type": "function",
                         "function": {"name": "base-go_to", "arguments": "{\"place\":\"kitchen\"}"}},
                        {"id": "call_0_2", "type": "function",
                         "function": {"name": "light-set", "arguments": "{\"unreadable\":\"{on\"}"}},
                    ]},
                    {"role": "tool", "tool_call_id": "call_0_1", "content": "\"arrived\""},
                    {"role": "assistant", "content": "Done."},
                ],
                "tools": [{"type": "function", "function":
                    {"name": "base-go_to", "description": "[act] Drives.", "parameters": {"type": "object"}}}],
                "temperature": 0.2,
                "max_tokens": 500,
                "stream": true, "stream_options": {"include_usage": true},
            })
        );
    }

    #[test]
    fn without_tools_none_are_mentioned_and_the_public_endpoint_gets_its_own_names() {
        let sent = body("gpt", &request(Vec::new(), Vec::new()), &dialect(OPENAI_BASE_URL), &Sight::new(None), true);
        assert_eq!(
            sent,
            json!({
                "model": "gpt", "messages": [], "temperature": 0.2, "max_completion_tokens": 500, "stream": true, "stream_options": {"include_usage": true},
            })
        );
    }

    #[test]
    fn a_decision_is_asked_for_in_its_schema_and_a_plan_is_not() {
        let confirm = ChatRequest { purpose: Purpose::Confirm, ..request(Vec::new(), Vec::new()) };
        let sent = body("m", &confirm, &dialect("http://localhost/v1"), &Sight::new(None), true);
        let format = sent.get("response_format").unwrap();
        assert_eq!(format.pointer("/json_schema/name"), Some(&json!("decision")));
        assert_eq!(format.pointer("/json_schema/schema/required"), Some(&json!(["answer"])));
        assert!(format.to_string().len() < 520, "{} bytes in each confirmation", format.to_string().len());
        for (request, with_schema) in [(confirm, false), (request(Vec::new(), Vec::new()), true)] {
            let sent = body("m", &request, &dialect("http://localhost/v1"), &Sight::new(None), with_schema);
            assert_eq!(sent.get("response_format"), None);
        }
    }

    #[test]
    fn a_refused_parameter_is_given_up_once() {
        let dialect = dialect("http://localhost/v1");
        let adapted: Vec<bool> = ["temperature", "temperature", "max_tokens", "max_tokens", "messages"]
            .iter()
            .map(|name| dialect.adapt(name))
            .collect();
        assert_eq!(adapted, [true, false, true, false, false]);
        assert_eq!(
            body("m", &request(Vec::new(), Vec::new()), &dialect, &Sight::new(None), true),
            json!({"model": "m", "messages": [], "max_completion_tokens": 500, "stream": true, "stream_options": {"include_usage": true}})
        );
    }
}
