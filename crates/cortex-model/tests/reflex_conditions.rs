//! Conditions that the robot checks: the embedded reader and the mission machine of the core, from the task to the result.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::time::Duration;

use cortex_core::mission::MissionSetup;
use cortex_core::{ChatModel as _, Effect, Input, Mission, MissionLimits, ToolSet};
use cortex_model::Reflex;
use cortex_protocol::question::Subject;
use cortex_protocol::{
    Answer, CancelMode, Dispatch, Effect as ToolEffect, FailureKind, MissionStatus, Origin, ToolOutcome, ToolPhase,
    ToolSpec,
};
use serde_json::{Value, json};

fn tool(name: &str, description: &str, phase: ToolPhase, effect: ToolEffect, parameters: &Value) -> ToolSpec {
    ToolSpec::new(name.into(), description.to_owned())
        .with_parameters(json!({"type": "object", "properties": parameters, "additionalProperties": false}))
        .with_phase(phase)
        .with_effect(effect)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Drop)
}

fn robot(look: ToolPhase) -> ToolSet {
    let rooms = json!({"room": {"enum": ["kitchen", "hallway", "office"]}});
    let mut place = tool(
        "base.go_to",
        "Drives to a room.",
        ToolPhase::Execution,
        ToolEffect::Move,
        &json!({"place": {"enum": ["kitchen", "hallway", "office"]}}),
    );
    place.parameters["required"] = json!(["place"]);
    place.phrases.push("go to {place}".to_owned());
    let act = |name, description| tool(name, description, ToolPhase::Execution, ToolEffect::Act, &rooms);
    let looks = |name, description, parameters: &Value| tool(name, description, look, ToolEffect::Observe, parameters);
    let mut say = tool(
        "speaker.say",
        "Says a text aloud.",
        ToolPhase::Execution,
        ToolEffect::Act,
        &json!({"text": {"type": "string"}}),
    );
    say.parameters["required"] = json!(["text"]);
    say.phrases.push("say {text}".to_owned());
    let mut here = looks("base.where_am_i", "Tells in which room the robot is.", &json!({}));
    here.phrases.push("where are you".to_owned());
    let mut sight = looks("camera.look", "Tells what is visible from where the robot is.", &json!({}));
    sight.phrases.push("what do you see".to_owned());
    let (tools, problems) = ToolSet::new([
        place,
        here,
        act("light.turn_on", "Turns a light on."),
        act("light.turn_off", "Turns a light off."),
        looks("light.is_on", "Tells whether a light is on.", &rooms),
        looks("battery.level", "Tells how full the battery is, in percent.", &json!({})),
        sight,
        say,
    ]);
    assert!(problems.is_empty(), "{problems:?}");
    tools
}

/// What was done, in order, and what is said in the end. The looks return these values in turn, the last one again.
async fn told(task: &str, look: ToolPhase, found: &[(&str, Value)]) -> (MissionStatus, String, Vec<String>) {
    let tools = robot(look);
    let reading = cortex_language::task_class::read(task, tools.iter());
    let mut mission = Mission::new(MissionSetup {
        task: task.to_owned(),
        session: None,
        earlier: Vec::new(),
        context_sources: Vec::new(),
        identity: String::new(),
        tools,
        availability: cortex_core::Availability::default(),
        removed: cortex_core::RemovedTools::default(),
        limits: MissionLimits::default(),
        policy: cortex_core::mission::PolicySetup::default(),
        reopens: None,
        reading,
    });
    let mut found: Vec<(&str, Value)> = found.to_vec();
    let mut calls = Vec::new();
    let mut inputs = vec![Input::Start];
    for _ in 0..1_000 {
        let input = inputs.pop().unwrap_or_else(|| panic!("nothing goes on: {mission:?}"));
        for effect in mission.handle(Duration::ZERO, input) {
            match effect {
                Effect::AskModel { request, chat } => {
                    inputs.push(Input::ModelReplied { request, reply: Reflex::default().chat(&chat).await });
                }
                Effect::Invoke { call, tool_call, .. } => {
                    let name = tool_call.tool.to_string();
                    let at = found.iter().position(|(tool, _)| *tool == name);
                    let value = at.map(|at| {
                        let last = found.iter().filter(|(tool, _)| *tool == name).count() == 1;
                        if last { found[at].1.clone() } else { found.remove(at).1 }
                    });
                    let outcome = match value {
                        Some(Value::String(text)) if text.starts_with("FAIL ") => {
                            ToolOutcome::failure(FailureKind::Reported, &text["FAIL ".len()..])
                        }
                        other => ToolOutcome::success(other.unwrap_or(Value::Null)),
                    };
                    let arguments = Value::Object(tool_call.arguments.clone());
                    calls.push(if tool_call.arguments.is_empty() { name } else { format!("{name} {arguments}") });
                    inputs.push(Input::CallEnded { call, outcome });
                }
                Effect::AskPerson { question } => {
                    let Subject::Choice { choices, .. } = &question.subject else { panic!("{question:?}") };
                    let answer = Answer::Choose { choice: choices.last().unwrap().clone() };
                    let origin = Origin::new("cli", "test");
                    inputs.push(Input::Answered { number: question.number, answer, origin });
                }
                Effect::Finish { result } => return (result.status, result.words().to_owned(), calls),
                _ => {}
            }
        }
    }
    panic!("the mission goes on and on: {mission:?}")
}

