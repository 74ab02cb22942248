//! A short soak, so that no change breaks it unseen; `cargo xtask soak` runs the long one.

use cortex_stories::TestRobot;

#[tokio::test]
async fn twenty_goals_at_a_time_on_bad_servers_end_in_one_way_each() {
    let test_robot = TestRobot::empty();
    let (code, told, complained) = test_robot.run("cortex-soak", &["--seconds", "10"]).await;
    assert_eq!(code, Some(0), "{told}\n{complained}");
    assert!(told.contains("\nok"), "{told}");
}
