//! The journal of what is open: the task that runs, and the calls that must be told to halt. Each is in it before it
//! begins, so that the next life of Cortex finds what this one left when it was killed, and ends it.
//!
//! - `file`: the file, its lock, and reading what may be anything;
//! - `stop_record`: beside it, whether the robot is stopped.
//!
//! One task writes, one line after the other, so that no end overtakes its beginning. A line is written when the operating
//! system has it: that survives the end of Cortex, however it ends. It need not survive the loss of power, which ends all
//! that runs on the machine, so nothing waits for the disk here.
//!
//! It is not the tape: that tells what was done, for people, and may be removed; this tells what may still go on.

mod file;
mod stop_record;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::Invocation;
use cortex_protocol::{CallId, MissionId, ToolName};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::not_written::{NotWritten, Unrecorded};
use crate::tape::TapeSettings;
use crate::tape::folder::JOURNAL_FOLDER;
use file::{JournalFile, Open};
pub use stop_record::StopRecord;

/// How long an earlier life may take to let go of the journal: it is being killed, maybe.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(100);
/// How long a call waits for its line. A disk that needs longer has failed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Lines that may wait for a slow disk. A mission makes two for each of its calls.
const QUEUE: usize = 4_096;
/// Lines that are written together.
const BATCH: usize = 256;

/// Most characters of a file's name that come from the robot's.
const NAME_CHARACTERS: usize = 100;

/// Where the journal is.
#[derive(Debug, Clone)]
pub struct JournalSettings {
    /// Its file: one for each robot that may run on this machine.
    pub file: PathBuf,
    /// Whether nothing may begin that is not in it.
    pub required: bool,
}

impl JournalSettings {
    /// The journal of the robot of this name, in a folder of its own within that of the tapes.
    #[must_use]
    pub fn beside(tape: &TapeSettings, name: &str) -> Self {
        let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
        let name: String = name.trim_matches('/').chars().map(plain).take(NAME_CHARACTERS).collect();
        Self { file: tape.directory.join(JOURNAL_FOLDER).join(format!("{name}.jsonl")), required: tape.required }
    }
}

/// A call that an earlier life left open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    pub(crate) mission: MissionId,
    pub(crate) call: CallId,
    pub(crate) tool: ToolName,
}

impl OpenCall {
    fn of(invocation: &Invocation) -> Self {
        Self { mission: invocation.mission.clone(), call: invocation.id, tool: invocation.call.tool.clone() }
    }
}

/// The journal of this life. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Journal {
    /// None where none is kept.
    kept: Option<Kept>,
}

#[derive(Clone)]
struct Kept {
    settings: Arc<JournalSettings>,
    /// To the one task that writes, which does one after the other.
    jobs: mpsc::Sender<Job>,
}

/// Something to be done with the file, which is None before it is opened and where it could not be.
type Job = Box<dyn FnOnce(&mut Option<JournalFile>) + Send>;

impl Journal {
    /// To be called on a tokio runtime.
    pub(crate) fn new(settings: Option<JournalSettings>) -> Self {
        let kept = settings.map(|settings| {
            let (jobs, waiting) = mpsc::channel(QUEUE);
            tokio::spawn(keep(waiting));
            Kept { settings: Arc::new(settings), jobs }
        });
        Self { kept }
    }

    /// Opens the file. Everything that is told before is not in it.
    pub(crate) async fn open(&self) -> Result<Open, NotWritten> {
        let Some(settings) = self.kept.as_ref().map(|kept| Arc::clone(&kept.settings)) else {
            return Ok(Open::default());
        };
        self.job(move |place| {
            let began = std::time::Instant::now();
            let (file, earlier) = loop {
                match JournalFile::open(&settings) {
                    Err(problem)
                        if problem.kind() == std::io::ErrorKind::WouldBlock && began.elapsed() < LOCK_PATIENCE =>
                    {
                        std::thread::sleep(LOCK_PAUSE);
                    }
                    opened => {
                        let not_opened = |problem: std::io::Error| NotWritten::NotOpened {
                            file: settings.file.clone(),
                            problem: problem.to_string(),
                        };
                        break opened.map_err(not_opened)?;
                    }
                }
            };
            *place = Some(file);
            Ok(earlier)
        })
        .await
    }

