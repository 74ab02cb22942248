//! The folder of the tapes: one file for each mission, named by its id, which sorts by time.
//!
//! Who writes a tape holds a lock on its file. So whoever else looks at the folder, in whatever process, knows which tapes
//! are being written: those are never removed and never fixed.

use std::fs::{DirBuilder, DirEntry, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cortex_protocol::{MissionId, MissionStatus, Origin};
use uuid::Uuid;

use super::chain::Chain;
use super::locked_file::LockedFile;
use super::record::{Entry, MAX_LINE_BYTES, entry_line};
use super::writer::Medium;
use super::{Flush, Reader, Record, Summary, TapeError};
use crate::envelope::Envelope;

/// The folder of the journals of open calls, within that of the tapes.
pub(crate) const JOURNAL_FOLDER: &str = "open-calls";
/// The folder in that of the tapes in which robots keep what they have learnt.
pub const WORDINGS_FOLDER: &str = "wordings";
/// The folder in that of the tapes in which pages keep who has logged in.
pub const PAGE_FOLDER: &str = "page";
/// The folder in that of the tapes in which robots keep how well skills work, and which they have learned.
pub const SKILLS_FOLDER: &str = "skills";
/// What else Cortex keeps in the folder of the tapes.
const OWN_FOLDERS: [&str; 4] = [JOURNAL_FOLDER, WORDINGS_FOLDER, PAGE_FOLDER, SKILLS_FOLDER];
/// What the file of a tape ends with.
const SUFFIX: &str = "jsonl";
/// A growing tape looks after the folder's size so many times until the folder is full.
const LOOKS: u64 = 16;

/// What bounds a tape that is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) mission: u64,
    pub(super) folder: u64,
    pub(super) flush: Flush,
}

/// A folder of tapes.
#[derive(Debug, Clone)]
pub struct Folder {
    directory: PathBuf,
}

impl Folder {
    /// The tapes in this folder, which need not exist yet.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Makes the folder, for its owner alone, if there is none.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn make(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The missions of which there are tapes, oldest first.
    ///
    /// # Errors
    /// When the folder can't be read. One that does not exist has no tapes.
    pub fn missions(&self) -> Result<Vec<MissionId>, TapeError> {
        Ok(self.look()?.0)
    }

    /// How many entries of the folder are no tapes. They are never read, fixed or removed.
    ///
    /// # Errors
    /// As [`missions`](Self::missions).
    pub fn others(&self) -> Result<usize, TapeError> {
        Ok(self.look()?.1)
    }

