//! What tasks have in common that were done alike: their words and their steps, with names in braces for the values that vary.

use serde_json::Value;

use super::{CallSentences, TASKS};
use crate::missions::DoneTask;

/// Most words of a task, and most characters of a word or of a step.
const MOST_WORDS: usize = 30;
const WORD_CHARACTERS: usize = 40;
const STEP_CHARACTERS: usize = 200;
/// Most values that vary.
const MOST_SLOTS: usize = 4;
/// Most characters of the name of a value.
const NAME_CHARACTERS: usize = 30;

/// What the tasks have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The sentence that each of the tasks is.
    pub(super) phrase: String,
    /// A sentence for each step.
    pub(super) steps: Vec<String>,
}

/// A value that varies.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Slot {
    name: String,
    /// How it is said in each of the tasks.
    spoken: [Vec<String>; TASKS],
}

impl Pattern {
    /// The pattern of these tasks. None where their words differ in anything else than values of their calls, or where they
    /// hold what no plain words are.
    pub(super) fn of(tasks: [&DoneTask; TASKS], reader: &dyn CallSentences) -> Option<Self> {
        let slots = slots(tasks)?;
        let said = |task: usize, words: Vec<String>| filled_in(words, &slots, task, true);
        let mut phrases = tasks.iter().enumerate().map(|(at, done)| said(at, plain_words(&done.task)?));
        let phrase = common(&mut phrases)?;
        let [first, ..] = tasks;
        let mut steps = Vec::new();
        for index in 0..first.calls.len() {
            let mut sentences = tasks.iter().enumerate().map(|(at, done)| {
                let words = plain_step(&reader.sentence(done.calls.get(index)?)?)?;
                filled_in(words, &slots, at, false)
            });
            steps.push(common(&mut sentences)?.join(" "));
        }
        Some(Self { phrase: phrase.join(" "), steps })
    }
}

/// What all of them are.
fn common(all: &mut dyn Iterator<Item = Option<Vec<String>>>) -> Option<Vec<String>> {
    let first = all.next()??;
    for other in all {
        if other? != first {
            return None;
        }
    }
    Some(first)
}

/// The values in which the calls differ. None where they differ in more than values that can be said.
fn slots(tasks: [&DoneTask; TASKS]) -> Option<Vec<Slot>> {
    let [first, ..] = tasks;
    let mut slots: Vec<Slot> = Vec::new();
    for (index, call) in first.calls.iter().enumerate() {
        let mut calls = Vec::new();
        for done in tasks {
            let other = done.calls.get(index).filter(|other| other.tool == call.tool)?;
            calls.push(other);
        }
        if calls.iter().any(|other| !other.arguments.keys().eq(call.arguments.keys())) {
            return None;
        }
        for (argument, value) in &call.arguments {
            let values: Vec<&Value> = calls.iter().filter_map(|other| other.arguments.get(argument)).collect();
            if values.iter().all(|other| *other == value) {
                continue;
            }
            let spoken: Vec<Vec<String>> = values.into_iter().filter_map(spoken).collect();
            let spoken: [Vec<String>; TASKS] = spoken.try_into().ok()?;
            if slots.iter().all(|slot| slot.spoken != spoken) {
                let name = free_name(argument, &slots);
                slots.push(Slot { name, spoken });
            }
        }
    }
    (slots.len() <= MOST_SLOTS).then_some(slots)
}

/// How a value is said, in lower case. None of what is no word and no number.
fn spoken(value: &Value) -> Option<Vec<String>> {
    let text = match value {
        Value::String(text) => text.replace(['_', '-'], " "),
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    plain_words(&text)
}

fn free_name(argument: &str, slots: &[Slot]) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    let mut name: String = argument.chars().filter(is_plain).take(NAME_CHARACTERS).collect();
    if name.is_empty() {
        name.push_str("value");
    }
    let is_free = |name: &String| slots.iter().all(|slot| slot.name != *name);
    let numbered = (2..=MOST_SLOTS + 2).map(|number| format!("{name}_{number}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}

/// The words with the names of the values in their places. None where a value stands there twice, or, where `all` are needed, not
/// at all.
fn filled_in(mut words: Vec<String>, slots: &[Slot], task: usize, all: bool) -> Option<Vec<String>> {
    let mut longest: Vec<&Slot> = slots.iter().collect();
    longest.sort_by_key(|slot| std::cmp::Reverse(slot.spoken.get(task).map(Vec::len)));
    for slot in longest {
        let spoken = slot.spoken.get(task)?;
        let is_there = |window: &[String]| window.iter().zip(spoken).all(|(word, other)| word.to_lowercase() == *other);
        let places: Vec<usize> = words
            .windows(spoken.len())
            .enumerate()
            .filter_map(|(place, window)| is_there(window).then_some(place))
            .collect();
        match places.as_slice() {
            [place] => {
                words.splice(*place..*place + spoken.len(), [format!("{{{}}}", slot.name)]);
            }
            [] if !all => {}
            _ => return None,
        }
    }
    Some(words)
}

/// The words of a task in lower case, without courtesies. None where it holds anything but plain words.
pub(super) fn plain_words(text: &str) -> Option<Vec<String>> {
    let text = text.trim().trim_end_matches(['.', '!', '?', ' ']);
    let mut words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    if words.first().is_some_and(|word| word == "please") {
        words.remove(0);
    }
    if words.last().is_some_and(|word| word == "please") {
        words.pop();
    }
    let is_plain = |word: &String| {
        word.chars().count() <= WORD_CHARACTERS
            && word.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '\'' | '-'))
            && word.chars().any(char::is_alphanumeric)
    };
    ((1..=MOST_WORDS).contains(&words.len()) && words.iter().all(is_plain)).then_some(words)
}

/// The words of a step as they are. None where it holds what could be taken for anything but words of a step.
fn plain_step(text: &str) -> Option<Vec<String>> {
    let is_plain =
        |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '\'' | '-' | '"' | ',' | '.' | '%');
    let is_short = text.chars().count() <= STEP_CHARACTERS;
    (is_short && text.chars().all(is_plain)).then(|| text.split_whitespace().map(str::to_owned).collect())
}
