//! Stories of the file: what survives, what is refused, and what is gone when it was forgotten.
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

use cortex_memory::{Forget, Memory, MemoryError, MemoryRules, Observation, Whereabouts};
use house::*;

/// Whether any file of the folder holds a word, in any case.
fn is_in_files(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).expect("the folder").any(|entry| {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("its bytes");
        bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Observations of many things, so that pages are split and merged.
fn crowd(word: &str, number: u64) -> Vec<Observation> {
    let observations = (0..number).flat_map(|index| {
        let claims = [is_at(&format!("shelf {}", index % 17)), is("is", &format!("thing number {index}"))];
        claims.map(|claim| camera(&format!("{word} {index}"), claim, index))
    });
    observations.collect()
}

#[tokio::test]
async fn what_is_forgotten_leaves_no_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(crowd("plate", 300)).await.expect("kept");
    memory
        .add(vec![
            camera("xylophone", is_at("zanzibar"), 0),
            anna(camera("anna", is("likes", "to hear the xylophone in the evening"), 1)),
            camera("box", is("holds", "xylophone"), 2),
            camera("plate 3", could_not_see("shelf 2", "the xylophone was in the way"), 3),
            camera("xylophone", not_there("hall"), 4),
            camera("xylophone stand", is_at("hall"), 5),
        ])
        .await
        .expect("kept");
    assert!(is_in_files(folder.path(), "xylophone"));
    let forgotten = memory.forget(Forget::Subject("the Xylophone".to_owned())).await.expect("forgotten");
    assert_eq!((forgotten.observations, forgotten.facts), (5, 3));
    assert!(!is_in_files(folder.path(), "zanzibar"), "nothing else is there");
    assert!(memory.locate("xylophone stand", &now(9)).await.unwrap().is_some(), "another thing is not forgotten");
    memory.forget(Forget::Subject("xylophone stand".to_owned())).await.expect("forgotten");
    assert!(!is_in_files(folder.path(), "xylophon"));
    assert!(memory.recall("xylophone", 5, &now(9)).await.unwrap().named.is_empty());
    assert_eq!(memory.size().await.unwrap().observations, 600, "the others are all there");

    memory.forget(Forget::Everything).await.expect("forgotten");
    assert!(!is_in_files(folder.path(), "plate") && !is_in_files(folder.path(), "shelf"));
    let size = memory.size().await.unwrap();
    assert_eq!((size.observations, size.open_facts, size.ended_facts), (0, 0, 0));
    memory.add(vec![camera("red cup", is_at("kitchen"), 10)]).await.expect("it goes on");
}

#[tokio::test]
async fn a_time_or_a_source_is_forgotten_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let ocr = |value: &str, minute| {
        says(cortex_memory::SourceKind::Sensor, "/ocr", camera("note", is("says", value), minute))
    };
    memory
        .add(vec![
            camera("red cup", is_at("kitchen"), 0),
            camera("red cup", is_at("kitchen"), 60),
            camera("red cup", is_at("kitchen"), 120),
            ocr("zanzibar", 60),
            ocr("ostrich", 200),
        ])
        .await
        .unwrap();
    let span = Forget::Span { from_ms: START + 50 * MINUTE, to_ms: START + 130 * MINUTE };
    memory.forget(span).await.expect("forgotten");
    let fact = memory.history("red cup", "is at", 5).await.unwrap().remove(0);
    assert_eq!((fact.seen_at.wall_ms, fact.observations), (START, 1), "it is as of what is left");
    assert!(!is_in_files(folder.path(), "zanzibar") && is_in_files(folder.path(), "ostrich"));
    memory.forget(Forget::Source("/ocr".to_owned())).await.expect("forgotten");
    assert!(!is_in_files(folder.path(), "ostrich") && !is_in_files(folder.path(), "/ocr"));
    assert!(memory.locate("red cup", &now(9)).await.unwrap().is_some());
}

