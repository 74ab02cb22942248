//! Stories of what people do with tasks, and of the bulletin that is made of it.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;

use std::path::Path;
use std::process::{Command, Stdio};

use cortex_memory::{Forget, Interaction, InteractionKind, Memory, Outcome, Standing};
use house::*;

fn did(kind: InteractionKind, subject: &str, detail: &str, person: &str, minute: u64) -> Interaction {
    Interaction {
        kind,
        subject: subject.to_owned(),
        detail: detail.to_owned(),
        person: person.to_owned(),
        wall_ms: START + minute * MINUTE,
        utc_offset_min: 0,
    }
}

async fn note(memory: &Memory, interaction: Interaction) {
    memory.note_interaction(interaction).await.expect("kept");
}

async fn bulletin(memory: &Memory, minute: u64) -> String {
    memory.bulletin(&Standing::default(), &now(minute)).await.expect("a bulletin")
}

fn is_in_files(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).expect("the folder").any(|entry| {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("its bytes");
        bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    })
}

const DAY_MIN: u64 = 24 * 60;

#[tokio::test]
async fn the_bulletin_is_the_same_for_the_same_memory_and_time_and_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    for day in 0..5 {
        note(&memory, did(InteractionKind::Asked, "turn on the kitchen light", "", "anna", day * DAY_MIN)).await;
    }
    note(&memory, did(InteractionKind::Denied, "arm.throw", "somebody may be hit", "ben", 4 * DAY_MIN + 1)).await;
    let plants = memory.begin_episode("water the plants", START + 4 * DAY + MINUTE).await.expect("begun");
    memory.end_episode(plants, Outcome::Failed, "no water", START + 4 * DAY + 2 * MINUTE).await.expect("ended");
    memory.add(vec![battery(0.42, 4 * DAY_MIN)]).await.expect("kept");
    let first = bulletin(&memory, 4 * DAY_MIN + 9).await;
    assert_eq!(
        first,
        "Health: robot battery 0.42, 2023-11-18T22:13:20Z. \
         Goals: 'water the plants' failed, 2023-11-18T22:15:20Z. \
         Decisions: 'ben' denied 'arm.throw' ('somebody may be hit'), 2023-11-18T22:14:20Z. \
         Preferences, from repetition: 'turn on the kitchen light' was asked for at 22:13 local time on 5 days, the last \
         2023-11-18T22:13:20Z, by 'anna'."
    );
    drop(memory);
    let memory = open(folder.path()).await;
    assert_eq!(bulletin(&memory, 4 * DAY_MIN + 9).await, first);
    assert_eq!(bulletin(&memory, 5 * DAY_MIN).await, first, "the time alone changes nothing until something is old");
    let later = bulletin(&memory, 40 * DAY_MIN).await;
    assert_eq!(later, "Health: robot battery 0.42, 2023-11-18T22:13:20Z.", "the rest is old");
    assert_eq!(bulletin(&memory, 3 * DAY_MIN).await.matches("on 4 days").count(), 1, "what is to come does not count");
}

/// Two people, and the camera, say the same by their own ways.
#[tokio::test]
async fn the_same_fact_of_several_channels_is_one_with_its_trail() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let note = |person: &str, minute| {
        let observation = says(cortex_memory::SourceKind::Person, person, camera("spare key", is_at("drawer"), minute));
        cortex_memory::Observation { layer: cortex_memory::NOTES.to_owned(), ..observation }
    };
    let noted = memory.add(vec![camera("The Spare Key", is_at("drawer"), 0), note("anna", 1), note("ben", 2)]).await;
    let cortex_memory::Change::New(fact) = noted.expect("kept")[0].change else { panic!("it is new") };
    assert_eq!(memory.size().await.unwrap().open_facts, 1);
    let trail: Vec<String> = memory.trail(fact, 9).await.unwrap().into_iter().map(|run| run.source.name).collect();
    assert_eq!(trail, ["ben", "anna", "/camera"]);
    let text = bulletin(&memory, 5).await;
    assert_eq!(
        text,
        "People said: The Spare Key is at drawer, ben (a person) and anna (a person) and /camera, 2023-11-14T22:15:20Z."
    );
}

