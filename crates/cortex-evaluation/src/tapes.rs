//! Which recordings are meant, and a recording as a model.

use std::path::{Path, PathBuf};

use cortex_model::{RecordedReply, ReplayModel};
use cortex_protocol::MissionId;
use cortex_runtime::tape::{Folder, Reader, TapeError, exchanges};
use thiserror::Error;

/// One tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Of which mission, as its file is named.
    pub mission: MissionId,
    /// Where it is.
    pub path: PathBuf,
}

/// Why recordings can't be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TapesError {
    /// One of them can't be read.
    #[error("{}: {problem}", path.display())]
    Tape {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        problem: TapeError,
    },
    /// No mission, file or folder of that name.
    #[error("'{named}' is neither a file nor a folder, and {problem}")]
    Unknown {
        /// What was named.
        named: String,
        /// Why it is no mission.
        #[source]
        problem: TapeError,
    },
    /// A recording that is to answer holds nothing that it could say.
    #[error("{} holds no reply of a model; name a tape, or a folder of tapes, of missions in which one was asked", path.display())]
    NoReplies {
        /// Where.
        path: PathBuf,
    },
}

/// The tapes that are meant by these words: files, folders of tapes, and beginnings of the ids of missions of `folder`. No
/// words: all tapes of `folder`. Each comes once, in the order of the words, and the tapes of a folder from the oldest on. Those
/// that are still being written are left out.
///
/// # Errors
/// When a word means nothing, or a folder can't be read.
pub fn recordings(words: &[String], folder: &Folder) -> Result<Vec<Recording>, TapesError> {
    let mut found: Vec<Recording> = Vec::new();
    let mut add = |recordings: Vec<Recording>| {
        for recording in recordings {
            if found.iter().all(|known| known.path != recording.path) {
                found.push(recording);
            }
        }
    };
    if words.is_empty() {
        add(all_of(folder)?);
    }
    for word in words {
        let path = Path::new(word);
        if path.is_dir() {
            add(all_of(&Folder::new(path.to_owned()))?);
        } else if path.is_file() {
            add(vec![of_file(path)]);
        } else {
            let unknown = |problem| TapesError::Unknown { named: word.clone(), problem };
            let mission = folder.find(word).map_err(unknown)?;
            add(vec![Recording { path: folder.path(&mission), mission }]);
        }
    }
    Ok(found)
}

fn of_file(path: &Path) -> Recording {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    Recording { mission: MissionId::new(stem.into_owned()), path: path.to_owned() }
}

fn all_of(folder: &Folder) -> Result<Vec<Recording>, TapesError> {
    let wrong = |problem| TapesError::Tape { path: folder.directory().to_owned(), problem };
    let missions = folder.missions().map_err(wrong)?;
    let ended = missions.into_iter().filter(|mission| !folder.is_being_written(mission));
    Ok(ended.map(|mission| Recording { path: folder.path(&mission), mission }).collect())
}

/// A model that gives the replies of a tape, or of all tapes of a folder, and the tapes of the folder that can't be read.
/// `label` is what people call the model.
///
/// # Errors
/// When nothing can be read, or what can be read holds no reply.
pub fn replay_model(path: &Path, label: String) -> Result<(ReplayModel, Vec<TapesError>), TapesError> {
    let recordings = if path.is_dir() { all_of(&Folder::new(path.to_owned()))? } else { vec![of_file(path)] };
    let (mut replies, mut unread) = (Vec::new(), Vec::new());
    for recording in recordings {
        match replies_of(&recording) {
            Ok(of_mission) => replies.extend(of_mission),
            Err(problem) => unread.push(TapesError::Tape { path: recording.path, problem }),
        }
    }
    if replies.is_empty() {
        let nothing = TapesError::NoReplies { path: path.to_owned() };
        return Err(unread.into_iter().next().unwrap_or(nothing));
    }
    Ok((ReplayModel::new(label, replies), unread))
}

fn replies_of(recording: &Recording) -> Result<Vec<RecordedReply>, TapeError> {
    let mut reader = Reader::open(&recording.path)?;
    let exchanges = exchanges(&mut reader)?.into_iter();
    let replied = exchanges.filter_map(|exchange| {
        let place = format!("mission {}, line {}", recording.mission, exchange.line);
        Some(RecordedReply { place, request: exchange.request, reply: exchange.reply? })
    });
    Ok(replied.collect())
}
