//! What crashes and full disks do to a tape.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use cortex_core::mission::MissionSetup;
use cortex_core::{Input, MissionLimits, ToolSet};
use cortex_protocol::{MissionId, Origin};
use tokio_util::task::TaskTracker;

use super::record::VERSION;
use super::writer::{self, Medium};
use super::*;

fn envelope(mission: &str) -> Envelope {
    Envelope::new("/robot/cortex".to_owned(), MissionId::new(mission), Origin::new("cli", "test"))
}

fn setup() -> MissionSetup {
    MissionSetup {
        task: "go".to_owned(),
        session: None,
        earlier: Vec::new(),
        identity: String::new(),
        tools: ToolSet::default(),
        limits: MissionLimits::default(),
    }
}

/// A tape of three lines.
async fn recorded(folder: &tempfile::TempDir, mission: &str) -> Folder {
    let tracker = TaskTracker::new();
    let mut tape = Tape::begin(&TapeSettings::at(folder.path()), &envelope(mission), &tracker);
    tape.setup(&setup());
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
async fn a_tape_that_is_torn_anywhere_in_its_last_line_is_mended() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new("m");
    let folder = recorded(&temporary, "m").await;
    let path = folder.path(&mission);
    let whole = std::fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(folder.mend().unwrap(), [], "nothing is torn");
    for length in last + 1..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        // It can be read as it is, too.
        let mut reader = folder.read(&mission).unwrap();
        while reader.next_record().unwrap().is_some() {}
        assert_eq!(reader.torn_bytes(), length - last);
        assert_eq!(folder.mend().unwrap(), std::slice::from_ref(&mission));
        assert_eq!(kinds(&folder, &mission), ["cortex.tape.opened", "cortex.tape.setup", "cortex.tape.repaired"]);
        assert_eq!(folder.mend().unwrap(), [], "once is enough");
    }
}

#[tokio::test]
async fn a_tape_that_is_torn_within_its_first_line_says_nothing_and_goes() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new("m");
    let folder = recorded(&temporary, "m").await;
    let whole = std::fs::read(folder.path(&mission)).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for length in [0, 1, first] {
        std::fs::write(folder.path(&mission), &whole[..length]).unwrap();
        assert_eq!(folder.mend().unwrap(), std::slice::from_ref(&mission));
        assert_eq!(folder.missions().unwrap(), []);
    }
}

#[tokio::test]
async fn tapes_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let temporary = tempfile::tempdir().unwrap();
    let inner = temporary.path().join("cortex/tape");
    let tracker = TaskTracker::new();
    let tape = Tape::begin(&TapeSettings::at(&inner), &envelope("m"), &tracker);
    tape.written().await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&inner), mode(&inner.join("m.jsonl"))), (0o700, 0o600));
}

#[tokio::test]
async fn what_is_newer_or_no_tape_is_refused_with_the_reason() {
    let temporary = tempfile::tempdir().unwrap();
    let mission = MissionId::new("m");
    let folder = recorded(&temporary, "m").await;
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
        assert!(answer.as_ref().is_err_and(|problem| problem.contains("No space left on device")), "{answer:?}");
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
    assert!(answer.as_ref().is_err_and(|problem| problem.contains("the disk is too slow")), "{answer:?}");
    drop((release, writer));
    draining.await.unwrap();
}
