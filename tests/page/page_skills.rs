//! The skills on the page, in a real browser over a real robot: how well each works, and what the robot has learned, which a person
//! says yes or no to.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::fs;
use std::path::Path;

use cortex_stories::{Browser, Colours, TestRobot, Viewport};

const ROUND: &str = "---
name: night-round
description: Looks after the rooms at night.
metadata:
  cortex-phrases: make the night round in {room}
  cortex-words: noise|light night
---
## Procedure

1. go to {room}
2. look around
";

/// As the robot writes it, and with a description that somebody hostile has changed.
const LEARNED: &str = "---
name: learned-make-a-tour-of-the
description: \"Does what the robot has done three times, for tasks such as: <img src=x onerror=alert(1)>\"
metadata:
  cortex-phrases: \"make a tour of the {place}\"
  cortex-learned-from: \"m1 m2 m3\"
---
## Procedure

1. go to {place}
";

fn write(folder: &Path, text: &str) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("SKILL.md"), text).expect("a file");
}

#[tokio::test]
async fn a_person_sees_how_well_skills_work_and_says_yes_to_one_that_was_learned() {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    test_robot.configure("robot = \"Robbie\"\n");
    write(&test_robot.state().join("cortex/skills/night-round"), ROUND);
    let learned = test_robot.tapes().join("skills/Robbie");
    write(&learned.join("proposed/learned-make-a-tour-of-the"), LEARNED);
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    let address = line.trim_start_matches("page: ").to_owned();
    let sent = test_robot.send("make the night round in the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    test_robot.process("cortex").wait_for_log("counted for the skills night-round: succeeded", 1).await;
    let browser = Browser::start().await;
    let page = browser.open(&address, Viewport::Wide, Colours::Light).await;
    page.click("nav a", "Skills").await;
    page.wait_for("#skills", "My name is Robbie.").await;
    page.wait_for(".skill-list", "1 succeeded").await;
    page.wait_for("#skills", "noise or light + night").await;
    let proposed = page.wait_for("[aria-label='Proposed skills'] .skill-list", "make a tour of the {place}").await;
    assert!(proposed.contains("<img src=x"), "it stays text: {proposed}");
    assert_eq!(page.barriers().await, Vec::<String>::new());
    page.keep_screenshot("skills").await;
    let tour = "make a tour of the kitchen";
    assert_eq!(test_robot.send(tour).await.status(), "failed", "a proposal does nothing");
    page.click(".skill-list button", "Use it").await;
    page.keep_screenshot("skills-accept").await;
    page.click(".skill-list .confirm:not([hidden]) button", "Use it").await;
    page.wait_until_gone("[aria-label='Proposed skills']:not([hidden])", "It has learned").await;
    assert!(learned.join("accepted/learned-make-a-tour-of-the/SKILL.md").is_file());
    let sent = test_robot.send(tour).await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{sent:#?}");
    page.click(".skill-list button", "Don’t use it").await;
    page.click(".skill-list .confirm:not([hidden]) button", "Don’t use it").await;
    page.wait_for(".skill-list", "off, somebody said no").await;
    assert_eq!(test_robot.send(tour).await.status(), "failed");
    assert_eq!(page.complaints().await, Vec::<String>::new());
    let phone = browser.open(&address, Viewport::Phone, Colours::Dark).await;
    phone.click("nav a", "Skills").await;
    phone.wait_for(".skill-list", "night-round").await;
    assert_eq!(phone.barriers().await, Vec::<String>::new());
    phone.keep_screenshot("skills-phone").await;
}
