//! The demonstration: a simulated home made of real ROS 2 nodes, Cortex, and a task in plain language.

mod domain;
mod events;
mod mission;
mod processes;
mod recipe;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::cargo::{self, Metadata, Profile};
use crate::leftovers::Traces;
use crate::progress;
use crate::ros::{Purpose, Ros};
use crate::work;
use domain::Domain;
use events::{Event, Events, Part};
use mission::{Afterwards, Keyboard, Outcome};
use processes::Process;

/// What the robot is asked to do when the person says nothing else.
const DEFAULT_TASKS: &[&str] = &["go to the kitchen, look around and say what you see"];

/// How many seconds the client waits for Cortex to be found. It is ready by then, so only discovery takes time.
const CLIENT_WAIT_SECONDS: &str = "20";

/// All tasks of a demonstration are one conversation: "turn it off again" goes on with the task before.
const SESSION: &str = "demo";

/// A Ctrl-C so soon after a mission's end was meant for the mission: nobody reads a prompt faster.
const REFLEX: Duration = Duration::from_millis(500);

/// Builds, starts everything, carries the task or what shows the robot best (and, at a terminal, further ones), and stops
/// everything.
/// `recipe` is one that Cortex brings the robot up from: a name in `recipes/`, or a file.
pub(crate) fn run(
    repository: &Path,
    task: Option<&str>,
    recipe: Option<&str>,
    model: Option<&str>,
) -> Result<ExitCode> {
    let recipe = recipe.map(|name| recipe::find(repository, name)).transpose()?;
    let own = task.as_slice();
    let samples = || recipe.as_deref().map_or(DEFAULT_TASKS, recipe::sample_tasks);
    let tasks = if own.is_empty() { samples() } else { own };
    let stage = Stage::build(repository)?;
    // Only now: until here Ctrl-C may end this process as usual.
    let events = Events::listen()?;
    let mut traces = Traces::new();
    let mut processes = Vec::new();
    let played = play(&stage, tasks, recipe.as_deref(), model, &events, &mut traces, &mut processes);
    traces.note_shared_memory();
    // The last one started stops first: Cortex cancels its goals while the robot still answers.
    while let Some(process) = processes.pop() {
        process.stop(&events);
    }
    traces.end_orphans();
    traces.remove_shared_memory(&stage.domain.ports());
    Ok(if played? == Outcome::Succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the processes need.
struct Stage {
    ros: Ros,
    repository: PathBuf,
    binaries: PathBuf,
    logs: PathBuf,
    domain: Domain,
}

impl Stage {
    fn build(repository: &Path) -> Result<Self> {
        let ros = work::prepare(repository, Purpose::Build)?;
        progress::say("Building cortex and the simulated home");
        let mut build = cargo::command_with_ros(repository, &ros);
        build.arg("build").args(work::CORTEX).args(["--package", "cortex-sim", "--bins"]);
        cargo::run("building cortex and the simulated home", &mut build)?;
        let target = Metadata::read(repository)?.target_directory()?;
        let logs = target.join("demo");
        std::fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
        Ok(Self {
            ros,
            repository: repository.to_owned(),
            binaries: target.join(Profile::Debug.folder()),
            logs,
            domain: Domain::claim()?,
        })
    }

    fn command(&self, program: &str, traces: &Traces) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        self.ros.environment().apply(&mut command);
        command.current_dir(&self.repository).envs([traces.variable()]);
        command.env("ROS_DOMAIN_ID", self.domain.number().to_string());
        cargo::keep_local(&mut command, &self.repository, &self.ros);
        command
    }

    /// Where programs are looked up: those that were built first.
    fn path(&self) -> Result<std::ffi::OsString> {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.binaries.clone()).chain(std::env::split_paths(&others));
        std::env::join_paths(folders).context("PATH can't be extended")
    }

    fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}-{}.log", self.domain.number()))
    }
}

