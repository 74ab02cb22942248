//! Learnt wordings: questions of the embedded reader to which a person said yes, so that they are not asked again.
//!
//! A wording is words as they were said and the sentence that was offered for them. It answers the reader's question whether
//! these very words mean this very sentence, and does nothing else: what the reader would refuse, it still refuses.
//!
//! They are kept in a file of JSON lines that people may read, change and shorten. This module is pure: it reads and writes
//! the text; [`WordingFile`] is where it stands.

mod file;

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use file::{WordingFile, WordingsError};

/// Most wordings of one robot. With more, those that were used least make room.
pub const MAX_WORDINGS: usize = 1_000;
/// Longest words, and longest meaning, in characters.
const MOST_CHARACTERS: usize = 300;
/// Longest name of whoever accepted a wording, in characters.
const NAME_CHARACTERS: usize = 100;
/// Most characters of a problem that is told.
const PROBLEM_CHARACTERS: usize = 200;
/// What a new file begins with.
const HEADER: &str = "# Wordings that people have accepted, one on a line. Delete a line, and the robot asks again.";
/// How a line is written, for whoever has to correct one.
const FORM: &str = r#"write it as {"words": "...", "means": "...", "accepted": "2026-01-31"}, or delete the line"#;

/// What some words mean, as a person has accepted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// The words as they were said, without courtesies.
    pub words: String,
    /// The sentence that the reader offered for them.
    pub means: String,
    /// When a person accepted it: a date, or a date and a time.
    pub accepted: String,
    /// Who did, as `channel:client`. Empty: that is not known.
    #[serde(default)]
    pub by: String,
    /// How often it spared a question.
    #[serde(default)]
    pub used: u64,
}

impl Wording {
    /// The day on which it was accepted.
    #[must_use]
    pub fn day(&self) -> &str {
        self.accepted.get(..DAY).unwrap_or(&self.accepted)
    }

    /// Returns true if this sentence is what it means.
    pub(crate) fn is_for(&self, sentence: &str) -> bool {
        plain(&self.means) == plain(sentence)
    }

    /// Checks what a file or a person says.
    ///
    /// # Errors
    /// What is wrong, and what to do about it.
    fn check(&self) -> Result<(), WordingProblem> {
        for (field, text, most) in [
            ("words", &self.words, MOST_CHARACTERS),
            ("means", &self.means, MOST_CHARACTERS),
            ("by", &self.by, NAME_CHARACTERS),
        ] {
            if text.chars().nth(most).is_some() || text.contains(char::is_control) {
                return Err(WordingProblem::Text { field, most });
            }
        }
        if plain(&self.words).is_empty() || plain(&self.means).is_empty() {
            return Err(WordingProblem::SaysNothing);
        }
        if !is_date(&self.accepted) {
            return Err(WordingProblem::NoDate);
        }
        Ok(())
    }
}

/// Why a wording, or the line that it stands in, is not used; and what to do about it.
#[derive(Debug, PartialEq, Error)]
enum WordingProblem {
    #[error("'{field}' is longer than {most} characters or has control characters in it; fix: {FORM}")]
    Text { field: &'static str, most: usize },
    #[error("'words' or 'means' says nothing; fix: {FORM}")]
    SaysNothing,
    #[error("'accepted' is no date; fix: write it as 2026-01-31, or delete the line")]
    NoDate,
    #[error("it is no text in UTF-8; fix: {FORM}")]
    NoText,
    #[error("{problem}; fix: {FORM}")]
    Malformed { problem: String },
    #[error("line {line} has the same words; fix: delete one of the two")]
    SameWords { line: usize },
    #[error("there are more than {MAX_WORDINGS} wordings; fix: delete some that are not needed")]
    TooMany,
}

/// Characters of a date.
const DAY: usize = 10;

/// Returns true if the text is a date such as 2026-01-31, alone or with a time.
fn is_date(text: &str) -> bool {
    let is_in_place = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        0..DAY => byte.is_ascii_digit(),
        DAY => byte == b'T' || byte == b' ',
        _ => byte.is_ascii_graphic(),
    };
    (DAY..=40).contains(&text.len()) && text.bytes().enumerate().all(is_in_place)
}

/// The words in lower case, without the marks around them and without wide gaps.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.trim_matches(['.', ',', ';', ':', '!', '?']));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A line of the file that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it, and what to do.
    pub problem: String,
}

impl BadLine {
    /// The file may have been written by anybody, and what is wrong with it may quote it.
    fn new(line: usize, problem: &WordingProblem) -> Self {
        let problem = problem.to_string();
        let problem = problem.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        Self { line, problem: problem.take(PROBLEM_CHARACTERS).collect() }
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.problem)
    }
}

/// What came of a mission, for the wordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lesson {
    /// A person said yes to this meaning, and it was carried out.
    Accepted {
        /// The words.
        words: String,
        /// What they mean.
        means: String,
        /// Who said yes.
        by: String,
    },
    /// A learnt wording was carried out without a question.
    Used {
        /// The words.
        words: String,
    },
    /// A person says that these words were taken for something else.
    Disputed {
        /// The words.
        words: String,
    },
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq)]
enum Line {
    Wording {
        plain: String,
        wording: Wording,
    },
    /// A comment, or a line that is not used. It is kept as it is: a person may want to correct it.
    Other(Vec<u8>),
}

