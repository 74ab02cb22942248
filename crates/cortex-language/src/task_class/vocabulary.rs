//! Clauses that are made of the words of small talk and of nothing else: "haha, that was a good one".
//!
//! A pattern of small talk knows one way of saying something. A vocabulary knows none: where every word of a clause is one
//! that small talk is made of, and one of them tells a feeling, a compliment, the weather or the like, nothing is left that
//! could name a deed or a thing that it is done with.

use super::pattern::{Alternative, Lists, Word, alternatives, length_at};
use super::text::Tokenizer;
use crate::data_error::DataError;

/// Most units of a clause that is held against a vocabulary.
const UNITS: usize = 24;
/// The list of words that tell nothing by themselves: "is", "so", "today".
const FILLING: &str = "filling";

/// Words that clauses may be made of. None where a language has no such lists: it covers no clause then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Vocabulary {
    filling: Vec<Alternative>,
    telling: Vec<Alternative>,
}

impl Vocabulary {
    /// The words of the list `telling`, and those that may stand beside them.
    pub(super) fn read(telling: &str, lists: &Lists, tokenizer: &Tokenizer) -> Result<Self, DataError> {
        let list = |name: &str| match lists.get(name) {
            Some(_) => alternatives(&format!("@{name}"), lists, tokenizer).map_err(|why| why.within(name)),
            None => Ok(Vec::new()),
        };
        Ok(Self { filling: list(FILLING)?, telling: list(telling)? })
    }

    /// Whether the units are words of it and nothing else, and one of them tells something.
    pub(super) fn covers(&self, units: &[String]) -> bool {
        self.reads(units).is_some_and(|[_, told]| told)
    }

    /// Whether the units are words that tell nothing by themselves: "you know".
    pub(super) fn only_fills(&self, units: &[String]) -> bool {
        self.reads(units).is_some_and(|[untold, _]| untold)
    }

    /// Whether the units can be read without a word that tells something, and with one.
    fn reads(&self, units: &[String]) -> Option<[bool; 2]> {
        if units.is_empty() || units.len() > UNITS {
            return None;
        }
        // The same for each beginning of the units.
        let mut is_read = vec![[false; 2]; units.len() + 1];
        if let Some(start) = is_read.first_mut() {
            *start = [true, false];
        }
        for at in 0..units.len() {
            let Some([untold, told]) = is_read.get(at).copied() else { continue };
            let lengths = |words: &[Alternative]| -> Vec<usize> {
                words.iter().filter_map(|words| length_at(words, units, at)).collect()
            };
            if !(untold || told) {
                continue;
            }
            for length in lengths(&self.filling) {
                if let Some([next_untold, next_told]) = is_read.get_mut(at + length) {
                    *next_untold |= untold;
                    *next_told |= told;
                }
            }
            for length in lengths(&self.telling) {
                if let Some([_, next_told]) = is_read.get_mut(at + length) {
                    *next_told = true;
                }
            }
        }
        is_read.last().copied()
    }

    /// The words that stand for themselves, by which a language is told.
    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        self.filling.iter().chain(&self.telling).flat_map(|words| words.iter()).filter_map(Word::literal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn every_word_has_to_be_of_the_vocabulary_and_one_has_to_tell_something() {
        let lists = [(FILLING, "that/was/a/so"), ("chat", "haha/good_one/funn*")];
        let lists: Lists = lists.into_iter().map(|(name, words)| (name.to_owned(), words.to_owned())).collect();
        let words = Vocabulary::read("chat", &lists, &Tokenizer::default()).unwrap();
        for text in ["haha", "haha that was a good one", "that was so funny"] {
            assert!(words.covers(&units(text)), "{text}");
        }
        for text in ["", "that was a", "that was a good cup", "haha fetch that", "good"] {
            assert!(!words.covers(&units(text)), "{text}");
        }
        assert!(words.only_fills(&units("that was a")));
        assert!(!words.only_fills(&units("that was a cup")) && !words.only_fills(&units("haha")));
        let long = vec!["haha".to_owned(); UNITS + 1];
        assert!(!words.covers(&long));
    }
}
