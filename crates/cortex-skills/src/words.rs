//! The words of a text: those that tell what it is about, those that it shares with others, and its parts.

use std::collections::{BTreeMap, BTreeSet};
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
/// How much two words in a row count beside the single words: "close the" tells an order from "when does it close".
const PAIR: f64 = 0.7;
/// Marks that a part of a text ends with, and words that only join it to the one before.
const MARKS: [char; 5] = ['.', '!', '?', ';', ','];
const JOINING: [&str; 4] = ["and", "then", "so", "but"];
/// Least words of a part: fewer say too little by themselves.
const LEAST_WORDS: usize = 3;

/// The telling words of a text, without their endings.
pub(crate) fn telling(text: &str) -> BTreeSet<String> {
    split(text).filter(|word| !FILLERS.contains(word)).map(|word| stem(&word)).collect()
}

/// The words of a text in their order, without their endings.
pub(crate) fn words(text: &str) -> Vec<String> {
    split(text).map(|word| stem(&word)).collect()
}

/// What a text has in common with others that are said for the same purpose: its words and each two in a row, with how much each
/// counts. A mark stands for the beginning and the end.
pub(crate) fn features(text: &str) -> BTreeMap<String, f64> {
    let words = words(text);
    let after = words.iter().map(String::as_str).chain(["$"]);
    let pairs = std::iter::once("^").chain(words.iter().map(String::as_str)).zip(after);
    let mut features: BTreeMap<String, f64> = pairs.map(|(one, next)| (format!("{one} {next}"), PAIR)).collect();
    features.extend(words.into_iter().map(|word| (word, 1.0)));
    features
}

/// The parts of a text that is made of several: what is said for each of two things is not like what is said for one.
pub(crate) fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    for word in text.split_whitespace() {
        if word == "then" && parts.last().is_some_and(|part| part.len() > 1 && part.last() == Some(&"and")) {
            parts.last_mut().and_then(Vec::pop);
            parts.push(Vec::new());
            continue;
        }
        if let Some(part) = parts.last_mut().filter(|part| !part.is_empty() || !JOINING.contains(&word)) {
            part.push(word);
        }
        if word.ends_with(MARKS) {
            parts.push(Vec::new());
        }
    }
    let whole = parts.iter().filter(|part| !part.is_empty()).count() < 2;
    parts.retain(|part| !whole && part.len() >= LEAST_WORDS);
    parts.into_iter().map(|part| part.join(" ").trim_end_matches(',').to_owned()).collect()
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
    fn an_order_and_a_question_of_one_word_share_no_pair() {
        let pairs = |text: &str| -> BTreeSet<String> {
            features(text).into_keys().filter(|feature| feature.contains(' ')).collect()
        };
        assert_eq!(pairs("Close up!"), ["^ close", "close up", "up $"].map(str::to_owned).into());
        assert!(pairs("close it").is_disjoint(&pairs("When does it close?")));
        assert!(features("").is_empty() || features("") == [("^ $".to_owned(), PAIR)].into());
    }

    #[test]
    fn a_task_of_several_orders_has_a_part_for_each() {
        let text = "Good morning, robot! Clean the bathroom, and take out the trash and then come back to me";
        assert_eq!(parts(text), ["Clean the bathroom", "take out the trash", "come back to me"]);
        assert!(parts("clean the bathroom and the hall.").is_empty(), "it is one");
        assert!(parts(" ,, and then . ").is_empty());
    }

    #[test]
    fn telling_words_are_the_same_whatever_their_ending() {
        assert_eq!(telling("Water the plants"), telling("plant, watering"));
        assert!(telling("how do you do the").is_empty());
    }
}
