//! The stop on real ROS 2: everything in flight is told to end, whatever else hangs, and what did not is named.

use std::time::{Duration, Instant};

use cortex_stories::{House, Process, model, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// The action of these stories, on a server of its own.
const ACTION: &str = "go";
const TOOL: &str = "send_goal_to_go";

/// A house with a server of goals, and with a mission that has so many of them in flight.
async fn with_goals(goals: usize, configuration: &str, fault: Option<&str>) -> (House, Process, OpenAiServer) {
    let mut house = House::empty();
    house.configure(&format!(
        "[mission]\nmax_parallel_steps = {goals}\nmax_execution_steps = {goals}\n[discovery.resources]\n\"/**\" = \
         []\n{configuration}"
    ));
    if let Some(fault) = fault {
        house.add_environment("CORTEX_TEST_FAULT_HANG", format!("{fault}:{}", house.state().join("hang").display()));
    }
    house.start_python("server", "many_goals.py", &[ACTION]).await;
    let calls: Vec<(String, Value)> = (1..=goals).map(|order| (TOOL.to_owned(), json!({"order": order}))).collect();
    let replies = std::iter::once(Served::Calls(calls)).chain((0..goals).map(|_| says("EXECUTE")));
    let model = model(replies).await;
    house.start_cortex_with(&model).await;
    let sending = house.begin_send("do all of it");
    let begun = |lines: &[String]| (count(lines, "begun") == goals).then_some(());
    house.process("server").wait_for("every goal begun", begun).await;
    (house, sending, model)
}

/// How many goals something happened to.
fn count(lines: &[String], event: &str) -> usize {
    let told: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut orders: Vec<i64> =
        told.iter().filter(|line| line["event"] == event).filter_map(|line| line["order"].as_i64()).collect();
    orders.sort_unstable();
    orders.dedup();
    orders.len()
}

/// Has the loop hang that was armed.
fn hang(house: &House) {
    std::fs::write(house.state().join("hang"), "").unwrap_or_else(|problem| panic!("no file in the house: {problem}"));
}

#[tokio::test]
async fn fifty_goals_of_one_server_are_all_cancelled_and_confirm() {
    const GOALS: usize = 50;
    let (mut house, mut sending, _model) = with_goals(GOALS, "", None).await;
    let (code, told, complained) = house.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told} {complained}");
    assert!(told.contains("One task was ended. Everything that Cortex began is at rest."), "{told}");
    let lines = house.process("server").stdout();
    assert_eq!((count(&lines, "asked to cancel"), count(&lines, "canceled")), (GOALS, GOALS));
    assert_eq!(sending.wait().await, Some(1), "the task was ended");
    let refused = house.send("do it again").await;
    assert!(refused.output().contains("Call ~/resume"), "{}", refused.output());
    let (code, told, _) = house.run("cortex", &["resume"]).await;
    assert_eq!((code, told.as_str()), (Some(0), "Tasks are taken again."));
}

#[tokio::test]
async fn several_stops_at_once_are_all_answered() {
    let (mut house, _sending, _model) = with_goals(3, "", None).await;
    let stops: Vec<Process> = (0..4).map(|_| house.spawn("cortex", &["stop"])).collect();
    for mut stop in stops {
        assert_eq!(stop.wait().await, Some(0), "{:?}", stop.stdout());
        assert!(stop.stdout().join(" ").contains("is at rest"), "{:?}", stop.stdout());
    }
    assert_eq!(count(&house.process("server").stdout(), "canceled"), 3);
}

#[tokio::test]
async fn a_server_that_is_dead_is_named() {
    let (mut house, _sending, _model) = with_goals(2, "[calls]\nhalt_timeout_s = 2.0\n", None).await;
    house.process("server").signal("KILL");
    let (code, told, _) = house.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains(&format!("did not confirm that they are at rest: {TOOL}.")), "{told}");
}

#[tokio::test]
async fn a_stop_is_carried_out_and_answered_although_the_runtime_hangs_and_then_cortex_ends() {
    let (mut house, _sending, _model) = with_goals(5, "", Some("runtime")).await;
    let mut stop = house.spawn("cortex", &["stop", "--wait", "20"]);
    hang(&house);
    let code = stop.wait().await;
    let told = stop.stdout().join(" ");
    // It may have come before the hang; then it is an ordinary stop.
    assert!(told.contains("Cortex itself hangs") && code == Some(1) || code == Some(0), "{code:?} {told}");
    let ended = |lines: &[String]| (count(lines, "canceled") == 5).then_some(());
    house.process("server").wait_for("the end of every goal", ended).await;
    assert_eq!(house.process("cortex").wait().await, Some(70));
}

#[tokio::test]
async fn a_runtime_that_hangs_stops_the_robot_and_ends_cortex() {
    let (mut house, _sending, _model) = with_goals(5, "[watchdog]\nhang_s = 3.0\n", Some("runtime")).await;
    let begun = Instant::now();
    hang(&house);
    let ended = |lines: &[String]| (count(lines, "canceled") == 5).then_some(());
    house.process("server").wait_for("the end of every goal", ended).await;
    assert!(begun.elapsed() >= Duration::from_secs(2), "it is given its time");
    assert_eq!(house.process("cortex").wait().await, Some(70));
    let log = house.process("cortex").stderr().join("\n");
    assert!(log.contains("hangs for 3 s: runtime."), "{log}");
}

#[tokio::test]
async fn a_thread_of_ros_that_hangs_stops_the_robot_and_ends_cortex() {
    let (mut house, _sending, _model) = with_goals(2, "[watchdog]\nhang_s = 3.0\n", Some("ros")).await;
    hang(&house);
    let ended = |lines: &[String]| (count(lines, "canceled") == 2).then_some(());
    house.process("server").wait_for("the end of every goal", ended).await;
    assert_eq!(house.process("cortex").wait().await, Some(70));
    let log = house.process("cortex").stderr().join("\n");
    assert!(log.contains("hangs for 3 s: ros."), "{log}");
}

#[tokio::test]
async fn a_pause_of_the_whole_process_is_no_hang() {
    let (mut house, _sending, _model) = with_goals(1, "[watchdog]\nhang_s = 3.0\n", None).await;
    house.process("cortex").signal("STOP");
    // Longer than a loop may hang: that it is not ended for that is the story.
    tokio::time::sleep(Duration::from_secs(5)).await;
    house.process("cortex").signal("CONT");
    let (code, told, _) = house.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told}");
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(!house.process("cortex").has_ended());
}
