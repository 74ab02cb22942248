//! A condition that the robot can check: a tool that looks, and the answer by which the condition holds.
//!
//! Whether an answer is that one is decided by the answer alone, strictly: whatever it leaves open can't be told, and
//! then nothing is done.

mod answers;
mod measured;

pub(crate) use measured::{converted, same_measure};

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::numbers::Unit;
use crate::phrases::PhraseSet;
use crate::reading::Call;
use crate::sentence::Word;

/// What has to be so, and the look that tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The call that looks.
    pub look: Call,
    /// The words of the condition, as written.
    pub clause: String,
    /// True if it holds where its words are not so: after "unless".
    pub unless: bool,
    /// True if it holds where the test fails.
    pub(crate) negated: bool,
    pub(crate) test: Test,
}

/// What the answer of the look has to say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// A state: "on". Its opposite says that it is not so.
    State {
        state: String,
        opposite: String,
        /// What a bare yes of the tool means, where its declaration says so.
        yes: Option<bool>,
    },
    /// A number.
    Compare(Compare),
    /// One of a few values: the place where the robot is.
    Value { value: Value, among: Vec<Value> },
    /// That there is something.
    Present {
        /// Words of the tool, by which it may name what it tells.
        names: Vec<String>,
    },
    /// That this is among what is seen.
    Seen {
        thing: String,
        /// True if it may be seen without being named so: a cook is somebody, too.
        is_person: bool,
    },
}

/// A number to which the answer is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compare {
    pub(crate) than: Than,
    /// In the unit of the tool.
    pub(crate) number: f64,
    /// The unit of the tool.
    pub(crate) unit: Option<Unit>,
    /// Words of the tool, by which it may name the number.
    pub(crate) names: Vec<String>,
}

/// How a number has to be to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Than {
    More,
    AtLeast,
    Less,
    AtMost,
}

impl Condition {
    /// The place of which it speaks.
    pub(crate) fn place(&self) -> Option<&Value> {
        match &self.test {
            Test::Value { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Whether the condition holds by what the look returned. None: that can't be told, and nothing may be done for it.
    #[must_use]
    pub fn holds(&self, found: &Value) -> Option<bool> {
        let holds = match &self.test {
            Test::State { state, opposite, yes } => answers::state(found, state, opposite, *yes),
            Test::Compare(compare) => measured::compared(found, compare),
            Test::Value { value, among } => answers::value(found, value, among),
            Test::Present { names } => answers::present(found, names),
            Test::Seen { thing, is_person } => answers::seen(found, thing, *is_person),
        };
        holds.map(|holds| holds != self.negated)
    }
}

/// The words in which a language puts conditions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conditions {
    pub(crate) opens: PhraseSet,
    pub(crate) opens_negated: PhraseSet,
    pub(crate) timed: PhraseSet,
    pub(crate) inverted: PhraseSet,
    pub(crate) asks_whether: PhraseSet,
    pub(crate) so: PhraseSet,
    pub(crate) so_alone: PhraseSet,
    pub(crate) so_then: PhraseSet,
    pub(crate) otherwise: PhraseSet,
    pub(crate) otherwise_alone: PhraseSet,
    pub(crate) thens: PhraseSet,
    pub(crate) negatives: BTreeMap<String, String>,
    pub(crate) compares: Compares,
    pub(crate) more: BTreeMap<String, String>,
    pub(crate) less: BTreeMap<String, String>,
    pub(crate) measures: BTreeMap<String, String>,
    pub(crate) words: ConditionWords,
    /// Of the answers of tools; only English says it.
    #[serde(default)]
    pub(crate) answers: AnswerWords,
}

impl Conditions {
    /// The number of words that name a condition again that holds: "if so", "if it is,".
    pub(crate) fn so_far(&self, words: &[Word]) -> usize {
        self.so.length(words).max(alone(&self.so_alone, words, self))
    }

    /// The number of words that name the opposite of a condition: "otherwise", "if not".
    pub(crate) fn or_not(&self, words: &[Word]) -> usize {
        self.otherwise.length(words).max(alone(&self.otherwise_alone, words, self))
    }
}

/// "If it is, ..." names a condition again; "if it is dark" is another one.
fn alone(phrases: &PhraseSet, words: &[Word], conditions: &Conditions) -> usize {
    let length = phrases.length(words);
    let rest = words.get(length..).unwrap_or_default();
    let ends = rest.first().is_none_or(Word::is_punctuation) || conditions.thens.length(rest) > 0;
    if ends { length } else { 0 }
}

/// Words around a number to which something is compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compares {
    pub(crate) more: PhraseSet,
    pub(crate) less: PhraseSet,
    pub(crate) at_least: PhraseSet,
    pub(crate) at_most: PhraseSet,
    pub(crate) or_more: PhraseSet,
    pub(crate) or_less: PhraseSet,
    pub(crate) than: PhraseSet,
    pub(crate) half: PhraseSet,
}

/// Words of the condition itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConditionWords {
    pub(crate) is: PhraseSet,
    pub(crate) are: PhraseSet,
    pub(crate) shows: PhraseSet,
    pub(crate) now: PhraseSet,
    pub(crate) you_are: PhraseSet,
    #[serde(rename = "where")]
    pub(crate) place: String,
    pub(crate) what_seen: String,
    pub(crate) you_have: PhraseSet,
    pub(crate) your_battery: String,
    pub(crate) asks_there: String,
    pub(crate) asks_seen: String,
    pub(crate) a_person: String,
    pub(crate) attached: String,
    pub(crate) attached_is: String,
    pub(crate) there: PhraseSet,
    pub(crate) seen: PhraseSet,
    pub(crate) is_there: PhraseSet,
    pub(crate) something: PhraseSet,
    pub(crate) somebody: PhraseSet,
    pub(crate) any: PhraseSet,
    pub(crate) elsewhen: PhraseSet,
    /// Say how it is around the robot rather than how a thing is: "unless it is dark".
    pub(crate) surroundings: PhraseSet,
}

/// Words of the answers of tools.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerWords {
    pub(crate) tells: PhraseSet,
    pub(crate) not: PhraseSet,
    pub(crate) uncertain: PhraseSet,
    pub(crate) yes: PhraseSet,
    pub(crate) no: PhraseSet,
    pub(crate) nothing: PhraseSet,
    pub(crate) generic: PhraseSet,
    pub(crate) present: PhraseSet,
    pub(crate) counts: PhraseSet,
    pub(crate) at: PhraseSet,
    pub(crate) shares: PhraseSet,
    pub(crate) whether: PhraseSet,
    pub(crate) counting: PhraseSet,
    pub(crate) vacant: PhraseSet,
}
