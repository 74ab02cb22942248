//! Tapes that nobody has recorded: whoever reads one gets each line as it stands, or the number of the one that is none.

use std::io::Write as _;

use cortex_core::{EventWindow, Mission, ProgressEvents};
use serde_json::Value;

use super::*;

const MISSION: &str = "0199c3f0-7a00-7000-8000-000000000001";
/// Most characters of an error: what it quotes is cut.
const MOST_TOLD: usize = 600;

/// One tape in a folder of its own, written anew for each mutant.
struct OneTape {
    folder: Folder,
    mission: MissionId,
    _temporary: tempfile::TempDir,
}

impl OneTape {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { folder: Folder::new(temporary.path().to_owned()), mission: MISSION.into(), _temporary: temporary }
    }

    fn write(&self, tape: &[u8]) {
        std::fs::File::create(self.folder.path(&self.mission)).unwrap().write_all(tape).unwrap();
    }

    fn reader(&self) -> Reader {
        self.folder.read(&self.mission).unwrap()
    }
}

/// What people are told of a problem: short, nothing that a terminal would obey, and a line that is there.
fn told(problem: &TapeError, lines: usize) -> String {
    let text = problem.to_string();
    assert!(text.chars().count() <= MOST_TOLD, "{text}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
    if let TapeError::Unreadable { line, .. } | TapeError::Unknown { line, .. } = problem {
        assert!(*line >= 1, "no line is named: {text}");
        assert!(usize::try_from(*line).is_ok_and(|line| line <= lines), "there are {lines} lines: {text}");
    }
    text
}

/// Each line is written as it was read, and what it holds, too.
fn check_line(record: &Record, text: &str) {
    let read: Record = serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap();
    assert_eq!(&read, record, "a line is written otherwise than it was read: {text}");
    let written = match record.body() {
        Ok(Body::Published(event)) => serde_json::to_value(&event).unwrap(),
        Ok(Body::Entry(entry)) => serde_json::to_value(&entry).unwrap(),
        Err(_) => return,
    };
    let again = Record { data: record::RecordData { payload: written, ..record.data.clone() }, ..record.clone() };
    assert_eq!(again.body().unwrap(), record.body().unwrap(), "what a line holds is written otherwise: {text}");
}

/// Reads a tape to its end or its first bad line, and returns its kinds of lines and what is wrong.
fn read(tape: &OneTape, bytes: &[u8]) -> (Vec<Record>, Option<TapeError>) {
    let mut reader = tape.reader();
    let whole: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).collect();
    let mut records = Vec::new();
    for number in 1.. {
        match reader.next_record() {
            Ok(Some((record, text))) => {
                assert_eq!(Some(text.as_bytes()), whole.get(number - 1).map(|line| &line[..line.len() - 1]));
                check_line(&record, &text);
                if let Err(problem) = reader.body(&record) {
                    told(&problem, number);
                }
                records.push(record);
            }
            Ok(None) => {
                assert_eq!(records.len(), whole.len(), "lines are left out");
                return (records, None);
            }
            Err(problem) => {
                told(&problem, whole.len());
                if let TapeError::Unreadable { line, .. } = &problem {
                    assert_eq!(*line, number as u64, "another line is named: {problem}");
                }
                return (records, Some(problem));
            }
        }
    }
    unreachable!("a tape ends")
}

