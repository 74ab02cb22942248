//! Recorded missions, asked anew of models behind real HTTP: one that agrees, one that adds an act, one that says too early
//! that it is done, one that calls what it may not, one that is down; and of what was recorded itself.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test whose set-up fails ends here, and says why")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::ChatModel;
use cortex_core::mission::Prices;
use cortex_evaluation::{
    Candidate, MissionScore, ModelScore, Recording, Variation, evaluate, recordings, replay_model,
};
use cortex_evaluation::{TapesError, table};
use cortex_model::{ModelSettings, build};
use cortex_protocol::MissionStatus;
use cortex_runtime::tape::Folder;
use cortex_testkit::{Line, OpenAiServer, Served, calls, record_mission, says};
use serde_json::{Value, json};
use tempfile::TempDir;

const TASK: &str = "Look around, then go to the kitchen.";

fn go(place: &str) -> (&'static str, Value) {
    ("base-go_to", json!({"place": place}))
}

/// What the recorded model said: a look, a plan, the decision on its step, and the closing words.
fn script() -> Vec<Line> {
    vec![calls(&[("camera-look", json!({}))]), calls(&[go("kitchen")]), says("EXECUTE"), says("I am in the kitchen.")]
}

/// The same, as a server says it.
fn served() -> Vec<Served> {
    vec![
        served_calls(&[("camera-look", json!({}))]),
        served_calls(&[go("kitchen")]),
        Served::Text("EXECUTE".to_owned()),
        Served::Text("I have reached the kitchen.".to_owned()),
    ]
}

fn served_calls(calls: &[(&str, Value)]) -> Served {
    Served::Calls(calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect())
}

/// A folder with the tape of one mission, which succeeded.
async fn recorded() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let result = record_mission(folder.path(), TASK, script()).await.expect("a mission");
    assert_eq!(result.status, MissionStatus::Succeeded, "{result:#?}");
    folder
}

fn all(folder: &Path) -> Vec<Recording> {
    recordings(&[], &Folder::new(folder.to_owned())).expect("tapes")
}

fn behind(url: &str, variation: Variation) -> Candidate {
    let name = format!("openai:tried@{url}");
    let settings = ModelSettings { retries: 0, ..ModelSettings::default() };
    let model = build(&name.parse().expect("a model"), settings).expect("a model");
    candidate(name, model, variation)
}

fn candidate(name: String, model: Arc<dyn ChatModel>, variation: Variation) -> Candidate {
    let prices = Prices { prompt: 1.0, completion: 2.0 };
    Candidate { name, model, prices, timeout: Duration::from_secs(60), variation }
}

/// Asks a server with this script, and gives the score with that of its one mission.
async fn asked(folder: &TempDir, script: Vec<Served>) -> (ModelScore, MissionScore, OpenAiServer) {
    let server = OpenAiServer::start(script).await.expect("a port");
    let (score, unread) = evaluate(&all(folder.path()), &behind(&server.url(), Variation::default()), 1, |_| ()).await;
    assert!(unread.is_empty(), "{unread:?}");
    let mission = score.each[0].clone();
    (score, mission, server)
}

#[tokio::test]
async fn a_model_that_agrees_would_have_done_as_recorded() {
    let folder = recorded().await;
    let (score, mission, server) = asked(&folder, served()).await;
    assert_eq!((score.missions, score.recorded_successes, score.successes), (1, 1, 1), "{score:#?}");
    assert_eq!((score.false_successes, score.out_of_policy, score.diverged), (0, 0, 0));
    assert_eq!((score.requests, score.unanswered), (4, 0));
    assert_eq!((score.prompt_tokens, score.completion_tokens), (40, 20), "as the server counts");
    assert!((score.cost - (40.0 + 2.0 * 20.0) / 1e6).abs() < 1e-12, "{}", score.cost);
    assert_eq!((mission.recorded.task.as_str(), mission.cut_short), (TASK, None));
    let requests = server.requests();
    let text = requests[1].to_string();
    assert!(text.contains(TASK) && text.contains("a table"), "the question has what was found then: {text}");
    let table = table::table(&[score]);
    assert!(table.contains("1 of 1") && table.starts_with("model "), "{table}");
}

