//! How well skills work on this robot: what came of the tasks that each was told to, counted, and kept in a file of JSON lines that
//! people may read and shorten.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cortex_protocol::skill_view::SkillCounts;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::stamp::Stamp;

/// Most bytes of the file, and most skills in it: more than are read of all folders.
const MOST_BYTES: u64 = 1 << 20;
const MOST_SKILLS: usize = 2_000;
/// Most characters of the name of a skill.
const NAME_CHARACTERS: usize = 64;
/// What a new file begins with.
const HEADER: &str =
    "# What came of the tasks that each skill was told to. Delete a line, and the skill counts as untried.";
/// How much more than a failure it counts that a person says "that was not it".
const DISPUTE_WEIGHT: f64 = 2.0;
/// How much of a success it counts that tools say so, and nothing shows it.
const UNVERIFIED_WEIGHT: f64 = 0.5;

/// What came of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillOutcome {
    /// It was carried out, and at least a part of it was verified.
    Succeeded,
    /// It was carried out, by the word of the tools alone.
    Unverified,
    /// It was not, or nothing shows that it was.
    Failed,
    /// Somebody ended it. That says nothing of the skill.
    Cancelled,
    /// A person says that it was not done as it should be, though it counted as done or not, or as neither.
    Disputed {
        /// What it counted as before.
        before: Option<CountedAs>,
    },
}

impl fmt::Display for SkillOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Succeeded => "succeeded",
            Self::Unverified => "not verified",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Disputed { .. } => "disputed",
        })
    }
}

/// What a task counted as that is disputed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedAs {
    /// As [`SkillOutcome::Succeeded`].
    Succeeded,
    /// As [`SkillOutcome::Unverified`].
    Unverified,
    /// As [`SkillOutcome::Failed`].
    Failed,
}

impl CountedAs {
    /// What an outcome counts as. None: as nothing that is taken back.
    #[must_use]
    pub fn of(outcome: SkillOutcome) -> Option<Self> {
        match outcome {
            SkillOutcome::Succeeded => Some(Self::Succeeded),
            SkillOutcome::Unverified => Some(Self::Unverified),
            SkillOutcome::Failed => Some(Self::Failed),
            SkillOutcome::Cancelled | SkillOutcome::Disputed { .. } => None,
        }
    }
}

/// Why the file can't be used. It is left as it is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutcomesError {
    /// It can't be read or written.
    #[error(
        "the outcomes of skills in {path} can't be used: {problem}; fix: see to it that it is a file of your own, or delete it"
    )]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        problem: io::Error,
    },
    /// It is too large.
    #[error("the outcomes of skills in {path} have more than {MOST_BYTES} bytes; fix: delete lines, or the file")]
    TooLarge {
        /// Which file.
        path: PathBuf,
    },
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    skill: String,
    #[serde(default)]
    succeeded: u32,
    #[serde(default)]
    unverified: u32,
    #[serde(default)]
    failed: u32,
    #[serde(default)]
    cancelled: u32,
    #[serde(default)]
    disputed: u32,
}

/// What is counted of all skills, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcomes(BTreeMap<String, SkillCounts>);

impl Outcomes {
    /// What is counted of a skill.
    #[must_use]
    pub fn of(&self, skill: &str) -> SkillCounts {
        self.0.get(skill).copied().unwrap_or_default()
    }

    /// Returns the share of successes that is expected of a skill, from 0 to 1: by the rule of succession, so that one which
    /// nobody has tried stands in the middle, and one try decides little.
    #[must_use]
    pub fn expected(&self, skill: &str) -> f64 {
        let counts = self.of(skill);
        let failures = f64::from(counts.failed) + f64::from(counts.disputed) * DISPUTE_WEIGHT;
        let successes = f64::from(counts.succeeded) + f64::from(counts.unverified) * UNVERIFIED_WEIGHT;
        (successes + 1.0) / (successes + failures + 2.0)
    }

    /// Takes in what came of a task that a skill was told to.
    pub fn count(&mut self, skill: &str, outcome: SkillOutcome) {
        let is_full = self.0.len() >= MOST_SKILLS && !self.0.contains_key(skill);
        if is_full || skill.is_empty() || skill.chars().count() > NAME_CHARACTERS {
            return;
        }
        let counts = self.0.entry(skill.to_owned()).or_default();
        let add = |count: &mut u32| *count = count.saturating_add(1);
        match outcome {
            SkillOutcome::Succeeded => add(&mut counts.succeeded),
            SkillOutcome::Unverified => add(&mut counts.unverified),
            SkillOutcome::Failed => add(&mut counts.failed),
            SkillOutcome::Cancelled => add(&mut counts.cancelled),
            SkillOutcome::Disputed { before } => {
                // The person's word takes the place of what was counted.
                let counted = before.map(|before| match before {
                    CountedAs::Succeeded => &mut counts.succeeded,
                    CountedAs::Unverified => &mut counts.unverified,
                    CountedAs::Failed => &mut counts.failed,
                });
                if let Some(counted) = counted {
                    *counted = counted.saturating_sub(1);
                }
                add(&mut counts.disputed);
            }
        }
    }

