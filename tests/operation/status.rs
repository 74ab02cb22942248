//! What a running Cortex tells of itself: `cortex status`, `~/overview`, `/diagnostics` and the figures for Prometheus.

#![expect(clippy::expect_used, reason = "a story fails by a panic")]

use std::time::Duration;

use cortex_protocol::overview::{ComponentHealth, MissionPhase, Overview, ReadinessState};
use cortex_stories::{PATIENCE, TestRobot, calls, model, says};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn the_status_tells_of_components_missions_goals_the_model_and_the_stop() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("server", "many_goals.py", &["go"]).await;
    test_robot.start("sim", "cortex-sim", &[]).await;
    let model = model([calls([("send_goal_to_go", json!({"order": 1}))]), says("EXECUTE")]).await;
    test_robot.start_cortex_with(&model).await;
    let quiet = test_robot.status_until("the components", |overview| overview.components.len() >= 4).await;
    assert_eq!((quiet.version, quiet.node.as_str(), quiet.stop.stopped), (1, "/cortex", false));
    assert!(quiet.components.iter().all(|component| component.health != ComponentHealth::Failed), "{quiet:#?}");
    assert!(quiet.watchdog.is_some_and(|watchdog| watchdog.loops.contains(&"runtime".to_owned())));

    let _sending = test_robot.begin_send("go");
    let busy = test_robot.status_until("a goal in flight", |overview| !overview.calls.is_empty()).await;
    assert_eq!(busy.calls[0].tool.as_str(), "send_goal_to_go");
    assert_eq!((busy.missions[0].phase, busy.missions[0].steps.len()), (MissionPhase::Acting, 1));
    assert_eq!(busy.model.requests, 2);
    assert!(!busy.budget.is_empty());

    let (_, told, complained) = test_robot.run("cortex", &["status"]).await;
    assert!(told.contains("/cortex of robot") && told.contains("running  send_goal_to_go"), "{told} {complained}");
    assert!(told.lines().all(|line| line.chars().count() <= 80) && !told.contains('\u{1b}'), "{told}");

    assert_eq!(test_robot.run("cortex", &["stop"]).await.0, Some(0));
    let stopped = test_robot.status_until("the stop", |overview| overview.stop.stopped).await;
    assert_eq!((stopped.stop.stops, stopped.stop.why.as_str()), (1, "~/stop was called"));
    assert!(stopped.calls.is_empty(), "{stopped:#?}");
}

/// Each of them said it in its own words, or not at all: diagnostics were OK while every task was refused.
#[tokio::test]
async fn regression_whether_tasks_are_taken_is_said_first_and_everywhere_with_the_same_words() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("server", "many_goals.py", &["go"]).await;
    let model = model([calls([("send_goal_to_go", json!({"order": 1}))]), says("EXECUTE")]).await;
    test_robot.start_cortex_with(&model).await;
    // The first status is older than the lifecycle of a Cortex that has just said that it is ready.
    let is_quiet = |overview: &Overview| overview.tools > 0 && overview.readiness.state == ReadinessState::Ready;
    let quiet = test_robot.status_until("that tasks are taken", is_quiet).await;
    assert_eq!(quiet.readiness.to_string(), "takes tasks");
    let first_line = async |command: &str| {
        let (_, told, _) = test_robot.run("cortex", &[command]).await;
        told.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(first_line("status").await, "takes tasks");
    assert_eq!(first_line("doctor").await, "ok    tasks: /cortex takes tasks");

    let mut sending = test_robot.spawn("cortex", &["send", "--wait", "20", "go"]);
    test_robot.status_until("a goal in flight", |overview| !overview.calls.is_empty()).await;
    assert_eq!(test_robot.run("cortex", &["stop"]).await.0, Some(0));
    // It was printed as FAILED, and listed as cancelled.
    assert_eq!(sending.wait().await, Some(130), "{:?}", sending.stdout());
    assert_eq!(sending.stdout().last().map(String::as_str), Some("CANCELLED"));

    let refused = |overview: &Overview| overview.readiness.state == ReadinessState::Refusing;
    let stopped = test_robot.status_until("that no tasks are taken", refused).await;
    let why = "the robot is stopped. When it is safe, run `cortex resume` (or call ~/resume), then send the task again";
    assert_eq!(stopped.readiness.because, why);
    assert!(first_line("status").await.starts_with("takes no tasks: the robot is stopped."));
    assert_eq!(first_line("doctor").await, format!("FAIL  tasks: /cortex takes no tasks: {why}"));
    let (code, told, complained) = test_robot.run("cortex", &["send", "--wait", "20", "go"]).await;
    assert!(code == Some(1) && format!("{told}{complained}").contains(why), "{told} {complained}");
}

