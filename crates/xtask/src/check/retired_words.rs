//! Names that have another word now: one meaning, one word, in code, keys, documents and recipes alike.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Finding, files_below, read};

/// The word that is gone, and the one that took its place.
const RETIRED: [(&str, &str); 29] = [
    ("hang_s", "timeout_s"),
    ("hung_after_s", "stall_timeout_s"),
    ("max_idle_s", "idle_timeout_s"),
    ("pause_patience_s", "pause_timeout_s"),
    ("settle_timeout_s", "startup_timeout_s"),
    ("rest_s", "cooldown_s"),
    ("heal_after_s", "failure_decay_s"),
    ("tell_operator", "notify_operator"),
    ("TellOperator", "NotifyOperator"),
    ("--end-with", "--exit-with-pid"),
    ("endpoint.structured", "endpoint.structured_output"),
    ("flush = \"system\"", "flush = \"os\""),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("cortex correct", "cortex revise"),
    ("~/correct", "~/revise"),
    ("CorrectTask", "ReviseTask"),
    ("TaskCorrected", "TaskRevised"),
    ("CorrectionRefusal", "RevisionRefusal"),
    ("DeskMessage", "QueueMessage"),
    ("GoalClass", "TaskClass"),
    ("Sighting", "Observation"),
    ("stand_in", "standby"),
    ("because_of", "cause"),
    ("stand-in", "standby"),
    ("EventDeed", "EventAction"),
    ("DeedOutcome", "ActionResult"),
    ("Deed", "ActionKind"),
    ("RunMark", "RunTag"),
];

/// Where people read and write names.
const FOLDERS: [&str; 7] = ["crates", "config", "docs", "launch", "msg", "recipes", "tests"];
const ENDINGS: [&str; 6] = ["rs", "md", "toml", "py", "msg", "srv"];

/// Looks for retired words in all files that people read.
pub(super) fn check(repository: &Path) -> Result<Vec<Finding>> {
    // People may well say them to a robot.
    let is_said = |file: &PathBuf| file.starts_with(repository.join("crates/cortex-language/data"));
    let is_this = |file: &PathBuf| file.ends_with("check/retired_words.rs") || is_said(file);
    let mut files: Vec<PathBuf> = ["README.md", "CHANGELOG.md"].iter().map(|name| repository.join(name)).collect();
    for folder in FOLDERS.iter().map(|folder| repository.join(folder)).filter(|folder| folder.is_dir()) {
        files.extend(files_below(&folder, &ENDINGS)?);
    }
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !is_this(file) && file.is_file()) {
        let shown = file.strip_prefix(repository).unwrap_or(file).display().to_string();
        findings.extend(judge(&shown, &read(file)?));
    }
    Ok(findings)
}

fn judge(name: &str, text: &str) -> Vec<Finding> {
    let found = |line: &str| RETIRED.iter().find(|(retired, _)| holds(line, retired));
    let hits = text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, found(line)?)));
    hits.map(|(line, (retired, word))| {
        Finding::new(format!("{name}:{line} says {retired:?}"), format!("write {word:?}, which means the same"))
    })
    .collect()
}

/// Returns true if the word stands in the line by itself: "rest_s" is no part of "nearest_s".
fn holds(line: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    // A line break in a string is no letter.
    let line = line.replace("\\n", "  ");
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retired_word_is_found_where_it_stands_by_itself() {
        assert_eq!(judge("a.toml", "nearest_s = 1\ninterest_s = 2\n"), []);
        let found = judge("recipes/a.toml", "a = 1\nrest_s = 120.0\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].what.starts_with("recipes/a.toml:2"), "{}", found[0].what);
        assert!(found[0].fix.contains("cooldown_s"), "{}", found[0].fix);
        assert_eq!(judge("a.rs", r#""retries = 1\nrest_s = 5""#).len(), 1);
    }
}
