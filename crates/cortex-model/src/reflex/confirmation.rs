//! Whether a step of a plan runs now.
//!
//! There is little to decide: the person said what is to be done, in which order. A step waits while something is
//! still in flight, since "then" means afterwards; and a step whose arguments still refer to something that never came
//! is not run. What an earlier step returned is put into words where a text is wanted.

use cortex_core::{CallArguments, ChatReply, ChatRequest, Fragment, Message, ModelCall, output_refs};
use cortex_protocol::ToolCall;
use serde_json::Value;

use super::readable;
use super::schema::{self, Kind};

/// Answers as the core reads it: a yes is EXECUTE alone, or the call alone.
pub(super) fn confirm(request: &ChatRequest) -> ChatReply {
    let step = fragments(request).filter_map(|fragment| match fragment {
        Fragment::Step { call, .. } => Some(call),
        _ => None,
    });
    let Some(call) = step.last() else { return said("ABORT\nThere is no step to decide upon.") };
    if is_anything_in_flight(request) {
        return said("CONTINUE");
    }
    let open = output_refs::references(&call.arguments);
    match open.first() {
        None => in_words(request, call)
            .map_or_else(|| said("EXECUTE"), |call| ChatReply { calls: vec![call], ..ChatReply::default() }),
        Some(number) => said(&format!("ABORT\nStep {number} brought nothing that could be used here.")),
    }
}

/// Returns true if something that was begun goes on.
pub(super) fn is_anything_in_flight(request: &ChatRequest) -> bool {
    let goals = fragments(request).filter_map(|fragment| match fragment {
        Fragment::InFlight { goals, .. } => Some(goals),
        _ => None,
    });
    goals.last().is_some_and(|goals| !goals.is_empty())
}

fn fragments(request: &ChatRequest) -> impl Iterator<Item = &Fragment> {
    request.messages.iter().flat_map(|message| match message {
        Message::System { fragments } | Message::User { fragments } => fragments.as_slice(),
        Message::Assistant { .. } | Message::Tool { .. } => &[],
    })
}

/// The person said what is to be done: nothing else is tried in its place.
pub(super) fn correct() -> ChatReply {
    said("ABORT")
}

/// The same call with every result that stands where a text belongs told in words; `None` if all are texts already.
fn in_words(request: &ChatRequest, call: &ToolCall) -> Option<ModelCall> {
    // A confirmation carries the tool of its step and no other.
    let [tool] = request.tools.as_slice() else { return None };
    let mut arguments = call.arguments.clone();
    let mut told = false;
    for parameter in schema::parameters(&tool.parameters) {
        if let Kind::Text(limit) = parameter.kind
            && let Some(value) = arguments.get_mut(&parameter.name).filter(|value| !value.is_string())
        {
            *value = Value::String(readable::spoken_text(value, limit));
            told = true;
        }
    }
    told.then(|| ModelCall {
        id: "reflex-1".to_owned(),
        name: tool.name.clone(),
        arguments: CallArguments::Object(arguments),
    })
}

fn said(text: &str) -> ChatReply {
    ChatReply { text: text.to_owned(), ..ChatReply::default() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cortex_core::{Purpose, ToolDefinition};
    use cortex_protocol::mission::InFlight;
    use cortex_protocol::{CallId, StepAddress, StepNumber};
    use serde_json::json;

    use super::*;

    fn confirmed(arguments: Option<&Value>, goals: usize) -> ChatReply {
        let goal = InFlight {
            call: CallId(1),
            step: None,
            tool: "base.go_to".into(),
            age: Duration::from_secs(3),
            feedback: String::new(),
            stalled: None,
        };
        let mut fragments = vec![Fragment::InFlight { goals: vec![goal; goals], plan: 1 }];
        if let Some(arguments) = arguments {
            let call = ToolCall { tool: "speaker.say".into(), arguments: arguments.as_object().cloned().unwrap() };
            fragments.push(Fragment::Step { address: StepAddress { plan: 1, step: StepNumber(2) }, steps: 2, call });
        }
        let request = ChatRequest {
            purpose: Purpose::Confirm,
            messages: vec![Message::User { fragments }],
            tools: vec![ToolDefinition {
                name: "speaker-say".to_owned(),
                description: "Says a text aloud.".to_owned(),
                parameters: json!({"properties": {"text": {"type": "string", "maxLength": 40}}}),
                phase: cortex_protocol::ToolPhase::Execution,
                phrases: Vec::new(),
                kind: cortex_core::ToolKind::Act,
            }],
            temperature: 0.0,
            max_tokens: 500,
        };
        confirm(&request)
    }

    #[test]
    fn a_step_runs_when_nothing_stands_in_its_way() {
        let ready = json!({"text": "a cup"});
        let open = json!({"text": ["<output of step 1>"]});
        for (arguments, goals, decision) in [
            (Some(&ready), 0, "EXECUTE"),
            (Some(&ready), 1, "CONTINUE"),
            (Some(&open), 1, "CONTINUE"),
            (Some(&open), 0, "ABORT\nStep 1 brought nothing that could be used here."),
            (None, 0, "ABORT\nThere is no step to decide upon."),
        ] {
            assert_eq!(confirmed(arguments, goals), said(decision), "{arguments:?} {goals}");
        }
    }

    #[test]
    fn a_result_is_put_into_words_where_a_text_belongs() {
        for (result, words) in [
            (json!({"place": "kitchen", "text": "I see a cup."}), "I see a cup."),
            (json!({"percent": 42, "charging": false}), "charging: no; percent: 42 %"),
            (json!(["cup", "table"]), "cup, table"),
            (json!(null), "There is nothing to tell."),
            (json!({"text": "a very long story about a cup and a table"}), "a very long story about a cup and a tabl"),
        ] {
            let reply = confirmed(Some(&json!({"text": result})), 0);
            let arguments = json!({"text": words}).as_object().cloned().unwrap();
            let call = ModelCall {
                id: "reflex-1".to_owned(),
                name: "speaker-say".to_owned(),
                arguments: CallArguments::Object(arguments),
            };
            assert_eq!(reply, ChatReply { calls: vec![call], ..ChatReply::default() }, "{result}");
        }
    }
}
