//! Why the tape or the journal does not have something, and why nothing begins then.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why a line is not where it survives what it shall survive.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum NotWritten {
    /// The operating system says no.
    #[error("{problem}")]
    Disk { kind: io::ErrorKind, problem: String },
    #[error("{}: {problem}", .file.display())]
    NotOpened { file: PathBuf, problem: String },
    #[error("it is not open")]
    NotOpen,
    #[error("there is none")]
    NotKept,
    #[error("the disk is too slow: too much waits to be written")]
    TooSlow,
    #[error("too much waits to be written")]
    QueueFull,
    #[error("the disk did not take it within {} s", .waited.as_secs())]
    TimedOut { waited: Duration },
    #[error("its writer has failed or was ended")]
    WriterFailed,
    #[error("its writer is gone, or too much waits for it")]
    NoAnswer,
    #[error("it could not be written")]
    Lost,
}

impl From<io::Error> for NotWritten {
    fn from(problem: io::Error) -> Self {
        Self::Disk { kind: problem.kind(), problem: problem.to_string() }
    }
}

/// Why nothing was called: it could not be recorded. Whoever records can't go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unrecorded {
    #[error(
        "The mission can't be recorded, and nothing may move that is not on the tape: {0}. Fix it, or set tape.required = \
         false"
    )]
    OnTape(NotWritten),
    #[error(
        "What begins can't be noted, and nothing may begin that a later life of Cortex would not find: {0}. Fix it, or set \
         tape.required = false"
    )]
    InJournal(NotWritten),
}