    /// Whether there is one, which is opened first.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// A task begins.
    pub(crate) fn begin_mission(&self, mission: &MissionId, task: &str) {
        let (mission, task) = (mission.clone(), task.to_owned());
        self.note(move |file| file.begin_mission(mission, &task));
    }

    /// A task has ended. Comes back when that is written, with all that came before it.
    pub(crate) async fn end_mission(&self, mission: &MissionId) {
        let mission = mission.clone();
        tell(self.write(move |file| file.end_mission(&mission)).await);
    }

    /// A call is about to begin. Comes back when it is written, or when the call is cancelled.
    ///
    /// # Errors
    /// Why it must not begin.
    pub(crate) async fn begin_call(
        &self,
        invocation: &Invocation,
        cancelled: &CancellationToken,
    ) -> Result<(), Unrecorded> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let call = OpenCall::of(invocation);
        let written = tokio::select! {
            biased;
            // Whoever makes the call looks at that next. What is written all the same comes before its end.
            () = cancelled.cancelled() => return Ok(()),
            written = self.write(move |file| file.begin_call(call)) => written,
        };
        let Err(problem) = written else { return Ok(()) };
        if kept.settings.required {
            return Err(Unrecorded::InJournal(problem));
        }
        tracing::warn!("something begins that is not in the journal: {problem}");
        Ok(())
    }

    /// A call is at rest. Waits for no disk.
    pub(crate) fn end_call(&self, invocation: &Invocation) {
        let call = OpenCall::of(invocation);
        self.note(move |file| file.end_call(&call));
    }

    /// The same for several.
    pub(crate) fn end_calls(&self, invocations: &[Invocation]) {
        invocations.iter().for_each(|invocation| self.end_call(invocation));
    }

    /// Waits until everything so far is written, or has taken too long.
    pub(crate) async fn written(&self) {
        tell(self.write(|_| Ok(())).await);
    }

    /// Has something written after all that came before, without waiting for it.
    fn note(&self, what: impl FnOnce(&mut JournalFile) -> std::io::Result<()> + Send + 'static) {
        let Some(kept) = &self.kept else { return };
        let job: Job = Box::new(move |file| tell(on(file, what)));
        if kept.jobs.try_send(job).is_err() {
            tell(Err(NotWritten::QueueFull));
        }
    }

    /// Has something written after all that came before, and waits for it.
    async fn write(
        &self,
        what: impl FnOnce(&mut JournalFile) -> std::io::Result<()> + Send + 'static,
    ) -> Result<(), NotWritten> {
        if self.is_kept() { self.job(move |file| on(file, what)).await } else { Ok(()) }
    }

    /// Has something done with the file after all that came before, and waits for it.
    async fn job<T: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Option<JournalFile>) -> Result<T, NotWritten> + Send + 'static,
    ) -> Result<T, NotWritten> {
        let Some(kept) = &self.kept else { return Err(NotWritten::NotKept) };
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |file| {
            // Who asked may have given up waiting.
            let _ = reply.send(what(file));
        });
        let done = async {
            kept.jobs.send(job).await.ok()?;
            answer.await.ok()
        };
        match tokio::time::timeout(PATIENCE, done).await {
            Ok(Some(done)) => done,
            Ok(None) => Err(NotWritten::Lost),
            Err(_) => Err(NotWritten::TimedOut { waited: PATIENCE }),
        }
    }
}

fn on(
    file: &mut Option<JournalFile>,
    what: impl FnOnce(&mut JournalFile) -> std::io::Result<()>,
) -> Result<(), NotWritten> {
    match file {
        Some(file) => what(file).map_err(NotWritten::from),
        None => Err(NotWritten::NotOpen),
    }
}

fn tell(written: Result<(), NotWritten>) {
    if let Err(problem) = written {
        tracing::warn!("the journal of what is open is not up to date: {problem}");
    }
}

/// Does the jobs, one after the other, where waiting is allowed; until nobody is left who could give one.
async fn keep(mut jobs: mpsc::Receiver<Job>) {
    let mut file = None;
    loop {
        let mut batch = Vec::new();
        if jobs.recv_many(&mut batch, BATCH).await == 0 {
            return;
        }
        let mut taken = file.take();
        let done = tokio::task::spawn_blocking(move || {
            batch.into_iter().for_each(|job| job(&mut taken));
            taken
        });
        // A job that failed in an unforeseen way has spoiled the file: nothing is written any more.
        file = done.await.unwrap_or_default();
    }
}

#[cfg(test)]
mod tests;
