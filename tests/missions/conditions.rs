//! What must hold before, while and after a call, on real ROS 2: the robot is watched, and its own word is not enough.

use std::time::{Duration, Instant};

use cortex_stories::{Sent, TestRobot, finish_send, wait_until_under_way};
use serde_json::Value;

/// What became of the last step that ended.
fn last_step(sent: &Sent) -> &Value {
    let finished = sent.events.iter().rev().find(|event| event["type"] == "cortex.step.finished");
    finished.and_then(|event| event.pointer("/data/payload/report")).unwrap_or(&Value::Null)
}

fn why(step: &Value) -> &str {
    step.pointer("/outcome/message").and_then(Value::as_str).unwrap_or_default()
}

/// In the reference system a tool's own word is the success of its step.
#[tokio::test]
async fn regression_a_component_that_says_it_arrived_and_did_not_move_has_failed() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("bad", "cortex-misbehave", &["lies"]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let sent = test_robot.send("go lies").await;
    assert_eq!((sent.status(), sent.code), ("failed", Some(1)), "{sent:#?}");
    let step = last_step(&sent);
    assert_eq!((&step["status"], &step["verification"]), (&"FAILED".into(), &"failed".into()), "{step:#}");
    assert_eq!(step["outcome"]["status"]["failed"], "contradicted");
    let seen = "contradicted: it says \"arrived\", but it was seen not to be so: \
                /lies/position data is \"there\" (it is \"here\"";
    assert!(why(step).contains(seen), "{step:#}");
    assert!(sent.output().contains("contradicted"), "{}", sent.output());
    let (code, told, _) = test_robot.run("cortex", &["tools"]).await;
    assert_eq!(code, Some(0));
    assert!(told.contains("done when /lies/position data is \"there\", at most 1 s after it says so"), "{told}");
}

#[tokio::test]
async fn a_drive_is_verified_by_the_place_that_the_odometry_shows() {
    let test_robot = TestRobot::with_robot("reflex").await;
    let sent = test_robot.send("go to the kitchen and say hello").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let steps = sent.events.last().and_then(|event| event.pointer("/data/payload/result/steps"));
    let known: Vec<(&str, &str)> = steps
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|step| Some((step["tool"].as_str()?, step["verification"].as_str()?)))
        .collect();
    assert_eq!(known, [("base.go_to", "verified"), ("speaker.say", "not_verified")]);
    let lines = sent.lines().join("\n");
    assert!(lines.contains("(verified: /base/place data is \"kitchen\" (it is \"kitchen\""), "{lines}");
    let (code, told, _) = test_robot.run("cortex", &["send", "--wait", "20", "go to the bedroom"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("steps verified: base.go_to"), "{told}");
    let (code, told, _) = test_robot.run("cortex", &["doctor"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("1 tool names what must hold, 1 names evidence"), "{told}");
}

/// A battery that falls below what the configuration asks for, while the base itself would drive on.
#[tokio::test]
async fn a_drive_is_halted_at_once_when_its_invariant_breaks() {
    let mut test_robot = TestRobot::empty();
    test_robot.configure(
        "[[conditions.\"/base/go_to\".during]]\ntopic = \"/battery_state\"\nfield = \"percentage\"\nat_least = 0.5\n\
         max_age_s = 10.0\n",
    );
    test_robot.start("sim", "cortex-sim", &["--ros-args", "-p", "speed_mps:=0.1"]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let mut sending = test_robot.begin_send("go to the bathroom");
    sending.wait_for_line("\"type\":\"cortex.step.started\"").await;
    // On its way, not only begun: until then the conditions are looked at.
    wait_until_under_way(&mut sending).await;
    let change = r#"{"component": "battery", "param_name": "percent", "new_value": 30.0}"#;
    let (code, told, problem) = test_robot.run("cortex", &["call", "update_parameter", change]).await;
    assert_eq!(code, Some(0), "{told}{problem}");
    let changed = Instant::now();
    sending.wait_for_line("\"type\":\"cortex.step.finished\"").await;
    let took = changed.elapsed();
    println!("halted {took:?} after the change was answered");
    let sent = finish_send(sending).await;
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    let step = last_step(&sent);
    assert_eq!(step["outcome"]["status"]["failed"], "invariant_broken", "{step:#}");
    assert_eq!((&step["outcome"]["halt"], &step["verification"]), (&"halted".into(), &"failed".into()), "{step:#}");
    assert!(why(step).contains("it was halted: /battery_state percentage is at least 0.5"), "{step:#}");
    // Now it does not even begin.
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!(last_step(&sent)["outcome"]["status"]["failed"], "not_ready", "{sent:#?}");
    assert!(why(last_step(&sent)).contains("it was not called: /battery_state percentage"), "{sent:#?}");
}

#[tokio::test]
async fn a_call_is_not_sent_when_nobody_publishes_what_it_needs_or_cortex_itself_may() {
    let mut test_robot = TestRobot::empty();
    test_robot.configure(
        "[discovery]\npublish = [\"/parrot/said\"]\n\
         [[conditions.\"/quiet/echo\".before]]\ntopic = \"/nowhere\"\n\
         [[conditions.\"/parrot/echo\".after]]\ntopic = \"/parrot/said\"\n",
    );
    test_robot.start("parrot", "cortex-misbehave", &["echo", "--name", "parrot"]).await;
    test_robot.start("quiet", "cortex-misbehave", &["echo", "--name", "quiet"]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let words = r#"{"text": "hello"}"#;
    let (code, told, _) = test_robot.run("cortex", &["call", "quiet.echo", words]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("no part of the robot publishes /nowhere"), "{told}");
    let (code, told, _) = test_robot.run("cortex", &["call", "parrot.echo", words]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("what it names as evidence is none: /parrot/said may be published by Cortex itself"),
        "{told}"
    );
    let (code, _, warned) = test_robot.run("cortex", &["tools"]).await;
    assert_eq!(code, Some(0));
    assert!(warned.contains("quiet.echo: no part of the robot publishes /nowhere"), "{warned}");
    assert!(warned.contains("parrot.echo: /parrot/said may be published by Cortex itself"), "{warned}");
}
