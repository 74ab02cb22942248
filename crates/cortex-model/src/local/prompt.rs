//! From our messages to those of a local model. Its chat template knows no tools, so they and their calls are told in words.
//!
//! What changes least stands first, since the model does not read again what a request begins with as the one before did. The
//! tools of a plan stay the same for a mission: they stand in the rules. A decision has the tool of its step: it stands last.

use cortex_core::{CallArguments, ChatRequest, Fragment, Message, ModelCall, Purpose, ToolDefinition};
use cortex_local_model::protocol::{self, Ask, Role, Tool};
use serde_json::{Value, json};

use super::NOT_SEEN;

/// What the model is asked.
pub(super) fn ask(id: u64, request: &ChatRequest) -> Ask {
    let answer = request.answer_schema().map(|(_, schema)| schema);
    let mut messages: Vec<protocol::Message> = Vec::with_capacity(request.messages.len() + 1);
    for message in &request.messages {
        let (role, text) = written(message);
        add(&mut messages, role, text);
    }
    let told = how_to_reply(&request.tools, answer.as_ref());
    match messages.first_mut() {
        Some(rules) if request.purpose == Purpose::Plan && rules.role == Role::System => {
            rules.text = format!("{}\n\n{told}", rules.text);
        }
        _ => add(&mut messages, Role::User, told),
    }
    Ask {
        id,
        messages,
        tools: request.tools.iter().map(tool).collect(),
        answer,
        temperature: request.temperature,
        max_tokens: request.max_tokens,
    }
}

/// Adds a message; what one side says at once is one message, as many templates want it.
fn add(messages: &mut Vec<protocol::Message>, role: Role, text: String) {
    match messages.last_mut() {
        Some(last) if last.role == role => last.text = format!("{}\n\n{text}", last.text),
        _ => messages.push(protocol::Message { role, text }),
    }
}

fn written(message: &Message) -> (Role, String) {
    match message {
        Message::System { fragments } => (Role::System, text(fragments)),
        Message::User { fragments } => (Role::User, text(fragments)),
        Message::Assistant { text, calls } if calls.is_empty() => (Role::Assistant, text.clone()),
        // As it wrote them.
        Message::Assistant { calls, .. } => (Role::Assistant, calls.iter().map(call).collect::<Value>().to_string()),
        Message::Tool { id: _, name, content } => {
            (Role::User, format!("From Cortex: the result of {name}: {}{}", content.render(), unseen(content)))
        }
    }
}

/// What is said of the pictures that a tool took: this model is shown none.
fn unseen(content: &Fragment) -> String {
    let Fragment::ToolResult { outcome } = content else { return String::new() };
    outcome
        .pictures
        .iter()
        .map(|picture| format!("\nPicture {} of {}: {NOT_SEEN}", picture.id, picture.source))
        .collect()
}

fn text(fragments: &[Fragment]) -> String {
    let pieces: Vec<String> = fragments.iter().map(Fragment::render).collect();
    pieces.join("\n\n")
}

fn call(call: &ModelCall) -> Value {
    let arguments = match &call.arguments {
        CallArguments::Object(arguments) => Value::Object(arguments.clone()),
        CallArguments::Malformed { text, .. } => json!({"unreadable": text}),
    };
    json!({"name": call.name, "arguments": arguments})
}

fn tool(tool: &ToolDefinition) -> Tool {
    Tool { name: tool.name.clone(), parameters: tool.parameters.clone() }
}

