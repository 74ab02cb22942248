//! Questions to people and disputes, through the runtime: who is refused and why, what is on the tape, and that a tape with
//! answers replays.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that can't go on ends here, and says why"
)]

use std::sync::Arc;
use std::time::Duration;

use cortex_core::policy::{Policy, PolicySettings};
use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{
    Answer, Effect, EffectSource, MissionId, MissionStatus, Origin, QuestionId, QuestionNumber, Submission, ToolPhase,
    ToolSpec,
};
use cortex_runtime::tape::{Body, Entry, Folder, TapeStatus, replay};
use cortex_runtime::{
    AnswerRefusal, DisputeRefusal, MissionTicket, ProviderHandle, Runtime, RuntimeConfig, TapeSettings,
};
use cortex_testkit::{Behaviour, FakeObservations, FakeTools, Line, ScriptedModel, calls, says, tool};
use serde_json::json;

fn someone() -> Origin {
    Origin::new("cli", "test")
}

fn task(text: &str) -> Submission {
    Submission { task: text.to_owned(), session: None, origin: someone() }
}

fn pump() -> ToolSpec {
    tool("pump.run", ToolPhase::Execution, Effect::Move).with_effect_source(EffectSource::Assumed)
}

async fn laboratory(script: Vec<Line>, folder: &tempfile::TempDir) -> (Runtime, Arc<FakeTools>, ProviderHandle) {
    let config = RuntimeConfig { tape: Some(TapeSettings::at(folder.path())), ..RuntimeConfig::default() };
    let tools = FakeTools::new([("pump.run", Behaviour::Returns(json!("pumped")))]);
    start(config, script, tools).await
}

/// A laboratory with these rules, which shows these observations.
async fn ruled(
    rules: serde_json::Value,
    script: Vec<Line>,
    shown: &Arc<FakeObservations>,
) -> (Runtime, Arc<FakeTools>, ProviderHandle) {
    let settings = PolicySettings { rules: serde_json::from_value(rules).unwrap(), ..PolicySettings::default() };
    let config = RuntimeConfig { policy: Policy::new(settings).unwrap(), ..RuntimeConfig::default() };
    let pumped = Behaviour::Takes(Duration::from_secs(5), json!("pumped"));
    start(config, script, FakeTools::new([("pump.run", pumped)]).watched(Arc::clone(shown))).await
}

async fn start(
    config: RuntimeConfig,
    script: Vec<Line>,
    tools: FakeTools,
) -> (Runtime, Arc<FakeTools>, ProviderHandle) {
    let tools = Arc::new(tools);
    let runtime = Runtime::start(config, Arc::new(ScriptedModel::new(script)));
    let provider = runtime.register(tools.clone());
    provider.offer_tools(vec![pump()]).await;
    (runtime, tools, provider)
}

fn pumping() -> Vec<Line> {
    vec![calls(&[("pump-run", json!({}))]), says("EXECUTE"), says("Pumped.")]
}

/// The question that is asked next.
async fn asked(runtime: &Runtime) -> QuestionId {
    let mut questions = runtime.questions();
    let asked = questions.wait_for(|open| !open.is_empty());
    let open = tokio::time::timeout(Duration::from_secs(60), asked).await.expect("a person is asked").unwrap();
    open[0].id.clone()
}

fn yes() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once }
}

