//! Answers that arrive as a stream, on real ROS 2: people hear them while they arrive.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cortex_stories::{Process, TestRobot, calls, finish_send, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The words of the answers that only show that the listener is there, and that the model does not think aloud.
const HERE: &str = "Here.";

/// A robot whose model answers greetings, and else does this, and a listener that has heard an answer.
async fn robot_with_listener(script: Vec<Served>) -> (TestRobot, Process, OpenAiServer) {
    let script = Mutex::new(VecDeque::from(script));
    let model = OpenAiServer::answering(move |request| {
        let is_greeting = request.to_string().contains(r#"words: \"hello\""#);
        let next = || script.lock().ok()?.pop_front();
        if is_greeting { says(HERE) } else { next().unwrap_or_else(|| Served::Raw(500, "over".into())) }
    });
    let model = model.await.expect("a free port");
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex_with(&model).await;
    let mut listener = test_robot.spawn_python("output_listener.py", &[]);
    listener.wait_for_line("ready").await;
    let is_heard = |lines: &[String]| texts(lines).last().is_some_and(|(text, _)| text == HERE);
    // Whatever is published before both have found each other is lost.
    for _ in 0..20 {
        test_robot.send("hello").await;
        if is_heard(&listener.stdout()) {
            break;
        }
    }
    listener.wait_for("a whole answer", |lines| is_heard(lines).then_some(())).await;
    (test_robot, listener, model)
}

/// The texts on `~/output`, each with the number of its pieces. The last one may not have ended.
fn texts(lines: &[String]) -> Vec<(String, usize)> {
    let mut texts: Vec<(String, usize)> = Vec::new();
    let mut has_ended = true;
    for heard in lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if has_ended {
            texts.push((String::new(), 0));
        }
        let (Some(text), Some(words)) = (texts.last_mut(), heard.get("words").and_then(Value::as_str)) else {
            continue;
        };
        text.0.push_str(words);
        text.1 += 1;
        has_ended = heard.get("done") == Some(&Value::Bool(true));
    }
    texts
}

#[tokio::test]
async fn an_answer_is_heard_while_it_comes() {
    let go_on = Arc::new(Notify::new());
    let held = Served::Begun("Good morning".into(), Arc::clone(&go_on), ", dear guest.".into());
    let (test_robot, mut listener, _model) = robot_with_listener(vec![held]).await;
    let mut sending = test_robot.begin_send("good morning");
    let begun = sending.wait_for_json("the first words", |event| event["type"] == "cortex.answer.progressed").await;
    let words = begun.pointer("/data/payload/words").and_then(Value::as_str).unwrap_or_default();
    assert!(!words.is_empty() && "Good morning".starts_with(words), "{begun:#}");
    let begins = |lines: &[String]| texts(lines).last().is_some_and(|(text, _)| text.starts_with("Good"));
    listener.wait_for("the first words", |lines| begins(lines).then_some(())).await;
    go_on.notify_one();
    let sent = finish_send(sending).await;
    assert_eq!(sent.words(), "Good morning, dear guest.", "{sent:#?}");
    let whole = listener
        .wait_for("the last words", |lines| texts(lines).into_iter().find(|(text, _)| text.ends_with("guest.")))
        .await;
    assert_eq!(whole.0, "Good morning, dear guest.", "each word once");
    assert!(whole.1 > 1, "it came in pieces");
}

/// The mission compares words about acts with the record before it publishes them.
#[tokio::test]
async fn words_about_what_was_done_are_heard_as_a_whole() {
    let plan = calls([("base-go_to", json!({"place": "kitchen"}))]);
    let (test_robot, mut listener, _model) =
        robot_with_listener(vec![plan, says("EXECUTE"), says("I am in the kitchen and had a coffee.")]).await;
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let words = "I am in the kitchen and had a coffee.";
    let whole = listener.wait_for("the words", |lines| texts(lines).pop().filter(|(text, _)| text == words)).await;
    assert_eq!(whole.1, 1, "in one piece");
}

/// A small model on a real server repeated itself to the time limit, and all of it was told.
#[tokio::test]
async fn regression_a_model_that_repeats_itself_is_cut_and_not_told_in_full() {
    let endless = || Served::Endless("I can help you with that. ".into());
    let (test_robot, _listener, _model) = robot_with_listener(vec![endless(), endless()]).await;
    let sent = test_robot.send("good morning").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert!(sent.output().contains("it repeated itself without end"), "{}", sent.output());
    assert!(sent.output().len() < 1_000, "{}", sent.output());
}
