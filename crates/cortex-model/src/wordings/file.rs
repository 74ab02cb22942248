//! The file of the wordings: read when it has changed, written as a whole.
//!
//! People may change it at any time, and so may the command line. Whoever writes reads it anew first and holds a lock on its
//! folder, so that nothing that was forgotten comes back. What can't be read is told and left alone.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use thiserror::Error;

use super::{BadLine, Lesson, Wording, Wordings};

/// Most bytes of the file: more than all wordings that are kept need.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// Most lines of a file that are named when it is read.
const LINES_TOLD: usize = 10;

/// Why a file can't be used. It is left as it is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WordingsError {
    /// It can't be read or written.
    #[error(
        "the learnt wordings in {path} can't be used: {problem}; fix: see to it that it is a file of your own, or delete it"
    )]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        problem: io::Error,
    },
    /// It is too large.
    #[error("the learnt wordings in {path} have more than {MOST_BYTES} bytes; fix: delete lines, or the file")]
    TooLarge {
        /// Which file.
        path: PathBuf,
    },
}

/// The file of one robot's wordings.
#[derive(Debug, Clone)]
pub struct WordingFile {
    inner: Arc<Inner>,
    is_kept: bool,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// What was read last, and of which state of the file.
    seen: Mutex<Option<(State, Arc<Wordings>)>>,
}

/// By what a changed file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl From<&Metadata> for State {
    fn from(about: &Metadata) -> Self {
        Self { inode: about.ino(), bytes: about.len(), changed: (about.mtime(), about.mtime_nsec()) }
    }
}

impl WordingFile {
    /// The wordings in this file, which need not exist yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { inner: Arc::new(Inner { path, seen: Mutex::default() }), is_kept: true }
    }

    /// The same file, which is not written: what is only rehearsed teaches nothing.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_kept: false, ..self }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// What it holds, and which lines are not used.
    ///
    /// # Errors
    /// When it can't be read. One that does not exist holds nothing.
    pub fn read(&self) -> Result<(Wordings, Vec<BadLine>), WordingsError> {
        Ok(self.inner.read()?.map(|(_, wordings, bad)| (wordings, bad)).unwrap_or_default())
    }

    /// Forgets what these words mean, and returns it.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub fn forget(&self, words: &str) -> Result<Option<Wording>, WordingsError> {
        let mut forgotten = None;
        self.inner.change(|wordings| {
            forgotten = wordings.forget(words);
            forgotten.is_some()
        })?;
        Ok(forgotten)
    }

    /// What it holds now. A file that can't be used is told in the log and holds nothing.
    pub(crate) async fn known(&self) -> Arc<Wordings> {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || inner.known()).await.unwrap_or_default()
    }

    /// Keeps what came of a mission. A file that can't be written is told in the log.
    pub(crate) async fn keep(&self, lesson: Lesson) {
        if !self.is_kept {
            return;
        }
        let inner = Arc::clone(&self.inner);
        let kept = tokio::task::spawn_blocking(move || {
            let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
            inner.change(|wordings| wordings.take(&lesson, &now))
        });
        match kept.await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => tracing::warn!("nothing is learnt: {problem}"),
            Err(problem) => tracing::warn!("nothing is learnt: {problem}"),
        }
    }
}

impl Inner {
    fn failed(&self, problem: io::Error) -> WordingsError {
        WordingsError::Io { path: self.path.clone(), problem }
    }

    fn known(&self) -> Arc<Wordings> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some((state, wordings)), Ok(about)) = (seen.as_ref(), std::fs::metadata(&self.path))
            && *state == State::from(&about)
        {
            return Arc::clone(wordings);
        }
        match self.read() {
            Ok(Some((state, wordings, bad))) => {
                for line in bad.iter().take(LINES_TOLD) {
                    tracing::warn!("learnt wordings, {}, {line}", self.path.display());
                }
                let wordings = Arc::new(wordings);
                *seen = Some((state, Arc::clone(&wordings)));
                wordings
            }
            Ok(None) => Arc::default(),
            Err(problem) => {
                tracing::warn!("{problem}");
                Arc::default()
            }
        }
    }

    /// Reads the file; `None` if there is none.
    fn read(&self) -> Result<Option<(State, Wordings, Vec<BadLine>)>, WordingsError> {
        let about = match std::fs::metadata(&self.path) {
            Ok(about) => about,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(self.failed(problem)),
        };
        if !about.is_file() {
            // To open a pipe waits for whoever writes into it.
            return Err(self.failed(io::Error::other("it is no plain file")));
        }
        let mut bytes = Vec::new();
        let file = File::open(&self.path).map_err(|problem| self.failed(problem))?;
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|problem| self.failed(problem))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(WordingsError::TooLarge { path: self.path.clone() });
        }
        let (wordings, bad) = Wordings::read(&bytes);
        Ok(Some((State::from(&about), wordings, bad)))
    }

    /// Changes the file, if the change says that there is something to write.
    fn change(&self, change: impl FnOnce(&mut Wordings) -> bool) -> Result<(), WordingsError> {
        let failed = |problem| self.failed(problem);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        // Held until it is dropped.
        let lock = File::open(folder).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut wordings = self.read()?.map(|(_, wordings, _)| wordings).unwrap_or_default();
        if !change(&mut wordings) {
            return Ok(());
        }
        let written = wordings.written();
        if written.len() as u64 > MOST_BYTES {
            return Err(WordingsError::TooLarge { path: self.path.clone() });
        }
        let new = self.path.with_extension("new");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(failed)?;
        file.write_all(&written).and_then(|()| file.sync_all()).map_err(failed)?;
        std::fs::rename(&new, &self.path).map_err(failed)
    }
}
