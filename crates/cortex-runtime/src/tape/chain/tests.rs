//! What is found of a tape that was changed, and what is not taken for a change.

use std::path::Path;

use cortex_protocol::{MissionId, MissionStatus, Origin};
use proptest::prelude::*;

use super::*;

/// The reference tape, whose lines are those of a whole mission, without its chain.
fn unlinked() -> Vec<Vec<u8>> {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference_tape.jsonl");
    let recorded = std::fs::read_to_string(recorded).unwrap();
    let lines = recorded.lines().map(|line| {
        let link = line.find(ATTRIBUTE);
        let mut line = link.map_or(line.to_owned(), |at| format!("{}}}", &line[..at])).into_bytes();
        line.push(b'\n');
        line
    });
    lines.collect()
}

/// Some lines of the mission as they stand in a file, among them its result and its end.
fn linked(most: usize) -> Vec<Vec<u8>> {
    let mut lines = unlinked();
    let end = lines.split_off(lines.len() - 3);
    lines.truncate(most - 3);
    lines.extend(end);
    let mut chain = Chain::default();
    for (index, line) in lines.iter_mut().enumerate() {
        let mut record: Record = serde_json::from_slice(line).unwrap();
        record.line = index as u64 + 1;
        if index == 0 {
            record.data.payload["version"] = VERSION.into();
        }
        *line = serde_json::to_vec(&record).unwrap();
        line.push(b'\n');
        chain.link(line);
    }
    lines
}

fn found(lines: &[Vec<u8>]) -> Option<Integrity> {
    check(lines.concat().as_slice()).unwrap()
}

fn line_found(lines: &[Vec<u8>]) -> Option<u64> {
    match found(lines) {
        Some(Integrity::Changed { line, .. }) => Some(line),
        _ => None,
    }
}

#[test]
fn each_line_carries_the_sha_256_of_the_line_before() {
    let lines = linked(6);
    let previous = |line: &[u8]| serde_json::from_slice::<Record>(line).unwrap().previous;
    assert_eq!(previous(&lines[0]), None);
    for pair in lines.windows(2) {
        let before = pair[0].strip_suffix(b"\n").unwrap();
        assert_eq!(previous(&pair[1]), Some(format!("{:x}", Sha256::digest(before))));
    }
    assert_eq!(found(&lines), Some(Integrity::Unchanged));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The end of a line is a byte of it, too.
    #[test]
    fn a_byte_that_was_changed_in_any_line_but_the_last_is_found_and_its_line_is_named(
        (lines, at, byte) in (4_usize..9).prop_flat_map(|most| {
            let lines = linked(most);
            let bytes = lines.iter().take(lines.len() - 1).map(Vec::len).sum::<usize>();
            (Just(lines), 0..bytes, any::<u8>())
        })
    ) {
        let mut all = lines.concat();
        prop_assume!(all[at] != byte);
        all[at] = byte;
        let mut end = 0;
        let line = lines.iter().position(|line| { end += line.len(); at < end }).unwrap() as u64 + 1;
        match check(all.as_slice()).unwrap() {
            Some(Integrity::Changed { line: named, .. }) => prop_assert_eq!(named, line),
            other => prop_assert!(false, "line {}: {:?}", line, other),
        }
    }

    #[test]
    fn whatever_stands_in_a_file_is_checked_without_a_panic(
        parts in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            prop::sample::select(linked(5)),
            Just(br#"{"type":"cortex.tape.opened","line":1,"previous":"x"}"#.to_vec()),
            Just(b"\n".to_vec()),
        ], 0..12)
    ) {
        let _ = check(parts.concat().as_slice()).unwrap();
    }

    /// A crash, or a person who takes whole lines from the end away: both are said of a tape in another place.
    #[test]
    fn a_tape_that_is_cut_off_anywhere_is_not_called_changed(bytes in 0_usize..10_000) {
        let all = linked(8).concat();
        let first = all.iter().position(|byte| *byte == b'\n').unwrap();
        let bytes = bytes.min(all.len());
        let expected = (bytes > first).then_some(Integrity::Unchanged);
        prop_assert_eq!(check(&all[..bytes]).unwrap(), expected);
    }
}

#[test]
fn lines_that_were_removed_added_or_moved_are_found() {
    let whole = linked(8);
    for at in 1..6 {
        let mut lines = whole.clone();
        lines.remove(at);
        assert_eq!(line_found(&lines), Some(at as u64 + 1), "line {} was removed", at + 1);
        let mut lines = whole.clone();
        lines.insert(at, whole[at].clone());
        assert_eq!(line_found(&lines), Some(at as u64 + 2), "line {} is there twice", at + 1);
        let mut lines = whole.clone();
        lines.swap(at, at + 1);
        assert_eq!(line_found(&lines), Some(at as u64 + 1), "line {} was moved", at + 1);
    }
    let mut lines = whole;
    lines.drain(..2);
    assert_eq!(line_found(&lines), Some(1), "the beginning was removed");
}

