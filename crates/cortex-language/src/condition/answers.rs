//! What the answer of a tool says: a state, a place, that something is there.
//!
//! Each piece of an answer that says something is one piece of evidence. Where there is none, or two say different
//! things, nothing can be told.

use serde_json::Value;

use super::AnswerWords;
use crate::language::Language;
use crate::languages;
use crate::robot::{concepts, spoken};
use crate::sentence::{self, Word};
use crate::tokens::{Kind, name_words};

/// How deep an answer is read.
const DEPTH: usize = 6;
/// Most words of a text that is read.
const TEXT_WORDS: usize = 200;

/// What a piece of an answer says: nothing, that it is so or not, or something that leaves it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Nothing,
    So(bool),
    Open,
}

/// What all pieces say together.
fn together(says: impl IntoIterator<Item = Says>) -> Option<bool> {
    let mut found = None;
    for said in says {
        match said {
            Says::Nothing => {}
            Says::Open => return None,
            Says::So(holds) if found.is_some_and(|other| other != holds) => return None,
            Says::So(holds) => found = Some(holds),
        }
    }
    found
}

/// A piece of an answer, under the name of its field; lists and objects come before what is in them.
pub(super) fn pieces(value: &Value) -> Vec<(Vec<String>, &Value)> {
    let mut found = Vec::new();
    walk(value, &[], 0, &mut found);
    found
}

fn walk<'v>(value: &'v Value, name: &[String], depth: usize, found: &mut Vec<(Vec<String>, &'v Value)>) {
    found.push((name.to_vec(), value));
    if depth >= DEPTH {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, name, depth + 1, found)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| walk(field, &name_words(name), depth + 1, found));
        }
        _ => {}
    }
}

pub(super) fn english() -> Option<(&'static Language, &'static AnswerWords)> {
    languages::english().map(|language| (language, &language.conditions.answers))
}

pub(super) fn read(text: &str, language: &Language) -> Vec<Word> {
    let words = sentence::words(&text.replace(['"', '“', '”'], " "), language).unwrap_or_default();
    words.into_iter().take(TEXT_WORDS).collect()
}

/// Returns true if the field only holds the answer, and says nothing of what it is.
pub(super) fn is_generic(name: &[String], answers: &AnswerWords) -> bool {
    name.is_empty() || name.iter().all(|word| answers.generic.has(word))
}

/// A state or its opposite.
pub(super) fn state(found: &Value, state: &str, opposite: &str, yes: Option<bool>) -> Option<bool> {
    let (language, answers) = english()?;
    let named = |name: &[String]| {
        let (said, _) = language.state(name).filter(|(_, length)| *length == name.len())?;
        Some(said == state).filter(|is_it| *is_it || said == opposite)
    };
    // A list of what is in one state tells of the other one, too.
    let lists = |name: &[String], items: &[Value]| match named(name) {
        Some(is_it) if !items.is_empty() => Says::So(is_it),
        _ => Says::Nothing,
    };
    let says = |(name, piece): (Vec<String>, &Value)| match piece {
        Value::Bool(flag) => match (named(&name), yes) {
            (Some(is_it), _) => Says::So(is_it == *flag),
            (None, Some(yes)) if is_generic(&name, answers) => Says::So(yes == *flag),
            _ => Says::Nothing,
        },
        Value::String(text) if named(&name).is_none() => {
            stated(&read(text, language), state, opposite, yes, language, answers)
        }
        Value::Array(items) => lists(&name, items),
        _ => Says::Nothing,
    };
    together(pieces(found).into_iter().map(says))
}

/// The state that a text tells of: "The light is not on.", "closed", "yes".
fn stated(
    words: &[Word],
    state: &str,
    opposite: &str,
    yes: Option<bool>,
    language: &Language,
    answers: &AnswerWords,
) -> Says {
    let bare = words.iter().filter(|word| !word.is_punctuation()).cloned().collect::<Vec<_>>();
    if let Some(yes) = yes {
        if answers.yes.length(&bare) == bare.len() && !bare.is_empty() {
            return Says::So(yes);
        }
        if answers.no.length(&bare) == bare.len() && !bare.is_empty() {
            return Says::So(!yes);
        }
    }
    let mut said: Vec<Says> = Vec::new();
    let mut taken = vec![false; words.len()];
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((one, length)) = language.state(rest).filter(|(one, _)| *one == state || *one == opposite) else {
            at += 1;
            continue;
        };
        let not = (1..=2).find(|back| {
            let before = at.checked_sub(*back).and_then(|from| words.get(from..at));
            before.is_some_and(|before| answers.not.length(before) == *back)
        });
        let begin = at - not.unwrap_or(0);
        let before = begin.checked_sub(1).and_then(|before| words.get(before));
        let told = before.is_some_and(|before| answers.tells.has(&before.text) || before.is_mark(":"));
        let alone = bare.len() == length;
        if told || alone {
            said.push(Says::So((one == state) == not.is_none()));
            taken.iter_mut().skip(begin).take(at + length - begin).for_each(|it| *it = true);
        }
        at += length;
    }
    if said.is_empty() {
        return Says::Nothing;
    }
    let is_open = (0..words.len()).any(|at| {
        let rest = words.get(at..).unwrap_or_default();
        taken.get(at) == Some(&false) && answers.uncertain.length(rest) > 0
    });
    if is_open {
        return Says::Open;
    }
    together(said).map_or(Says::Open, Says::So)
}

