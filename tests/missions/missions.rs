//! Missions with the simulated robot, on real ROS 2, from the sentence to the robot at rest.

use cortex_stories::{TestRobot, finish_send, wait_until_under_way};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// The room that the base says it is in.
async fn room_of(test_robot: &TestRobot) -> String {
    let sent = test_robot.send("where are you?").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    sent.output().to_owned()
}

#[tokio::test]
async fn a_sentence_moves_the_robot_and_the_answer_comes_from_what_it_sees() {
    let test_robot = TestRobot::with_robot("reflex").await;
    let sent = test_robot.send("go to the kitchen, look around and say what you see").await;
    assert_eq!((sent.status(), sent.code), ("succeeded", Some(0)), "{sent:#?}");
    assert!(sent.output().contains("a red cup"), "{}", sent.output());
    assert_eq!(sent.started(), ["base.go_to", "camera.look", "speaker.say"]);
    let spoken = sent.events.iter().rfind(|event| event["type"] == "cortex.step.started");
    let text = spoken.and_then(|event| event.pointer("/data/payload/arguments/text")).and_then(Value::as_str);
    assert!(text.is_some_and(|text| text.contains("a red cup")), "the placeholder was not bound: {text:?}");
    assert!(room_of(&test_robot).await.contains("kitchen"));
}

#[tokio::test]
async fn questions_are_answered_and_what_is_not_understood_moves_nothing() {
    let test_robot = TestRobot::with_robot("reflex").await;
    let battery = test_robot.send("how full is the battery?").await;
    assert_eq!(battery.status(), "succeeded", "{battery:#?}");
    assert!(battery.output().contains('%') || battery.output().contains("percent"), "{}", battery.output());
    for (task, named) in [
        ("go to the moon", "moon"),
        ("defenestrate the cat", "defenestrate"),
        ("go to the kitchen but do not turn on the light", "not"),
        ("if the door is open, go to the kitchen", "if"),
    ] {
        let refused = test_robot.send(task).await;
        assert_eq!((refused.status(), refused.code), ("failed", Some(1)), "{task}: {refused:#?}");
        assert!(refused.output().to_lowercase().contains(named), "{task}: {}", refused.output());
        assert_eq!(refused.started(), Vec::<&str>::new(), "{task}");
    }
    let other_script = test_robot.send("キッチンに行って").await;
    assert_eq!((other_script.status(), other_script.started().len()), ("failed", 0), "{other_script:#?}");
    for (task, reason) in [("   ", "The task is empty."), (&"go ".repeat(30_000), "bytes; at most 16384 are taken")] {
        let refused = test_robot.send(task).await;
        assert_eq!(refused.status(), "failed");
        assert!(refused.output().contains(reason), "{}", refused.output());
    }
}

/// The whole loop against an OpenAI-compatible server: inspection, a plan, a confirmation that resolves a placeholder,
/// the final answer.
#[tokio::test]
async fn the_same_mission_with_a_language_model() {
    let call = |name: &str, arguments: Value| (name.to_owned(), arguments);
    let server = OpenAiServer::start([
        Served::Calls(vec![call("inspect_component", json!({"component": "camera"}))]),
        Served::Calls(vec![
            call("base-go_to", json!({"place": "kitchen"})),
            call("camera-look", json!({})),
            call("speaker-say", json!({"text": "<what I see>"})),
        ]),
        Served::Text("EXECUTE".into()),
        Served::Text("EXECUTE".into()),
        Served::Calls(vec![call("speaker-say", json!({"text": "I see this: <output of step 2>"}))]),
        Served::Text("There is a red cup on the kitchen table.".into()),
    ])
    .await
    .unwrap();
    let test_robot = TestRobot::with_robot(&format!("openai:scripted@{}", server.url())).await;
    let sent = test_robot.send("go to the kitchen, look around and tell me what you see").await;
    assert_eq!((sent.status(), sent.code), ("succeeded", Some(0)), "{sent:#?}");
    assert_eq!(sent.words(), "There is a red cup on the kitchen table.");
    let lines = sent.lines().join("\n");
    assert!(lines.contains("speaker.say{\"text\":\"I see this: I see a kettle"), "{lines}");

    let requests = server.requests();
    assert_eq!(requests.len(), 6);
    let inspected = requests[1]["messages"].to_string();
    for known in ["/odom", "camera.look", "active"] {
        assert!(inspected.contains(known), "the inspection does not tell of {known}: {inspected}");
    }
    let offered = |index: usize| -> Vec<&str> {
        let tools = requests[index]["tools"].as_array().unwrap();
        tools.iter().filter_map(|tool| tool.pointer("/function/name").and_then(Value::as_str)).collect()
    };
    assert!(offered(0).contains(&"base-go_to") && offered(0).contains(&"decline_task"), "{:?}", offered(0));
    assert_eq!(offered(2), ["base-go_to"], "a confirmation carries the step's tool only");
    assert!(requests[5]["messages"].to_string().contains("a red cup"), "the record reaches the last request");
}

