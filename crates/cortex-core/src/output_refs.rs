//! Placeholders in arguments: `<output of step 1>` stands for what step 1 returned, `<output of step 1.percent>` for
//! one field of it.
//!
//! A text that is nothing but a placeholder can take the returned value as it is; inside other text the value appears
//! as a person would read it.

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::StepNumber;
use cortex_protocol::tool::value_as_text;
use serde_json::{Map, Value};

/// How deep arguments are searched; what lies deeper is left as it is and fails its schema or stays text.
const DEPTH_LIMIT: usize = 32;

/// Most bytes of text that one argument may come to hold by its placeholders. Longer results are not for arguments.
const BOUND_BYTES: usize = 64 * 1024;

/// Most bytes of a placeholder with its brackets. What closes later closes something else.
const LONGEST: usize = 600;
/// Characters within which something says that it is meant as a placeholder.
const BEGINNING: usize = 60;

/// What may open something that was meant as a placeholder, and what may close it.
const OPENINGS: [char; 4] = ['<', '＜', '[', '{'];
const CLOSINGS: [char; 4] = ['>', '＞', ']', '}'];

/// In which form a text that is nothing but a placeholder takes the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The JSON value as returned.
    Value,
    /// As a person would read it.
    Text,
}

/// A placeholder found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Placeholder<'a> {
    /// The text with its angle brackets.
    written: &'a str,
    step: StepNumber,
    /// Keys and indices into the value.
    path: Vec<&'a str>,
}

/// The steps that the arguments refer to.
#[must_use]
pub fn references(arguments: &Map<String, Value>) -> BTreeSet<StepNumber> {
    let mut found = BTreeSet::new();
    for value in arguments.values() {
        visit_texts(value, 0, &mut |text| {
            found.extend(placeholders(text).into_iter().map(|placeholder| placeholder.step));
        });
    }
    found
}

/// Whether the value at `pointer` (RFC 6901) within the arguments holds a placeholder.
#[must_use]
pub fn is_placeholder_at(arguments: &Map<String, Value>, pointer: &str) -> bool {
    let root = Value::Object(arguments.clone());
    let Some(value) = root.pointer(pointer) else { return false };
    value.as_str().is_some_and(|text| !bracketed(text).is_empty())
}

/// Everything in the text that stands for something else, as written, with where it begins: placeholders, and
/// `<each place>` (see [`expansion`](crate::for_each)).
pub(crate) fn bracketed(text: &str) -> Vec<(usize, &str)> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (start, written) in spans(text, &['<'], &['>']) {
        let is_within = found.last().is_some_and(|(before, written)| start < before + written.len());
        if !is_within && (read_placeholder(written).is_some() || read_each(written).is_some()) {
            found.push((start, written));
        }
    }
    found
}

/// Everything in the text from an opening to the next closing, in order, as far as a placeholder can be long. One pass,
/// however many openings there are.
pub(crate) fn spans<'a>(text: &'a str, openings: &[char], closings: &[char]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let mut end = None;
    for (at, next) in text.char_indices().rev() {
        if closings.contains(&next) {
            end = Some(at + next.len_utf8());
        } else if openings.contains(&next) {
            found.extend(end.filter(|end| end - at <= LONGEST).and_then(|end| Some((at, text.get(at..end)?))));
        }
    }
    found.reverse();
    found
}

/// The placeholder with another step's number, as `renumber` says; other text as it is.
pub(crate) fn renumbered<E>(
    written: &str,
    renumber: impl Fn(StepNumber) -> Result<StepNumber, E>,
) -> Result<String, E> {
    let Some(placeholder) = read_placeholder(written) else { return Ok(written.to_owned()) };
    let path: String = placeholder.path.iter().flat_map(|key| [".", key]).collect();
    Ok(format!("<output of step {}{path}>", renumber(placeholder.step)?))
}