async fn result_of(ticket: MissionTicket) -> (MissionId, cortex_protocol::MissionResult) {
    (ticket.id, ticket.result.await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_answer_reaches_its_mission_and_every_other_one_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, tools, _provider) = laboratory(pumping(), &folder).await;
    let ticket = runtime.submit(task("pump")).await.unwrap();
    let question = asked(&runtime).await;
    assert_eq!(question.mission, ticket.id);
    let open = runtime.open_questions();
    assert_eq!((open.len(), open[0].task.as_str()), (1, "pump"));
    assert!(open[0].left <= Duration::from_secs(120));

    let other = QuestionId { number: QuestionNumber(7), ..question.clone() };
    assert!(matches!(runtime.answer(other, yes(), someone()).await, Err(AnswerRefusal::Unknown { .. })));
    let nobody = QuestionId { mission: "nobody".into(), number: QuestionNumber(1) };
    assert!(matches!(runtime.answer(nobody, yes(), someone()).await, Err(AnswerRefusal::Unknown { .. })));
    let wrong = Answer::Choose { choice: "yes".to_owned() };
    assert!(matches!(runtime.answer(question.clone(), wrong, someone()).await, Err(AnswerRefusal::Refused { .. })));
    let long = Answer::Deny { reason: "x".repeat(5_000) };
    assert!(matches!(runtime.answer(question.clone(), long, someone()).await, Err(AnswerRefusal::TooLong { .. })));
    assert!(tools.calls().is_empty());

    runtime.answer(question.clone(), yes(), someone()).await.unwrap();
    let again = runtime.answer(question.clone(), yes(), someone()).await;
    assert!(matches!(again, Err(AnswerRefusal::Ended { .. })), "{again:?}");
    let (mission, result) = result_of(ticket).await;
    assert_eq!((result.status, tools.calls().len()), (MissionStatus::Succeeded, 1));
    assert!(runtime.open_questions().is_empty());

    let mut reader = Folder::new(folder.path().to_owned()).read(&mission).unwrap();
    assert_eq!(replay(&mut reader).unwrap().ending, cortex_runtime::tape::replay::Ending::Same);
}

#[tokio::test(start_paused = true)]
async fn a_question_of_a_mission_that_is_cancelled_is_not_open_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, tools, _provider) = laboratory(pumping(), &folder).await;
    let ticket = runtime.submit(task("pump")).await.unwrap();
    let question = asked(&runtime).await;
    assert!(runtime.cancel(ticket.id.clone()).await);
    let (_, result) = result_of(ticket).await;
    assert_eq!(result.status, MissionStatus::Cancelled);
    let late = runtime.answer(question, yes(), someone()).await;
    assert!(matches!(late, Err(AnswerRefusal::Ended { .. })), "{late:?}");
    assert!(runtime.open_questions().is_empty() && tools.calls().is_empty());
    assert!(runtime.shut_down(Duration::from_secs(60)).await);
}

#[tokio::test(start_paused = true)]
async fn what_a_rule_asks_of_the_robot_is_known_anew_while_a_mission_runs() {
    let shown = Arc::new(FakeObservations::default());
    shown.repeat("/battery", json!({"percentage": 0.9}));
    let low = json!({"topic": "/battery", "field": "percentage", "less": 0.2});
    let rules = json!([
        {"then": "allow", "tools": ["pump.run"]},
        {"then": "deny", "tools": ["pump.run"], "when": low, "because": "The battery is low."},
    ]);
    let twice = calls(&[("pump-run", json!({"liters": 1})), ("pump-run", json!({"liters": 2}))]);
    let script =
        vec![Line::After(Duration::from_secs(1), Box::new(twice)), says("EXECUTE"), says("EXECUTE"), says("So.")];
    let (runtime, tools, _provider) = ruled(rules, script, &shown).await;
    let ticket = runtime.submit(task("pump")).await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), tools.wait_until_begun()).await.expect("the first step begins");
    shown.repeat("/battery", json!({"percentage": 0.1}));
    let (_, result) = result_of(ticket).await;
    assert_eq!((result.status, tools.calls().len()), (MissionStatus::Failed, 1), "{result:#?}");
    assert!(result.steps.iter().any(|step| step.outcome.as_ref().is_some_and(|it| it.message.contains("battery"))));
}

