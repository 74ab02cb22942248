//! The parameters of a tool, read from its JSON Schema, and the values that words give them.
//!
//! A value is only taken when it is certain: a place is one of the places, a number is within its bounds and in its
//! unit. Everything else is a [`Mismatch`], and the command is not done.

use serde_json::{Map, Value, json};

use super::lexicon;
use super::numbers::{self, Dimension, Said, Unit};
use super::tokens::{Kind, Token, compact, name_words};

/// How deep references within a schema are followed.
const REFERENCE_DEPTH: usize = 4;
/// Most tokens of one choice, as in `the living room by the sea`.
const CHOICE_TOKENS: usize = 8;
/// Longest word that is compared for typing errors, in letters.
const TYPO_LENGTH: usize = 40;

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Its name for people, without a unit.
    pub(super) label: String,
    /// The words of its name without a unit, each as the word that stands for its meaning.
    pub(super) words: Vec<String>,
    pub(super) kind: ParameterKind,
    pub(super) required: bool,
    pub(super) default: Option<Value>,
}

/// What a parameter takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ParameterKind {
    /// One of a few values.
    Choice(Vec<Value>),
    /// On or off.
    Flag,
    /// A number.
    Number(NumberKind),
    /// Any text of at most so many characters.
    Text(Option<u64>),
    /// A number, on or off, or a text: the tool takes any of them.
    Any,
    /// What no sentence can say: lists, objects.
    Other,
}

/// Which numbers a parameter takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct NumberKind {
    pub(super) whole: bool,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    /// Whether the bounds themselves are excluded.
    pub(super) above: bool,
    pub(super) below: bool,
    pub(super) unit: Option<Unit>,
}

/// Why a number does not fit.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mismatch {
    /// Outside the bounds, or not whole; with the bounds in words.
    OutOfBounds(String),
    /// In a unit that the parameter is not measured in.
    Unit,
    /// In a unit, where nothing says which one the parameter is measured in.
    UnknownUnit,
}

/// The parameters of a tool, in the order of their names.
pub(super) fn parameters(schema: &Value) -> Vec<Parameter> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(Map::iter)
        .map(|(name, property)| {
            let mut words = name_words(name);
            // `_min` is the smallest of something more often than minutes.
            let named_unit = words.last().filter(|last| *last != "min").and_then(|last| numbers::unit(last));
            if named_unit.is_some() && words.len() > 1 {
                words.pop();
            }
            let described = property.get("description").and_then(Value::as_str).and_then(unit_in);
            let kind = kind(property, schema, named_unit.or(described));
            Parameter {
                name: name.clone(),
                label: words.join(" "),
                words: words.iter().map(|word| lexicon::canon(word)).collect(),
                kind,
                required: required.contains(&name.as_str()),
                default: property.get("default").filter(|default| !default.is_null()).cloned(),
            }
        })
        .collect()
}

/// The unit that a description names, for example "Speed in m/s." or "Meters."
fn unit_in(description: &str) -> Option<Unit> {
    let beginning: String = description.chars().take(200).collect();
    let tokens = super::tokens::tokens(&beginning).ok()?;
    // A single letter is more often a name than a unit.
    (0..tokens.len()).find_map(|at| {
        let rest = tokens.get(at..)?;
        let word = &rest.first()?.word;
        let unit = numbers::unit(word).filter(|_| word.len() > 1)?;
        let rate = rest.get(1).is_some_and(|next| next.is("per")).then(|| rest.get(2)).flatten();
        match rate.and_then(|second| numbers::unit(&second.word)) {
            Some(second) => numbers::rate(unit, second).or(Some(unit)),
            None => Some(unit),
        }
    })
}

fn kind(property: &Value, root: &Value, unit: Option<Unit>) -> ParameterKind {
    let property = resolved(property, root, 0);
    if let Some(values) = choices(property, root) {
        return ParameterKind::Choice(values);
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

/// Whether the type is a choice of several, a number and a text among them.
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

/// A choice as a person says it: `living room` for `living_room`.
pub(super) fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace(['_', '-'], " "),
        other => other.to_string(),
    }
}

/// The choice that begins at the first token, the longest one if several do, and how many tokens it takes.
pub(super) fn read_choice<'v>(values: &'v [Value], tokens: &[Token]) -> Option<(&'v Value, usize)> {
    let mut joined = String::new();
    let mut found = None;
    for (index, token) in tokens.iter().take(CHOICE_TOKENS).enumerate() {
        match token.kind {
            Kind::Word | Kind::Number | Kind::Quoted => joined.push_str(&compact(&token.word)),
            Kind::Mark => break,
        }
        if let Some(value) = values.iter().find(|value| !joined.is_empty() && compact(&spoken(value)) == joined) {
            found = Some((value, index + 1));
        }
    }
    found
}

/// The choice that someone may have meant who wrote this with a typing error.
pub(super) fn similar_choice<'v>(values: &'v [Value], said: &str) -> Option<&'v Value> {
    let said = compact(said);
    let limit = match said.chars().count() {
        0..=3 => return None,
        4..=6 => 1,
        7..=TYPO_LENGTH => 2,
        _ => return None,
    };
    values.iter().find(|value| lexicon::distance(&said, &compact(&spoken(value)), limit) <= limit)
}

/// On or off.
pub(super) fn read_flag(token: &Token) -> Option<bool> {
    if token.kind != Kind::Word {
        return None;
    }
    match token.word.as_str() {
        "on" | "true" | "yes" | "enable" | "enabled" | "activate" => Some(true),
        "off" | "false" | "no" | "disable" | "disabled" | "deactivate" => Some(false),
        _ => None,
    }
}