    /// The tapes, oldest first, and how many other entries there are.
    fn look(&self) -> Result<(Vec<MissionId>, usize), TapeError> {
        let failed = |problem| TapeError::Io { path: self.directory.clone(), problem };
        let entries = match std::fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
            Err(problem) => return Err(failed(problem)),
        };
        let (mut missions, mut others) = (Vec::new(), 0);
        for entry in entries {
            let entry = entry.map_err(failed)?;
            match mission_of(&entry) {
                Some(mission) => missions.push(mission),
                None if OWN_FOLDERS.iter().any(|folder| entry.file_name() == *folder) => {}
                None => others += 1,
            }
        }
        missions.sort();
        Ok((missions, others))
    }

    /// The mission whose id begins so.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, prefix: &str) -> Result<MissionId, TapeError> {
        let mut candidates = self.missions()?;
        if let Some(exact) = candidates.iter().find(|id| id.as_str() == prefix) {
            return Ok(exact.clone());
        }
        candidates.retain(|id| id.as_str().starts_with(prefix));
        match (candidates.pop(), candidates.is_empty()) {
            (None, _) => Err(TapeError::Missing { prefix: prefix.to_owned(), directory: self.directory.clone() }),
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                candidates.push(last);
                Err(TapeError::Ambiguous { prefix: prefix.to_owned(), candidates })
            }
        }
    }

    /// The file that a mission's tape has or would have. Only for ids of missions that are known: whoever names a mission
    /// could name any file. [`tape`](Self::tape) checks.
    #[must_use]
    pub fn path(&self, mission: &MissionId) -> PathBuf {
        self.directory.join(format!("{mission}.{SUFFIX}"))
    }

    /// The file of the tape that a mission has, whoever names the mission: never another file than a tape of this folder.
    ///
    /// # Errors
    /// When there is none.
    pub fn tape(&self, mission: &MissionId) -> Result<PathBuf, TapeError> {
        let path = self.path(mission);
        // What a link leads to is no tape, nor is what might keep its reader waiting.
        let is_tape =
            is_mission_id(mission.as_str()) && std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
        if is_tape { Ok(path) } else { Err(self.missing(mission)) }
    }

    pub(super) fn missing(&self, mission: &MissionId) -> TapeError {
        TapeError::Missing { prefix: mission.to_string(), directory: self.directory.clone() }
    }

    /// Opens a mission's tape for reading, whoever names the mission.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(&self, mission: &MissionId) -> Result<Reader, TapeError> {
        Reader::open(&self.tape(mission)?)
    }

    /// Whether the tape is being written.
    #[must_use]
    pub fn is_being_written(&self, mission: &MissionId) -> bool {
        File::open(self.path(mission)).is_ok_and(is_written)
    }

    /// A mission's tape in a few words.
    ///
    /// # Errors
    /// When it can't be read, or is none.
    pub fn summary(&self, mission: &MissionId) -> Result<Summary, TapeError> {
        Ok(Summary { mission: mission.clone(), ..Summary::of(&self.tape(mission)?)? })
    }

    /// Fixes what a crash has torn: cuts half a line off the end of each tape that nobody writes, and notes it there.
    /// What holds no line at all is removed. Returns what was fixed.
    ///
    /// # Errors
    /// When the folder can't be read. A tape that can't be fixed is left as it is.
    pub fn fix(&self) -> Result<Vec<MissionId>, TapeError> {
        let mut fixed = Vec::new();
        for mission in self.missions()? {
            match self.fix_one(&mission) {
                Ok(true) => fixed.push(mission),
                Ok(false) => {}
                Err(problem) => tracing::warn!("the tape of {mission} can't be fixed: {problem}"),
            }
        }
        Ok(fixed)
    }

    fn fix_one(&self, mission: &MissionId) -> io::Result<bool> {
        let path = self.path(mission);
        let file = OpenOptions::new().read(true).append(true).open(&path)?;
        let Some(mut file) = LockedFile::alone(file) else { return Ok(false) };
        let Some(torn) = Torn::of(&mut file)? else { return Ok(false) };
        if torn.whole == 0 {
            std::fs::remove_file(&path)?;
            return Ok(true);
        }
        file.set_len(torn.whole)?;
        if let Some(before) = torn.last_line {
            file.write_all(&before.next(&Entry::Repaired { bytes: torn.bytes }))?;
        }
        file.sync_data()?;
        Ok(true)
    }

    /// Notes at the end of a tape that nobody writes that its mission is disputed. It is on the disk when this comes back.
    ///
    /// # Errors
    /// When the tape can't be written, is being written, or holds no line.
    pub fn record_dispute(
        &self,
        mission: &MissionId,
        reason: &str,
        by: &Origin,
        status: MissionStatus,
    ) -> io::Result<()> {
        // A torn end would swallow the line.
        self.fix_one(mission)?;
        let file = OpenOptions::new().read(true).append(true).open(self.path(mission))?;
        let mut file = LockedFile::alone(file).ok_or_else(|| io::Error::other("its tape is being written"))?;
        let last = last_line(&mut file)?.ok_or_else(|| io::Error::other("the last line of its tape can't be read"))?;
        file.write_all(&last.next(&Entry::Disputed { reason: reason.to_owned(), by: by.clone(), status }))?;
        file.sync_data()
    }

    /// Makes the file of a new tape, and room for it.
    pub(super) fn create(&self, mission: &MissionId, limits: Limits) -> io::Result<Box<dyn Medium>> {
        let named =
            |problem: io::Error| io::Error::new(problem.kind(), format!("{}: {problem}", self.directory.display()));
        self.make().map_err(named)?;
        self.make_room(limits.folder).map_err(named)?;
        let file = self.create_locked(mission).map_err(named)?;
        let tape = TapeFile { folder: self.clone(), file, limits, length: 0, looked_at: 0, entry_is_safe: false };
        Ok(Box::new(tape))
    }

    fn create_locked(&self, mission: &MissionId) -> io::Result<LockedFile> {
        /// Each further attempt means that someone tidied the folder up in the moment before the file was locked.
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(self.path(mission))?;
            let file = LockedFile::wait_for(file)?;
            if file.metadata()?.nlink() > 0 {
                return Ok(file);
            }
        }
        Err(io::Error::other("something removes new tapes as soon as they are made"))
    }

    /// Removes the oldest tapes that nobody writes until all together have at most so many bytes.
    fn make_room(&self, most: u64) -> io::Result<()> {
        let missions = self.missions().map_err(io::Error::other)?;
        let mut tapes = Vec::new();
        for mission in missions {
            let path = self.path(&mission);
            // One that is gone meanwhile takes no room.
            let Ok(about) = std::fs::metadata(&path) else { continue };
            tapes.push((path, about.len()));
        }
        let mut total: u64 = tapes.iter().map(|(_, bytes)| bytes).sum();
        for (path, bytes) in tapes {
            if total <= most {
                return Ok(());
            }
            let Ok(file) = File::open(&path) else { continue };
            let Some(_looked_at) = LockedFile::for_a_look(file) else { continue };
            std::fs::remove_file(&path)?;
            tracing::info!("removed {}, the oldest tape, to make room", path.display());
            total = total.saturating_sub(bytes);
        }
        Ok(())
    }
}

