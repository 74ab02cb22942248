//! What a person has said yes to is not asked again, and nothing else is learnt.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::path::PathBuf;
use std::time::Duration;

use cortex_core::mission::{MissionSetup, PolicySetup, Reopened};
use cortex_core::policy::{Policy, PolicySettings};
use cortex_core::{ChatModel as _, Effect, Input, Mission, MissionLimits, ToolSet};
use cortex_model::{Reflex, WordingFile};
use cortex_protocol::question::{ApprovalScope, Subject};
use cortex_protocol::{
    Answer, CancelMode, Dispatch, Effect as ToolEffect, FailureKind, MissionResult, MissionStatus, Origin,
    PolicyVerdict, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};

/// A tool that rings in one of these rooms.
fn rings(name: &str, phrase: &str, rooms: &[&str]) -> ToolSpec {
    ToolSpec::new(name.into(), "Rings.".to_owned())
        .with_parameters(json!({
            "type": "object",
            "properties": {"room": {"enum": rooms}},
            "required": ["room"],
            "additionalProperties": false,
        }))
        .with_phase(ToolPhase::Execution)
        .with_effect(ToolEffect::Act)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Drop)
        .with_phrases(vec![phrase.to_owned()])
}

fn bell(rooms: &[&str]) -> Vec<ToolSpec> {
    vec![rings("bell.ring", "ring the bell in the {room}", rooms)]
}

/// A house with a robot and the file of what it has learnt.
struct TestRobot {
    _folder: tempfile::TempDir,
    file: PathBuf,
    tools: Vec<ToolSpec>,
    policy: PolicyVerdict,
    bell_works: bool,
}

/// What came of a task.
struct Told {
    result: MissionResult,
    /// What people were asked: which is meant, and what may be done.
    meant: Vec<String>,
    approvals: usize,
    calls: Vec<String>,
}

impl Told {
    fn words(&self) -> &str {
        self.result.words()
    }
}

impl TestRobot {
    fn new(tools: Vec<ToolSpec>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("learnt/robot.jsonl");
        Self { _folder: folder, file, tools, policy: PolicyVerdict::Allow, bell_works: true }
    }

    fn learnt(&self) -> String {
        std::fs::read_to_string(&self.file).unwrap_or_default()
    }

    fn write(&self, text: &str) {
        std::fs::create_dir_all(self.file.parent().unwrap()).unwrap();
        std::fs::write(&self.file, text).unwrap();
    }

    /// Gives the robot a task; a person answers its questions with the choice that begins so. Each time it is another life
    /// of the robot, with nothing but the file.
    async fn task(&self, task: &str, answer: &str) -> Told {
        self.mission(task, answer, None, Reflex::with_wordings(WordingFile::new(self.file.clone()))).await
    }

    async fn mission(&self, task: &str, answer: &str, reopens: Option<Reopened>, reflex: Reflex) -> Told {
        let mut policy = PolicySetup::default();
        policy.approval.max_questions = 5;
        let rules = json!([{"then": self.policy, "tools": ["*"]}]);
        let settings = PolicySettings { rules: serde_json::from_value(rules).unwrap(), ..PolicySettings::default() };
        policy.policy = Policy::new(settings).unwrap();
        let tools = ToolSet::new(self.tools.iter().cloned()).0;
        let mut mission = Mission::new(MissionSetup {
            task: task.to_owned(),
            reading: cortex_language::task_class::read(task, tools.iter()),
            session: None,
            earlier: Vec::new(),
            context_sources: Vec::new(),
            identity: String::new(),
            tools,
            availability: cortex_core::Availability::default(),
            removed: cortex_core::RemovedTools::default(),
            limits: MissionLimits::default(),
            policy,
            reopens,
        });
        let (mut meant, mut approvals, mut calls) = (Vec::new(), 0, Vec::new());
        let mut inputs = vec![Input::Start];
        while let Some(input) = inputs.pop() {
            for effect in mission.handle(Duration::ZERO, input) {
                match effect {
                    Effect::AskModel { request, chat } => {
                        inputs.push(Input::ModelReplied { request, reply: reflex.chat(&chat).await });
                    }
                    Effect::Invoke { call, tool_call, .. } => {
                        calls.push(format!("{} {}", tool_call.tool, Value::Object(tool_call.arguments)));
                        let outcome = match self.bell_works {
                            true => ToolOutcome::success(Value::Null),
                            false => ToolOutcome::failure(FailureKind::Reported, "the rope is torn"),
                        };
                        inputs.push(Input::CallEnded { call, outcome });
                    }
                    Effect::AskPerson { question } => {
                        let number = question.number;
                        let answer = match &question.subject {
                            Subject::Choice { choices, .. } => {
                                meant.push(question.text.clone());
                                let chosen = choices.iter().find(|choice| choice.starts_with(answer));
                                Answer::Choose { choice: chosen.expect("it is a choice").clone() }
                            }
                            _ => {
                                approvals += 1;
                                Answer::Approve { scope: ApprovalScope::Once }
                            }
                        };
                        inputs.push(Input::Answered { number, answer, origin: Origin::new("cli", "anna") });
                    }
                    Effect::Finish { result } => return Told { result, meant, approvals, calls },
                    _ => {}
                }
            }
        }
        panic!("the mission waits: {mission:?}")
    }
}