#[tokio::test]
async fn regression_a_forgotten_source_was_still_named_by_facts_that_others_saw_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let seen = |name: &str, place: &str, minute| {
        let observation = camera("red cup", is_at(place), minute);
        says(cortex_memory::SourceKind::Sensor, name, observation)
    };
    memory
        .add(vec![
            seen("/camera", "kitchen", 0),
            seen("/zanzibar", "kitchen", 1),
            seen("/camera", "hall", 30),
            seen("/zanzibar", "garage", 60),
            seen("/camera", "cellar", 90),
        ])
        .await
        .unwrap();
    memory.forget(Forget::Source("/zanzibar".to_owned())).await.expect("forgotten");
    assert!(!is_in_files(folder.path(), "zanzibar"));
    let history = memory.history("red cup", "is at", 9).await.unwrap();
    let sources: Vec<&str> = history.iter().map(|fact| fact.source.name.as_str()).collect();
    assert_eq!(sources, ["/camera"; 3], "what others saw stays, as they saw it");
    assert_eq!(history[2].seen_at.wall_ms, START);
}

#[tokio::test]
async fn regression_a_forgotten_person_was_still_named_by_what_she_had_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let ann = |observation| says(cortex_memory::SourceKind::Person, "Annabel", observation);
    memory
        .add(vec![
            camera("annabel", is_at("hall"), 0),
            camera("red cup", is_at("kitchen"), 1),
            ann(camera("red cup", is_at("bedroom"), 2)),
            ann(camera("annabel", is("likes", "tea"), 3)),
        ])
        .await
        .unwrap();
    memory.forget(Forget::Subject("Annabel".to_owned())).await.expect("forgotten");
    assert!(!is_in_files(folder.path(), "annabel"));
    let history = memory.history("red cup", "is at", 9).await.unwrap();
    assert_eq!(history[0].value, text("bedroom"), "what she said of the cup stays");
    assert_eq!(history[0].source.name, "[forgotten]");
}

#[tokio::test]
async fn a_file_shrinks_when_most_of_it_is_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(vec![camera("red cup", is_at("kitchen"), 0)]).await.unwrap();
    memory.add(crowd("plate", 3_000)).await.unwrap();
    let before = memory.size().await.unwrap().bytes;
    let span = Forget::Span { from_ms: START + 10 * MINUTE, to_ms: START + 5_000 * MINUTE };
    memory.forget(span).await.unwrap();
    let after = memory.size().await.unwrap();
    assert!(after.bytes * 5 < before, "{} of {before} bytes for {} rows", after.bytes, after.observations);
}

#[tokio::test]
async fn a_layer_keeps_so_many_rows_and_the_least_telling_go_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rules = rules();
    rules.layers.get_mut("things").expect("it").max_rows = 100;
    let memory = Memory::open(folder.path().join("memory.sqlite"), rules).await.unwrap();
    memory
        .add(vec![anna(camera("anna", is("likes", "tea"), 0)), camera("red cup", is_at("kitchen"), 1)])
        .await
        .unwrap();
    // The cat never stays anywhere: all of its places but the last are past.
    for minute in 0..1_000 {
        let place = format!("corner {}", minute % 7);
        memory.add(vec![camera("cat", is_at(&place), 20 + minute)]).await.unwrap();
    }
    let size = memory.size().await.unwrap();
    assert!((100..=105).contains(&size.observations), "{size:?}");
    assert_eq!(size.open_facts, 3);
    assert!(memory.locate("red cup", &now(9)).await.unwrap().is_some(), "the last word on the cup is kept");
    assert_eq!(memory.history("anna", "likes", 5).await.unwrap().len(), 1, "and so is what a person said");
}

#[tokio::test]
async fn old_rows_are_forgotten_when_the_clock_can_be_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let days = |days: u64, minute: u64| days * 24 * 60 + minute;
    memory
        .add(vec![camera("red cup", is_at("kitchen"), 0), anna(camera("anna", is("likes", "tea"), 0))])
        .await
        .unwrap();
    // The clock jumps a year ahead, and is set right.
    memory.add(vec![camera("plate", is_at("hall"), days(365, 0))]).await.unwrap();
    memory.add(vec![camera("plate", is_at("hall"), 5)]).await.unwrap();
    assert!(memory.locate("red cup", &now(6)).await.unwrap().is_some(), "a wrong clock forgets nothing");
    // A year later it really is a year later: the clock goes on.
    memory.add(vec![camera("plate", is_at("hall"), days(365, 0))]).await.unwrap();
    assert!(memory.locate("red cup", &now(6)).await.unwrap().is_some());
    memory.add(vec![camera("plate", is_at("hall"), days(365, 61))]).await.unwrap();
    assert!(memory.locate("red cup", &now(6)).await.unwrap().is_none(), "it was seen a year ago");
    assert_eq!(memory.history("anna", "likes", 5).await.unwrap().len(), 1, "what people said does not age");
}