/// The wordings of a robot, with everything else that its file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wordings {
    lines: Vec<Line>,
}

impl Wordings {
    /// Reads a file, and names the lines that are not used.
    #[must_use]
    pub fn read(bytes: &[u8]) -> (Self, Vec<BadLine>) {
        let mut read = Self::default();
        let mut bad = Vec::new();
        for (index, bytes) in bytes.split(|byte| *byte == b'\n').enumerate() {
            match read.read_line(bytes) {
                Ok(Some(line)) => read.lines.push(line),
                Ok(None) => read.lines.push(Line::Other(bytes.to_vec())),
                Err(problem) => {
                    bad.push(BadLine::new(index + 1, &problem));
                    read.lines.push(Line::Other(bytes.to_vec()));
                }
            }
        }
        // What follows the last line break is no line.
        if read.lines.last() == Some(&Line::Other(Vec::new())) {
            read.lines.pop();
        }
        (read, bad)
    }

    /// Reads a line; `None` if it is empty or a comment.
    fn read_line(&self, bytes: &[u8]) -> Result<Option<Line>, WordingProblem> {
        let text = std::str::from_utf8(bytes).map_err(|_| WordingProblem::NoText)?.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let malformed = |problem: serde_json::Error| WordingProblem::Malformed { problem: problem.to_string() };
        let wording: Wording = serde_json::from_str(text).map_err(malformed)?;
        wording.check()?;
        let plain = plain(&wording.words);
        if let Some(other) = self.lines.iter().position(|line| line.is_of(&plain)) {
            return Err(WordingProblem::SameWords { line: other + 1 });
        }
        if self.len() >= MAX_WORDINGS {
            return Err(WordingProblem::TooMany);
        }
        Ok(Some(Line::Wording { plain, wording }))
    }

    /// The file.
    #[must_use]
    pub fn written(&self) -> Vec<u8> {
        let mut written = Vec::new();
        for line in &self.lines {
            match line {
                // A struct of texts and numbers can always be written.
                Line::Wording { wording, .. } => written.extend(serde_json::to_vec(wording).unwrap_or_default()),
                Line::Other(bytes) => written.extend(bytes),
            }
            written.push(b'\n');
        }
        written
    }

    /// All of them, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Wording> {
        self.lines.iter().filter_map(|line| match line {
            Line::Wording { wording, .. } => Some(wording),
            Line::Other(_) => None,
        })
    }

    /// Returns the number of wordings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns true if nothing was learnt.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// What these words mean.
    #[must_use]
    pub fn find(&self, words: &str) -> Option<&Wording> {
        let words = plain(words);
        self.lines.iter().find_map(|line| match line {
            Line::Wording { plain, wording } if *plain == words => Some(wording),
            _ => None,
        })
    }

    /// Forgets what these words mean, and returns it.
    pub fn forget(&mut self, words: &str) -> Option<Wording> {
        let words = plain(words);
        let at = self.lines.iter().position(|line| line.is_of(&words))?;
        match self.lines.remove(at) {
            Line::Wording { wording, .. } => Some(wording),
            Line::Other(_) => None,
        }
    }

    /// Takes in what came of a mission; `now` is a date and a time. Returns true if that changes anything.
    pub fn take(&mut self, lesson: &Lesson, now: &str) -> bool {
        match lesson {
            Lesson::Accepted { words, means, by } => {
                let (words, means, by) = (words.clone(), means.clone(), by.clone());
                self.learn(Wording { words, means, accepted: now.to_owned(), by, used: 0 })
            }
            Lesson::Used { words } => {
                let words = plain(words);
                let known = self.lines.iter_mut().find_map(|line| match line {
                    Line::Wording { plain, wording } if *plain == words => Some(wording),
                    _ => None,
                });
                known.map(|wording| wording.used = wording.used.saturating_add(1)).is_some()
            }
            Lesson::Disputed { words } => self.forget(words).is_some(),
        }
    }

    /// What was said last counts. What a later reading of the file would not take is not learnt.
    fn learn(&mut self, wording: Wording) -> bool {
        if wording.check().is_err() {
            return false;
        }
        if self.lines.is_empty() {
            self.lines.push(Line::Other(HEADER.as_bytes().to_vec()));
        }
        self.forget(&wording.words);
        while self.len() >= MAX_WORDINGS {
            let least = self.iter().min_by(|one, other| (one.used, &one.accepted).cmp(&(other.used, &other.accepted)));
            let Some(words) = least.map(|least| least.words.clone()) else { break };
            self.forget(&words);
        }
        self.lines.push(Line::Wording { plain: plain(&wording.words), wording });
        true
    }
}

impl Line {
    fn is_of(&self, words: &str) -> bool {
        matches!(self, Self::Wording { plain, .. } if plain == words)
    }
}

#[cfg(test)]
mod tests;
