//! The values of a parameter that takes one of a few, and the names by which people call them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde_json::Value;

use super::concepts::{concept_at, next_concept};
use crate::filter::WordFilter;
use crate::language::Language;
use crate::sentence::{self, Word};
use crate::tokens::{Kind, compact, name_words};

/// Most words of one choice, as in `the living room by the sea`.
const CHOICE_WORDS: usize = 8;
/// Most choices of one parameter for which shorter names are looked for.
const CHOICES_SHORTENED: usize = 500;

/// The values of a choice, and the names by which they may be called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choices {
    pub(crate) values: Vec<Value>,
    /// The index of each value by the joined meanings of its words, and by shorter names that only one value has.
    names: BTreeMap<String, usize>,
    /// Names without spaces.
    compact: BTreeMap<String, usize>,
    /// The stems of words that several values have.
    repeated: BTreeSet<String>,
    /// The first words of the names, and the first letters of those without spaces.
    begins: WordFilter,
}

impl Choices {
    pub(crate) fn new(values: Vec<Value>, language: &Language) -> Self {
        let spellings: Vec<Vec<String>> =
            values.iter().map(|value| parts_in(&name_words(&spoken(value)).join(" "), language)).collect();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        let mut shared: BTreeMap<String, usize> = BTreeMap::new();
        if values.len() <= CHOICES_SHORTENED {
            for words in &spellings {
                let mut parts = BTreeSet::new();
                for (from, to) in parts_of(words) {
                    parts.insert(words.get(from..to).unwrap_or_default().join(" "));
                }
                for part in parts {
                    *shared.entry(part).or_default() += 1;
                }
            }
            // Docks with numbers are no chargers, so that a charging station is the only one.
            for (words, value) in spellings.iter().zip(&values) {
                if let ([concept, number], spelling) = (words.as_slice(), spoken(value))
                    && number.parse::<f64>().is_ok()
                    && spelling.split(' ').next().is_some_and(|first| language.stem(first) != *concept)
                    && let Some(several) = shared.get_mut(concept)
                {
                    *several -= 1;
                }
            }
            for (index, words) in spellings.iter().enumerate() {
                for (from, to) in parts_of(words) {
                    let part = words.get(from..to).unwrap_or_default();
                    let name = part.join(" ");
                    let says_something = part.iter().any(|word| !language.is_weak(word));
                    if shared.get(&name) == Some(&1) && says_something {
                        names.insert(name, index);
                    }
                }
            }
        }
        for (index, words) in spellings.iter().enumerate() {
            // A synonym of the whole is no name of it where it is a part of another.
            let name = words.join(" ");
            if words.len() > 1 || shared.get(&name).is_none_or(|several| *several == 1) {
                names.insert(name, index);
            }
            let stems: Vec<String> = name_words(&spoken(values.get(index).unwrap_or(&Value::Null)))
                .iter()
                .map(|word| language.stem(word))
                .collect();
            names.insert(stems.join(" "), index);
        }
        let compact: BTreeMap<String, usize> =
            values.iter().enumerate().map(|(index, value)| (compact(&spoken(value)), index)).collect();
        let (mut once, mut repeated) = (BTreeSet::new(), BTreeSet::new());
        for value in &values {
            let stems: BTreeSet<String> = spoken(value).split(' ').map(|part| language.stem(part)).collect();
            for stem in stems {
                if let Some(stem) = once.replace(stem) {
                    repeated.insert(stem);
                }
            }
        }
        let mut begins = WordFilter::default();
        names.keys().for_each(|name| begins.add(name.split(' ').next().unwrap_or_default()));
        compact.keys().for_each(|name| begins.add(first_letter(name)));
        Self { values, names, compact, repeated, begins }
    }

    /// Takes further names of values from a description: "stow (folded up)", "beacon = amber warning light".
    pub(crate) fn add_glosses(&mut self, description: &[Word], language: &Language) {
        let mut glosses: Vec<(String, usize)> = Vec::new();
        let mut at = 0;
        while at < description.len() {
            let rest = description.get(at..).unwrap_or_default();
            let value = self.read(rest, language).filter(|(value, length)| {
                let words = rest.get(..*length).unwrap_or_default().iter().map(|word| word.text.as_str());
                self.values.get(*value).is_some_and(|it| compact(&spoken(it)) == compact(&words.collect::<String>()))
            });
            let Some((value, length)) = value else {
                at += 1;
                continue;
            };
            at += length;
            let gloss = description.get(at..).unwrap_or_default();
            if gloss.first().is_some_and(|mark| mark.is_mark("(") || mark.is_mark("=")) {
                let gloss = gloss.get(1..).unwrap_or_default();
                let says = |word: &&Word| word.kind == Kind::Word && !language.is_plain_role(&word.text);
                let length = gloss.iter().take_while(says).count();
                let concepts = super::concepts_of(gloss.get(..length).unwrap_or_default(), language);
                for (from, to) in parts_of(&concepts) {
                    let part = concepts.get(from..to).unwrap_or_default();
                    if part.iter().any(|word| !language.is_weak(word)) {
                        glosses.push((part.join(" "), value));
                    }
                }
            }
        }
        for (name, value) in &glosses {
            let is_shared = glosses.iter().any(|(other, of)| other == name && of != value)
                || self.repeated.contains(&language.stem(name))
                || self.values.iter().any(|it| parts_in(&spoken(it), language).contains(name));
            if !is_shared && !self.names.contains_key(name) {
                self.begins.add(name.split(' ').next().unwrap_or_default());
                self.names.insert(name.clone(), *value);
            }
        }
    }

