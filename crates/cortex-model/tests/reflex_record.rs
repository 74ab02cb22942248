//! What is on record without a language model: documents answer questions, skills say how tasks are done.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use cortex_core::mission::{MissionSetup, PolicySetup};
use cortex_core::policy::{Policy, PolicySettings};
use cortex_core::{
    ChatModel as _, Context, ContextPassage, Effect, Input, MissingSource, Mission, MissionLimits, PassageKind, ToolSet,
};
use cortex_model::Reflex;
use cortex_protocol::{MissionResult, MissionStatus, ToolPhase, ToolSpec};

/// The robot may not go to the street.
fn policy() -> Policy {
    let rule = serde_json::json!({
        "then": "deny", "tools": ["base.go_to"], "arguments": {"place": {"one_of": ["street"]}},
        "because": "it stays in the house",
    });
    let rules = vec![serde_json::from_value(rule).expect("a rule")];
    Policy::new(PolicySettings { rules, ..PolicySettings::default() }).expect("it can be used")
}

/// A robot that drives, with documents in which these passages were found.
async fn mission(task: &str, passages: Vec<ContextPassage>) -> MissionResult {
    mission_with(task, Context { passages, missing: Vec::new() }).await
}

/// The same, with this on record.
async fn mission_with(task: &str, context: Context) -> MissionResult {
    let go_to = ToolSpec::new("base.go_to".into(), "Drives to a place.".to_owned())
        .with_parameters(serde_json::json!({
            "type": "object", "required": ["place"],
            "properties": {"place": {"enum": ["kitchen", "bedroom"]}, "speed": {"type": "number", "maximum": 0.5}},
        }))
        .with_phase(ToolPhase::Execution)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_phrases(vec!["go to {place}".to_owned()]);
    let (tools, problems) = ToolSet::new([go_to]);
    assert!(problems.is_empty(), "{problems:?}");
    let mut mission = Mission::new(MissionSetup {
        task: task.to_owned(),
        reading: cortex_language::task_class::read(task, tools.iter()),
        session: None,
        earlier: Vec::new(),
        context_sources: vec!["knowledge".to_owned()],
        identity: String::new(),
        tools,
        availability: cortex_core::Availability::default(),
        removed: cortex_core::RemovedTools::default(),
        limits: MissionLimits { max_execution_steps: 12, ..MissionLimits::default() },
        policy: PolicySetup { policy: policy(), ..PolicySetup::default() },
        reopens: None,
    });
    let mut inputs = vec![Input::Start];
    while let Some(input) = inputs.pop() {
        for effect in mission.handle(Duration::ZERO, input) {
            match effect {
                Effect::GatherContext { gathering, .. } => {
                    inputs.push(Input::ContextGathered { gathering, context: context.clone() });
                }
                Effect::AskModel { request, chat } => {
                    inputs.push(Input::ModelReplied { request, reply: Reflex::default().chat(&chat).await });
                }
                Effect::Invoke { call, .. } => {
                    let outcome = cortex_protocol::ToolOutcome::success(serde_json::Value::Null);
                    inputs.push(Input::CallEnded { call, outcome });
                }
                Effect::Finish { result } => return result,
                _ => {}
            }
        }
    }
    panic!("the mission never ended: {mission:?}")
}

fn passage(text: &str, relevance: f64) -> ContextPassage {
    ContextPassage {
        source: "knowledge".to_owned(),
        place: "kettle.md, Descaling".to_owned(),
        as_of: None,
        text: text.to_owned(),
        relevance,
        kind: PassageKind::default(),
    }
}

#[tokio::test]
async fn a_question_is_answered_with_the_passage_and_its_source() {
    let passages = vec![passage("Fill it with vinegar.", 0.9), passage("It is blue.", 0.7)];
    let result = mission("how do I descale the kettle?", passages).await;
    assert_eq!(result.status, MissionStatus::Answered, "{}", result.output);
    assert_eq!(result.words(), "[knowledge: kettle.md, Descaling] says: \"Fill it with vinegar.\"");
}

#[tokio::test]
async fn a_passage_beside_the_point_is_no_answer() {
    let result = mission("how do I descale the kettle?", vec![passage("The kettle is blue.", 0.45)]).await;
    assert_ne!(result.status, MissionStatus::Answered, "{}", result.output);
}

