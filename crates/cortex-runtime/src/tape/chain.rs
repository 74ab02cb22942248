//! The chain of a tape: each line carries the SHA-256 of the line before it, so that a line that is changed afterwards
//! no longer agrees with the next one. Whoever writes all later lines anew as well can't be found out so:
//! `docs/tape.md`.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use cortex_protocol::{MissionEvent, MissionId, MissionStatus};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::record::{Body, Entry, MAX_LINE_BYTES, VERSION, words};
use super::{Folder, Record, TapeError};

/// The first format in which each line after the first carries a hash.
const FIRST_VERSION: u64 = 4;
const ATTRIBUTE: &str = ",\"previous\":\"";
const HASH_CHARACTERS: usize = 64;
/// What the attribute adds to a line.
pub(super) const LINK_BYTES: usize = ATTRIBUTE.len() + HASH_CHARACTERS + 1;
/// The lines of which something besides the hash is compared.
const FINISHED: &str = "cortex.mission.finished";
const CLOSED: &str = "cortex.tape.closed";
const DISPUTED: &str = "cortex.tape.disputed";
const OPENED: &str = "cortex.tape.opened";

/// SHA-256 over the bytes of a line, without the end of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineHash([u8; 32]);

impl LineHash {
    pub(super) fn of(line: &[u8]) -> Self {
        Self(Sha256::digest(line.strip_suffix(b"\n").unwrap_or(line)).into())
    }

    /// In hexadecimal digits, as lines carry it.
    fn digits(self) -> [u8; HASH_CHARACTERS] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; HASH_CHARACTERS];
        let halves = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        for (digit, half) in digits.iter_mut().zip(halves) {
            *digit = DIGITS.get(usize::from(half)).copied().unwrap_or(b'0');
        }
        digits
    }

    fn is(self, written: &str) -> bool {
        written.as_bytes() == self.digits()
    }
}

/// Makes the lines of one tape follow each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    previous: Option<LineHash>,
}

impl Chain {
    /// A chain that goes on after this line.
    pub(super) fn after(line: &[u8]) -> Self {
        Self { previous: Some(LineHash::of(line)) }
    }

    /// Adds the hash of the line before to this line, which is the next that is written. Every line ends with its
    /// `data`.
    pub(super) fn link(&mut self, line: &mut Vec<u8>) {
        if let (Some(previous), true) = (self.previous, line.ends_with(b"}}\n")) {
            line.truncate(line.len().saturating_sub(2));
            line.extend(ATTRIBUTE.as_bytes());
            line.extend(previous.digits());
            line.extend(b"\"}\n");
        }
        self.previous = Some(LineHash::of(line));
    }
}

/// Whether a tape is as it was written, as far as its lines tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Integrity {
    /// Each whole line is what the next one says that it was.
    Unchanged,
    /// It is of a format whose lines carry no hashes: nothing can be said.
    NoHashes,
    /// It was changed after it was written.
    Changed {
        /// The first line that is found changed, from 1, as it stands in the file.
        line: u64,
        /// How that is known.
        change: Change,
    },
}

/// How a line is known to have been changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It is no line that Cortex writes.
    Unreadable {
        /// Why.
        problem: String,
    },
    /// It carries another number than its place has: lines were removed, added or moved.
    Renumbered {
        /// The number that it carries.
        number: u64,
    },
    /// It does not carry the hash of the line before.
    HashRemoved,
    /// The line after it carries another hash.
    OtherHash,
    /// The line before it, and it itself, are not what the lines after them say.
    OtherHashes,
    /// It names another end than the mission's result does.
    OtherStatus {
        /// What it says.
        says: MissionStatus,
        /// What the result says.
        result: MissionStatus,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { problem } => write!(formatter, "it can't be read: {problem}"),
            Self::Renumbered { number } => {
                write!(formatter, "it carries the number {number}: lines were removed, added or moved")
            }
            Self::HashRemoved => formatter.write_str("it does not carry the hash of the line before"),
            Self::OtherHash => formatter.write_str("the line after it carries another hash"),
            Self::OtherHashes => formatter
                .write_str("its hash of the line before is another, and the line after it carries another of it"),
            Self::OtherStatus { says, result } => {
                write!(formatter, "it says that the mission ended {says}; its result says {result}")
            }
        }
    }
}

/// What is read of a line to check it. All the rest is covered by the hash.
#[derive(Deserialize)]
struct Link {
    #[serde(rename = "type")]
    kind: String,
    line: u64,
    previous: Option<String>,
}

/// A break between two lines, until it is known which of them was changed.
struct Break {
    /// The later of the two.
    line: u64,
    hash: LineHash,
}

/// Checks the lines of a tape one after another.
#[derive(Default)]
struct Check {
    number: u64,
    before: Option<LineHash>,
    has_hashes: bool,
    /// Line 1 is none of a tape. If a later one is, line 1 was changed; else this is no tape.
    first_problem: Option<Change>,
    open: Option<Break>,
    result: Option<MissionStatus>,
}

