//! Stories of conversations: what was asked before is known after a restart, to whoever asked it, and to nobody else.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ConversationPort as _, Invocation, Speaker, ToolProvider as _, Unobserved};
use cortex_memory::{Conversations, Exchange, ExchangeQuery, Forget, Memory, MemoryRules, MemoryTools, SpokenTasks};
use cortex_protocol::execution::ExecutionReport;
use cortex_protocol::{CallId, MissionId, MissionResult, MissionStatus, Origin, TaskClass, ToolCall, Turn, Usage};
use house::*;

const AN_HOUR: Duration = Duration::from_secs(3_600);

fn result(status: MissionStatus, output: &str) -> MissionResult {
    MissionResult {
        status,
        class: TaskClass::QuestionAboutWorld,
        output: output.to_owned(),
        account: String::new(),
        words_alone: false,
        steps: Vec::new(),
        execution: ExecutionReport::default(),
        revisions: Vec::new(),
        not_stopped: Vec::new(),
        usage: Usage::default(),
        duration: Duration::ZERO,
    }
}

fn on_the_page(user: &str, session: Option<&str>) -> Speaker {
    let origin = Origin { user_id_hash: user.to_owned(), ..Origin::new("web", "the tablet") };
    Speaker { origin, session: session.map(Into::into) }
}

fn in_session(session: &str) -> Speaker {
    Speaker { origin: Origin::new("ros", "task"), session: Some(session.into()) }
}

/// A task is asked and done. Says what was known of before.
async fn ask(conversations: &Conversations, speaker: &Speaker, task: &str) -> Vec<Turn> {
    let mission = MissionId::new(task);
    let before = conversations.begin(&mission, speaker, task, AN_HOUR).await.expect("it is kept");
    conversations.end(&mission, &result(MissionStatus::Succeeded, &format!("Done: {task}.")));
    before
}

fn tasks(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.task.as_str()).collect()
}

/// Shifts all that was asked back by so many milliseconds, as if it had been so long ago.
fn age(folder: &Path, by_ms: u64) {
    let file = rusqlite::Connection::open(folder.join("memory.sqlite")).expect("it opens");
    let aged = file.execute("UPDATE exchanges SET began_ms = began_ms - ?1, ended_ms = ended_ms - ?1", [by_ms]);
    assert!(aged.expect("aged") > 0);
}

fn is_in_files(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).expect("the folder").any(|entry| {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("its bytes");
        bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    })
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_restart_and_no_other_one_hears_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let conversations = Conversations::new(memory.clone());
    let (anna, ben) = (on_the_page("anna's", Some("home")), on_the_page("ben's", Some("home")));
    assert_eq!(ask(&conversations, &anna, "turn on the kitchen light").await, []);
    let mission = MissionId::new("second");
    let before = conversations.begin(&mission, &anna, "and the bedroom one", AN_HOUR).await.expect("begun");
    assert_eq!(tasks(&before), ["turn on the kitchen light"]);
    let revised = MissionResult {
        revisions: vec!["no, the other one".to_owned()],
        ..result(MissionStatus::Succeeded, "It is on.")
    };
    conversations.end(&mission, &revised);
    conversations.settle().await.expect("written down");
    drop((conversations, memory));

    let conversations = Conversations::new(open(folder.path()).await);
    assert_eq!(ask(&conversations, &ben, "and now the kitchen").await, [], "another person, who calls it so, too");
    assert_eq!(ask(&conversations, &in_session("home"), "and now the kitchen").await, [], "by another entrance");
    assert_eq!(ask(&conversations, &on_the_page("anna's", None), "hello").await, [], "without a session");
    let before = ask(&conversations, &anna, "turn it off again").await;
    assert_eq!(tasks(&before), ["turn on the kitchen light", "and the bedroom one Revised to: no, the other one"]);
    assert_eq!((before[1].output.as_str(), before[1].status), ("It is on.", MissionStatus::Succeeded));
}

#[tokio::test]
async fn what_was_asked_long_ago_is_no_longer_gone_on_with_and_nothing_older_is_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let conversations = Conversations::new(open(folder.path()).await);
    let anna = in_session("anna");
    ask(&conversations, &anna, "go to the kitchen").await;
    conversations.settle().await.expect("written down");
    drop(conversations);
    age(folder.path(), HOUR / 2);
    let conversations = Conversations::new(open(folder.path()).await);
    assert_eq!(tasks(&ask(&conversations, &anna, "go to the office").await), ["go to the kitchen"]);
    conversations.settle().await.expect("written down");
    drop(conversations);
    age(folder.path(), 2 * HOUR);
    let conversations = Conversations::new(open(folder.path()).await);
    assert_eq!(ask(&conversations, &anna, "do that again").await, []);
    conversations.settle().await.expect("written down");
    drop(conversations);
    // The clock was set back by a day: when that was is not known any more.
    let file = rusqlite::Connection::open(folder.path().join("memory.sqlite")).expect("it opens");
    file.execute("UPDATE exchanges SET ended_ms = ended_ms + ?1 WHERE task = 'do that again'", [DAY]).expect("changed");
    drop(file);
    let conversations = Conversations::new(open(folder.path()).await);
    assert_eq!(ask(&conversations, &anna, "and again").await, []);
}

