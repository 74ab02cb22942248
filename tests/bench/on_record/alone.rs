//! Parts of a row that are processes of their own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// The arguments of such a process.
const PART: &str = "--part-alone";
const FILE: &str = "--file";
const FIRST: &str = "--first";

/// This program, for one part, with the file that it works on and the first number that it writes.
pub(crate) fn part(name: &str, file: &Path, first: u64) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([PART, name, FIRST, &first.to_string(), FILE]).arg(file);
    Ok(command)
}

/// Runs a part to its end, and reads the figures that it prints.
pub(crate) fn figures(name: &str, file: &Path) -> anyhow::Result<Value> {
    let output = part(name, file, 0)?.stderr(std::process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{name} failed");
    serde_json::from_slice(&output.stdout).with_context(|| format!("{name} prints no figures"))
}

/// One of the figures.
pub(crate) fn figure(figures: &Value, key: &str) -> f64 {
    figures.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// The file that this part works on.
pub(crate) fn file() -> anyhow::Result<PathBuf> {
    let mut arguments = std::env::args_os().skip_while(|argument| *argument != FILE);
    Ok(arguments.nth(1).context("no file")?.into())
}

/// The first number that this part writes.
pub(crate) fn first() -> anyhow::Result<u64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != FIRST);
    Ok(arguments.nth(1).context("no number")?.parse()?)
}

/// Memory of this process, in megabytes: what it shares with others counts for its share.
pub(crate) fn own_megabytes() -> anyhow::Result<f64> {
    kilobytes("/proc/self/smaps_rollup", "Pss:")
}

/// The most memory that this process ever held, in megabytes.
pub(crate) fn most_megabytes() -> anyhow::Result<f64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

fn kilobytes(file: &str, name: &str) -> anyhow::Result<f64> {
    let text = std::fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
    let kilobytes: f64 = line.split_whitespace().next().context("no value")?.parse()?;
    Ok(kilobytes / 1024.0)
}

/// The times as milliseconds, for the figures.
pub(crate) fn milliseconds(times: &[Duration]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs_f64() * 1e3).collect()
}

/// The times of the figures.
pub(crate) fn times(figures: &Value, key: &str) -> Vec<Duration> {
    let list = figures.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_f64).map(|time| Duration::from_secs_f64(time / 1e3)).collect()
}