#[tokio::test]
async fn the_second_process_is_told_who_has_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    let error = Memory::open(folder.path().join("memory.sqlite"), rules()).await.err().expect("it is in use");
    assert!(matches!(error, MemoryError::InUse { .. }), "{error}");
    assert!(error.to_string().contains(&format!("in use by process {}", std::process::id())), "{error}");
    drop(memory);
    open(folder.path()).await;
}

#[tokio::test]
async fn a_file_of_something_else_is_left_alone_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text"), "This is no database, but long enough to be taken for one.\n".repeat(50)).expect("it");
    let foreign = rusqlite::Connection::open(at("foreign")).expect("a database");
    foreign.execute_batch("CREATE TABLE games (name TEXT)").expect("a table");
    for name in ["text", "foreign"] {
        let before = std::fs::read(at(name)).expect("its bytes");
        let error = Memory::open(at(name), rules()).await.err().expect("it is none of ours");
        assert!(matches!(error, MemoryError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(name) && error.to_string().contains("rebuilt"), "{error}");
        assert_eq!(std::fs::read(at(name)).expect("its bytes"), before);
    }
    drop(open(folder.path()).await);
    let file = at("memory.sqlite");
    rusqlite::Connection::open(&file).expect("it").pragma_update(None, "user_version", 99).expect("a newer format");
    let error = Memory::open(&file, rules()).await.err().expect("it is newer");
    assert!(error.to_string().contains("newer Cortex (format 99)"), "{error}");
    let error = Memory::open(at("text").join("memory.sqlite"), rules()).await.err().expect("no such folder");
    assert!(matches!(error, MemoryError::Unopened { .. }), "{error}");
}

#[tokio::test]
async fn a_damaged_file_is_kept_aside_and_what_can_be_read_is_taken_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("memory.sqlite");
    let memory = open(folder.path()).await;
    memory.add(crowd("plate", 2_000)).await.expect("kept");
    // Forgetting empties the log of writes into the file.
    memory.forget(Forget::Source("nobody".to_owned())).await.expect("nothing");
    let before = memory.size().await.unwrap();
    drop(memory);
    let mut bytes = std::fs::read(&file).expect("its bytes");
    let pages = bytes.len() / 4_096;
    // Pages that hold rows of a table begin with 13.
    let leaves: Vec<usize> = (1..pages).filter(|page| bytes[page * 4_096] == 13).collect();
    for page in leaves.iter().step_by(15) {
        bytes[page * 4_096..(page + 1) * 4_096].fill(0x5a);
    }
    std::fs::write(&file, &bytes).expect("damaged");

    let (memory, rebuilt) = Memory::rebuild(&file, rules()).await.expect("rebuilt");
    assert_eq!(std::fs::read(&rebuilt.aside).expect("it is aside"), bytes, "nothing of it is lost");
    let after = memory.size().await.unwrap();
    assert_eq!((after.observations, after.open_facts + after.ended_facts), (rebuilt.observations, rebuilt.facts));
    assert!(after.observations * 5 > before.observations * 4, "{} of {}", after.observations, before.observations);
    assert!(after.observations < before.observations && rebuilt.gaps > 0, "{rebuilt:?}");
    let found = (0..2_000).filter(|index| index % 100 == 7);
    let mut located = 0;
    for index in found {
        located += u32::from(memory.locate(&format!("plate {index}"), &now(9)).await.unwrap().is_some());
    }
    assert!(located >= 14, "{located} of 20");
    assert!(rebuilt.restored > 0, "pages of facts were damaged, too: {rebuilt:?}");
    for index in (0..2_000).filter(|index| index % 100 == 7) {
        let located = memory.locate(&format!("plate {index}"), &now(9)).await.unwrap();
        let is_known = located.is_none_or(|located| matches!(located.whereabouts, Whereabouts::At(_)));
        assert!(is_known, "plate {index} was seen, and nobody says that it never was");
    }
    memory.add(vec![camera("red cup", is_at("kitchen"), 10)]).await.expect("it goes on");
    drop(memory);

    let hopeless = folder.path().join("hopeless");
    std::fs::write(&hopeless, "This is no database, but long enough.\n".repeat(50)).expect("it");
    let (memory, rebuilt) = Memory::rebuild(&hopeless, rules()).await.expect("rebuilt");
    assert_eq!(rebuilt.observations, 0);
    memory.add(vec![camera("red cup", is_at("kitchen"), 10)]).await.expect("it goes on");
}