#[tokio::test]
async fn what_people_did_is_forgotten_with_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    note(&memory, did(InteractionKind::Asked, "bring the Xylophone", "", "anna", 0)).await;
    note(&memory, did(InteractionKind::Denied, "arm.take (thing xylophone)", "it is ben's", "zacharias", 1)).await;
    note(&memory, did(InteractionKind::Disputed, "patrol", "", "ostrich", 2)).await;
    let forgotten = memory.forget(Forget::Subject("xylophone".to_owned())).await.expect("forgotten");
    assert_eq!(forgotten.interactions, 2);
    assert!(!is_in_files(folder.path(), "xylophone"));
    let text = bulletin(&memory, 9).await;
    assert!(text.contains("'zacharias' denied 'arm.take (thing [forgotten])'"), "{text}");
    memory.forget(Forget::Subject("Zacharias".to_owned())).await.expect("forgotten");
    assert!(!is_in_files(folder.path(), "zacharias"));
    let text = bulletin(&memory, 9).await;
    assert!(text.contains("'[forgotten]' denied"), "what a person did stays, without the name: {text}");
    memory.forget(Forget::Source("ostrich".to_owned())).await.expect("forgotten");
    assert!(!is_in_files(folder.path(), "ostrich") && !is_in_files(folder.path(), "patrol"));
    let span = Forget::Span { from_ms: START, to_ms: START + 30_000 };
    assert_eq!(memory.forget(span).await.expect("forgotten").interactions, 1);
    memory.forget(Forget::Everything).await.expect("forgotten");
    assert_eq!(bulletin(&memory, 9).await, "");
}

/// The approval of the very task that forgets is noted after it has forgotten.
#[tokio::test]
async fn a_name_that_was_forgotten_does_not_come_back_with_what_people_did_in_the_task() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let episode = memory.begin_episode("forget everything about the xylophone", START).await.expect("begun");
    memory.forget(Forget::Subject("xylophone".to_owned())).await.expect("forgotten");
    note(&memory, did(InteractionKind::Approved, "memory.forget (thing xylophone)", "", "anna", 1)).await;
    memory.end_episode(episode, Outcome::Succeeded, "", START + MINUTE).await.expect("ended");
    assert!(!is_in_files(folder.path(), "xylophone"));
}

#[tokio::test]
async fn what_cannot_be_kept_of_a_person_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let good = did(InteractionKind::Asked, "patrol", "", "anna", 0);
    for bad in [
        Interaction { subject: " ".to_owned(), ..good.clone() },
        Interaction { person: String::new(), ..good.clone() },
        Interaction { detail: "x".repeat(20_000), ..good.clone() },
        Interaction { wall_ms: u64::MAX, ..good.clone() },
        Interaction { utc_offset_min: i32::MIN, ..good.clone() },
    ] {
        memory.note_interaction(bad).await.expect_err("it is refused");
    }
    note(&memory, good).await;
}

#[tokio::test]
async fn what_people_did_is_taken_over_from_a_damaged_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    note(&memory, did(InteractionKind::Approved, "base.go_to (place street)", "", "anna", 0)).await;
    drop(memory);
    let (memory, _) = Memory::rebuild(folder.path().join("memory.sqlite"), rules()).await.expect("rebuilt");
    assert!(bulletin(&memory, 1).await.contains("'anna' approved"));
    // The numbers of arrival go on where they were.
    note(&memory, did(InteractionKind::Denied, "base.go_to (place street)", "", "anna", 2)).await;
    assert!(bulletin(&memory, 3).await.starts_with("Decisions: 'anna' denied"));
}

/// The test runs itself as a writer, and kills it while it writes.
#[tokio::test]
async fn what_people_did_survives_ten_kills() {
    const WRITER: &str = "CORTEX_INTERACTION_WRITER";
    if let Some(file) = std::env::var_os(WRITER) {
        let memory = Memory::open(Path::new(&file), rules()).await.expect("it opens");
        let first = memory.size().await.expect("a size").bytes;
        for number in 0_u64.. {
            let task = format!("task {first} {number}");
            note(&memory, did(InteractionKind::Disputed, &task, "", "anna", number)).await;
            println!("acknowledged {task}");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("memory.sqlite");
    let mut last = Vec::new();
    for kill in 0..10_usize {
        let mut writer = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "what_people_did_survives_ten_kills", "--nocapture"])
            .env(WRITER, &file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a writer");
        let lines = std::io::BufRead::lines(std::io::BufReader::new(writer.stdout.take().expect("its output")));
        let task =
            |line: std::io::Result<String>| line.expect("a line").split_once("acknowledged ").map(|it| it.1.to_owned());
        last.extend(lines.filter_map(task).take(1 + kill % 3).last());
        writer.kill().expect("killed");
        writer.wait().expect("its end");
    }
    assert_eq!(last.len(), 10);
    let memory = open(folder.path()).await;
    drop(memory);
    let file = rusqlite::Connection::open(&file).expect("it opens");
    for task in last {
        let kept: u64 = file
            .query_row("SELECT count(*) FROM interactions WHERE subject = ?1", [&task], |row| row.get(0))
            .expect("a count");
        assert!(kept > 0, "'{task}' was acknowledged");
    }
}
