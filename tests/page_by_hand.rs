//! What people do by hand in a real browser: look at a recording, run one tool, keep what happened.

#![expect(clippy::unwrap_used, reason = "a test whose set-up fails ends here, and says why")]

use std::sync::Arc;

use cortex_player::{RecordedRobot, Recording, Speed};
use cortex_stories::{Browser, Colours, Viewport};
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
