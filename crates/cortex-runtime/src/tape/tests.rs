//! What crashes and full disks do to a tape.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use cortex_core::mission::MissionSetup;
use cortex_core::{Input, MissionLimits, ToolSet};
use cortex_protocol::{MissionId, Origin, TaskReading};
use tokio_util::task::TaskTracker;

use super::record::VERSION;
use super::writer::{self, Medium};
use super::*;

const MISSION: &str = "0199c3f0-7a00-7000-8000-000000000001";

fn envelope(mission: &str) -> Envelope {
    Envelope::new("/robot/cortex".to_owned(), MissionId::new(mission), Origin::new("cli", "test"))
}

fn setup() -> MissionSetup {
    MissionSetup {
        task: "go".to_owned(),
        reading: TaskReading::default(),
        session: None,
        earlier: Vec::new(),
        context_sources: Vec::new(),
        identity: String::new(),
        tools: ToolSet::default(),
        availability: cortex_core::Availability::default(),
        removed: cortex_core::RemovedTools::default(),
        limits: MissionLimits::default(),
        policy: cortex_core::mission::PolicySetup::default(),
        reopens: None,
    }
}

/// A tape of three lines.
async fn recorded(folder: &tempfile::TempDir, mission: &str) -> Folder {
    let tracker = TaskTracker::new();
    let mut tape = Tape::begin(&TapeSettings::at(folder.path()), &envelope(mission), &tracker);
    tape.setup(&setup(), "reflex");
    tape.input(Duration::from_millis(1), &Input::Start);
    tape.written().await;
    drop(tape);
    tracker.close();
    tracker.wait().await;
    Folder::new(folder.path().to_owned())
}

fn kinds(folder: &Folder, mission: &MissionId) -> Vec<String> {
    let mut reader = folder.read(mission).unwrap();
    let mut kinds = Vec::new();
    while let Some((record, _)) = reader.next_record().unwrap() {
        assert_eq!(record.line, kinds.len() as u64 + 1);
        kinds.push(record.kind);
    }
    assert_eq!(reader.torn_bytes(), 0);
    kinds
}

#[tokio::test]
async fn a_tape_that_is_torn_anywhere_in_its_last_line_is_fixed() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new(MISSION);
    let folder = recorded(&temporary, MISSION).await;
    let path = folder.path(&mission);
    let whole = std::fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(folder.fix().unwrap(), [], "nothing is torn");
    for length in last + 1..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        // It can be read as it is, too.
        let mut reader = folder.read(&mission).unwrap();
        while reader.next_record().unwrap().is_some() {}
        assert_eq!(reader.torn_bytes(), length - last);
        assert_eq!(folder.fix().unwrap(), std::slice::from_ref(&mission));
        assert_eq!(kinds(&folder, &mission), ["cortex.tape.opened", "cortex.tape.setup", "cortex.tape.repaired"]);
        assert_eq!(folder.fix().unwrap(), [], "once is enough");
    }
}

#[tokio::test]
async fn a_tape_that_is_torn_within_its_first_line_says_nothing_and_goes() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new(MISSION);
    let folder = recorded(&temporary, MISSION).await;
    let whole = std::fs::read(folder.path(&mission)).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for length in [0, 1, first] {
        std::fs::write(folder.path(&mission), &whole[..length]).unwrap();
        assert_eq!(folder.fix().unwrap(), std::slice::from_ref(&mission));
        assert_eq!(folder.missions().unwrap(), []);
    }
}

#[tokio::test]
async fn tapes_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let temporary = tempfile::tempdir().unwrap();
    let inner = temporary.path().join("cortex/tape");
    let tracker = TaskTracker::new();
    let tape = Tape::begin(&TapeSettings::at(&inner), &envelope(MISSION), &tracker);
    tape.written().await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&inner), mode(&inner.join(format!("{MISSION}.jsonl")))), (0o700, 0o600));
}

