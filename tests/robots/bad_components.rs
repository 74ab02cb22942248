//! Components that break the contract, on real ROS 2, as real processes. Every task ends in one result, with a reason
//! that a person understands, and the robot can be used afterwards.

use std::time::Duration;

use cortex_stories::{Sent, TestRobot, finish_send, wait_until_under_way};
use serde_json::Value;

/// A test robot with one misbehaving component and a well-behaved one.
async fn house_with(kind: &str, arguments: &[&str]) -> TestRobot {
    let mut test_robot = TestRobot::empty();
    let arguments: Vec<&str> = [kind].iter().chain(arguments).copied().collect();
    test_robot.start("bad", "cortex-misbehave", &arguments).await;
    test_robot.start("good", "cortex-misbehave", &["echo", "--name", "parrot"]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    test_robot
}

/// What the first step came to.
fn step_of(sent: &Sent) -> &Value {
    let finished = sent.events.iter().find(|event| event["type"] == "cortex.step.finished");
    finished.and_then(|event| event.pointer("/data/payload/report/outcome")).unwrap_or(&Value::Null)
}

/// Cortex still works: the well-behaved component can be called.
async fn still_works(test_robot: &TestRobot) {
    let sent = test_robot.send("echo \"still here\"").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
}

#[tokio::test]
async fn a_component_that_says_it_failed_is_believed() {
    let test_robot = house_with("fails", &[]).await;
    let sent = test_robot.send("go fails").await;
    assert_eq!((sent.status(), sent.code), ("failed", Some(1)), "{sent:#?}");
    assert_eq!(step_of(&sent)["status"]["failed"], "reported");
    still_works(&test_robot).await;
}

/// In the reference system the goal hangs for ever, and so does the next one.
#[tokio::test]
async fn regression_a_component_that_dies_in_a_step_ends_the_mission() {
    let test_robot = house_with("dies-in-step", &["--timeout", "60"]).await;
    let sent = test_robot.send("go dies in step").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert_eq!(step_of(&sent)["status"]["failed"], "component_lost");
    assert!(sent.output().contains("dies_in_step"), "{}", sent.output());
    assert!(sent.output().contains("WARNING"), "it was moving, and nobody knows: {}", sent.output());
    let beside = test_robot.send("echo \"beside it\"").await;
    assert_eq!(beside.status(), "succeeded", "it has nothing to do with it: {}", beside.output());
    let (code, told, _) = test_robot.run("cortex", &["resume"]).await;
    assert_eq!(code, Some(0), "{told}");
    still_works(&test_robot).await;
}

/// The mission used to say "in flight" for as long as the halt of what was dead may take, and nothing was in the log.
#[tokio::test]
async fn regression_a_component_that_is_killed_in_its_method_is_lost_for_the_mission_as_soon_as_for_everybody_else() {
    let mut test_robot = TestRobot::empty();
    // Longer than this story, and than a dead node stays on the graph.
    test_robot.configure("[calls]\nhalt_timeout_s = 600.0\n");
    test_robot.start("bad", "cortex-misbehave", &["never-answers", "--timeout", "600"]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let mut sending = test_robot.begin_send("go never answers");
    wait_until_under_way(&mut sending).await;
    test_robot.process("bad").signal("KILL");
    test_robot
        .process("cortex")
        .wait_for_log("lost: the component 'never_answers' is lost: its heartbeat has stopped", 1)
        .await;
    // The dead node leaves the graph some 16 s later.
    let sent = tokio::time::timeout(Duration::from_secs(12), finish_send(sending)).await;
    let Ok(sent) = sent else { panic!("the mission still waits for what is dead") };
    assert_eq!(step_of(&sent)["status"]["failed"], "component_lost");
    assert!(sent.output().contains("its heartbeat has stopped"), "{}", sent.output());
}

#[tokio::test]
async fn a_component_that_answers_late_is_halted_and_its_answer_does_not_disturb() {
    let test_robot = house_with("answers-late", &["--after", "3", "--timeout", "1"]).await;
    let sent = test_robot.send("go answers late").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert_eq!(step_of(&sent)["status"]["failed"], "timeout");
    assert!(sent.output().contains("did not end within 1 s"), "{}", sent.output());
    still_works(&test_robot).await;
}

#[tokio::test]
async fn a_component_that_never_answers_is_halted_in_time() {
    let test_robot = house_with("never-answers", &["--timeout", "1"]).await;
    let sent = test_robot.send("go never answers").await;
    assert_eq!((sent.status(), &step_of(&sent)["status"]["failed"]), ("failed", &"timeout".into()), "{sent:#?}");
    assert_eq!(step_of(&sent)["halt"], "halted");
    still_works(&test_robot).await;
}

#[tokio::test]
async fn a_component_that_ignores_its_halt_is_named() {
    let test_robot = house_with("ignores-halt", &["--timeout", "60"]).await;
    let mut sending = test_robot.begin_send("go ignores halt");
    // Under way, not only begun: what was not sent yet is withdrawn.
    wait_until_under_way(&mut sending).await;
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("did not confirm that they are at rest: ignores_halt.go"), "{told}");
    let sent = finish_send(sending).await;
    assert!(sent.output().contains("WARNING: ignores_halt.go did not confirm"), "{}", sent.output());
}

#[tokio::test]
async fn an_answer_that_is_not_json_is_a_failure_and_not_a_success() {
    let test_robot = house_with("garbage-response", &[]).await;
    let sent = test_robot.send("go garbage response").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert_eq!(step_of(&sent)["status"]["failed"], "bad_response");
    still_works(&test_robot).await;
}

#[tokio::test]
async fn a_flood_of_text_is_carried_and_cut_for_people() {
    let test_robot = house_with("unicode-flood", &[]).await;
    let sent = test_robot.send("go unicode flood").await;
    assert!(sent.lines().iter().all(|line| line.chars().count() < 2_000), "a line of feedback is a flood");
    still_works(&test_robot).await;
}

#[tokio::test]
async fn a_component_that_describes_itself_wrongly_is_named_and_the_others_work() {
    for (kind, said) in [
        ("garbage-description", "the description is not JSON of the contract's form"),
        ("bad-schema", "not a valid JSON Schema"),
        ("twin-methods", "another method has the same name"),
    ] {
        let test_robot = house_with(kind, &[]).await;
        still_works(&test_robot).await;
        let (code, _, warned) = test_robot.run("cortex", &["tools"]).await;
        assert_eq!(code, Some(0));
        assert!(warned.contains(said), "{kind}: {warned}");
        let (code, told, _) = test_robot.run("cortex", &["doctor"]).await;
        assert_eq!(code, Some(1), "{kind}: {told}");
        assert!(told.contains("FAIL  component:") && told.contains(said), "{kind}: {told}");
    }
}

/// What nobody brings up was killed, and another came under its name while the dead one was still on the graph: it was
/// called as the dead one had described itself.
#[tokio::test]
async fn regression_a_component_was_called_by_the_schema_of_the_one_before_it() {
    const SCRIPT: &str = "bad/component.py";
    let mut test_robot = TestRobot::empty();
    let notes = test_robot.file("notes", "");
    test_robot.start_python("tray", SCRIPT, &["works", "--notes", &notes]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let sent = test_robot.send("shake the tray for visitors").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");

    test_robot.process("tray").signal("KILL");
    test_robot.process("tray").wait().await;
    // One that does not log over ROS shows the graph no other run.
    test_robot.start_python("other", SCRIPT, &["works", "--other", "--no-log", "--notes", &notes]).await;
    let sent = test_robot.send("shake the tray for guests").await;
    let noted = || std::fs::read_to_string(&notes).expect("notes");
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert!(noted().contains("tray did visitors") && !noted().contains("guests"), "{}: {sent:#?}", noted());
    assert!(!sent.output().contains("WARNING"), "nothing was sent: {}", sent.output());

    let sent = test_robot.send("shake the tray for guests with force 2").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    assert!(noted().contains("tray did guests"), "{}", noted());
}

/// One that comes back as it was is called at once, and what is under way there is not taken for lost when the graph shows
/// that it is another run.
#[tokio::test]
async fn a_component_that_comes_back_as_it_was_is_called_while_the_dead_one_is_on_the_graph() {
    const SCRIPT: &str = "bad/component.py";
    let mut test_robot = TestRobot::empty();
    let notes = test_robot.file("notes", "");
    test_robot.start_python("tray", SCRIPT, &["works", "--notes", &notes]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    test_robot.process("tray").signal("KILL");
    test_robot.process("tray").wait().await;
    test_robot.start_python("again", SCRIPT, &["works", "--work", "4", "--notes", &notes]).await;
    let sent = test_robot.send("shake the tray for visitors").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
}