    fn written(&self) -> String {
        let mut written = format!("{HEADER}\n");
        for (skill, counts) in &self.0 {
            let SkillCounts { succeeded, unverified, failed, cancelled, disputed } = *counts;
            // A text and numbers can always be written.
            let line = Line { skill: skill.clone(), succeeded, unverified, failed, cancelled, disputed };
            let line = serde_json::to_string(&line).unwrap_or_default();
            written.push_str(&line);
            written.push('\n');
        }
        written
    }
}

/// What a file holds.
#[derive(Debug, Default)]
struct Content {
    outcomes: Outcomes,
    /// What is wrong with lines that are not used.
    problems: Vec<String>,
    /// The lines that are not used and the remarks, as they stand in the file: somebody may be editing them.
    unused: Vec<Vec<u8>>,
}

impl Content {
    /// Reads a file. A line that is none is left out and told of.
    fn read(bytes: &[u8]) -> Self {
        let mut read = Self::default();
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let trimmed = line.trim_ascii();
            if trimmed.is_empty() || trimmed == HEADER.as_bytes() {
                continue;
            }
            if trimmed.starts_with(b"#") {
                read.unused.push(line.to_owned());
                continue;
            }
            let problem = match serde_json::from_slice::<Line>(trimmed) {
                Ok(Line { skill, succeeded, unverified, failed, cancelled, disputed })
                    if read.outcomes.0.len() < MOST_SKILLS =>
                {
                    let counts = SkillCounts { succeeded, unverified, failed, cancelled, disputed };
                    read.outcomes.0.insert(skill, counts);
                    continue;
                }
                Ok(_) => format!("there are more than {MOST_SKILLS}"),
                Err(problem) => format!("{problem}; fix: delete it"),
            };
            read.problems.push(format!("line {}: {problem}", number + 1));
            read.unused.push(line.to_owned());
        }
        read
    }

    /// Forgets a skill; all, where none is named. No byte of it stays, also none of a damaged line.
    fn forget(&mut self, skill: Option<&str>) -> bool {
        let Some(skill) = skill else {
            let had_any = !self.outcomes.0.is_empty() || !self.problems.is_empty();
            *self = Self::default();
            return had_any;
        };
        let quoted = format!("\"{skill}\"");
        self.unused.retain(|line| !String::from_utf8_lossy(line).contains(&quoted));
        self.outcomes.0.remove(skill).is_some()
    }

    fn written(&self) -> Vec<u8> {
        let mut written = self.outcomes.written().into_bytes();
        for line in &self.unused {
            written.extend_from_slice(line);
            written.push(b'\n');
        }
        written
    }
}

/// The file. Clones share what was read of it.
#[derive(Debug, Clone)]
pub struct OutcomeFile {
    path: Arc<PathBuf>,
    /// What was read last.
    seen: Arc<Mutex<Option<Seen>>>,
}

/// What was read of the file, and of which state of it.
#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    outcomes: Arc<Outcomes>,
}

