//! Whether words show what a look has found. A short output is quoted whole, a long one in whole sentences: a part of a
//! sentence may say the opposite.

use cortex_protocol::tool::value_as_text;
use serde_json::Value;
use thiserror::Error;

/// Longest words that are quoted from an output, and longest output that is quoted whole, in characters.
pub(super) const QUOTED: usize = 300;
/// How deep an output is read.
const DEPTH_LIMIT: usize = 32;

/// Why words are not what an output says. In words for the model.
#[derive(Debug, PartialEq, Error)]
pub(super) enum Misquote {
    #[error("'words' must be its complete output, copied unchanged")]
    NotComplete,
    #[error("'words' must be complete sentences of its output, copied unchanged")]
    NotSentences,
}

/// Whether the words are the output, or, where it is too long to be quoted whole, complete sentences or values of it.
///
/// # Errors
/// What is wrong, for the model.
pub(super) fn check(output: &Value, words: &str) -> Result<(), Misquote> {
    let (text, in_json) = (value_as_text(output), output.to_string());
    let words = words.trim();
    let unquoted = words.strip_prefix('"').and_then(|words| words.strip_suffix('"')).unwrap_or(words);
    let is_whole =
        [&text, &in_json].into_iter().any(|whole| [words, unquoted].iter().any(|words| is_same(whole, words)))
            || serde_json::from_str::<Value>(words).is_ok_and(|value| value == *output);
    if is_whole {
        return Ok(());
    }
    let is_text = text != in_json;
    let is_long = (if is_text { &text } else { &in_json }).chars().nth(QUOTED).is_some();
    if !is_long {
        return Err(Misquote::NotComplete);
    }
    let mut parts = Vec::new();
    if is_text {
        parts.extend(sentences(&text));
    } else {
        collect(output, 0, &mut parts);
    }
    let (said, is_value) = (sentences(unquoted), parts.contains(&plain(words)));
    if is_value || (!said.is_empty() && said.iter().all(|sentence| parts.contains(sentence))) {
        Ok(())
    } else {
        Err(Misquote::NotSentences)
    }
}

/// Whether both are the same text but for case, spaces, and how the ends of lines are written.
fn is_same(whole: &str, words: &str) -> bool {
    let written_out = words.replace("\\n", "\n").replace("\\\"", "\"");
    !whole.trim().is_empty() && (plain(whole) == plain(words) || plain(whole) == plain(&written_out))
}

/// The parts of a value that may be quoted: every object and list, every field with its value, the sentences of texts.
fn collect(value: &Value, depth: usize, parts: &mut Vec<String>) {
    if depth > DEPTH_LIMIT {
        return;
    }
    match value {
        Value::Object(fields) => {
            parts.push(plain(&value.to_string()));
            for (name, field) in fields {
                parts.push(plain(&format!("{}:{field}", Value::from(name.as_str()))));
                collect(field, depth + 1, parts);
            }
        }
        Value::Array(items) => {
            parts.push(plain(&value.to_string()));
            items.iter().for_each(|item| collect(item, depth + 1, parts));
        }
        Value::String(text) => parts.extend(sentences(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The sentences of a text, each as [`plain`] text without its closing mark. A mark ends one only where a space or the
/// end follows, so that a number stays whole; the marks of scripts without spaces always do.
fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut sentence = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends_line = matches!(character, '\n' | '\u{2028}' | '\u{2029}');
        let closes = matches!(character, '.' | '!' | '?') && characters.peek().is_none_or(|next| next.is_whitespace());
        if ends_line || closes || matches!(character, '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{2026}') {
            found.push(plain(&std::mem::take(&mut sentence)));
        } else {
            sentence.push(character);
        }
    }
    found.push(plain(&sentence));
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Whether there is a word that may tell something: of two letters or digits, or one sign that is a syllable or a word.
pub(super) fn has_a_word(text: &str) -> bool {
    let mut words = text.split(|next: char| !next.is_alphanumeric());
    words.any(|word| word.chars().nth(1).is_some() || word.chars().any(is_sign))
}

/// Kana, Han and Hangul: one of them is as much as a syllable or a word, and no space divides it from the next.
fn is_sign(character: char) -> bool {
    matches!(
        character,
        '\u{3041}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Whether the text holds the words, and not only as parts of longer ones.
pub(super) fn holds(text: &str, words: &str) -> bool {
    let (text, words) = (plain(text), plain(words));
    let is_of_word = |character: char| character.is_alphanumeric() && !is_sign(character);
    let runs_on = |one: Option<char>, next: Option<char>| one.is_some_and(is_of_word) && next.is_some_and(is_of_word);
    !words.is_empty()
        && text.char_indices().any(|(at, _)| {
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            rest.strip_prefix(words.as_str()).is_some_and(|after| {
                !runs_on(before.chars().next_back(), words.chars().next())
                    && !runs_on(words.chars().next_back(), after.chars().next())
            })
        })
}

/// Lower case, with single spaces.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_held_as_words_and_not_as_parts_of_longer_ones() {
        for (text, words) in [
            ("I see a Person  at the table", "a person"),
            ("{\"person\":true}", "\"person\":true"),
            ("ba a a", "a a"),
            ("我看到一个人在桌旁", "一个人"),
            ("사람이 있다", "사람"),
            ("人 person", "person"),
        ] {
            assert!(holds(text, words), "{text}: {words}");
        }
        for (text, words) in
            [("impersonal", "person"), ("no persons", "person"), ("level 187", "87"), ("x", ""), ("", "x")]
        {
            assert!(!holds(text, words), "{text}: {words}");
        }
    }

    #[test]
    fn a_letter_alone_is_no_evidence() {
        assert!(["ok", "a cup", "人", "87 %"].into_iter().all(has_a_word));
        assert!(!["a", "!", "a b", "5", " "].into_iter().any(has_a_word));
    }
}