/// The tools, and the form of a reply.
fn how_to_reply(tools: &[ToolDefinition], answer: Option<&Value>) -> String {
    let mut lines = Vec::new();
    if !tools.is_empty() {
        lines.push("From Cortex: the tools, each with the JSON Schema of its arguments:".to_owned());
        lines.extend(tools.iter().map(|tool| format!("- {}: {} {}", tool.name, tool.described(), tool.parameters)));
        lines.push(
            "To call tools, reply with nothing but a JSON list: [{\"name\": \"TOOL\", \"arguments\": {...}}]."
                .to_owned(),
        );
    }
    lines.push(match answer {
        None if tools.is_empty() => "From Cortex: reply in plain words.".to_owned(),
        None => "To say something instead, reply in plain words.".to_owned(),
        Some(schema) => {
            format!("From Cortex: to decide, reply with nothing but JSON that fits this JSON Schema: {schema}")
        }
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use cortex_core::ToolKind;
    use cortex_protocol::{PictureRef, ToolOutcome, ToolPhase};

    use super::*;

    fn go() -> ToolDefinition {
        ToolDefinition {
            name: "base-go_to".to_owned(),
            description: "Drives.".to_owned(),
            parameters: json!({"type": "object"}),
            phase: ToolPhase::Execution,
            phrases: Vec::new(),
            kind: ToolKind::Act,
        }
    }

    fn request(purpose: Purpose) -> ChatRequest {
        let called = ModelCall {
            id: "call-1".to_owned(),
            name: "base-go_to".to_owned(),
            arguments: CallArguments::Object(json!({"place": "kitchen"}).as_object().cloned().unwrap()),
        };
        let messages = vec![
            Message::System { fragments: vec![Fragment::Rules { text: "Be careful.".to_owned() }] },
            Message::User { fragments: vec![Fragment::Task { text: "go".to_owned() }] },
            Message::Assistant { text: String::new(), calls: vec![called] },
            Message::Tool {
                id: "call-1".to_owned(),
                name: "base-go_to".to_owned(),
                content: Fragment::ToolResult { outcome: ToolOutcome::success(json!("arrived")) },
            },
            Message::User { fragments: vec![Fragment::Notice { text: "Go on.".to_owned() }] },
        ];
        ChatRequest { purpose, messages, tools: vec![go()], temperature: 0.0, max_tokens: 50 }
    }

    #[test]
    fn tools_and_their_calls_are_told_in_words_and_speakers_take_turns() {
        let asked = ask(3, &request(Purpose::Plan));
        let said: Vec<(Role, &str)> =
            asked.messages.iter().map(|message| (message.role, message.text.as_str())).collect();
        let [(Role::System, rules), (Role::User, task), (Role::Assistant, calls), (Role::User, result)] =
            said.as_slice()
        else {
            panic!("{said:?}")
        };
        assert!(rules.starts_with("Be careful.\n\nFrom Cortex: the tools"), "{rules}");
        assert!(rules.contains("- base-go_to: [act] Drives. {\"type\":\"object\"}"), "{rules}");
        assert!(task.contains("\"go\""), "{task}");
        assert_eq!(*calls, r#"[{"arguments":{"place":"kitchen"},"name":"base-go_to"}]"#);
        assert!(result.starts_with("From Cortex: the result of base-go_to: \"arrived\"\n\n"), "{result}");
        assert_eq!((asked.id, asked.max_tokens, asked.tools.len(), &asked.answer), (3, 50, 1, &None));
    }

    #[test]
    fn regression_the_model_is_told_that_it_can_not_see_the_pictures_of_tools() {
        let picture = |id: &str| PictureRef {
            id: id.to_owned(),
            source: "/camera/image_raw".to_owned(),
            media_type: "image/jpeg".to_owned(),
            width: 640,
            height: 480,
        };
        let outcome = ToolOutcome { pictures: vec![picture("1a"), picture("2b")], ..ToolOutcome::success(json!({})) };
        let message = Message::Tool {
            id: "call-1".to_owned(),
            name: "pictures-take".to_owned(),
            content: Fragment::ToolResult { outcome },
        };
        let (_, told) = written(&message);
        let ends =
            format!("\nPicture 1a of /camera/image_raw: {NOT_SEEN}\nPicture 2b of /camera/image_raw: {NOT_SEEN}");
        assert!(told.ends_with(&ends), "{told}");
    }

    /// Decisions on two steps differ in their ends alone.
    #[test]
    fn what_changes_from_step_to_step_stands_last() {
        let asked = ask(1, &request(Purpose::Confirm));
        let last = asked.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
        assert!(last.contains("- base-go_to:") && last.contains("JSON Schema: {"), "{last}");
        let rules = asked.messages.first().map(|message| message.text.as_str());
        assert_eq!(rules, Some("Be careful."));
        assert!(asked.answer.is_some());
    }
}
