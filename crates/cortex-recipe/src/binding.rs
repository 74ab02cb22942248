//! The values of an action's parameters, put where their names stand.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::action::{Action, ActionKind};
use crate::parameter::{Piece, pieces};

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
