//! What ends the processes of one that died.
//!
//! A process that is killed can't clean up. So a second one, the reaper, does nothing but wait until the first is gone,
//! which it knows by the end of its standard input, and then ends everything that carries the first one's mark. It is in
//! a group of its own: what is meant for the first does not reach it.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::inheritance;
use crate::process_tag::{RunTag, Tagged};
use crate::running::StartError;

/// The command by which a program starts itself anew as the reaper of its processes: `guard-processes TAG`.
pub const COMMAND: &str = "guard-processes";

/// How long what is left may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// How long the kernel may take to end what was killed.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// What is left belongs to nobody here, so that its end can't be waited for as an event.
const LOOK: Duration = Duration::from_millis(20);

/// The reaper, seen from the one that it guards. It goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Reaper {
    child: Child,
}

impl Reaper {
    pub(crate) fn start(mut command: Command) -> Result<Self, StartError> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        inheritance::keep_nothing(&mut command);
        let child = command.spawn();
        child.map(|child| Self { child }).map_err(|source| StartError { program, source })
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        // The end of its input is its sign; it finds nothing to do then, and ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The reaper itself: waits until the standard input ends, then ends what is left of `run`. Gives what it was.
pub fn run(run: RunTag) -> Vec<String> {
    let mut byte = [0];
    // Nothing is ever sent; whatever comes is read past.
    while matches!(std::io::stdin().read(&mut byte), Ok(count) if count > 0) {}
    // What was being started at that moment shows its tag a little later.
    std::thread::sleep(LOOK);
    end(&Tagged::Run(run))
}

/// Ends what earlier lives, which are over, have left running. Gives what it was.
#[must_use]
pub fn end_orphans() -> Vec<String> {
    end(&Tagged::Orphans)
}

/// Asks, waits, kills; all within bounds.
fn end(marked: &Tagged) -> Vec<String> {
    let found = marked.processes();
    for (pid, _) in &found {
        marked.signal(*pid, Signal::TERM);
    }
    wait_for_end(marked, GRACE);
    for (pid, _) in marked.processes() {
        marked.signal(pid, Signal::KILL);
    }
    wait_for_end(marked, KILL_LIMIT);
    found.into_iter().map(|(_, command)| command).collect()
}

fn wait_for_end(marked: &Tagged, limit: Duration) {
    let deadline = Instant::now() + limit;
    while !marked.processes().is_empty() && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}
