//! The parameters of a tool, read from its JSON Schema, and the values that words give them.
//!
//! A value is only taken when it is certain: a place is one of the places, a number is within its bounds and in its
//! unit. Everything else is a [`Mismatch`], and the command is not done.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::choices::Choices;
use super::concepts::{concepts, concepts_of};
use super::shape::Shape;
use crate::language::Language;
use crate::numbers::{self, Dimension, Said, Unit};
use crate::sentence::{self, Word};
use crate::tokens::{Kind, name_words};

/// Greatest depth of references within a schema.
const REFERENCE_DEPTH: usize = 4;
/// Most characters of a description that are read.
const DESCRIPTION_READ: usize = 300;
/// So much of a number may be rounded where its unit is never whole in that of the parameter.
const ROUNDED_BY: f64 = 0.01;
/// Most words of a name for a single value.
const ALIAS_WORDS: usize = 4;

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Its name for people, without a unit.
    pub(crate) label: String,
    /// The meanings of the words of its name, without a unit.
    pub(crate) words: Vec<String>,
    /// The meanings of the words of its description.
    pub(crate) described: Vec<String>,
    /// Names for single values, from its description: "0 is the ground floor".
    pub(crate) aliases: Vec<(Vec<String>, f64)>,
    /// Words by which its sign is said, from descriptions: "positive is to the left".
    pub(crate) signs: BTreeMap<String, f64>,
    /// The words of its name as they are.
    pub(crate) spelling: Vec<String>,
    pub(crate) kind: ParameterKind,
    /// What a text has to look like.
    shape: Option<Shape>,
    pub(crate) required: bool,
    pub(crate) default: Option<Value>,
}

/// The kind of values that a parameter takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParameterKind {
    /// One of a few values.
    Choice(Choices),
    /// On or off.
    Flag,
    /// A number.
    Number(NumberKind),
    /// Any text of at most so many characters.
    Text(Option<u64>),
    /// A number, on or off, or a text: the tool takes any of them.
    Any,
    /// Lists and objects, which no sentence can say.
    Other,
}

impl ParameterKind {
    /// Returns true if it takes exactly so many values.
    pub(crate) fn counts(&self, number: f64) -> bool {
        match self {
            Self::Choice(choices) => {
                u32::try_from(choices.values.len()).is_ok_and(|count| f64::from(count).total_cmp(&number).is_eq())
            }
            Self::Number(kind) => match (kind.minimum, kind.maximum) {
                (Some(least), Some(most)) if kind.whole => (most - least + 1.0).total_cmp(&number).is_eq(),
                _ => false,
            },
            _ => false,
        }
    }
}

/// The numbers that a parameter takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct NumberKind {
    pub(crate) whole: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    /// True if the bounds themselves are excluded.
    pub(crate) above: bool,
    pub(crate) below: bool,
    pub(crate) unit: Option<Unit>,
}

/// Why a number does not fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mismatch {
    /// Outside the bounds, or not whole; with the bounds in words.
    OutOfBounds(String),
    /// In a unit that the parameter is not measured in.
    Unit,
    /// In a unit, where nothing says which one the parameter is measured in.
    UnknownUnit,
}

impl Parameter {
    /// Returns true if its texts are codes of a certain shape.
    pub(crate) fn takes_code(&self) -> bool {
        self.shape.is_some() && matches!(self.kind, ParameterKind::Text(_))
    }

    /// The text in the shape that is demanded, in whichever case; none where it has another one.
    pub(crate) fn shaped(&self, text: &str) -> Option<String> {
        let Some(shape) = &self.shape else { return Some(text.to_owned()) };
        [text.to_owned(), text.to_uppercase(), text.to_lowercase()].into_iter().find(|text| shape.fits(text))
    }
}

