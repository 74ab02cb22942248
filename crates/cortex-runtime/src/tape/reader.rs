//! Reads a tape line by line, also one that is still being written. What it reads may have been written by anybody.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::record::{Body, Entry, MAX_LINE_BYTES, VERSION, words};
use super::{Record, TapeError};

/// Reads a tape.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    lines: BufReader<File>,
    /// The beginning of a line whose end is not there yet.
    partial: Vec<u8>,
    /// How many lines were read.
    line: u64,
    /// The version of Cortex that wrote it, and of its format, once the first line was read.
    recorded_by: Option<(String, u32)>,
}

impl Reader {
    /// Opens a file.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        let file = File::open(path).map_err(|problem| TapeError::Io { path: path.to_owned(), problem })?;
        Ok(Self { path: path.to_owned(), lines: BufReader::new(file), partial: Vec::new(), line: 0, recorded_by: None })
    }

    /// The next whole line, as it stands in the file and as what it says. None where there is none yet; a later call goes
    /// on when the tape has grown.
    ///
    /// # Errors
    /// When the line is no line of a tape that this Cortex can read.
    pub fn next_record(&mut self) -> Result<Option<(Record, String)>, TapeError> {
        let room = u64::try_from((MAX_LINE_BYTES + 1).saturating_sub(self.partial.len())).unwrap_or(u64::MAX);
        Read::take(&mut self.lines, room)
            .read_until(b'\n', &mut self.partial)
            .map_err(|problem| TapeError::Io { path: self.path.clone(), problem })?;
        if !self.partial.ends_with(b"\n") {
            if self.partial.len() > MAX_LINE_BYTES {
                return Err(self.unreadable("it is longer than any line of a tape"));
            }
            return Ok(None);
        }
        self.line += 1;
        let line = std::mem::take(&mut self.partial);
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = String::from_utf8(text.to_vec()).map_err(|problem| self.unreadable(&problem.to_string()))?;
        let parsed = serde_json::from_str::<Record>(&text);
        let record = match (parsed, self.line) {
            (Ok(record), 1) => self.checked_first(record)?,
            (Ok(record), _) => record,
            (Err(_), 1) => return Err(TapeError::NotATape { path: self.path.clone() }),
            (Err(problem), _) => return Err(self.unreadable(&problem.to_string())),
        };
        Ok(Some((record, text)))
    }

    /// The number of the line that was read last, from 1, as it stands in the file: what the line itself says may be wrong.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How many bytes of a line without an end there are after the last whole line.
    #[must_use]
    pub fn torn_bytes(&self) -> usize {
        self.partial.len()
    }

    /// What the line that was read last holds.
    ///
    /// # Errors
    /// [`TapeError::Unknown`] for what this Cortex does not know, with the version that wrote it.
    pub fn body(&self, record: &Record) -> Result<Body, TapeError> {
        record.body().map_err(|error| match (error, &self.recorded_by) {
            (TapeError::Unreadable { problem, .. }, Some((recorded_by, format))) => {
                TapeError::Unknown { line: self.line, recorded_by: recorded_by.clone(), format: *format, problem }
            }
            (error, _) => error,
        })
    }

    fn checked_first(&mut self, record: Record) -> Result<Record, TapeError> {
        // A newer version may say more in its first line than is known here.
        let version = record.data.payload.get("version").and_then(serde_json::Value::as_u64);
        if let Some(version) = version.filter(|version| *version > u64::from(VERSION)) {
            return Err(TapeError::Newer { version: u32::try_from(version).unwrap_or(u32::MAX) });
        }
        match record.body() {
            Ok(Body::Entry(Entry::Opened { version, cortex, .. })) => {
                self.recorded_by = Some((words(&cortex), version));
                Ok(record)
            }
            _ => Err(TapeError::NotATape { path: self.path.clone() }),
        }
    }

    fn unreadable(&self, problem: &str) -> TapeError {
        TapeError::Unreadable { line: self.line, problem: words(problem) }
    }
}
