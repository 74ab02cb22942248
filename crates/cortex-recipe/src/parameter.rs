//! The parameters of an action that is offered as a tool, and the places of their values in a text.
//!
//! A text that is nothing but a parameter's name in braces, `"{volume}"`, is replaced by the value as it is; inside a longer
//! text, `"{name} is here"`, the value's own text takes its place. `{{name}}` is the text `{name}`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

/// Most characters of a text that a model or an event gives, where the parameter does not say.
pub const DEFAULT_MAX_LENGTH: u32 = 200;

/// One parameter: a subset of JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// What kind of value.
    #[serde(rename = "type")]
    pub kind: ParameterKind,
    /// What it means, for a model; with the unit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The only values that it may have.
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Value>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// The longest text, in characters. Left out: 200.
    #[serde(default, rename = "maxLength", skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// The value where none is given. Left out: one must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// What kind of value a parameter has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// A text.
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
}

impl Parameter {
    /// As JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        // Only keys that are no text could make it fail; there are none.
        let mut schema = serde_json::to_value(self).unwrap_or_default();
        if let (Some(fields), ParameterKind::String, true) =
            (schema.as_object_mut(), self.kind, self.choices.is_empty())
        {
            fields.insert("maxLength".to_owned(), self.longest().into());
        }
        schema
    }

    /// Whether its value may be a text that the recipe does not list.
    pub(crate) fn may_be_any_text(&self) -> bool {
        self.kind == ParameterKind::String && self.choices.is_empty()
    }

    fn longest(&self) -> u32 {
        self.max_length.unwrap_or(DEFAULT_MAX_LENGTH)
    }

    /// Whether a value is one of its kind, within its bounds.
    #[must_use]
    pub fn takes(&self, value: &Value) -> bool {
        let is_kind = match self.kind {
            ParameterKind::String => value.as_str().is_some_and(|text| {
                !text.contains('\0')
                    && (!self.choices.is_empty()
                        || text.chars().count() <= usize::try_from(self.longest()).unwrap_or(0))
            }),
            ParameterKind::Number => value.as_f64().is_some_and(f64::is_finite),
            ParameterKind::Integer => value.is_i64() || value.is_u64(),
            ParameterKind::Boolean => value.is_boolean(),
        };
        let number = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
        let is_within = value.as_f64().is_none_or(|value| {
            number(&self.minimum).is_none_or(|least| value >= least)
                && number(&self.maximum).is_none_or(|most| value <= most)
        });
        is_kind && is_within && (self.choices.is_empty() || self.choices.contains(value))
    }

    /// A value that it takes, if one is found easily.
    #[must_use]
    pub fn example(&self) -> Option<Value> {
        let bounds = self.minimum.iter().chain(&self.maximum).cloned().map(Value::Number);
        let plain = match self.kind {
            ParameterKind::String => json!("a"),
            ParameterKind::Number => json!(0.0),
            ParameterKind::Integer => json!(0),
            ParameterKind::Boolean => json!(true),
        };
        self.default.iter().chain(&self.choices).cloned().chain([plain]).chain(bounds).find(|value| self.takes(value))
    }
}

/// The JSON Schema of the arguments of an action with these parameters.
#[must_use]
pub fn arguments_schema(parameters: &BTreeMap<String, Parameter>) -> Value {
    let properties: Map<String, Value> =
        parameters.iter().map(|(name, parameter)| (name.clone(), parameter.schema())).collect();
    let required: Vec<&String> =
        parameters.iter().filter(|(_, parameter)| parameter.default.is_none()).map(|(name, _)| name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// A part of a text with parameters in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Parameter(&'a str),
}

/// The text, taken apart. Braces that hold no name are text.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        // `{{name}}` is the text `{name}`.
        if let Some((inner, after)) = from.strip_prefix("{{").and_then(|inner| inner.split_once("}}"))
            && is_name(inner)
        {
            pieces.push(Piece::Text(from.get(1..inner.len() + 3).unwrap_or_default()));
            rest = after;
            continue;
        }
        match from.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, after)) if is_name(name) => {
                pieces.push(Piece::Parameter(name));
                rest = after;
            }
            _ => {
                let (brace, after) = from.split_at(1);
                pieces.push(Piece::Text(brace));
                rest = after;
            }
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Whether this can be the name of a parameter.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
}