#[tokio::test]
async fn of_a_task_that_broke_off_with_the_process_the_next_one_knows_that_it_does_not_know() {
    let folder = tempfile::tempdir().expect("a folder");
    let conversations = Conversations::new(open(folder.path()).await);
    let anna = in_session("anna");
    ask(&conversations, &anna, "go to the kitchen").await;
    conversations.begin(&MissionId::new("dies"), &anna, "go to the office", AN_HOUR).await.expect("begun");
    conversations.settle().await.expect("written down");
    drop(conversations);
    let conversations = Conversations::new(open(folder.path()).await);
    let before = ask(&conversations, &anna, "do that again").await;
    assert_eq!(tasks(&before), ["go to the kitchen", "go to the office"]);
    assert_eq!(before[1].status, MissionStatus::Failed, "nothing is repeated by it");
    assert!(before[1].output.starts_with("What came of it is not known"), "{}", before[1].output);
}

#[tokio::test]
async fn a_task_that_is_long_is_kept_within_its_bounds_and_said_to_be_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let conversations = Conversations::new(open(folder.path()).await);
    let anna = in_session("anna");
    for number in 0..20 {
        ask(&conversations, &anna, &format!("{number} {}", "and go to the kitchen ".repeat(500))).await;
    }
    let before = ask(&conversations, &anna, "do that again").await;
    assert!(before.iter().all(|turn| turn.is_cut));
    let bytes: usize = before.iter().map(|turn| turn.task.len() + turn.output.len()).sum();
    assert!((1..=8_000).contains(&bytes), "{bytes}");
    let name = "x".repeat(501);
    let refused = conversations.begin(&MissionId::new("x"), &in_session(&name), "hello", AN_HOUR).await;
    assert!(refused.expect_err("cut, it might be another one").to_string().contains("session"));
}

#[tokio::test]
async fn what_is_forgotten_leaves_no_byte_in_conversations_not_even_by_the_task_that_forgets() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let conversations = Conversations::new(memory.clone());
    let anna = in_session("anna");
    ask(&conversations, &anna, "bring the xylophone to the hall").await;
    ask(&conversations, &in_session("xylophone lessons"), "play").await;
    let mission = MissionId::new("forgets");
    conversations.begin(&mission, &anna, "forget everything about the xylophone", AN_HOUR).await.expect("begun");
    let forgotten = memory.forget(Forget::Subject("xylophone".to_owned())).await.expect("forgotten");
    assert_eq!(forgotten.exchanges, 3);
    let revised = MissionResult {
        revisions: vec!["the xylophone, I said".to_owned()],
        ..result(MissionStatus::Succeeded, "Forgotten: the xylophone.")
    };
    conversations.end(&mission, &revised);
    let before = ask(&conversations, &anna, "do that again").await;
    assert_eq!(
        tasks(&before),
        [
            "bring the [forgotten] to the hall",
            "forget everything about the [forgotten] Revised to: the [forgotten], I said"
        ]
    );
    assert!(before.iter().all(|turn| turn.is_cut), "nobody repeats what is left of it");
    assert!(!is_in_files(folder.path(), "xylophone"));
    // What comes later may speak of it again.
    conversations.settle().await.expect("written down");
    ask(&conversations, &anna, "fetch the xylophone").await;
    assert_eq!(ask(&conversations, &anna, "again").await.last().unwrap().task, "fetch the xylophone");
    memory.forget(Forget::Everything).await.expect("forgotten");
    assert_eq!(memory.exchanges(ExchangeQuery::default(), 5).await.unwrap(), []);
    assert!(!is_in_files(folder.path(), "xylophone"));
}

#[tokio::test]
async fn where_a_task_could_not_be_written_down_nobody_goes_on_with_the_one_before_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let seen = (0..300).map(|number| camera(&format!("plate {number}"), is_at("kitchen"), number));
    memory.add(seen.collect()).await.expect("kept");
    drop(memory);
    let file = folder.path().join("memory.sqlite");
    let most_bytes = std::fs::metadata(&file).expect("its size").len();
    let memory = Memory::open(&file, MemoryRules { most_bytes, ..rules() }).await.expect("it opens");
    let conversations = Conversations::new(memory.clone());
    let anna = in_session("anna");
    let long = "go to the office ".repeat(100);
    let mut refused = None;
    for number in 0..1_000 {
        let mission = MissionId::new(number.to_string());
        match conversations.begin(&mission, &anna, &long, AN_HOUR).await {
            Ok(_) => conversations.end(&mission, &result(MissionStatus::Succeeded, "done")),
            Err(problem) => refused = Some(problem.to_string()),
        }
        if refused.is_some() {
            break;
        }
    }
    let refused = refused.expect("it is full");
    assert!(refused.contains("its disk is full, or it has reached its limit"), "{refused}");
    memory.forget(Forget::Source("/camera".to_owned())).await.expect("room is made");
    assert_eq!(ask(&conversations, &anna, "do that again").await, [], "what that is was never written down");
    assert_eq!(ask(&conversations, &anna, "and now the kitchen").await.last().unwrap().task, "do that again");
}