#[tokio::test]
async fn cancelling_on_the_way_leaves_the_robot_at_rest() {
    let test_robot = TestRobot::with_slow_robot().await;
    let mut sending = test_robot.begin_send("go to the bathroom");
    sending.wait_for_line("\"type\":\"cortex.step.started\"").await;
    sending.signal("INT");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.code), ("cancelled", Some(130)), "{sent:#?}");
    assert!(!sent.output().contains("WARNING"), "{}", sent.output());
    let (first, second) = (room_and_pose(&test_robot).await, room_and_pose(&test_robot).await);
    assert_eq!(first, second, "the robot still moves");
}

#[tokio::test]
async fn a_revision_in_mid_drive_sends_the_robot_to_the_other_room() {
    let test_robot = TestRobot::with_slow_robot().await;
    let mut sending = test_robot.begin_send("go to the bathroom");
    sending.wait_for_line("\"type\":\"cortex.step.started\"").await;
    wait_until_under_way(&mut sending).await;
    let (code, told, complaint) = test_robot.run("cortex", &["revise", "go to the hallway"]).await;
    assert!(code == Some(0) && told.contains("is revised"), "{told} {complaint}");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.code), ("succeeded", Some(0)), "{sent:#?}");
    assert_eq!(sent.started(), ["base.go_to", "base.go_to"]);
    let lines = sent.lines().join("\n");
    for told in ["the task is revised by ros /cortex/revise: go to the hallway", "base.go_to (step 1) has halted"] {
        assert!(lines.contains(told), "{told}: {lines}");
    }
    assert!(room_of(&test_robot).await.contains("hallway"));
    let (code, _, complaint) = test_robot.run("cortex", &["revise", "go to the kitchen"]).await;
    assert!(code == Some(1) && complaint.contains("no task runs"), "{complaint}");
}

/// What `base.where_am_i` returns.
async fn room_and_pose(test_robot: &TestRobot) -> Value {
    let sent = test_robot.send("where are you?").await;
    let researched = sent.events.iter().find(|event| event["type"] == "cortex.research.finished");
    researched.and_then(|event| event.pointer("/data/payload/outcome/value")).cloned().unwrap_or_default()
}

#[tokio::test]
async fn stop_halts_the_robot_and_holds_until_resume() {
    let test_robot = TestRobot::with_slow_robot().await;
    let mut sending = test_robot.begin_send("go to the bathroom");
    sending.wait_for_line("\"type\":\"cortex.step.started\"").await;
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("One task was ended. Everything that Cortex began is at rest."), "{told}");
    let sent = finish_send(sending).await;
    assert_eq!(sent.words(), "The robot was stopped.");
    let refused = test_robot.send("go to the kitchen").await;
    assert_eq!(refused.status(), "failed");
    assert!(refused.output().contains("run `cortex resume`"), "{}", refused.output());
    let (code, told, _) = test_robot.run("cortex", &["resume"]).await;
    assert_eq!((code, told.as_str()), (Some(0), "Tasks are taken again."));
    let sent = test_robot.send("say hello").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
}

#[tokio::test]
async fn a_second_task_waits_for_the_first_and_a_third_is_refused_when_none_may_wait() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut first = test_robot.begin_send("go to the kitchen");
    first.wait_for_line("\"type\":\"cortex.step.started\"").await;
    let mut second = test_robot.begin_send("go to the hallway");
    second.wait_for_line("\"type\":\"cortex.mission.queued\"").await;
    let faster = r#"{"component": "base", "param_name": "speed_mps", "new_value": 2.0}"#;
    let (code, told, problem) = test_robot.run("cortex", &["call", "update_parameter", faster]).await;
    assert_eq!(code, Some(0), "{told}{problem}");
    let (first, second) = (finish_send(first).await, finish_send(second).await);
    assert_eq!((first.status(), second.status()), ("succeeded", "succeeded"), "{second:#?}");
    assert!(room_of(&test_robot).await.contains("hallway"));

    // A robot so slow that it is still on its way when the second task comes.
    test_robot.end("sim");
    test_robot.start("sim", "cortex-sim", &["--ros-args", "-p", "speed_mps:=0.1"]).await;
    test_robot
        .start("strict", "cortex", &["run", "--ros-args", "-r", "__node:=strict", "-p", "queue.policy:=reject"])
        .await;
    let mut first = test_robot.spawn("cortex", &["send", "--json", "--server", "/strict", "go to the bathroom"]);
    first.wait_for_line("\"type\":\"cortex.step.started\"").await;
    let refused = test_robot.spawn("cortex", &["send", "--json", "--server", "/strict", "go to the bedroom"]);
    let refused = finish_send(refused).await;
    assert_eq!(refused.status(), "failed");
    assert!(refused.output().contains("takes one at a time"), "{}", refused.output());
    first.signal("INT");
    assert_eq!(finish_send(first).await.status(), "cancelled");
}

