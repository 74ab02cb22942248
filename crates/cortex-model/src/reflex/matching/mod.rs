//! From a clause to the call that it asks for.
//!
//! Every word of the clause must be accounted for: by a pattern, by a tool's name, by a value, or by being one of the
//! few words that carry nothing. A single word too many and the clause is not understood. Sentence patterns of the
//! tools come first, then the words of their names, then those of their descriptions.

//!
//! - `clause`: one clause held against one tool;
//! - `phrases`, `names`, `speech`: the three ways in which it may fit;
//! - `values`: which parameter a value is meant for.

use serde_json::{Map, Value};

use super::lexicon;
use super::problem::Problem;
use super::tokens::{Kind, Token};
use super::toolbox::Toolbox;

mod clause;
mod names;
mod phrases;
mod speech;
mod values;

use clause::{Attempt, Clause, Miss};

/// How well a clause fits a tool; greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// Whether every word is accounted for without free text.
    closed: bool,
    source: Source,
    /// Words that the tool itself accounts for.
    matched: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Description,
    Name,
    Phrase,
}

/// A call that a clause asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: usize,
    pub(super) arguments: Map<String, Value>,
    score: Score,
}

impl Call {
    /// A call that answers a question.
    pub(super) fn research(tool: usize, arguments: Map<String, Value>) -> Self {
        Self { tool, arguments, score: Score { closed: true, source: Source::Name, matched: 0 } }
    }

    /// Whether it ends in text of the person's own, so that what follows may belong to it.
    pub(super) fn is_open(&self) -> bool {
        !self.score.closed
    }
}

/// The call that the clause asks for. `task` is the text that the tokens were read from.
///
/// # Errors
/// Why there is none, [`Problem::Unknown`] if nothing even comes close.
pub(super) fn command(toolbox: &Toolbox<'_>, task: &str, tokens: &[Token]) -> Result<Call, Problem> {
    // "Going to the kitchen" tells of something; it asks for nothing.
    let verb = tokens.iter().find(|token| !token.is_filler());
    if verb.is_some_and(|verb| verb.kind == Kind::Word && lexicon::is_told(&verb.word)) {
        return Err(Problem::Unknown);
    }
    let mut candidates = Candidates::default();
    for (index, tool) in toolbox.tools.iter().enumerate() {
        let clause = Clause { task, tokens, tool, index };
        for phrase in &tool.phrases {
            let attempt = clause.by_phrase(phrase);
            if let Some(Err(Miss { problem: problem @ Problem::UnknownValue { .. }, .. })) = &attempt {
                candidates.wrong_value.get_or_insert_with(|| problem.clone());
            }
            candidates.take(attempt);
        }
        candidates.take(clause.by_name());
        candidates.take(clause.by_speech());
    }
    candidates.choose()
}

/// What the tools make of one clause.
#[derive(Default)]
struct Candidates {
    found: Vec<Call>,
    closest: Option<Miss>,
    /// A sentence pattern that fits but for a value that its tool does not take.
    wrong_value: Option<Problem>,
}

impl Candidates {
    fn take(&mut self, attempt: Attempt) {
        match attempt {
            Some(Ok(call)) => self.found.push(call),
            Some(Err(miss)) if self.closest.as_ref().is_none_or(|other| miss.closeness > other.closeness) => {
                self.closest = Some(miss);
            }
            Some(Err(_)) | None => {}
        }
    }

    /// The one best call; nothing if there are several.
    fn choose(self) -> Result<Call, Problem> {
        let Some(best) = self.found.iter().map(|call| call.score).max() else {
            return Err(self.closest.map_or(Problem::Unknown, |miss| miss.problem));
        };
        // "Move to the garage" is no order to an arm, only because that moves whatever it is told.
        if let Some(wrong_value) = self.wrong_value
            && !best.closed
            && best.source != Source::Phrase
        {
            return Err(wrong_value);
        }
        let mut calls: Vec<Call> = self.found.into_iter().filter(|call| call.score == best).collect();
        calls.dedup_by(|one, other| one.tool == other.tool && one.arguments == other.arguments);
        if calls.len() == 1
            && let Some(only) = calls.pop()
        {
            return Ok(only);
        }
        let mut tools: Vec<usize> = calls.iter().map(|call| call.tool).collect();
        tools.dedup();
        Err(Problem::Several { tools })
    }
}

/// The first word of the clause that forbids a guess, the gravest kind first.
pub(super) fn guarded(tokens: &[Token]) -> Option<Problem> {
    let words = tokens.iter().filter(|token| token.kind == Kind::Word);
    words
        .filter_map(|token| Some((lexicon::guard(&token.word)?, token)))
        .min_by_key(|(guard, _)| *guard)
        .map(|(guard, token)| Problem::Guarded { guard, word: token.word.clone() })
}

/// Most values that are listed for a person.
const LISTED: usize = 8;

/// The first of several values, and how many there are besides.
pub(super) fn listed(values: &[String]) -> String {
    let shown: Vec<&str> = values.iter().take(LISTED).map(String::as_str).collect();
    let more = values.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
