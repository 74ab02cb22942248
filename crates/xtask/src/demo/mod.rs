//! The demonstration: a simulated home made of real ROS 2 nodes, Cortex, and a task in plain language.

mod domain;
mod events;
mod mission;
mod processes;
mod recipe;
mod stage;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::guard::Guard;
use crate::leftovers::Traces;
use crate::local_model::{self, LocalModel};
use crate::progress;
use events::{Event, Events, Part};
use mission::{Afterwards, Keyboard, Outcome};
use processes::Process;
use stage::Stage;

/// What the robot is asked to do when the person says nothing else.
const DEFAULT_TASKS: &[&str] = &["go to the kitchen, look around and say what you see"];

/// What a person is invited to send on the page: the robot asks before it goes there.
const INVITED_TASK: &str = "go to the bedroom and say good night";

/// The configuration of the simulated home: its rules ask before the robot goes into the bedroom.
const CONFIGURATION: &str = "config/demo.toml";

/// What the simulated home has for those who look at the page: a map, a robot that knows where it is on it, and that drives
/// to where one clicks.
const SHOWN_ON_THE_PAGE: [&str; 5] = ["--points", "--with", "map_server", "--with", "localization"];

/// The model that is a file on the robot. A demonstration brings one along.
const LOCAL: &str = "local";

/// Names the configuration of whoever has one.
const CONFIGURATION_VARIABLE: &str = "CORTEX_CONFIG";

/// How many seconds the client waits for Cortex to be found. It is ready by then, so only discovery takes time.
const CLIENT_WAIT_SECONDS: &str = "20";

/// All tasks of a demonstration are one conversation: "turn it off again" goes on with the task before.
const SESSION: &str = "demo";

/// A Ctrl-C so soon after a mission's end was meant for the mission: nobody reads a prompt faster.
const REFLEX: Duration = Duration::from_millis(500);

/// What a person wants to see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'w> {
    /// What the robot shall do; otherwise, what shows it best.
    pub(crate) task: Option<&'w str>,
    /// A recipe that Cortex brings the robot up from: a name in `recipes/`, or a file.
    pub(crate) recipe: Option<&'w str>,
    /// The model that plans.
    pub(crate) model: Option<&'w str>,
}