#[tokio::test]
async fn sigterm_ends_the_mission_with_a_result_and_the_process_without_a_crash() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut sending = test_robot.begin_send("go to the bathroom");
    sending.wait_for_line("\"type\":\"cortex.step.started\"").await;
    test_robot.process("cortex").signal("TERM");
    let sent = finish_send(sending).await;
    assert_eq!(sent.words(), "Cortex is shutting down.", "{sent:#?}");
    assert_eq!(test_robot.process("cortex").wait().await, Some(0));
}

#[tokio::test]
async fn components_that_come_and_go_are_followed() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_cortex(&[]).await;
    let refused = test_robot.send("say hello").await;
    assert_eq!(refused.status(), "failed", "{refused:#?}");
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.process("cortex").wait_for_line("(5 components)").await;
    let sent = test_robot.send("say hello").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    test_robot.process("sim").signal("TERM");
    assert_eq!(test_robot.process("sim").wait().await, Some(0));
    test_robot.process("cortex").wait_for_line("(0 components)").await;
}

#[tokio::test]
async fn names_and_namespaces_can_be_changed() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let arguments = ["run", "--ros-args", "-r", "__ns:=/robot1", "-r", "__node:=brain", "-p", "robot:=dora"];
    test_robot.start("cortex", "cortex", &arguments).await;
    let sending =
        test_robot.spawn("cortex", &["send", "--json", "--wait", "20", "--server", "/robot1/brain", "say hello"]);
    let sent = finish_send(sending).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    assert!(sent.events.iter().all(|event| event["source"] == "/dora/cortex"), "{:#?}", sent.events[0]);
}

#[tokio::test]
async fn a_budget_of_metres_ends_the_drive_and_the_robot_stands() {
    let mut test_robot = TestRobot::empty();
    test_robot.configure("[budget]\nmax_metres = 2.0\nodometry = \"/odom\"\nbattery = \"/battery_state\"\n");
    // So slow that what a busy machine adds is no metre.
    test_robot.start("sim", "cortex-sim", &["--ros-args", "-p", "speed_mps:=0.2"]).await;
    test_robot.start_cortex(&[]).await;
    let sent = test_robot.send("go to the bathroom").await;
    assert_eq!((sent.status(), sent.code), ("failed", Some(1)), "{sent:#?}");
    assert_eq!(sent.words(), "The task has used up its 2 metres.", "{:#?}", sent.lines());
    let lines = sent.lines().join("\n");
    assert!(lines.contains("of 2 metres are spent") && lines.contains("base.go_to (step 1) has halted"), "{lines}");
    let spent = sent.events.last().and_then(|event| event.pointer("/data/payload/result/usage/metres"));
    let spent = spent.and_then(Value::as_f64).unwrap();
    assert!((2.0..3.0).contains(&spent), "{spent} m: what it takes to halt comes on top");
    let (first, second) = (room_and_pose(&test_robot).await, room_and_pose(&test_robot).await);
    assert_eq!(first, second, "the robot still moves");
    // The next task has a budget of its own, and the way back is known to be longer than nothing.
    let (code, told, _) = test_robot.run("cortex", &["send", "say hello"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("spent: ") && told.contains("seconds"), "{told}");
}

#[tokio::test]
async fn a_budget_of_what_nobody_publishes_lets_nothing_move() {
    let mut test_robot = TestRobot::empty();
    test_robot.configure("[budget]\nmax_metres = 2.0\nodometry = \"/wheels/odom\"\n");
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&[]).await;
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!((sent.status(), sent.started().len()), ("failed", 0), "{sent:#?}");
    assert!(sent.output().contains("nothing measures them now"), "{}", sent.output());
    assert!(room_of(&test_robot).await.contains("in the"), "questions are answered");
}
