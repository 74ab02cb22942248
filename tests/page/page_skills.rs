//! The skills on the page, in a real browser over a real robot: how well each works, which a person has forgotten, and what the robot
//! has learned, which a person reads and says yes or no to.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::fs;
use std::path::Path;

use cortex_stories::{Browser, Colours, Page, TestRobot, Viewport};

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

/// The key Enter, as WebDriver has it.
const ENTER: &str = "\u{e007}";

/// As the robot writes it, and with a description and a body that somebody hostile has changed.
const LEARNED: &str = "---
name: learned-make-a-tour-of-the
description: \"Does what the robot has done three times, for tasks such as: <img src=x onerror=alert(1)>\"
metadata:
  cortex-phrases: \"make a tour of the {place}\"
  cortex-learned-from: \"m1 m2 m3\"
---
## Procedure

1. go to {place}

<script>alert(1)</script> \u{202e}\u{e0041}
";

const NAME: &str = "learned-make-a-tour-of-the";

/// Presses a button of a skill with the keyboard, answers its question, and gives what the page says of it. A view that was frozen
/// for a moment, as on a loaded machine, takes no answer.
async fn say(page: &Page, within: &str, label: &str, yes: &str) -> String {
    loop {
        page.script("document.querySelector('#skills > .answer').textContent = ''", Vec::new()).await;
        page.type_into(&format!("{within} button[aria-label^='{label}']"), ENTER).await;
        if label == "Use it" {
            page.wait_for(&format!("{within} .skill-text"), "---").await;
        }
        page.click(&format!("{within} .confirm:not([hidden]) button"), yes).await;
        let told = page.wait_for("#skills > .answer", "").await;
        if !told.contains("frozen") && !told.contains("older than a second") {
            return told;
        }
    }
}

/// The label of what has the focus.
async fn focused(page: &Page) -> String {
    let label = page.script("return document.activeElement.getAttribute('aria-label')", Vec::new()).await;
    label.as_str().unwrap_or_default().to_owned()
}

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
    let proposed = learned.join("proposed").join(NAME);
    write(&proposed, LEARNED);
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
    let listed = page.wait_for("[aria-label='Proposed skills'] .skill-list", "make a tour of the {place}").await;
    assert!(listed.contains("<img src=x"), "it stays text: {listed}");
    let (ours, its) = ("[data-skill='night-round']", format!("[data-skill='{NAME}']"));
    page.type_into(&format!("{its} button[aria-label^='Whole text']"), ENTER).await;
    let text = page.wait_for(&format!("{its} .skill-text"), "cortex-learned-from").await;
    assert!(text.contains("<script>alert(1)</script> ⟨U+202E⟩⟨U+E0041⟩"), "nothing in it hides: {text}");
    assert_eq!(page.barriers().await, Vec::<String>::new());
    page.keep_screenshot("skills").await;
    let tour = "make a tour of the kitchen";
    assert_eq!(test_robot.send(tour).await.status(), "failed", "a proposal does nothing");

    // Somebody writes into it after the person has looked.
    write(&proposed, &LEARNED.replace("1. go to {place}", "1. go to {place}\n2. open the gate"));
    let told = say(&page, &its, "Use it", "Use it").await;
    assert!(told.contains("was changed since you saw it"), "{told}");
    page.wait_for(&its, "open the gate").await;
    assert_eq!(focused(&page).await, format!("Whole text of {NAME}"), "the person goes on where they were");
    assert!(!learned.join("accepted").join(NAME).exists() && proposed.is_dir(), "nothing is done");
    write(&proposed, LEARNED);
    page.click("#skills button", "Look again").await;
    page.wait_until_gone(&its, "open the gate").await;
    page.click(&format!("{its} button"), "Use it").await;
    page.wait_for(&format!("{its} .skill-text"), "cortex-learned-from").await;
    assert_eq!(page.barriers().await, Vec::<String>::new());
    page.keep_screenshot("skills-accept").await;
    page.click(&format!("{its} .confirm:not([hidden]) button"), "Not now").await;
    let told = say(&page, &its, "Use it", "Use it").await;
    assert!(told.contains("is used from the next task on"), "{told}");
    assert!(learned.join("accepted").join(NAME).join("SKILL.md").is_file());
    let sent = test_robot.send(tour).await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{sent:#?}");
    test_robot.process("cortex").wait_for_log(&format!("counted for the skills {NAME}: succeeded"), 1).await;
    let told = say(&page, &its, "Don’t use it", "Don’t use it").await;
    assert!(told.contains("is not used"), "{told}");
    page.wait_for(&its, "off, somebody said no").await;
    assert_eq!(test_robot.send(tour).await.status(), "failed");

    // What is counted of one is forgotten, then that of all.
    page.wait_for(&its, "1 succeeded").await;
    let told = say(&page, ours, "Forget what is counted", "Forget them").await;
    assert!(told.contains("Nothing is counted of “night-round” now."), "{told}");
    page.wait_for(ours, "Not tried yet.").await;
    assert_eq!(focused(&page).await, "Whole text of night-round");
    page.wait_for(&its, "1 succeeded").await;
    page.click("#skills button", "Forget all counts").await;
    page.keep_screenshot("skills-forget-all").await;
    page.click(".confirm:not([hidden]) button", "Keep them").await;
    page.wait_for(&its, "1 succeeded").await;
    forget_all(&page).await;
    page.wait_for(&its, "Not tried yet.").await;
    let outcomes = fs::read_to_string(learned.join("outcomes.jsonl")).expect("the counts");
    assert!(!outcomes.contains(NAME) && !outcomes.contains("night-round"), "no byte of it stays: {outcomes}");
    test_robot.process("cortex").wait_for_log("forget what is counted of all skills", 1).await;
    let complaints = page.complaints().await;
    // The one request that was refused.
    assert!(complaints.iter().all(|one| one.contains("412")), "{complaints:?}");

    let phone = browser.open(&address, Viewport::Phone, Colours::Dark).await;
    phone.click("nav a", "Skills").await;
    phone.click(&format!("{its} button"), "Whole text").await;
    phone.wait_for(&format!("{its} .skill-text"), "cortex-learned-from").await;
    assert_eq!(phone.barriers().await, Vec::<String>::new());
    phone.script("document.querySelector('.skill-text').scrollIntoView({ block: 'center' })", Vec::new()).await;
    phone.keep_screenshot("skills-phone").await;
}

/// As [`say`], for the button above all skills, which has its words for a label.
async fn forget_all(page: &Page) {
    loop {
        page.script("document.querySelector('#skills > .answer').textContent = ''", Vec::new()).await;
        page.click("#skills button", "Forget all counts").await;
        page.click(".confirm:not([hidden]) button", "Forget all").await;
        let told = page.wait_for("#skills > .answer", "").await;
        if told.contains("Nothing is counted of any skill now.") {
            return;
        }
        assert!(told.contains("frozen") || told.contains("older than a second"), "{told}");
    }
}
