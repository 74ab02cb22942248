//! Why a memory does not do what it was asked.

use std::path::PathBuf;

use thiserror::Error;

use crate::observation::ObservationProblem;

/// Why a memory does not do what it was asked.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The file can't be made or opened.
    #[error("{file} can't be opened: {problem}. Check the path and its permissions", file = file.display())]
    Unopened {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: String,
    },
    /// Another process has it, or another part of this one.
    #[error(
        "{file} is in use by {holder}. One robot has one memory: stop the other one, or name another file",
        file = file.display()
    )]
    InUse {
        /// Which.
        file: PathBuf,
        /// Who has it, as far as it said so: `process 123`.
        holder: String,
    },
    /// The file is no memory, or is damaged.
    #[error(
        "{file} is damaged or is no memory: {problem}. Have it rebuilt: it is kept aside, and all that can be read of it is taken over",
        file = file.display()
    )]
    Damaged {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A newer Cortex has written it.
    #[error("{file} was written by a newer Cortex (format {format}); use that one, or another file", file = file.display())]
    Newer {
        /// Which.
        file: PathBuf,
        /// Its format.
        format: i64,
    },
    /// There is no more room for it.
    #[error(
        "{file} can't be written: its disk is full, or it has reached its limit of {most_bytes} bytes. Make room, forget something, or raise the limit",
        file = file.display()
    )]
    Full {
        /// Which.
        file: PathBuf,
        /// Most bytes of it.
        most_bytes: u64,
    },
    /// An observation can't be kept; none of those that came with it is.
    #[error("observation {number} can't be kept, and none that came with it is: {problem}")]
    Refused {
        /// Its place among those that came with it, from 1.
        number: usize,
        /// What is wrong with it.
        problem: ObservationProblem,
    },
    /// The rules name no such layer.
    #[error(
        "observation {number} can't be kept, and none that came with it is: there is no layer '{layer}'; there are {known}"
    )]
    NoLayer {
        /// The place of the observation among those that came with it, from 1.
        number: usize,
        /// What it was given.
        layer: String,
        /// The layers that there are.
        known: String,
    },
    /// What was asked for can't be asked.
    #[error(transparent)]
    BadRequest(#[from] ObservationProblem),
    /// There is no such episode, or it has ended.
    #[error("there is no open episode {0}; begin one first")]
    NoEpisode(u64),
    /// What was to be forgotten is gone from the answers, and its bytes may still be in the file.
    #[error("{file} still holds what was to be forgotten, although no answer does: {problem}. Forget it again", file = file.display())]
    NotErased {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: String,
    },
    /// No vectors of what is remembered, or asked for, can be had.
    #[error("the meaning of what is remembered is not known: {problem}")]
    NotEmbedded {
        /// Why.
        problem: String,
    },
    /// Something else went wrong.
    #[error("the memory failed: {problem}")]
    Failed {
        /// What.
        problem: String,
    },
}
