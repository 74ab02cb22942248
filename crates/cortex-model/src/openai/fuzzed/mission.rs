//! A mission whose model gives one reply whenever it is asked for one purpose, and what it should for the others.

use std::collections::BTreeSet;
use std::time::Duration;

use cortex_core::mission::{MissionSetup, PolicySetup};
use cortex_core::{
    Availability, CallArguments, ChatReply, ChatRequest, Effect, Input, Mission, MissionLimits, ModelCall, Purpose,
    RemovedTools, ToolSet, confirmation, feedback,
};
use cortex_protocol::{
    CancelMode, Decision, Dispatch, Effect as ToolEffect, EffectSource, FailureKind, MissionEvent, TaskReading,
    ToolOutcome, ToolPhase, ToolSpec,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::super::pictures::Sight;
use super::super::request::{self, Dialect};
use crate::{Streaming, Structured};

/// More inputs than any mission within these limits needs.
const MOST_INPUTS: usize = 500;
/// Most bytes of a request: the conversation within its limit, its newest exchange whatever its size, rules and tools.
const MOST_REQUEST_BYTES: usize = 1_000_000;
/// Most characters of what is wrong with a reply.
const MOST_TOLD: usize = 5_000;

fn tool(name: &str, phase: ToolPhase, effect: ToolEffect, parameters: Value) -> ToolSpec {
    ToolSpec::new(name.into(), format!("Does {name}."))
        .with_parameters(parameters)
        .with_phase(phase)
        .with_effect(effect)
        .with_effect_source(EffectSource::Declared)
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
}

fn tools() -> ToolSet {
    let object = |properties: Value| json!({"type": "object", "properties": properties, "additionalProperties": false});
    let (tools, problems) = ToolSet::new([
        tool("base.go_to", ToolPhase::Execution, ToolEffect::Move, object(json!({"place": {"type": "string"}}))),
        tool("camera.look", ToolPhase::Both, ToolEffect::Observe, object(json!({"at": {}}))),
        tool(
            "lift.set",
            ToolPhase::Execution,
            ToolEffect::Act,
            object(json!({"height": {"type": "number", "maximum": 2}})),
        ),
    ]);
    assert_eq!(problems, []);
    tools
}

/// The mission of the tests, whose tools are checked once.
fn setup() -> MissionSetup {
    MissionSetup {
        task: "Look where the cup is, and go there.".to_owned(),
        reading: TaskReading::default(),
        session: None,
        earlier: Vec::new(),
        context_sources: Vec::new(),
        identity: String::new(),
        tools: tools(),
        availability: Availability::default(),
        removed: RemovedTools::default(),
        policy: PolicySetup::default(),
        reopens: None,
        limits: MissionLimits { max_planning_steps: 3, max_replans: 1, ..MissionLimits::default() },
    }
}

fn calls(calls: &[(&str, Value)]) -> ChatReply {
    let call = |(index, (name, arguments)): (usize, &(&str, Value))| ModelCall {
        id: format!("call-{index}"),
        name: (*name).to_owned(),
        arguments: CallArguments::read(&arguments.to_string()),
    };
    ChatReply { calls: calls.iter().enumerate().map(call).collect(), ..ChatReply::default() }
}

fn says(text: &str) -> ChatReply {
    ChatReply { text: text.to_owned(), ..ChatReply::default() }
}

/// What is written of a mission is read again as it was: it is on the tape, and a crashed Cortex goes on from it.
fn check_kept<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let written = serde_json::to_string(value).expect("it can be written");
    let read: T = serde_json::from_str(&written).unwrap_or_else(|problem| panic!("{problem}: {written}"));
    assert_eq!(&read, value);
}

/// What servers demand of a conversation: each call is answered once, right after it, and nothing else is.
fn check_sent(chat: &ChatRequest) {
    let dialect = Dialect::for_endpoint("http://localhost/v1", Structured::Auto, Streaming::Off);
    let body = request::body("m", chat, &dialect, &Sight::new(None), true);
    let length = body.to_string().len();
    assert!(length <= MOST_REQUEST_BYTES, "a request of {length} bytes");
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for message in body["messages"].as_array().expect("messages") {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().expect("an id");
            assert!(open.remove(id), "an answer to no call: {message}");
            continue;
        }
        assert!(open.is_empty(), "calls without an answer: {open:?}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            assert!(open.insert(call["id"].as_str().expect("an id")), "two calls of one id: {message}");
            let arguments = call["function"]["arguments"].as_str().expect("text");
            assert!(serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()), "{message}");
        }
    }
    assert!(open.is_empty(), "calls without an answer: {open:?}");
}

