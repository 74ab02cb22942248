//! The file of a tape, kept from others while it is written or looked at.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};

/// A file with its lock, which is given back when this is dropped.
pub(super) struct LockedFile(File);

impl LockedFile {
    /// Waits for the lock: others hold it for the moment of a look only.
    pub(super) fn wait_for(file: File) -> io::Result<Self> {
        file.lock()?;
        Ok(Self(file))
    }

    /// None: somebody else holds it.
    pub(super) fn alone(file: File) -> Option<Self> {
        file.try_lock().is_ok().then(|| Self(file))
    }

    /// For a look, which others may have at the same time. None: somebody writes it.
    pub(super) fn for_a_look(file: File) -> Option<Self> {
        // Where there are no locks, nobody holds one.
        let is_written = matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock));
        (!is_written).then(|| Self(file))
    }
}

impl Drop for LockedFile {
    /// To close it is not enough: a process that is being started has a copy of it until its own program runs.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for LockedFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tape that had ended while another thread started a process counted as being written for a moment.
    #[test]
    fn regression_the_copy_of_a_process_that_is_being_started_kept_the_tape() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let written = LockedFile::wait_for(File::create(&path).unwrap()).unwrap();
        let copy = written.try_clone().unwrap();
        assert!(LockedFile::for_a_look(File::open(&path).unwrap()).is_none());
        drop(written);
        assert!(LockedFile::alone(File::open(&path).unwrap()).is_some());
        drop(copy);
    }
}
