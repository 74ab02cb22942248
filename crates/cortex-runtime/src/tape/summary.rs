//! A tape in a few words.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use cortex_protocol::{MissionEvent, MissionId, MissionStatus};

use super::folder::is_written;
use super::record::{Body, Entry};
use super::{Reader, Record, TapeError};

/// The lines that say what a mission was about are among the first so many.
const LINES_OF_BEGINNING: usize = 4;
/// The last line is short; it is within so many bytes of the end.
const BYTES_OF_END: u64 = 64 * 1024;

/// Where a mission stands, as far as its tape tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapeStatus {
    /// It is being recorded.
    Running,
    /// The tape breaks off: Cortex ended before the mission did, or could not write.
    BrokenOff,
    /// It has ended.
    Ended(MissionStatus),
    /// It has ended so, and a person says that it did not do what was asked.
    Disputed(MissionStatus),
}

impl std::fmt::Display for TapeStatus {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running => formatter.write_str("RUNNING"),
            Self::BrokenOff => formatter.write_str("BROKEN OFF"),
            Self::Ended(status) => status.fmt(formatter),
            Self::Disputed(status) => write!(formatter, "DISPUTED ({status})"),
        }
    }
}

/// A tape in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Whose.
    pub mission: MissionId,
    /// When it began: RFC 3339, UTC.
    pub time: String,
    /// Where it stands.
    pub status: TapeStatus,
    /// What was to be done.
    pub task: String,
    /// Whether it was rehearsed: what acts was not called.
    pub dry_run: bool,
}

impl Summary {
    /// That of a file.
    ///
    /// # Errors
    /// When it can't be read, or is no tape.
    pub fn of(path: &Path) -> Result<Self, TapeError> {
        // Asked first: a mission that ends meanwhile is not taken for one that broke off.
        let is_being_written = File::open(path).is_ok_and(is_written);
        let mut reader = Reader::open(path)?;
        let (mut time, mut task, mut rehearsed) = (String::new(), String::new(), false);
        let mut mission = MissionId::new("");
        for _ in 0..LINES_OF_BEGINNING {
            let Some((record, _)) = reader.next_record()? else { break };
            if time.is_empty() {
                time.clone_from(&record.time);
                mission.clone_from(&record.subject);
            }
            match record.body() {
                Ok(Body::Entry(Entry::Opened { dry_run, .. })) => rehearsed = dry_run,
                Ok(Body::Published(MissionEvent::Accepted { task: accepted, .. })) => {
                    task = accepted;
                    break;
                }
                _ => {}
            }
        }
        let status = match (last_word(path)?, is_being_written) {
            (Some(word), _) => word,
            (None, true) => TapeStatus::Running,
            (None, false) => TapeStatus::BrokenOff,
        };
        Ok(Self { mission, time, status, task, dry_run: rehearsed })
    }
}

/// How the mission ended, if its tape says so.
fn last_word(path: &Path) -> Result<Option<TapeStatus>, TapeError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES_OF_END)))?;
        let mut end = Vec::new();
        file.take(BYTES_OF_END).read_to_end(&mut end)?;
        Ok(end)
    };
    let end = read().map_err(|problem| TapeError::Io { path: path.to_owned(), problem })?;
    let last = end.strip_suffix(b"\n").and_then(|lines| lines.rsplit(|byte| *byte == b'\n').next());
    let record = last.and_then(|line| serde_json::from_slice::<Record>(line).ok());
    Ok(match record.map(|record| record.body()) {
        Some(Ok(Body::Entry(Entry::Closed { status }))) => Some(TapeStatus::Ended(status)),
        Some(Ok(Body::Entry(Entry::Disputed { status, .. }))) => Some(TapeStatus::Disputed(status)),
        _ => None,
    })
}
