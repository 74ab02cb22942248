//! A part of what a mission has published, read from the end of its tape: not more of the file is read than is wanted.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use cortex_core::{EventWindow, ProgressEvents};
use cortex_protocol::{CloudEvent, MissionId};

use super::record::MAX_LINE_BYTES;
use super::{Folder, Record, TapeError};

/// How much of the file is read at a time.
const BLOCK: u64 = 64 << 10;
/// Most bytes of one part, as they stand on the tape. One event is given whatever its size.
const MOST_BYTES: usize = 32 << 20;
/// Where in a line its id and its type stand, whatever comes after them.
const HEAD_BYTES: usize = 2_048;
/// The type of events that only say how something in flight is getting on.
const PROGRESS: &[u8] = b"cortex.step.progressed";

impl Folder {
    /// The last events of a mission before a place, in their order. None where its tape has no such place. Reads files.
    ///
    /// # Errors
    /// When there is no tape of this mission, or it can't be read.
    pub fn window(&self, mission: &MissionId, window: &EventWindow) -> Result<Option<Vec<CloudEvent>>, TapeError> {
        let path = self.tape(mission)?;
        let failed = |problem| TapeError::Io { path: path.clone(), problem };
        // Whether it is a tape, and of a version that is known, its first line says.
        self.read(mission)?.next_record()?;
        let mut lines = Backwards::open(File::open(&path).map_err(failed)?).map_err(failed)?;
        if let Some(before) = &window.before {
            let is_it = |line: &[u8]| field(line, b"\"id\":\"") == Some(before.as_str().as_bytes());
            loop {
                match lines.previous().map_err(failed)? {
                    Some(line) if is_it(&line) => break,
                    Some(_) => {}
                    None => return Ok(None),
                }
            }
        }
        let (mut events, mut bytes) = (Vec::new(), 0);
        // Whether the event that follows outdates what progress says.
        let mut is_outdated = false;
        while events.len() < window.most && (bytes < MOST_BYTES || events.is_empty()) {
            let Some(line) = lines.previous().map_err(failed)? else { break };
            let is_progress = field(&line, b"\"type\":\"") == Some(PROGRESS);
            if is_progress && is_outdated && window.progress == ProgressEvents::Latest {
                continue;
            }
            let record: Record = serde_json::from_slice(&line).map_err(|_| self.first_unreadable(mission))?;
            if let Some(event) = record.into_event() {
                is_outdated = is_progress;
                bytes += line.len();
                events.push(event);
            }
        }
        events.reverse();
        Ok(Some(events))
    }

    /// What is wrong with a tape of which a line can't be read. From the end nobody knows the number of that line.
    fn first_unreadable(&self, mission: &MissionId) -> TapeError {
        let first = || -> Result<(), TapeError> {
            let mut reader = self.read(mission)?;
            while reader.next_record()?.is_some() {}
            Ok(())
        };
        let changed = || io::Error::new(io::ErrorKind::InvalidData, "it was changed while it was read");
        first().err().unwrap_or_else(|| TapeError::Io { path: self.path(mission), problem: changed() })
    }
}

/// What stands in a text field at the head of a line, without reading the rest. A text that holds such a key has its quotes
/// escaped, so it is not mistaken for it.
fn field<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let head = line.get(..HEAD_BYTES).unwrap_or(line);
    let begin = head.windows(key.len()).position(|found| found == key)? + key.len();
    let value = head.get(begin..)?;
    value.get(..value.iter().position(|byte| *byte == b'"')?)
}

/// The whole lines of a file, the last one first.
struct Backwards {
    file: File,
    /// How much of the file before `read` was not read yet.
    unread: u64,
    /// The end of what was not given yet, without the end of its last line.
    read: Vec<u8>,
}

impl Backwards {
    /// What is written later is not read, nor is a line without an end.
    fn open(mut file: File) -> io::Result<Self> {
        let unread = file.seek(SeekFrom::End(0))?;
        let mut lines = Self { file, unread, read: Vec::new() };
        loop {
            if let Some(end) = lines.read.iter().rposition(|byte| *byte == b'\n') {
                lines.read.truncate(end);
                return Ok(lines);
            }
            if !lines.read_block()? {
                lines.read.clear();
                return Ok(lines);
            }
        }
    }

    fn previous(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut looked = 0;
        loop {
            // What was looked at before holds no end of a line.
            let end = self.read.len() - looked;
            if let Some(end) = self.read.iter().take(end).rposition(|byte| *byte == b'\n') {
                let line = self.read.split_off(end + 1);
                self.read.truncate(end);
                return Ok(Some(line));
            }
            looked = self.read.len();
            if !self.read_block()? {
                // The first line has none before it.
                let line = std::mem::take(&mut self.read);
                return Ok((!line.is_empty()).then_some(line));
            }
        }
    }

