//! The tape: one append-only record for each mission, lines of CloudEvents. It holds everything that the mission
//! machine was given and everything that it wanted done, so that a mission can be read afterwards, and run again.
//! `docs/tape.md`.
//!
//! - [`record`]: one line; `writer`: how lines get onto the disk; `chain`: how a change afterwards is found out;
//! - [`folder`]: the files, their names, age and fixing; `recorded`: a list of them; `summary`: one in a few words;
//! - [`mod@exchanges`]: what models were asked in a mission, and what they replied;
//! - [`reader`]: reading them back; `published`: what was published, over all tapes; `window`: a part of that, from the end; [`mod@replay`]: running a mission again; [`follow`]: reading along.
//!
//! What moves something is on the disk before it is carried out: see `Tape::write_permit`.

use std::path::PathBuf;
use std::time::Duration;

use cortex_core::mission::MissionSetup;
use cortex_core::{Effect, Input};
use cortex_protocol::{CloudEvent, EventId, MissionId, MissionStatus};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::envelope::Envelope;

mod chain;
mod confirmations;
pub mod exchanges;
pub mod folder;
pub mod follow;
#[cfg(test)]
mod fuzzed;
mod locked_file;
pub(crate) mod published;
pub mod reader;
pub mod record;
mod recorded;
pub mod replay;
mod summary;
mod window;
mod writer;

#[cfg(test)]
mod tests;

pub use chain::{Change, Integrity};
pub use confirmations::Confirmations;
pub use exchanges::{RecordedExchange, exchanges};
pub use folder::{Folder, PAGE_FOLDER, SKILLS_FOLDER, WORDINGS_FOLDER};
pub use follow::Follower;
pub use reader::Reader;
pub use record::{Body, Entry, Record};
pub use recorded::MOST_RECORDED;
pub use replay::{Question, Replay, Rerun, replay};
pub use summary::{Summary, TapeStatus};

use crate::not_written::{NotWritten, Unrecorded};
use folder::Limits;
use record::{VERSION, entry_line, published_line};
use std::borrow::Cow;
use writer::Writer;

/// How long a step that moves something waits for the disk. A disk that needs longer has failed.
const SYNC_PATIENCE: Duration = Duration::from_secs(5);
/// How long the end of a mission waits for its last lines. They are written even if it takes longer.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// What a line survives before something moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// The loss of power: it is on the disk.
    #[default]
    Disk,
    /// A crash of Cortex: the operating system has it.
    Os,
}

/// Where and how missions are recorded.
#[derive(Debug, Clone)]
pub struct TapeSettings {
    /// The folder of the tapes.
    pub directory: PathBuf,
    /// Whether nothing may move that is not on the tape.
    pub required: bool,
    /// What a line survives before something moves.
    pub flush: Flush,
    /// Longest tape of one mission, in bytes. What comes after that is not written.
    pub max_mission_bytes: u64,
    /// About how large all tapes may be, in bytes. The oldest are removed first, never one that is being written.
    pub max_folder_bytes: u64,
    /// Whether the missions are rehearsed: nothing that acts is called. Their tapes say so.
    pub dry_run: bool,
}

impl TapeSettings {
    /// The usual settings with this folder.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        const MEGABYTE: u64 = 1_000_000;
        Self {
            directory: directory.into(),
            required: true,
            flush: Flush::default(),
            max_mission_bytes: 256 * MEGABYTE,
            max_folder_bytes: 1_024 * MEGABYTE,
            dry_run: false,
        }
    }
}

/// Why a tape can't be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TapeError {
    /// The operating system says no.
    #[error("{}: {problem}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it says.
        problem: std::io::Error,
    },
    /// No mission of that id.
    #[error("there is no tape of a mission '{prefix}' in {}. `cortex tape list` shows them all", directory.display())]
    Missing {
        /// What was looked for.
        prefix: String,
        /// Where.
        directory: PathBuf,
    },
    /// Several missions of that beginning.
    #[error("'{prefix}' is the beginning of several missions; write more of it:\n  {}", listed(.candidates))]
    Ambiguous {
        /// What was looked for.
        prefix: String,
        /// What it may be.
        candidates: Vec<MissionId>,
    },
    /// Written by a Cortex that knows more.
    #[error("the tape has version {version}; this Cortex reads up to {VERSION}. Use a newer one")]
    Newer {
        /// Its version.
        version: u32,
    },
    /// Something else.
    #[error("{} is not a tape: it does not begin like one", path.display())]
    NotATape {
        /// Which file.
        path: PathBuf,
    },
    /// A line of a tape whose inputs or effects this Cortex does not know.
    #[error(
        "line {line} was recorded by cortex {recorded_by} (format {format}), whose inputs and effects this cortex {} \
         (format {VERSION}) can't read: {problem}", env!("CARGO_PKG_VERSION")
    )]
    Unknown {
        /// Which, from 1.
        line: u64,
        /// The version of Cortex that wrote it.
        recorded_by: String,
        /// The version of its format.
        format: u32,
        /// Why.
        problem: String,
    },
    /// A line that is damaged.
    #[error("line {line} can't be read: {problem}")]
    Unreadable {
        /// Which, from 1.
        line: u64,
        /// Why.
        problem: String,
    },
}