const PHASES: [ToolPhase; 3] = [ToolPhase::Execution, ToolPhase::Both, ToolPhase::Planning];

fn kitchen_light(on: bool) -> (&'static str, Value) {
    let text = format!("The light in the kitchen is {}.", if on { "on" } else { "off" });
    let (lit, dark) = if on { (vec!["kitchen"], vec![]) } else { (vec![], vec!["kitchen"]) };
    ("light.is_on", json!({"on": lit, "off": dark, "text": text}))
}

#[tokio::test]
async fn what_depends_on_a_condition_is_done_if_it_holds_and_left_if_not() {
    let task = "if the light in the kitchen is on, turn it off, otherwise say it is dark";
    for look in PHASES {
        let (status, words, calls) = told(task, look, &[kitchen_light(true)]).await;
        assert_eq!(status, MissionStatus::Succeeded, "{words}");
        assert_eq!(calls, [r#"light.is_on {"room":"kitchen"}"#, r#"light.turn_off {"room":"kitchen"}"#], "{look:?}");
        assert_eq!(words, "The light in the kitchen is on, so I did: light turn off (kitchen).");

        let (_, words, calls) = told(task, look, &[kitchen_light(false)]).await;
        assert_eq!(calls, [r#"light.is_on {"room":"kitchen"}"#, r#"speaker.say {"text":"it is dark"}"#], "{look:?}");
        assert_eq!(words, "The light in the kitchen is off, so I did: speaker say (\"it is dark\").");

        let task = "unless the kitchen light is off, turn it off";
        let (status, words, calls) = told(task, look, &[kitchen_light(false)]).await;
        let step = if look == ToolPhase::Execution { MissionStatus::Succeeded } else { MissionStatus::Failed };
        assert_eq!((status, calls.len()), (step, 1), "{look:?} {words}");
        assert_eq!(words, "The light in the kitchen is off, so I did nothing.");
    }
}

#[tokio::test]
async fn a_condition_is_checked_when_its_turn_comes() {
    let task = "go to the kitchen, and if the light is on turn it off";
    for look in PHASES {
        let (status, words, calls) = told(task, look, &[kitchen_light(true)]).await;
        assert_eq!(status, MissionStatus::Succeeded, "{look:?} {words}");
        assert_eq!(calls[0], r#"base.go_to {"place":"kitchen"}"#, "{look:?}");
        assert!(calls[1].starts_with("light.is_on") && calls[2].starts_with("light.turn_off"), "{look:?} {calls:?}");
        assert!(words.starts_with("Done: base go to (kitchen). The light in the kitchen is on, so I did: "), "{words}");
    }
}

#[tokio::test]
async fn what_was_found_before_decides_nothing() {
    let task = "is the kitchen light on? Go to the hallway, and if the kitchen light is on, turn it off";
    for look in PHASES {
        let found = [kitchen_light(true), kitchen_light(false)];
        let (status, words, calls) = told(task, look, &found).await;
        assert_eq!(status, MissionStatus::Succeeded, "{look:?} {words}");
        assert_eq!(calls.iter().filter(|call| call.starts_with("light.is_on")).count(), 2, "{look:?} {calls:?}");
        assert!(!calls.iter().any(|call| call.starts_with("light.turn_off")), "{look:?} {calls:?}");
    }
}

#[tokio::test]
async fn a_condition_that_the_answer_leaves_open_does_nothing_and_says_why() {
    let task = "if the light in the kitchen is on, turn it off, otherwise say it is dark. Go to the office";
    for look in PHASES {
        for answer in [json!("The light flickers."), json!({"on": ["kitchen"], "off": ["kitchen"]}), json!(null)] {
            let (status, words, calls) = told(task, look, &[("light.is_on", answer)]).await;
            assert_ne!(status, MissionStatus::Succeeded, "{look:?} {words}");
            assert_eq!(calls, [r#"light.is_on {"room":"kitchen"}"#], "{look:?}");
            assert!(words.contains("I can't tell whether \"the light in the kitchen is on\" holds"), "{words}");
        }
    }
}

#[tokio::test]
async fn a_look_that_fails_does_nothing() {
    let task = "if the light in the kitchen is on, turn it off, otherwise say it is dark";
    for look in PHASES {
        let found = [("light.is_on", json!("FAIL the sensor is silent"))];
        let (status, words, calls) = told(task, look, &found).await;
        assert_ne!(status, MissionStatus::Succeeded, "{look:?} {words}");
        assert!(calls.iter().all(|call| call.starts_with("light.is_on")), "{look:?} {calls:?}");
        assert!(words.contains("the sensor is silent"), "{look:?} {words}");
    }
}

#[tokio::test]
async fn several_conditions_are_checked_one_after_the_other() {
    let task = "if the kitchen light is on, turn it off, and if the battery is below 20 percent, go to the office";
    for look in PHASES {
        let found = [kitchen_light(true), ("battery.level", json!({"percent": 12.5, "charging": false}))];
        let (status, words, calls) = told(task, look, &found).await;
        assert_eq!(status, MissionStatus::Succeeded, "{look:?} {words}");
        let expected = [
            r#"light.is_on {"room":"kitchen"}"#,
            r#"light.turn_off {"room":"kitchen"}"#,
            "battery.level",
            r#"base.go_to {"place":"office"}"#,
        ];
        assert_eq!(calls, expected, "{look:?}");

        let found = [kitchen_light(false), ("battery.level", json!({"percent": 70.0, "charging": false}))];
        let (_, words, calls) = told(task, look, &found).await;
        assert_eq!(calls, [r#"light.is_on {"room":"kitchen"}"#, "battery.level"], "{look:?}");
        assert!(words.contains("The light in the kitchen is off, so I did nothing. "), "{words}");
        assert_eq!(words.matches(", so I did nothing.").count(), 2, "{words}");
    }
}

#[tokio::test]
async fn what_changes_after_the_look_is_not_asked_again() {
    // The light is turned off by somebody else after the look: what was decided is done, and it comes to an end.
    let task = "if the kitchen light is on, turn it off and go to the office";
    for look in PHASES {
        let (status, words, calls) = told(task, look, &[kitchen_light(true), kitchen_light(false)]).await;
        assert_eq!(status, MissionStatus::Succeeded, "{look:?} {words}");
        assert_eq!(calls.len(), 3, "{look:?} {calls:?}");
        assert_eq!(calls[2], r#"base.go_to {"place":"office"}"#, "{look:?}");
    }
}

#[tokio::test]
async fn a_condition_that_nothing_checks_is_refused() {
    for task in [
        "when it is dark, turn the kitchen light on",
        "if Ada comes, turn the kitchen light on",
        "if the kitchen light was on, turn it off",
        "if the kitchen light or the hallway light is on, say hello",
        "if the battery is low, go to the office",
        "if the kitchen light is on tomorrow, turn it off",
        "if the kitchen is cold, go to the office",
    ] {
        let (status, words, calls) = told(task, ToolPhase::Both, &[kitchen_light(true)]).await;
        assert_ne!(status, MissionStatus::Succeeded, "{task}: {words}");
        assert_eq!(calls, Vec::<String>::new(), "{task}: {words}");
    }
}
