//! Whether words ask, and whether they ask for a deed in the form of a question: "could somebody open the door?"

use super::languages::{self, LANGUAGES, Language};
use super::words::{self, Phrases, holds, listed};
use super::{after_any, has_any, length_of, starts_with_any};

/// Whether the words ask: by the word they begin with, which alone is enough where it can't begin anything else.
/// `goes_on`: the words only go on with a question, so that its mark is not theirs.
pub(super) fn asks(words: &[&str], is_asked: bool, goes_on: bool) -> bool {
    let starts = |phrases: Phrases| starts_with_any(words, phrases);
    if starts(words::INTERROGATIVES) || starts(words::INTERROGATIVES_ELSEWHERE) {
        return true;
    }
    let opens = starts(words::INTERROGATIVES_IF_ASKED) || LANGUAGES.iter().any(|it| starts(it.opens));
    let opens = opens || (is_asked && asks_in_turkish(words));
    // "The door is open?"
    let states = words.iter().any(|word| matches!(*word, "is" | "are")) || LANGUAGES.iter().any(|it| it.states(words));
    (opens && (is_asked || goes_on)) || (is_asked && (asks_in_korean(words) || (states && !goes_on)))
}

/// The languages in which the words may be a question.
fn opened_in<'w>(words: &'w [&str]) -> impl Iterator<Item = &'static Language> + 'w {
    LANGUAGES.iter().filter(|language| starts_with_any(words, language.opens) || language.states(words))
}

/// Whether the words of a question ask for a deed.
pub(super) fn are_in(words: &[&str]) -> bool {
    if has_any(words, words::REQUESTS_ELSEWHERE) || asks_for_a_deed(words) || is_korean_request(words) {
        return true;
    }
    // What is English beyond doubt is held against no other language.
    !starts_with_any(words, words::INTERROGATIVES) && opened_in(words).any(|language| language.asks_for_a_deed(words))
}

/// Whether a deed is asked for after an inquiry of so many words: "check in the guest", "describe it to the guest".
pub(super) fn follow(words: &[&str], inquiry: usize) -> bool {
    let rest = words.get(inquiry..).unwrap_or_default();
    let states = ["whether", "if", "that", "is", "are"].iter().any(|word| rest.contains(word));
    let ends_apart = rest.last().is_some_and(|last| matches!(*last, "in" | "out" | "off"));
    let is_apart = inquiry == 1 && rest.first().is_some_and(|next| holds(words::PARTICLES, next));
    let is_checked_in = words.first() == Some(&"check") && ends_apart && !states;
    is_apart || is_checked_in || has_any(rest, words::FOR_OTHERS) || are_in(rest)
}

fn asks_for_a_deed(words: &[&str]) -> bool {
    let proposes = words.first() == Some(&"why")
        && words.iter().any(|word| matches!(*word, "not" | "nobody"))
        && words
            .iter()
            .any(|word| matches!(*word, "you" | "we" | "nobody" | "somebody" | "someone" | "anybody" | "anyone"));
    proposes || has_any(words, words::ASKS_FOR_A_DEED) || has_request(words) || has_purpose(words)
}

/// "... can you ...": of what is seen it is a question, of anything else a request.
fn has_request(words: &[&str]) -> bool {
    let begins_with = |list: &[&str]| words.first().is_some_and(|first| list.contains(first));
    words.windows(2).enumerate().any(|(at, pair)| {
        let is_asked =
            matches!(pair, ["can" | "will", "you" | "we" | "they" | "anyone" | "anybody" | "someone" | "somebody"]);
        let rest = words.get(at + 2..).unwrap_or_default();
        let perceives = starts_with_any(rest, words::PERCEIVES) || after_any(rest, words::INQUIRIES).is_some();
        let tells = begins_with(&["what", "where", "how", "which"]) && !starts_with_any(rest, words::DEEDS);
        is_asked && !perceives && (!tells || rest.is_empty())
    })
}

/// "... to open ...", but not "how to open".
fn has_purpose(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let tells_how =
            before.is_some_and(|before| matches!(*before, "how" | "where" | "what" | "when" | "which" | "way"));
        let rest = words.get(at + 1..).unwrap_or_default();
        *word == "to" && !tells_how && length_of(rest, words::DEEDS) > 0
    })
}

impl Language {
    /// Whether the words say how something is. What stands first says nothing: "mi" asks in Turkish, and is "me" in Italian.
    fn states(&self, words: &[&str]) -> bool {
        has_any(words.get(1..).unwrap_or_default(), self.states)
    }

    fn asks_for_a_deed(&self, words: &[&str]) -> bool {
        let proposes = starts_with_any(words, self.reasons) && has_any(words, self.negations);
        let bends = words.iter().any(|word| listed(languages::BENT_REQUESTS).any(|part| word.contains(part)));
        proposes || bends || has_any(words, self.requests)
    }
}

/// "Kapı açık mı?", but not "Pencereyi kapatır mısın?"
fn asks_in_turkish(words: &[&str]) -> bool {
    let ends = words.last().is_some_and(|last| holds(languages::ASKING_PARTICLES, last));
    let bends = words.iter().any(|word| listed(languages::BENT_REQUESTS).any(|part| word.contains(part)));
    ends && !bends && words.iter().any(|word| word.contains(languages::TURKISH_LETTERS))
}

fn is_hangul(words: &[&str]) -> bool {
    words.iter().any(|word| word.chars().any(|next| matches!(next, '\u{ac00}'..='\u{d7af}')))
}

fn has_part(words: &[&str], parts: Phrases) -> bool {
    let text = format!("{} ", words.join(" "));
    listed(parts).any(|part| text.contains(part))
}

fn asks_in_korean(words: &[&str]) -> bool {
    is_hangul(words) && has_part(words, languages::KOREAN_ASKS)
}

fn is_korean_request(words: &[&str]) -> bool {
    is_hangul(words) && has_part(words, languages::KOREAN_REQUESTS)
}

/// Whether a sentence in a script without spaces asks how something is.
pub(super) fn asks_unspaced(text: &str, is_asked: bool) -> bool {
    let ends = listed(words::ASKING_ENDS_UNSPACED).any(|end| text.ends_with(end));
    (is_asked || ends) && listed(languages::ASKS_UNSPACED).any(|part| text.contains(part))
}

/// Whether a sentence in a script without spaces asks for a deed.
pub(super) fn are_in_unspaced(text: &str) -> bool {
    let text = listed(languages::SEEING_UNSPACED).fold(text.to_owned(), |text, seen| text.replace(seen, ""));
    listed(languages::DEEDS_UNSPACED).any(|part| text.contains(part))
}