#[tokio::test]
async fn without_a_cortex_the_status_says_what_to_do() {
    let test_robot = TestRobot::empty();
    let (code, _, complained) = test_robot.run("cortex", &["status", "--wait", "1"]).await;
    assert_eq!(code, Some(2));
    assert!(complained.contains("no Cortex tells of itself at /cortex"), "{complained}");
}

/// The figures, as Prometheus would read them.
async fn figures(port: u16) -> String {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("the endpoint listens");
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

#[tokio::test]
async fn figures_are_served_where_the_configuration_says_so() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let mut test_robot = TestRobot::empty();
    test_robot.configure(&format!("[metrics]\nlisten = \"127.0.0.1:{port}\"\n"));
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&[]).await;
    let sent = test_robot.send("where are you?").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let expected = [
        "cortex_missions_total{ending=",
        "cortex_model_requests_total{outcome=\"answered\"}",
        "cortex_tool_calls_total{tool=\"base.",
    ];
    let served = async {
        loop {
            let figures = figures(port).await;
            if expected.iter().all(|expected| figures.contains(expected)) {
                return figures;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let figures = tokio::time::timeout(PATIENCE, served).await.expect("the figures are there");
    assert!(
        figures.contains("cortex_stopped 0") && figures.contains("cortex_components{health=\"healthy\"}"),
        "{figures}"
    );
}

#[tokio::test]
async fn a_port_that_is_taken_was_found_only_when_the_robot_was_up() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address");
    let mut test_robot = TestRobot::empty();
    test_robot.configure(&format!("[metrics]\nlisten = \"{address}\"\n"));
    let mark = test_robot.file("mark", "");
    std::fs::remove_file(&mark).expect("it was there");
    let recipe =
        format!("recipe = 1\n[components.tray]\nstart = {{ program = \"touch\", arguments = [\"{mark}\"] }}\n");
    let recipe = test_robot.file("robot.toml", &recipe);
    let (code, _, complained) = test_robot.run("cortex", &["run", &recipe]).await;
    assert_eq!(code, Some(2), "{complained}");
    assert!(complained.contains(&format!("metrics.listen: {address} can't be listened on")), "{complained}");
    assert!(!std::path::Path::new(&mark).exists(), "nothing was started");
}

#[tokio::test]
async fn diagnostics_are_published_once_a_second_with_an_entry_for_each_component() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_python("listener", "diagnostics.py", &[]).await;
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&[]).await;
    let entry = |message: &Value, name: &str| -> Option<Value> {
        message["entries"].as_array()?.iter().find(|entry| entry["name"] == name).cloned()
    };
    let listener = test_robot.process("listener");
    // It tells of itself also before it is activated.
    let is_well = |message: &Value, name| entry(message, name).is_some_and(|entry| entry["level"] == 0);
    let is_whole = |message: &Value| is_well(message, "cortex: component base") && is_well(message, "cortex: tasks");
    let message = listener.wait_for_json("the diagnostics of the base", is_whole).await;
    for name in ["cortex: tasks", "cortex: missions", "cortex: model", "cortex: stop", "cortex: watchdog"] {
        let entry = entry(&message, name);
        assert!(entry.is_some_and(|entry| entry["level"] == 0 && entry["hardware_id"] == "robot"), "{name}: {message}");
    }
    let first = message["stamp"].as_f64().unwrap_or_default();
    let later = |message: &Value| message["stamp"].as_f64().is_some_and(|stamp| stamp > first + 0.9);
    listener.wait_for_json("a later one", later).await;

    assert_eq!(test_robot.run("cortex", &["stop"]).await.0, Some(0));
    let is_stopped = |message: &Value| entry(message, "cortex: stop").is_some_and(|stop| stop["level"] == 1);
    let stopped = test_robot.process("listener").wait_for_json("the stop", is_stopped).await;
    let tasks = entry(&stopped, "cortex: tasks").unwrap_or_default();
    let told = tasks["message"].as_str().unwrap_or_default();
    assert!(tasks["level"] == 1 && told.starts_with("takes no tasks: the robot is stopped"), "{tasks}");
}
