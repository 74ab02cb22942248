//! The examples that people copy, as they stand: a recipe, a component in Python, and a client.

use std::path::PathBuf;

use cortex_stories::{TestRobot, python};

/// A file of the examples.
fn example(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).to_string_lossy().into_owned()
}

/// Cortex brings the lift up by the recipe.
async fn with_the_lift() -> TestRobot {
    let mut test_robot = TestRobot::empty();
    // The recipe says `python3`: the one that has rclpy comes first.
    let others = std::env::var("PATH").unwrap_or_default();
    let folder = python().parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    test_robot.add_environment("PATH", format!("{folder}:{others}"));
    test_robot.start_cortex(&[&example("lift.toml")]).await;
    test_robot
}

#[tokio::test]
async fn the_recipe_brings_the_component_up_and_the_client_sees_its_task_done() {
    let test_robot = with_the_lift().await;

    let mut client = test_robot.spawn_python(&example("send.py"), &["lift", "the", "tray", "to", "0.4"]);
    let code = client.wait().await;
    let told = client.stdout().join("\n");
    assert_eq!(code, Some(0), "{told}\n{}", client.stderr().join("\n"));
    assert!(told.contains("lift.move_to") && told.contains("the tray is at 0.4 m"), "{told}");

    let mut client = test_robot.spawn_python(&example("send.py"), &["paint", "the", "ceiling"]);
    assert_eq!(client.wait().await, Some(1), "{}", client.stdout().join("\n"));
}

#[tokio::test]
async fn regression_ctrl_c_on_the_client_cancels_the_task() {
    let test_robot = with_the_lift().await;

    for signal in ["INT", "TERM"] {
        let mut client = test_robot.spawn_python(&example("send.py"), &["lift", "the", "tray", "to", "1.2"]);
        // The progress that the lift tells: it moves.
        client.wait_for_line("of 1.20 m").await;
        client.signal(signal);
        let code = client.wait().await;
        let told = client.stdout().join("\n");
        assert_eq!(code, Some(1), "{told}\n{}", client.stderr().join("\n"));
        assert!(told.contains("cancel") && !told.contains("the tray is at 1.2 m"), "{told}");
    }
}