#[tokio::test]
async fn people_ask_what_they_asked_and_nobody_is_told_what_others_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let conversations = Conversations::new(memory.clone());
    let (anna, ben) = (on_the_page("anna's", None), on_the_page("ben's", None));
    ask(&conversations, &anna, "water the plants").await;
    ask(&conversations, &ben, "hide the \"present\"").await;
    let event = Speaker { origin: Origin::new("event", "morning"), session: None };
    ask(&conversations, &event, "patrol").await;
    conversations.settle().await.expect("written down");
    drop((conversations, memory));

    let memory = open(folder.path()).await;
    let conversations = Conversations::new(memory.clone());
    let tools = MemoryTools::new(memory.clone(), Arc::new(|| None), "map".to_owned(), SpokenTasks::default());
    assert!(!tools.specs().iter().any(|spec| spec.name.as_str() == "memory.conversation"));
    let tools = tools.with_conversations(conversations.clone());
    assert!(tools.specs().iter().any(|spec| spec.name.as_str() == "memory.conversation"));
    let recall = async |speaker: &Speaker, when: &str| {
        let mission = MissionId::new("asks");
        conversations.begin(&mission, speaker, "what did I ask you?", AN_HOUR).await.expect("begun");
        let call = ToolCall {
            tool: "memory.conversation".into(),
            arguments: serde_json::Map::from_iter([("when".to_owned(), when.into())]),
        };
        let spec = tools.specs().into_iter().find(|spec| spec.name == call.tool).expect("it is offered");
        let invocation = Invocation {
            mission: mission.clone(),
            id: CallId(1),
            call,
            fingerprint: spec.fingerprint(),
            timeout: AN_HOUR,
        };
        let outcome = tools.invoke(invocation, Arc::new(Unobserved)).await;
        let said = if outcome.message.is_empty() { outcome.text() } else { outcome.message };
        conversations.end(&mission, &result(MissionStatus::Answered, "that"));
        conversations.settle().await.expect("written down");
        said
    };
    let said = recall(&anna, "before").await;
    assert!(said.contains("water the plants") && said.contains("SUCCEEDED"), "{said}");
    assert!(!said.contains("present") && !said.contains("patrol"), "{said}");
    let said = recall(&ben, "Before?").await;
    assert!(said.contains("present") && !said.contains("plants"), "{said}");
    let said = recall(&ben, "").await;
    assert!(said.contains("what did I ask you?"), "the question before it: {said}");
    let said = recall(&anna, "in spring").await;
    assert!(said.contains("ask for today, yesterday, or before"), "{said}");

    let all = memory.exchanges(ExchangeQuery::default(), 100).await.unwrap();
    assert!(all.iter().all(|asked| asked.task != "patrol"), "what events do is no conversation");
    let line = all.last().expect("the first").line();
    assert!(line.contains("\"water the plants\": SUCCEEDED: \"Done: water the plants.\""), "{line}");
}

#[tokio::test]
async fn what_was_asked_between_two_times_is_found_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let conversations = Conversations::new(open(folder.path()).await);
    ask(&conversations, &in_session("home"), "water the plants").await;
    conversations.settle().await.expect("written down");
    drop(conversations);
    age(folder.path(), 2 * DAY);
    let memory = open(folder.path()).await;
    let conversations = Conversations::new(memory.clone());
    ask(&conversations, &in_session("home"), "go to the hall").await;
    ask(&conversations, &in_session("work"), "go to the office").await;
    let all = memory.exchanges(ExchangeQuery::default(), 10).await.unwrap();
    let tasks = |asked: &[Exchange]| asked.iter().map(|asked| asked.task.clone()).collect::<Vec<_>>();
    assert_eq!(tasks(&all), ["go to the office", "go to the hall", "water the plants"]);
    let noon = all[2].began.wall_ms + DAY;
    let before = ExchangeQuery { until_ms: Some(noon), ..ExchangeQuery::default() };
    assert_eq!(tasks(&memory.exchanges(before, 10).await.unwrap()), ["water the plants"]);
    let since = ExchangeQuery { from_ms: noon, session: Some("home".to_owned()), ..ExchangeQuery::default() };
    assert_eq!(tasks(&memory.exchanges(since, 10).await.unwrap()), ["go to the hall"]);
    assert_eq!(tasks(&memory.exchanges(ExchangeQuery::default(), 1).await.unwrap()), ["go to the office"]);
}
