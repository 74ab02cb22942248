//! What may be known of the values of a choice before a clause is held against each of them.

use std::collections::BTreeSet;
use std::ops::Bound;

use serde_json::Value;

use super::concepts::concept_at;
use super::{Choices, spoken};
use crate::filter::WordFilter;
use crate::language::Language;
use crate::sentence::Word;

impl Choices {
    /// Returns false if surely no name begins like the words.
    pub(super) fn may_begin(&self, words: &[Word], language: &Language) -> bool {
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
}

/// The stems of words that several values have.
pub(super) fn repeated(values: &[Value], language: &Language) -> BTreeSet<String> {
    let (mut once, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    for value in values {
        let stems: BTreeSet<String> = spoken(value).split(' ').map(|part| language.stem(part)).collect();
        for stem in stems {
            if let Some(stem) = once.replace(stem) {
                repeated.insert(stem);
            }
        }
    }
    repeated
}

/// The first words of names, and the first letters of those without spaces.
pub(super) fn beginnings<'n>(
    names: impl Iterator<Item = &'n String>,
    compact: impl Iterator<Item = &'n String>,
) -> WordFilter {
    let mut begins = WordFilter::default();
    names.for_each(|name| begins.add(name.split(' ').next().unwrap_or_default()));
    compact.for_each(|name| begins.add(first_letter(name)));
    begins
}

/// The first letter of a name.
fn first_letter(name: &str) -> &str {
    name.chars().next().and_then(|first| name.get(..first.len_utf8())).unwrap_or_default()
}
