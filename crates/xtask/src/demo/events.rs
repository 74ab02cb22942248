//! Everything that a demonstration waits for, in one queue: signals, processes, lines at the prompt.

use std::io::BufRead as _;
use std::process::Child;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, WaitId, WaitIdOptions};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Room for a burst of everything that can happen at once: three processes, a few signals, a line.
const CAPACITY: usize = 32;

/// The kernel and a shell both tell of a closed terminal, and `timeout` signals a process and its group: that is one wish.
const ONCE: Duration = Duration::from_millis(500);

/// A process of the demonstration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Simulator,
    Cortex,
    /// The client that carries one task.
    Client,
}

impl Part {
    /// What a person calls it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Simulator => "the simulated home",
            Self::Cortex => "cortex",
            Self::Client => "the client",
        }
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Ready(Part),
    Exited(Part),
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM, or the terminal is gone.
    Terminated,
    /// What was typed; `None` at the end of the input.
    Line(Option<String>),
}

/// The receiving end of the queue.
#[derive(Debug)]
pub(super) struct Events {
    sender: SyncSender<Event>,
    receiver: Receiver<Event>,
    line_wanted: SyncSender<()>,
}

impl Events {
    /// From now on signals no longer end this process: the caller has to act on them.
    pub(super) fn listen() -> Result<Self> {
        let (sender, receiver) = sync_channel(CAPACITY);
        let (line_wanted, wanted) = sync_channel(1);
        forward_signals(sender.clone())?;
        forward_lines(sender.clone(), wanted)?;
        Ok(Self { sender, receiver, line_wanted })
    }

    /// Where other threads put events.
    pub(super) fn sender(&self) -> SyncSender<Event> {
        self.sender.clone()
    }

    /// The next event; `None` when the deadline has passed.
    pub(super) fn next_before(&self, deadline: Instant) -> Option<Event> {
        // `self` holds a sender, so the queue cannot be closed: an error is the time-out.
        self.receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }

    /// The next event, however long a person thinks about it.
    pub(super) fn next(&self) -> Option<Event> {
        self.receiver.recv().ok()
    }

    /// Asks for one [`Event::Line`]. Nothing is read before that, because the client reads the same terminal.
    pub(super) fn want_line(&self) {
        // A full queue means that a line is wanted already.
        let _ = self.line_wanted.try_send(());
    }

    /// Reports when a child has ended, and leaves it for the caller to collect: until then its process id is its own,
    /// so that a signal to it cannot hit a stranger.
    pub(super) fn watch(&self, part: Part, child: &Child) -> Result<()> {
        let pid = pid_of(child)?;
        let sender = self.sender();
        spawn("watch", move || {
            // An error can only mean that the child is gone already.
            let _ = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = sender.send(Event::Exited(part));
        })
    }
}

/// The process id of a child that was not collected yet.
pub(super) fn pid_of(child: &Child) -> Result<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a child has no process id")
}

/// Starts a thread that may live until the process ends.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop).context("cannot start a thread")
}

fn forward_signals(sender: SyncSender<Event>) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
    spawn("signals", move || {
        let mut terminated: Option<Instant> = None;
        for signal in signals.forever() {
            let event = if signal == SIGINT { Event::Interrupted } else { Event::Terminated };
            if event == Event::Terminated {
                if terminated.is_some_and(|before| before.elapsed() < ONCE) {
                    continue;
                }
                terminated = Some(Instant::now());
            }
            if sender.send(event).is_err() {
                break;
            }
        }
    })
}

fn forward_lines(sender: SyncSender<Event>, wanted: Receiver<()>) -> Result<()> {
    spawn("prompt", move || {
        while wanted.recv().is_ok() {
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            let event = Event::Line(read.is_ok_and(|bytes| bytes > 0).then(|| line.trim().to_owned()));
            if sender.send(event).is_err() {
                break;
            }
        }
    })
}
