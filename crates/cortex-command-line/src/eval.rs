//! `cortex eval`: asks other models the questions of recorded missions. Needs neither ROS nor a robot; nothing acts.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cortex_config::{self as config, Resolved, Sources, Value};
use cortex_core::ChatModel;
use cortex_core::fragment::one_line;
use cortex_core::mission::Prices;
use cortex_evaluation::{
    Candidate, ModelScore, Recording, TapesError, Variation, evaluate, recordings, replay_model, table,
};
use cortex_model::{ModelChoice, ModelSettings, build};
use cortex_runtime::tape::{Folder, Integrity};
use serde_json::json;

use crate::arguments::EvalArguments;

/// What stands before the path of a recording that answers in place of a model.
const REPLAY: &str = "replay:";
/// Settings that are part of a question.
const PLANNING_TEMPERATURE: &str = "mission.planning_temperature";
const PLANNING_TOKENS: &str = "mission.planning_tokens";
const CONFIRMATION_TEMPERATURE: &str = "mission.confirmation_temperature";
const CONFIRMATION_TOKENS: &str = "mission.confirmation_tokens";
/// Those that say how an endpoint is asked.
const ENDPOINT: &str = "endpoint.";
/// Most characters of how a tape was changed.
const CHANGE_CHARACTERS: usize = 200;
/// The exit status where nothing could be asked.
const NOT_TRIED: u8 = 2;
/// What a model's own bound is guarded by.
const BEYOND_OWN_BOUND: Duration = Duration::from_secs(5);

pub(crate) async fn eval(arguments: EvalArguments) -> anyhow::Result<ExitCode> {
    let folder = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => config::tape_folder(&sources(&arguments, None)?.layers)?,
    };
    let folder = Folder::new(folder);
    let recordings = recordings(&arguments.tapes, &folder)?;
    anyhow::ensure!(
        !recordings.is_empty(),
        "there are no tapes in {}; name a mission, a file, or a folder of tapes",
        folder.directory().display()
    );
    let names = if arguments.models.is_empty() { configured(&arguments)? } else { arguments.models.clone() };
    // All are made first: a mistake in the last name costs no request.
    let candidates: Vec<(Candidate, Vec<TapesError>)> =
        names.iter().map(|name| candidate(&arguments, name)).collect::<anyhow::Result<_>>()?;
    let (mut scores, mut unread, mut is_whole) = (Vec::new(), Vec::new(), true);
    for (candidate, not_replayed) in &candidates {
        for problem in not_replayed {
            eprintln!("cortex: not replayed: {problem}");
            is_whole = false;
        }
        let progressed = |done| show_progress(&candidate.name, done, recordings.len());
        progressed(0);
        // A recording gives its replies in their order, so it must be asked in that order, too.
        let parallel = if candidate.name.starts_with(REPLAY) { 1 } else { arguments.parallel };
        let (score, problems) = evaluate(&recordings, candidate, parallel, progressed).await;
        clear_progress();
        scores.push(score);
        // The same of each model.
        unread = problems;
    }
    show(&arguments, &scores, &unread)?;
    let changed = recordings.iter().filter(|recording| is_changed(recording)).count();
    Ok(status(&scores, is_whole && unread.is_empty() && changed == 0))
}

