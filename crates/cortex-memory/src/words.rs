//! Words: when two names are the same, and which words of a text tell what it is about.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use stop_words::LANGUAGE;

/// Most words of a text that are looked for: a task may be 16 kB long, and each word costs a lookup.
const MOST_WORDS: usize = 32;

/// Words that say nothing of what a sentence is about, in the languages that tasks come in.
static FILLERS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let languages =
        [LANGUAGE::English, LANGUAGE::German, LANGUAGE::French, LANGUAGE::Spanish, LANGUAGE::Italian, LANGUAGE::Dutch];
    let words = languages.into_iter().flat_map(stop_words::get);
    words.flat_map(|word| split(word).collect::<Vec<_>>()).collect()
});

/// Articles before a name, which are no part of it: "the red cup" is "red cup".
const ARTICLES: [&str; 9] = ["the", "a", "an", "der", "die", "das", "le", "la", "el"];

/// What makes two names the same: neither case, nor spaces, nor an article in front.
pub(crate) fn key(name: &str) -> String {
    let mut words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    if words.len() > 1 && words.first().is_some_and(|first| ARTICLES.contains(&first.as_str())) {
        words.remove(0);
    }
    words.join(" ")
}

/// Words of courtesy, which are no part of a task.
const COURTESIES: [&str; 4] = ["please", "kindly", "bitte", "svp"];

/// What makes two tasks the same: neither case, nor marks, nor articles, nor courtesy. "on" and "off" are all the difference,
/// and so are the sign and the decimals of a number.
pub(crate) fn task_key(task: &str) -> String {
    let letters: Vec<char> = task.chars().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_digit);
    let marked = letters.iter().enumerate().map(|(at, letter)| match letter {
        '-' | '\u{2212}' if is_digit(Some(at + 1)) && !is_digit(at.checked_sub(1)) => 'm',
        '.' | ',' if is_digit(Some(at + 1)) && is_digit(at.checked_sub(1)) => 'p',
        letter => *letter,
    });
    let marked: String = marked.collect();
    let is_telling = |word: &String| !ARTICLES.contains(&word.as_str()) && !COURTESIES.contains(&word.as_str());
    split(&marked).filter(is_telling).collect::<Vec<_>>().join(" ")
}

/// A name as it is shown: as it was written, without an article in front. A capital one belongs to the name: "La Paz".
pub(crate) fn named(name: &str) -> &str {
    let name = name.trim();
    match name.split_once(char::is_whitespace) {
        Some((first, rest)) if ARTICLES.contains(&first) => rest.trim_start(),
        _ => name,
    }
}

/// The words of a text in lower case, each once, in the order of their first place.
pub(crate) fn distinct(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    split(text).filter(|word| seen.insert(word.clone())).take(MOST_WORDS).collect()
}

/// Whether a word alone says nothing. It may still be part of a name: "door", "room" and "open" are such words in some
/// language.
pub(crate) fn is_filler(word: &str) -> bool {
    FILLERS.contains(word)
}

/// Whether a text holds a name as whole words.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let (text, name): (Vec<_>, Vec<_>) = (split(text).collect(), split(name).collect());
    !name.is_empty() && text.windows(name.len()).any(|window| window == name)
}

/// A text with another one in the place of a name, wherever it stands as whole words.
pub(crate) fn without(text: &str, name: &str, other: &str) -> String {
    let name: Vec<String> = split(name).collect();
    let words: Vec<(usize, usize)> = spans(text);
    let (mut clean, mut from, mut index) = (String::new(), 0, 0);
    while let Some(window) = words.get(index..index + name.len()).filter(|window| !window.is_empty()) {
        let is_it = window
            .iter()
            .zip(&name)
            .all(|((start, end), word)| text.get(*start..*end).is_some_and(|written| written.to_lowercase() == *word));
        if let (true, Some((start, _)), Some((_, end))) = (is_it, window.first(), window.last()) {
            clean.push_str(text.get(from..*start).unwrap_or_default());
            clean.push_str(other);
            from = *end;
            index += name.len();
        } else {
            index += 1;
        }
    }
    clean.push_str(text.get(from..).unwrap_or_default());
    clean
}

/// Where the words of a text begin and end, in bytes.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, letter) in text.char_indices().filter(|(_, letter)| letter.is_alphanumeric()) {
        let end = at + letter.len_utf8();
        match spans.last_mut() {
            Some((_, last)) if *last == at => *last = end,
            _ => spans.push((at, end)),
        }
    }
    spans
}

/// The words of a text, as the index splits it.
fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_whatever_their_case_spaces_and_article() {
        for name in ["red cup", "The  Red cup ", "\ta RED\ncup"] {
            assert_eq!(key(name), "red cup");
        }
        assert_eq!(key("The"), "the", "an article alone is a name");
        assert_ne!(key("red cup"), key("cup"));
    }

    #[test]
    fn tasks_are_the_same_whatever_their_courtesy_and_not_whatever_they_want() {
        assert_eq!(task_key("Please turn on the kitchen light!"), task_key("turn on kitchen light"));
        assert_ne!(task_key("turn on the light"), task_key("turn off the light"));
        assert_ne!(task_key("turn -90 degrees"), task_key("turn 90 degrees"));
        assert_ne!(task_key("drive 1.5 m"), task_key("drive 15 m"));
        assert_ne!(task_key("drive 1.5 m"), task_key("drive 1 5 m"));
        assert_ne!(task_key("bring the cup from the hall"), task_key("bring the hall from the cup"));
    }

    #[test]
    fn a_name_is_mentioned_as_whole_words_only() {
        assert!(mentions("Bring me the Red Cup, please", "red cup"));
        assert!(!mentions("a teacup", "cup"));
        assert!(!mentions("red and blue cup", "red cup"));
        assert!(!mentions("anything", ""));
    }

    #[test]
    fn a_name_is_taken_out_of_a_text_wherever_it_stands() {
        let without = |text| without(text, "red cup", "[forgotten]");
        assert_eq!(without("Bring the Red cup, the RED  CUP!"), "Bring the [forgotten], the [forgotten]!");
        assert_eq!(without("red teacup, red"), "red teacup, red");
        assert_eq!(super::without("größe", "größe", "x"), "x");
        assert_eq!(super::without("anything", "", "x"), "anything");
    }

    #[test]
    fn words_count_once_and_a_long_text_has_so_many() {
        assert_eq!(distinct("Cup cup CUP, red"), ["cup", "red"]);
        let text: String = (0..1_000).map(|number| format!("word{number} ")).collect();
        assert_eq!(distinct(&text).len(), MOST_WORDS);
        assert!(is_filler("where") && is_filler("wo") && !is_filler("kettle"));
    }
}
