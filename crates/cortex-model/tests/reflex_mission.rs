//! The embedded reader and the mission machine of the core, together from the task to the result.
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
    Answer, CancelMode, Dispatch, Effect as ToolEffect, FailureKind, MissionResult, MissionStatus, Origin, ToolCall,
    ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};

fn tool(name: &str, phase: ToolPhase, effect: ToolEffect, parameters: &Value, phrase: &str) -> ToolSpec {
    let required: Vec<&String> = parameters.as_object().unwrap().keys().collect();
    ToolSpec::new(name.into(), format!("Can be asked to {phrase}."))
        .with_parameters(json!({
            "type": "object", "properties": parameters, "required": required, "additionalProperties": false,
        }))
        .with_phase(phase)
        .with_effect(effect)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Drop)
        .with_phrases(vec![phrase.to_owned()])
}

fn robot(look: ToolPhase) -> ToolSet {
    let (tools, problems) = ToolSet::new([
        tool(
            "base.go_to",
            ToolPhase::Execution,
            ToolEffect::Move,
            &json!({"place": {"enum": ["kitchen", "bedroom"]}}),
            "go to {place}",
        ),
        tool("battery.level", ToolPhase::Planning, ToolEffect::Observe, &json!({}), "how full is the battery"),
        tool("camera.look", look, ToolEffect::Observe, &json!({}), "look around"),
        tool("speaker.say", ToolPhase::Execution, ToolEffect::Act, &json!({"text": {"type": "string"}}), "say {text}"),
    ]);
    assert!(problems.is_empty(), "{problems:?}");
    tools
}

/// What a person chooses, where it is among the choices; else the last one, which drops the task.
const CHOSEN: [&str; 1] = ["scan the left shelf"];

/// Runs a mission to its end; returns its result and every call in order.
async fn mission(task: &str, tools: ToolSet, limits: MissionLimits) -> (MissionResult, Vec<ToolCall>) {
    let mut mission = Mission::new(setup(task, tools, limits));
    let mut calls = Vec::new();
    let result = go_on(&mut mission, Input::Start, &mut calls).await;
    (result.unwrap_or_else(|| panic!("the mission never ended: {mission:?}")), calls)
}

fn setup(task: &str, tools: ToolSet, limits: MissionLimits) -> MissionSetup {
    MissionSetup {
        task: task.to_owned(),
        reading: cortex_language::task_class::read(task, tools.iter()),
        session: None,
        earlier: Vec::new(),
        context_sources: Vec::new(),
        identity: String::new(),
        tools,
        availability: cortex_core::Availability::default(),
        removed: cortex_core::RemovedTools::default(),
        limits,
        policy: cortex_core::mission::PolicySetup::default(),
        reopens: None,
    }
}

/// Runs a mission until it ends or waits for something; returns its result if it has ended.
async fn go_on(mission: &mut Mission, input: Input, calls: &mut Vec<ToolCall>) -> Option<MissionResult> {
    let mut inputs = vec![input];
    for _ in 0..1_000 {
        let input = inputs.pop()?;
        for effect in mission.handle(Duration::ZERO, input) {
            match effect {
                Effect::AskModel { request, chat } => {
                    inputs.push(Input::ModelReplied { request, reply: Reflex::default().chat(&chat).await });
                }
                Effect::Invoke { call, tool_call, .. } => {
                    let outcome = match tool_call.tool.as_str() {
                        "battery.level" => ToolOutcome::success(json!({"percent": 50, "charging": false})),
                        "camera.look" => ToolOutcome::success(
                            json!({"place": "kitchen", "sees": ["a red cup"], "text": "I see a red cup."}),
                        ),
                        "base.go_to" if tool_call.arguments["place"] == "bedroom" => {
                            ToolOutcome::failure(FailureKind::Reported, "the door is shut")
                        }
                        _ => ToolOutcome::success(Value::Null),
                    };
                    calls.push(tool_call);
                    inputs.push(Input::CallEnded { call, outcome });
                }
                Effect::AskPerson { question } => {
                    let Subject::Choice { choices, .. } = &question.subject else { panic!("{question:?}") };
                    let choice = choices.iter().find(|choice| CHOSEN.contains(&choice.as_str()));
                    let choice = choice.or(choices.last()).unwrap().clone();
                    let answer = Answer::Choose { choice };
                    inputs.push(Input::Answered {
                        number: question.number,
                        answer,
                        origin: Origin::new("cli", "test"),
                    });
                }
                Effect::Finish { result } => return Some(result),
                _ => {}
            }
        }
    }
    panic!("the mission goes on and on: {mission:?}")
}

