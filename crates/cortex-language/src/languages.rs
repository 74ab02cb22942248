//! The languages that the reader knows, each a folder of data, and the choice of one for a text.
//!
//! A language is read when the first text wants it. Only the facts by which a text is told to be in it are read before.

use std::sync::LazyLock;

use crate::data_error::DataError;
use crate::facts::Facts;
use crate::language::Language;
use crate::tokens::{self, Kind};

/// A language as data.
pub(crate) struct Known {
    facts: LazyLock<Result<Facts, DataError>>,
    language: LazyLock<Result<Language, DataError>>,
}

/// The data of a language.
pub(crate) struct Files<'f> {
    /// The name of the folder.
    pub(crate) code: &'static str,
    pub(crate) grammar: &'f str,
    pub(crate) senses: &'f str,
    pub(crate) nouns: &'f str,
    pub(crate) conditions: &'f str,
}

macro_rules! known {
    ($name:ident, $code:literal, $base:expr) => {
        static $name: Known = Known {
            facts: LazyLock::new(|| {
                Facts::read(include_str!(concat!("../data/", $code, "/language.toml")))
                    .map_err(|error| error.within(concat!("data/", $code, "/language.toml")))
            }),
            language: LazyLock::new(|| {
                let files = Files {
                    code: $code,
                    grammar: include_str!(concat!("../data/", $code, "/grammar.toml")),
                    senses: include_str!(concat!("../data/", $code, "/senses.toml")),
                    nouns: include_str!(concat!("../data/", $code, "/nouns.toml")),
                    conditions: include_str!(concat!("../data/", $code, "/conditions.toml")),
                };
                Language::read(&files, $name.facts.as_ref().map_err(DataError::clone)?, $base)
            }),
        };
    };
}

known!(ENGLISH, "en", None);
known!(GERMAN, "de", Some(english_or_error()?));

/// All of them, English first: the words of the tools are English.
static KNOWN: [&Known; 2] = [&ENGLISH, &GERMAN];

/// English, the language of tools.
pub(crate) fn english() -> Option<&'static Language> {
    english_or_error().ok()
}

fn english_or_error() -> Result<&'static Language, DataError> {
    ENGLISH.language.as_ref().map_err(DataError::clone)
}

/// The languages in which a text may be read, the likeliest first: those that have most of its frequent words, and among
/// these the ones that know most of all its words.
pub(crate) fn of_text(text: &str) -> Vec<&'static Language> {
    let words = words(text);
    let common = |known: &&&Known| {
        let Ok(facts) = known.facts.as_ref() else { return 0 };
        words.iter().filter(|word| facts.common.has(&facts.folded(word))).count()
    };
    let most = KNOWN.iter().map(|known| common(&known)).max().unwrap_or(0);
    let likely: Vec<&Known> = KNOWN.iter().filter(|known| common(known) == most).copied().collect();
    let known_words =
        |language: &&Language| words.iter().filter(|word| language.has(&language.facts.folded(word))).count();
    let mut found: Vec<(usize, &'static Language)> = Vec::new();
    for known in likely {
        let Ok(language) = known.language.as_ref() else { continue };
        let count = known_words(&language);
        found.push((count, language));
        // Nothing is left for another one to know.
        if count == words.len() {
            break;
        }
    }
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, language)| language).collect()
}

/// The words of a text, as they are spelt; those of a quotation if that is all.
fn words(text: &str) -> Vec<String> {
    let tokens = tokens::tokens(text).unwrap_or_default();
    if let [only] = tokens.as_slice()
        && only.kind == Kind::Quoted
        && only.word.len() < text.len()
    {
        return words(&only.word);
    }
    tokens.into_iter().filter(|token| token.kind == Kind::Word).map(|token| token.word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The reader leaves out a language whose data it can't read, so that the others stay: this names the error.
    #[test]
    fn the_data_of_every_language_is_whole() {
        let errors: Vec<&DataError> = KNOWN.iter().filter_map(|known| known.language.as_ref().err()).collect();
        assert_eq!(errors, Vec::<&DataError>::new());
    }

    #[test]
    fn an_error_names_the_file_and_what_is_missing_in_it() {
        let grammar = include_str!("../data/de/grammar.toml").replacen("\njoints =", "\nunknown =", 1);
        let files = |grammar, senses| {
            let conditions = include_str!("../data/de/conditions.toml");
            Files { code: "de", grammar, senses, nouns: "", conditions }
        };
        let read = |files: Files<'_>| {
            let facts = GERMAN.facts.as_ref().map_err(DataError::clone)?;
            Language::read(&files, facts, english()).map(|_| ())
        };
        let error_of = |files| read(files).err().map(|error: DataError| error.to_string()).unwrap_or_default();
        let error = error_of(files(&grammar, ""));
        assert!(error.contains("data/de/grammar.toml") && error.contains("unknown"), "{error}");
        let grammar = include_str!("../data/de/grammar.toml").replacen("\njoints =", "\n# ", 1);
        let error = error_of(files(&grammar, ""));
        assert!(error.contains("missing field `joints`"), "{error}");
        let error = error_of(files(include_str!("../data/de/grammar.toml"), "fahren = \"fahren\""));
        assert_eq!(error, "data/de/senses.toml: data/en/senses.toml has no `fahren`");
    }

    #[test]
    fn every_folder_of_data_is_a_language() {
        let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).map(|entries| {
            let is_language = |path: &std::path::PathBuf| path.join("grammar.toml").exists();
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_language).count()
        });
        assert_eq!(folders.ok(), Some(KNOWN.len()), "a folder of data needs its line in KNOWN");
    }
}