/// One of a few values, as the place where the robot is.
pub(super) fn value(found: &Value, value: &Value, among: &[Value]) -> Option<bool> {
    let (language, answers) = english()?;
    let plain = |text: &str| name_words(text).join(" ");
    let names: Vec<(String, Vec<String>)> =
        among.iter().map(spoken).map(|name| (plain(&name), name_words(&name))).collect();
    let wanted = plain(&spoken(value));
    let says = |(_, piece): (Vec<String>, &Value)| {
        let Value::String(text) = piece else { return Says::Nothing };
        let said = plain(text);
        if let Some((name, _)) = names.iter().find(|(name, _)| *name == said) {
            return Says::So(*name == wanted);
        }
        placed(&read(text, language), &names, &wanted, language, answers)
    };
    together(pieces(found).into_iter().map(says))
}

/// The value that a text tells of: "I am in the kitchen." One that is only near says nothing.
fn placed(
    words: &[Word],
    names: &[(String, Vec<String>)],
    wanted: &str,
    language: &Language,
    answers: &AnswerWords,
) -> Says {
    let mut said: Vec<Says> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins = |(_, name): &&(String, Vec<String>)| {
            let rest = words.get(at..).unwrap_or_default();
            rest.len() >= name.len() && name.iter().zip(rest).all(|(one, other)| *one == other.text)
        };
        let Some((name, parts)) = names.iter().filter(begins).max_by_key(|(_, parts)| parts.len()) else {
            at += 1;
            continue;
        };
        let articles = words.get(..at).unwrap_or_default().iter().rev().take_while(|it| language.is_article(&it.text));
        let marks = at.checked_sub(1 + articles.count()).and_then(|before| words.get(before));
        let is_there = marks.is_some_and(|word| answers.at.has(&word.text) || word.is_mark(":"));
        said.push(if is_there { Says::So(name == wanted) } else { Says::Open });
        at += parts.len();
    }
    let is_open = (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| answers.uncertain.length(rest) > 0));
    match together(said.iter().copied()) {
        Some(holds) if !is_open => Says::So(holds),
        _ if said.is_empty() => Says::Nothing,
        _ => Says::Open,
    }
}

/// That there is something: yes or no, a count, a list.
pub(super) fn present(found: &Value, names: &[String]) -> Option<bool> {
    let (language, answers) = english()?;
    let tells = |name: &[String]| {
        let concepts = concepts(&name.join(" "), language);
        is_generic(name, answers)
            || name.iter().all(|word| answers.present.has(word) || answers.counts.has(word))
            || (!concepts.is_empty() && concepts.iter().all(|it| names.contains(it) || answers.present.has(it)))
    };
    let says = |(name, piece): (Vec<String>, &Value)| match piece {
        Value::Bool(flag) if tells(&name) => Says::So(*flag),
        Value::Number(number) if tells(&name) => match number.as_f64() {
            Some(count) if count >= 0.0 && count.fract() == 0.0 => Says::So(count > 0.0),
            _ => Says::Open,
        },
        Value::Array(items) if items.iter().all(|item| item.is_string() || item.is_object()) => {
            Says::So(!items.is_empty())
        }
        Value::String(text) => {
            let words: Vec<Word> = read(text, language).into_iter().filter(|word| !word.is_punctuation()).collect();
            let is = |phrases: &crate::phrases::PhraseSet| !words.is_empty() && phrases.length(&words) == words.len();
            if is(&answers.yes) {
                Says::So(true)
            } else if is(&answers.no) || is(&answers.nothing) {
                Says::So(false)
            } else {
                Says::Nothing
            }
        }
        _ => Says::Nothing,
    };
    together(pieces(found).into_iter().map(says))
}

/// That a thing is among what is seen. What a list does not name is not there; what a text does not name may be.
pub(super) fn seen(found: &Value, thing: &str, is_person: bool) -> Option<bool> {
    let (language, answers) = english()?;
    let names = |text: &str| concepts(text, language).iter().any(|concept| concept == thing);
    let is_open = |text: &str| {
        let words = read(text, language);
        (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| answers.uncertain.length(rest) > 0))
    };
    let all = pieces(found);
    let lists: Vec<&Vec<Value>> = all
        .iter()
        .filter_map(|(_, piece)| piece.as_array())
        .filter(|items| items.iter().all(Value::is_string))
        .collect();
    let [items] = lists.as_slice() else {
        let named = |text: &str| names(text) && !is_open(text);
        let tells = all.iter().any(|(_, piece)| piece.as_str().is_some_and(named));
        return (lists.is_empty() && tells).then_some(true);
    };
    let texts = || items.iter().filter_map(Value::as_str);
    if texts().any(is_open) {
        return None;
    }
    if texts().any(names) {
        return Some(true);
    }
    (!is_person || items.is_empty()).then_some(false)
}

/// Returns true if the piece is a text with words in it.
pub(super) fn has_words(words: &[Word]) -> bool {
    words.iter().any(|word| matches!(word.kind, Kind::Word | Kind::Number))
}
