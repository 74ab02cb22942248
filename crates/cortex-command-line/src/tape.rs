//! `cortex tape`: reads the record of missions. Needs neither ROS nor a running Cortex.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use cortex_config::{self as config, Layers};
use cortex_core::Effect;
use cortex_protocol::MissionId;
use cortex_protocol::words::counted;
use cortex_runtime::tape::replay::{Difference, Ending};
use cortex_runtime::tape::{Body, Entry, Folder, Follower, Integrity, Reader, Record, Summary, replay};

use crate::arguments::{TapeArguments, TapeCommand};
use crate::tape_exchanges;

/// Most characters of a task in a list.
const TASK_SHOWN: usize = 80;
/// How much of an effect is shown before and after the place where it differs, in characters.
const BEFORE_DIFFERENCE: usize = 60;
const AFTER_DIFFERENCE: usize = 300;

/// How lines are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// What people are told.
    Story,
    /// Everything, readable.
    All,
    /// As it stands in the file.
    Json,
}

pub(crate) async fn tape(arguments: TapeArguments) -> anyhow::Result<ExitCode> {
    let directory = match arguments.directory {
        Some(directory) => directory,
        None => config::tape_folder(&Layers { file: config::file(arguments.config.as_deref()), ..Layers::default() })?,
    };
    let folder = Folder::new(directory);
    let done = match arguments.command {
        TapeCommand::List => list(&folder),
        TapeCommand::Show { mission, all, json } => {
            let view = if json {
                View::Json
            } else if all {
                View::All
            } else {
                View::Story
            };
            show(&folder, &folder.find(&mission)?, view)
        }
        TapeCommand::Exchanges { mission, json } => {
            let mission = folder.find(&mission)?;
            let is_trusted = is_trusted(&folder, &mission)?;
            let lines = tape_exchanges::lines(&mut folder.read(&mission)?, json)?;
            lines.iter().try_for_each(|line| say(line)).map(|()| code_for(is_trusted)).map_err(Into::into)
        }
        TapeCommand::Follow { mission, json } => {
            let view = if json { View::Json } else { View::Story };
            tokio::select! {
                followed = follow(&folder, mission, view) => followed,
                interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| ExitCode::SUCCESS).map_err(Into::into),
            }
        }
        TapeCommand::Play(arguments) => {
            cortex_player::play(arguments, Some(&folder)).await?;
            Ok(ExitCode::SUCCESS)
        }
        TapeCommand::Replay { mission } => run_again(&folder, &folder.find(&mission)?),
    };
    match done {
        // Nobody reads any more: `cortex tape show ... | head`.
        Err(problem) if is_broken_pipe(&problem) => Ok(ExitCode::SUCCESS),
        done => done,
    }
}

fn is_broken_pipe(problem: &anyhow::Error) -> bool {
    problem.downcast_ref::<io::Error>().is_some_and(|problem| problem.kind() == io::ErrorKind::BrokenPipe)
}

