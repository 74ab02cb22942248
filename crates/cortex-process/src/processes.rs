//! All processes of one owner.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use tracing::Level;

use crate::limits::{Cgroups, Group, Refusal};
use crate::output::{Line, Reading, Stream};
use crate::printed::Printed;
use crate::process_tag::RunTag;
use crate::reaper::Reaper;
use crate::running::{Ending, Program, Running, StartError};

/// How long what is still there when the owner is dropped may take to end.
const DROP_GRACE: Duration = Duration::from_secs(2);

/// Something that happened to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It has ended, with all that it had started.
    Ended {
        /// Its number.
        number: u64,
        /// How.
        ending: Ending,
    },
}

/// Wakes the thread that waits in [`Processes::wait`]. Clones wake the same one.
#[derive(Debug, Clone)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Makes the current or the next wait return at once. Never blocks.
    pub fn wake(&self) {
        // It fails only when it was woken 2^64 times without a look: then it is awake.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

/// The processes that one thread has started and watches.
pub struct Processes {
    run: RunTag,
    running: BTreeMap<u64, Running>,
    wake: Arc<OwnedFd>,
    sink: Box<dyn FnMut(Line<'_>) + Send>,
    reaper: Option<Reaper>,
    withheld: fn(&str) -> bool,
    /// Where the control groups of processes with limits are made.
    groups: Result<Cgroups, Refusal>,
    /// Control groups that were not empty when their processes had ended.
    left: Vec<Group>,
}

/// Logs what a component printed. A line of its own log is on `/rosout` already (`rosout = false`).
fn log(line: &Line<'_>) {
    let (component, Printed { level, text }) = (line.name, Printed::read(line.text));
    match level {
        Some(Level::ERROR) => tracing::error!(rosout = false, component, "{text}"),
        Some(Level::WARN) => tracing::warn!(rosout = false, component, "{text}"),
        Some(Level::INFO) => tracing::info!(rosout = false, component, "{text}"),
        Some(_) => tracing::debug!(rosout = false, component, "{text}"),
        None if line.stream == Stream::Error => tracing::warn!(component, "{text}"),
        None => tracing::info!(component, "{text}"),
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Processes").field("running", &self.running).finish_non_exhaustive()
    }
}

/// What a poll was about.
#[derive(Clone, Copy)]
enum Source {
    Wake,
    End(u64),
    Pipe(u64, Stream),
}

impl Processes {
    /// Without processes. Their lines go to the log, each with the name of its process.
    ///
    /// # Errors
    /// When the operating system has no more handles.
    pub fn new() -> std::io::Result<Self> {
        Self::with_sink(|line| log(&line))
    }

    /// The same with another place for the lines. The sink must not block.
    ///
    /// # Errors
    /// When the operating system has no more handles.
    pub fn with_sink(sink: impl FnMut(Line<'_>) + Send + 'static) -> std::io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            run: RunTag::of_new_owner(),
            running: BTreeMap::new(),
            wake: Arc::new(wake),
            sink: Box::new(sink),
            reaper: None,
            withheld: |_| false,
            groups: Cgroups::own(),
            left: Vec::new(),
        })
    }

    /// Has everything ended when this process dies, however it dies. `command` runs [`reaper::run`](crate::reaper::run)
    /// with [`Processes::run`].
    ///
    /// # Errors
    /// When the command can't be started.
    pub fn reaped_by(mut self, command: std::process::Command) -> Result<Self, StartError> {
        self.reaper = Some(Reaper::start(command)?);
        Ok(self)
    }

    /// Keeps variables of this process from those that are started: those for which `withheld` is true, unless a program
    /// names them itself.
    #[must_use]
    pub fn withholding(mut self, withheld: fn(&str) -> bool) -> Self {
        self.withheld = withheld;
        self
    }

    /// Keeps limits by groups below this one. Without it: below the one that this process is in.
    #[must_use]
    pub fn limited_by(mut self, groups: Cgroups) -> Self {
        self.groups = Ok(groups);
        self
    }

    /// Why the limits of a process that runs are not kept. None: they are, or it has none.
    #[must_use]
    pub fn unlimited(&self, number: u64) -> Option<&Refusal> {
        self.running.get(&number)?.unlimited()
    }

    /// The tag that all of its processes carry.
    #[must_use]
    pub fn run(&self) -> &RunTag {
        &self.run
    }

    /// Wakes the owner from other threads.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.wake))
    }

    /// How many run.
    #[must_use]
    pub fn count(&self) -> usize {
        self.running.len()
    }

    /// Starts a process; gives its id. `number` is the caller's name for it and must not be in use.
    ///
    /// Limits that can't be kept do not hold it up: [`Processes::unlimited`] tells why they are not.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(&mut self, number: u64, program: Program) -> Result<u32, StartError> {
        if self.running.contains_key(&number) {
            let source = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
            return Err(StartError { program: program.program, source });
        }
        self.left.retain(|group| !group.remove());
        let running = Running::start(program, number, &self.run, self.withheld, &self.groups)?;
        let id = running.id();
        let Program { name, program, .. } = running.program();
        tracing::info!(component = %name, process = id, number, "started: {program}");
        self.running.insert(number, running);
        Ok(id)
    }

    /// Asks a process and all of its group to end (SIGTERM), and kills them after `grace`. Its end is told by
    /// [`Processes::wait`]. One that has ended needs nothing.
    pub fn stop(&mut self, number: u64, grace: Duration) {
        if let Some(running) = self.running.get_mut(&number) {
            running.ask_to_end(grace);
        }
    }

    /// Waits until a process has ended, the waker was used, or `limit` is over; None waits without end. Meanwhile lines
    /// are passed on, and those are killed whose grace is over.
    pub fn wait(&mut self, limit: Option<Duration>) -> Vec<ProcessEvent> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let now = Instant::now();
            for running in self.running.values_mut().filter(|running| running.kill_at().is_some_and(|at| at <= now)) {
                running.kill();
            }
            let next_kill = self.running.values().filter_map(Running::kill_at).min();
            let next = [until, next_kill].into_iter().flatten().min();
            let ready = self.poll(next.map(|next| next.saturating_duration_since(now)));
            let mut events = Vec::new();
            let mut is_woken = false;
            for source in ready {
                match source {
                    Source::Wake => is_woken |= self.take_wake(),
                    Source::Pipe(number, stream) => {
                        if let Some(running) = self.running.get_mut(&number) {
                            let _: Reading = running.read(stream, &mut self.sink);
                        }
                    }
                    Source::End(number) => events.extend(self.collect(number)),
                }
            }
            if is_woken || !events.is_empty() || until.is_some_and(|until| until <= Instant::now()) {
                return events;
            }
        }
    }

    fn collect(&mut self, number: u64) -> Option<ProcessEvent> {
        let running = self.running.remove(&number)?;
        let (name, id) = (running.program().name.clone(), running.id());
        let (ending, left) = running.collect(&mut self.sink);
        self.left.extend(left);
        tracing::info!(component = %name, process = id, number, "ended: {ending}");
        Some(ProcessEvent::Ended { number, ending })
    }

    /// What is ready now or becomes so within the limit: pipes before ends, so that last words come first.
    fn poll(&self, limit: Option<Duration>) -> Vec<Source> {
        let mut sources = vec![Source::Wake];
        let mut handles = vec![PollFd::new(&*self.wake, PollFlags::IN)];
        for (number, running) in &self.running {
            for (stream, pipe) in running.pipes() {
                sources.push(Source::Pipe(*number, stream));
                handles.push(PollFd::from_borrowed_fd(pipe, PollFlags::IN));
            }
            sources.push(Source::End(*number));
            handles.push(PollFd::from_borrowed_fd(running.handle(), PollFlags::IN));
        }
        let limit = limit.map(|limit| Timespec {
            tv_sec: limit.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        });
        // A signal that interrupts it makes it an empty look.
        if poll(&mut handles, limit.as_ref()).is_err() {
            return Vec::new();
        }
        let ready = sources.into_iter().zip(&handles).filter(|(_, handle)| !handle.revents().is_empty());
        ready.map(|(source, _)| source).collect()
    }

    fn take_wake(&self) -> bool {
        let mut count = [0; 8];
        rustix::io::read(&*self.wake, &mut count).is_ok()
    }
}

impl Drop for Processes {
    /// Ends what still runs, within bounds.
    fn drop(&mut self) {
        let numbers: Vec<u64> = self.running.keys().copied().collect();
        for number in numbers {
            self.stop(number, DROP_GRACE);
        }
        let deadline = Instant::now() + DROP_GRACE * 2;
        while !self.running.is_empty() && Instant::now() < deadline {
            self.wait(Some(deadline.saturating_duration_since(Instant::now())));
        }
        for group in &self.left {
            group.remove();
        }
    }
}