    /// The value that begins with the first word, the longest one if several do, and how many words it takes.
    pub(crate) fn read(&self, words: &[Word], language: &Language) -> Option<(usize, usize)> {
        let first = words.first()?;
        if first.ordinal.is_none() && !self.may_begin(words, language) {
            return None;
        }
        let mut found: Option<(usize, usize)> = None;
        let mut take = |index: usize, length: usize| {
            if found.is_none_or(|(_, longest)| length > longest) {
                found = Some((index, length));
            }
        };
        let mut joined = String::new();
        for (index, word) in words.iter().take(CHOICE_WORDS).enumerate() {
            match word.kind {
                Kind::Word | Kind::Number | Kind::Quoted => joined.push_str(&compact(&word.text)),
                Kind::Mark => break,
            }
            if let Some(value) = self.compact.get(&joined).filter(|_| !joined.is_empty()) {
                take(*value, index + 1);
            }
        }
        let mut at = 0;
        let mut name = String::new();
        while let Some((concept, length)) = words.get(at..).and_then(|rest| concept_at(rest, language)) {
            if at >= CHOICE_WORDS {
                break;
            }
            at += length;
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(&concept);
            // "The dock" of several is none of them, whatever else may be called so.
            let is_one_of_several = at == 1 && self.repeated.contains(&first.stem);
            if let Some(value) = self.names.get(&name)
                && (!is_one_of_several
                    || self.values.get(*value).is_some_and(|it| language.stem(&spoken(it)) == first.stem))
            {
                take(*value, at);
            }
            let skipped = words
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(|next| {
                    next.is_mark("#") || (next.kind == Kind::Word && language.facts.counting.fillers.has(&next.text))
                })
                .count();
            if words.get(at + skipped).is_some() {
                at += skipped;
            }
        }
        // "The second bay" is bay 2.
        if let (Some(ordinal), Some((concept, length))) = (
            words.first().and_then(|first| first.ordinal),
            words.get(1..).and_then(|rest| next_concept(rest, language)),
        ) && let Some(value) = self.names.get(&format!("{concept} {ordinal}"))
        {
            take(*value, 1 + length);
        }
        found
    }

    /// Returns false if surely no name begins like the words.
    fn may_begin(&self, words: &[Word], language: &Language) -> bool {
        let Some(first) = words.first() else { return false };
        // A capital letter or a sign within quotation marks tells nothing.
        let is_plain = first.text.bytes().all(|next| next.is_ascii_lowercase() || next.is_ascii_digit());
        let spells = || {
            let from = (Bound::Included(first.text.as_str()), Bound::Unbounded);
            self.compact.range::<str, _>(from).next().is_some_and(|(name, _)| name.starts_with(&first.text))
        };
        !is_plain
            || (self.begins.may_have(first_letter(&first.text)) && spells())
            || concept_at(words, language)
                .is_some_and(|(concept, _)| self.begins.may_have(concept.split(' ').next().unwrap_or_default()))
    }

    /// Returns true if several values have the word: "rooms" of "living room" and "dining room".
    pub(crate) fn are(&self, stem: &str) -> bool {
        self.repeated.contains(stem)
    }

    /// The stems of words that several values have.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = &str> {
        self.repeated.iter().map(String::as_str)
    }

    /// Every name of a value.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The value of exactly this name.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(crate) fn value(&self, index: usize) -> Option<&Value> {
        self.values.get(index)
    }
}

/// The first letter of a name.
fn first_letter(name: &str) -> &str {
    name.chars().next().and_then(|first| name.get(..first.len_utf8())).unwrap_or_default()
}

/// Returns the meanings of the words of a value, letters among them.
fn parts_in(name: &str, language: &Language) -> Vec<String> {
    let words = sentence::words(name, language).unwrap_or_default();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some((concept, length)) = words.get(at..).and_then(|rest| next_concept(rest, language)) {
        parts.push(concept);
        at += length;
    }
    parts
}

/// Every stretch of some words.
fn parts_of(words: &[String]) -> impl Iterator<Item = (usize, usize)> {
    let length = words.len();
    (0..length).flat_map(move |from| (from + 1..=length).map(move |to| (from, to)))
}

/// A choice as a person says it: `living room` for `living_room`.
pub(crate) fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace(['_', '-'], " "),
        other => other.to_string(),
    }
}
