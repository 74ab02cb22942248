//! What people do by hand in a real browser: look at a recording, run one tool, keep what happened.

use std::sync::Arc;

use cortex_player::{RecordedRobot, Recording, Speed};
use cortex_stories::{Browser, Colours, Page, TestRobot, Viewport};
use cortex_web::{WebServer, WebSettings};
use serde_json::json;

const ESCAPE: &str = "\u{e00c}";

#[tokio::test]
async fn a_recording_looks_like_the_mission_that_it_was_and_takes_nothing() {
    let recording = Recording::demo().unwrap();
    let settings = WebSettings::new("127.0.0.1:0".parse().unwrap(), recording.robot());
    let robot = RecordedRobot::start(recording, Speed::new(2.0).unwrap());
    let server = WebServer::start(settings, Arc::new(robot)).unwrap();
    let address = format!("http://{}/", server.address());
    let browser = Browser::start().await;
    let page = browser.open(&address, Viewport::Wide, Colours::Light).await;
    page.wait_for("#recording", "nothing moves").await;
    page.wait_for(".plan-panel", "turn_on").await;
    // What a person was asked is shown, and can't be answered.
    page.wait_for(".card button[disabled]", "").await;
    page.keep_screenshot("recorded-question").await;
    let is_there = "return document.querySelector('#task').checkVisibility()";
    assert_eq!(page.script(is_there, Vec::new()).await, json!(false), "there is no box for a task");
    page.wait_for(".flight", "base.go_to").await;
    page.keep_screenshot("recorded").await;
    page.type_into("", ESCAPE).await;
    page.wait_for("#stop-panel", "Nothing moves here").await;
    page.wait_for("#stop-panel", "emergency stop of that robot").await;
    page.keep_screenshot("recorded-stop").await;
    page.wait_for(".report", "base.go_to").await;
    let phone = browser.open(&address, Viewport::Phone, Colours::Dark).await;
    phone.wait_for("#recording", "nothing moves").await;
    phone.wait_for(".mission-head", "kitchen").await;
    phone.keep_screenshot("recorded-phone-dark").await;
    page.click("nav a", "History").await;
    page.click(".recorded-open", "kitchen").await;
    page.wait_for("#history .report", "base.go_to").await;
    page.click("nav a", "Tools").await;
    page.wait_for("#tools", "base.go_to").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

/// The simulated robot, a Cortex without a model, and its page.
async fn sim(arguments: &[&str]) -> (TestRobot, Browser, Page) {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    test_robot.start("sim", "cortex-sim", arguments).await;
    test_robot.start_cortex(&[]).await;
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    let browser = Browser::start().await;
    let page = browser.open(line.trim_start_matches("page: "), Viewport::Wide, Colours::Light).await;
    page.wait_for("#strip", "Takes tasks").await;
    (test_robot, browser, page)
}

/// Opens the form of a tool.
async fn form_of(page: &Page, tool: &str) {
    page.click("nav a", "Tools").await;
    page.click("#tools summary", tool).await;
    page.wait_for("#tools details[open] .by-hand", "Run it by hand").await;
}

/// Sets a field of the open form as typing or choosing does.
async fn fill(page: &Page, field: &str, text: &str) {
    let script = "const field = document.querySelector(arguments[0]); \
                  const option = [...field.options ?? []].find((one) => one.text === arguments[1]); \
                  field.value = option ? option.value : arguments[1]; \
                  field.dispatchEvent(new Event('input', { bubbles: true }));";
    page.script(script, vec![json!(format!("details[open] .by-hand {field}")), json!(text)]).await;
}

#[tokio::test]
async fn a_person_runs_a_tool_from_its_form_to_its_outcome() {
    let (_test_robot, _browser, page) = sim(&[]).await;
    form_of(&page, "base.go_to").await;
    // What is needed is asked for before anything is sent.
    page.click("details[open] .by-hand button:not([disabled])", "Run by hand").await;
    page.wait_for("details[open] .by-hand [role=alert]", "It is needed").await;
    page.keep_screenshot("by-hand-needed").await;
    fill(&page, "select", "kitchen").await;
    page.wait_until_gone("details[open] .by-hand [role=alert]", "It is needed").await;
    page.keep_screenshot("by-hand-form").await;
    page.click("details[open] .by-hand button:not([disabled])", "Run by hand").await;
    let card = page.wait_for(".by-hand .confirm", "This would run").await;
    assert!(card.contains("base.go_to") && card.contains("\"kitchen\"") && card.contains("Moves"), "{card}");
    page.keep_screenshot("by-hand-confirm").await;
    page.click(".by-hand .confirm button:not([disabled])", "Run it now").await;
    page.wait_for(".mission-head", "Run by hand: base.go_to").await;
    page.wait_for(".flight", "base.go_to").await;
    // Beside it, nothing else is run.
    form_of(&page, "battery.level").await;
    page.click("details[open] form[aria-label*=battery] button:not([disabled])", "Run by hand").await;
    page.click(".by-hand .confirm button:not([disabled])", "Run it now").await;
    page.wait_for("#tools .by-hand .answer", "a mission runs").await;
    page.click("nav a", "Mission").await;
    let report = page.wait_for(".report", "base.go_to").await;
    assert!(report.contains("1 step"), "{report}");
    page.wait_for(".mission-head", "Succeeded").await;
    page.keep_screenshot("by-hand-report").await;
    assert_eq!(page.complaints().await.iter().filter(|one| !one.contains("409")).count(), 0);
}

#[tokio::test]
async fn a_stopped_robot_runs_no_tool_and_a_run_is_ended_like_a_mission() {
    let (test_robot, _browser, page) = sim(&["--ros-args", "-p", "speed_mps:=0.1"]).await;
    form_of(&page, "base.go_to").await;
    fill(&page, "select", "kitchen").await;
    page.click("details[open] .by-hand button:not([disabled])", "Run by hand").await;
    page.click(".by-hand .confirm button:not([disabled])", "Run it now").await;
    page.wait_for(".flight", "base.go_to").await;
    // The list is made from what a person decides on; the mission itself is shown by its events, which come before.
    page.wait_for(".missions", "Acting").await;
    page.click("button:not([disabled])", "End this mission").await;
    page.click("button:not([disabled])", "End it").await;
    page.wait_for(".mission-head", "Cancelled").await;
    page.type_into("", ESCAPE).await;
    page.wait_for("#stop-panel", "The robot is stopped").await;
    test_robot.status_until("a stop", |overview| overview.stop.stopped).await;
    form_of(&page, "battery.level").await;
    page.click("details[open] form[aria-label*=battery] button:not([disabled])", "Run by hand").await;
    page.click(".by-hand .confirm button:not([disabled])", "Run it now").await;
    page.wait_for("#tools .by-hand .answer", "stopped").await;
}

#[tokio::test]
async fn whoever_has_the_controls_runs_a_tool_by_hand_and_then_the_mission_finishes() {
    let (test_robot, _browser, page) = sim(&["--ros-args", "-p", "speed_mps:=0.4"]).await;
    page.send_task("go to the kitchen").await;
    page.wait_for(".flight", "base.go_to").await;
    page.click(".control-row button:not([disabled])", "Take over").await;
    page.wait_for("#control", "You have the controls").await;
    form_of(&page, "base.go_to").await;
    fill(&page, "select", "bedroom").await;
    page.click("details[open] .by-hand button:not([disabled])", "Run by hand").await;
    page.wait_for(".by-hand .confirm", "while the mission waits for you").await;
    // Whose the controls are stands on this view, too.
    page.wait_for("#control", "You have the controls").await;
    page.keep_screenshot("by-hand-held-confirm").await;
    page.click(".by-hand .confirm button:not([disabled])", "Run it now").await;
    page.wait_for(".mission-head", "Run by hand: base.go_to").await;
    page.wait_for(".flight", "base.go_to").await;
    page.keep_screenshot("by-hand-held").await;
    let moves = |overview: &cortex_protocol::overview::Overview| overview.calls.len() == 1;
    test_robot.status_until("one call under way", moves).await;
    page.click("#control button", "Hand back").await;
    page.click("#control button", "Yes, hand back").await;
    page.wait_for(".mission-head", "Cancelled").await;
    page.wait_for(".mission-stage", "handed the controls back").await;
    page.wait_until_gone("#control", "You have the controls").await;
    page.click("[aria-label=Missions] button", "go to the kitchen").await;
    page.wait_for(".mission-head", "Succeeded").await;
    page.keep_screenshot("by-hand-handed-back").await;
}