const BRASS: &str = "ring the brass bell in the hall";
const RUNG: &str = r#"bell.ring {"room":"hall"}"#;

#[tokio::test]
async fn what_a_person_said_yes_to_is_not_asked_a_second_time() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    let first = test_robot.task(BRASS, "yes").await;
    assert_eq!((first.meant.len(), first.calls.as_slice()), (1, &[RUNG.to_owned()][..]), "{}", first.words());
    assert!(!first.words().contains("As you told me"), "{}", first.words());
    let lines: Vec<String> = test_robot.learnt().lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("# Wordings that people have accepted"), "{lines:?}");
    let entry: Value = serde_json::from_str(&lines[1]).unwrap();
    let means = (&entry["words"], &entry["means"], &entry["by"], &entry["used"]);
    assert_eq!(means, (&json!(BRASS), &json!("ring the bell in the hall"), &json!("cli:anna"), &json!(0)));

    for (again, used) in [(BRASS, 1), ("Could you please RING teh brass bell in the hall?", 2)] {
        let told = test_robot.task(again, "no").await;
        assert_eq!((told.meant.len(), told.calls.as_slice()), (0, &[RUNG.to_owned()][..]), "{again}: {}", told.words());
        let day = &entry["accepted"].as_str().unwrap()[..10];
        let says =
            format!("Done: bell ring (hall). As you told me on {day}, \"{BRASS}\" means: ring the bell in the hall.");
        assert_eq!(told.words(), says);
        assert!(test_robot.learnt().contains(&format!("\"used\":{used}")), "{}", test_robot.learnt());
    }
}

#[tokio::test]
async fn a_no_a_failure_and_a_refusal_teach_nothing() {
    let mut test_robot = TestRobot::new(bell(&["hall", "office"]));
    let told = test_robot.task(BRASS, "no").await;
    assert_eq!((told.calls.len(), told.result.status), (0, MissionStatus::Failed));
    assert_eq!(test_robot.task("ring the bell in the garden", "yes").await.calls.len(), 0);
    test_robot.bell_works = false;
    let told = test_robot.task(BRASS, "yes").await;
    assert_eq!((told.meant.len(), told.result.status), (1, MissionStatus::Failed));
    assert_eq!(test_robot.learnt(), "", "nothing is written");
}

#[tokio::test]
async fn which_of_several_is_meant_is_asked_each_time() {
    let bells = ["left", "right"]
        .map(|side| rings(&format!("{side}.ring"), &format!("ring the {side} bell in the {{room}}"), &["hall"]));
    let test_robot = TestRobot::new(bells.to_vec());
    for side in ["left", "right"] {
        let told = test_robot.task("ring the bell in the hall", &format!("ring the {side}")).await;
        assert_eq!(told.meant.len(), 1, "{}", told.words());
        assert_eq!(told.calls, [format!("{side}.ring {{\"room\":\"hall\"}}")]);
    }
    assert_eq!(test_robot.learnt(), "");
}

