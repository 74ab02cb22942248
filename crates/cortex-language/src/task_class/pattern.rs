//! Patterns over the units of a clause: words, or characters where a script has no spaces.
//!
//! A pattern is a row of elements divided by spaces. `a/b` is one of several alternatives, `_` within an alternative a space,
//! `pre*`, `*post` and `*part*` bent words, `a/b^c/d` one of the first that is none of the second, `!a/b` one unit that
//! is none of these, `?a/b` an alternative that may be missing, `_` alone any unit, `?_` one that may be missing, `..` any number of units, `<` the
//! beginning of the clause, `>` its end, and `@name` a named list of alternatives. After ` ~ ` stands a pattern that must
//! be nowhere in the clause.

use std::collections::BTreeMap;

use super::text::{Tokenizer, folded, written_out};
use crate::data_error::DataError;

/// Shortest word that also matches without its accents: people leave them out, and "é" is not "e".
const FOLDED_FROM: usize = 4;

/// One pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    elements: Vec<Element>,
    begins: bool,
    ends: bool,
    unless: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Element {
    Gap,
    Any,
    MaybeAny,
    Not(Vec<Alternative>),
    One { of: Vec<Alternative>, except: Vec<Alternative>, optional: bool },
}

/// A row of words.
pub(super) type Alternative = Box<[Word]>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Exact { text: String, folded: Option<String> },
    Prefix(String),
    Suffix(String),
    Part(String),
}

/// The named lists of a language, as they are written.
pub(super) type Lists = BTreeMap<String, String>;

/// All patterns of a table: one a line, or divided by commas.
pub(super) fn table(written: &str, lists: &Lists, tokenizer: &Tokenizer) -> Result<Vec<Pattern>, DataError> {
    let lines = written.split([',', '\n']).map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| Pattern::read(line, lists, tokenizer)).collect()
}

impl Pattern {
    fn read(written: &str, lists: &Lists, tokenizer: &Tokenizer) -> Result<Self, DataError> {
        let mut parts = written.split('~').map(str::trim);
        let mut pattern = Self::read_one(parts.next().unwrap_or_default(), lists, tokenizer)?;
        for part in parts {
            pattern.unless.push(Self::read_one(part, lists, tokenizer)?);
        }
        Ok(pattern)
    }

    fn read_one(written: &str, lists: &Lists, tokenizer: &Tokenizer) -> Result<Self, DataError> {
        let mut pattern = Self { elements: Vec::new(), begins: false, ends: false, unless: Vec::new() };
        let read = |text: &str| alternatives(text, lists, tokenizer).map_err(|why| why.within(written));
        for part in written.split_whitespace() {
            let element = match part {
                "<" => {
                    pattern.begins = true;
                    continue;
                }
                ">" => {
                    pattern.ends = true;
                    continue;
                }
                ".." => Element::Gap,
                "_" => Element::Any,
                "?_" => Element::MaybeAny,
                _ => match (part.strip_prefix('!'), part.strip_prefix('?')) {
                    (Some(not), _) => Element::Not(read(not)?),
                    (None, Some(optional)) => Element::One { of: read(optional)?, except: Vec::new(), optional: true },
                    (None, None) => {
                        let (of, except) = part.split_once('^').unwrap_or((part, ""));
                        let except = if except.is_empty() { Vec::new() } else { read(except)? };
                        Element::One { of: read(of)?, except, optional: false }
                    }
                },
            };
            pattern.elements.push(element);
        }
        let demands = |element: &Element| {
            !matches!(element, Element::Gap | Element::MaybeAny | Element::One { optional: true, .. })
        };
        let is_whole = pattern.begins && pattern.ends && !pattern.elements.contains(&Element::Gap);
        if is_whole || pattern.elements.iter().any(demands) {
            Ok(pattern)
        } else {
            Err(DataError::MatchesEverything.within(written))
        }
    }

    /// Whether the pattern is in the clause.
    pub(super) fn is_in(&self, units: &[String]) -> bool {
        self.found_in(units).is_some()
    }

    /// Where the pattern first is in the clause.
    pub(super) fn found_in(&self, units: &[String]) -> Option<(usize, usize)> {
        let last = if self.begins { 0 } else { units.len() };
        let found = (0..=last).find_map(|at| {
            let end = self.end_of(&self.elements, units, at)?;
            Some((at, end))
        })?;
        (!self.unless.iter().any(|unless| unless.is_in(units))).then_some(found)
    }