#[test]
fn hashes_that_were_removed_are_found() {
    let mut lines = linked(8);
    for line in lines.iter_mut().skip(3) {
        let text = String::from_utf8(line.clone()).unwrap();
        let at = text.find(ATTRIBUTE).unwrap();
        *line = format!("{}}}\n", &text[..at]).into_bytes();
    }
    assert_eq!(found(&lines), Some(Integrity::Changed { line: 4, change: Change::HashRemoved }));
}

/// The last line has none after it; but how the mission ended is on the line before, too.
#[test]
fn another_end_than_that_of_the_result_is_found() {
    let mut lines = linked(5);
    let text = String::from_utf8(lines[4].clone()).unwrap();
    lines[4] = text.replace("\"status\":\"succeeded\"", "\"status\":\"failed\"").into_bytes();
    let (says, result) = (MissionStatus::Failed, MissionStatus::Succeeded);
    let change = Change::OtherStatus { says, result };
    assert_eq!(found(&lines), Some(Integrity::Changed { line: 5, change: change.clone() }));
    assert_eq!(change.to_string(), "it says that the mission ended FAILED; its result says SUCCEEDED");
}

#[test]
fn of_a_tape_of_an_older_format_is_said_that_it_carries_no_hashes() {
    let mut lines = unlinked();
    let opened = String::from_utf8(lines[0].clone()).unwrap();
    lines[0] = opened.replace(&format!("\"version\":{FIRST_VERSION}"), "\"version\":3").into_bytes();
    assert_eq!(found(&lines), Some(Integrity::NoHashes));
    // What this Cortex adds to it carries the hash of the line before; the rest still carries none.
    let temporary = tempfile::tempdir().unwrap();
    let folder = Folder::new(temporary.path().to_owned());
    let mission = MissionId::new("0199c3f0-7a00-7000-8000-000000000001");
    std::fs::write(folder.path(&mission), lines.concat()).unwrap();
    let person = Origin::new("cli", "test");
    folder.record_dispute(&mission, "It did not.", &person, MissionStatus::Succeeded).unwrap();
    assert_eq!(folder.check(&mission).unwrap(), Integrity::NoHashes);
    let text = std::fs::read_to_string(folder.path(&mission)).unwrap();
    assert!(text.lines().last().unwrap().contains(ATTRIBUTE));
    let end = text.replace("the tape ends: SUCCEEDED", "the tape ends: WELL");
    std::fs::write(folder.path(&mission), end).unwrap();
    let closed = lines.len() as u64;
    assert_eq!(folder.check(&mission).unwrap(), Integrity::Changed { line: closed, change: Change::OtherHash });
}

#[test]
fn a_tape_that_goes_on_after_a_restart_continues_the_chain() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = Folder::new(temporary.path().to_owned());
    let mission = MissionId::new("0199c3f0-7a00-7000-8000-000000000001");
    let mut torn = linked(8).concat();
    torn.truncate(torn.len() - 7);
    std::fs::write(folder.path(&mission), torn).unwrap();
    assert_eq!(folder.fix().unwrap(), std::slice::from_ref(&mission));
    assert_eq!(folder.check(&mission).unwrap(), Integrity::Unchanged);
    folder.record_dispute(&mission, "No.", &Origin::new("cli", "test"), MissionStatus::Succeeded).unwrap();
    assert_eq!(folder.check(&mission).unwrap(), Integrity::Unchanged);
    let text = std::fs::read_to_string(folder.path(&mission)).unwrap();
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
    let repaired = before.lines().last().unwrap();
    assert!(repaired.contains("cortex.tape.repaired") && last.contains("cortex.tape.disputed"));
    std::fs::write(folder.path(&mission), text.replace("bytes were cut", "bytes were lost")).unwrap();
    let line = before.lines().count() as u64;
    assert_eq!(folder.check(&mission).unwrap(), Integrity::Changed { line, change: Change::OtherHash });
}

#[test]
fn what_is_no_tape_is_not_called_a_changed_one() {
    for other in ["", "\n", "hello\n", "{}\n{}\n", "\0\n[\n", "half a line"] {
        assert_eq!(check(other.as_bytes()).unwrap(), None, "{other:?}");
    }
}

/// `cargo test --release -p cortex-runtime --lib -- --ignored --nocapture cost_of_the_chain`.
#[test]
#[ignore = "a measurement, to be read by a person"]
fn cost_of_the_chain() {
    let lines = unlinked();
    let (rounds, bytes) = (200_u32, lines.iter().map(Vec::len).sum::<usize>());
    let began = std::time::Instant::now();
    let mut chain = Chain::default();
    for _ in 0..rounds {
        for line in &lines {
            let mut line = line.clone();
            chain.link(&mut line);
            std::hint::black_box(&line);
        }
    }
    let each = began.elapsed() / rounds / u32::try_from(lines.len()).unwrap();
    println!("{each:?} a line of {} bytes", bytes / lines.len());
    let all = linked(lines.len()).concat();
    let began = std::time::Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(check(all.as_slice()).unwrap());
    }
    let rate = all.len() as f64 * f64::from(rounds) / began.elapsed().as_secs_f64() / 1e6;
    println!("checked at {rate:.0} MB/s");
}