/// Starts the processes (the caller stops whatever is in `processes` afterwards) and carries tasks, until one fails.
fn play(
    stage: &Stage,
    tasks: &[&str],
    recipe: Option<&Path>,
    model: Option<&str>,
    events: &Events,
    traces: &mut Traces,
    processes: &mut Vec<Process>,
) -> Result<Outcome> {
    let domain = stage.domain.number();
    let mut cortex = stage.command("cortex", traces);
    // What a demonstration is taught is not for a robot of one's own.
    cortex.arg("run").env("CORTEX_WORDINGS__FILE", stage.log("wordings").with_extension("jsonl"));
    if let Some(recipe) = recipe {
        progress::say(&format!("Starting cortex with {} in ROS domain {domain}", recipe.display()));
        cortex.arg(recipe).env("PATH", stage.path()?);
    } else {
        progress::say(&format!("Starting the simulated home in ROS domain {domain}"));
        let mut simulator = stage.command("cortex-sim", traces);
        start(Part::Simulator, &mut simulator, &stage.log("sim"), events, processes)?;
        progress::say("Starting cortex");
    }
    if let Some(model) = model {
        cortex.args(["--model", model]);
    }
    start(Part::Cortex, &mut cortex, &stage.log("cortex"), events, processes)?;
    traces.note_shared_memory();
    let keyboard = if std::io::stdin().is_terminal() { Keyboard::Person } else { Keyboard::Nobody };
    let mut waiting = tasks.iter().map(|task| (*task).to_owned());
    let mut task = waiting.next().context("there is no task")?;
    loop {
        progress::say(&format!("Task: {task}"));
        let mut client = stage.command("cortex", traces);
        client.args(["send", "--wait", CLIENT_WAIT_SECONDS, "--session", SESSION, "--", &task]);
        let carried = mission::carry(&mut client, keyboard, events);
        if carried.is_err() {
            eprintln!("{}", describe_logs(processes));
        }
        let (outcome, afterwards) = carried?;
        traces.note_shared_memory();
        if outcome == Outcome::Succeeded
            && afterwards == Afterwards::GoOn
            && let Some(next) = waiting.next()
        {
            task = next;
            continue;
        }
        if keyboard == Keyboard::Nobody || afterwards == Afterwards::Stop {
            // Whoever stops the mission knows why it failed.
            if outcome == Outcome::Failed && afterwards == Afterwards::GoOn {
                eprintln!("{}", describe_logs(processes));
            }
            return Ok(outcome);
        }
        match ask_for_task(events, Instant::now())? {
            Some(next) => task = next,
            None => return Ok(outcome),
        }
    }
}

fn start(part: Part, command: &mut Command, log: &Path, events: &Events, processes: &mut Vec<Process>) -> Result<()> {
    let process = Process::start(part, command, log, events)?;
    let ready = process.wait_until_ready(events);
    processes.push(process);
    ready
}

/// The ends of all logs, for a mission that failed.
fn describe_logs(processes: &[Process]) -> String {
    processes.iter().map(|process| format!("\n{}: {}", process.part().title(), process.log_end())).collect()
}

/// The next task a person types; `None` when they want to end.
fn ask_for_task(events: &Events, mission_ended: Instant) -> Result<Option<String>> {
    loop {
        print!("task> ");
        std::io::stdout().flush().context("cannot write to the terminal")?;
        events.want_line();
        match next_line(events, mission_ended)? {
            None => return Ok(None),
            Some(line) if line == "quit" => return Ok(None),
            Some(line) if line.is_empty() => {}
            Some(line) => return Ok(Some(line)),
        }
    }
}

fn next_line(events: &Events, mission_ended: Instant) -> Result<Option<String>> {
    loop {
        match events.next() {
            Some(Event::Line(line)) => {
                if line.is_none() {
                    println!();
                }
                return Ok(line);
            }
            // Ctrl-C reaches the client and this process at the same time, and the client may be quicker.
            Some(Event::Interrupted) if mission_ended.elapsed() < REFLEX => {}
            // Nothing is under way that Ctrl-C could cancel.
            Some(Event::Interrupted | Event::Terminated) | None => {
                println!();
                return Ok(None);
            }
            Some(Event::Exited(part @ (Part::Simulator | Part::Cortex))) => {
                anyhow::bail!("{} ended", part.title())
            }
            Some(Event::Ready(_) | Event::Exited(Part::Client)) => {}
        }
    }
}