#[tokio::test]
async fn damage_that_is_found_later_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(crowd("plate", 2_000)).await.expect("kept");
    memory.forget(Forget::Source("nobody".to_owned())).await.expect("nothing");
    drop(memory);
    let file = folder.path().join("memory.sqlite");
    let mut bytes = std::fs::read(&file).expect("its bytes");
    bytes[100_000..].fill(0x5a);
    std::fs::write(&file, bytes).expect("damaged");
    let asked = match Memory::open(&file, rules()).await {
        Ok(memory) => memory.recall("plate 7", 5, &now(9)).await.map(|_| ()),
        Err(error) => Err(error),
    };
    let error = asked.expect_err("it is damaged");
    assert!(matches!(error, MemoryError::Damaged { .. }), "{error}");
}

#[tokio::test]
async fn a_full_file_is_named_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = MemoryRules { most_bytes: 400_000, ..rules() };
    let memory = Memory::open(folder.path().join("memory.sqlite"), small).await.unwrap();
    memory.add(vec![camera("red cup", is_at("kitchen"), 0)]).await.unwrap();
    let error = memory.add(crowd("plate", 5_000)).await.expect_err("it is too much");
    assert!(matches!(error, MemoryError::Full { most_bytes: 400_000, .. }), "{error}");
    assert!(error.to_string().contains("memory.sqlite can't be written: its disk is full"), "{error}");
    assert_eq!(memory.size().await.unwrap().observations, 1, "all or none");
    assert!(memory.locate("red cup", &now(9)).await.unwrap().is_some());
    memory.add(vec![camera("plate", is_at("hall"), 10)]).await.expect("what is small finds room");
}

/// The test runs itself as a writer, and kills it while it writes.
#[tokio::test]
async fn what_was_acknowledged_survives_fifty_kills() {
    const WRITER: &str = "CORTEX_MEMORY_WRITER";
    const FIRST: &str = "CORTEX_MEMORY_FIRST";
    if let (Some(file), Ok(first)) = (std::env::var_os(WRITER), std::env::var(FIRST)) {
        let memory = Memory::open(Path::new(&file), rules()).await.expect("it opens");
        for number in first.parse::<u64>().expect("a number").. {
            let cup = format!("cup {number}");
            memory.add(vec![camera(&cup, is_at("kitchen"), number), battery(0.5, number)]).await.expect("kept");
            println!("acknowledged {number}");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("memory.sqlite");
    let mut acknowledged = Vec::new();
    for kill in 0..50_usize {
        let mut writer = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "what_was_acknowledged_survives_fifty_kills", "--nocapture"])
            .env(WRITER, &file)
            .env(FIRST, (kill * 1_000).to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a writer");
        let lines = std::io::BufRead::lines(std::io::BufReader::new(writer.stdout.take().expect("its output")));
        let number = |line: std::io::Result<String>| -> Option<u64> {
            line.expect("a line").split_once("acknowledged ")?.1.trim().parse().ok()
        };
        // Each is killed at another place of its work.
        acknowledged.extend(lines.filter_map(number).take(1 + kill % 7));
        writer.kill().expect("killed");
        writer.wait().expect("its end");
    }
    assert!(acknowledged.len() >= 50, "{} were acknowledged", acknowledged.len());
    let memory = open(folder.path()).await;
    for number in acknowledged {
        let cup = memory.locate(&format!("cup {number}"), &now(9)).await.expect("an answer");
        assert!(cup.is_some(), "cup {number} was acknowledged");
    }
}