impl NumberKind {
    /// The value for what was said, in the parameter's own unit.
    pub(super) fn take(&self, said: &Said) -> Result<Value, Mismatch> {
        let value = match (said.unit, self.unit) {
            (None, _) => said.value,
            (Some(spoken), Some(own)) if spoken.dimension == own.dimension => said.value * spoken.factor / own.factor,
            // A share of something that goes up to 1 or to 100.
            (Some(spoken), None) if spoken.dimension == Dimension::Share => match self.maximum {
                Some(maximum) if (maximum - 1.0).abs() < f64::EPSILON => said.value / 100.0,
                Some(maximum) if (maximum - 100.0).abs() < f64::EPSILON => said.value,
                _ => return Err(Mismatch::UnknownUnit),
            },
            (Some(_), Some(_)) => return Err(Mismatch::Unit),
            (Some(_), None) => return Err(Mismatch::UnknownUnit),
        };
        let value = (value * 1e9).round() / 1e9;
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

    /// The bounds in words: `a number from 0 to 2 m/s`.
    pub(super) fn bounds(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn one(property: Value) -> ParameterKind {
        let schema = json!({
            "type": "object",
            "properties": {"x": property},
            "$defs": {"Place": {"oneOf": [{"const": "a"}, {"const": "b", "description": "B."}]}},
        });
        parameters(&schema).remove(0).kind
    }

    #[test]
    fn parameters_are_read_in_every_form_of_schema() {
        for (property, kind) in [
            (json!({"enum": ["a", "b", null]}), ParameterKind::Choice(vec![json!("a"), json!("b")])),
            (json!({"$ref": "#/$defs/Place"}), ParameterKind::Choice(vec![json!("a"), json!("b")])),
            (
                json!({"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]}),
                ParameterKind::Choice(vec![json!("a"), json!("b")]),
            ),
            (json!({"allOf": [{"$ref": "#/$defs/Place"}]}), ParameterKind::Choice(vec![json!("a"), json!("b")])),
            (json!({"type": ["boolean", "null"]}), ParameterKind::Flag),
            (json!({"type": "string", "maxLength": 80}), ParameterKind::Text(Some(80))),
            (
                json!({"type": "integer", "exclusiveMinimum": 0}),
                ParameterKind::Number(NumberKind {
                    whole: true,
                    minimum: Some(0.0),
                    above: true,
                    ..NumberKind::default()
                }),
            ),
            (json!({"type": ["boolean", "number", "string", "array"]}), ParameterKind::Any),
            (json!({"type": ["number", "array"]}), ParameterKind::Other),
            (json!({"type": "array"}), ParameterKind::Other),
            (json!({"$ref": "#/nowhere"}), ParameterKind::Other),
            (json!({"$ref": "#/properties/x"}), ParameterKind::Other),
            (json!(true), ParameterKind::Other),
        ] {
            assert_eq!(one(property.clone()), kind, "{property}");
        }
    }

    #[test]
    fn the_longest_choice_wins_whatever_its_spelling() {
        let values = [json!("living"), json!("living_room"), json!("Room2"), json!(7)];
        for (text, expected) in [
            ("Living Room now", Some((json!("living_room"), 2))),
            ("living-room", Some((json!("living_room"), 2))),
            ("livingroom", Some((json!("living_room"), 1))),
            ("living there", Some((json!("living"), 1))),
            ("room 2", Some((json!("Room2"), 2))),
            ("7", Some((json!(7), 1))),
            ("kitchen", None),
        ] {
            let tokens = tokens(text).unwrap();
            let found = read_choice(&values, &tokens).map(|(value, length)| (value.clone(), length));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(similar_choice(&values, "livin room"), Some(&json!("living_room")));
        assert_eq!(similar_choice(&values, "garage"), None);
    }

    #[test]
    fn numbers_must_fit_their_bounds_and_their_unit() {
        let schema = json!({"properties": {
            "speed_mps": {"type": "number", "minimum": 0, "maximum": 2},
            "times": {"type": "integer", "minimum": 1},
            "turn": {"type": "number", "description": "By how far, in degrees."},
            "brightness": {"type": "number", "minimum": 0, "maximum": 1},
            "bend": {"type": "number"},
        }});
        let parameters = parameters(&schema);
        let take = |name: &str, text: &str| {
            let parameter = parameters.iter().find(|parameter| parameter.name == name).unwrap();
            let ParameterKind::Number(kind) = &parameter.kind else { panic!("{parameter:?}") };
            kind.take(&numbers::read(&tokens(text).unwrap()).unwrap())
        };
        assert_eq!(take("speed_mps", "1.5"), Ok(json!(1.5)));
        assert_eq!(take("speed_mps", "50 centimeters per second"), Ok(json!(0.5)));
        assert_eq!(take("speed_mps", "3"), Err(Mismatch::OutOfBounds("a number from 0 to 2 m/s".to_owned())));
        assert_eq!(take("speed_mps", "1 meter"), Err(Mismatch::Unit));
        assert_eq!(take("times", "3"), Ok(json!(3)));
        assert_eq!(take("times", "1.5"), Err(Mismatch::OutOfBounds("a whole number of at least 1".to_owned())));
        assert_eq!(take("turn", "90 degrees"), Ok(json!(90.0)));
        assert_eq!(take("brightness", "50%"), Ok(json!(0.5)));
        assert_eq!(take("bend", "90 degrees"), Err(Mismatch::UnknownUnit));
    }
}
