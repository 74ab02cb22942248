//! One process has a memory at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use super::{beside, unopened};
use crate::error::MemoryError;

/// Keeps the file for this process until it is dropped, or the process dies.
pub(super) struct Lock(File);

impl Lock {
    /// Takes the file.
    pub(super) fn take(file: &Path) -> Result<Self, MemoryError> {
        let path = beside(file, ".lock");
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut lock = options.open(&path).map_err(|problem| unopened(file, &problem))?;
        match lock.try_lock() {
            Ok(()) => {
                // The name is a help for others, no more: a full disk keeps nobody from looking.
                let _ = lock.set_len(0).and_then(|()| write!(lock, "process {}", std::process::id()));
                Ok(Self(lock))
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = lock.take(64).read_to_string(&mut holder);
                let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
                Err(MemoryError::InUse { file: file.to_owned(), holder })
            }
            Err(TryLockError::Error(problem)) => Err(unopened(file, &problem)),
        }
    }
}

impl Drop for Lock {
    /// To close it is not enough: a process that is being started has a copy of it until its own program runs.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory that was closed while another thread started a process could not be opened again for a moment.
    #[test]
    fn regression_the_copy_of_a_process_that_is_being_started_kept_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.sqlite");
        let lock = Lock::take(&file).unwrap();
        let copy = lock.0.try_clone().unwrap();
        assert!(matches!(Lock::take(&file), Err(MemoryError::InUse { .. })));
        drop(lock);
        assert!(Lock::take(&file).is_ok());
        drop(copy);
    }
}
