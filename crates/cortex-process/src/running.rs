//! One process.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};
use thiserror::Error;

use crate::inheritance;
use crate::limits::{Cgroups, Group, Limits, Refusal};
use crate::output::{Line, Lines, Reading, Stream};
use crate::process_tag::{RunTag, Tagged, VARIABLE};

/// How many chunks of its last words are read when a process has ended.
const LAST_CHUNKS: u32 = 16;

/// The value of a variable that a program is to have from this process.
pub const INHERITED: &str = "{inherited}";

/// What is to be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// What it is called in the log.
    pub name: String,
    /// A name that is looked up in `PATH` and beside the program of this process, or a path: see [`Program::file`].
    pub program: String,
    /// Its arguments; no shell reads them.
    pub arguments: Vec<String>,
    /// Variables beyond those of this process. One whose value is [`INHERITED`] has that of this process, also where it is
    /// withheld from others.
    pub environment: BTreeMap<String, String>,
    /// The folder that it runs in. None: that of this process.
    pub directory: Option<PathBuf>,
    /// What it may use.
    pub limits: Limits,
}

/// A process could not be started.
#[derive(Debug, Error)]
#[error("{program} can't be started: {source}")]
pub struct StartError {
    /// The program.
    pub program: String,
    /// Why.
    pub source: std::io::Error,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With an exit status.
    Exited {
        /// Which.
        status: i32,
    },
    /// By a signal. One that nobody here sent, and that is 9 (SIGKILL), is what the kernel sends when there is no memory
    /// left.
    Signalled {
        /// Which.
        signal: i32,
        /// Whether it was asked to end before.
        by_us: bool,
    },
    /// The kernel killed it, since it needed more memory than its limit.
    OutOfMemory {
        /// The limit.
        limit_bytes: u64,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { status } => write!(formatter, "exit status {status}"),
            Self::Signalled { signal, by_us } => {
                write!(formatter, "signal {signal}{}", if *by_us { ", sent by Cortex" } else { "" })
            }
            Self::OutOfMemory { limit_bytes } => {
                write!(formatter, "killed for memory, limit {limit_bytes} bytes")
            }
        }
    }
}

/// The number of SIGKILL.
const KILL: i32 = 9;

/// The name of a control group: of the component, and of this life of its process.
fn group_name(name: &str, run: &RunTag, number: u64) -> String {
    /// Most characters of the component's name.
    const NAMED: usize = 60;
    let plain = |next: char| if next.is_ascii_alphanumeric() || next == '_' { next } else { '-' };
    let name: String = name.chars().take(NAMED).map(plain).collect();
    format!("component-{name}-{run}-{number}")
}

fn spawn(program: &Program, tag: &str, withheld: fn(&str) -> bool, group: Option<&Group>) -> std::io::Result<Child> {
    // Where there is none, the start says so.
    let file = program.file().unwrap_or_else(|| PathBuf::from(&program.program));
    let mut command = Command::new(file);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| withheld(name) && !program.environment.contains_key(name)) {
            command.env_remove(name);
        }
    }
    command
        .args(&program.arguments)
        .envs(program.environment.iter().filter(|(_, value)| *value != INHERITED))
        .env(VARIABLE, tag)
        // Its own group: Ctrl-C at the terminal is for Cortex, which ends everything in order.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    inheritance::keep_nothing(&mut command);
    if let Some(group) = group {
        inheritance::enter(&mut command, &group.entrance)?;
    }
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    command.spawn()
}

/// A pipe, until its end, and the lines that come out of it.
type Printed<P> = Option<(P, Lines)>;

/// A process that runs, the leader of a group of its own.
#[derive(Debug)]
pub(crate) struct Running {
    program: Program,
    number: u64,
    run: RunTag,
    child: Child,
    pid: Pid,
    handle: OwnedFd,
    output: Printed<ChildStdout>,
    error: Printed<ChildStderr>,
    asked_to_end: bool,
    /// When it is killed, if it was asked to end and was not killed yet.
    kill_at: Option<Instant>,
    /// The control group that keeps its limits, or why there is none.
    group: Option<Result<Group, Refusal>>,
}

