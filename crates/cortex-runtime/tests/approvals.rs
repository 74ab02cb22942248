//! Questions to people and disputes, through the runtime: who is refused and why, what is on the tape, and that a tape with
//! answers replays.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that can't go on ends here, and says why")]

use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{
    Answer, Effect, EffectSource, MissionId, MissionStatus, Origin, QuestionId, QuestionNumber, Submission, ToolPhase,
    ToolSpec,
};
use cortex_runtime::tape::{Body, Entry, Folder, TapeStatus, replay};
use cortex_runtime::{AnswerRefusal, DisputeRefusal, MissionTicket, ProviderId, Runtime, RuntimeConfig, TapeSettings};
use cortex_testkit::{Behaviour, FakeTools, Line, ScriptedModel, calls, says, tool};
use serde_json::json;

fn someone() -> Origin {
    Origin::new("cli", "test")
}

fn task(text: &str) -> Submission {
    Submission { task: text.to_owned(), session: None, origin: someone() }
}

fn pump() -> ToolSpec {
    ToolSpec { effect_source: EffectSource::Assumed, ..tool("pump.run", ToolPhase::Execution, Effect::Move) }
}

async fn laboratory(script: Vec<Line>, folder: &tempfile::TempDir) -> (Runtime, Arc<FakeTools>) {
    let tools = Arc::new(FakeTools::new([("pump.run", Behaviour::Returns(json!("pumped")))]));
    let config = RuntimeConfig { tape: Some(TapeSettings::at(folder.path())), ..RuntimeConfig::default() };
    let runtime = Runtime::start(config, Arc::new(ScriptedModel::new(script)), vec![tools.clone()]);
    runtime.offer_tools(ProviderId(0), vec![pump()]).await;
    (runtime, tools)
}

fn pumping() -> Vec<Line> {
    vec![calls(&[("pump-run", json!({}))]), says("EXECUTE"), says("Pumped.")]
}

/// The question that is asked next.
async fn asked(runtime: &Runtime) -> QuestionId {
    let mut questions = runtime.questions();
    let open = questions.wait_for(|open| !open.is_empty()).await.unwrap();
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
    let (runtime, tools) = laboratory(pumping(), &folder).await;
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
    let (runtime, tools) = laboratory(pumping(), &folder).await;
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
async fn a_disputed_mission_is_reopened_with_the_reason_and_its_tape_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let script = pumping().into_iter().chain(pumping()).collect();
    let (runtime, tools) = laboratory(script, &folder).await;
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
    let (next_life, _) = laboratory(vec![says("Nothing was done.")], &folder).await;
    let third = next_life.dispute(first, "Still empty.".to_owned(), someone()).await.unwrap();
    assert_ne!(third, second);
}