/// The exit status. `is_whole`: all tapes could be read, and are as they were written.
fn status(scores: &[ModelScore], is_whole: bool) -> ExitCode {
    if scores.iter().all(|score| score.requests == 0) {
        eprintln!("cortex: nothing was asked: these tapes have no question to a model that can be read");
        return ExitCode::from(NOT_TRIED);
    }
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Says so where a tape was changed after it was written.
fn is_changed(recording: &Recording) -> bool {
    let folder = Folder::new(recording.path.parent().unwrap_or(Path::new(".")).to_owned());
    // What can't be read was told.
    let Ok(Integrity::Changed { line, change }) = folder.check(&recording.mission) else { return false };
    let (path, change) = (recording.path.display(), one_line(&change.to_string(), CHANGE_CHARACTERS));
    eprintln!("cortex: {path} was changed: line {line} is not as it was written ({change})");
    true
}

/// The configuration with what is to be set otherwise, and this model first.
fn sources(arguments: &EvalArguments, model: Option<&str>) -> anyhow::Result<Sources> {
    let (file, model) = (arguments.config.as_deref(), model.map(str::to_owned));
    // As in a rehearsal: nothing is learnt from questions that nobody asks.
    let mut sources = Sources::new(Vec::new(), file, serde_json::Map::new(), Vec::new(), model, true)?;
    for setting in &arguments.settings {
        sources.layers.set.push(parsed(setting)?);
    }
    Ok(sources)
}

/// `KEY=VALUE`, for keys that change what is asked or how.
fn parsed(setting: &str) -> anyhow::Result<(String, Value)> {
    let known = [PLANNING_TEMPERATURE, PLANNING_TOKENS, CONFIRMATION_TEMPERATURE, CONFIRMATION_TOKENS];
    let (key, value) = setting.split_once('=').with_context(|| {
        format!("--set '{setting}' sets nothing; write KEY=VALUE, for example {PLANNING_TEMPERATURE}=0")
    })?;
    let key = key.trim();
    anyhow::ensure!(
        known.contains(&key) || key.starts_with(ENDPOINT),
        "--set {key}: this key changes no question to a model; those that do are {}, and the keys of [endpoint]",
        known.join(", ")
    );
    let Ok(value) = value.trim().parse::<Value>();
    Ok((key.to_owned(), value))
}

/// The models of the configuration, each by itself.
fn configured(arguments: &EvalArguments) -> anyhow::Result<Vec<String>> {
    let models = sources(arguments, None)?.resolve()?.models;
    Ok(models.each().iter().map(|(choice, _)| choice.to_string()).collect())
}

/// A model to ask, and what of its recording can't be read, where it is one.
fn candidate(arguments: &EvalArguments, name: &str) -> anyhow::Result<(Candidate, Vec<TapesError>)> {
    let mut not_replayed = Vec::new();
    let (model, prices, resolved) = match name.strip_prefix(REPLAY) {
        Some(path) => {
            let (model, unread) = replay_model(Path::new(path), name.to_owned())?;
            not_replayed = unread;
            (Arc::new(model) as Arc<dyn ChatModel>, Prices::default(), sources(arguments, None)?.resolve()?)
        }
        None => {
            let choice: ModelChoice = name.parse()?;
            let resolved = in_place(arguments, &choice)?;
            // Without what the command reader has learnt of this robot's people: that is not in the question.
            let settings = ModelSettings { wordings: None, ..resolved.models.settings_of(&choice) };
            let model = build(&choice, settings).with_context(|| format!("{name} can't be asked"))?;
            let prices = config::prices(&sources(arguments, None)?.layers, &choice)?;
            (model, prices, resolved)
        }
    };
    let timeout = resolved.models.settings.request_timeout + BEYOND_OWN_BOUND;
    let variation = variation(arguments, &resolved)?;
    Ok((Candidate { name: name.to_owned(), model, prices, timeout, variation }, not_replayed))
}

/// The configuration as it knows this model: with its key where it is one of the configured models, and else as with
/// `cortex run --model`.
fn in_place(arguments: &EvalArguments, choice: &ModelChoice) -> anyhow::Result<Resolved> {
    let configured = sources(arguments, None)?.resolve()?;
    if configured.models.each().iter().any(|(known, _)| known == choice) {
        return Ok(configured);
    }
    sources(arguments, Some(&choice.to_string()))?.resolve()
}

fn variation(arguments: &EvalArguments, resolved: &Resolved) -> anyhow::Result<Variation> {
    let read = |file: &Option<std::path::PathBuf>| -> anyhow::Result<Option<String>> {
        let Some(file) = file else { return Ok(None) };
        let text = std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?;
        anyhow::ensure!(!text.trim().is_empty(), "{} is empty; it is to hold the rules", file.display());
        Ok(Some(text))
    };
    let is_set = |key: &str| {
        arguments.settings.iter().any(|setting| setting.split('=').next().is_some_and(|name| name.trim() == key))
    };
    let limits = &resolved.runtime.limits;
    Ok(Variation {
        planning_rules: read(&arguments.prompt)?,
        confirmation_rules: read(&arguments.confirmation_prompt)?,
        planning_temperature: is_set(PLANNING_TEMPERATURE).then_some(limits.planning_temperature),
        planning_tokens: is_set(PLANNING_TOKENS).then_some(limits.planning_tokens),
        confirmation_temperature: is_set(CONFIRMATION_TEMPERATURE).then_some(limits.confirmation_temperature),
        confirmation_tokens: is_set(CONFIRMATION_TOKENS).then_some(limits.confirmation_tokens),
        is_reworded: arguments.reworded,
    })
}

fn show(arguments: &EvalArguments, scores: &[ModelScore], unread: &[(Recording, TapesError)]) -> anyhow::Result<()> {
    if arguments.json {
        let unread: Vec<_> = unread
            .iter()
            .map(|(recording, problem)| json!({"mission": recording.mission, "problem": problem.to_string()}))
            .collect();
        println!("{}", serde_json::to_string_pretty(&json!({"models": scores, "not_read": unread}))?);
        return Ok(());
    }
    print!("{}", table::table(scores));
    if arguments.differences {
        for score in scores {
            print!("{}", table::differences(score));
        }
    }
    for (_, problem) in unread {
        eprintln!("cortex: not asked: {problem}");
    }
    Ok(())
}

fn show_progress(model: &str, done: usize, all: usize) {
    if std::io::stderr().is_terminal() {
        let model: String = model.chars().filter(|letter| !letter.is_control()).take(60).collect();
        eprint!("\r\x1b[K{done}/{all} {model}");
    }
}

fn clear_progress() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_the_exit_status_was_0_or_1_where_nothing_could_be_asked() {
        let nothing = || ModelScore::of("a".to_owned(), Vec::new());
        let asked = || ModelScore { requests: 1, ..nothing() };
        for is_whole in [true, false] {
            assert!(status(&[nothing(), nothing()], is_whole) == ExitCode::from(2), "{is_whole}");
        }
        assert!(status(&[nothing(), asked()], true) == ExitCode::SUCCESS);
        assert!(status(&[asked()], false) == ExitCode::FAILURE);
    }
}