    /// Reads the block before. False at the beginning of the file.
    fn read_block(&mut self) -> io::Result<bool> {
        if self.unread == 0 {
            return Ok(false);
        }
        if self.read.len() > MAX_LINE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than any line of a tape"));
        }
        let length = self.unread.min(BLOCK);
        self.unread -= length;
        self.file.seek(SeekFrom::Start(self.unread))?;
        let mut block = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + self.read.len());
        (&mut self.file).take(length).read_to_end(&mut block)?;
        block.append(&mut self.read);
        self.read = block;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use cortex_protocol::{EventId, MissionEvent};

    use super::*;
    use crate::tape::published::Published;

    const MISSION: &str = "0199c3f0-7a00-7000-8000-000000000001";
    const TAPE: &str = include_str!("../../tests/reference_tape.jsonl");

    /// A tape of many lines: the reference tape, its events repeated.
    fn folder(times: usize) -> (tempfile::TempDir, Folder, MissionId) {
        let temporary = tempfile::tempdir().unwrap();
        let mission = MissionId::new(MISSION);
        let folder = Folder::new(temporary.path().to_owned());
        let mut file = File::create(folder.path(&mission)).unwrap();
        let mut sequence = 0;
        for line in TAPE.lines().chain((0..times).flat_map(|_| TAPE.lines().skip(1))) {
            let mut line = line.to_owned();
            if line.contains("\"sequence\":") {
                sequence += 1;
                line = with(&line, "\"id\":\"", '"', &format!("0199c3f0-7a00-7000-9000-{sequence:012}"));
                line = with(&line, "\"sequence\":", ',', &sequence.to_string());
            }
            writeln!(file, "{line}").unwrap();
        }
        (temporary, folder, mission)
    }

    /// The line with this value behind the key.
    fn with(line: &str, key: &str, end: char, value: &str) -> String {
        let (before, rest) = line.split_once(key).unwrap();
        let (_, rest) = rest.split_once(end).unwrap();
        format!("{before}{key}{value}{end}{rest}")
    }

    fn all(folder: &Folder, mission: &MissionId) -> Vec<CloudEvent> {
        Published::after(folder.clone(), Some(mission.clone()), None).collect()
    }

    fn last(before: Option<EventId>, most: usize) -> EventWindow {
        EventWindow { before, most, progress: ProgressEvents::All }
    }

    #[test]
    fn parts_from_the_end_are_the_whole_tape() {
        let (_temporary, folder, mission) = folder(40);
        let whole = all(&folder, &mission);
        assert!(whole.len() > 500, "{}", whole.len());
        for most in [1, 7, 100, whole.len(), usize::MAX] {
            let (mut parts, mut before) = (Vec::new(), None);
            loop {
                let part = folder.window(&mission, &last(before, most)).unwrap().unwrap();
                assert!(part.len() <= most);
                let Some(first) = part.first() else { break };
                before = Some(first.id.clone());
                parts.splice(0..0, part);
            }
            assert_eq!(parts, whole, "in parts of {most}");
        }
    }

    #[test]
    fn progress_is_left_out_where_the_next_event_outdates_it_and_everything_else_is_there() {
        let (_temporary, folder, mission) = folder(3);
        let window = EventWindow { progress: ProgressEvents::Latest, ..last(None, usize::MAX) };
        let found = folder.window(&mission, &window).unwrap().unwrap();
        let is_progress = |event: &CloudEvent| matches!(event.data.payload, MissionEvent::Progress { .. });
        let whole = all(&folder, &mission);
        assert!(
            whole.iter().all(|event| is_progress(event) == (event.kind.as_bytes() == PROGRESS)),
            "its type is known"
        );
        let next = whole.iter().skip(1).map(Some).chain([None]);
        let kept =
            whole.iter().zip(next).filter(|(event, next)| !(is_progress(event) && next.is_some_and(is_progress)));
        let expected: Vec<CloudEvent> = kept.map(|(event, _)| event.clone()).collect();
        assert!(expected.len() < whole.len() && expected.iter().any(is_progress));
        assert_eq!(found, expected);
    }

    /// "line 0 can't be read", and with whatever the line held.
    #[test]
    fn regression_a_bad_line_that_was_read_from_the_end_had_no_number() {
        let (_temporary, folder, mission) = folder(0);
        let whole = std::fs::read_to_string(folder.path(&mission)).unwrap();
        let lines = whole.lines().count();
        std::fs::write(folder.path(&mission), format!("{whole}{{\"specversion\":7}}\n{whole}")).unwrap();
        let problem = folder.window(&mission, &last(None, usize::MAX)).unwrap_err();
        assert!(problem.to_string().starts_with(&format!("line {} can't be read: ", lines + 1)), "{problem}");
    }

    #[test]
    fn what_is_torn_unknown_or_not_there_is_said() {
        let (_temporary, folder, mission) = folder(0);
        let whole = all(&folder, &mission);
        assert_eq!(folder.window(&mission, &last(Some("other".into()), 5)).unwrap(), None);
        let first = whole.first().unwrap().id.clone();
        assert_eq!(folder.window(&mission, &last(Some(first), 5)).unwrap(), Some(Vec::new()));
        let mut file = File::options().append(true).open(folder.path(&mission)).unwrap();
        file.write_all(b"{\"specversion\":").unwrap();
        assert_eq!(folder.window(&mission, &last(None, usize::MAX)).unwrap(), Some(whole));
        let other = MissionId::new("0199c3f0-7a00-7000-8000-000000000009");
        assert!(matches!(folder.window(&other, &last(None, 1)), Err(TapeError::Missing { .. })));
        std::fs::write(folder.path(&mission), "not a tape\n").unwrap();
        assert!(matches!(folder.window(&mission, &last(None, 1)), Err(TapeError::NotATape { .. })));
    }
}
