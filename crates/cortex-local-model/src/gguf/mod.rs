//! Whether a file can be loaded, found before the engine sees it: engines abort on files that are broken, or fail with a word.
//!
//! Only the head of the file is read, which says where each part of the rest lies. Nothing that it says is believed beyond the
//! length of the file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

mod head;
mod sizes;

use head::{Head, HeadError};

/// What a model is, as its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Such as `llama` or `qwen3`.
    pub architecture: String,
    /// Its own name. May be empty.
    pub name: String,
    /// Bytes that its numbers take.
    pub weights: u64,
    /// Bytes that one token of a conversation takes while it is held. None: the file does not say enough.
    pub token: Option<u64>,
    /// Tokens of a conversation that it was trained for. None: the file does not say.
    pub trained_tokens: Option<u64>,
}

/// Why a file can't be loaded. Each says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GgufError {
    /// It is not there, or can't be read.
    #[error("the model's file {} can't be read: {source}; check its path and who may read it", file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a folder, or something else.
    #[error("{} is no file; give the path of one model in the format GGUF", file.display())]
    NoFile {
        /// Which.
        file: PathBuf,
    },
    /// It is something else.
    #[error("{} is no model in the format GGUF; convert the model, or get it in that format", file.display())]
    NotGguf {
        /// Which.
        file: PathBuf,
    },
    /// The format has other versions.
    #[error("{} has version {version} of the format GGUF, and 2 and 3 are known; convert the model anew", file.display())]
    Version {
        /// Which.
        file: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It ends too early.
    #[error("{} is cut: it has {} and needs {}; copy it again", file.display(), bytes(*has), bytes(*needs))]
    Cut {
        /// Which.
        file: PathBuf,
        /// Its bytes.
        has: u64,
        /// The bytes that it needs, at least.
        needs: u64,
    },
    /// Its head makes no sense.
    #[error("{} is damaged: {problem}; copy or convert it again", file.display())]
    Damaged {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is a part of a model, or a model for something else.
    #[error("{} is no language model but {what} ({architecture}); give the file of a model for chats", file.display())]
    NoLanguageModel {
        /// Which.
        file: PathBuf,
        /// What it is.
        architecture: String,
        /// The same in words.
        what: &'static str,
    },
    /// There is not enough memory.
    #[error(
        "{} does not fit into the memory: it needs {} and {} are free; use a smaller model, one in fewer bits, or a smaller \
         local_model.context_tokens",
        file.display(), bytes(*needs), bytes(*free)
    )]
    TooLarge {
        /// Which.
        file: PathBuf,
        /// Bytes of its weights and of the conversation.
        needs: u64,
        /// Bytes that are free.
        free: u64,
    },
}

/// Architectures that can't answer in words.
const OTHER_ARCHITECTURES: [(&str, &str); 9] = [
    ("clip", "the part of a model that sees"),
    ("bert", "a model that turns texts into vectors"),
    ("modern-bert", "a model that turns texts into vectors"),
    ("nomic-bert", "a model that turns texts into vectors"),
    ("nomic-bert-moe", "a model that turns texts into vectors"),
    ("jina-bert-v2", "a model that turns texts into vectors"),
    ("t5encoder", "a model that turns texts into vectors"),
    ("whisper", "a model that hears"),
    ("wavtokenizer-dec", "a model that speaks"),
];

/// Reads what the file says it is, and checks that it is all there.
///
/// # Errors
/// When it can't be loaded, whatever memory there is.
pub fn check(file: &Path) -> Result<Facts, GgufError> {
    let unreadable = |source| GgufError::Unreadable { file: file.to_owned(), source };
    let metadata = std::fs::metadata(file).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(GgufError::NoFile { file: file.to_owned() });
    }
    let opened = File::open(file).map_err(unreadable)?;
    let has = metadata.len();
    let head = Head::read(opened, has).map_err(|error| match error {
        HeadError::Unreadable(source) => unreadable(source),
        HeadError::NotGguf => GgufError::NotGguf { file: file.to_owned() },
        HeadError::Version(version) => GgufError::Version { file: file.to_owned(), version },
        HeadError::Cut { needs } => GgufError::Cut { file: file.to_owned(), has, needs },
        HeadError::Damaged(problem) => GgufError::Damaged { file: file.to_owned(), problem },
    })?;
    if head.end > has {
        return Err(GgufError::Cut { file: file.to_owned(), has, needs: head.end });
    }
    let other = OTHER_ARCHITECTURES.iter().find(|(name, _)| *name == head.architecture);
    if let Some((_, what)) = other {
        return Err(GgufError::NoLanguageModel { file: file.to_owned(), architecture: head.architecture, what });
    }
    Ok(Facts {
        token: head.bytes_of_a_token(),
        trained_tokens: head.trained_tokens,
        architecture: head.architecture,
        name: head.name,
        weights: head.weights,
    })
}

/// Checks that a model and a conversation of so many tokens fit into so many free bytes.
///
/// # Errors
/// When they do not.
pub fn check_memory(file: &Path, facts: &Facts, context_tokens: u64, free: u64) -> Result<(), GgufError> {
    let conversation = facts.token.unwrap_or(0).saturating_mul(context_tokens);
    let needs = facts.weights.saturating_add(conversation);
    if needs <= free { Ok(()) } else { Err(GgufError::TooLarge { file: file.to_owned(), needs, free }) }
}

/// The bytes of memory that programs can have, as `/proc/meminfo` tells them. None: it does not.
#[must_use]
pub fn free_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Bytes for people.
fn bytes(bytes: u64) -> String {
    const KILO: u64 = 1_000;
    match bytes {
        0..KILO => format!("{bytes} bytes"),
        _ => {
            #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
            let megabytes = bytes as f64 / 1e6;
            if megabytes < 10_000.0 { format!("{megabytes:.3} MB") } else { format!("{:.1} GB", megabytes / 1e3) }
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
