//! The tape of a real Cortex: read while it runs, after its end, and after it was killed.

use std::path::{Path, PathBuf};

use cortex_stories::{TestRobot, finish_send};
use serde_json::Value;

const MISSION: &str = "01a20790-d074-749e-b483-1967aea2d110";

/// A tape that has ended, in the folder of this robot. No robot is needed to read it.
fn reference_in(test_robot: &TestRobot) -> std::io::Result<(PathBuf, String)> {
    std::fs::create_dir_all(test_robot.tapes())?;
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cortex-runtime/tests/reference_tape.jsonl");
    Ok((test_robot.tapes().join(format!("{MISSION}.jsonl")), std::fs::read_to_string(recorded)?))
}

#[tokio::test]
async fn a_mission_is_listed_shown_followed_and_replayed() {
    let mut test_robot = TestRobot::with_robot("reflex").await;
    let mut following = test_robot.spawn("cortex", &["tape", "follow"]);
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let mission = sent.result["mission"].as_str().unwrap().to_owned();

    // Whoever follows gets everything, and the end.
    assert_eq!(following.wait().await, Some(0));
    let followed = following.stdout();
    for line in sent.lines() {
        assert!(followed.iter().any(|followed| followed.ends_with(line)), "{line} is missing in {followed:#?}");
    }
    // Nothing of the rest needs a robot or a running Cortex.
    test_robot.end("cortex");
    test_robot.end("sim");
    let (code, listed, _) = test_robot.run("cortex", &["tape", "list"]).await;
    assert_eq!(code, Some(0));
    assert!(
        listed.contains(&mission) && listed.contains("SUCCEEDED") && listed.ends_with("go to the kitchen"),
        "{listed}"
    );
    let (code, shown, _) = test_robot.run("cortex", &["tape", "show", &mission[..23]]).await;
    assert_eq!(code, Some(0));
    assert!(
        shown.contains("task accepted: go to the kitchen") && shown.contains("about to begin call 1: base.go_to"),
        "{shown}"
    );
    let (_, lines, _) = test_robot.run("cortex", &["tape", "show", "--json", &mission]).await;
    for (index, line) in lines.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&record["specversion"], &record["line"]), (&"1.0".into(), &(index + 1).into()));
    }
    let (code, replayed, complained) = test_robot.run("cortex", &["tape", "replay", &mission]).await;
    assert_eq!(code, Some(0), "{replayed}{complained}");
    assert!(replayed.starts_with("the same: "), "{replayed}");

    let (code, _, complained) = test_robot.run("cortex", &["tape", "show", "nobody"]).await;
    assert_eq!(code, Some(2));
    assert!(complained.contains("there is no tape of a mission 'nobody'"), "{complained}");
}

/// No chance to end in order: what was about to move is on the disk all the same.
#[tokio::test]
async fn the_tape_of_a_cortex_that_was_killed_shows_what_it_was_about_to_move() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut following = test_robot.spawn("cortex", &["tape", "follow"]);
    let sending = test_robot.begin_send("go to the bathroom");
    following.wait_for_line("about to begin call 1").await;
    test_robot.process("cortex").signal("KILL");
    assert_eq!(test_robot.process("cortex").wait().await, None);
    finish_send(sending).await;

    let (code, listed, _) = test_robot.run("cortex", &["tape", "list"]).await;
    assert_eq!(code, Some(0));
    assert!(listed.contains("BROKEN OFF"), "{listed}");
    let (code, shown, complained) = test_robot.run("cortex", &["tape", "show", "0"]).await;
    assert_eq!(code, Some(0));
    assert!(shown.contains("about to begin call 1: base.go_to {\"place\":\"bathroom\"}"), "{shown}");
    assert!(complained.contains("the tape breaks off here"), "{complained}");
    let (code, replayed, _) = test_robot.run("cortex", &["tape", "replay", "0"]).await;
    assert_eq!(code, Some(0), "{replayed}");
    assert!(replayed.starts_with("the same as far as the tape goes"), "{replayed}");

    // As if it had been killed within a line; the next start fixes it.
    let mut entries = std::fs::read_dir(test_robot.tapes()).unwrap().map(|entry| entry.unwrap().path());
    let tape = entries.find(|path| path.is_file()).unwrap();
    let whole = std::fs::read(&tape).unwrap();
    std::fs::write(&tape, [whole.as_slice(), b"{\"specversion\":\"1."].concat()).unwrap();
    test_robot.end("cortex");
    test_robot.start_cortex(&[]).await;
    test_robot.end("cortex");
    let (_, shown, _) = test_robot.run("cortex", &["tape", "show", "0"]).await;
    assert!(shown.contains("the last line was torn by a crash; 18 bytes were cut"), "{shown}");
}

/// A `text` that was edited was shown as it stood, under SUCCEEDED and "the same".
#[tokio::test]
async fn regression_a_tape_that_was_changed_is_told_with_the_line() {
    let test_robot = TestRobot::empty();
    let (path, whole) = reference_in(&test_robot).unwrap();
    let accepted = "task accepted: Grasp the cup in the kitchen.";
    assert!(whole.lines().nth(1).unwrap().contains(accepted), "the task is in line 2");
    std::fs::write(&path, whole.replacen(accepted, "task accepted: Leave the cup in the kitchen.", 1)).unwrap();

    let (code, listed, _) = test_robot.run("cortex", &["tape", "list"]).await;
    assert_eq!(code, Some(0));
    assert!(listed.contains("CHANGED") && listed.contains("line 2"), "{listed}");
    for command in ["show", "replay"] {
        let (code, said, complained) = test_robot.run("cortex", &["tape", command, "0"]).await;
        assert_eq!(code, Some(1), "{command}: {said}");
        assert!(complained.contains("this tape was changed: line 2"), "{command}: {complained}");
    }

    // What ended well did not fail, and the last line has no line after it that would tell.
    let ended = "\"tape\":\"closed\",\"status\":\"succeeded\"";
    assert!(whole.contains(ended));
    std::fs::write(&path, whole.replacen(ended, "\"tape\":\"closed\",\"status\":\"failed\"", 1)).unwrap();
    let (_, listed, _) = test_robot.run("cortex", &["tape", "list"]).await;
    let last = format!("line {}", whole.lines().count());
    assert!(listed.contains("CHANGED") && listed.contains(&last), "{listed}");

    std::fs::write(&path, &whole).unwrap();
    for (command, expected) in [("list", "SUCCEEDED"), ("show", "task accepted"), ("replay", "the same: ")] {
        let arguments = ["tape", command, "0"];
        let arguments = if command == "list" { &arguments[..2] } else { &arguments[..] };
        let (code, said, complained) = test_robot.run("cortex", arguments).await;
        assert_eq!((code, complained.as_str()), (Some(0), ""), "{command}: {said}");
        assert!(said.contains(expected), "{command}: {said}");
    }

    let old: String = whole
        .lines()
        .map(|line| match line.find(",\"previous\":") {
            Some(at) => format!("{}}}\n", &line[..at]),
            None => line.replace("\"version\":4", "\"version\":3") + "\n",
        })
        .collect();
    std::fs::write(&path, old).unwrap();
    let (_, listed, _) = test_robot.run("cortex", &["tape", "list"]).await;
    assert!(listed.contains("SUCCEEDED   (no hashes) Grasp the cup"), "{listed}");
    for command in ["show", "replay"] {
        let (code, _, complained) = test_robot.run("cortex", &["tape", command, "0"]).await;
        assert_eq!(code, Some(0));
        assert!(complained.contains("carries no hashes"), "{command}: {complained}");
    }
}
