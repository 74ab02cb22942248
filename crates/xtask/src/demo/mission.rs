//! One task, carried by the client `cortex send`.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::Signal;

use super::events::{self, Event, Events, Part};
use crate::progress;

/// No task of a demonstration takes longer; one that does is cancelled.
const MISSION_LIMIT: Duration = Duration::from_secs(15 * 60);

/// How long the client may take to cancel its mission and to say so.
const CANCEL_LIMIT: Duration = Duration::from_secs(15);

/// How a mission ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    Failed,
}

/// Who hears Ctrl-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyboard {
    /// A person at a terminal: the client hears it too, because it is in the foreground.
    Person,
    /// Nobody: a signal is meant for this process, which has to pass it on.
    Nobody,
}

/// What ended the wait for a mission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Afterwards {
    /// The next task may come.
    GoOn,
    /// The demonstration was told to end.
    Stop,
}

/// Carries one task to its end.
pub(super) fn carry(client: &mut Command, keyboard: Keyboard, events: &Events) -> Result<(Outcome, Afterwards)> {
    if keyboard == Keyboard::Nobody {
        client.process_group(0);
    }
    let mut child = client.spawn().with_context(|| format!("cannot start {}", client.get_program().display()))?;
    let waited = events.watch(Part::Client, &child).and_then(|()| wait(&child, keyboard, events));
    if waited.is_err() {
        // Without effect on a client that has ended.
        let _ = child.kill();
    }
    let status = child.wait().context("cannot collect the client")?;
    let afterwards = waited?;
    say_outcome(status);
    Ok((if status.success() { Outcome::Succeeded } else { Outcome::Failed }, afterwards))
}

/// Waits for the client's end, and passes on what is meant for it.
fn wait(client: &Child, keyboard: Keyboard, events: &Events) -> Result<Afterwards> {
    let mut deadline = Instant::now() + MISSION_LIMIT;
    let mut afterwards = Afterwards::GoOn;
    let mut asked_to_cancel = 0;
    loop {
        match events.next_before(deadline) {
            Some(Event::Exited(Part::Client)) => return Ok(afterwards),
            Some(Event::Exited(part)) => bail!("{} ended during the mission", part.title()),
            Some(Event::Interrupted) if keyboard == Keyboard::Person && asked_to_cancel == 0 => {
                asked_to_cancel += 1;
                deadline = Instant::now() + CANCEL_LIMIT;
            }
            Some(event @ (Event::Interrupted | Event::Terminated)) => {
                if event == Event::Terminated || keyboard == Keyboard::Nobody {
                    afterwards = Afterwards::Stop;
                }
                cancel(client, &mut asked_to_cancel)?;
                deadline = Instant::now() + CANCEL_LIMIT;
            }
            Some(Event::Ready(_) | Event::Line(_)) => {}
            None if asked_to_cancel > 0 => {
                bail!("the client did not end {} s after it was cancelled", CANCEL_LIMIT.as_secs())
            }
            None => {
                progress::say(&format!(
                    "The mission took longer than {} min: cancelling it",
                    MISSION_LIMIT.as_secs() / 60
                ));
                cancel(client, &mut asked_to_cancel)?;
                deadline = Instant::now() + CANCEL_LIMIT;
            }
        }
    }
}

/// The client cancels its mission on SIGINT. Whoever presses the key again and again wants it gone.
fn cancel(client: &Child, asked: &mut u32) -> Result<()> {
    *asked += 1;
    if *asked > 2 {
        bail!("the mission was interrupted");
    }
    // An error means that the client has ended already.
    let _ = rustix::process::kill_process(events::pid_of(client)?, Signal::INT);
    Ok(())
}

fn say_outcome(status: ExitStatus) {
    if status.success() {
        progress::say("The mission succeeded");
    } else {
        progress::say(&format!("The mission did not succeed ({status})"));
    }
}
