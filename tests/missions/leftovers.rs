//! What a Cortex that was killed leaves on the robot, and what its next life does with it, on real ROS 2.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a story fails by a panic")]

use std::path::PathBuf;

use cortex_stories::{TestRobot, calls, model, says};
use serde_json::{Value, json};

/// Longer than any story: what ends earlier was ended.
const SECONDS: &str = "600";

/// The journal of the one robot of the test robot.
fn journal(test_robot: &TestRobot) -> PathBuf {
    let folder = test_robot.tapes().join("open-calls");
    let mut files = std::fs::read_dir(folder).expect("the folder of the journals").map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|ending| ending == "jsonl")).expect("a journal")
}

/// A test robot in which a Cortex was killed while such a server carried out a goal of it.
async fn killed_in_a_goal(kind: &str) -> TestRobot {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("server", "bad_goals.py", &[kind, "--seconds", SECONDS]).await;
    let tool = format!("send_goal_to_{kind}");
    let model = model([calls([(tool.as_str(), json!({"order": 7}))]), says("EXECUTE")]).await;
    test_robot.start_cortex_with(&model).await;
    let mut sending = test_robot.begin_send("do it");
    sending.wait_for_json("progress of the goal", |event| event["type"] == "cortex.step.progressed").await;
    test_robot.process("cortex").signal("KILL");
    test_robot.process("cortex").wait().await;
    test_robot.end("cortex");
    let kept = std::fs::read_to_string(journal(&test_robot)).unwrap();
    assert!(kept.contains(&tool) && kept.contains("do it"), "{kept}");
    test_robot
}

fn is(event: &'static str) -> impl Fn(&Value) -> bool {
    move |line| line["event"] == event && line["order"] == 7
}

/// Waits until that is in the log of Cortex.
async fn logged(test_robot: &mut TestRobot, text: &str) {
    test_robot.process("cortex").wait_for_log(text, 1).await;
}

#[tokio::test]
async fn a_goal_that_a_killed_cortex_left_is_cancelled_by_its_next_life() {
    let mut test_robot = killed_in_a_goal("works").await;
    let model = model([says("Hello.")]).await;
    test_robot.start_cortex_with(&model).await;
    test_robot.process("server").wait_for_json("the end of the goal", is("canceled")).await;
    logged(&mut test_robot, "send_goal_to_works, left running by an earlier life, was stopped").await;
    logged(&mut test_robot, "a task was lost, because Cortex ended before it did: do it").await;
    // Nothing of it is in the way of the next task.
    let sent = test_robot.send("hello").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    assert_eq!(std::fs::metadata(journal(&test_robot)).unwrap().len(), 0, "nothing is open any more");
}

#[tokio::test]
async fn a_goal_of_an_earlier_life_that_refuses_to_halt_keeps_back_what_collides_until_somebody_has_looked() {
    let mut test_robot = killed_in_a_goal("refuses_cancel").await;
    let again = calls([("send_goal_to_refuses_cancel", json!({"order": 8}))]);
    let model = model([says("Hello."), again, says("EXECUTE"), says("It can't be done."), says("Hello.")]).await;
    test_robot.start_cortex_with(&model).await;
    test_robot.process("server").wait_for_json("the refusal", is("refused to cancel")).await;
    logged(&mut test_robot, "send_goal_to_refuses_cancel, left by an earlier life, refuses to halt").await;
    assert_eq!(test_robot.send("hello").await.status(), "succeeded", "it moves nothing");
    let refused = test_robot.send("do it again").await;
    let told = refused.output();
    assert!(told.contains("send_goal_to_refuses_cancel did not confirm that it is at rest"), "{told}");
    let (code, _, told) = test_robot.run("cortex", &["resume"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(test_robot.send("hello").await.status(), "succeeded");
}

#[tokio::test]
async fn a_method_that_a_killed_cortex_left_is_halted_by_its_next_life() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut sending = test_robot.begin_send("go to the kitchen");
    sending.wait_for_json("the start of the drive", |event| event["type"] == "cortex.step.started").await;
    sending.wait_for_json("progress of the drive", |event| event["type"] == "cortex.step.progressed").await;
    test_robot.process("cortex").signal("KILL");
    test_robot.process("cortex").wait().await;
    test_robot.end("cortex");
    test_robot.start_cortex(&[]).await;
    logged(&mut test_robot, "base.go_to, left running by an earlier life, was stopped").await;
    let (code, _, told) = test_robot.run("cortex", &["send", "--wait", "20", "where are you?"]).await;
    assert_eq!(code, Some(0), "{told}");
}

/// What an event called used to be in no journal.
#[tokio::test]
async fn regression_a_goal_that_an_event_has_begun_is_cancelled_by_the_next_life_of_a_killed_cortex() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("server", "bad_goals.py", &["works", "--seconds", SECONDS]).await;
    test_robot.start_python("door", "door.py", &[]).await;
    let recipe = test_robot.file(
        "robot.toml",
        r#"
        recipe = 1
        [components.door]
        start = "external"
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ tool = "send_goal_to_works", arguments = { order = 7 } }]
        "#,
    );
    test_robot.start_cortex(&[&recipe, "--model", "reflex"]).await;
    logged(&mut test_robot, "the events of the recipe are watched").await;
    test_robot.process("door").write_line("open").await;
    test_robot.process("server").wait_for_json("the goal", is("accepted")).await;
    test_robot.process("cortex").signal("KILL");
    test_robot.process("cortex").wait().await;
    test_robot.end("cortex");
    let kept = std::fs::read_to_string(journal(&test_robot)).unwrap();
    assert!(kept.contains("send_goal_to_works"), "{kept}");
    let model = model([says("Hello.")]).await;
    test_robot.start_cortex_with(&model).await;
    test_robot.process("server").wait_for_json("the end of the goal", is("canceled")).await;
    logged(&mut test_robot, "send_goal_to_works, left running by an earlier life, was stopped").await;
}

/// What was not offered within 15 s used to be forgotten, although it drove on.
#[tokio::test]
async fn regression_a_method_that_a_killed_cortex_left_is_not_forgotten_where_it_is_denied_now() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut sending = test_robot.begin_send("go to the kitchen");
    sending.wait_for_json("progress of the drive", |event| event["type"] == "cortex.step.progressed").await;
    test_robot.process("cortex").signal("KILL");
    test_robot.process("cortex").wait().await;
    test_robot.end("cortex");
    test_robot.configure("[discovery]\ndeny = [\"/base/**\"]\n");
    test_robot.start_cortex(&[]).await;
    logged(&mut test_robot, "base.go_to, left by an earlier life, is not on offer").await;
    let (code, told, complained) = test_robot.run("cortex", &["send", "--wait", "20", "say \"hello\""]).await;
    assert_ne!(code, Some(0));
    let told = format!("{told}{complained}");
    assert!(told.contains("base.go_to did not confirm that it is at rest"), "{told}");
    assert!(std::fs::read_to_string(journal(&test_robot)).unwrap().contains("base.go_to"));
    let (code, _, told) = test_robot.run("cortex", &["resume"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(std::fs::metadata(journal(&test_robot)).unwrap().len(), 0, "a person has looked");
}