/// The parameters of a tool, in the order of their names.
pub(crate) fn parameters(schema: &Value, tool: &[Word], language: &Language) -> Vec<Parameter> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    // "0 is shut, 500 is fully open" of the only number there is.
    let is_number = |it: &&Value| matches!(type_name(it), Some("number" | "integer"));
    let numbers = properties.into_iter().flat_map(Map::values).filter(is_number).count();
    let of_tool = if numbers == 1 { named_values(tool, language) } else { Vec::new() };
    properties
        .into_iter()
        .flat_map(Map::iter)
        .map(|(name, property)| {
            let mut words = name_words(name);
            // `_min` is the smallest of something more often than minutes.
            let is_minimum =
                |last: &str| last == "min" && property.get("type") != Some(&json!("integer")) && words.len() < 2;
            let named_unit =
                words.last().filter(|last| !is_minimum(last)).and_then(|last| named_unit_of(last, words.len()));
            if named_unit.is_some() && words.len() > 1 {
                words.pop();
            }
            let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
            let beginning: String = description.chars().take(DESCRIPTION_READ).collect();
            let said = sentence::words(&beginning.replace(['"', '`', '\''], " "), language).unwrap_or_default();
            let alone = if is_number(&property) { of_tool.clone() } else { Vec::new() };
            let mut kind = kind(property, schema, named_unit.or_else(|| unit_in(&said)), language);
            if let ParameterKind::Choice(choices) = &mut kind {
                choices.add_glosses(&said, language);
                choices.add_glosses(tool, language);
            }
            Parameter {
                name: name.clone(),
                label: words.join(" "),
                words: concepts(&words.join(" "), language),
                described: concepts_of(&said, language),
                aliases: with_aliases(aliases(&said, tool, &kind, language), alone),
                signs: [said.as_slice(), tool].iter().flat_map(|said| signs(said, language)).collect(),
                spelling: name_words(name),
                kind,
                shape: property.get("pattern").and_then(Value::as_str).and_then(Shape::read),
                required: required.contains(&name.as_str()),
                default: property.get("default").filter(|default| !default.is_null()).cloned(),
            }
        })
        .collect()
}

/// The unit with which a name of so many words ends. A letter is a unit only after another word.
fn named_unit_of(ending: &str, words: usize) -> Option<Unit> {
    if words > 1 { numbers::unit_of_name(ending) } else { numbers::unit(ending) }
}

/// The sign of each direction, as in "Positive is left (counter-clockwise)."
fn signs(words: &[Word], language: &Language) -> BTreeMap<String, f64> {
    let mut signs = BTreeMap::new();
    let mut sign: Option<f64> = None;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let rest = words.get(at..).unwrap_or_default();
        let state = language.state(rest);
        if word.is("positive") {
            sign = Some(1.0);
        } else if word.is("negative") {
            sign = Some(-1.0);
        } else if let (Some((state, _)), Some(sign)) = (state, sign) {
            signs.insert(state.to_owned(), sign);
            if let Some(opposite) = language.opposite(state) {
                signs.entry(opposite.to_owned()).or_insert(-sign);
            }
        } else if word.is_mark(".") || word.is_mark(";") {
            sign = None;
        }
        at += state.map_or(1, |(_, length)| length);
    }
    // Turning left is turning anticlockwise, seen from above (REP 103).
    for (side, turn) in [("left", "anticlockwise"), ("right", "clockwise")] {
        if let Some(sign) = signs.get(side).copied() {
            signs.entry(turn.to_owned()).or_insert(sign);
        }
    }
    signs
}

/// Names for single values of a number: those that its description gives, those that the tool's description gives to
/// its bounds ("0 is shut, 500 is fully open"), and the other end of what is counted or named from one.
fn aliases(words: &[Word], tool: &[Word], kind: &ParameterKind, language: &Language) -> Vec<(Vec<String>, f64)> {
    let mut found = named_values(words, language);
    let ParameterKind::Number(NumberKind { minimum: Some(least), maximum: Some(most), whole, unit, .. }) = kind else {
        return found;
    };
    let (least, most) = (*least, *most);
    let is_bound = |value: f64| value.total_cmp(&least).is_eq() || value.total_cmp(&most).is_eq();
    found.extend(named_values(tool, language).into_iter().filter(|(_, value)| is_bound(*value)));
    // "Counted from the top."
    let counted = (0..words.len()).find_map(|at| {
        let rest = words.get(at..)?;
        let length = language.words.counted_from.length(rest);
        let end = rest.get(length..).filter(|_| length > 0)?;
        let articles = end.iter().take_while(|word| language.is_article(&word.text)).count();
        concepts_of(end.get(articles..articles + 1)?, language).into_iter().next()
    });
    if let Some(end) = counted.filter(|end| *whole && unit.is_none() && language.opposite(end).is_some()) {
        found.push((vec![end], least));
    }
    let others: Vec<(Vec<String>, f64)> = found
        .iter()
        .filter(|(_, value)| is_bound(*value))
        .filter_map(|(names, value)| {
            let [only] = names.as_slice() else { return None };
            let other = if value.total_cmp(&least).is_eq() { most } else { least };
            Some((vec![language.opposite(only)?.to_owned()], other))
        })
        .collect();
    for (names, value) in others {
        if !found.iter().any(|(known, _)| *known == names) {
            found.push((names, value));
        }
    }
    found
}