/// Whether the reply may let a step run where it is asked for its confirmation.
fn confirms(reply: &ChatReply, tool: &str) -> bool {
    let read = confirmation::read(reply, &tool.replace('.', "-"), tool);
    reply.cut.is_none() && read.is_ok_and(|reading| reading.decision == Decision::Execute)
}

/// Carries a mission out whose model gives this reply whenever it is asked for this purpose. Returns what happened, in
/// the first words of each line.
fn carried_out(setup: &MissionSetup, purpose: Purpose, reply: &ChatReply) -> String {
    let (mut mission, mut now, mut lines) = (Mission::new(setup.clone()), Duration::ZERO, Vec::new());
    let (mut planned, mut called, mut given) = (0, 0, 0);
    let mut inputs = vec![Input::Start];
    loop {
        let input = inputs.pop().unwrap_or_else(|| {
            now = mission.next_wake().expect("it waits for something");
            Input::Tick
        });
        given += 1;
        assert!(given < MOST_INPUTS, "the mission does not end: {lines:?}");
        check_kept(&input);
        for effect in mission.handle(now, input) {
            match effect {
                Effect::AskModel { request, chat } => {
                    check_sent(&chat);
                    let asked_before = planned;
                    planned += usize::from(chat.purpose == Purpose::Plan);
                    let answer = match chat.purpose {
                        asked if asked == purpose && (asked != Purpose::Plan || asked_before < 2) => reply.clone(),
                        Purpose::Plan if asked_before == 0 => {
                            calls(&[("camera-look", json!({})), ("base-go_to", json!({"place": "<output of step 1>"}))])
                        }
                        Purpose::Plan => says("That is all."),
                        Purpose::Confirm => says("EXECUTE"),
                        Purpose::Correct => calls(&[("base-go_to", json!({"place": "hall"}))]),
                    };
                    inputs.push(Input::ModelReplied { request, reply: Ok(answer) });
                }
                Effect::Invoke { call, tool_call, .. } => {
                    let fits = setup.tools.check(&tool_call.tool, &tool_call.arguments);
                    assert_eq!(fits, Ok(()), "{tool_call:?}");
                    let tool = tool_call.tool.as_str();
                    assert!(purpose != Purpose::Confirm || confirms(reply, tool), "{tool} was called on {reply:?}");
                    called += 1;
                    let fails = purpose == Purpose::Correct && called == 2;
                    let outcome = if fails {
                        ToolOutcome::failure(FailureKind::Reported, "the way is blocked")
                    } else {
                        ToolOutcome::success(json!("the kitchen"))
                    };
                    inputs.push(Input::CallEnded { call, outcome });
                }
                Effect::Report { event } => {
                    check_kept(&event);
                    if let MissionEvent::ModelMistake { problem } = &event {
                        let length = problem.chars().count();
                        assert!(
                            length <= MOST_TOLD && !problem.chars().any(char::is_control),
                            "{length}: {problem:.300}"
                        );
                    }
                    if !matches!(event, MissionEvent::Planning { .. } | MissionEvent::Classified { .. }) {
                        lines.push(feedback::line(&event).chars().take(70).collect::<String>());
                    }
                }
                Effect::Finish { result } => {
                    check_kept(&mission);
                    check_kept(&result);
                    return format!("{} {}", result.status, lines.join("|"));
                }
                _ => {}
            }
        }
    }
}

/// A reply as a text: its words on the first line, and a call on each further one.
fn reply_of(text: &str) -> ChatReply {
    let (words, calls) = text.split_once('\n').unwrap_or((text, ""));
    let call = |(index, line): (usize, &str)| {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        ModelCall { id: format!("call-{index}"), name: name.to_owned(), arguments: CallArguments::read(arguments) }
    };
    ChatReply { calls: calls.lines().enumerate().map(call).collect(), ..says(words) }
}

#[test]
fn on_every_mutant_of_a_reply_a_mission_gets_to_its_end_and_calls_what_it_may() {
    let setup = setup();
    cortex_fuzz::fuzz(&["fuzz/replies"], |input| {
        let reply = reply_of(&String::from_utf8_lossy(input));
        // A mission takes a while: each mutant is tried for one purpose, and the next one for another.
        let purpose = match input.len() % 3 {
            0 => Purpose::Plan,
            1 => Purpose::Confirm,
            _ => Purpose::Correct,
        };
        format!("{purpose:?} {}", carried_out(&setup, purpose, &reply))
    });
}
