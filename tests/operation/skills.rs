//! Skills that people write while the robot runs: used by the next task, without a model and with one.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::fs;
use std::path::{Path, PathBuf};

use cortex_stories::{TestRobot, calls, model, prompts, says};
use serde_json::json;

const ROUND: &str = "---
name: night-round
description: Looks after the rooms at night.
metadata:
  cortex-phrases: make the night round in {room}
---
Go quietly, and say nothing.

## Procedure

1. go to {room}
2. look around
3. go to the living room
";

/// Writes a skill of this name.
fn write(skills: &Path, name: &str, text: &str) {
    let folder = skills.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("SKILL.md"), text).expect("a file");
}

/// A robot whose skills lie in this folder.
fn robot() -> (TestRobot, PathBuf) {
    let mut test_robot = TestRobot::empty();
    let skills = test_robot.state().join("skills");
    test_robot.configure(&format!("[skills]\nfolders = [{:?}]\n", skills.to_string_lossy()));
    (test_robot, skills)
}

#[tokio::test]
async fn a_skill_that_is_written_while_cortex_runs_is_used_by_the_next_task_without_a_model() {
    let (mut test_robot, skills) = robot();
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let round = "make the night round in the kitchen";
    let sent = test_robot.send(round).await;
    assert_eq!(sent.status(), "failed", "nobody has said how: {sent:#?}");

    write(&skills, "night-round", ROUND);
    let sent = test_robot.send(round).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    assert_eq!(sent.started(), ["base.go_to", "camera.look", "base.go_to"]);
    assert!(sent.lines().join("\n").contains("on record: [skills: night-round]"), "{:#?}", sent.lines());
    assert!(sent.output().contains("I see a kettle, a table and a red cup."), "{}", sent.output());

    write(&skills, "night-round", &ROUND.replace("3. go to the living room\n", ""));
    let sent = test_robot.send(round).await;
    assert_eq!(sent.started(), ["base.go_to", "camera.look"], "the next task uses what is written now");

    write(&skills, "night-round", &ROUND.replace("look around", "juggle with knives"));
    let sent = test_robot.send(round).await;
    assert_eq!((sent.status(), sent.started()), ("failed", Vec::new()), "half of it would be worse than nothing");
    assert!(sent.output().contains("The skill 'night-round' says how to do that."), "{}", sent.output());
    assert!(sent.output().contains("juggle with knives"), "{}", sent.output());

    write(&skills, "night-round", "no front matter");
    let sent = test_robot.send(round).await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    test_robot.process("cortex").wait_for_log("SKILL.md is no skill: it does not begin with a line '---'", 1).await;
    let (code, told, _) = test_robot.run("cortex", &["skill", "check"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("night-round/SKILL.md: it does not begin with a line '---'"), "{told}");
    write(&skills, "night-round", ROUND);
    let (code, told, _) = test_robot.run("cortex", &["skill", "list"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("say: make the night round in {room}; also without a model"), "{told}");
}

#[tokio::test]
async fn a_model_is_shown_the_skill_that_fits_and_the_names_of_others() {
    let (mut test_robot, skills) = robot();
    write(&skills, "night-round", ROUND);
    let text = "---\nname: water-plants\ndescription: How to water the plants.\n---\nOnly the pots by the window.\n";
    write(&skills, "water-plants", text);
    test_robot.start("sim", "cortex-sim", &[]).await;
    let model = model([says("I can't water anything."), says("I can't water anything.")]).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("please water the plants").await;
    let told = prompts(&model);
    let first = told.first().map(String::as_str).unwrap_or_default();
    assert!(first.contains("Skills: how people want such a task done on this robot"), "{first}\n{sent:#?}");
    assert!(first.contains("[skills: water-plants]") && first.contains("Only the pots by the window."), "{first}");
    let named = "Other skills, by name. If one is for a task like this, read it before you plan (skills-read), and follow it:\n\
                 - [skills: all]: \"night-round: Looks after the rooms at night.\"";
    assert!(first.contains(named) && !first.contains("Go quietly"), "{first}");
}

#[tokio::test]
async fn a_model_reads_a_skill_by_its_name_where_no_rule_finds_it() {
    let (mut test_robot, skills) = robot();
    write(&skills, "night-round", ROUND);
    test_robot.start("sim", "cortex-sim", &[]).await;
    let read = |name: &str| calls([("skills-read", json!({"name": name}))]);
    let plan = calls([("base-go_to", json!({"place": "kitchen"})), ("base-go_to", json!({"place": "living room"}))]);
    let script =
        [read("nightround"), read("night-round"), plan, says("EXECUTE"), says("EXECUTE"), says("All is quiet.")];
    let model = model(script).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("see that all is well in the kitchen").await;
    let told = prompts(&model);
    assert!(told[1].contains("there is no skill 'nightround' (did you mean 'night-round'?)"), "{}", told[1]);
    assert!(told[2].contains("Go quietly, and say nothing."), "{}", told[2]);
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"; 2]), "nobody is asked: {sent:#?}");
}

/// What the list says of a skill.
async fn listed(test_robot: &TestRobot, name: &str) -> String {
    let (code, told, complained) = test_robot.run("cortex", &["skill", "list"]).await;
    assert_eq!(code, Some(0), "{complained}");
    let lines: Vec<&str> = told.lines().skip_while(|line| !line.starts_with(&format!("{name}  "))).take(3).collect();
    lines.join("\n")
}

#[tokio::test]
async fn of_two_skills_for_one_task_the_one_that_has_worked_is_followed_also_after_a_restart() {
    let (mut test_robot, skills) = robot();
    write(&skills, "a-round", &ROUND.replace("night-round", "a-round"));
    write(&skills, "b-round", &ROUND.replace("night-round", "b-round").replace("2. look around\n", ""));
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let round = "make the night round in the kitchen";
    let sent = test_robot.send(round).await;
    assert_eq!(sent.started(), ["base.go_to", "camera.look", "base.go_to"], "the first by name: {sent:#?}");
    test_robot.process("cortex").wait_for_log("counted for the skills a-round: succeeded", 1).await;
    assert!(listed(&test_robot, "a-round").await.contains("1 succeeded, 0 failed"));
    assert!(listed(&test_robot, "b-round").await.contains("not tried yet"));

    let mission = sent.events[0]["subject"].as_str().expect("a mission").to_owned();
    let (code, _, complained) = test_robot.run("cortex", &["dispute", &mission, "that was not it"]).await;
    assert_eq!(code, Some(0), "{complained}");
    test_robot.process("cortex").wait_for_log("counted for the skills a-round: disputed", 1).await;
    assert!(listed(&test_robot, "a-round").await.contains("0 succeeded, 0 failed, 1 disputed"));
    let sent = test_robot.send(round).await;
    assert_eq!(sent.started(), ["base.go_to", "base.go_to"], "the other one: {sent:#?}");
    test_robot.process("cortex").wait_for_log("counted for the skills b-round: succeeded", 1).await;

    test_robot.end("cortex");
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let sent = test_robot.send(round).await;
    assert_eq!(sent.started(), ["base.go_to", "base.go_to"], "it is kept: {sent:#?}");
    test_robot.process("cortex").wait_for_log("counted for the skills b-round: succeeded", 1).await;
    assert!(listed(&test_robot, "b-round").await.contains("2 succeeded, 0 failed"));
    let (code, ..) = test_robot.run("cortex", &["skill", "forget", "b-round"]).await;
    assert_eq!((code, listed(&test_robot, "b-round").await.contains("not tried yet")), (Some(0), true));
}

#[tokio::test]
async fn what_a_model_did_three_times_is_proposed_and_done_without_a_model_once_a_person_says_yes() {
    let (mut test_robot, _) = robot();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let tour = |place: &str| {
        let plan = [("base-go_to", json!({"place": place})), ("camera-look", json!({}))];
        [calls(plan), says("EXECUTE"), says("EXECUTE"), says("All is well.")]
    };
    let model = model(["kitchen", "bedroom", "office"].into_iter().flat_map(tour)).await;
    test_robot.start_cortex_with(&model).await;
    let name = "learned-make-a-tour-of-the";
    for (number, place) in ["kitchen", "bedroom", "office"].into_iter().enumerate() {
        assert_eq!(listed(&test_robot, name).await, "", "{number} times may be chance");
        let sent = test_robot.send(&format!("please make a tour of the {place}")).await;
        assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to", "camera.look"]), "{sent:#?}");
    }
    test_robot.process("cortex").wait_for_log(&format!("skill proposed: {name}"), 1).await;
    assert!(listed(&test_robot, name).await.contains("proposed: off until `cortex skill accept`"));
    let (_, shown, _) = test_robot.run("cortex", &["skill", "show", name]).await;
    assert!(shown.contains("say: make a tour of the {place}"), "{shown}");
    let digest = shown.lines().find_map(|line| line.strip_prefix("digest: ")).expect("a digest").to_owned();
    let file = PathBuf::from(shown.lines().next().expect("its file"));

    test_robot.end("cortex");
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let task = "make a tour of the living room";
    let sent = test_robot.send(task).await;
    assert_eq!((sent.status(), sent.started()), ("failed", Vec::new()), "a proposal does nothing: {sent:#?}");
    assert!(!sent.lines().join("\n").contains(name), "and nobody is told of it: {:#?}", sent.lines());
    let (code, told, complained) = test_robot.run("cortex", &["skill", "accept", name]).await;
    assert_eq!(code, Some(1), "nobody has seen it: {told}");
    assert!(told.contains("cortex-learned-from:"), "its whole text: {told}");
    assert!(complained.contains(&format!("cortex skill accept {name} --digest {digest}")), "{complained}");
    // Somebody writes into it between the look and the yes.
    let proposed = fs::read_to_string(&file).expect("a proposal");
    fs::write(&file, format!("{proposed}3. go to the bedroom\n")).expect("it is changed");
    let accept = ["skill", "accept", name, "--digest", &digest];
    let (code, _, complained) = test_robot.run("cortex", &accept).await;
    assert_ne!(code, Some(0), "nobody has seen it");
    assert!(complained.contains("was changed since you saw it"), "{complained}");
    assert_eq!(test_robot.send(task).await.status(), "failed", "it is off as before");
    fs::write(&file, &proposed).expect("it is as it was");
    let (code, told, _) = test_robot.run("cortex", &accept).await;
    assert_eq!(code, Some(0), "{told}");
    let sent = test_robot.send(task).await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to", "camera.look"]), "{sent:#?}");
    let (code, told, _) = test_robot.run("cortex", &["skill", "reject", name]).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(test_robot.send(task).await.status(), "failed");
    assert!(listed(&test_robot, name).await.contains("off: somebody said no"));
}