    /// The words that stand for themselves, by which a language is told.
    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        let alternatives = self.elements.iter().flat_map(|element| match element {
            Element::One { of, .. } => of.as_slice(),
            Element::Gap | Element::Any | Element::MaybeAny | Element::Not(_) => &[],
        });
        alternatives.flat_map(|words| words.iter()).filter_map(Word::literal)
    }

    /// The end of what the elements match from here on.
    fn end_of(&self, elements: &[Element], units: &[String], at: usize) -> Option<usize> {
        let Some((element, rest)) = elements.split_first() else {
            return (!self.ends || at == units.len()).then_some(at);
        };
        match element {
            Element::Gap => (at..=units.len()).find_map(|next| self.end_of(rest, units, next)),
            Element::Any => units.get(at).and_then(|_| self.end_of(rest, units, at + 1)),
            Element::MaybeAny => {
                let taken = units.get(at).and_then(|_| self.end_of(rest, units, at + 1));
                taken.or_else(|| self.end_of(rest, units, at))
            }
            Element::Not(words) => {
                units.get(at)?;
                let is_one = words.iter().any(|words| length_at(words, units, at).is_some());
                if is_one { None } else { self.end_of(rest, units, at + 1) }
            }
            Element::One { of, except, optional } => {
                let is_excepted = except.iter().any(|words| length_at(words, units, at).is_some());
                let taken = if is_excepted {
                    None
                } else {
                    of.iter().find_map(|words| {
                        let length = length_at(words, units, at)?;
                        self.end_of(rest, units, at + length)
                    })
                };
                taken.or_else(|| if *optional { self.end_of(rest, units, at) } else { None })
            }
        }
    }
}

/// How many units the words take from here on, if they stand here.
pub(super) fn length_at(words: &[Word], units: &[String], at: usize) -> Option<usize> {
    let here = units.get(at..at + words.len())?;
    here.iter().zip(words).all(|(unit, word)| word.is(unit)).then_some(words.len())
}

impl Word {
    fn read(text: &str, writes_umlauts_out: bool) -> Self {
        match (text.strip_prefix('*'), text.strip_suffix('*')) {
            (Some(rest), Some(_)) => Self::Part(rest.trim_end_matches('*').to_owned()),
            (Some(rest), None) => Self::Suffix(rest.to_owned()),
            (None, Some(rest)) => Self::Prefix(rest.to_owned()),
            (None, None) => {
                let without = if writes_umlauts_out { written_out(text) } else { folded(text) };
                let folded = (text.chars().count() >= FOLDED_FROM && without != text).then_some(without);
                Self::Exact { text: text.to_owned(), folded }
            }
        }
    }

    /// The word, where it stands for itself.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::Exact { text, .. } => Some(text),
            Self::Prefix(_) | Self::Suffix(_) | Self::Part(_) => None,
        }
    }

    fn is(&self, unit: &str) -> bool {
        match self {
            Self::Exact { text, folded } => text == unit || folded.as_deref() == Some(unit),
            Self::Prefix(prefix) => unit.starts_with(prefix.as_str()),
            Self::Suffix(suffix) => unit.ends_with(suffix.as_str()),
            Self::Part(part) => unit.contains(part.as_str()),
        }
    }
}

/// The alternatives of an element, with named lists put in.
pub(super) fn alternatives(written: &str, lists: &Lists, tokenizer: &Tokenizer) -> Result<Vec<Alternative>, DataError> {
    let mut read: Vec<Alternative> = Vec::new();
    for part in written.split('/').map(str::trim).filter(|part| !part.is_empty()) {
        if let Some(name) = part.strip_prefix('@') {
            let list = lists.get(name).ok_or_else(|| DataError::UnknownList { list: name.to_owned() })?;
            read.extend(alternatives(&list.split_whitespace().collect::<Vec<_>>().join(""), lists, tokenizer)?);
        } else if tokenizer.is_unspaced() {
            read.push(part.chars().map(|unit| Word::read(&unit.to_string(), false)).collect());
        } else {
            read.push(part.split('_').flat_map(|word| split_keeping_stars(word, tokenizer)).collect());
        }
    }
    if read.is_empty() || read.iter().any(|words| words.is_empty()) { Err(DataError::NothingToMatch) } else { Ok(read) }
}

/// The words of a written alternative: it is divided as the words of a task are.
fn split_keeping_stars(word: &str, tokenizer: &Tokenizer) -> Vec<Word> {
    if word.contains('*') {
        vec![Word::read(word, false)]
    } else {
        tokenizer.units(word).iter().map(|unit| Word::read(unit, tokenizer.writes_umlauts_out)).collect()
    }
}
