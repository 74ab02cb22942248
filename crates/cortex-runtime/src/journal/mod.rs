//! The journal of what is open: the task that runs, and the calls that must be told to halt. Each is in it before it
//! begins, so that the next life of Cortex finds what this one left when it was killed, and ends it.
//!
//! - `file`: the file, its lock, and reading what may be anything; `recovery`: ending what an earlier life left.
//!
//! It is not the tape: that tells what was done, for people, and may be removed; this tells what may still go on.

mod file;
mod recovery;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::Invocation;
use cortex_protocol::{CallId, MissionId, ToolName};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::tape::{Flush, TapeSettings};
use file::JournalFile;
pub(crate) use recovery::recover;

/// How long a call waits for its line. A disk that needs longer has failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// The folder of the journals, within that of the tapes.
pub(crate) const FOLDER: &str = "open-calls";
/// Most characters of a file's name that come from the robot's.
const NAME_CHARACTERS: usize = 100;

/// Where the journal is.
#[derive(Debug, Clone)]
pub struct JournalSettings {
    /// Its file: one for each robot that may run on this machine.
    pub file: PathBuf,
    /// What a line survives before something begins.
    pub flush: Flush,
    /// Whether nothing may begin that is not in it.
    pub required: bool,
}

impl JournalSettings {
    /// The journal of the robot of this name, in a folder of its own within that of the tapes, as safe as they are.
    #[must_use]
    pub fn beside(tape: &TapeSettings, name: &str) -> Self {
        let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
        let name: String = name.trim_matches('/').chars().map(plain).take(NAME_CHARACTERS).collect();
        Self {
            file: tape.directory.join(FOLDER).join(format!("{name}.jsonl")),
            flush: tape.flush,
            required: tape.required,
        }
    }
}

/// A call that an earlier life left open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    mission: MissionId,
    call: CallId,
    tool: ToolName,
}

impl OpenCall {
    fn of(invocation: &Invocation) -> Self {
        Self { mission: invocation.mission.clone(), call: invocation.id, tool: invocation.call.tool.clone() }
    }
}

/// The journal of this life. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Journal {
    settings: Option<Arc<JournalSettings>>,
    /// None before it is opened, and where it could not be.
    file: Arc<Mutex<Option<JournalFile>>>,
}

impl Journal {
    pub(crate) fn new(settings: Option<JournalSettings>) -> Self {
        Self { settings: settings.map(Arc::new), file: Arc::default() }
    }

    /// Whether there is one, which is opened first.
    pub(crate) fn is_kept(&self) -> bool {
        self.settings.is_some()
    }

    /// A task begins. What is lost of it with the power is only its words.
    pub(crate) async fn begin_mission(&self, mission: &MissionId, task: &str) {
        let (mission, task) = (mission.clone(), task.to_owned());
        self.tell(move |file| file.begin_mission(mission, &task)).await;
    }

    /// A task has ended.
    pub(crate) async fn end_mission(&self, mission: &MissionId) {
        let mission = mission.clone();
        self.tell(move |file| file.end_mission(&mission)).await;
    }

    /// A call is about to begin. Comes back when that is where it survives what it shall survive, or the call is cancelled.
    ///
    /// # Errors
    /// Why it must not begin.
    pub(crate) async fn begin_call(
        &self,
        invocation: &Invocation,
        cancelled: &CancellationToken,
    ) -> Result<(), String> {
        let Some(settings) = &self.settings else { return Ok(()) };
        let call = OpenCall::of(invocation);
        let written = tokio::select! {
            biased;
            // Whoever makes the call looks at that next.
            () = cancelled.cancelled() => return Ok(()),
            written = self.on_file(move |file| file.begin_call(call)) => written,
        };
        let Err(problem) = written else { return Ok(()) };
        if settings.required {
            return Err(format!(
                "What begins can't be noted, and nothing may begin that a later life of Cortex would not find: {problem}. \
                 Mend it, or set tape.required = false"
            ));
        }
        tracing::warn!("something begins that is not in the journal: {problem}");
        Ok(())
    }

    /// A call is at rest.
    pub(crate) async fn end_call(&self, invocation: &Invocation) {
        let call = OpenCall::of(invocation);
        self.tell(move |file| file.end_call(&call)).await;
    }

    /// The same for several.
    pub(crate) async fn end_calls(self, invocations: Vec<Invocation>) {
        for invocation in &invocations {
            self.end_call(invocation).await;
        }
    }

    async fn tell(&self, what: impl FnOnce(&mut JournalFile) -> std::io::Result<()> + Send + 'static) {
        if self.is_kept()
            && let Err(problem) = self.on_file(what).await
        {
            tracing::warn!("the journal of what is open is not up to date: {problem}");
        }
    }

    /// Does something with the file where waiting is allowed.
    async fn on_file(
        &self,
        what: impl FnOnce(&mut JournalFile) -> std::io::Result<()> + Send + 'static,
    ) -> Result<(), String> {
        let file = Arc::clone(&self.file);
        let doing =
            tokio::task::spawn_blocking(move || match file.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                Some(file) => what(file).map_err(|problem| problem.to_string()),
                None => Err("it is not open".to_owned()),
            });
        match tokio::time::timeout(PATIENCE, doing).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err("it could not be written".to_owned()),
            Err(_) => Err(format!("the disk did not take it within {} s", PATIENCE.as_secs())),
        }
    }
}

#[cfg(test)]
mod tests;