#[tokio::test(start_paused = true)]
async fn a_rule_about_the_time_of_the_day_is_judged_by_the_clock() {
    let rules = json!([{"then": "allow", "tools": ["pump.run"], "hours": "00:00-24:00"}]);
    let (runtime, tools, _provider) = ruled(rules, pumping(), &Arc::default()).await;
    let (_, result) = result_of(runtime.submit(task("pump")).await.unwrap()).await;
    assert_eq!((result.status, tools.calls().len()), (MissionStatus::Succeeded, 1), "at all hours: {result:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_rule_about_who_asks_is_judged_by_who_sent_the_task() {
    let rules = json!([{"then": "allow", "tools": ["pump.run"], "who": ["cli:owner"]}]);
    for (client, calls) in [("owner", 1), ("guest", 0)] {
        let (runtime, tools, _provider) = ruled(rules.clone(), pumping(), &Arc::default()).await;
        let submission = Submission { origin: Origin::new("cli", client), ..task("pump") };
        let (_, result) = result_of(runtime.submit(submission).await.unwrap()).await;
        assert_eq!((result.is_success(), tools.calls().len()), (calls == 1, calls), "{client}: {result:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_disputed_mission_is_reopened_with_the_reason_and_its_tape_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let script = pumping().into_iter().chain(pumping()).collect();
    let (runtime, tools, _provider) = laboratory(script, &folder).await;
    let ticket = runtime.submit(task("pump")).await.unwrap();
    let question = asked(&runtime).await;
    let open = ticket.id.clone();
    let refused = runtime.dispute(open.clone(), "no".to_owned(), someone()).await;
    assert_eq!(refused, Err(DisputeRefusal::Running { mission: open }));
    runtime.answer(question, yes(), someone()).await.unwrap();
    let (first, _) = result_of(ticket).await;

    for (mission, reason, refusal) in [
        (first.clone(), " ".to_owned(), DisputeRefusal::Empty),
        (first.clone(), "x".repeat(3_000), DisputeRefusal::TooLong { bytes: 3_000 }),
        ("../etc/passwd".into(), "no".to_owned(), DisputeRefusal::Unknown { mission: "../etc/passwd".into() }),
    ] {
        assert_eq!(runtime.dispute(mission, reason, someone()).await, Err(refusal));
    }
    let mut events = runtime.events();
    let second = runtime.dispute(first.clone(), "The tank is still empty.".to_owned(), someone()).await.unwrap();
    assert_ne!(second, first);
    let question = asked(&runtime).await;
    assert_eq!(question.mission, second, "the yes for the first is none for the second");
    runtime.answer(question, yes(), someone()).await.unwrap();
    let mut told = Vec::new();
    loop {
        let event = events.recv().await.unwrap();
        told.push(event.data.text.clone());
        if event.kind == "cortex.mission.finished" {
            break;
        }
    }
    assert!(told[1].contains("is disputed: The tank is still empty."), "{told:#?}");
    assert_eq!(tools.calls().len(), 2);

    let tapes = Folder::new(folder.path().to_owned());
    assert_eq!(tapes.summary(&first).unwrap().status, TapeStatus::Disputed(MissionStatus::Succeeded));
    let mut reader = tapes.read(&first).unwrap();
    assert_eq!(replay(&mut reader).unwrap().ending, cortex_runtime::tape::replay::Ending::Same);
    let mut reader = tapes.read(&first).unwrap();
    let mut last = None;
    while let Some((record, _)) = reader.next_record().unwrap() {
        last = Some(record);
    }
    let last = last.unwrap();
    assert!(last.is_for_people(), "{}", last.data.text);
    assert!(matches!(last.body().unwrap(), Body::Entry(Entry::Disputed { .. })));

    // Of a mission of an earlier life only the tape tells.
    assert!(runtime.shut_down(Duration::from_secs(60)).await);
    let (next_life, _, _provider) = laboratory(vec![says("Nothing was done.")], &folder).await;
    let third = next_life.dispute(first, "Still empty.".to_owned(), someone()).await.unwrap();
    assert_ne!(third, second);
}

#[tokio::test(start_paused = true)]
async fn a_mission_that_runs_is_revised_and_not_disputed_where_nothing_is_recorded_either() {
    let (runtime, _, _provider) = ruled(json!([]), pumping(), &Arc::default()).await;
    let ticket = runtime.submit(task("pump")).await.unwrap();
    asked(&runtime).await;
    let refused = runtime.dispute(ticket.id.clone(), "no".to_owned(), someone()).await;
    assert_eq!(refused, Err(DisputeRefusal::Running { mission: ticket.id }));
}