#[tokio::test]
async fn a_wording_stands_for_no_other_value() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    test_robot.task(BRASS, "yes").await;
    let told = test_robot.task("ring the brass bell in the office", "yes").await;
    assert_eq!((told.meant.len(), told.calls.as_slice()), (1, &[r#"bell.ring {"room":"office"}"#.to_owned()][..]));
    let told = test_robot.task("ring the old brass bell in the hall", "no").await;
    assert_eq!((told.meant.len(), told.calls.len()), (1, 0), "one word more is another wording");
}

#[tokio::test]
async fn words_that_mean_something_else_another_time_are_not_learnt() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    for _ in 0..2 {
        let told = test_robot.task("ring my brass bell in the hall", "yes").await;
        assert_eq!(told.meant.len(), 1, "{}", told.words());
    }
    assert_eq!(test_robot.learnt(), "");
}

#[tokio::test]
async fn where_the_tool_or_the_value_is_gone_nothing_is_done_and_the_person_is_told() {
    let mut test_robot = TestRobot::new(bell(&["hall", "office"]));
    test_robot.task(BRASS, "yes").await;
    test_robot.tools = bell(&["office"]);
    let told = test_robot.task(BRASS, "no").await;
    assert!(told.calls.is_empty() && told.words().contains("Nothing was done."), "{}", told.words());
    test_robot.tools = vec![rings("lamp.shine", "shine in the {room}", &["hall"])];
    test_robot.tools[0].description = "Shines.".to_owned();
    let told = test_robot.task(BRASS, "no").await;
    assert!(told.calls.is_empty(), "{:?}", told.calls);
    let says = format!("you told me that \"{BRASS}\" means \"ring the bell in the hall\". That can't be done now.");
    assert!(told.words().contains(&says), "{}", told.words());
}

#[tokio::test]
async fn a_sentence_that_other_tools_now_understand_is_asked_about() {
    let mut test_robot = TestRobot::new(bell(&["hall", "office"]));
    test_robot.task(BRASS, "yes").await;
    test_robot.tools = vec![rings("gong.strike", "strike the gong in the {room}", &["hall"])];
    let learnt = test_robot.task("ring the bell in the hall", "no").await;
    assert_eq!(learnt.calls.len(), 1, "what was learnt is understood as this tool: {}", learnt.words());
    let told = test_robot.task(BRASS, "no").await;
    assert_eq!((told.meant.len(), told.calls.len()), (1, 0), "{}", told.words());
}

#[tokio::test]
async fn another_tool_of_the_same_words_is_asked_about() {
    let mut test_robot = TestRobot::new(bell(&["hall"]));
    test_robot.task(BRASS, "yes").await;
    test_robot.tools = vec![
        rings("bell.ring", "ring the bell in the {room}", &["hall"]),
        rings("chime.ring", "ring the chime bell in the {room}", &["hall"]),
    ];
    let told = test_robot.task(BRASS, "").await;
    assert_eq!(told.meant.len(), 1, "{}", told.words());
}

#[tokio::test]
async fn a_wording_never_makes_the_robot_do_what_it_would_refuse() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    let line = |words: &str| {
        format!(r#"{{"words": "{words}", "means": "ring the bell in the hall", "accepted": "2026-01-31"}}"#)
    };
    let refused = ["do not ring the brass bell in the hall", "ring the brass bell in the hall if it is dark", "dance"];
    test_robot.write(&refused.map(line).join("\n"));
    for task in refused {
        let told = test_robot.task(task, "yes").await;
        assert!(told.calls.is_empty() && told.meant.is_empty(), "{task}: {:?}", told.calls);
    }
    let other = r#"{"words": "ring the brass bell in the hall", "means": "ring the bell in the office", "accepted": "2026-01-31"}"#;
    test_robot.write(other);
    let told = test_robot.task(BRASS, "no").await;
    assert_eq!((told.meant.len(), told.calls.len()), (1, 0), "what would not be offered is asked about");
}

#[tokio::test]
async fn policy_asks_all_the_same() {
    let mut test_robot = TestRobot::new(bell(&["hall", "office"]));
    test_robot.policy = PolicyVerdict::Ask;
    for meant in [1, 0, 0] {
        let told = test_robot.task(BRASS, "yes").await;
        assert_eq!((told.meant.len(), told.approvals, told.calls.len()), (meant, 1, 1), "{}", told.words());
    }
    test_robot.policy = PolicyVerdict::Deny;
    let told = test_robot.task(BRASS, "yes").await;
    assert_eq!((told.meant.len(), told.calls.len()), (0, 0), "{}", told.words());
}

#[tokio::test]
async fn a_broken_file_keeps_nothing_from_working() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    test_robot.write("{\n\"words\"\n\u{0}\n");
    let told = test_robot.task(BRASS, "yes").await;
    assert_eq!((told.meant.len(), told.calls.len()), (1, 1));
    assert!(test_robot.learnt().starts_with("{\n\"words\"\n\u{0}\n{\"words\":\"ring"), "{}", test_robot.learnt());
    assert_eq!(test_robot.task(BRASS, "no").await.meant.len(), 0);

    let large = " ".repeat(5 * 1024 * 1024);
    test_robot.write(&large);
    assert_eq!(test_robot.task(BRASS, "yes").await.calls.len(), 1);
    assert!(test_robot.learnt() == large, "a file that is not read is not written either");

    std::fs::remove_file(&test_robot.file).unwrap();
    std::fs::create_dir(&test_robot.file).unwrap();
    assert_eq!(test_robot.task(BRASS, "yes").await.calls.len(), 1);
}