#[tokio::test]
async fn a_command_is_carried_out_or_refused_whatever_is_on_record() {
    let passages = vec![passage("To go to the kitchen, first drive to the bedroom.", 1.0)];
    let result = mission("go to the kitchen", passages.clone()).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{}", result.output);
    assert_eq!(result.steps.len(), 1);
    let result = mission("descale the kettle", passages).await;
    assert_eq!(result.status, MissionStatus::Failed, "{}", result.output);
    assert!(result.steps.is_empty());
}

fn skill(steps: &[&str]) -> ContextPassage {
    let procedure = steps.iter().map(|step| (*step).to_owned()).collect();
    let kind = PassageKind::Skill { procedure };
    ContextPassage { source: "skills".to_owned(), place: "night-round".to_owned(), kind, ..passage("Go round.", 1.0) }
}

#[tokio::test]
async fn the_steps_of_a_skill_are_done_in_their_order_or_none_of_them() {
    let result = mission("make the night round", vec![skill(&["go to the bedroom.", "go to the kitchen"])]).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{}", result.output);
    let places: Vec<&serde_json::Value> = result.steps.iter().map(|step| &step.arguments["place"]).collect();
    assert_eq!(places, ["bedroom", "kitchen"]);
    let result = mission("make the night round", vec![skill(&["go to the bedroom", "fly to the moon"])]).await;
    assert_eq!((result.status, result.steps.len()), (MissionStatus::Failed, 0), "{}", result.output);
    assert!(result.output.contains("The skill 'night-round' says how to do that"), "{}", result.output);
}

/// The words of a skill answer no question: they say what is to be done.
#[tokio::test]
async fn a_skill_is_no_record_that_answers_a_question() {
    let result = mission("how do I make the night round?", vec![skill(&[])]).await;
    assert!(!result.output.contains("Go round."), "{}", result.output);
}

/// One of them may say how this very task is to be done, more carefully than its words do.
#[tokio::test]
async fn regression_a_task_was_done_without_the_skills_that_could_not_be_read() {
    let missing = MissingSource { source: "skills".to_owned(), because: "it did not answer within 500 ms".to_owned() };
    let result = mission_with("go to the kitchen", Context { passages: Vec::new(), missing: vec![missing] }).await;
    assert_eq!((result.status, result.steps.len()), (MissionStatus::Failed, 0), "{}", result.output);
    assert!(result.output.contains("The skills could not be read"), "{}", result.output);
    let missing = MissingSource { source: "knowledge".to_owned(), because: "the disk is full".to_owned() };
    let result = mission_with("go to the kitchen", Context { passages: Vec::new(), missing: vec![missing] }).await;
    assert_eq!(result.status, MissionStatus::Succeeded, "{}", result.output);
}

#[tokio::test]
async fn the_robot_says_what_it_knows_of_itself_and_what_it_cannot_do() {
    let of_itself = |place: &str, text: &str| ContextPassage {
        source: cortex_core::identity::IDENTITY_SOURCE.to_owned(),
        place: place.to_owned(),
        ..passage(text, 0.5)
    };
    let passages = vec![of_itself(cortex_core::identity::ABOUT, "My name is berta. I sense with a camera (/image).")];
    // What it can't do follows from its tools, its policy and its limits, whatever is on record.
    let bounds = "I can't do what none of my tools does. In some cases I may not use base.go_to when place is one of street \
                  (it stays in the house). Bounds of what I do: base.go_to speed at most 0.5. Of one task: a plan has at most 12 \
                  steps, I plan anew at most 3 times, it ends after 3600 s.";
    for (task, expected) in [
        ("who are you?", "My name is berta. I sense with a camera (/image)."),
        ("what can't you do?", bounds),
        ("What are you not allowed to do?", bounds),
        ("is there anything you can't do", bounds),
        ("was kannst du nicht?", bounds),
        ("what can you do?", "I can do: go to PLACE (kitchen, bedroom)"),
    ] {
        let result = mission(task, passages.clone()).await;
        assert_eq!(result.status, MissionStatus::Answered, "{task}: {}", result.output);
        assert!(result.output.starts_with(expected), "{task}: {}", result.output);
    }
    for order in ["don't go to the kitchen", "you can't go to the kitchen", "do not do what you can not do"] {
        let result = mission(order, passages.clone()).await;
        assert!(
            result.steps.is_empty() && !result.output.contains("it stays in the house"),
            "{order}: {}",
            result.output
        );
    }
}
