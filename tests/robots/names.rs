//! Cortex among the tools of ROS: its names are where remap rules put them, and its node shows what it offers.

use cortex_protocol::overview::ReadinessState;
use cortex_stories::{Process, TestRobot};
use serde_json::Value;

/// What `ros2 node info` shows of Cortex, once it has all of these services and publishers.
async fn info(test_robot: &TestRobot, services: &[&str], publishers: &[&str]) -> Value {
    let mut looking: Process = test_robot.spawn_python("node_info.py", &["/cortex"]);
    let has = |info: &Value, key: &str, names: &[&str]| {
        let found: Vec<&str> = info[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        names.iter().all(|name| found.contains(name))
    };
    let what = format!("a node with {services:?} and {publishers:?}");
    looking.wait_for_json(&what, |info| has(info, "services", services) && has(info, "publishers", publishers)).await
}

/// Hidden nodes had them, so whoever looked for the stop found none.
#[tokio::test]
async fn regression_the_node_shows_the_stop_and_the_diagnostics() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_cortex(&[]).await;
    let services = ["/cortex/stop", "/cortex/resume", "/cortex/pause", "/cortex/task/_action/send_goal"];
    info(&test_robot, &services, &["/diagnostics", "/cortex/overview", "/cortex/output", "/rosout"]).await;
    // They work, and the process ends in order with them.
    assert_eq!(test_robot.run("cortex", &["stop"]).await.0, Some(0));
    assert_eq!(test_robot.run("cortex", &["resume"]).await.0, Some(0));
    let cortex = test_robot.process("cortex");
    cortex.signal("TERM");
    assert_eq!(cortex.wait().await, Some(0), "{}", cortex.stderr().join("\n"));
}

/// They were ignored in silence.
#[tokio::test]
async fn regression_remap_rules_count_for_every_name_and_clients_find_it_all_the_same() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_python("listener", "diagnostics.py", &["--ros-args", "-r", "/diagnostics:=/diag2"]).await;
    let rules =
        ["~/stop:=/estop", "cortex:/diagnostics:=/diag2", "~/task:=/do", "/cortex/overview:=/seen", "~/output:=/say"];
    let rules: Vec<&str> = rules.iter().flat_map(|rule| ["-r", rule]).collect();
    test_robot.start_cortex(&[&["--ros-args"][..], &rules].concat()).await;
    let cortex = test_robot.process("cortex");
    cortex.wait_for_line("ready: reflex takes tasks at /do").await;
    let services = ["/estop", "/cortex/resume", "/do/_action/send_goal", "/do/_action/get_result"];
    let found = info(&test_robot, &services, &["/diag2", "/seen", "/say", "/do/_action/feedback"]).await.to_string();
    for own in ["\"/cortex/stop\"", "\"/diagnostics\"", "\"/cortex/overview\"", "\"/cortex/task/"] {
        assert!(!found.contains(own), "{own}: {found}");
    }
    let is_told = |message: &Value| message.to_string().contains("cortex: tasks");
    test_robot.process("listener").wait_for_json("the diagnostics", is_told).await;

    let sent = test_robot.send("hello").await;
    assert!(sent.output().starts_with("Nothing that could be done is discovered"), "{sent:#?}");
    assert_eq!(test_robot.run("cortex", &["stop"]).await.0, Some(0));
    let stopped = test_robot.status_until("the stop", |overview| overview.stop.stopped).await;
    assert_eq!(stopped.readiness.state, ReadinessState::Refusing);
    let (_, told, _) = test_robot.run("cortex", &["doctor"]).await;
    assert!(told.contains("/cortex takes no tasks: the robot is stopped"), "{told}");
    assert_eq!(test_robot.run("cortex", &["resume"]).await.0, Some(0));
}

#[tokio::test]
async fn a_rule_that_can_not_be_obeyed_keeps_cortex_from_starting() {
    let test_robot = TestRobot::empty();
    for (rule, told) in [
        (
            "~/stpo:=/estop",
            "the remap rule '~/stpo:=/estop' renames nothing that /cortex offers or uses: ~/task, ~/stop",
        ),
        ("cortex:/odom:=/odom2", "renames nothing"),
        ("~/instance:=/who", "others know /cortex by /cortex/instance"),
    ] {
        let (code, said, problem) = test_robot.run("cortex", &["run", "--ros-args", "-r", rule]).await;
        assert_eq!((code, said.as_str()), (Some(2), ""), "{rule}: {problem}");
        assert!(problem.contains(told), "{rule}: {problem}");
    }
}