#[tokio::test]
async fn what_is_newer_or_no_tape_is_refused_with_the_reason() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new(MISSION);
    let folder = recorded(&temporary, MISSION).await;
    let path = folder.path(&mission);
    let text = std::fs::read_to_string(&path).unwrap();
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let mut reader = folder.read(&mission).unwrap();
        loop {
            match reader.next_record() {
                Ok(Some(_)) => {}
                Ok(None) => return String::new(),
                Err(problem) => return problem.to_string(),
            }
        }
    };
    let newer = text.replacen(&format!("\"version\":{VERSION}"), "\"version\":7", 1);
    assert_eq!(refused(&newer), format!("the tape has version 7; this Cortex reads up to {VERSION}. Use a newer one"));
    for other in ["hello\n", "{}\n", "\0\0\0\n", "\u{fffd}\n"] {
        assert!(refused(other).ends_with("is not a tape: it does not begin like one"), "{other:?}");
    }
    let (first, _) = text.split_once('\n').unwrap();
    assert!(refused(&format!("{first}\nhello\n")).starts_with("line 2 can't be read: "));
    std::fs::write(&path, [first.as_bytes(), b"\n\xff\n"].concat()).unwrap();
    let mut reader = folder.read(&mission).unwrap();
    assert!(reader.next_record().unwrap().is_some());
    assert!(matches!(reader.next_record(), Err(TapeError::Unreadable { line: 2, .. })));
}

/// A disk that is full: the real thing, as Linux offers it for such tests.
struct FullDisk(File);

impl Medium for FullDisk {
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.0.write_all(lines)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[tokio::test]
async fn a_full_disk_is_named_to_everyone_who_asks() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (writer, drain) = writer::queue(Box::new(move || Ok(Box::new(FullDisk(full)) as Box<dyn Medium>)));
    let draining = tokio::spawn(drain.run());
    writer.put(b"{}\n".to_vec());
    for _ in 0..2 {
        let answer = writer.sync().await.unwrap();
        assert!(
            answer.as_ref().is_err_and(|problem| problem.to_string().contains("No space left on device")),
            "{answer:?}"
        );
    }
    drop(writer);
    draining.await.unwrap();
}

/// A disk that hangs until the test ends.
struct HangingDisk(std::sync::mpsc::Receiver<()>);

