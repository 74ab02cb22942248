//! The record of a stop, beside the journal: a robot that was stopped stays stopped when Cortex is started again, however it
//! ended, until a person resumes it.
//!
//! The record is a file that is there while the robot is stopped. Only its absence says that the robot is not stopped:
//! whatever else stands in its place, or keeps it from being looked at, counts as a stop. Unlike the journal, it has to
//! survive the loss of power, since the robot is to stand still after that as well; so it is written to the disk itself.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cortex_core::fragment::capped;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::JournalSettings;
use crate::tape::TapeSettings;
use crate::tape::folder::JOURNAL_FOLDER;

/// What the name of the file ends with, in place of the journal's.
const ENDING: &str = "stopped";
/// What the name of the file ends with until it is complete.
const ENDING_OF_NEW: &str = "stopped-new";
/// Most bytes of a record that are read.
const MOST_BYTES: u64 = 16 * 1024;
/// Characters of the reason that are kept.
const REASON_CHARACTERS: usize = 500;

/// The file that says that the robot is stopped.
#[derive(Debug, Clone)]
pub struct StopRecord {
    file: PathBuf,
}

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    /// Why the robot was stopped, in words for people.
    why: String,
}

impl StopRecord {
    /// The record of the robot whose journal this is.
    #[must_use]
    pub fn beside(journal: &JournalSettings) -> Self {
        Self { file: journal.file.with_extension(ENDING) }
    }

