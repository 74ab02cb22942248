//! Whether a rule matches a call: yes, no, or not known. An unknown one never lets a call through: a rule that allows does
//! not match then, one that asks or denies does.

use cortex_protocol::{PolicyVerdict, ToolCall, ToolSpec};
use serde_json::{Map, Value};

use super::PolicyContext;
use super::compiled::{CompiledRule, CompiledTest, Spelling, Text};
use crate::condition::Verdict;
use crate::output_refs;

/// How deep arguments are looked into; what lies deeper is not known.
const DEPTH_LIMIT: usize = 32;

/// Kleene's three values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matched {
    Yes,
    No,
    Unknown,
}

impl Matched {
    fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::No, Self::No) => Self::No,
        }
    }
}

/// Whether the rule, the `index`-th of its policy, matches the call.
pub(super) fn matched(
    rule: &CompiledRule,
    index: usize,
    call: &ToolCall,
    spec: &ToolSpec,
    context: &PolicyContext<'_>,
) -> Matched {
    if !rule.is_about(spec) || !rule.is_for(context.origin) {
        return Matched::No;
    }
    let state = match (&rule.written.when, context.state.conditions.get(index)) {
        (None, _) | (Some(_), Some(Verdict::Holds)) => Matched::Yes,
        (Some(_), Some(Verdict::Broken)) => Matched::No,
        (Some(_), Some(Verdict::Unknown) | None) => Matched::Unknown,
    };
    let hours = match (rule.hours, context.state.minute) {
        (None, _) => Matched::Yes,
        (Some(_), None) => Matched::Unknown,
        (Some(hours), Some(minute)) => Matched::of(hours.contains(minute)),
    };
    let reading = if rule.written.then == PolicyVerdict::Allow { Reading::Every } else { Reading::Any };
    let mut matched = state.and(hours);
    for test in &rule.arguments {
        if matched == Matched::No {
            break;
        }
        matched = matched.and(argument(test, &call.arguments, spec, reading));
    }
    matched
}

/// How a test reads an array: a rule that allows must hold of every element, another one of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Any,
    Every,
}

impl Reading {
    fn joined(self, all: impl Iterator<Item = Matched>) -> Matched {
        let mut all = all.peekable();
        match (self, all.peek()) {
            // Of nothing nothing is known to hold.
            (Self::Every, None) => Matched::Unknown,
            (Self::Every, Some(_)) => all.fold(Matched::Yes, Matched::and),
            (Self::Any, _) => all.fold(Matched::No, Matched::or),
        }
    }
}

/// Whether the argument at the test's path passes it.
fn argument(test: &CompiledTest, arguments: &Map<String, Value>, spec: &ToolSpec, reading: Reading) -> Matched {
    // A name with dots in it is a name before it is a path.
    if let Some(value) = arguments.get(&test.path) {
        return value_passes(value, test, reading, 0);
    }
    let Some((first, rest)) = test.names.split_first() else { return Matched::Unknown };
    match arguments.get(first) {
        Some(value) => at(value, rest, test, schema_of(&spec.parameters, first), reading, 0),
        None => absent(rest, first, test, &spec.parameters, reading, 0),
    }
}

fn schema_of<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// An argument that is not given is its default. Without one it is known to be absent, if it may be.
fn absent(rest: &[String], name: &str, test: &CompiledTest, schema: &Value, reading: Reading, depth: usize) -> Matched {
    let property = schema_of(schema, name);
    if let Some(default) = property.and_then(|property| property.get("default")) {
        return at(default, rest, test, property, reading, depth + 1);
    }
    let is_required =
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name));
    // What is absent is none of the values of a list; whether that is meant nobody can say.
    if is_required || test.none_of.is_some() { Matched::Unknown } else { Matched::No }
}

fn at(
    value: &Value,
    path: &[String],
    test: &CompiledTest,
    schema: Option<&Value>,
    reading: Reading,
    depth: usize,
) -> Matched {
    let Some((name, rest)) = path.split_first() else { return value_passes(value, test, reading, depth) };
    if depth > DEPTH_LIMIT {
        return Matched::Unknown;
    }
    match value {
        Value::Object(fields) => match fields.get(name) {
            Some(field) => at(field, rest, test, schema.and_then(|schema| schema_of(schema, name)), reading, depth + 1),
            None => absent(rest, name, test, schema.unwrap_or(&Value::Null), reading, depth + 1),
        },
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            match name.parse::<usize>() {
                Ok(index) => match items.get(index) {
                    Some(item) => at(item, rest, test, schema, reading, depth + 1),
                    None if test.none_of.is_some() => Matched::Unknown,
                    None => Matched::No,
                },
                Err(_) => reading.joined(items.iter().map(|item| at(item, path, test, schema, reading, depth + 1))),
            }
        }
        // A text in the place of an object may stand for anything.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Matched::Unknown,
    }
}

fn value_passes(value: &Value, test: &CompiledTest, reading: Reading, depth: usize) -> Matched {
    if depth > DEPTH_LIMIT || is_open(value) {
        return Matched::Unknown;
    }
    if let Value::Array(items) = value {
        return reading.joined(items.iter().map(|item| value_passes(item, test, reading, depth + 1)));
    }
    let number = value.as_f64().filter(|number| !number.is_nan());
    let compared = |bound: Option<f64>, holds: fn(f64, f64) -> bool| match (bound, number) {
        (None, _) => Matched::Yes,
        (Some(_), None) => Matched::Unknown,
        (Some(bound), Some(number)) => Matched::of(holds(number, bound)),
    };
    let text = value.as_str().map(Text::new);
    let one_of = |values: &[(Value, Option<Text>)], spelling: Spelling| {
        let same = values.iter().map(|(one, folded)| match (&text, folded) {
            (Some(text), Some(folded)) => Matched::of(text.folded(spelling) == folded.folded(spelling)),
            _ => is_same(value, one),
        });
        same.fold(Matched::No, Matched::or)
    };
    // In doubt about how a text is spelt, a rule that asks or denies matches, and one that allows does not.
    let (listed, unlisted) = match reading {
        Reading::Any => (Spelling::Loose, Spelling::Exact),
        Reading::Every => (Spelling::Exact, Spelling::Loose),
    };
    let mut matched =
        compared(test.above, |number, bound| number > bound).and(compared(test.below, |number, bound| number < bound));
    if let Some(values) = &test.one_of {
        matched = matched.and(one_of(values, listed));
    }
    if let Some(values) = &test.none_of {
        matched = matched.and(match one_of(values, unlisted) {
            Matched::Yes => Matched::No,
            Matched::No => Matched::Yes,
            Matched::Unknown => Matched::Unknown,
        });
    }
    if let Some(parts) = &test.contains {
        matched = matched.and(text.as_ref().map_or(Matched::Unknown, |text| {
            let text = text.folded(listed);
            Matched::of(parts.iter().any(|part| text.contains(part.folded(listed))))
        }));
    }
    matched
}

/// A text that stands for something which is not known yet.
fn is_open(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !output_refs::bracketed(text).is_empty())
}

/// Values of different kinds can't be compared. Texts are compared by their spelling.
fn is_same(value: &Value, other: &Value) -> Matched {
    match (value, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => Matched::of(one == other),
            _ => Matched::Unknown,
        },
        (Value::Bool(one), Value::Bool(other)) => Matched::of(one == other),
        (Value::Null, Value::Null) => Matched::Yes,
        (Value::Object(_), Value::Object(_)) => Matched::of(value == other),
        _ => Matched::Unknown,
    }
}