/// A tape whose lines agree is one that was recorded, up to its last line, whose hash no line carries.
fn check_integrity(bytes: &[u8], recorded: &[Vec<u8>]) -> String {
    let found = chain::check(bytes).unwrap();
    if found == Some(Integrity::Unchanged) {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let all = &bytes[..whole];
        let last = all[..whole - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let is_recorded = recorded.iter().any(|tape| tape.starts_with(&all[..last]));
        assert!(is_recorded, "a tape that was changed counts as unchanged:\n{}", String::from_utf8_lossy(all));
    }
    match found {
        Some(Integrity::Changed { change, .. }) => format!("{change}"),
        other => format!("{other:?}"),
    }
}

/// Gives a machine all that the tape says that it was given, whatever it did then.
fn check_machine(records: &[Record]) {
    let bodies = || records.iter().filter_map(|record| record.body().ok());
    let setup = bodies().find_map(|body| match body {
        Body::Entry(Entry::Setup { setup, .. }) => Some(setup.into_owned()),
        _ => None,
    });
    let Some(mut mission) = setup.filter(|setup| replay::check_setup(1, setup).is_ok()).map(Mission::new) else {
        return;
    };
    for body in bodies() {
        if let Body::Entry(Entry::Input { at, input }) = body
            && replay::check_times(1, at).is_ok()
        {
            let _effects = mission.handle(at, input.into_owned());
        }
    }
}

fn recorded() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = std::fs::read_dir("fuzz").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn every_mutant_of_a_tape_is_read_as_it_stands_or_its_bad_line_is_named() {
    let (tape, recorded) = (OneTape::new(), recorded());
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        tape.write(input);
        let (records, problem) = read(&tape, input);
        let lines = input.iter().filter(|byte| **byte == b'\n').count();
        let summary = tape.folder.summary(&tape.mission);
        let window = EventWindow { before: None, most: usize::MAX, progress: ProgressEvents::All };
        let window = tape.folder.window(&tape.mission, &window);
        for problem in [summary.as_ref().err(), window.as_ref().err()].into_iter().flatten() {
            told(problem, lines);
        }
        if problem.is_none() && !records.is_empty() {
            let events: Vec<CloudEvent> = records.iter().cloned().filter_map(Record::into_event).collect();
            assert_eq!(window.unwrap().unwrap(), events, "from the end other events are read than from the beginning");
        }
        let integrity = check_integrity(input, &recorded);
        let kinds = records.iter().map(|record| record.body().map_or("unknown", |_| record.action.as_str()));
        let kinds: Vec<&str> = kinds.collect();
        let problem = problem.map(|problem| told(&problem, lines)).unwrap_or_default();
        format!("{integrity} {problem} {}", kinds.join(" "))
    });
}

#[test]
fn every_mutant_of_a_tape_is_replayed_to_its_end_or_to_what_is_different() {
    let tape = OneTape::new();
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        tape.write(input);
        let (records, _) = read(&tape, input);
        check_machine(&records);
        match replay(&mut tape.reader()) {
            Ok(Replay { ending: replay::Ending::Different(different), effects, .. }) => {
                let effect = different.now.or(different.recorded);
                let effect = effect.and_then(|effect| serde_json::to_value(effect).ok());
                let kind = effect.as_ref().and_then(|effect| effect.get("effect")).and_then(Value::as_str);
                format!("another {kind:?} after {}", "e".repeat(usize::try_from(effects).unwrap().min(40)))
            }
            Ok(Replay { ending, effects, .. }) => {
                format!("{ending:?} {}", "e".repeat(usize::try_from(effects).unwrap()))
            }
            Err(problem) => told(&problem, input.iter().filter(|byte| **byte == b'\n').count()),
        }
    });
}

#[test]
fn every_mutant_of_a_torn_tape_is_fixed_once_and_goes_on_with_its_chain() {
    let tape = OneTape::new();
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        tape.write(input);
        let before = chain::check(input).unwrap();
        let fixed = tape.folder.fix().unwrap();
        let Ok(bytes) = std::fs::read(tape.folder.path(&tape.mission)) else {
            assert!(!input.contains(&b'\n'), "whole lines were removed");
            return "removed".to_owned();
        };
        let whole = input.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        assert!(bytes.starts_with(&input[..whole]), "whole lines were changed");
        assert_eq!(fixed.is_empty(), whole == input.len(), "{fixed:?}");
        assert_eq!(tape.folder.fix().unwrap(), [], "fixed twice");
        let after = chain::check(bytes.as_slice()).unwrap();
        assert!(before != Some(Integrity::Unchanged) || after == before, "fixing a tape has changed it: {after:?}");
        format!("{} {before:?}", fixed.is_empty())
    });
}