/// The names, and those of the others that say something new.
fn with_aliases(mut names: Vec<(Vec<String>, f64)>, others: Vec<(Vec<String>, f64)>) -> Vec<(Vec<String>, f64)> {
    for (name, value) in others {
        if !names.iter().any(|(known, _)| *known == name) {
            names.push((name, value));
        }
    }
    names
}

/// Names for single values, as in "-1 is the basement, 0 the ground floor" and "0: the drawer is empty".
fn named_values(words: &[Word], language: &Language) -> Vec<(Vec<String>, f64)> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(number) = word.number.filter(|_| word.kind == Kind::Number) else { continue };
        let rest = words.get(at + 1..).unwrap_or_default();
        let links = rest.iter().take_while(|next| next.is("is") || next.is_mark(":") || next.is_mark("=")).count();
        let name = rest.get(links..).unwrap_or_default();
        let length =
            name.iter().take_while(|next| next.kind == Kind::Word && numbers::unit(&next.text).is_none()).count();
        let name = name.get(..length).unwrap_or_default();
        let is_named = links > 0 || name.first().is_some_and(|first| first.is("the"));
        let concepts = concepts_of(name, language);
        if is_named && !concepts.is_empty() && length <= ALIAS_WORDS {
            found.push((concepts, number));
        }
    }
    found
}

/// The unit that a description names, for example "Speed in m/s." or "Meters."
fn unit_in(words: &[Word]) -> Option<Unit> {
    // A single letter is more often a name than a unit.
    (0..words.len()).find_map(|at| {
        let rest = words.get(at..)?;
        let word = &rest.first()?.text;
        let unit = numbers::unit(word).filter(|_| word.len() > 1)?;
        // "Degrees Celsius" are no angle.
        let scale = rest.get(1).and_then(|next| numbers::unit(&next.text)).filter(|scale| scale.is_like(unit));
        if let Some(scale) = scale {
            return Some(scale);
        }
        let rate = rest.get(1).is_some_and(|next| next.is("per")).then(|| rest.get(2)).flatten();
        match rate.and_then(|second| numbers::unit(&second.text)) {
            Some(second) => numbers::rate(unit, second).or(Some(unit)),
            None => Some(unit),
        }
    })
}

fn kind(property: &Value, root: &Value, unit: Option<Unit>, language: &Language) -> ParameterKind {
    let property = resolved(property, root, 0);
    if let Some(values) = choices(property, root) {
        return ParameterKind::Choice(Choices::new(values, language));
    }
    match type_name(property) {
        Some("boolean") => ParameterKind::Flag,
        Some("string") => ParameterKind::Text(property.get("maxLength").and_then(Value::as_u64)),
        Some(name @ ("number" | "integer")) => {
            let bound = |key: &str| property.get(key).and_then(Value::as_f64);
            ParameterKind::Number(NumberKind {
                whole: name == "integer",
                minimum: bound("minimum").or_else(|| bound("exclusiveMinimum")),
                maximum: bound("maximum").or_else(|| bound("exclusiveMaximum")),
                above: bound("minimum").is_none() && bound("exclusiveMinimum").is_some(),
                below: bound("maximum").is_none() && bound("exclusiveMaximum").is_some(),
                unit,
            })
        }
        _ if takes_any(property) => ParameterKind::Any,
        _ => ParameterKind::Other,
    }
}

/// Returns true if the type is a choice of several, a number and a text among them.
fn takes_any(property: &Value) -> bool {
    let names = property.get("type").and_then(Value::as_array);
    let has = |wanted: &str| names.is_some_and(|names| names.iter().any(|name| name == wanted));
    has("string") && has("number") && property.get("enum").is_none()
}

/// Follows `$ref` within the schema, a lone `allOf`, and an alternative whose only other member is null.
fn resolved<'a>(property: &'a Value, root: &'a Value, depth: usize) -> &'a Value {
    if depth >= REFERENCE_DEPTH {
        return property;
    }
    if let Some(pointer) = property.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'))
        && let Some(target) = root.pointer(pointer)
    {
        return resolved(target, root, depth + 1);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let members = property.get(key).and_then(Value::as_array);
        let mut real = members.into_iter().flatten().filter(|member| type_name(member) != Some("null"));
        if let (Some(only), None) = (real.next(), real.next()) {
            return resolved(only, root, depth + 1);
        }
    }
    property
}

