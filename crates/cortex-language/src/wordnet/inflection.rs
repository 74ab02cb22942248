//! Base forms of inflected words.

use super::PartOfSpeech;
use super::table::Table;

/// An ending of an inflected form, and the ending of the lemma in its place; those of WordNet's own lookup.
type Rule = (&'static str, &'static str);

const NOUN_RULES: &[Rule] = &[
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
];

const VERB_RULES: &[Rule] =
    &[("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")];

const ADJECTIVE_RULES: &[Rule] = &[("er", ""), ("est", ""), ("er", "e"), ("est", "e")];

/// The longest word that is looked at, in bytes; no lemma with an ending is longer.
const LONGEST: usize = 64;

/// See [`super::base_forms`].
pub(super) fn base_forms(table: &Table<'_>, word: &str, part: PartOfSpeech) -> Vec<String> {
    if word.len() > LONGEST {
        return Vec::new();
    }
    let word = word.to_ascii_lowercase().replace('_', " ");
    let mut bases = candidates(table, &word, part);
    match part {
        PartOfSpeech::Noun => {
            if let Some((start, last)) = word.rsplit_once(' ') {
                bases.extend(candidates(table, last, part).into_iter().map(|last| format!("{start} {last}")));
            }
        }
        PartOfSpeech::Verb => {
            if let Some((first, rest)) = word.split_once(' ') {
                bases.extend(candidates(table, first, part).into_iter().map(|first| format!("{first} {rest}")));
            }
        }
        PartOfSpeech::Adjective => {}
    }
    let mut kept: Vec<String> = Vec::new();
    for base in bases {
        let exists = table.words.find(&base).is_some_and(|found| found.parts & part.bit() != 0);
        if exists && !kept.contains(&base) {
            kept.push(base);
        }
    }
    kept
}

/// Possible base forms, lemmas or not.
fn candidates(table: &Table<'_>, word: &str, part: PartOfSpeech) -> Vec<String> {
    let mut bases = Vec::new();
    for (bit, place) in table.irregular.find(word).into_iter().flat_map(|found| found.bases()) {
        if bit == part.bit() {
            bases.extend(table.words.word_at(place));
        }
    }
    bases.push(word.to_owned());
    let rules = match part {
        // "glass" and "us" are no plurals.
        PartOfSpeech::Noun if word.ends_with("ss") || word.len() <= 2 => &[],
        PartOfSpeech::Noun => NOUN_RULES,
        PartOfSpeech::Verb => VERB_RULES,
        PartOfSpeech::Adjective => ADJECTIVE_RULES,
    };
    for (ending, replacement) in rules {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
            bases.push(format!("{stem}{replacement}"));
        }
    }
    bases
}
