//! The long-lived processes of a demonstration: started, waited for, stopped.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::Signal;

use super::events::{self, Event, Events, Part};
use crate::{log, progress};

/// What a process prints when it can be used.
const READY: &str = "ready";

/// What Cortex prints in front of the address of its page.
const PAGE: &str = "page: ";

/// How long a process may take until it can be used. Generous, because the machine may be building something else.
const START_LIMIT: Duration = Duration::from_secs(90);

/// How long a process may take to stop by itself: goals are cancelled and components shut down one after the other.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// One long-lived process, the leader of a process group of its own, so that Ctrl-C at the terminal does not reach it.
#[derive(Debug)]
pub(super) struct Process {
    part: Part,
    child: Child,
    log: PathBuf,
    /// Whether it has told where its page is.
    has_page: Arc<AtomicBool>,
}

impl Process {
    /// Starts it with its output in a log file.
    pub(super) fn start(part: Part, command: &mut Command, log: &Path, events: &Events) -> Result<Self> {
        use std::os::unix::process::CommandExt as _;
        File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let append = || -> Result<File> {
            OpenOptions::new().append(true).open(log).with_context(|| format!("cannot write {}", log.display()))
        };
        let mut child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(append()?))
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let output = child.stdout.take();
        let has_page = Arc::new(AtomicBool::new(false));
        let process = Self { part, child, log: log.to_owned(), has_page: Arc::clone(&has_page) };
        // From here on the process has to be stopped whatever fails, so nothing may be lost to `?`.
        let watching = append().and_then(|log| {
            let sender = events.sender();
            events::spawn("output", move || {
                if let Some(output) = output {
                    follow(part, output, log, &has_page, &sender);
                }
            })?;
            events.watch(part, &process.child)
        });
        match watching {
            Ok(()) => Ok(process),
            Err(error) => {
                process.kill();
                Err(error)
            }
        }
    }

    /// Waits until it can be used. A signal ends the wait with an error.
    pub(super) fn wait_until_ready(&self, events: &Events) -> Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            match events.next_before(deadline) {
                Some(Event::Ready(part)) if part == self.part => return Ok(()),
                Some(Event::Exited(part)) if part == self.part => {
                    bail!("{} ended before it was ready.\n{}", part.title(), self.log_end())
                }
                Some(Event::Exited(part)) => bail!("{} ended", part.title()),
                Some(Event::Interrupted | Event::Terminated) => bail!("stopped by a signal"),
                Some(Event::Ready(_) | Event::Line(_)) => {}
                None => {
                    bail!("{} was not ready after {} s.\n{}", self.part.title(), START_LIMIT.as_secs(), self.log_end())
                }
            }
        }
    }

    pub(super) fn part(&self) -> Part {
        self.part
    }

    /// Whether it has told where its page is, which it does before it is ready.
    pub(super) fn has_page(&self) -> bool {
        self.has_page.load(Ordering::Relaxed)
    }

    /// Where its output is, with the end of it.
    pub(super) fn log_end(&self) -> String {
        format!("Its output is in {}; the last lines:\n{}", self.log.display(), log::last_lines(&self.log))
    }

    /// Asks it to stop, waits, and kills its whole group if it does not. A further signal cuts the wait short.
    ///
    /// Only the leader is asked: it stops its own children in order, and would take them for crashed if they ended
    /// before it knew why.
    pub(super) fn stop(mut self, events: &Events) {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + STOP_LIMIT;
        // `try_wait` answers at once for one that ended, and was reported, before.
        while matches!(self.child.try_wait(), Ok(None)) {
            match events.next_before(deadline) {
                Some(Event::Interrupted | Event::Terminated) | None => {
                    progress::print_line(&format!("{} does not stop: killing it", self.part.title()));
                    self.kill();
                    return;
                }
                Some(Event::Ready(_) | Event::Exited(_) | Event::Line(_)) => {}
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if let Ok(pid) = events::pid_of(&self.child) {
            // An error means that it has ended already.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn kill(mut self) {
        if let Ok(pid) = events::pid_of(&self.child) {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Copies a process's output to its log and reports the line that says it is ready.
fn follow(part: Part, output: impl std::io::Read, mut log: File, has_page: &AtomicBool, sender: &SyncSender<Event>) {
    let mut output = BufReader::new(output);
    let mut ready = false;
    let mut line = Vec::new();
    while matches!(output.read_until(b'\n', &mut line), Ok(bytes) if bytes > 0) {
        // A full disk must not stop the process that prints, so the rest of its output is still read.
        let _ = log.write_all(&line);
        if let Some(page) = line.strip_prefix(PAGE.as_bytes()) {
            has_page.store(true, Ordering::Relaxed);
            progress::say(&format!("The page: {}", String::from_utf8_lossy(page).trim_end()));
        }
        if !ready && line.starts_with(READY.as_bytes()) {
            ready = true;
            let _ = sender.send(Event::Ready(part));
        }
        line.clear();
    }
}