    /// The records beside the journals in the folder of these tapes: one for each robot of this machine that is stopped, or
    /// was when its Cortex ended.
    #[must_use]
    pub fn all(tape: &TapeSettings) -> Vec<Self> {
        let entries = std::fs::read_dir(tape.directory.join(JOURNAL_FOLDER)).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        let mut records: Vec<Self> = files
            .filter(|path| path.extension().is_some_and(|ending| ending == ENDING || ending == ENDING_OF_NEW))
            .map(|path| Self { file: path.with_extension(ENDING) })
            .collect();
        records.sort_by(|one, other| one.file.cmp(&other.file));
        records.dedup_by(|one, other| one.file == other.file);
        records
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Why the robot is stopped, in words for people. None: it is not.
    #[must_use]
    pub fn read(&self) -> Option<String> {
        let is_absent = |file: &Path| match std::fs::symlink_metadata(file) {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(problem) => Err(problem),
            Ok(_) => Ok(false),
        };
        // One that was never completed was of a stop, too.
        match is_absent(&self.file).and_then(|no_record| Ok(no_record && is_absent(&self.new_file())?)) {
            Ok(true) => return None,
            Ok(false) => {}
            Err(problem) => return Some(self.unreadable(&problem)),
        }
        let why = self.contents().and_then(|bytes| Ok(serde_json::from_slice::<Written>(&bytes)?));
        Some(match why {
            Ok(Written { why }) => capped(&why, REASON_CHARACTERS),
            Err(problem) => self.unreadable(&problem),
        })
    }

    fn unreadable(&self, problem: &io::Error) -> String {
        format!(
            "the record of the last stop, {}, can't be read, which counts as a stop: {problem}",
            self.file.display()
        )
    }

    /// Never follows a link, and never waits for what is no plain file.
    fn contents(&self) -> io::Result<Vec<u8>> {
        let file = OpenOptions::new().read(true).custom_flags(careful()?).open(&self.file)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no plain file"));
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Records a stop. It is on the disk when this returns.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn write(&self, why: &str) -> io::Result<()> {
        let written = serde_json::to_vec(&Written { why: capped(why, REASON_CHARACTERS) })?;
        if let Some(folder) = self.file.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let new = self.new_file();
        unless_absent(std::fs::remove_file(&new))?;
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(careful()?).open(&new)?;
        file.write_all(&written)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.file)?;
        self.sync_folder()
    }

    /// Removes the record: a person has resumed the robot. It is gone from the disk when this returns.
    ///
    /// # Errors
    /// When it can't be removed; then the robot would be stopped again at the next start.
    pub fn remove(&self) -> io::Result<()> {
        let removed = [remove(&self.new_file())?, remove(&self.file)?];
        if removed.contains(&true) { self.sync_folder() } else { Ok(()) }
    }

    fn new_file(&self) -> PathBuf {
        self.file.with_extension(ENDING_OF_NEW)
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

/// Whether there was something to remove.
fn remove(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        // Only an empty one: what is in it is none of ours.
        Err(problem) if problem.kind() == io::ErrorKind::IsADirectory => unless_absent(std::fs::remove_dir(path)),
        removed => unless_absent(removed),
    }
}

fn unless_absent(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(problem) => Err(problem),
    }
}

fn careful() -> io::Result<i32> {
    i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::tape::Flush;

    fn record(folder: &tempfile::TempDir) -> StopRecord {
        let file = folder.path().join("open-calls/robot.jsonl");
        StopRecord::beside(&JournalSettings { file, required: true })
    }

    #[test]
    fn a_stop_is_there_until_a_person_resumes() {
        let folder = tempfile::tempdir().unwrap();
        let record = record(&folder);
        assert_eq!(record.read(), None, "there is not even a folder");
        record.remove().unwrap();
        record.write("~/stop was called").unwrap();
        assert_eq!(record.read().as_deref(), Some("~/stop was called"));
        let tapes = TapeSettings {
            directory: folder.path().to_owned(),
            required: true,
            flush: Flush::Os,
            max_mission_bytes: 1,
            max_folder_bytes: 1,
            dry_run: false,
        };
        assert_eq!(StopRecord::all(&tapes).iter().map(StopRecord::path).collect::<Vec<_>>(), [record.path()]);
        record.write("Cortex hangs: runtime").unwrap();
        assert_eq!(record.read().as_deref(), Some("Cortex hangs: runtime"));
        record.remove().unwrap();
        assert_eq!(record.read(), None);
        assert_eq!(std::fs::read_dir(folder.path().join("open-calls")).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn what_can_not_be_read_is_a_stop() {
        let folder = tempfile::tempdir().unwrap();
        let record = record(&folder);
        record.write("~/stop was called").unwrap();
        let says = |record: &StopRecord| record.read().unwrap_or_default();
        for torn in ["", "{\"why\":\"~/st", "null", "\u{0}\u{0}"] {
            std::fs::write(record.path(), torn).unwrap();
            assert!(says(&record).contains("can't be read, which counts as a stop"), "{torn:?}: {}", says(&record));
        }
        std::fs::remove_file(record.path()).unwrap();
        std::fs::create_dir(record.path()).unwrap();
        assert!(says(&record).contains("counts as a stop"), "a folder in its place: {}", says(&record));
        record.remove().unwrap();
        std::os::unix::fs::symlink("/no/such", record.path()).unwrap();
        assert!(says(&record).contains("counts as a stop"), "a dangling link in its place: {}", says(&record));
        record.remove().unwrap();
        std::fs::write(record.new_file(), "{\"why").unwrap();
        assert!(says(&record).contains("counts as a stop"), "one that was being written: {}", says(&record));
        record.remove().unwrap();
        assert_eq!(record.read(), None);
    }

    #[test]
    fn a_folder_that_can_not_be_looked_into_is_a_stop() {
        let folder = tempfile::tempdir().unwrap();
        // Whoever may look into everything is kept out by a file in the folder's place.
        std::fs::write(folder.path().join("open-calls"), "").unwrap();
        let record = record(&folder);
        assert!(record.read().unwrap_or_default().contains("counts as a stop"));
        assert!(record.write("~/stop was called").is_err() && record.remove().is_err());
    }

    #[test]
    fn a_link_in_the_place_of_the_new_record_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let record = record(&folder);
        record.write("~/stop was called").unwrap();
        let mode = std::fs::metadata(record.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let precious = folder.path().join("precious");
        std::fs::write(&precious, "keep me").unwrap();
        std::os::unix::fs::symlink(&precious, record.new_file()).unwrap();
        record.write("again").unwrap();
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "keep me");
        assert_eq!(record.read().as_deref(), Some("again"));
    }
}
