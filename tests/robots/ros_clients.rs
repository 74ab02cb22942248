//! Clients that are not ours: rclpy, as `ros2 action send_goal` uses it.

#![expect(clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

use cortex_stories::TestRobot;
use serde_json::Value;

async fn report_of(test_robot: &TestRobot, arguments: &[&str]) -> Value {
    let mut client = test_robot.spawn_python("send_goal.py", arguments);
    let code = client.wait().await;
    assert_eq!(code, Some(0), "{}", client.stderr().join("\n"));
    let last = client.stdout().pop().unwrap_or_default();
    serde_json::from_str(&last).unwrap_or_else(|problem| panic!("not JSON ({problem}): {last}"))
}

#[tokio::test]
async fn rclpy_sends_a_goal_and_gets_feedback_a_result_and_the_output() {
    let test_robot = TestRobot::with_robot("reflex").await;
    let report = report_of(&test_robot, &["go to the bedroom and say hello"]).await;
    assert_eq!((&report["status"], &report["success"]), (&"SUCCEEDED".into(), &true.into()), "{report:#}");
    let feedback: Vec<&str> =
        report["feedback"].as_array().unwrap().iter().filter_map(|line| line["feedback"].as_str()).collect();
    assert!(feedback.iter().any(|line| line.contains("step 1/2 base.go_to: EXECUTE")), "{feedback:#?}");
    assert!(feedback.iter().any(|line| line.contains("step 2/2 speaker.say: SUCCESS")), "{feedback:#?}");
    let steps: Vec<i64> =
        report["feedback"].as_array().unwrap().iter().filter_map(|line| line["timestep"].as_i64()).collect();
    assert_eq!(steps, (1..=i64::try_from(steps.len()).unwrap()).collect::<Vec<_>>(), "lost or mixed feedback");
    for line in report["feedback"].as_array().unwrap() {
        let event: Value = serde_json::from_str(line["event"].as_str().unwrap()).unwrap();
        assert_eq!(event["specversion"], "1.0");
        assert_eq!(event["subject"], report["mission"]);
    }
    let (words, account) = report["output"].as_str().unwrap().rsplit_once('\n').unwrap();
    assert_eq!(report["said"], Value::from(vec![words]), "the answer goes out on ~/output");
    assert!(account.starts_with("Done: base.go_to(place=bedroom)"), "{account}");
}

/// Two of four goals of `ros2 action send_goal --feedback` ended without it: rclpy takes one message in a turn, and leaves with
/// the result.
#[tokio::test]
async fn regression_the_last_feedback_comes_before_the_result() {
    let test_robot = TestRobot::with_robot("reflex").await;
    for goal in 0..4 {
        let report = report_of(&test_robot, &["--write-s", "0.01", "say hello"]).await;
        assert_eq!(report["completed"], true, "goal {goal}: {report:#}");
    }
}

#[tokio::test]
async fn rclpy_cancels_a_goal() {
    let test_robot = TestRobot::with_slow_robot().await;
    let report = report_of(&test_robot, &["--cancel-after", "started", "go to the bathroom"]).await;
    assert_eq!((&report["status"], &report["success"]), (&"CANCELED".into(), &false.into()), "{report:#}");
    assert!(report["output"].as_str().unwrap().starts_with("The task was cancelled.\n"), "{report:#}");
}

#[tokio::test]
async fn rclpy_stops_and_resumes() {
    let test_robot = TestRobot::with_slow_robot().await;
    let report = report_of(&test_robot, &["--stop-after", "started", "go to the bathroom"]).await;
    assert_eq!((&report["status"], &report["success"]), (&"ABORTED".into(), &false.into()), "{report:#}");
    assert!(report["output"].as_str().unwrap().starts_with("The robot was stopped.\n"), "{report:#}");
    let report = report_of(&test_robot, &["--resume", "say hello"]).await;
    assert_eq!(report["status"], "SUCCEEDED", "{report:#}");
}