/// Whose tape it is. None for what is no tape: another name, or no plain file. To open one of those might wait for ever,
/// and what others keep in the folder is none of ours.
fn mission_of(entry: &DirEntry) -> Option<MissionId> {
    let name = entry.file_name();
    let stem = name.to_str()?.strip_suffix(SUFFIX)?.strip_suffix('.')?;
    (is_mission_id(stem) && entry.file_type().ok()?.is_file()).then(|| MissionId::new(stem.to_owned()))
}

/// Whether it is written as `new_mission_id` writes it: such a text leads to no other folder.
pub(super) fn is_mission_id(text: &str) -> bool {
    Uuid::try_parse(text).is_ok_and(|id| id.to_string() == text)
}

/// Whether someone writes it.
pub(super) fn is_written(file: File) -> bool {
    LockedFile::for_a_look(file).is_none()
}

/// The last whole line of a tape that is gone on with.
struct LastLine {
    record: Record,
    chain: Chain,
}

impl LastLine {
    /// The last of these lines.
    fn of(lines: &[u8]) -> Option<Self> {
        let last = lines.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()?;
        Some(Self { record: serde_json::from_slice(last).ok()?, chain: Chain::after(last) })
    }

    /// The line that comes after it.
    fn next(self, entry: &Entry<'_>) -> Vec<u8> {
        let Self { record, mut chain } = self;
        let envelope = Envelope::new(record.source, record.subject, record.data.origin);
        let mut line = entry_line(&envelope, record.line.saturating_add(1), None, entry).1;
        chain.link(&mut line);
        line
    }
}

/// The last line of a tape without a torn end.
fn last_line(file: &mut File) -> io::Result<Option<LastLine>> {
    let length = file.metadata()?.len();
    let reach = u64::try_from(2 * MAX_LINE_BYTES).unwrap_or(u64::MAX);
    file.seek(SeekFrom::Start(length.saturating_sub(reach)))?;
    let mut end = Vec::new();
    Read::take(&mut *file, reach).read_to_end(&mut end)?;
    Ok(LastLine::of(&end))
}

/// The torn end of a tape.
struct Torn {
    /// How many bytes are whole lines.
    whole: u64,
    /// How many are not.
    bytes: u64,
    /// The last whole line.
    last_line: Option<LastLine>,
}

impl Torn {
    fn of(file: &mut File) -> io::Result<Option<Self>> {
        let length = file.metadata()?.len();
        if length == 0 {
            return Ok(Some(Self { whole: 0, bytes: 0, last_line: None }));
        }
        let mut last_byte = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last_byte)?;
        if last_byte == *b"\n" {
            return Ok(None);
        }
        let reach = u64::try_from(2 * MAX_LINE_BYTES).unwrap_or(u64::MAX);
        let start = length.saturating_sub(reach);
        file.seek(SeekFrom::Start(start))?;
        let mut end = Vec::new();
        Read::take(&mut *file, reach).read_to_end(&mut end)?;
        let kept = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = end.get(..kept).unwrap_or_default();
        let torn = u64::try_from(end.len() - kept).unwrap_or(u64::MAX);
        Ok(Some(Self { whole: length - torn, bytes: torn, last_line: LastLine::of(lines) }))
    }
}

/// The file of a tape that is being written.
struct TapeFile {
    folder: Folder,
    file: LockedFile,
    limits: Limits,
    length: u64,
    /// The length at which the folder's size was last looked at.
    looked_at: u64,
    /// Whether the folder's entry of the file survives the loss of power.
    entry_is_safe: bool,
}

impl Medium for TapeFile {
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let length = self.length + u64::try_from(lines.len()).unwrap_or(u64::MAX);
        if length > self.limits.mission {
            return Err(io::Error::other(format!(
                "it has reached {} bytes, the most that the tape of one mission may have",
                self.limits.mission
            )));
        }
        if let Err(problem) = self.file.write_all(lines) {
            // Half a line is worth nothing, and what else can be done on a full disk?
            let _ = self.file.set_len(self.length);
            return Err(problem);
        }
        self.length = length;
        if self.length - self.looked_at > self.limits.folder / LOOKS {
            self.looked_at = self.length;
            self.folder.make_room(self.limits.folder)?;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.limits.flush == Flush::Os {
            return Ok(());
        }
        // The data and the length are what reading needs; the times of the file are not.
        self.file.sync_data()?;
        if !self.entry_is_safe {
            File::open(&self.folder.directory)?.sync_all()?;
            self.entry_is_safe = true;
        }
        Ok(())
    }
}