#[tokio::test]
async fn a_model_that_adds_an_act_diverges_at_its_plan() {
    let folder = recorded().await;
    let mut script = served();
    script[1] = served_calls(&[go("kitchen"), go("bedroom")]);
    let (score, mission, _server) = asked(&folder, script).await;
    assert_eq!((score.successes, score.diverged, score.divergence_step), (0, 1, Some(2)), "{score:#?}");
    assert_eq!(score.requests, 4, "each question is asked as it came up then");
    let divergence = mission.divergence.expect("one");
    assert!(divergence.now.contains("bedroom") && !divergence.recorded.contains("bedroom"), "{divergence:?}");
    assert!(table::differences(&score).contains("question 2: recorded: plans base.go_to"));
}

#[tokio::test]
async fn a_model_that_says_too_early_that_it_is_done_is_a_false_success() {
    let folder = recorded().await;
    let mut script = served();
    script[1] = Served::Text("I am in the kitchen.".to_owned());
    let (score, mission, _server) = asked(&folder, script).await;
    assert_eq!((score.successes, score.false_successes, mission.false_successes), (0, 1, vec![2]), "{score:#?}");
}

#[tokio::test]
async fn words_of_success_are_none_where_the_record_knows_better() {
    let folder = tempfile::tempdir().expect("a folder");
    let lamp = calls(&[("lamp-switch", json!({"on": true}))]);
    let script = [lamp, says("EXECUTE"), says("FAIL"), says("The bulb is broken.")];
    let result = record_mission(folder.path(), "Switch the lamp on.", script).await.expect("a mission");
    assert_eq!(result.status, MissionStatus::Failed, "{result:#?}");
    let lamp = served_calls(&[("lamp-switch", json!({"on": true}))]);
    let [execute, fail, done] = ["EXECUTE", "FAIL", "It is on."].map(|text| Served::Text(text.to_owned()));
    let (score, ..) = asked(&folder, vec![lamp, execute, fail, done]).await;
    assert_eq!((score.recorded_successes, score.successes), (0, 0), "{score:#?}");
    assert_eq!(score.false_successes, 0, "the machine knows the record, whatever the model says: {score:#?}");
}

#[tokio::test]
async fn calls_that_cortex_refuses_are_counted_with_their_reason() {
    let folder = recorded().await;
    for (call, reason) in [
        (("arm-wave", json!({})), "The arm hits the shelf."),
        (("base-fly_to", json!({"place": "kitchen"})), "there is no tool of this name"),
        (go("cellar"), "place"),
    ] {
        let mut script = served();
        script[1] = served_calls(&[call]);
        let (score, mission, _server) = asked(&folder, script).await;
        assert_eq!((score.out_of_policy, score.successes), (1, 0), "{score:#?}");
        let refusal = &mission.refusals[0];
        assert!(refusal.question == 2 && refusal.problem.contains(reason), "{refusal:?}");
    }
}

#[tokio::test]
async fn a_decision_that_is_another_one_diverges() {
    let folder = recorded().await;
    let mut script = served();
    script[2] = Served::Text("ABORT: somebody stands there".to_owned());
    let (score, mission, _server) = asked(&folder, script).await;
    assert_eq!(score.divergence_step, Some(3));
    let divergence = mission.divergence.expect("one");
    assert!(divergence.recorded.starts_with("EXECUTE") && divergence.now == "ABORT", "{divergence:?}");
}

