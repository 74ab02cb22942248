//! Texts that are reported after a word that puts their verb last, in the order of a sentence of their own.

use std::ops::Range;

use super::Reader;
use crate::sentence::Word;
use crate::tokens::Kind;

impl Reader<'_> {
    /// Returns true if a text stands after a word that puts its verb last, and no rule puts it back.
    pub(super) fn is_out_of_order(&self, words: &[Word], range: &Range<usize>) -> bool {
        self.is_subordinate(words, range) && self.told_text(words, range).is_none()
    }

    fn is_subordinate(&self, words: &[Word], range: &Range<usize>) -> bool {
        let before = range.start.checked_sub(1).and_then(|before| words.get(before));
        before.is_some_and(|word| self.language.facts.order.subordinators.has(&word.text))
    }

    /// The text after a word that puts its verb last, in the order of a sentence of its own: after "sag, dass das Essen
    /// fertig ist", it is "das Essen ist fertig".
    pub(super) fn told_text(&self, words: &[Word], range: &Range<usize>) -> Option<String> {
        let text = words.get(range.clone()).filter(|_| self.is_subordinate(words, range))?;
        let order = &self.language.facts.order;
        let (verb, rest) = text.split_last()?;
        let subject = self.subject(rest)?;
        // "Es regnet" is in order.
        if subject < rest.len() && !order.finite.has(&verb.text) {
            return None;
        }
        let (subject, rest) = rest.split_at_checked(subject)?;
        let parts = [subject, std::slice::from_ref(verb), rest].map(|part| self.written(part));
        let text: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Some(text.join(" "))
    }

    /// Returns the number of words of the subject with which a text begins: a pronoun, or an article with its noun.
    fn subject(&self, words: &[Word]) -> Option<usize> {
        const NOUN_WITHIN: usize = 4;
        let first = words.first()?;
        let capital = |word: &Word| {
            let written = self.text.get(word.span.clone()).and_then(|text| text.chars().next());
            word.kind == Kind::Word && written.is_some_and(char::is_uppercase)
        };
        if !self.language.is_article(&first.text) {
            return self.language.words.subjects.has(&first.text).then_some(1);
        }
        let noun =
            words.iter().take(NOUN_WITHIN).skip(1).position(|word| capital(word) || self.language.is_noun(&word.text));
        noun.map(|at| at + 2)
    }
}