async fn told(task: &str, look: ToolPhase) -> (MissionStatus, String, Vec<String>) {
    let (result, calls) = mission(task, robot(look), MissionLimits::default()).await;
    let calls = calls.iter().map(|call| format!("{} {}", call.tool, Value::Object(call.arguments.clone()))).collect();
    (result.status, result.words().to_owned(), calls)
}

#[tokio::test]
async fn what_was_seen_on_the_way_is_spoken_whatever_the_phase_of_the_camera() {
    for look in [ToolPhase::Execution, ToolPhase::Both, ToolPhase::Planning] {
        let (status, output, calls) = told("go to the kitchen, look around and say what you see", look).await;
        assert_eq!(status, MissionStatus::Succeeded, "{look:?}: {output}");
        assert_eq!(
            calls,
            [r#"base.go_to {"place":"kitchen"}"#, "camera.look {}", r#"speaker.say {"text":"I see a red cup."}"#],
            "{look:?}"
        );
        assert!(output.contains("speaker say (\"I see a red cup.\")"), "{look:?}: {output}");
    }
}

#[tokio::test]
async fn a_question_is_answered_without_a_plan() {
    let (status, output, calls) = told("how full is the battery?", ToolPhase::Both).await;
    assert_eq!(
        (status, output.as_str(), calls.as_slice()),
        (MissionStatus::Answered, "Charging: no; percent: 50 %.", &["battery.level {}".to_owned()][..])
    );
}

#[tokio::test]
async fn what_only_asks_is_answered_however_it_is_worded() {
    for task in [
        "battery",
        "battery level?",
        "How full is the battery",
        "what's the robot's battery level",
        "check the battery",
        "tell me how full the battery is",
        "could you tell me the battery level",
        "do you know how full the battery is?",
    ] {
        let (status, output, calls) = told(task, ToolPhase::Both).await;
        assert_eq!((status, calls.len()), (MissionStatus::Answered, 1), "{task}: {output}");
        assert_eq!(output, "Charging: no; percent: 50 %.", "{task}");
    }
    for task in ["look around", "what do you see?", "look", "tell me what you see in the kitchen"] {
        let (_, output, calls) = told(task, ToolPhase::Both).await;
        assert!(!output.contains("words"), "{task}: {output}");
        assert!(calls.len() <= 2, "{task}: {calls:?}");
    }
}

#[tokio::test]
async fn what_the_robot_can_do_is_told_though_nothing_of_it_is_offered() {
    let (status, output, calls) = told("what can you do?", ToolPhase::Both).await;
    assert_eq!((status, calls.len()), (MissionStatus::Answered, 0));
    for ability in ["go to", "say", "look around", "battery"] {
        assert!(output.contains(ability), "{ability}: {output}");
    }
}

#[tokio::test]
async fn a_tour_goes_to_every_place_that_there_is_and_to_no_other() {
    let go = |place: &str| format!("base.go_to {{\"place\":\"{place}\"}}");
    let (look, said) = ("camera.look {}".to_owned(), "speaker.say {\"text\":\"I see a red cup.\"}".to_owned());
    let open = || {
        let tools = robot(ToolPhase::Both);
        let places = json!({"place": {"enum": ["kitchen", "living_room", "dock"]}});
        let go_to = tool("base.go_to", ToolPhase::Execution, ToolEffect::Move, &places, "go to {place}");
        let specs = tools.iter().filter(|spec| spec.name.as_str() != "base.go_to").cloned().chain([go_to]);
        ToolSet::new(specs).0
    };
    let places = ["kitchen", "living_room", "dock"];
    for (task, at_each) in [
        ("visit every room", vec![]),
        ("patrol all rooms", vec![look.clone()]),
        ("look for the cup in every room", vec![look.clone()]),
        ("check each room and tell me what you see", vec![look.clone()]),
        ("tell me what you see in each room", vec![look.clone()]),
        ("go to each room and say what you see", vec![look.clone(), said.clone()]),
    ] {
        let (result, calls) = mission(task, open(), MissionLimits::default()).await;
        assert_eq!(result.status, MissionStatus::Succeeded, "{task}: {}", result.output);
        let calls: Vec<String> =
            calls.iter().map(|call| format!("{} {}", call.tool, Value::Object(call.arguments.clone()))).collect();
        let expected: Vec<String> =
            places.iter().flat_map(|place| std::iter::once(go(place)).chain(at_each.clone())).collect();
        assert_eq!(calls, expected, "{task}");
    }
}

#[tokio::test]
async fn the_name_of_a_place_is_never_read_as_a_command() {
    let places = json!({"place": {"enum": ["kitchen", "kitchen and say hello", "every room", "dock. say hello"]}});
    let go_to = tool("base.go_to", ToolPhase::Execution, ToolEffect::Move, &places, "go to {place}");
    let tools = robot(ToolPhase::Both);
    let specs = tools.iter().filter(|spec| spec.name.as_str() != "base.go_to").cloned().chain([go_to]);
    let (_, calls) = mission("visit every room and look around", ToolSet::new(specs).0, MissionLimits::default()).await;
    assert!(calls.iter().all(|call| call.tool.as_str() != "speaker.say"), "{calls:?}");
}

#[tokio::test]
async fn a_drive_and_a_question_succeed_together() {
    let (status, output, calls) = told("go to the kitchen and tell me how full the battery is", ToolPhase::Both).await;
    assert_eq!(
        (status, output.as_str(), calls.len()),
        (MissionStatus::Succeeded, "Done: base go to (kitchen). Charging: no; percent: 50 %.", 2)
    );
}

#[tokio::test]
async fn a_failed_step_fails_the_mission_and_nothing_is_done_after_it() {
    let (status, output, calls) = told("say hello, go to the bedroom and go to the kitchen", ToolPhase::Both).await;
    assert_eq!(status, MissionStatus::Failed);
    assert!(output.starts_with("I could not do \"base go to (bedroom)\": the door is shut. Done before: \"speaker say (hello)\". Not done: \"base go to (kitchen)\"."), "{output}");
    assert_eq!(calls, [r#"speaker.say {"text":"hello"}"#, r#"base.go_to {"place":"bedroom"}"#]);
}

#[tokio::test]
async fn a_task_that_is_not_understood_fails_without_a_single_call() {
    for task in ["go to the garage", "go to the kitchen and dance", "go to the kitchen if it is dark", "去厨房"] {
        let (status, output, calls) = told(task, ToolPhase::Both).await;
        assert_eq!((status, calls.len()), (MissionStatus::Failed, 0), "{task}: {output}");
        assert!(output.contains("Nothing was done."), "{task}: {output}");
    }
}

#[tokio::test]
async fn a_plan_that_was_too_long_is_carried_out_in_parts() {
    let limits = MissionLimits { max_execution_steps: 2, ..MissionLimits::default() };
    let task = "say one, then say two, then say three, then say four, then say five";
    let (result, calls) = mission(task, robot(ToolPhase::Both), limits).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{}", result.output);
    let said: Vec<&Value> = calls.iter().map(|call| &call.arguments["text"]).collect();
    assert_eq!(said, ["one", "two", "three", "four", "five"]);
}

/// It said that it did not understand what the robot could do a moment ago.
#[tokio::test]
async fn regression_a_task_for_what_is_coming_up_again_was_not_understood() {
    let all = robot(ToolPhase::Both);
    let of_base = |spec: &ToolSpec| spec.name.as_str() == "base.go_to";
    let component = |spec: &ToolSpec| of_base(spec).then(|| "base".into());
    let all = all.rebuilt(all.iter().map(|spec| spec.clone().with_component(component(spec))));
    let all = all.0;
    let without_base = all.rebuilt(all.iter().filter(|spec| !of_base(spec)).cloned()).0;
    let mut setup = setup("go to the kitchen", without_base.clone(), MissionLimits::default());
    setup.removed.note(&all, &without_base);
    assert!(setup.availability.quarantine("base".into(), "it died and is coming up again"));
    let (mut mission, mut calls) = (Mission::new(setup), Vec::new());
    let ended = go_on(&mut mission, Input::Start, &mut calls).await;
    assert_eq!(ended, None, "it waits for the base");
    let released = Input::AvailabilityChanged { availability: cortex_core::Availability::default() };
    assert_eq!(go_on(&mut mission, released, &mut calls).await, None);
    let result = go_on(&mut mission, Input::ToolsChanged { tools: all }, &mut calls).await.expect("the base is back");
    assert_eq!((result.status, calls.len()), (MissionStatus::Succeeded, 1), "{result:#?}");
}

#[tokio::test]
async fn a_person_is_asked_which_is_meant_and_what_they_choose_is_done() {
    let side = |side: &str| {
        let (name, phrase) = (format!("{side}_scanner.scan"), format!("scan the {side} shelf"));
        tool(&name, ToolPhase::Execution, ToolEffect::Act, &json!({}), &phrase)
    };
    let tools = || ToolSet::new([side("left"), side("right")]).0;
    let mut asking = setup("scan the shelf", tools(), MissionLimits::default());
    asking.policy.approval.max_questions = 5;
    let (mut mission, mut calls) = (Mission::new(asking), Vec::new());
    let result = go_on(&mut mission, Input::Start, &mut calls).await.expect("it ends");
    assert_eq!(result.status, MissionStatus::Succeeded, "{result:#?}");
    assert_eq!(result.words(), "Done: left scanner scan.");
    assert_eq!(calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["left_scanner.scan"]);
}