impl OutcomeFile {
    /// The outcomes in this file, which need not exist yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path: Arc::new(path), seen: Arc::default() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is counted now. A file that can't be used is told of in the log and counts nothing. Blocks.
    #[must_use]
    pub fn known(&self) -> Arc<Outcomes> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = fs::metadata(&*self.path).ok().map(|about| Stamp::of(&about));
        match (seen.as_ref(), stamp) {
            (_, None) => return Arc::default(),
            (Some(seen), Some(stamp)) if seen.stamp == stamp => return Arc::clone(&seen.outcomes),
            _ => {}
        }
        match self.read() {
            Ok((outcomes, bad)) => {
                for problem in bad.iter().take(10) {
                    tracing::warn!("outcomes of skills, {}, {problem}", self.path.display());
                }
                let outcomes = Arc::new(outcomes);
                *seen = stamp.map(|stamp| Seen { stamp, outcomes: Arc::clone(&outcomes) });
                outcomes
            }
            Err(problem) => {
                tracing::warn!("{problem}");
                Arc::default()
            }
        }
    }

    /// What it holds, and which lines are not used. Blocks.
    ///
    /// # Errors
    /// When it can't be read. One that does not exist holds nothing.
    pub fn read(&self) -> Result<(Outcomes, Vec<String>), OutcomesError> {
        self.content().map(|Content { outcomes, problems, .. }| (outcomes, problems))
    }

    fn content(&self) -> Result<Content, OutcomesError> {
        let failed = |problem| OutcomesError::Io { path: self.path.to_path_buf(), problem };
        match fs::metadata(&*self.path) {
            Ok(about) if about.is_file() => {}
            // To open a pipe waits for whoever writes into it.
            Ok(_) => return Err(failed(io::Error::other("it is no plain file"))),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
            Err(problem) => return Err(failed(problem)),
        }
        let mut bytes = Vec::new();
        File::open(&*self.path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(OutcomesError::TooLarge { path: self.path.to_path_buf() });
        }
        Ok(Content::read(&bytes))
    }

    /// Counts what came of a task for the skills that were told to it. Blocks.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub fn count(&self, skills: &[String], outcome: SkillOutcome) -> Result<(), OutcomesError> {
        self.change(|content| skills.iter().for_each(|skill| content.outcomes.count(skill, outcome)))
    }

    /// Forgets what came of a skill; of all, where none is named. Says whether there was anything. Blocks.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub fn forget(&self, skill: Option<&str>) -> Result<bool, OutcomesError> {
        if !self.path.exists() {
            return Ok(false);
        }
        let mut had_any = false;
        self.change(|content| had_any = content.forget(skill))?;
        Ok(had_any)
    }

    fn change(&self, change: impl FnOnce(&mut Content)) -> Result<(), OutcomesError> {
        let failed = |problem| OutcomesError::Io { path: self.path.to_path_buf(), problem };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        // Held until it is dropped: the command line may write, too.
        let lock = File::open(folder).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut content = self.content()?;
        change(&mut content);
        let written = content.written();
        if written.len() as u64 > MOST_BYTES {
            // It could not be read any more.
            return Err(OutcomesError::TooLarge { path: self.path.to_path_buf() });
        }
        let new = self.path.with_extension("new");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(failed)?;
        file.write_all(&written).and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&new, &*self.path).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_who_says_that_it_was_not_it_counts_as_two_failures_in_the_place_of_the_success() {
        let mut outcomes = Outcomes::default();
        assert!((outcomes.expected("round") - 0.5).abs() < 1e-9, "nobody has tried it");
        outcomes.count("round", SkillOutcome::Succeeded);
        outcomes.count("round", SkillOutcome::Cancelled);
        assert!((outcomes.expected("round") - 2.0 / 3.0).abs() < 1e-9, "who ends a task says nothing of the skill");
        outcomes.count("round", SkillOutcome::Disputed { before: Some(CountedAs::Succeeded) });
        assert_eq!(outcomes.of("round"), SkillCounts { cancelled: 1, disputed: 1, ..SkillCounts::default() });
        assert!((outcomes.expected("round") - 0.25).abs() < 1e-9);
        for _ in 0..2 {
            outcomes.count("tour", SkillOutcome::Failed);
        }
        assert!((outcomes.expected("tour") - 0.25).abs() < 1e-9, "as much as two failures");
    }

    #[test]
    fn what_was_counted_is_there_after_a_restart_until_it_is_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("skills").join("outcomes.jsonl");
        let file = OutcomeFile::new(path.clone());
        assert!(!file.forget(None).unwrap() && !path.exists());
        file.count(&["round".to_owned(), "tour".to_owned()], SkillOutcome::Succeeded).unwrap();
        file.count(&["tour".to_owned()], SkillOutcome::Failed).unwrap();
        let restarted = OutcomeFile::new(path.clone());
        assert_eq!(restarted.known().of("tour"), SkillCounts { succeeded: 1, failed: 1, ..SkillCounts::default() });
        assert!(restarted.forget(Some("tour")).unwrap() && !restarted.forget(Some("tour")).unwrap());
        assert_eq!(file.known().of("tour"), SkillCounts::default(), "also for who had read it before");
        assert_eq!(file.known().of("round").succeeded, 1);
        assert!(file.forget(None).unwrap());
        assert!(!fs::read_to_string(&path).unwrap().contains("round"), "no byte of it stays");
    }

    #[test]
    fn a_damaged_line_costs_no_more_than_itself() {
        let text = b"# x\n{\"skill\":\"a\",\"succeeded\":2}\n{\"skill\":\n{\"skill\":\"b\",\"failed\":1}\n";
        let Content { outcomes: read, problems: bad, .. } = Content::read(text);
        assert_eq!((read.of("a").succeeded, read.of("b").failed), (2, 1));
        assert!(bad.len() == 1 && bad[0].starts_with("line 3: "), "{bad:?}");
        let root = tempfile::tempdir().unwrap();
        let folder = OutcomeFile::new(root.path().to_owned());
        assert!(folder.read().unwrap_err().to_string().contains("it is no plain file"));
        assert_eq!(*folder.known(), Outcomes::default());
    }

    /// A line that somebody was editing was gone with the next task.
    #[test]
    fn regression_a_line_that_is_not_read_is_kept_as_it_is_until_it_is_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("outcomes.jsonl");
        let unused = b"# a remark\n{\"skill\":\"tour\", \xff\n";
        fs::write(&path, unused).unwrap();
        let file = OutcomeFile::new(path.clone());
        for _ in 0..2 {
            file.count(&["round".to_owned()], SkillOutcome::Failed).unwrap();
        }
        let written = fs::read(&path).unwrap();
        assert!(written.ends_with(unused), "{}", String::from_utf8_lossy(&written));
        assert_eq!(file.known().of("round").failed, 2);
        file.forget(Some("tour")).unwrap();
        assert!(fs::read(&path).unwrap().ends_with(b"# a remark\n"));
        assert!(file.forget(None).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}\n"));
    }
}