/// Starts everything, carries the task (and, at a terminal, further ones), and stops everything. The programs are built
/// first, unless there is a folder with them.
pub(crate) fn run(repository: &Path, wanted: &Wanted<'_>, binaries: Option<PathBuf>) -> Result<ExitCode> {
    let recipe = wanted.recipe.map(|name| recipe::find(repository, name)).transpose()?;
    let is_local = wanted.model == Some(LOCAL) && binaries.is_none();
    let local = is_local.then(|| local_model::ensure(repository)).transpose()?;
    let stage = match binaries {
        Some(binaries) => Stage::built(repository, binaries)?,
        None => Stage::build(repository)?,
    };
    // Only now: until here Ctrl-C may end this process as usual.
    let events = Events::listen()?;
    let mut traces = Traces::new();
    // Whatever ends this process from here on, the guard ends what it has started.
    let _guard = Guard::start(&traces, &stage.domain.ports())?;
    let mut processes = Vec::new();
    let played = play(&stage, wanted, recipe.as_deref(), local.as_ref(), &events, &mut traces, &mut processes);
    traces.note_shared_memory();
    // The last one started stops first: Cortex cancels its goals while the robot still answers.
    while let Some(process) = processes.pop() {
        process.stop(&events);
    }
    traces.end_orphans();
    traces.remove_shared_memory(&stage.domain.ports());
    Ok(if played? == Outcome::Succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Starts the processes (the caller stops whatever is in `processes` afterwards) and carries tasks, until one fails.
fn play(
    stage: &Stage,
    wanted: &Wanted<'_>,
    recipe: Option<&Path>,
    local: Option<&LocalModel>,
    events: &Events,
    traces: &mut Traces,
    processes: &mut Vec<Process>,
) -> Result<Outcome> {
    let domain = stage.domain.number();
    let mut cortex = stage.command("cortex", traces);
    // What a demonstration is taught is not for a robot of one's own. It ends with this process, too, should the guard not
    // be there.
    let own_id = std::process::id().to_string();
    cortex
        .args(["run", "--exit-with-pid", &own_id])
        .env("CORTEX_WORDINGS__FILE", stage.log("wordings").with_extension("jsonl"));
    if let Some(recipe) = recipe {
        progress::say(&format!("Starting cortex with {} in ROS domain {domain}", recipe.display()));
        cortex.arg(recipe).env("PATH", stage.path()?);
    } else {
        progress::say(&format!("Starting the simulated home in ROS domain {domain}"));
        let mut simulator = stage.command("cortex-sim", traces);
        simulator.args(SHOWN_ON_THE_PAGE);
        start(Part::Simulator, &mut simulator, &stage.log("sim"), events, processes)?;
        progress::say("Starting cortex");
    }
    if let Some(local) = local {
        local.configure(&mut cortex);
    }
    if let Some(model) = wanted.model {
        cortex.args(["--model", model]);
    }
    // A robot of one's own is not started with rules that were made for the simulated home.
    let has_rules = recipe.is_none() && std::env::var_os(CONFIGURATION_VARIABLE).is_none();
    if has_rules {
        cortex.args(["--config", CONFIGURATION]);
    }
    start(Part::Cortex, &mut cortex, &stage.log("cortex"), events, processes)?;
    traces.note_shared_memory();
    let keyboard = if std::io::stdin().is_terminal() { Keyboard::Person } else { Keyboard::Nobody };
    if processes.last().is_some_and(Process::has_page) {
        invite(keyboard, has_rules);
    }
    let own = wanted.task.as_slice();
    let samples = || recipe.map_or(DEFAULT_TASKS, recipe::sample_tasks);
    let mut waiting = if own.is_empty() { samples() } else { own }.iter().map(|task| (*task).to_owned());
    let mut task = waiting.next().context("there is no task")?;
    loop {
        progress::say(&format!("Task: {task}"));
        let mut client = stage.command("cortex", traces);
        client.args(["send", "--wait", CLIENT_WAIT_SECONDS, "--session", SESSION, "--", &task]);
        let carried = mission::carry(&mut client, keyboard, events);
        if carried.is_err() {
            progress::print_line(&describe_logs(processes));
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
                progress::print_line(&describe_logs(processes));
            }
            return Ok(outcome);
        }
        match ask_for_task(events, Instant::now())? {
            Some(next) => task = next,
            None => return Ok(outcome),
        }
    }
}

/// Says what there is to do on the page.
fn invite(keyboard: Keyboard, has_rules: bool) {
    if has_rules && keyboard == Keyboard::Person {
        progress::say(&format!("Open the page and send there: {INVITED_TASK}"));
        progress::say(
            "It asks you once, before it goes into the bedroom. Press STOP while it drives, and Resume when you like",
        );
    }
    if keyboard == Keyboard::Nobody {
        progress::say(
            "Nobody can type here, so this ends after the task. What a task asks is answered on the page; no answer is a no",
        );
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
        let prompted = write!(std::io::stdout(), "task> ").and_then(|()| std::io::stdout().flush());
        if prompted.is_err() {
            // The terminal is gone, and with it the person.
            return Ok(None);
        }
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
                    progress::print_line("");
                }
                return Ok(line);
            }
            // Ctrl-C reaches the client and this process at the same time, and the client may be quicker.
            Some(Event::Interrupted) if mission_ended.elapsed() < REFLEX => {}
            // Nothing is under way that Ctrl-C could cancel.
            Some(Event::Interrupted | Event::Terminated) | None => {
                progress::print_line("");
                return Ok(None);
            }
            Some(Event::Exited(part @ (Part::Simulator | Part::Cortex))) => {
                anyhow::bail!("{} ended", part.title())
            }
            Some(Event::Ready(_) | Event::Exited(Part::Client)) => {}
        }
    }
}
