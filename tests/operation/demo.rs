//! What a newcomer does with `cargo xtask demo`: reads what it prints, and does that.

#![expect(clippy::unwrap_used, reason = "a test whose set-up fails ends here, and says why")]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use cortex_stories::{Browser, Colours, Page, Process, TestRobot, Viewport, binaries};

/// How fast the simulated robot drives, in metres per second: slowly enough for a person to stop it on its way.
const SPEED: &str = "0.4";
const ESCAPE: &str = "\u{e00c}";

/// A test robot in which the demonstration has a page at a port of its own, and a folder with its programs.
fn stage() -> (TestRobot, PathBuf) {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    // As Cargo does for those who type `cargo xtask`.
    test_robot.add_environment("CARGO_MANIFEST_DIR", format!("{}/../crates/xtask", env!("CARGO_MANIFEST_DIR")));
    let folder = test_robot.state().join("debug");
    std::fs::create_dir(&folder).unwrap();
    symlink(binaries().join("cortex"), folder.join("cortex")).unwrap();
    let simulator = binaries().join("cortex-sim");
    let script = format!("#!/bin/sh\nexec '{}' \"$@\" --ros-args -p speed_mps:={SPEED}\n", simulator.display());
    let program = folder.join("cortex-sim");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (test_robot, folder)
}

/// The demonstration in a terminal in which a person sits, once its own task is done, and where its page is.
async fn in_terminal(test_robot: &TestRobot, folder: &Path) -> (Process, String) {
    let demo = format!("'{}' demo --binaries '{}'", binaries().join("xtask").display(), folder.display());
    let mut terminal = test_robot.spawn_shell(&format!("exec script --quiet --return --command \"{demo}\" /dev/null"));
    let line = terminal.wait_for_line("The page: ").await;
    terminal.wait_for_line("The mission succeeded").await;
    (terminal, line.split_once("The page: ").unwrap().1.trim().to_owned())
}

async fn cards(page: &Page) -> u64 {
    let count = page.script("return document.querySelectorAll('.card').length", Vec::new()).await;
    count.as_u64().unwrap()
}

#[tokio::test]
async fn a_newcomer_does_what_is_printed_is_asked_once_stops_and_resumes() {
    let (test_robot, folder) = stage();
    let (mut terminal, address) = in_terminal(&test_robot, &folder).await;
    let invitation = terminal.wait_for_line("send there: ").await;
    let invited = invitation.split_once("send there: ").unwrap().1.trim();
    let browser = Browser::start().await;
    let page = browser.open(&address, Viewport::Wide, Colours::Light).await;
    page.wait_for("#strip", "Takes tasks").await;
    assert_eq!(cards(&page).await, 0, "what the demonstration does by itself asks for nothing");
    page.send_task(invited).await;
    let card = page.wait_for(".card", "Approve").await;
    assert!(card.contains("base.go_to") && card.contains("Somebody may be asleep in the bedroom."), "{card}");
    assert_eq!(cards(&page).await, 1);
    page.keep_screenshot("demo-approval").await;
    page.answer_deliberately(".card button", "Approve once").await;
    page.wait_for(".flight", "base.go_to").await;
    assert_eq!(cards(&page).await, 0, "asked once");
    page.script("document.activeElement.blur()", Vec::new()).await;
    page.type_into("", ESCAPE).await;
    page.wait_for("#stop-panel", "The robot is stopped").await;
    page.wait_for(".mission-head", "Cancelled").await;
    page.click("#stop-panel button", "Resume").await;
    page.click("#stop-panel button", "Yes, take tasks again").await;
    page.wait_until_gone("#stop-panel", "The robot is stopped").await;
    page.send_task("say hello").await;
    page.wait_for(".report", "speaker.say").await;
    terminal.write_line("quit").await;
    assert_eq!(terminal.wait().await, Some(0));
}

#[tokio::test]
async fn the_page_shows_the_home_and_the_robot_drives_to_where_a_person_clicked() {
    let (test_robot, folder) = stage();
    let (mut terminal, address) = in_terminal(&test_robot, &folder).await;
    let browser = Browser::start().await;
    let page = browser.open(&address, Viewport::Wide, Colours::Light).await;
    page.click("nav a", "Robot").await;
    // Its own task has brought it to the kitchen.
    page.wait_for(".map-panel [role=status]", "The robot is at x 3.00 m, y 1.50 m").await;
    page.wait_for(".places button", "kitchen").await;
    page.wait_for(".camera-panel", "240 × 160 · rgb8").await;
    let middle = "const box = document.querySelector('.map-canvas').getBoundingClientRect(); \
                  document.querySelector('.map-frame').dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2})); \
                  return document.querySelector('#goal-task').value;";
    let words = page.script(middle, Vec::new()).await;
    assert!(words.as_str().unwrap().starts_with("go to x "), "{words}");
    let type_place = "for (const [field, value] of [['x', '2.10'], ['y', '-0.20']]) { \
                      const input = document.getElementById(`goal-${field}`); input.value = value; input.dispatchEvent(new Event('input')); } \
                      return document.querySelector('#goal-task').value;";
    let words = page.script(type_place, Vec::new()).await;
    assert_eq!(words, "go to x 2.10 y -0.20");
    page.keep_screenshot("demo-robot").await;
    for (viewport, colours, name) in
        [(Viewport::Phone, Colours::Light, "phone"), (Viewport::Wide, Colours::Dark, "dark")]
    {
        let other = browser.open(&address, viewport, colours).await;
        other.click("nav a", "Robot").await;
        other.wait_for(".map-panel [role=status]", "The robot is at x").await;
        other.wait_for(".camera-panel", "240 × 160 · rgb8").await;
        other.keep_screenshot(&format!("demo-robot-{name}")).await;
        other.close().await;
    }
    page.send(".goal").await;
    page.wait_for(".mission-head", "Succeeded").await;
    page.wait_for(".report", "base.go_to_point").await;
    page.click("nav a", "Robot").await;
    page.wait_for(".map-panel [role=status]", "The robot is at x 2.10 m, y -0.20 m").await;
    terminal.write_line("quit").await;
    assert_eq!(terminal.wait().await, Some(0));
}

#[tokio::test]
async fn where_nobody_can_type_it_asks_nothing_and_ends_by_itself() {
    let (test_robot, folder) = stage();
    let (code, _, said) = test_robot.run("xtask", &["demo", "--binaries", &folder.to_string_lossy()]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("this ends after the task") && said.contains("The mission succeeded"), "{said}");
    assert!(!said.contains("cortex approve"), "{said}");
}
