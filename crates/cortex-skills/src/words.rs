//! How much of a task a skill is about.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use stop_words::LANGUAGE;

/// Words that say nothing of what a text is about.
static FILLERS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let words = [LANGUAGE::English, LANGUAGE::German].into_iter().flat_map(stop_words::get);
    words.flat_map(|word| split(word).collect::<Vec<_>>()).collect()
});

/// Letters that are cut off the end of a word: `rounds` is `round`.
const ENDINGS: [&str; 5] = ["ing", "ed", "es", "s", "en"];
/// Least letters that stay.
const LEAST_LETTERS: usize = 3;

/// The telling words of a text, without their endings.
pub(crate) fn telling(text: &str) -> BTreeSet<String> {
    split(text).filter(|word| !FILLERS.contains(word)).map(|word| stem(&word)).collect()
}

fn split(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn stem(word: &str) -> String {
    let shorter =
        ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() >= LEAST_LETTERS));
    shorter.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telling_words_are_the_same_whatever_their_ending() {
        assert_eq!(telling("Water the plants"), telling("plant, watering"));
        assert!(telling("how do you do the").is_empty());
    }
}
