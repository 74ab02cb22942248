//! Meanings of words, for comparing the words of tools with those of sentences.

use crate::language::Language;
use crate::sentence::{self, Word};
use crate::tokens::Kind;

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
    let first = words.first()?;
    match first.kind {
        Kind::Mark | Kind::Quoted => return None,
        Kind::Word | Kind::Number => {}
    }
    if let Some(said) = first.number.and_then(|_| crate::numbers::read_plain(words)) {
        return Some((said.0.to_string(), said.1));
    }
    let stems: Vec<&str> =
        words.iter().take_while(|word| word.kind == Kind::Word).take(4).map(|word| word.stem.as_str()).collect();
    if let Some((name, length)) = language.noun(&stems) {
        return Some((name.to_owned(), length));
    }
    Some((first.stem.clone(), 1))
}
