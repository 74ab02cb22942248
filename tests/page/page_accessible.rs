//! Nothing on any view of the page keeps people from using it, as far as axe-core finds it: names for screen readers, contrast,
//! roles, order. On a desk and on a phone, light and dark.

use cortex_stories::{Browser, Colours, Page, TestRobot, Viewport};
use serde_json::Value;

/// The simulated robot and its Cortex, with the address of its page.
async fn sim(more: &[(&'static str, &str)]) -> (TestRobot, String) {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    for (name, value) in more {
        test_robot.add_environment(name, (*value).to_owned());
    }
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&[]).await;
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    let address = line.trim_start_matches("page: ").to_owned();
    (test_robot, address)
}

/// Keeps what axe-core finds on the page as it is.
async fn look(page: &Page, view: &str, found: &mut Vec<String>) {
    let barriers = page.barriers().await;
    found.extend(barriers.into_iter().map(|barrier| format!("{view}: {barrier}")));
}

#[tokio::test]
async fn what_keeps_people_from_using_a_page_is_found() {
    let browser = Browser::start().await;
    let page = browser
        .open("data:text/html,<html lang=en><title>x</title><button></button>", Viewport::Phone, Colours::Light)
        .await;
    let barriers = page.barriers().await;
    assert!(barriers.iter().any(|barrier| barrier.contains("button-name")), "{barriers:?}");
}

#[tokio::test]
async fn no_view_keeps_people_from_using_it() {
    let (_test_robot, address) = sim(&[]).await;
    let browser = Browser::start().await;
    let first = browser.open(&address, Viewport::Wide, Colours::Light).await;
    first.send_task("go to the kitchen and say hello").await;
    first.wait_for(".mission-head", "Succeeded").await;
    let mut found = Vec::new();
    for (name, viewport, colours) in [
        ("wide, light", Viewport::Wide, Colours::Light),
        ("wide, dark", Viewport::Wide, Colours::Dark),
        ("phone, light", Viewport::Phone, Colours::Light),
        ("phone, dark", Viewport::Phone, Colours::Dark),
    ] {
        let page = browser.open(&address, viewport, colours).await;
        page.wait_for(".report", "base.go_to").await;
        // Lines out of sight are not rendered, and on a phone the log is below.
        let show_log = "[...document.querySelectorAll('.log')].find((log) => log.checkVisibility()).scrollIntoView()";
        page.script(show_log, Vec::new()).await;
        page.wait_for(".log", "base.go_to").await;
        look(&page, &format!("mission, {name}"), &mut found).await;
        for (view, selector, text) in [
            ("robot", "#robot-view", "Map"),
            ("components", "#components tr", "base"),
            ("tools", "#tools", "base.go_to"),
            ("history", "#history .recorded-open", "go to the kitchen and say hello"),
            ("access", "#access", "code"),
        ] {
            page.script("location.hash = arguments[0]", vec![Value::from(view)]).await;
            page.wait_for(selector, text).await;
            look(&page, &format!("{view}, {name}"), &mut found).await;
            if view == "history" {
                page.click(".recorded-open", "go to the kitchen").await;
                page.wait_for("#history .report", "base.go_to").await;
                look(&page, &format!("a recorded mission, {name}"), &mut found).await;
            }
        }
        page.close().await;
    }
    assert!(found.is_empty(), "{} barriers:\n{}", found.len(), found.join("\n"));
}

#[tokio::test]
async fn neither_does_a_stop_nor_the_login() {
    let (_test_robot, address) = sim(&[("CORTEX_WEB__LOGIN", "everyone")]).await;
    let browser = Browser::start().await;
    let mut found = Vec::new();
    for (name, colours) in [("light", Colours::Light), ("dark", Colours::Dark)] {
        let page = browser.open(&format!("{address}login"), Viewport::Phone, colours).await;
        page.wait_for("body", "code").await;
        look(&page, &format!("login, {name}"), &mut found).await;
        page.close().await;
    }
    drop((_test_robot, browser));
    let (_test_robot, address) = sim(&[]).await;
    let browser = Browser::start().await;
    for (name, viewport, colours) in
        [("wide, light", Viewport::Wide, Colours::Light), ("phone, dark", Viewport::Phone, Colours::Dark)]
    {
        let page = browser.open(&address, viewport, colours).await;
        page.wait_for("#strip", "Takes tasks").await;
        page.click("button", "STOP").await;
        page.wait_for("#stop-panel", "The robot is stopped").await;
        look(&page, &format!("stopped, {name}"), &mut found).await;
        page.click("#stop-panel button", "Resume").await;
        look(&page, &format!("resuming, {name}"), &mut found).await;
        page.click("#stop-panel button", "Yes, take tasks again").await;
        page.wait_until_gone("#stop-panel", "The robot is stopped").await;
        page.close().await;
    }
    assert!(found.is_empty(), "{} barriers:\n{}", found.len(), found.join("\n"));
}
