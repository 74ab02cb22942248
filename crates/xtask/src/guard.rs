//! A process that outlives this one, however that ends, and ends what it leaves behind: a process that is killed, or that
//! panics, ends nothing itself.

use std::io::Read as _;
use std::ops::Range;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::leftovers::Traces;

/// The hidden command that this process is started anew with.
pub(crate) const COMMAND: &str = "guard";

/// What a guard looks after.
#[derive(Debug, Args)]
pub(crate) struct Guarded {
    /// The mark of the processes.
    mark: String,
    /// The first UDP port of the ROS domains that are theirs alone, if any are.
    #[arg(default_value_t = 0)]
    first_port: u16,
    /// The port after the last one.
    #[arg(default_value_t = 0)]
    end_port: u16,
}

/// Dropping it lets the guard look once, and waits for that.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Looks after the processes of a run, and the shared memory of these ports.
    pub(crate) fn start(traces: &Traces, ports: &Range<u16>) -> Result<Self> {
        // Not by its path: the build that precedes a run may have put another program there.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("xtask").args([COMMAND, traces.mark(), &ports.start.to_string(), &ports.end.to_string()]);
        // Its standard input ends with this process. In a group of its own, no signal of the terminal reaches it.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null());
        command.spawn().map(Self).context("cannot start the guard of what is started here")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What the guard does: waits for the end of who has started it, and ends what is left.
pub(crate) fn run(guarded: &Guarded) -> Result<()> {
    let noticed = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&noticed)).context("cannot listen for signals")?;
    }
    // Nobody writes. An error is the end, too.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let mut traces = Traces::of(&guarded.mark);
    traces.end_orphans();
    traces.remove_shared_memory(&(guarded.first_port..guarded.end_port));
    Ok(())
}