#[tokio::test]
async fn a_line_that_is_deleted_while_the_robot_runs_is_forgotten() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    let reflex = Reflex::with_wordings(WordingFile::new(test_robot.file.clone()));
    let task = async |answer| test_robot.mission(BRASS, answer, None, reflex.clone()).await;
    task("yes").await;
    assert_eq!(task("no").await.meant.len(), 0);
    test_robot.write("");
    assert_eq!(task("yes").await.meant.len(), 1);
    let forgotten = WordingFile::new(test_robot.file.clone()).forget("Ring the brass bell in the hall.").unwrap();
    assert_eq!(forgotten.map(|wording| wording.means).as_deref(), Some("ring the bell in the hall"));
    assert_eq!(task("no").await.meant.len(), 1);
    assert_eq!(WordingFile::new(test_robot.file.clone()).forget(BRASS).unwrap(), None);
}

#[tokio::test]
async fn that_was_not_it_revokes_the_wording() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    test_robot.task(BRASS, "yes").await;
    let told = test_robot.task(BRASS, "no").await;
    let reopens = Reopened {
        mission: "0199-abc".into(),
        reason: "ring the bell in the office".to_owned(),
        origin: Origin::new("cli", "anna"),
        output: told.result.output.clone(),
        status: told.result.status,
        steps: told.result.steps.clone(),
    };
    let reflex = Reflex::with_wordings(WordingFile::new(test_robot.file.clone()));
    let told = test_robot.mission(BRASS, "no", Some(reopens), reflex).await;
    let says = format!("I have forgotten that \"{BRASS}\" means \"ring the bell in the hall\".");
    assert!(told.words().ends_with(&says), "{}", told.words());
    assert_eq!(told.calls, [r#"bell.ring {"room":"office"}"#]);
    assert_eq!(test_robot.task(BRASS, "no").await.meant.len(), 1, "it asks again");
}

#[tokio::test]
async fn a_rehearsal_knows_what_was_learnt_and_teaches_nothing() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    let rehearse = async |task| {
        let reflex = Reflex::with_wordings(WordingFile::new(test_robot.file.clone()).read_only());
        test_robot.mission(task, "yes", None, reflex).await.meant.len()
    };
    assert_eq!((rehearse(BRASS).await, test_robot.learnt().as_str()), (1, ""));
    test_robot.task(BRASS, "yes").await;
    let learnt = test_robot.learnt();
    assert_eq!((rehearse(BRASS).await, test_robot.learnt()), (0, learnt));
}

#[tokio::test]
async fn a_reader_without_a_file_asks_each_time() {
    let test_robot = TestRobot::new(bell(&["hall", "office"]));
    for _ in 0..2 {
        assert_eq!(test_robot.mission(BRASS, "yes", None, Reflex::default()).await.meant.len(), 1);
    }
    assert_eq!(test_robot.learnt(), "");
}