impl Medium for HangingDisk {
    fn append(&mut self, _lines: &[u8]) -> io::Result<()> {
        // The end of the test closes the channel.
        let _ = self.0.recv();
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_disk_that_hangs_holds_nobody_who_records_and_fails_once_too_much_waits() {
    let (release, hold) = std::sync::mpsc::sync_channel(1);
    let (writer, drain) = writer::queue(Box::new(move || Ok(Box::new(HangingDisk(hold)) as Box<dyn Medium>)));
    let draining = tokio::spawn(drain.run());
    let megabyte = vec![b' '; 1_000_000];
    for _ in 0..80 {
        writer.put(megabyte.clone());
    }
    let answer = writer.sync().await.unwrap();
    assert!(answer.as_ref().is_err_and(|problem| problem.to_string().contains("the disk is too slow")), "{answer:?}");
    drop((release, writer));
    draining.await.unwrap();
}

/// Names and kinds of files that somebody may keep, or put, in the folder of the tapes.
#[tokio::test]
async fn what_is_no_tape_is_never_read_fixed_or_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = recorded(&temporary, MISSION).await;
    let at = |name: &str| temporary.path().join(name);
    let foreign = [
        "notes.jsonl",
        "0199c3f0-7a00-7000-8000-000000000002.txt",
        "0199C3F0-7A00-7000-8000-00000000000A.jsonl",
        "{0199c3f0-7a00-7000-8000-000000000003}.jsonl",
        "a\nb\u{1b}[2J.jsonl",
        ".jsonl",
    ];
    for name in foreign {
        std::fs::write(at(name), "no line of a tape, and no end of line").unwrap();
    }
    // With the name of a tape, but no plain file: to open the first of them waits until somebody writes.
    let pipe = at("0199c3f0-7a00-7000-8000-000000000004.jsonl");
    // Not by a program: until a child has become that program, it holds the locks of the tapes of other tests.
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    std::fs::create_dir(at("0199c3f0-7a00-7000-8000-000000000005.jsonl")).unwrap();
    std::os::unix::fs::symlink(at("notes.jsonl"), at("0199c3f0-7a00-7000-8000-000000000006.jsonl")).unwrap();

    assert_eq!(folder.missions().unwrap(), [MissionId::new(MISSION)]);
    assert_eq!(folder.others().unwrap(), foreign.len() + 3);
    assert_eq!(folder.fix().unwrap(), []);
    let limits = folder::Limits { mission: 1_000_000, folder: 0, flush: Flush::Os };
    drop(folder.create(&MissionId::new("0199c3f0-7a00-7000-8000-000000000007"), limits).unwrap());
    for name in foreign {
        let text = std::fs::read_to_string(at(name)).unwrap();
        assert_eq!(text, "no line of a tape, and no end of line", "{name:?}");
    }
    assert!(!folder.path(&MissionId::new(MISSION)).exists(), "tapes themselves make room");
}

#[tokio::test]
async fn a_file_with_the_name_of_a_tape_may_hold_anything() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new(MISSION);
    let folder = recorded(&temporary, MISSION).await;
    let whole = std::fs::read_to_string(folder.path(&mission)).unwrap();
    let deep = "[".repeat(100_000);
    let no_time = whole.replace("\"at\":{\"secs\":0", "\"at\":{\"secs\":18446744073709551615");
    let no_bound = whole.replace("\"max_duration\":{\"secs\":3600", "\"max_duration\":{\"secs\":18446744073709551615");
    assert!(no_time != whole && no_bound != whole);
    let last_number = whole.replace("\"line\":3", "\"line\":18446744073709551615");
    for hostile in ["", "\n", "\0\0\0", "{}\n", "[1]\n", &deep, &no_time, &no_bound, &format!("{last_number}x")] {
        std::fs::write(folder.path(&mission), hostile).unwrap();
        // Whatever comes of it: none of these panics, hangs or takes much memory.
        let _ = folder.summary(&mission);
        let _ = replay(&mut folder.read(&mission).unwrap());
        folder.fix().unwrap();
    }
    std::fs::write(folder.path(&mission), &no_time).unwrap();
    let problem = replay(&mut folder.read(&mission).unwrap()).unwrap_err().to_string();
    assert!(problem.contains("is none of a mission"), "{problem}");
}

#[tokio::test]
async fn a_line_that_this_version_does_not_know_is_told_with_the_version_that_wrote_it() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new(MISSION);
    let folder = recorded(&temporary, MISSION).await;
    let text = std::fs::read_to_string(folder.path(&mission)).unwrap();
    let other = text
        .replace("\"cortex\":\"0.1.0\"", "\"cortex\":\"0.0.7\"")
        .replace("\"input\":\"start\"", "\"input\":\"begin\\u001b[2J\"");
    assert_ne!(text, other);
    std::fs::write(folder.path(&mission), other).unwrap();
    let problem = replay(&mut folder.read(&mission).unwrap()).unwrap_err();
    assert!(matches!(&problem, TapeError::Unknown { line: 3, recorded_by, .. } if recorded_by == "0.0.7"), "{problem}");
    let told = problem.to_string();
    let recorded = format!("was recorded by cortex 0.0.7 (format {VERSION}), whose inputs and effects this cortex");
    assert!(told.contains(&recorded), "{told}");
    assert!(!told.contains('\u{1b}'), "{told:?}");
}

#[tokio::test]
async fn a_rehearsal_is_marked() {
    let temporary = tempfile::tempdir().unwrap();
    let tracker = TaskTracker::new();
    let settings = TapeSettings { dry_run: true, ..TapeSettings::at(temporary.path()) };
    let mut tape = Tape::begin(&settings, &envelope(MISSION), &tracker);
    tape.setup(&setup(), "reflex");
    tape.written().await;
    let folder = Folder::new(temporary.path().to_owned());
    assert!(folder.summary(&MissionId::new(MISSION)).unwrap().dry_run);
    let (opened, _) = folder.read(&MissionId::new(MISSION)).unwrap().next_record().unwrap().unwrap();
    assert!(opened.is_for_people() && opened.data.text.starts_with("DRY RUN"), "{}", opened.data.text);
}