fn listed(candidates: &[MissionId]) -> String {
    candidates.iter().map(MissionId::as_str).collect::<Vec<_>>().join("\n  ")
}

/// The tape of one mission, while it is recorded. Never waits for the disk.
pub(crate) struct Tape {
    writer: Writer,
    required: bool,
    envelope: Envelope,
    /// The line that was written last.
    line: u64,
    /// The input whose effects come now.
    cause: Option<EventId>,
}

impl Tape {
    /// A new tape, for the mission of the envelope. The file is made in the background.
    pub(crate) fn begin(settings: &TapeSettings, envelope: &Envelope, tracker: &TaskTracker) -> Self {
        let folder = Folder::new(settings.directory.clone());
        let limits =
            Limits { mission: settings.max_mission_bytes, folder: settings.max_folder_bytes, flush: settings.flush };
        let mission = envelope.mission().clone();
        let opening = Box::new(move || folder.create(&mission, limits));
        let (writer, drain) = writer::queue(opening);
        tracker.spawn(drain.run());
        let mut tape = Self { writer, required: settings.required, envelope: envelope.clone(), line: 0, cause: None };
        let cortex = env!("CARGO_PKG_VERSION").to_owned();
        tape.write(&Entry::Opened { version: VERSION, cortex, dry_run: settings.dry_run });
        tape
    }

    /// What the mission starts with, and the model that it asks.
    pub(crate) fn setup(&mut self, setup: &MissionSetup, model: &str) {
        self.write(&Entry::Setup { setup: Box::new(Cow::Borrowed(setup)), model: Cow::Borrowed(model) });
    }

    /// What the machine is given next, and when.
    pub(crate) fn input(&mut self, at: Duration, input: &Input) {
        self.cause = None;
        let id = self.write(&Entry::Input { at, input: Cow::Borrowed(input) });
        self.cause = Some(id);
    }

    /// What the machine wants done. To be called before it is. What is to be published comes by
    /// [`published`](Self::published) instead, in the form in which others get it.
    pub(crate) fn effect(&mut self, effect: &Effect) {
        if !matches!(effect, Effect::Report { .. }) {
            self.write(&Entry::Effect { effect: Cow::Borrowed(effect) });
        }
    }

    /// What others are told.
    pub(crate) fn published(&mut self, event: &CloudEvent) {
        self.line += 1;
        self.writer.put(published_line(event, self.line, self.cause.as_ref()));
    }

    /// The permit to move something: everything so far must be safe first.
    pub(crate) fn write_permit(&self) -> WritePermit {
        WritePermit::awaiting(self.writer.sync(), self.required)
    }

    /// Writes the last line.
    pub(crate) fn close(&mut self, status: MissionStatus) {
        self.cause = None;
        self.write(&Entry::Closed { status });
    }

    /// Waits until everything is written, or has taken too long.
    pub(crate) async fn written(&self) {
        // A tape that could not be written has said so already.
        let _ = tokio::time::timeout(END_PATIENCE, self.writer.sync()).await;
    }

    fn write(&mut self, entry: &Entry<'_>) -> EventId {
        self.line += 1;
        let (id, line) = entry_line(&self.envelope, self.line, self.cause.as_ref(), entry);
        self.writer.put(line);
        id
    }
}

/// See [`Tape::write_permit`].
pub(crate) struct WritePermit {
    answer: oneshot::Receiver<Result<(), NotWritten>>,
    required: bool,
}

impl WritePermit {
    /// A permit that depends on this answer; where a tape is not required, it is given in any case.
    pub(crate) fn awaiting(answer: oneshot::Receiver<Result<(), NotWritten>>, required: bool) -> Self {
        Self { answer, required }
    }

    /// Waits for the disk.
    ///
    /// # Errors
    /// Why nothing may move.
    pub(crate) async fn granted(self) -> Result<(), Unrecorded> {
        let problem = match tokio::time::timeout(SYNC_PATIENCE, self.answer).await {
            Ok(Ok(Ok(()))) => return Ok(()),
            Ok(Ok(Err(problem))) => problem,
            Ok(Err(_)) => NotWritten::NoAnswer,
            Err(_) => NotWritten::TimedOut { waited: SYNC_PATIENCE },
        };
        if self.required {
            return Err(Unrecorded::OnTape(problem));
        }
        tracing::warn!("something moves that is not on the tape: {problem}");
        Ok(())
    }
}
