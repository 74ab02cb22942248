//! Words without their endings, by the rules of a language's data.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::filter::WordMap;

/// An ending and what takes its place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ending {
    from: String,
    #[serde(default)]
    to: String,
    /// Fewest letters before it.
    #[serde(default = "two")]
    least: usize,
    /// The letters before it must end in one of these, if any are given.
    #[serde(default)]
    after: Vec<String>,
    /// The letters before it must not end in any of these.
    #[serde(default)]
    not_after: Vec<String>,
    /// True if there must be a vowel before it.
    #[serde(default)]
    vowel: bool,
    /// True if a doubled consonant before it becomes a single one.
    #[serde(default)]
    single: bool,
}

fn two() -> usize {
    2
}

/// The endings of a language.
#[derive(Debug)]
pub(crate) struct Stemmer {
    endings: Vec<Ending>,
    irregular: WordMap<String>,
}

impl Stemmer {
    pub(crate) fn new(endings: Vec<Ending>, irregular: BTreeMap<String, String>) -> Self {
        Self { endings, irregular: irregular.into_iter().collect() }
    }

    /// The word without its ending. Only good for comparing words with each other.
    pub(crate) fn stem(&self, word: &str) -> String {
        let word = self.irregular.get(word).map_or(word, String::as_str);
        if word.chars().count() <= 3 {
            return word.to_owned();
        }
        let fits = |ending: &&Ending| {
            word.strip_suffix(ending.from.as_str()).is_some_and(|begin| {
                begin.chars().count() >= ending.least
                    && (!ending.vowel || begin.contains(['a', 'e', 'i', 'o', 'u', 'y', 'ä', 'ö', 'ü']))
                    && (ending.after.is_empty() || ending.after.iter().any(|end| begin.ends_with(end.as_str())))
                    && !ending.not_after.iter().any(|end| begin.ends_with(end.as_str()))
            })
        };
        let Some(ending) = self.endings.iter().find(fits) else { return without_final_e(word) };
        let begin = word.strip_suffix(ending.from.as_str()).unwrap_or(word);
        let begin = if ending.single { single(begin) } else { begin };
        without_final_e(&format!("{begin}{}", ending.to))
    }
}

/// So that `close`, `closes` and `closing` are one.
fn without_final_e(word: &str) -> String {
    if word.chars().count() > 3 { word.strip_suffix('e').unwrap_or(word).to_owned() } else { word.to_owned() }
}

/// `stopp` as `stop`.
fn single(text: &str) -> &str {
    let mut reversed = text.chars().rev();
    match (reversed.next(), reversed.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's' | 'e' | 'o' | 'z') => {
            text.strip_suffix(last).unwrap_or(text)
        }
        _ => text,
    }
}
