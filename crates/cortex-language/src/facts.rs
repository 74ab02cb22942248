//! The facts of a language that no list of its grammar holds: how it is told apart, spelt, counted and put in order.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::data_error::DataError;
use crate::phrases::{Names, PhraseSet};

/// The facts of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    /// For people who read the file.
    #[serde(rename = "name")]
    _name: String,
    /// Frequent words, by which a text is told to be in this language.
    pub(crate) common: PhraseSet,
    /// True if WordNet holds its words.
    pub(crate) wordnet: bool,
    pub(crate) spelling: Spelling,
    pub(crate) compounds: Compounds,
    pub(crate) order: Order,
    pub(crate) counting: Counting,
    pub(crate) hints: Hints,
}

/// The spelling of words and numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spelling {
    /// Letters, and the letters as which they are read.
    pub(crate) letters: BTreeMap<char, String>,
    /// Endings of owners.
    pub(crate) owners: Names,
    /// Endings that are words of their own.
    pub(crate) attached: BTreeMap<String, String>,
    /// The sign before a fraction.
    pub(crate) decimal: char,
    /// True if a full stop makes a place in a row of a number.
    pub(crate) full_stop_orders: bool,
    /// Words before which a comma divides nothing.
    pub(crate) unbroken: PhraseSet,
}

/// Words that are joined to one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compounds {
    pub(crate) joined: bool,
    /// Letters between two parts.
    pub(crate) links: Names,
    /// Letters between the parts of a number.
    pub(crate) numbers: String,
    /// One, as the beginning of a number.
    pub(crate) one: String,
}

/// The place of verbs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) verb: VerbPlace,
    /// The word before an infinitive.
    pub(crate) infinitive: String,
    /// Whoever is spoken to stands after the verb: the word, and the endings of the verb before it.
    pub(crate) address: BTreeMap<String, Names>,
    /// Endings of verbs that tell of somebody else: no order, and no typing slip either.
    pub(crate) tells: Names,
    /// Words after which the verb of a text stands at its end.
    pub(crate) subordinators: PhraseSet,
    /// Verbs that then stand there.
    pub(crate) finite: PhraseSet,
}

/// The place of the verb of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum VerbPlace {
    /// At the beginning.
    #[serde(rename = "first")]
    First,
    /// At the beginning or at the end.
    #[serde(rename = "first or last")]
    FirstOrLast,
}

/// Words of numbers and measures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counting {
    pub(crate) minus: PhraseSet,
    /// Numbers that are said in words of their own: "a couple of".
    pub(crate) parts: BTreeMap<String, f64>,
    /// Shares of one: "half", "three quarters".
    pub(crate) fractions: BTreeMap<String, f64>,
    /// "... and a half".
    pub(crate) fractions_more: BTreeMap<String, f64>,
    /// Articles that count one before hundreds.
    pub(crate) one: PhraseSet,
    /// Articles that count one before a unit.
    pub(crate) single: PhraseSet,
    pub(crate) point: PhraseSet,
    /// Between the parts of a number.
    pub(crate) joint: PhraseSet,
    /// Between a unit and the time for which it counts.
    pub(crate) per: PhraseSet,
    /// After degrees: the scale of a thermometer, with its English name.
    pub(crate) scales: BTreeMap<String, String>,
    /// After a number that a device multiplies by: the "x" of "100x".
    pub(crate) magnifies: PhraseSet,
    pub(crate) ordinal_endings: Names,
    /// Between the first and the last of a range.
    pub(crate) ranges: PhraseSet,
    /// Carry nothing within the name of a value.
    pub(crate) fillers: PhraseSet,
    pub(crate) number: PhraseSet,
    /// Units in words of the language, each with its symbol or English name.
    pub(crate) units: BTreeMap<String, String>,
}

/// Words on which rules of the reader turn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hints {
    /// After "all": what is left out.
    pub(crate) but: PhraseSet,
    /// Point at a thing that is named.
    pub(crate) pointing: PhraseSet,
    /// Stand for a thing of which only the kind was said.
    pub(crate) ones: PhraseSet,
    /// Whoever gets something.
    pub(crate) recipients: PhraseSet,
    /// Join orders, and carry nothing within one.
    pub(crate) links: PhraseSet,
    /// The robot itself.
    pub(crate) addressed: PhraseSet,
    /// Whoever is spoken to, as what is moved: "get yourself out".
    pub(crate) reflexive: PhraseSet,
    /// Before the verb that stands after "before".
    pub(crate) subordinate: PhraseSet,
    /// Verbs of going before what is gone for, in any form.
    pub(crate) going: Names,
    /// After which a clause only goes on.
    pub(crate) after: PhraseSet,
    /// With these, what stands after "after" comes first.
    pub(crate) after_subjects: PhraseSet,
    /// Ask for whatever there is.
    pub(crate) asked: PhraseSet,
    /// Make a text depend on something.
    pub(crate) conditions: PhraseSet,
    /// Begin a question that wants yes or no.
    pub(crate) doubts: PhraseSet,
    /// Begin what is no text yet.
    pub(crate) vague: PhraseSet,
    /// Articles that stand for a thing where no noun follows.
    pub(crate) demonstratives: PhraseSet,
    /// Are no text alone.
    pub(crate) vague_alone: PhraseSet,
    /// Begin what is no text without a mark.
    pub(crate) no_text: PhraseSet,
    /// Whoever speaks, who is no listener.
    pub(crate) speaker: PhraseSet,
    /// Before "one" that counts nothing: "that one".
    pub(crate) singled: PhraseSet,
    /// Articles of things that are not known yet.
    pub(crate) indefinite: PhraseSet,
    /// Before a verb that is wished to be done.
    pub(crate) wishing: PhraseSet,
    /// Of the place that was said last.
    pub(crate) belonging: PhraseSet,
    /// Before what is wished to be done.
    pub(crate) wishes: PhraseSet,
    /// "In ten minutes".
    pub(crate) time_from_now: PhraseSet,
    /// "At six".
    pub(crate) time_of_day: PhraseSet,
    /// "Half past five".
    pub(crate) time_past: PhraseSet,
    /// "Six o'clock sharp".
    pub(crate) time_sharp: PhraseSet,
    /// Before a number by which something changes: "by 5 degrees".
    pub(crate) relative: PhraseSet,
    /// After such a number: "5 degrees warmer".
    pub(crate) compared: PhraseSet,
    /// Backwards, where something moves both ways.
    pub(crate) backward: PhraseSet,
    /// Asks kindly, in an order as in a text.
    pub(crate) kindly: PhraseSet,
    /// Say of a state that it is there.
    pub(crate) already: PhraseSet,
    /// Marks where something comes from.
    pub(crate) origin: PhraseSet,
}

impl Facts {
    /// Reads the facts of a language.
    ///
    /// # Errors
    /// When something is missing in the data, or of the wrong form; says what and where.
    pub(crate) fn read(text: &str) -> Result<Self, DataError> {
        Ok(toml::from_str(text)?)
    }

    /// The word as it is compared: `kueche` for `küche`.
    pub(crate) fn folded(&self, word: &str) -> String {
        let letters = &self.spelling.letters;
        if letters.is_empty() || word.is_ascii() {
            return word.to_owned();
        }
        let mut folded = String::with_capacity(word.len() + 2);
        for letter in word.chars() {
            match letters.get(&letter) {
                Some(written) => folded.push_str(written),
                None => folded.push(letter),
            }
        }
        folded
    }
}