#[tokio::test]
async fn a_model_that_is_down_is_not_asked_for_ever() {
    let folder = recorded().await;
    for _ in 0..4 {
        record_mission(folder.path(), TASK, script()).await.expect("a mission");
    }
    let dead = behind("http://127.0.0.1:9/v1", Variation::default());
    let (score, unread) = evaluate(&all(folder.path()), &dead, 1, |_| ()).await;
    assert!(unread.is_empty());
    assert_eq!((score.requests, score.unanswered, score.successes), (3, 3, 0), "{score:#?}");
    assert_eq!((score.each.len(), score.missions), (5, 1), "the others are not asked about");
    assert!(score.each[0].failure.as_ref().is_some_and(|told| !told.is_empty()));
    assert_eq!(score.each[4].cut_short.as_deref(), Some("the model gave no answers"));
}

#[tokio::test]
async fn a_recording_answers_in_the_place_of_its_model() {
    let folder = recorded().await;
    let (replay, unread) = replay_model(folder.path(), "replay".to_owned()).expect("a recording");
    assert!(unread.is_empty(), "{unread:?}");
    let replay = candidate("replay".to_owned(), Arc::new(replay), Variation::default());
    let (score, _) = evaluate(&all(folder.path()), &replay, 1, |_| ()).await;
    assert_eq!((score.successes, score.diverged, score.unanswered), (1, 0, 0), "{score:#?}");

    // A further run of the same mission has other ids and times, and is answered all the same.
    let again = recorded().await;
    let (score, _) = evaluate(&all(again.path()), &replay, 1, |_| ()).await;
    assert_eq!((score.successes, score.unanswered), (1, 0), "{score:#?}");

    let other = tempfile::tempdir().expect("a folder");
    let to_bedroom = [calls(&[go("bedroom")]), says("EXECUTE"), says("I am in the bedroom.")];
    record_mission(other.path(), "Go to the bedroom.", to_bedroom).await.expect("a mission");
    let (score, _) = evaluate(&all(other.path()), &replay, 1, |_| ()).await;
    assert_eq!(score.successes, 0);
    let told = score.each[0].failure.clone().expect("why");
    assert!(told.contains("the recording holds no reply") && told.contains("line "), "{told}");
}

#[tokio::test]
async fn regression_one_unreadable_tape_kept_a_folder_from_being_replayed() {
    let folder = recorded().await;
    let foreign = folder.path().join("00000000-0000-7000-8000-000000000000.jsonl");
    std::fs::write(&foreign, "no tape\n").expect("a file");
    let (replay, unread) = replay_model(folder.path(), "replay".to_owned()).expect("the other one");
    let [problem] = unread.as_slice() else { panic!("one is no tape: {unread:?}") };
    assert!(problem.to_string().contains("00000000-0000-7000"), "{problem}");
    let replay = candidate("replay".to_owned(), Arc::new(replay), Variation::default());
    let (score, _) = evaluate(&all(folder.path()), &replay, 1, |_| ()).await;
    assert_eq!((score.successes, score.unanswered), (1, 0), "{score:#?}");
    let nothing = replay_model(&foreign, "replay".to_owned()).map(|_| ()).expect_err("nothing");
    assert!(matches!(nothing, TapesError::Tape { .. }), "{nothing}");
}

#[tokio::test]
async fn reflex_can_be_asked_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = [calls(&[go("kitchen")]), says("EXECUTE"), says("I am in the kitchen.")];
    record_mission(folder.path(), "base go_to kitchen", script).await.expect("a mission");
    let model = build(&"reflex".parse().expect("a model"), ModelSettings::default()).expect("reflex");
    let reflex = candidate("reflex".to_owned(), model, Variation::default());
    let (score, _) = evaluate(&all(folder.path()), &reflex, 1, |_| ()).await;
    assert_eq!((score.requests, score.unanswered, score.out_of_policy), (3, 0, 0), "{score:#?}");
}

