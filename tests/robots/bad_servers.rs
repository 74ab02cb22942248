//! Services and actions of any robot that misbehave, on real ROS 2, served by rclpy: one outcome each, with its reason.

use std::sync::{Mutex, mpsc};

use cortex_stories::{PATIENCE, Sent, TestRobot, calls, finish_send, model, prompts, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// A plan of one call, carried out; and an answer, whatever came of it.
async fn one_call(tool: &str, arguments: Value) -> OpenAiServer {
    model([calls([(tool, arguments)]), says("EXECUTE"), says("That is all.")]).await
}

/// A test robot with such servers, and a model that calls one of them.
async fn call_of(script: &str, kind: &str, options: &[&str]) -> (TestRobot, Sent) {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    let arguments: Vec<&str> = [kind].iter().chain(options).copied().collect();
    test_robot.start_python("bad", script, &arguments).await;
    let (tool, arguments) = match script {
        "bad_goals.py" => (format!("send_goal_to_{kind}"), json!({"order": 7})),
        _ => (format!("send_request_to_{kind}"), json!({"data": true})),
    };
    let model = one_call(&tool, arguments).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("do it").await;
    (test_robot, sent)
}

fn failure(sent: &Sent) -> (&str, &str) {
    let text = |place| sent.step(1).pointer(place).and_then(Value::as_str).unwrap_or_default();
    (text("/outcome/status/failed"), text("/outcome/message"))
}

#[tokio::test]
async fn a_service_that_answers_late_is_waited_for() {
    let (_house, sent) = call_of("bad_services.py", "answers_late", &[]).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
}

#[tokio::test]
async fn a_second_answer_is_nobodys() {
    let (test_robot, sent) = call_of("bad_services.py", "answers_twice", &[]).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let (code, answer, complained) =
        test_robot.run("cortex", &["call", "send_request_to_answers_twice", r#"{"data": false}"#]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(answer.contains("it is False"), "the answer of an earlier call: {answer}");
}

#[tokio::test]
async fn a_service_that_never_answers_is_given_up_in_time() {
    let (_house, sent) = call_of("bad_services.py", "never_answers", &[]).await;
    assert_eq!((sent.status(), failure(&sent).0), ("failed", "timeout"), "{sent:#?}");
    assert!(sent.output().contains("WARNING"), "nobody knows whether it moves: {}", sent.output());
}

#[tokio::test]
async fn a_service_that_dies_in_a_call_is_lost() {
    let (_house, sent) = call_of("bad_services.py", "dies", &[]).await;
    // A process that is gone without a goodbye is missed after a while; the call may run out of time before.
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert!(["component_lost", "timeout"].contains(&failure(&sent).0), "{sent:#?}");
}

#[tokio::test]
async fn a_goal_that_is_rejected_ends_the_plan_and_the_model_is_told() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("bad", "bad_goals.py", &["rejects"]).await;
    let model = one_call("send_goal_to_rejects", json!({"order": 7})).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("do it").await;
    assert_eq!((sent.status(), failure(&sent).0), ("failed", "reported"), "{sent:#?}");
    assert!(failure(&sent).1.contains("rejected"), "{sent:#?}");
    assert!(prompts(&model)[2].contains("rejected"), "{}", prompts(&model)[2]);
}

#[tokio::test]
async fn a_goal_that_is_aborted_fails_with_what_its_result_says() {
    let (_house, sent) = call_of("bad_goals.py", "aborts", &[]).await;
    assert_eq!((sent.status(), failure(&sent).0), ("failed", "reported"), "{sent:#?}");
    let message = failure(&sent).1;
    assert!(message.contains("aborted") && message.contains("[7]"), "{message}");
}

#[tokio::test]
async fn a_goal_that_is_accepted_late_is_waited_for() {
    let (_house, sent) = call_of("bad_goals.py", "accepts_late", &[]).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    assert_eq!(sent.step(1)["outcome"]["value"]["sequence"], json!([7]));
}

#[tokio::test]
async fn a_goal_that_is_never_accepted_is_given_up_in_time() {
    let (_house, sent) = call_of("bad_goals.py", "never_accepts", &[]).await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert!(["timeout", "unavailable"].contains(&failure(&sent).0), "{sent:#?}");
    assert!(sent.output().contains("WARNING"), "it may have begun: {}", sent.output());
}

#[tokio::test]
async fn a_goal_whose_server_dies_is_lost_and_the_next_ones_work() {
    let (mut test_robot, sent) = call_of("bad_goals.py", "dies", &[]).await;
    assert_eq!((sent.status(), failure(&sent).0), ("failed", "component_lost"), "{sent:#?}");
    assert!(sent.output().contains("WARNING"), "it was moving, and nobody knows: {}", sent.output());
    test_robot.end("bad");
    test_robot.start_python("good", "bad_goals.py", &["works"]).await;
    let (code, answer, complained) = test_robot.run("cortex", &["call", "send_goal_to_works", r#"{"order": 8}"#]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(answer.contains('8'), "{answer}");
}

#[tokio::test]
async fn a_flood_of_feedback_neither_drowns_the_result_nor_the_person() {
    let (_house, sent) = call_of("bad_goals.py", "floods", &["--seconds", "3"]).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    // About one a second is told, of some thousand that came.
    let told = sent.lines().iter().filter(|line| line.starts_with("in flight: ")).count();
    assert!((1..=10).contains(&told), "{told} lines of progress");
}

#[tokio::test]
async fn a_goal_without_new_feedback_is_told_as_stalled() {
    let (_house, sent) = call_of("bad_goals.py", "stalls", &["--seconds", "13"]).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let lines = sent.lines();
    let seconds = |line: &&str| -> Option<u32> {
        let (_, told) = line.split_once("[WARNING: no new feedback for ")?;
        told.strip_suffix(" s]")?.parse().ok()
    };
    let stalled: Vec<u32> = lines.iter().filter_map(seconds).collect();
    assert!(stalled.first().is_some_and(|first| *first >= 10), "from 10 s on: {lines:#?}");
    assert!(stalled.is_sorted_by(|earlier, later| earlier < later), "once a second: {lines:#?}");
}

#[tokio::test]
async fn a_stop_says_of_each_goal_whether_it_stopped_refused_or_is_unknown() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    // All three are of one node, and would wait for each other.
    test_robot.configure("[discovery.resources]\n\"/**\" = []\n");
    let kinds = ["works", "refuses_cancel", "ignores_cancel"];
    test_robot.start_python("bad", "bad_goals.py", &[&kinds[..], &["--seconds", "40"]].concat()).await;
    let goal = |kind: &str| format!("send_goal_to_{kind}");
    let goals: Vec<(String, Value)> =
        kinds.iter().zip(1..).map(|(kind, order)| (goal(kind), json!({"order": order}))).collect();
    let model = model([Served::Calls(goals), says("EXECUTE"), says("EXECUTE"), says("EXECUTE")]).await;
    test_robot.start_cortex_with(&model).await;
    let mut sending = test_robot.begin_send("do all three");
    let all_three = |line: &Value| line["data"]["payload"]["in_flight"].as_array().is_some_and(|all| all.len() == 3);
    sending.wait_for_json("three goals in flight", all_three).await;
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(!told.contains("works"), "{told}");
    assert!(told.contains("refuses_cancel") && told.contains("ignores_cancel"), "{told}");
    let sent = finish_send(sending).await;
    let halts: Vec<&Value> = (1..=3).map(|number| &sent.step(number)["outcome"]["halt"]).collect();
    assert_eq!(halts, [&json!("halted"), &json!("refused"), &json!("unconfirmed")], "{sent:#?}");
    assert!(sent.output().contains("send_goal_to_refuses_cancel refused to halt"), "{}", sent.output());
    assert!(sent.output().contains("send_goal_to_ignores_cancel did not confirm"), "{}", sent.output());
    test_robot.process("bad").wait_for_json("the end", |line| line["order"] == 1 && line["event"] == "canceled").await;
}

#[tokio::test]
async fn a_graph_that_flaps_does_not_disturb_what_works() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("flapping", "bad_services.py", &["works", "--flap"]).await;
    let model = model(
        (0..5)
            .flat_map(|_| [calls([("send_request_to_works", json!({"data": true}))]), says("EXECUTE"), says("Done.")]),
    )
    .await;
    test_robot.start_cortex_with(&model).await;
    for _ in 0..5 {
        let sent = test_robot.send("do it").await;
        assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    }
}

/// A component crashes and comes back as another version, while the model thinks about a step that was planned for the
/// first one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_method_that_means_something_else_than_when_it_was_planned_is_not_called() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start("painter", "cortex-misbehave", &["fails", "--name", "painter"]).await;
    let (asked, mut was_asked) = tokio::sync::mpsc::channel(1);
    let (go_on, may_go_on) = mpsc::sync_channel::<()>(1);
    let may_go_on = Mutex::new(may_go_on);
    let model = OpenAiServer::answering(move |request| {
        let told = request["messages"].to_string();
        if told.contains("Decide on one step") {
            let _ = asked.try_send(());
            let _ = tokio::task::block_in_place(|| may_go_on.lock().unwrap().recv_timeout(PATIENCE));
            return says("EXECUTE");
        }
        if told.contains("- 1.1 ") { says("It has changed.") } else { calls([("painter-go", json!({}))]) }
    })
    .await
    .unwrap();
    test_robot.start_cortex_with(&model).await;
    let sending = test_robot.begin_send("paint the wall");
    tokio::time::timeout(PATIENCE, was_asked.recv()).await.unwrap().unwrap();
    let offered = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| line.starts_with("tools: ")).cloned().collect()
    };
    let before = offered(&test_robot.process("cortex").stdout());
    test_robot.process("painter").signal("KILL");
    // Were this one called, it would die.
    test_robot.start("repainter", "cortex-misbehave", &["dies-in-step", "--name", "painter"]).await;
    let as_many_again = |lines: &[String]| {
        let now = offered(lines);
        (now.len() > before.len() && now.last() == before.last()).then_some(())
    };
    test_robot.process("cortex").wait_for("its tools anew", as_many_again).await;
    go_on.send(()).unwrap();
    let sent = finish_send(sending).await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    // While the new one is being asked what it can do, there is no such tool.
    assert!(["changed", "not_found"].contains(&failure(&sent).0), "{sent:#?}");
    let (code, _, complained) = test_robot.run("cortex", &["inspect", "painter"]).await;
    assert_eq!(code, Some(0), "it is gone: {complained}");
}
