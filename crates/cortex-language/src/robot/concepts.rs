//! Meanings of words, for comparing the words of tools with those of sentences.

use std::borrow::Cow;

use crate::language::Language;
use crate::phrases::Phrase;
use crate::sentence::{self, Word};
use crate::tokens::Kind;

/// Most words of a noun.
const NOUN_WORDS: usize = 4;
/// Most words of a number: "one hundred and twenty thousand four hundred and fifty six".
const NUMBER_WORDS: usize = 12;

/// Returns the meanings of the words of a name.
pub(crate) fn concepts(name: &str, language: &Language) -> Vec<String> {
    concepts_of(&sentence::words(name, language).unwrap_or_default(), language)
}

/// Returns the meanings of these words, without those that carry nothing.
pub(crate) fn concepts_of(words: &[Word], language: &Language) -> Vec<String> {
    let mut concepts = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match words.get(at..).and_then(|rest| next_concept(rest, language)) {
            Some((concept, length)) => {
                if length > 1 || word.number.is_some() || !language.is_article(&word.text) {
                    concepts.push(concept);
                }
                at += length;
            }
            None => at += 1,
        }
    }
    concepts
}

/// Returns the meaning of the next word or words, and their number; none at a mark or a quotation.
pub(crate) fn next_concept(words: &[Word], language: &Language) -> Option<(String, usize)> {
    concept_at(words, language).map(|(concept, length)| (concept.into_owned(), length))
}

/// The same, borrowed where the meaning is one of the words or stands in the data.
pub(crate) fn concept_at<'w>(words: &'w [Word], language: &'w Language) -> Option<(Cow<'w, str>, usize)> {
    let first = words.first()?;
    match first.kind {
        Kind::Mark | Kind::Quoted => return None,
        Kind::Word | Kind::Number => {}
    }
    if let Some(said) = first.number.and_then(|_| crate::numbers::read_plain(words, language)) {
        return Some((Cow::Owned(said.0.to_string()), said.1));
    }
    let noun = language.nouns(&first.stem).iter().find(|(noun, _)| is_said(*noun, words));
    Some(match noun {
        Some((noun, name)) => (Cow::Borrowed(name), noun.len()),
        None if language.is_of_tools() => (Cow::Borrowed(&first.stem), 1),
        None => (Cow::Owned(meaning(first, language)), 1),
    })
}

/// Takes each meaning that the next word has, alone or with some of those after it.
pub(crate) fn every_concept(words: &[Word], language: &Language, take: &mut dyn FnMut(&str)) {
    let Some(first) = words.first().filter(|word| matches!(word.kind, Kind::Word | Kind::Number)) else { return };
    if first.number.is_some() {
        for end in 1..=words.len().min(NUMBER_WORDS) {
            if let Some((value, _)) = words.get(..end).and_then(|words| crate::numbers::read_plain(words, language)) {
                take(&value.to_string());
            }
        }
        return;
    }
    if language.is_of_tools() {
        take(&first.stem);
    } else {
        take(&meaning(first, language));
    }
    language.nouns(&first.stem).iter().filter(|(noun, _)| is_said(*noun, words)).for_each(|(_, name)| take(name));
}

/// Returns true if the words begin with the noun.
fn is_said(noun: Phrase, words: &[Word]) -> bool {
    let stems = words.iter().take(NOUN_WORDS).take_while(|word| word.kind == Kind::Word);
    noun.begins(stems.map(|word| word.stem.as_str()))
}

/// The meaning of a word that is no noun of the language: for comparing it with words of tools, which are English.
///
/// A word that another language knows means nothing English, however it is spelt; one that it does not know may be
/// English, or a name.
pub(crate) fn meaning(word: &Word, language: &Language) -> String {
    if language.is_of_tools() {
        return word.stem.clone();
    }
    if let Some((name, _)) = language.noun(&[word.stem.as_str()]) {
        return name.to_owned();
    }
    let state = language.state(std::slice::from_ref(word)).filter(|_| !language.roles.contains_key(&word.text));
    match state {
        Some((state, _)) => language.of_tools().concept(state),
        None if language.knows(&word.text) => format!("~{}", word.stem),
        None => language.of_tools().concept(&word.text),
    }
}