#[tokio::test]
async fn other_rules_and_settings_reach_the_model_and_nothing_else_changes() {
    let folder = recorded().await;
    let server = OpenAiServer::start(served()).await.expect("a port");
    let variation = Variation {
        planning_rules: Some("Plan like a cat.".to_owned()),
        planning_temperature: Some(1.5),
        confirmation_tokens: Some(77),
        ..Variation::default()
    };
    let (score, _) = evaluate(&all(folder.path()), &behind(&server.url(), variation), 1, |_| ()).await;
    assert_eq!(score.successes, 1, "{score:#?}");
    let requests = server.requests();
    assert_eq!(requests[0]["temperature"], json!(1.5));
    let (plan, confirm) = (requests[0].to_string(), requests[2].to_string());
    assert!(plan.contains("Plan like a cat.") && !plan.contains("You are Cortex, the planner"), "{plan}");
    assert!(!confirm.contains("Plan like a cat.") && confirm.contains("77"), "{confirm}");
}

#[tokio::test]
async fn missions_keep_their_order_however_many_are_asked_about_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    for place in ["kitchen", "bedroom", "kitchen", "bedroom"] {
        let script = [calls(&[go(place)]), says("EXECUTE"), says("There.")];
        record_mission(folder.path(), &format!("Go to the {place}."), script).await.expect("a mission");
    }
    let server = OpenAiServer::answering(|request| {
        let decides = request.to_string().contains("Decide on one step");
        if decides { Served::Text("EXECUTE".to_owned()) } else { served_calls(&[go("kitchen")]) }
    })
    .await
    .expect("a port");
    let tried = behind(&server.url(), Variation::default());
    let (one, _) = evaluate(&all(folder.path()), &tried, 1, |_| ()).await;
    let mut progress = Vec::new();
    let (many, _) = evaluate(&all(folder.path()), &tried, 4, |done| progress.push(done)).await;
    let without_time = |score: &ModelScore| -> Vec<MissionScore> {
        score.each.iter().map(|mission| MissionScore { seconds: 0.0, ..mission.clone() }).collect()
    };
    assert_eq!(without_time(&one), without_time(&many));
    assert_eq!(progress, [1, 2, 3, 4]);
    let tasks: Vec<&str> = many.each.iter().map(|mission| mission.recorded.task.as_str()).collect();
    assert_eq!(tasks, ["Go to the kitchen.", "Go to the bedroom.", "Go to the kitchen.", "Go to the bedroom."]);
}

#[tokio::test]
async fn a_tape_that_breaks_off_is_asked_about_up_to_there_and_a_foreign_file_is_named() {
    let folder = recorded().await;
    let tape = all(folder.path()).remove(0);
    let text = std::fs::read_to_string(&tape.path).expect("a tape");
    // The lines up to the first reply, and half a line.
    let end = text.find("\"cortex.input.context_gathered\"").or(text.find("\"cortex.research.started\"")).expect("one");
    std::fs::write(&tape.path, &text[..end]).expect("a cut tape");
    let foreign = folder.path().join("notes.jsonl");
    std::fs::write(&foreign, "{\"hello\": 1}\n").expect("a file");
    let named = [tape.path.display().to_string(), foreign.display().to_string()];
    let found = recordings(&named, &Folder::new(folder.path().to_owned())).expect("both");
    let server = OpenAiServer::start(served()).await.expect("a port");
    let (score, unread) = evaluate(&found, &behind(&server.url(), Variation::default()), 1, |_| ()).await;
    assert_eq!((score.requests, score.successes), (1, 0), "{score:#?}");
    assert_eq!(score.each[0].cut_short.as_deref(), Some("the tape breaks off"));
    let [(recording, problem)] = unread.as_slice() else { panic!("one file is no tape: {unread:?}") };
    assert_eq!(recording.path, foreign);
    assert!(problem.to_string().contains("is not a tape"), "{problem}");
}

#[tokio::test]
async fn what_names_no_tape_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = recordings(&["0199".to_owned()], &Folder::new(folder.path().to_owned())).expect_err("nothing");
    assert!(problem.to_string().contains("'0199' is neither a file nor a folder"), "{problem}");
    let nothing = replay_model(folder.path(), "replay".to_owned()).map(|_| ()).expect_err("nothing");
    assert!(matches!(nothing, TapesError::NoReplies { .. }), "{nothing}");
}
