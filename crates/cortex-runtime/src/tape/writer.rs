//! Gets lines onto the disk, behind a bounded queue: whoever records never waits for the disk.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

use super::chain::{Chain, LINK_BYTES};
use crate::not_written::NotWritten;

/// Jobs that may wait for a slow disk. A mission makes a few for each thing that happens.
const QUEUE: usize = 4_096;
/// What may wait in bytes: a few of the longest lines. A disk that is further behind has failed.
const QUEUE_BYTES: usize = 64 * 1024 * 1024;
/// Jobs that are written together.
const BATCH: usize = 256;

/// Where lines go.
pub(super) trait Medium: Send {
    /// Adds whole lines, or none of their bytes.
    fn append(&mut self, lines: &[u8]) -> io::Result<()>;

    /// Comes back when everything is where it survives what it shall survive.
    fn sync(&mut self) -> io::Result<()>;
}

/// Makes the medium. Called once, where waiting is allowed.
pub(super) type Opening = Box<dyn FnOnce() -> io::Result<Box<dyn Medium>> + Send>;

/// What the writer is told.
enum Job {
    Line(Vec<u8>),
    Sync(oneshot::Sender<Result<(), NotWritten>>),
}

/// The near end of the queue.
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
    waiting_bytes: Arc<AtomicUsize>,
    /// The first thing that went wrong. From then on nothing is written: a tape with a gap can't be trusted.
    problem: Arc<OnceLock<NotWritten>>,
}

/// The far end: to be run as a task.
pub(super) struct Drain {
    jobs: mpsc::Receiver<Job>,
    waiting_bytes: Arc<AtomicUsize>,
    problem: Arc<OnceLock<NotWritten>>,
    opening: Opening,
}

/// A queue to a medium that is yet to be opened.
pub(super) fn queue(opening: Opening) -> (Writer, Drain) {
    let (sender, jobs) = mpsc::channel(QUEUE);
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let problem = Arc::new(OnceLock::new());
    let drain = Drain { jobs, waiting_bytes: Arc::clone(&waiting_bytes), problem: Arc::clone(&problem), opening };
    (Writer { jobs: sender, waiting_bytes, problem }, drain)
}

impl Writer {
    /// Has a line written after all that came before, with the hash of the line before. Never waits.
    pub(super) fn put(&self, line: Vec<u8>) {
        if self.problem.get().is_some() {
            return;
        }
        let bytes = line.len();
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::AcqRel);
        if before + bytes > QUEUE_BYTES || self.jobs.try_send(Job::Line(line)).is_err() {
            self.waiting_bytes.fetch_sub(bytes, Ordering::AcqRel);
            self.give_up(NotWritten::TooSlow);
        }
    }

    /// What resolves when every line so far is safe, or when it is known that it is not.
    pub(super) fn sync(&self) -> oneshot::Receiver<Result<(), NotWritten>> {
        let (reply, answer) = oneshot::channel();
        match self.problem.get() {
            // Who asked may have left; then nobody needs the answer.
            Some(problem) => drop(reply.send(Err(problem.clone()))),
            None if self.jobs.try_send(Job::Sync(reply)).is_err() => self.give_up(NotWritten::TooSlow),
            None => {}
        }
        answer
    }

    /// Writes nothing any more.
    pub(super) fn give_up(&self, problem: NotWritten) {
        give_up(&self.problem, problem);
    }
}

/// The medium, before and after its opening.
enum Place {
    Closed(Opening),
    Open(Box<dyn Medium>, Chain),
    Lost,
}

impl Place {
    fn write(self, lines: Vec<Vec<u8>>, sync: bool) -> (Self, Result<(), NotWritten>) {
        let opened = match self {
            Self::Closed(opening) => opening().map(|medium| (medium, Chain::default())),
            Self::Open(medium, chain) => Ok((medium, chain)),
            Self::Lost => return (Self::Lost, Err(NotWritten::NotOpen)),
        };
        let (mut medium, mut chain) = match opened {
            Ok(opened) => opened,
            Err(problem) => return (Self::Lost, Err(problem.into())),
        };
        // Here, where waiting is allowed: the hash of a long line takes milliseconds.
        let mut linked = Vec::with_capacity(lines.iter().map(|line| line.len() + LINK_BYTES).sum());
        for mut line in lines {
            chain.link(&mut line);
            linked.extend(line);
        }
        let appended = if linked.is_empty() { Ok(()) } else { medium.append(&linked) };
        let written = appended.and_then(|()| if sync { medium.sync() } else { Ok(()) });
        (Self::Open(medium, chain), written.map_err(NotWritten::from))
    }
}

impl Drain {
    /// Writes until the near end is gone and all is written.
    pub(super) async fn run(mut self) {
        let mut place = Place::Closed(self.opening);
        loop {
            let mut batch = Vec::new();
            if self.jobs.recv_many(&mut batch, BATCH).await == 0 {
                return;
            }
            let (mut lines, mut waiting) = (Vec::new(), Vec::new());
            for job in batch {
                match job {
                    Job::Line(line) => lines.push(line),
                    Job::Sync(reply) => waiting.push(reply),
                }
            }
            let (bytes, sync) = (lines.iter().map(Vec::len).sum(), !waiting.is_empty());
            if self.problem.get().is_none() {
                let taken = std::mem::replace(&mut place, Place::Lost);
                let written = tokio::task::spawn_blocking(move || taken.write(lines, sync)).await;
                let (kept, outcome) = written.unwrap_or_else(|_| (Place::Lost, Err(NotWritten::WriterFailed)));
                place = kept;
                if let Err(problem) = outcome {
                    give_up(&self.problem, problem);
                }
            }
            self.waiting_bytes.fetch_sub(bytes, Ordering::AcqRel);
            for reply in waiting {
                let answer = self.problem.get().map_or(Ok(()), |problem| Err(problem.clone()));
                // Who asked may have given up waiting.
                let _ = reply.send(answer);
            }
        }
    }
}

fn give_up(known: &OnceLock<NotWritten>, problem: NotWritten) {
    if known.set(problem.clone()).is_ok() {
        tracing::error!("the tape is not written any more: {problem}");
    }
}
