//! Lists of phrases in the data.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::filter::WordFilter;
use crate::kept::kept;

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
        entries.iter().flat_map(|(_, set)| set.firsts()).for_each(|first| firsts.add(first));
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

/// Words of the data with one space between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phrase {
    text: &'static str,
    /// The first of its words.
    first: &'static str,
    length: usize,
}

impl Phrase {
    /// It is kept, so it has to be data.
    pub(crate) fn new(text: &str) -> Self {
        let text = kept(text);
        let words = || text.split(' ').filter(|word| !word.is_empty());
        Self { text, first: words().next().unwrap_or_default(), length: words().count() }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.length == 0
    }

    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        self.text.split(' ').filter(|word| !word.is_empty())
    }

    pub(crate) fn len(self) -> usize {
        self.length
    }

    pub(crate) fn first(self) -> &'static str {
        self.first
    }

    /// Returns true if the words begin with it.
    pub(crate) fn begins<'w>(self, mut words: impl Iterator<Item = &'w str>) -> bool {
        match self.length {
            1 => words.next() == Some(self.first),
            _ => self.words().all(|said| words.next() == Some(said)),
        }
    }
}

/// Phrases, separated by commas in the data.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(crate) struct PhraseSet {
    /// In the order of their first words, of those with the same the longest first.
    phrases: Box<[Phrase]>,
    filter: WordFilter,
}

impl PhraseSet {
    /// Reads phrases that are separated by commas. They are kept, so they have to be data.
    pub(crate) fn read(text: &str) -> Self {
        let mut phrases: Vec<Phrase> = list(text).iter().map(|phrase| Phrase::new(phrase)).collect();
        phrases.sort_by_key(|phrase| (phrase.first(), Reverse(phrase.len())));
        let mut set = Self { phrases: phrases.into_boxed_slice(), filter: WordFilter::default() };
        set.phrases.iter().for_each(|phrase| set.filter.add(phrase.first()));
        set
    }

    /// The words with which the phrases begin.
    fn firsts(&self) -> impl Iterator<Item = &'static str> {
        self.phrases.iter().map(|phrase| phrase.first())
    }

    /// Returns the number of words of the longest phrase at the beginning; 0 if there is none.
    pub(crate) fn length<W: AsRef<str>>(&self, words: &[W]) -> usize {
        let Some(word) = words.first().map(AsRef::as_ref).filter(|word| self.filter.may_have(word)) else { return 0 };
        let from = self.phrases.partition_point(|phrase| phrase.first() < word);
        let own = self.phrases.iter().skip(from).take_while(|phrase| phrase.first() == word);
        let said = own.filter(|phrase| phrase.begins(words.iter().map(AsRef::as_ref)));
        said.map(|phrase| phrase.len()).next().unwrap_or_default()
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
