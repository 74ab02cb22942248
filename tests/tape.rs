//! The tape of a real Cortex: read while it runs, after its end, and after it was killed.

use cortex_stories::{House, finish_send};
use serde_json::Value;

#[tokio::test]
async fn a_mission_is_listed_shown_followed_and_replayed() {
    let mut house = House::with_robot("reflex").await;
    let mut following = house.spawn("cortex", &["tape", "follow"]);
    let sent = house.send("go to the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let mission = sent.result["mission"].as_str().unwrap().to_owned();

    // Whoever follows gets everything, and the end.
    assert_eq!(following.wait().await, Some(0));
    let followed = following.stdout();
    for line in sent.lines() {
        assert!(followed.iter().any(|followed| followed.ends_with(line)), "{line} is missing in {followed:#?}");
    }
    // Nothing of the rest needs a robot or a running Cortex.
    house.end("cortex");
    house.end("sim");
    let (code, listed, _) = house.run("cortex", &["tape", "list"]).await;
    assert_eq!(code, Some(0));
    assert!(
        listed.contains(&mission) && listed.contains("SUCCEEDED") && listed.ends_with("go to the kitchen"),
        "{listed}"
    );
    let (code, shown, _) = house.run("cortex", &["tape", "show", &mission[..23]]).await;
    assert_eq!(code, Some(0));
    assert!(
        shown.contains("task accepted: go to the kitchen") && shown.contains("about to begin call 1: base.go_to"),
        "{shown}"
    );
    let (_, lines, _) = house.run("cortex", &["tape", "show", "--json", &mission]).await;
    for (index, line) in lines.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&record["specversion"], &record["line"]), (&"1.0".into(), &(index + 1).into()));
    }
    let (code, replayed, complained) = house.run("cortex", &["tape", "replay", &mission]).await;
    assert_eq!(code, Some(0), "{replayed}{complained}");
    assert!(replayed.starts_with("the same: "), "{replayed}");

    let (code, _, complained) = house.run("cortex", &["tape", "show", "nobody"]).await;
    assert_eq!(code, Some(2));
    assert!(complained.contains("there is no tape of a mission 'nobody'"), "{complained}");
}

/// No chance to end in order: what was about to move is on the disk all the same.
#[tokio::test]
async fn the_tape_of_a_cortex_that_was_killed_shows_what_it_was_about_to_move() {
    let mut house = House::with_slow_robot().await;
    let mut sending = house.begin_send("go to the bathroom");
    // It was sent, so it was written before.
    sending.wait_for_line("\"type\":\"cortex.step.progressed\"").await;
    house.process("cortex").signal("KILL");
    assert_eq!(house.process("cortex").wait().await, None);
    finish_send(sending).await;

    let (code, listed, _) = house.run("cortex", &["tape", "list"]).await;
    assert_eq!(code, Some(0));
    assert!(listed.contains("BROKEN OFF"), "{listed}");
    let (code, shown, complained) = house.run("cortex", &["tape", "show", "0"]).await;
    assert_eq!(code, Some(0));
    assert!(shown.contains("about to begin call 1: base.go_to {\"place\":\"bathroom\"}"), "{shown}");
    assert!(complained.contains("the tape breaks off here"), "{complained}");
    let (code, replayed, _) = house.run("cortex", &["tape", "replay", "0"]).await;
    assert_eq!(code, Some(0), "{replayed}");
    assert!(replayed.starts_with("the same as far as the tape goes"), "{replayed}");

    // As if it had been killed within a line; the next start mends it.
    let mut entries = std::fs::read_dir(house.tapes()).unwrap().map(|entry| entry.unwrap().path());
    let tape = entries.find(|path| path.is_file()).unwrap();
    let whole = std::fs::read(&tape).unwrap();
    std::fs::write(&tape, [whole.as_slice(), b"{\"specversion\":\"1."].concat()).unwrap();
    house.end("cortex");
    house.start_cortex(&[]).await;
    house.end("cortex");
    let (_, shown, _) = house.run("cortex", &["tape", "show", "0"]).await;
    assert!(shown.contains("the last line was torn by a crash; 18 bytes were cut"), "{shown}");
}