fn list(folder: &Folder) -> anyhow::Result<ExitCode> {
    let missions = folder.missions()?;
    if missions.is_empty() {
        say(&format!("There are no tapes in {}.", folder.directory().display()))?;
    }
    let others = folder.others()?;
    if others > 0 {
        eprintln!("cortex: {others} other file(s) in {} are no tapes and are left alone", folder.directory().display());
    }
    for mission in missions {
        let (time, status, rest) = match (folder.check(&mission), folder.summary(&mission)) {
            (Ok(Integrity::Changed { line, change }), about) => {
                let says = about.map_or(String::new(), |about| format!("; it says {}: {}", about.status, task(&about)));
                (String::new(), "CHANGED".to_owned(), format!("line {line}: {}{says}", harmless(&change.to_string())))
            }
            (Ok(integrity), Ok(about)) => {
                let dry_run = if about.dry_run { "(dry run) " } else { "" };
                let no_hashes = if integrity == Integrity::NoHashes { "(no hashes) " } else { "" };
                (short_time(&about.time), about.status.to_string(), format!("{dry_run}{no_hashes}{}", task(&about)))
            }
            // One that is broken, or that goes away meanwhile, does not hide the others.
            (Err(problem), _) | (_, Err(problem)) => {
                (String::new(), "UNREADABLE".to_owned(), harmless(&problem.to_string()))
            }
        };
        say(&format!("{time:19}  {mission}  {status:10}  {rest}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn task(about: &Summary) -> String {
    harmless(&about.task).chars().take(TASK_SHOWN).collect()
}

/// Says so when a tape was changed, or when that can't be known. Whether it is not known to have been changed.
fn is_trusted(folder: &Folder, mission: &MissionId) -> anyhow::Result<bool> {
    match folder.check(mission)? {
        Integrity::Changed { line, change } => {
            let change = harmless(&change.to_string());
            eprintln!("cortex: this tape was changed: line {line} is not as it was written ({change})");
            Ok(false)
        }
        Integrity::NoHashes => {
            eprintln!("cortex: this tape carries no hashes (its format is older than 4): a change could not be seen");
            Ok(true)
        }
        _ => Ok(true),
    }
}

/// What a command that has done its work says of the tape that it has read.
fn code_for(is_trusted: bool) -> ExitCode {
    if is_trusted { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(folder: &Folder, mission: &MissionId, view: View) -> anyhow::Result<ExitCode> {
    let is_trusted = is_trusted(folder, mission)?;
    let mut reader = folder.read(mission)?;
    if !print_new(&mut reader, view)? {
        explain_end(folder, mission, &reader)?;
    }
    Ok(code_for(is_trusted))
}

/// Says why a tape has no last line.
fn explain_end(folder: &Folder, mission: &MissionId, reader: &Reader) -> anyhow::Result<()> {
    let torn = match reader.torn_bytes() {
        0 => String::new(),
        bytes => format!(", within a line of which {bytes} bytes are there"),
    };
    if folder.is_being_written(mission) {
        eprintln!("cortex: the mission goes on; `cortex tape follow` shows more");
    } else {
        eprintln!("cortex: the tape breaks off here{torn}: Cortex ended, or could not write, before the mission ended");
    }
    Ok(())
}

/// Prints what has come since the last time. Whether that was the end.
fn print_new(reader: &mut Reader, view: View) -> anyhow::Result<bool> {
    while let Some((record, line)) = reader.next_record()? {
        match view {
            View::Json => say(&line)?,
            View::Story if !record.is_for_people() => {}
            View::Story | View::All => say(&readable(&record, view))?,
        }
        if matches!(record.body(), Ok(Body::Entry(Entry::Closed { .. }))) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn readable(record: &Record, view: View) -> String {
    let text = harmless(&record.data.text);
    match view {
        View::All => format!("{:5}  {}  {:32}  {text}", record.line, clock(&record.time), harmless(&record.kind)),
        View::Story | View::Json => format!("{}  {text}", clock(&record.time)),
    }
}

async fn follow(folder: &Folder, prefix: Option<String>, view: View) -> anyhow::Result<ExitCode> {
    folder.make().with_context(|| folder.directory().display().to_string())?;
    // First the watch, then the look: so that nothing comes in between.
    let mut follower = Follower::of(folder.directory()).context("the folder of the tapes can't be watched")?;
    let mission = match prefix {
        Some(prefix) => folder.find(&prefix)?,
        None => loop {
            // The first that has not ended: those after it wait for it.
            if let Some(running) = folder.missions()?.into_iter().find(|mission| folder.is_being_written(mission)) {
                break running;
            }
            follower.changed().await?;
        },
    };
    let mut reader = folder.read(&mission)?;
    loop {
        // Asked before the last look, so that nothing that was written before the writer's end is missed.
        let goes_on = folder.is_being_written(&mission);
        if print_new(&mut reader, view)? {
            return Ok(ExitCode::SUCCESS);
        }
        if !goes_on {
            explain_end(folder, &mission, &reader)?;
            return Ok(ExitCode::FAILURE);
        }
        follower.changed().await?;
    }
}

fn run_again(folder: &Folder, mission: &MissionId) -> anyhow::Result<ExitCode> {
    let is_trusted = is_trusted(folder, mission)?;
    let replayed = replay(&mut folder.read(mission)?)?;
    let (inputs, effects) = (replayed.inputs, replayed.effects);
    let code = match &replayed.ending {
        Ending::Same => {
            say(&format!("the same: {inputs} inputs, {effects} effects"))?;
            code_for(is_trusted)
        }
        Ending::BrokenOff => {
            say(&format!("the same as far as the tape goes: {inputs} inputs, {effects} effects; it breaks off there"))?;
            code_for(is_trusted)
        }
        Ending::NeverBegan => {
            say("nothing to replay: the mission never began")?;
            code_for(is_trusted)
        }
        Ending::InputCut { line } => {
            say(&format!(
                "the same until line {line}: {inputs} inputs, {effects} effects. What came then was too long for the tape \
                 and was cut; from there on it can't be replayed"
            ))?;
            ExitCode::FAILURE
        }
        Ending::Different(difference) => {
            say(&different(difference, inputs, effects)?)?;
            ExitCode::FAILURE
        }
    };
    if replayed.reworded > 0 {
        say(&format!("{} to the model would be worded differently now", counted(replayed.reworded, "request")))?;
    }
    if replayed.cut > 0 {
        say(&format!("{} effects were cut from the tape and could not be compared", replayed.cut))?;
    }
    Ok(code)
}

/// Where two effects part.
fn different(difference: &Difference, inputs: u64, effects: u64) -> anyhow::Result<String> {
    let written = |effect: &Option<Effect>| match effect {
        Some(effect) => serde_json::to_string(effect),
        None => Ok("nothing more".to_owned()),
    };
    let (recorded, now) = (written(&difference.recorded)?, written(&difference.now)?);
    let same = recorded.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
    let part = |text: &str| {
        let skipped = same.saturating_sub(BEFORE_DIFFERENCE);
        let shown: String = text.chars().skip(skipped).take(BEFORE_DIFFERENCE + AFTER_DIFFERENCE).collect();
        let mark = |is_cut: bool| if is_cut { "..." } else { "" };
        let end = mark(text.chars().count() > skipped + BEFORE_DIFFERENCE + AFTER_DIFFERENCE);
        format!("{}{}{end}", mark(skipped > 0), harmless(&shown))
    };
    Ok(format!(
        "different from line {} on, after {inputs} inputs and {effects} effects that are the same\n  recorded: {}\n  now:      {}",
        difference.line,
        part(&recorded),
        part(&now)
    ))
}

fn say(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}

/// The text on one line, without what a terminal would obey: it may come from anybody.
fn harmless(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// `2026-01-02T03:04:05`, of RFC 3339 with fractions and zone.
fn short_time(time: &str) -> String {
    harmless(time.get(..19).unwrap_or(time))
}

/// The time of day with milliseconds.
fn clock(time: &str) -> String {
    harmless(time.get(11..23).unwrap_or(time))
}
