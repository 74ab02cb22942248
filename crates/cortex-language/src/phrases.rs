//! Lists of phrases in the data.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::filter::{WordFilter, WordMap};

/// Phrases, each with what it stands for.
#[derive(Debug, Default)]
pub(crate) struct PhraseTable {
    entries: Vec<(String, PhraseSet)>,
    /// The words with which the phrases begin.
    firsts: WordFilter,
}

impl PhraseTable {
    pub(crate) fn read(table: &BTreeMap<String, String>) -> Self {
        let entries: Vec<_> = table.iter().map(|(name, list)| (name.clone(), PhraseSet::read(list))).collect();
        let mut firsts = WordFilter::default();
        entries.iter().flat_map(|(_, set)| set.phrases.keys()).for_each(|first| firsts.add(first));
        Self { entries, firsts }
    }

    pub(crate) fn find<W: AsRef<str>>(&self, words: &[W]) -> Option<(&str, usize)> {
        self.every(words).max_by_key(|(_, length)| *length)
    }

    /// Everything that a phrase at the beginning stands for, and the longest phrase of each.
    pub(crate) fn every<W: AsRef<str>>(&self, words: &[W]) -> impl Iterator<Item = (&str, usize)> {
        let begins = words.first().is_some_and(|first| self.firsts.may_have(first.as_ref()));
        let entries = if begins { self.entries.as_slice() } else { &[] };
        let found = entries.iter().map(|(name, phrases)| (name.as_str(), phrases.length(words)));
        found.filter(|(_, length)| *length > 0)
    }
}

/// Phrases, each as its words.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(crate) struct PhraseSet {
    /// By their first word, the longest first.
    phrases: WordMap<Vec<Vec<String>>>,
    firsts: WordFilter,
}

impl PhraseSet {
    pub(crate) fn read(list: &str) -> Self {
        let mut set = Self::default();
        for phrase in list.split(',') {
            let words: Vec<String> = phrase.split_whitespace().map(str::to_lowercase).collect();
            if let Some(first) = words.first() {
                set.firsts.add(first);
                set.phrases.entry(first.clone()).or_default().push(words);
            }
        }
        for phrases in set.phrases.values_mut() {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
        }
        set
    }

    /// Returns the number of words of the longest phrase at the beginning; 0 if there is none.
    pub(crate) fn length<W: AsRef<str>>(&self, words: &[W]) -> usize {
        let first = words.first().map(AsRef::as_ref).filter(|first| self.firsts.may_have(first));
        let Some(phrases) = first.and_then(|first| self.phrases.get(first)) else { return 0 };
        let begins = |phrase: &&Vec<String>| {
            phrase.len() <= words.len() && phrase.iter().zip(words).all(|(one, other)| one == other.as_ref())
        };
        phrases.iter().find(begins).map_or(0, Vec::len)
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.length(&[word]) == 1
    }

    /// The longest phrase with which the words end.
    pub(crate) fn length_at_end<W: AsRef<str>>(&self, words: &[W]) -> usize {
        (0..words.len())
            .find(|from| words.get(*from..).is_some_and(|rest| self.length(rest) == rest.len()))
            .map_or(0, |from| words.len() - from)
    }
}

impl From<String> for PhraseSet {
    fn from(list: String) -> Self {
        Self::read(&list)
    }
}

/// Words or phrases, separated by commas in the data.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Names(pub(crate) Vec<String>);

impl From<String> for Names {
    fn from(text: String) -> Self {
        Self(list(&text))
    }
}

/// The items of a list that are separated by commas.
pub(crate) fn list(text: &str) -> Vec<String> {
    text.split(',')
        .map(|item| item.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
        .filter(|item| !item.is_empty())
        .collect()
}
