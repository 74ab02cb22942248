//! Starts the parts of the robot as processes, watches them and stops them.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::child::UP;
use crate::components::Part;
use crate::world::Destinations;

/// The option that lets the wheels be sent to points of the map.
const POINTS: &str = "--points";

/// How long all parts may take to come up.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the parts may take to stop before they are killed. A component takes up to 2.7 s to come to rest, and then has
/// to leave the graph; a launch file kills after 5 s.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);
/// Events that may wait: each part has two in its life.
const EVENT_CAPACITY: usize = 2 * Part::ALL.len();

/// What to start.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    /// The world file; none for the built-in world.
    pub world: Option<PathBuf>,
    /// Parts that are started along with those of [`Part::HOME`].
    pub with: Vec<Part>,
    /// Where the wheels can be sent, beside what the world says.
    pub destinations: Destinations,
    /// The ROS arguments, with `--ros-args`, that every part gets.
    pub ros_arguments: Vec<String>,
}

enum Event {
    /// A part is up, in that state.
    Up(Part, String),
    /// The process of a part has closed its output, which it does only by ending.
    Gone(Part),
}

struct Process {
    part: Part,
    child: Child,
    /// The part ends when this does, so it is held until the process is gone.
    _lifeline: Option<ChildStdin>,
}

/// Runs the whole robot until SIGINT or SIGTERM. Prints one line that starts with `ready` when every part is up.
///
/// # Errors
/// When a part can't be started or does not come up, or when all have died. The others are stopped before.
pub async fn run(options: LaunchOptions) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut processes = Vec::new();
    let result = tokio::select! {
        result = watch(&options, &mut processes) => result,
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    };
    stop(processes).await;
    result
}

async fn watch(options: &LaunchOptions, processes: &mut Vec<Process>) -> anyhow::Result<()> {
    let (sender, mut events) = mpsc::channel(EVENT_CAPACITY);
    let parts = parts(options);
    for part in parts.iter().copied() {
        let mut child =
            start(part, options, sender.clone()).with_context(|| format!("{} can't be started", part.name()))?;
        let lifeline = child.stdin.take();
        processes.push(Process { part, child, _lifeline: lifeline });
    }
    drop(sender);

    let deadline = Instant::now() + READY_TIMEOUT;
    let mut waiting = parts.clone();
    while !waiting.is_empty() {
        let names = || waiting.iter().map(|part| part.name()).collect::<Vec<_>>().join(", ");
        match timeout_at(deadline, events.recv()).await {
            Ok(Some(Event::Up(part, state))) => {
                if state != "active" {
                    eprintln!("cortex-sim: {} is {state}", part.name());
                }
                waiting.retain(|other| *other != part);
            }
            Ok(Some(Event::Gone(part))) => bail!("{} {} before it was up", part.name(), ending(processes, part).await),
            Ok(None) => bail!("not up: {}", names()),
            Err(_) => bail!("not up after {} s: {}", READY_TIMEOUT.as_secs(), names()),
        }
    }
    let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
    // A closed output is nobody's loss.
    let _ = writeln!(std::io::stdout(), "ready: {}", names.join(" "));

    while let Some(event) = events.recv().await {
        if let Event::Gone(part) = event {
            eprintln!("cortex-sim: {} {}; it is not restarted", part.name(), ending(processes, part).await);
        }
    }
    bail!("every part has ended")
}

/// What is started, each once, in the order of [`Part::ALL`].
fn parts(options: &LaunchOptions) -> Vec<Part> {
    Part::ALL.into_iter().filter(|part| Part::HOME.contains(part) || options.with.contains(part)).collect()
}

fn start(part: Part, options: &LaunchOptions, events: mpsc::Sender<Event>) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(world) = &options.world {
        command.arg("--world").arg(world);
    }
    if options.destinations == Destinations::Points {
        command.arg(POINTS);
    }
    command.args(["component", part.name(), "--supervised"]).args(&options.ros_arguments);
    // Its own group: Ctrl-C reaches the parent only, and what a part has started is killed with it.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let output = child.stdout.take().context("no pipe")?;
    tokio::spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(state) = line.strip_prefix(UP) {
                let _ = events.send(Event::Up(part, state.trim().to_owned())).await;
            }
        }
        let _ = events.send(Event::Gone(part)).await;
    });
    Ok(child)
}

/// How the process of a part has ended, in words.
async fn ending(processes: &mut [Process], part: Part) -> String {
    let Some(process) = processes.iter_mut().find(|process| process.part == part) else {
        return "has ended".to_owned();
    };
    match tokio::time::timeout(STOP_TIMEOUT, process.child.wait()).await {
        Ok(Ok(status)) => format!("has ended ({status})"),
        _ => "has closed its output".to_owned(),
    }
}

async fn stop(mut processes: Vec<Process>) {
    for process in &processes {
        send(process, Signal::TERM);
    }
    let deadline = Instant::now() + STOP_TIMEOUT;
    for process in &mut processes {
        if timeout_at(deadline, process.child.wait()).await.is_err() {
            eprintln!("cortex-sim: {} does not stop; it is killed", process.part.name());
            send(process, Signal::KILL);
            // A killed process ends as soon as the kernel lets it.
            let _ = tokio::time::timeout(STOP_TIMEOUT, process.child.wait()).await;
        }
    }
}

/// Signals a part and whatever it has started. A part that has ended needs no signal.
fn send(process: &Process, signal: Signal) {
    let id = process.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(group) = id
        && let Err(problem) = kill_process_group(group, signal)
    {
        tracing::debug!("{} could not be signalled: {problem}", process.part.name());
    }
}