fn changed(line: u64, change: Change) -> Option<Integrity> {
    Some(Integrity::Changed { line, change })
}

impl Check {
    /// Takes the next line. Some: it is known that the tape was changed.
    fn take(&mut self, line: &[u8]) -> Option<Integrity> {
        self.number += 1;
        let number = self.number;
        let hash = LineHash::of(line);
        let before = self.before.replace(hash);
        let link = match serde_json::from_slice::<Link>(line) {
            Ok(link) => link,
            Err(problem) => {
                let change = Change::Unreadable { problem: words(&problem.to_string()) };
                if number == 1 || self.first_problem.is_some() {
                    self.first_problem.get_or_insert(change);
                    return None;
                }
                return self.unresolved().or_else(|| changed(number, change));
            }
        };
        let follows = link.previous.as_deref().zip(before).map(|(previous, before)| before.is(previous));
        if let Some(open) = self.open.take() {
            // Where the later line is what its next line says, the earlier one was changed.
            let later_is_whole = link.previous.as_deref().is_none_or(|previous| open.hash.is(previous));
            return if later_is_whole {
                changed(open.line.saturating_sub(1), Change::OtherHash)
            } else {
                changed(open.line, Change::OtherHashes)
            };
        }
        if let Some(change) = &self.first_problem {
            return follows.and_then(|_| changed(1, change.clone()));
        }
        if link.line != number {
            return changed(number, Change::Renumbered { number: link.line });
        }
        match follows {
            Some(true) => {}
            Some(false) => self.open = Some(Break { line: number, hash }),
            None if number > 1 && self.has_hashes => return changed(number, Change::HashRemoved),
            None => {}
        }
        self.look_into(&link.kind, line)
    }

    /// The lines of which something besides the hash is known.
    fn look_into(&mut self, kind: &str, line: &[u8]) -> Option<Integrity> {
        if !matches!((kind, self.number), (OPENED, 1) | (FINISHED | CLOSED | DISPUTED, _)) {
            return None;
        }
        let record = serde_json::from_slice::<Record>(line).ok()?;
        if self.number == 1 {
            let version = record.data.payload.get("version").and_then(Value::as_u64);
            // What newer formats do is not known here.
            self.has_hashes = version.is_some_and(|version| (FIRST_VERSION..=u64::from(VERSION)).contains(&version));
            return None;
        }
        match record.body() {
            Ok(Body::Published(MissionEvent::Finished { result })) => self.result = Some(result.status),
            Ok(Body::Entry(Entry::Closed { status } | Entry::Disputed { status, .. })) => {
                if let Some(result) = self.result.filter(|result| *result != status && self.open.is_none()) {
                    return changed(self.number, Change::OtherStatus { says: status, result });
                }
            }
            _ => {}
        }
        None
    }

    /// What is known at the end of the whole lines.
    fn end(self) -> Option<Integrity> {
        if self.number == 0 || self.first_problem.is_some() {
            return None;
        }
        let whole = if self.has_hashes { Integrity::Unchanged } else { Integrity::NoHashes };
        Some(self.unresolved().unwrap_or(whole))
    }

    /// A break of which nothing more can be learnt.
    fn unresolved(&self) -> Option<Integrity> {
        self.open.as_ref().and_then(|open| changed(open.line.saturating_sub(1), Change::OtherHash))
    }
}

/// Whether the lines are as they were written. None: this is no tape. A line without an end is left out: it is still
/// being written, or a crash has cut it off.
///
/// # Errors
/// When they can't be read.
pub(super) fn check(lines: impl Read) -> io::Result<Option<Integrity>> {
    let mut lines = BufReader::new(lines);
    let mut check = Check::default();
    let mut line = Vec::new();
    let most = u64::try_from(MAX_LINE_BYTES + 1).unwrap_or(u64::MAX);
    loop {
        line.clear();
        lines.by_ref().take(most).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            if line.len() <= MAX_LINE_BYTES {
                return Ok(check.end());
            }
            let problem = "it is longer than any line of a tape".to_owned();
            let number = check.number + 1;
            return Ok(check.unresolved().or_else(|| changed(number, Change::Unreadable { problem })));
        }
        if let Some(found) = check.take(&line) {
            return Ok(Some(found));
        }
    }
}

impl Folder {
    /// Whether the whole lines of a mission's tape are as they were written. Reads all of it.
    ///
    /// # Errors
    /// When it can't be read, or is no tape.
    pub fn check(&self, mission: &MissionId) -> Result<Integrity, TapeError> {
        let path = self.path(mission);
        let checked = std::fs::File::open(&path).and_then(check);
        match checked {
            Ok(Some(integrity)) => Ok(integrity),
            Ok(None) => Err(TapeError::NotATape { path }),
            Err(problem) => Err(TapeError::Io { path, problem }),
        }
    }
}

#[cfg(test)]
mod tests;