/// The type, where there is one besides null.
fn type_name(property: &Value) -> Option<&str> {
    match property.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut real = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            real.next().filter(|_| real.next().is_none())
        }
        _ => None,
    }
}

/// The values of `enum`, `const`, or of alternatives that are all constants.
fn choices(property: &Value, root: &Value) -> Option<Vec<Value>> {
    let scalar = |value: &&Value| matches!(value, Value::String(_) | Value::Number(_));
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        return Some(values.iter().filter(scalar).cloned().collect());
    }
    if let Some(value) = property.get("const").filter(scalar) {
        return Some(vec![value.clone()]);
    }
    let members = property.get("oneOf").or_else(|| property.get("anyOf")).and_then(Value::as_array)?;
    let mut values = Vec::new();
    for member in members.iter().map(|member| resolved(member, root, 1)).filter(|it| type_name(it) != Some("null")) {
        match (member.get("const"), member.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => values.push(value.clone()),
            (None, Some(several)) => values.extend(several.iter().filter(scalar).cloned()),
            (None, None) => return None,
        }
    }
    (!values.is_empty()).then_some(values)
}

impl NumberKind {
    /// The value for what was said, in the parameter's own unit.
    pub(crate) fn take(&self, said: &Said) -> Result<Value, Mismatch> {
        let converted = said.unit.zip(self.unit).map(|(spoken, own)| spoken.convert(said.value, own));
        let value = match (said.unit, self.unit) {
            (None, _) => said.value,
            (Some(_), Some(_)) => converted.flatten().ok_or(Mismatch::Unit)?,
            // A share of something that goes up to 1 or to 100.
            (Some(spoken), None) if spoken.dimension == Dimension::Share => match self.maximum {
                Some(maximum) if (maximum - 1.0).abs() < f64::EPSILON => said.value / 100.0,
                Some(maximum) if (maximum - 100.0).abs() < f64::EPSILON => said.value,
                _ => return Err(Mismatch::UnknownUnit),
            },
            (Some(_), None) => return Err(Mismatch::UnknownUnit),
        };
        let mut value = (value * 1e9).round() / 1e9;
        // Inches and thirds are seldom whole millimetres.
        let is_third = said.value.fract() != 0.0 && (said.value * 3.0 - (said.value * 3.0).round()).abs() < 1e-6;
        let is_uneven = is_third || said.unit.is_some_and(Unit::is_imperial);
        if self.whole && is_uneven && (value - value.round()).abs() <= value.abs() * ROUNDED_BY {
            value = value.round();
        }
        let too_low = self.minimum.is_some_and(|least| if self.above { value <= least } else { value < least });
        let too_high = self.maximum.is_some_and(|most| if self.below { value >= most } else { value > most });
        // Beyond this a float no longer holds every whole number.
        let not_whole = self.whole && (value.fract() != 0.0 || value.abs() > 9e15);
        if too_low || too_high || not_whole || !value.is_finite() {
            return Err(Mismatch::OutOfBounds(self.bounds()));
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 9e15")]
        Ok(if self.whole { json!(value as i64) } else { json!(value) })
    }

    /// Returns true if it is measured in such a unit.
    pub(crate) fn takes(&self, unit: Unit) -> bool {
        match self.unit {
            Some(own) => unit.is_like(own),
            None => unit.dimension == Dimension::Share && matches!(self.maximum, Some(1.0 | 100.0)),
        }
    }

    /// All that there is, where the numbers go from nothing to all.
    pub(crate) fn scale(&self) -> Option<f64> {
        let is_share = self.unit.is_some_and(|unit| unit.dimension == Dimension::Share);
        let most = self.maximum?;
        if is_share {
            return Some(if most <= 1.0 { 1.0 } else { 100.0 });
        }
        (self.minimum? == 0.0).then_some(most)
    }

    /// The bounds in words: `a number from 0 to 2 m/s`.
    pub(crate) fn bounds(&self) -> String {
        let what = if self.whole { "a whole number" } else { "a number" };
        let unit = self.unit.map(|unit| format!(" {}", unit.label)).unwrap_or_default();
        match (self.minimum, self.maximum) {
            (Some(least), Some(most)) => format!("{what} from {least} to {most}{unit}"),
            (Some(least), None) if self.above => format!("{what} above {least}{unit}"),
            (Some(least), None) => format!("{what} of at least {least}{unit}"),
            (None, Some(most)) => format!("{what} of at most {most}{unit}"),
            (None, None) if unit.is_empty() => what.to_owned(),
            (None, None) => format!("{what} in{unit}"),
        }
    }
}
