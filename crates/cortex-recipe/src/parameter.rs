//! The parameters of an action that is offered as a tool, and where their values go.
//!
//! A text that is nothing but a parameter's name in braces, `"{volume}"`, is replaced by the value as it is; inside a longer
//! text, `"{name} is here"`, the value's own text takes its place. `{{name}}` is the text `{name}`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};
use thiserror::Error;

use crate::{Action, ActionKind};

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

/// Why an action does nothing with its arguments. In words for a person and a model.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BindingError {
    /// It has no parameter of that name.
    #[error("it takes no argument '{name}'")]
    UnknownArgument {
        /// The argument.
        name: String,
    },
    /// A parameter without a default got no value.
    #[error("the argument '{name}' is missing")]
    MissingArgument {
        /// The parameter.
        name: String,
    },
    /// A value that the parameter does not take.
    #[error("the argument '{name}' can't be {value}; it fits {schema}")]
    UnfitArgument {
        /// The parameter.
        name: String,
        /// The value.
        value: Value,
        /// What fits.
        schema: Value,
    },
    /// A value that a program would read as an option.
    #[error("'{argument}' begins with a dash, so the program could take it for an option")]
    LooksLikeOption {
        /// As the program would get it.
        argument: String,
    },
}

/// What an action does with these arguments: the action with their values in the places of their names, and those of defaults.
///
/// An argument of a command stays one argument, whatever the value holds, and never becomes an option: a value that begins
/// with a dash is refused where it stands at the beginning, unless `--` stands before it.
///
/// # Errors
/// When the arguments are not those that the action takes.
pub fn bind(action: &Action, arguments: &Map<String, Value>) -> Result<ActionKind, BindingError> {
    let Some(offer) = action.tool.as_ref().filter(|offer| !offer.parameters.is_empty()) else {
        return match arguments.keys().next() {
            None => Ok(action.kind.clone()),
            Some(name) => Err(BindingError::UnknownArgument { name: name.clone() }),
        };
    };
    if let Some(name) = arguments.keys().find(|name| !offer.parameters.contains_key(*name)) {
        return Err(BindingError::UnknownArgument { name: name.clone() });
    }
    let mut values = Map::new();
    for (name, parameter) in &offer.parameters {
        let value = arguments.get(name).or(parameter.default.as_ref());
        let value = value.ok_or_else(|| BindingError::MissingArgument { name: name.clone() })?;
        if !parameter.takes(value) {
            let (name, value, schema) = (name.clone(), value.clone(), parameter.schema());
            return Err(BindingError::UnfitArgument { name, value, schema });
        }
        values.insert(name.clone(), value.clone());
    }
    let values = Values(values);
    let mut kind = action.kind.clone();
    match &mut kind {
        ActionKind::Service(service) => values.fill_fields(&mut service.request),
        ActionKind::Topic(topic) => values.fill_fields(&mut topic.message),
        ActionKind::Method(method) => values.fill_fields(&mut method.arguments),
        ActionKind::Parameters(parameters) => values.fill_fields(&mut parameters.values),
        ActionKind::Command(command) => {
            let mut only_operands = false;
            for argument in &mut command.arguments {
                let written = std::mem::take(argument);
                *argument = values.text(&written);
                let is_given = matches!(pieces(&written).first(), Some(Piece::Parameter(_)));
                if is_given && !only_operands && argument.starts_with('-') {
                    return Err(BindingError::LooksLikeOption { argument: argument.clone() });
                }
                only_operands |= written == "--";
            }
        }
    }
    Ok(kind)
}

/// What an action does where nobody tells it anything: as a fallback.
///
/// # Errors
/// When it needs to be told something; the check of recipes refuses that in a ladder.
pub fn bind_nothing(action: &Action) -> Result<ActionKind, BindingError> {
    bind(action, &Map::new())
}

/// What stands for the parameters.
struct Values(Map<String, Value>);

impl Values {
    fn fill_fields(&self, fields: &mut Map<String, Value>) {
        for value in fields.values_mut() {
            self.fill(value);
        }
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let whole = match pieces(text).as_slice() {
                    [Piece::Parameter(name)] => self.0.get(*name).cloned(),
                    _ => None,
                };
                *value = whole.unwrap_or_else(|| self.text(text).into());
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(fields) => self.fill_fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&self, text: &str) -> String {
        let mut filled = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Parameter(name) => match self.0.get(name) {
                    Some(Value::String(value)) => filled.push_str(value),
                    Some(value) => filled.push_str(&value.to_string()),
                    // The check of the recipe finds names that are no parameters.
                    None => {}
                },
            }
        }
        filled
    }
}

/// Every text of an action in which parameters may stand, each with the keys that lead to it.
pub(crate) fn places(kind: &ActionKind) -> Vec<(&'static str, &'static str, String)> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(fields) => fields.values().for_each(|value| collect(value, texts)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let of = |table: &'static str, key: &'static str, fields: &Map<String, Value>| {
        let mut texts = Vec::new();
        fields.values().for_each(|value| collect(value, &mut texts));
        texts.into_iter().map(|text| (table, key, text)).collect()
    };
    match kind {
        ActionKind::Service(service) => of("service", "request", &service.request),
        ActionKind::Topic(topic) => of("topic", "message", &topic.message),
        ActionKind::Method(method) => of("method", "arguments", &method.arguments),
        ActionKind::Parameters(parameters) => of("parameters", "values", &parameters.values),
        ActionKind::Command(command) => {
            command.arguments.iter().map(|text| ("command", "arguments", text.clone())).collect()
        }
    }
}
