//! Who the robot is, as it says itself: what its configuration, its body and its policy have, and nothing else.

use cortex_stories::{TestRobot, model, prompts, says};

const CONFIGURATION: &str = r#"
robot = "berta"
identity = "I was built by the workshop, for the ward."

[[policy.rules]]
then = "deny"
tools = ["light.turn_off"]
because = "Nobody is to stand in the dark."
"#;

async fn robot() -> TestRobot {
    let mut test_robot = TestRobot::empty();
    test_robot.configure(CONFIGURATION);
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot
}

#[tokio::test]
async fn a_robot_without_a_model_says_who_it_is_what_it_can_do_and_what_it_cannot() {
    let mut test_robot = robot().await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    test_robot.process("cortex").wait_for_log("describes the body 'home_robot'", 1).await;
    let sent = test_robot.send("who are you?").await;
    for expected in [
        "I was built by the workshop, for the ward. My name is berta.",
        "My body is described as 'home_robot': 5 parts, with joints: 2 that turn without end.",
    ] {
        assert!(sent.output().contains(expected), "'{expected}' is not in: {}", sent.output());
    }
    let sent = test_robot.send("what can't you do?").await;
    for expected in ["I may not use light.turn_off", "(Nobody is to stand in the dark)"] {
        assert!(sent.output().contains(expected), "'{expected}' is not in: {}", sent.output());
    }
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    let sent = test_robot.send("what can you do?").await;
    assert!(sent.output().contains("I can do: "), "{}", sent.output());
}

#[tokio::test]
async fn a_model_is_told_who_the_robot_is_where_it_is_asked_and_not_with_an_order() {
    let mut test_robot = robot().await;
    let model = model([says("I am berta."), says("I am berta."), says("No."), says("No.")]).await;
    test_robot.start_cortex_with(&model).await;
    test_robot.process("cortex").wait_for_log("describes the body 'home_robot'", 1).await;
    test_robot.send("who are you?").await;
    let told = prompts(&model);
    let asked = told.last().map(String::as_str).unwrap_or_default();
    assert!(asked.contains("home_robot") && asked.contains("light.turn_off"), "{asked}");
    let before = told.len();
    test_robot.send("go to the kitchen").await;
    let told = prompts(&model);
    let ordered = told.get(before).map(String::as_str).unwrap_or_default();
    assert!(ordered.contains("go to the kitchen") && !ordered.contains("home_robot"), "{ordered}");
}
