//! The words of a task that tell what it is about.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use stop_words::LANGUAGE;

/// Most words that are looked for: a task may be 16 kB long, and each word costs a lookup.
pub(crate) const MOST_WORDS: usize = 24;

/// Words that say nothing of what a sentence is about, in the languages that tasks come in.
static FILLERS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let languages =
        [LANGUAGE::English, LANGUAGE::German, LANGUAGE::French, LANGUAGE::Spanish, LANGUAGE::Italian, LANGUAGE::Dutch];
    let words = languages.into_iter().flat_map(stop_words::get);
    words.flat_map(|word| split(word).collect::<Vec<_>>()).collect()
});

/// The telling words of a text, in lower case, in the order of their first place.
pub(crate) fn telling(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let telling = |word: &String| !FILLERS.contains(word) && seen.insert(word.clone());
    split(text).filter(telling).take(MOST_WORDS).collect()
}

/// The words of a text, as the index splits it.
pub(crate) fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_tell_something_are_looked_for() {
        assert_eq!(telling("How do I descale the kettle?"), ["descale", "kettle"]);
        assert_eq!(telling("Wie entkalke ich den Wasserkocher?"), ["entkalke", "wasserkocher"]);
        assert!(telling("what is it?").is_empty());
    }

    #[test]
    fn a_word_counts_once_and_a_long_text_has_so_many() {
        assert_eq!(telling("kettle KETTLE Kettle"), ["kettle"]);
        let text: String = (0..1_000).map(|number| format!("word{number} ")).collect();
        assert_eq!(telling(&text).len(), MOST_WORDS);
    }
}
