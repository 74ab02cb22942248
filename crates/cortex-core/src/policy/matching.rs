//! Whether a rule matches a call: yes, no, or not known. An unknown one never lets a call through: a rule that allows does
//! not match then, one that asks or denies does.

use cortex_protocol::policy::ArgumentTest;
use cortex_protocol::{PolicyRule, PolicyVerdict, ToolCall, ToolName, ToolSpec};
use serde_json::{Map, Value};

use super::PolicyContext;
use crate::binding;
use crate::condition::Verdict;

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
    rule: &PolicyRule,
    index: usize,
    call: &ToolCall,
    spec: &ToolSpec,
    context: &PolicyContext<'_>,
) -> Matched {
    if !matches_tool(rule, spec) || !matches_origin(rule, context) {
        return Matched::No;
    }
    let state = match (&rule.when, context.state.conditions.get(index)) {
        (None, _) | (Some(_), Some(Verdict::Holds)) => Matched::Yes,
        (Some(_), Some(Verdict::Broken)) => Matched::No,
        (Some(_), Some(Verdict::Unknown) | None) => Matched::Unknown,
    };
    let hours = match (rule.hours.as_deref(), context.state.minute) {
        (None, _) => Matched::Yes,
        (Some(_), None) => Matched::Unknown,
        // Hours that can't be read are refused when the policy is made.
        (Some(hours), Some(minute)) => {
            hours_of(hours).map_or(Matched::Unknown, |hours| Matched::of(hours.contains(minute)))
        }
    };
    let reading = if rule.then == PolicyVerdict::Allow { Reading::Every } else { Reading::Any };
    let tested = rule.arguments.iter().map(|(path, test)| argument(path, test, &call.arguments, spec, reading));
    tested.fold(state.and(hours), Matched::and)
}

/// Whether the rule is about this tool, as far as its name and its effect say so.
pub(super) fn matches_tool(rule: &PolicyRule, spec: &ToolSpec) -> bool {
    let by_name = rule.tools.is_empty() || rule.tools.iter().any(|pattern| is_like(pattern, spec.name.as_str()));
    by_name && (rule.effects.is_empty() || rule.effects.contains(&spec.effect))
}

/// Whether a rule with tool patterns has one of this name.
pub(super) fn is_called(pattern: &str, tool: &ToolName) -> bool {
    is_like(pattern, tool.as_str())
}

fn matches_origin(rule: &PolicyRule, context: &PolicyContext<'_>) -> bool {
    let channel = context.origin.channel.as_str();
    let client = format!("{channel}:{}", context.origin.client);
    rule.who.is_empty() || rule.who.iter().any(|pattern| is_like(pattern, channel) || is_like(pattern, &client))
}

/// Whether the text is like the pattern, in which `*` stands for any text.
pub(super) fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// A span of the day, in minutes. The end is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hours {
    from: u16,
    to: u16,
}

impl Hours {
    fn contains(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

/// Reads `22:00-06:00`. None where it is none, or empty.
pub(super) fn hours_of(text: &str) -> Option<Hours> {
    let minute = |text: &str| -> Option<u16> {
        let (hour, minute) = text.trim().split_once(':')?;
        let is_number = |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(hour) || minute.len() != 2 || !is_number(minute) {
            return None;
        }
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        (hour < 24 && minute < 60).then_some(hour * 60 + minute)
    };
    let (from, to) = text.split_once('-')?;
    let hours = Hours { from: minute(from)?, to: if to.trim() == "24:00" { 0 } else { minute(to)? } };
    (hours.from != hours.to || to.trim() == "24:00").then_some(hours)
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

/// Whether the argument at the path passes the test.
fn argument(
    path: &str,
    test: &ArgumentTest,
    arguments: &Map<String, Value>,
    spec: &ToolSpec,
    reading: Reading,
) -> Matched {
    // A name with dots in it is a name before it is a path.
    if let Some(value) = arguments.get(path) {
        return value_passes(value, test, reading, 0);
    }
    let mut names = path.split('.');
    let (Some(first), rest) = (names.next(), names.collect::<Vec<_>>()) else { return Matched::Unknown };
    match arguments.get(first) {
        Some(value) => at(value, &rest, test, schema_of(&spec.parameters, first), reading, 0),
        None => absent(&rest, first, test, &spec.parameters, reading, 0),
    }
}

fn schema_of<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// An argument that is not given is its default. Without one it is known to be absent, if it may be.
fn absent(rest: &[&str], name: &str, test: &ArgumentTest, schema: &Value, reading: Reading, depth: usize) -> Matched {
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
    path: &[&str],
    test: &ArgumentTest,
    schema: Option<&Value>,
    reading: Reading,
    depth: usize,
) -> Matched {
    let Some((name, rest)) = path.split_first() else { return value_passes(value, test, reading, depth) };
    if depth > DEPTH_LIMIT {
        return Matched::Unknown;
    }
    match value {
        Value::Object(fields) => match fields.get(*name) {
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

fn value_passes(value: &Value, test: &ArgumentTest, reading: Reading, depth: usize) -> Matched {
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
    let one_of = |values: &[Value], spelling: Spelling| {
        values.iter().map(|one| is_same(value, one, spelling)).fold(Matched::No, Matched::or)
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
        matched = matched.and(match value {
            Value::String(text) => {
                let text = listed.folded(text);
                Matched::of(parts.iter().any(|part| text.contains(&listed.folded(part))))
            }
            _ => Matched::Unknown,
        });
    }
    matched
}

/// A text that stands for something which is not known yet.
fn is_open(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !binding::bracketed(text).is_empty())
}

/// Values of different kinds can't be compared.
fn is_same(value: &Value, other: &Value, spelling: Spelling) -> Matched {
    match (value, other) {
        (Value::String(one), Value::String(other)) => Matched::of(spelling.folded(one) == spelling.folded(other)),
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

/// Which spellings of a text are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// Case and surrounding space do not matter.
    Exact,
    /// Nor does anything that is no letter and no digit: `operating wing` is `operating_wing`.
    Loose,
}

impl Spelling {
    /// The text as it is compared. Case is folded both ways, because one letter may have two small forms or none that is
    /// large. A text without letters and digits stays as it is.
    fn folded(self, text: &str) -> String {
        let folded = text.trim().to_uppercase().to_lowercase();
        let bare: String = folded.chars().filter(|character| character.is_alphanumeric()).collect();
        if self == Self::Exact || bare.is_empty() { folded } else { bare }
    }
}