/// The arguments with the steps of all their placeholders renumbered.
///
/// # Errors
/// What `renumber` says of a step that has no other number.
pub(crate) fn with_numbers<E>(
    arguments: &Map<String, Value>,
    renumber: impl Fn(StepNumber) -> Result<StepNumber, E>,
) -> Result<Map<String, Value>, E> {
    let mut renumbered = arguments.clone();
    renumbered.values_mut().try_for_each(|value| renumber_value(value, &renumber, 0))?;
    Ok(renumbered)
}

fn renumber_value<E>(
    value: &mut Value,
    renumber: &impl Fn(StepNumber) -> Result<StepNumber, E>,
    depth: usize,
) -> Result<(), E> {
    if depth > DEPTH_LIMIT {
        return Ok(());
    }
    match value {
        Value::String(text) => {
            let mut written = String::with_capacity(text.len());
            let mut end = 0;
            for (start, part) in bracketed(text) {
                written.push_str(text.get(end..start).unwrap_or_default());
                written.push_str(&renumbered(part, renumber)?);
                end = start + part.len();
            }
            written.push_str(text.get(end..).unwrap_or_default());
            *text = written;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| renumber_value(item, renumber, depth + 1)),
        Value::Object(fields) => fields.values_mut().try_for_each(|field| renumber_value(field, renumber, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The arguments with every placeholder replaced.
///
/// # Errors
/// The placeholders that have no value, as written.
pub fn bind(
    arguments: &Map<String, Value>,
    outputs: &BTreeMap<StepNumber, Value>,
    form: Form,
) -> Result<Map<String, Value>, Vec<String>> {
    let mut missing = Vec::new();
    let bound = arguments
        .iter()
        .map(|(name, value)| (name.clone(), bind_value(value, outputs, form, 0, &mut missing)))
        .collect();
    if missing.is_empty() { Ok(bound) } else { Err(missing) }
}

fn bind_value(
    value: &Value,
    outputs: &BTreeMap<StepNumber, Value>,
    form: Form,
    depth: usize,
    missing: &mut Vec<String>,
) -> Value {
    if depth > DEPTH_LIMIT {
        return value.clone();
    }
    match value {
        Value::String(text) => bind_text(text, outputs, form, missing),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| bind_value(item, outputs, form, depth + 1, missing)).collect())
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, field)| (name.clone(), bind_value(field, outputs, form, depth + 1, missing)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn bind_text(text: &str, outputs: &BTreeMap<StepNumber, Value>, form: Form, missing: &mut Vec<String>) -> Value {
    let mut bound = String::new();
    let mut rest = text;
    for placeholder in placeholders(text) {
        let Some(value) = lookup(&placeholder, outputs) else {
            missing.push(placeholder.written.to_owned());
            continue;
        };
        let readable = value_as_text(value);
        if bound.len() + readable.len() > BOUND_BYTES {
            missing.push(format!("{} (it is longer than {BOUND_BYTES} bytes)", placeholder.written));
            continue;
        }
        if form == Form::Value && placeholder.written == text.trim() {
            return value.clone();
        }
        let Some((before, after)) = rest.split_once(placeholder.written) else { continue };
        bound.push_str(before);
        bound.push_str(&readable);
        rest = after;
    }
    bound.push_str(rest);
    Value::String(bound)
}

fn lookup<'a>(placeholder: &Placeholder<'_>, outputs: &'a BTreeMap<StepNumber, Value>) -> Option<&'a Value> {
    let mut value = outputs.get(&placeholder.step)?;
    for key in &placeholder.path {
        value = match value {
            Value::Object(fields) => fields.get(*key)?,
            Value::Array(items) => items.get(key.parse::<usize>().ok()?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(value)
}

fn visit_texts(value: &Value, depth: usize, visit: &mut impl FnMut(&str)) {
    if depth > DEPTH_LIMIT {
        return;
    }
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| visit_texts(item, depth + 1, visit)),
        Value::Object(fields) => fields.values().for_each(|field| visit_texts(field, depth + 1, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Every placeholder of the text, in order. Other text in angle brackets is none.
fn placeholders(text: &str) -> Vec<Placeholder<'_>> {
    bracketed(text).into_iter().filter_map(|(_, written)| read_placeholder(written)).collect()
}

/// Reads `<output of step 1>` and the ways in which models vary it: `result` for `output`, `from` for `of`, any case.
fn read_placeholder(written: &str) -> Option<Placeholder<'_>> {
    let inner = written.strip_prefix('<')?.strip_suffix('>')?;
    let mut words = inner.split_whitespace();
    let what = words.next()?;
    let link = words.next()?;
    let step = words.next()?;
    let target = words.next()?;
    let fits = ["output", "result"].iter().any(|word| what.eq_ignore_ascii_case(word))
        && ["of", "from"].iter().any(|word| link.eq_ignore_ascii_case(word))
        && step.eq_ignore_ascii_case("step")
        && words.next().is_none();
    if !fits {
        return None;
    }
    let mut parts = target.split('.');
    let number = parts.next().filter(|number| number.bytes().all(|digit| digit.is_ascii_digit()))?.parse().ok()?;
    let path: Vec<&str> = parts.collect();
    (!path.contains(&"")).then_some(Placeholder { written, step: StepNumber(number), path })
}

/// Reads `<each place>`, also `<every place>`.
pub(crate) fn read_each(written: &str) -> Option<String> {
    /// Longer is no name.
    const NAME: usize = 60;
    let inner = written.strip_prefix('<')?.strip_suffix('>')?.trim();
    let (each, name) = inner.split_once(char::is_whitespace)?;
    let is_each = ["each", "every"].iter().any(|word| each.eq_ignore_ascii_case(word));
    let name = plain_name(name);
    (is_each && !name.is_empty() && name.len() <= NAME).then_some(name)
}

/// A name as it is compared: lower case, with `_` between words.
#[must_use]
pub fn plain_name(name: &str) -> String {
    let words = name.split(|next: char| !next.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// The first text of the arguments, names of fields included, that was meant as a placeholder for what a step returned and
/// is none, as it is written. Nothing could fill it in, so it would go to the tool as it is.
#[must_use]
pub fn malformed(arguments: &Map<String, Value>) -> Option<&str> {
    arguments.iter().find_map(|(name, value)| meant_as_reference(name).next().or_else(|| malformed_in(value, 0)))
}

fn malformed_in(value: &Value, depth: usize) -> Option<&str> {
    if depth > DEPTH_LIMIT {
        return None;
    }
    match value {
        Value::String(text) => meant_as_reference(text).find(|written| read_placeholder(written).is_none()),
        Value::Array(items) => items.iter().find_map(|item| malformed_in(item, depth + 1)),
        // A name is never filled in.
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, field)| meant_as_reference(name).next().or_else(|| malformed_in(field, depth + 1))),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Every part of the text that somebody meant to stand for what a step returned, whether it can or not.
fn meant_as_reference(text: &str) -> impl Iterator<Item = &str> {
    let openings = text.char_indices().filter(|(_, next)| OPENINGS.contains(next));
    openings.filter_map(|(start, _)| text.get(start..)).filter(|opened| is_meant(opened)).map(|opened| {
        let is_last = |(_, next): &(usize, char)| CLOSINGS.contains(next);
        let end = opened.char_indices().take(LONGEST).find(is_last).map(|(at, next)| at + next.len_utf8());
        end.and_then(|end| opened.get(..end)).unwrap_or(opened)
    })
}

fn is_meant(opened: &str) -> bool {
    let mut words = opened.chars().take(BEGINNING).skip(1).skip_while(|next| next.is_whitespace()).peekable();
    // "[<output of step 1>]" is a list of one.
    if !words.peek().is_some_and(|next| next.is_alphabetic()) {
        return false;
    }
    let letters = words.filter(|next| next.is_alphanumeric()).flat_map(char::to_lowercase);
    let letters: String = letters.take(MEANT_CHARACTERS).collect();
    MEANT.iter().any(|beginning| letters.starts_with(beginning))
}

/// As many as the longest beginning has.
const MEANT_CHARACTERS: usize = 15;

/// How a reference to a step begins, without what stands between the words.
const MEANT: [&str; 8] = [
    "outputofstep",
    "outputfromstep",
    "outputsofstep",
    "outputsfromstep",
    "resultofstep",
    "resultfromstep",
    "resultsofstep",
    "resultsfromstep",
];

/// The text with something closed in place of each placeholder for what a step returned.
pub(crate) fn without_references(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    for placeholder in placeholders(text) {
        let Some((before, after)) = rest.split_once(placeholder.written) else { continue };
        kept.push_str(before);
        kept.push('0');
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(fields) => fields,
            other => panic!("not an object: {other}"),
        }
    }

    fn outputs() -> BTreeMap<StepNumber, Value> {
        BTreeMap::from([
            (StepNumber(1), json!({"text": "a red cup"})),
            (StepNumber(2), json!({"percent": 42, "cells": [{"volts": 3.7}]})),
        ])
    }

    #[test]
    fn values_are_bound_inside_text_and_as_they_are() {
        let arguments = object(json!({
            "text": "I see <output of step 1>, battery at <Result from step 2.percent> %",
            "level": "<output of step 2.percent>",
            "volts": ["<output of step 2.cells.0.volts>"],
            "markup": "<b>bold</b> < 3",
        }));
        assert_eq!(
            bind(&arguments, &outputs(), Form::Value).map(Value::Object),
            Ok(json!({
                "text": "I see a red cup, battery at 42 %",
                "level": 42,
                "volts": [3.7],
                "markup": "<b>bold</b> < 3",
            }))
        );
        assert_eq!(
            bind(&object(json!({"level": "<output of step 2.percent>"})), &outputs(), Form::Text).map(Value::Object),
            Ok(json!({"level": "42"}))
        );
    }

    #[test]
    fn what_has_no_value_is_named() {
        let arguments = object(json!({"a": "<output of step 9>", "b": {"c": ["<output of step 2.amperes>"]}}));
        assert_eq!(
            bind(&arguments, &outputs(), Form::Value),
            Err(vec!["<output of step 9>".to_owned(), "<output of step 2.amperes>".to_owned()])
        );
        assert_eq!(references(&arguments), BTreeSet::from([StepNumber(2), StepNumber(9)]));
        assert!(is_placeholder_at(&arguments, "/b/c/0"));
        assert!(!is_placeholder_at(&arguments, "/b"));
    }

    #[test]
    fn a_flood_is_not_bound() {
        let outputs = BTreeMap::from([(StepNumber(1), json!("x".repeat(60_000)))]);
        let arguments = object(json!({"text": "<output of step 1> and <output of step 1>"}));
        let missing = bind(&arguments, &outputs, Form::Text).unwrap_err();
        assert_eq!(missing, ["<output of step 1> (it is longer than 65536 bytes)"]);
    }

    #[test]
    fn a_returned_text_is_not_searched_for_further_placeholders() {
        let outputs = BTreeMap::from([(StepNumber(1), json!("<output of step 1><output of step 2>"))]);
        let bound = bind(&object(json!({"text": "x <output of step 1>"})), &outputs, Form::Text);
        assert_eq!(bound.map(Value::Object), Ok(json!({"text": "x <output of step 1><output of step 2>"})));
    }

    /// Each opening looked for its closing through all of the text: 1 MB of "<" took minutes.
    #[test]
    fn regression_a_flood_of_brackets_was_searched_for_minutes() {
        for flood in ["<".repeat(1 << 19), "<a".repeat(1 << 18), "<output of step [".repeat(1 << 16)] {
            let arguments = object(json!({"text": format!("{flood}>")}));
            let begun = std::time::Instant::now();
            let _ = (references(&arguments), malformed(&arguments));
            assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
        }
    }
}