impl Running {
    pub(crate) fn start(
        program: Program,
        number: u64,
        run: &RunTag,
        withheld: fn(&str) -> bool,
        groups: &Result<Cgroups, Refusal>,
    ) -> Result<Self, StartError> {
        let failed = |source: std::io::Error| StartError { program: program.program.clone(), source };
        let group = (!program.limits.is_empty())
            .then(|| groups.clone()?.make(&group_name(&program.name, run, number), program.limits));
        let (mut child, group) = match group {
            Some(Ok(group)) => match spawn(&program, &run.of(number), withheld, Some(&group)) {
                Ok(child) => (child, Some(Ok(group))),
                Err(problem) => {
                    group.remove();
                    // It may be the group that can't be entered: limits hold nothing up.
                    let child = spawn(&program, &run.of(number), withheld, None).map_err(failed)?;
                    (child, Some(Err(Refusal::new(&problem))))
                }
            },
            group => (spawn(&program, &run.of(number), withheld, None).map_err(failed)?, group),
        };
        // From here on it runs, so a failure has to end it.
        match Self::watch(&mut child) {
            Ok((pid, handle, output, error)) => Ok(Self {
                program,
                number,
                run: run.clone(),
                child,
                pid,
                handle,
                output,
                error,
                asked_to_end: false,
                kill_at: None,
                group,
            }),
            Err(problem) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(failed(problem))
            }
        }
    }

    fn watch(child: &mut Child) -> std::io::Result<(Pid, OwnedFd, Printed<ChildStdout>, Printed<ChildStderr>)> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(std::io::ErrorKind::InvalidData)?;
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        let output = child.stdout.take().map(|pipe| (pipe, Lines::new(Stream::Output)));
        let error = child.stderr.take().map(|pipe| (pipe, Lines::new(Stream::Error)));
        if let Some((pipe, _)) = &output {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        if let Some((pipe, _)) = &error {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok((pid, handle, output, error))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Why its limits are not kept, if they are not.
    pub(crate) fn unlimited(&self) -> Option<&Refusal> {
        self.group.as_ref()?.as_ref().err()
    }

    pub(crate) fn kill_at(&self) -> Option<Instant> {
        self.kill_at
    }

    /// Readable when it has ended.
    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Readable when it has printed something.
    pub(crate) fn pipes(&self) -> impl Iterator<Item = (Stream, BorrowedFd<'_>)> {
        let output = self.output.as_ref().map(|(pipe, _)| (Stream::Output, pipe.as_fd()));
        let error = self.error.as_ref().map(|(pipe, _)| (Stream::Error, pipe.as_fd()));
        output.into_iter().chain(error)
    }

    /// Reads some of what it has printed.
    pub(crate) fn read(&mut self, stream: Stream, sink: &mut dyn FnMut(Line<'_>)) -> Reading {
        let name = &self.program.name;
        let reading = match stream {
            Stream::Output => self.output.as_mut().map(|(pipe, lines)| lines.read(pipe, name, sink)),
            Stream::Error => self.error.as_mut().map(|(pipe, lines)| lines.read(pipe, name, sink)),
        };
        let reading = reading.unwrap_or(Reading::End);
        if reading == Reading::End {
            match stream {
                Stream::Output => self.output = None,
                Stream::Error => self.error = None,
            }
        }
        reading
    }

    /// Asks it to end; it is killed when it has not after `grace`.
    pub(crate) fn ask_to_end(&mut self, grace: Duration) {
        // Asked again, it gets no longer than before.
        let kill_at = Instant::now().checked_add(grace);
        if !self.asked_to_end {
            self.signal_group(Signal::TERM);
            self.kill_at = kill_at;
        } else if self.kill_at.is_some() {
            self.kill_at = self.kill_at.min(kill_at);
        }
        self.asked_to_end = true;
    }

    pub(crate) fn kill(&mut self) {
        tracing::warn!(component = %self.program.name, process = self.id(), "does not end; it is killed");
        self.kill_at = None;
        self.signal_group(Signal::KILL);
    }

    /// Its id can't have become another's, since it is not collected yet.
    fn signal_group(&self, signal: Signal) {
        // An error means that all of it has ended.
        let _ = rustix::process::kill_process_group(self.pid, signal);
    }

    /// Collects it after its end. What it has started is ended, too: it would go on with nobody to know of it.
    /// Gives its control group where that is still to be removed.
    pub(crate) fn collect(mut self, sink: &mut dyn FnMut(Line<'_>)) -> (Ending, Option<Group>) {
        self.signal_group(Signal::KILL);
        for stream in [Stream::Output, Stream::Error] {
            let mut chunks = 0;
            while chunks < LAST_CHUNKS && self.read(stream, sink) == Reading::More {
                chunks += 1;
            }
        }
        if let Some((_, lines)) = &mut self.output {
            lines.finish(&self.program.name, sink);
        }
        if let Some((_, lines)) = &mut self.error {
            lines.finish(&self.program.name, sink);
        }
        let ending = match self.child.wait() {
            Ok(status) => self.ending(status),
            // Someone else has collected it, so how it ended is not known.
            Err(_) => Ending::Exited { status: -1 },
        };
        let group = self.group.take().and_then(Result::ok);
        let ending = match (ending, group.as_ref().and_then(Group::killed_for_memory)) {
            (Ending::Signalled { signal: KILL, by_us: false }, Some(limit_bytes)) => {
                Ending::OutOfMemory { limit_bytes }
            }
            (ending, _) => ending,
        };
        let marked = Tagged::Process(self.run.clone(), self.number);
        for (pid, command) in marked.processes() {
            tracing::warn!(component = %self.program.name, process = pid.as_raw_nonzero(), "left behind: {command}; it is ended");
            marked.signal(pid, Signal::KILL);
        }
        // One that is not empty yet is removed with the next.
        (ending, group.filter(|group| !group.remove()))
    }

    fn ending(&self, status: ExitStatus) -> Ending {
        match (status.signal(), status.code()) {
            (Some(signal), _) => Ending::Signalled { signal, by_us: self.asked_to_end },
            (None, code) => Ending::Exited { status: code.unwrap_or(-1) },
        }
    }
}
