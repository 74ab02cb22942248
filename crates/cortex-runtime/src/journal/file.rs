//! The file of the journal: JSON lines that are added, and made anew without what has ended when they have become many.
//!
//! Whoever keeps it holds a lock on it, so that no two lives keep one journal, and no life ends what another one does. What
//! is read may be torn by a crash, or have been written by anybody: it is bounded, and what makes no sense is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cortex_core::fragment::capped;
use cortex_protocol::MissionId;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{JournalSettings, OpenCall};

/// Most bytes that are read, and that are added before the file is made anew.
const MOST_BYTES: u64 = 256 * 1024;
/// Most calls of an earlier life. One robot has a few dozen open at a time.
const MOST_CALLS: usize = 256;
/// Most tasks of an earlier life. One runs at a time.
const MOST_MISSIONS: usize = 16;
/// Longest name of a tool, and most of a task that is kept, in characters.
const NAME_CHARACTERS: usize = 512;
const TASK_CHARACTERS: usize = 500;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    MissionBegins { mission: MissionId, task: String },
    MissionEnds { mission: MissionId },
    CallBegins(OpenCall),
    CallEnds(OpenCall),
}

/// What is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) missions: BTreeMap<MissionId, String>,
    pub(crate) calls: BTreeSet<OpenCall>,
}

impl Open {
    fn is_empty(&self) -> bool {
        self.missions.is_empty() && self.calls.is_empty()
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::MissionBegins { mission, task } => {
                if self.missions.len() < MOST_MISSIONS {
                    self.missions.insert(mission, capped(&task, TASK_CHARACTERS));
                }
            }
            Line::MissionEnds { mission } => {
                self.missions.remove(&mission);
            }
            Line::CallBegins(call) => {
                if self.calls.len() < MOST_CALLS {
                    self.calls.insert(call);
                }
            }
            Line::CallEnds(call) => {
                self.calls.remove(&call);
            }
        }
    }

    /// The lines that say this and nothing else.
    fn lines(&self) -> Vec<u8> {
        let missions = self.missions.iter();
        let missions =
            missions.map(|(mission, task)| Line::MissionBegins { mission: mission.clone(), task: task.clone() });
        let calls = self.calls.iter().cloned().map(Line::CallBegins);
        missions.chain(calls).flat_map(|line| written(&line)).collect()
    }
}

/// The file, locked.
pub(super) struct JournalFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    open: Open,
}

impl JournalFile {
    /// Opens the journal, and says what an earlier life left in it. That stays there until it is ended.
    pub(super) fn open(settings: &JournalSettings) -> io::Result<(Self, Open)> {
        if let Some(folder) = settings.file.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut file = opened(&settings.file)?;
        file.try_lock().map_err(|_| {
            io::Error::new(
                io::ErrorKind::WouldBlock,
                "another Cortex for this robot runs on this machine, and keeps it",
            )
        })?;
        let earlier = read(&mut file)?;
        let mut journal = Self { path: settings.file.clone(), file, bytes: 0, open: earlier.clone() };
        // Without what is torn or makes no sense.
        journal.make_anew()?;
        Ok((journal, earlier))
    }

    pub(super) fn begin_mission(&mut self, mission: MissionId, task: &str) -> io::Result<()> {
        self.add(Line::MissionBegins { mission, task: capped(task, TASK_CHARACTERS) })
    }

    pub(super) fn end_mission(&mut self, mission: &MissionId) -> io::Result<()> {
        self.add(Line::MissionEnds { mission: mission.clone() })
    }

    pub(super) fn begin_call(&mut self, call: OpenCall) -> io::Result<()> {
        self.add(Line::CallBegins(call))
    }

    pub(super) fn end_call(&mut self, call: &OpenCall) -> io::Result<()> {
        self.add(Line::CallEnds(call.clone()))
    }

    fn add(&mut self, line: Line) -> io::Result<()> {
        let bytes = written(&line);
        self.open.take(line);
        if self.open.is_empty() {
            // The usual case, in which the file never grows.
            self.file.set_len(0)?;
            self.bytes = 0;
            return Ok(());
        }
        if self.bytes > MOST_BYTES / 2 {
            return self.make_anew();
        }
        if let Err(problem) = self.file.write_all(&bytes) {
            // Half a line would spoil the next one.
            let _ = self.file.set_len(self.bytes);
            return Err(problem);
        }
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Puts a file with what is open in place of this one. A crash of Cortex leaves the one or the other.
    fn make_anew(&mut self) -> io::Result<()> {
        let beside = self.path.with_extension("new");
        match std::fs::remove_file(&beside) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => return Err(problem),
            Ok(()) | Err(_) => {}
        }
        let mut file = opened(&beside)?;
        file.lock()?;
        let lines = self.open.lines();
        file.write_all(&lines)?;
        std::fs::rename(&beside, &self.path)?;
        self.file = file;
        self.bytes = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        Ok(())
    }
}

/// Opens a plain file of ours for adding to it, and makes it where there is none. Never follows a link, and never waits.
fn opened(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.nlink() > 1 {
        return Err(io::Error::other(format!("{} is no plain file of its own", path.display())));
    }
    Ok(file)
}

fn read(file: &mut File) -> io::Result<Open> {
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    if length > MOST_BYTES {
        tracing::warn!("the journal of what is open has {length} bytes; only the first {MOST_BYTES} are read");
    }
    let mut open = Open::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Line>(line).ok().filter(makes_sense) {
            Some(line) => open.take(line),
            None => tracing::warn!("a line of the journal of what is open can't be read, and is left out"),
        }
    }
    Ok(open)
}

fn makes_sense(line: &Line) -> bool {
    let is_id =
        |mission: &MissionId| Uuid::try_parse(mission.as_str()).is_ok_and(|id| id.to_string() == mission.as_str());
    match line {
        Line::MissionBegins { mission, .. } | Line::MissionEnds { mission } => is_id(mission),
        Line::CallBegins(call) | Line::CallEnds(call) => {
            let name = call.tool.as_str();
            is_id(&call.mission) && name.chars().count() <= NAME_CHARACTERS && !name.chars().any(char::is_control)
        }
    }
}

/// Our own types can always be written.
fn written(line: &Line) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
