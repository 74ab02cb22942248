//! Language models that misbehave, behind a real HTTP port, with the robot on real ROS 2. Nothing moves on a garbled
//! answer, and every task ends in one result with a reason.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here")]

use cortex_stories::{Sent, TestRobot, finish_send};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// Cortex with a model that does this, and a component to call.
async fn told(script: Vec<Served>) -> (Sent, usize) {
    let server = OpenAiServer::start(script).await.expect("a free port");
    let mut test_robot = TestRobot::empty();
    test_robot.start("good", "cortex-misbehave", &["echo", "--name", "parrot"]).await;
    let model = format!("openai:scripted@{}", server.url());
    let quick = ["-p", "endpoint.attempt_timeout_s:=2.0", "-p", "endpoint.request_timeout_s:=4.0"];
    let arguments: Vec<&str> = ["--model", &model, "--ros-args"].iter().chain(&quick).copied().collect();
    test_robot.start_cortex(&arguments).await;
    let sent = test_robot.send("say something").await;
    (sent, server.requests().len())
}

fn echo() -> Served {
    Served::Calls(vec![("parrot-echo".into(), json!({"text": "hi"}))])
}

fn text(text: &str) -> Served {
    Served::Text(text.into())
}

fn assert_failed_without_a_step(sent: &Sent, reason: &str) {
    assert_eq!((sent.status(), sent.code), ("failed", Some(1)), "{sent:#?}");
    assert_eq!(sent.started(), Vec::<&str>::new(), "{sent:#?}");
    assert!(sent.output().to_lowercase().contains(&reason.to_lowercase()), "{reason}: {}", sent.output());
}

#[tokio::test]
async fn a_server_that_fails_is_tried_again_and_then_named() {
    let (sent, requests) = told(vec![Served::Raw(500, "oh no".into()); 8]).await;
    assert_failed_without_a_step(&sent, "500");
    assert_eq!(requests, 3, "one attempt and two retries");
    let recovers =
        vec![Served::Raw(500, "{}".into()), Served::Raw(429, "{}".into()), echo(), text("EXECUTE"), text("Said.")];
    let (sent, _) = told(recovers).await;
    assert_eq!((sent.status(), sent.words()), ("succeeded", "Said."), "{sent:#?}");
}

#[tokio::test]
async fn too_many_requests_end_with_that_reason() {
    let (sent, _) = told(vec![Served::Raw(429, "{\"error\":{\"message\":\"slow down\"}}".into()); 8]).await;
    assert_failed_without_a_step(&sent, "429");
}

#[tokio::test]
async fn a_server_that_hangs_ends_the_mission_in_time() {
    let (sent, _) = told(vec![Served::Hang, Served::Hang, Served::Hang, Served::Hang]).await;
    assert_failed_without_a_step(&sent, "no answer within");
}

#[tokio::test]
async fn a_reply_that_is_not_json_ends_the_mission() {
    let (sent, _) = told(vec![Served::Raw(200, "<html>hello</html>".into()); 8]).await;
    assert_failed_without_a_step(&sent, "The model failed");
}

#[tokio::test]
async fn a_model_that_says_nothing_is_given_up() {
    let (sent, requests) = told(vec![text(""); 12]).await;
    assert_failed_without_a_step(&sent, "neither a plan nor an answer in 10 turns");
    assert_eq!(requests, 10);
}

/// The reference system reports success when the model stops talking.
#[tokio::test]
async fn regression_a_model_that_only_says_that_it_acted_is_no_success() {
    let (sent, requests) = told(vec![text("Done, I said it!"), text("I did say it.")]).await;
    assert_failed_without_a_step(&sent, "The model only said: \"I did say it.\"");
    assert_eq!(sent.account(), "Nothing was done, nothing was looked at.");
    assert_eq!(requests, 2);
}

#[tokio::test]
async fn wrong_calls_go_back_to_the_model_and_only_the_right_one_runs() {
    let wrong = |name: &str, arguments: Value| Served::Calls(vec![(name.into(), arguments)]);
    let cut = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "parrot-echo", "arguments": "{\"text\": \"h"}}]}}]});
    let script = vec![
        wrong("parrot-fly", json!({})),
        wrong("parrot-echo", json!({})),
        wrong("parrot-echo", json!({"text": 7})),
        Served::Raw(200, cut.to_string()),
        echo(),
        text("EXECUTE"),
        text("Said."),
    ];
    let (sent, requests) = told(script).await;
    assert_eq!((sent.status(), sent.words()), ("succeeded", "Said."), "{sent:#?}");
    assert_eq!((sent.started(), requests), (vec!["parrot.echo"], 7));
}

/// The reference system executes the step in each of these cases.
#[tokio::test]
async fn regression_a_garbled_confirmation_runs_nothing() {
    for garbled in [
        vec![text("hm, let me see"), text("Do not EXECUTE")],
        vec![text("**ABORT** - unsafe")],
        vec![text("Decision: ABORT")],
        vec![Served::Calls(vec![("inspect_component".into(), json!({"component": "parrot"}))]), text("?")],
    ] {
        let script: Vec<Served> =
            [echo()].into_iter().chain(garbled.clone()).chain([text("I could not do it.")]).collect();
        let (sent, _) = told(script).await;
        assert_failed_without_a_step(&sent, "I could not do it. (Not done: step 1 (parrot.echo) was not run");
    }
}

#[tokio::test]
async fn a_task_can_be_cancelled_while_the_model_hangs() {
    let server = OpenAiServer::start([Served::Hang]).await.unwrap();
    let mut test_robot = TestRobot::empty();
    test_robot.start_cortex(&["--model", &format!("openai:scripted@{}", server.url())]).await;
    let mut sending = test_robot.begin_send("say something");
    sending.wait_for_line("\"type\":\"cortex.plan.requested\"").await;
    sending.signal("INT");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.code), ("cancelled", Some(130)), "{sent:#?}");
}
