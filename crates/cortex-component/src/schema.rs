//! JSON Schemas: derived from an arguments type, and checked against what a caller sends.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use thiserror::Error;

/// Most problems that are listed for one set of arguments.
const PROBLEMS_LISTED: usize = 5;
/// Longest text of one problem, in characters. The validator quotes the value; a large one is not quoted.
const PROBLEM_CHARACTERS: usize = 300;

/// The JSON Schema (draft 2020-12) of a type as a method's parameters: one inline object without the keys that only
/// cost a model attention (`$schema`, `title`).
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
        // A type without fields has no `properties`; some readers of the contract expect the key.
        root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        // A misspelled argument must not be dropped in silence.
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    schema
}

/// What is wrong with a schema, as the validator says.
#[derive(Debug, PartialEq, Error)]
#[error("{problem}")]
pub(crate) struct InvalidSchema {
    problem: String,
}

/// What is wrong with arguments, each with its path.
#[derive(Debug, PartialEq, Error)]
#[error("{}", .problems.join("; "))]
pub(crate) struct UnfitArguments {
    problems: Vec<String>,
}

/// A compiled schema.
pub(crate) struct ArgumentCheck(jsonschema::Validator);

impl ArgumentCheck {
    /// Compiles a schema.
    pub(crate) fn compile(schema: &Value) -> Result<Self, InvalidSchema> {
        let invalid = |error: jsonschema::ValidationError<'_>| InvalidSchema { problem: error.to_string() };
        jsonschema::draft202012::options().build(schema).map(Self).map_err(invalid)
    }

    /// Names every problem of the arguments, with its path.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), UnfitArguments> {
        let mut problems = Vec::new();
        for error in self.0.iter_errors(arguments) {
            if problems.len() == PROBLEMS_LISTED {
                problems.push("and more".to_owned());
                break;
            }
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { String::new() } else { format!("{}: ", path.trim_start_matches('/')) };
            let mut problem = error.to_string();
            if problem.chars().count() > PROBLEM_CHARACTERS {
                problem = error.masked().to_string().chars().take(PROBLEM_CHARACTERS).collect();
            }
            problems.push(format!("{place}{problem}"));
        }
        if problems.is_empty() { Ok(()) } else { Err(UnfitArguments { problems }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Say {
        /// What to say.
        #[schemars(length(min = 1, max = 500))]
        text: String,
        /// How loud, from 0 to 1.
        volume: Option<f64>,
    }

    #[test]
    fn a_schema_holds_what_a_model_needs_and_nothing_else() {
        assert_eq!(
            schema_of::<Say>(),
            json!({
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "What to say.", "minLength": 1, "maxLength": 500},
                    "volume": {"type": ["number", "null"], "format": "double", "description": "How loud, from 0 to 1."},
                },
                "required": ["text"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn all_problems_are_named_with_their_place() {
        let check = ArgumentCheck::compile(&schema_of::<Say>()).unwrap();
        assert_eq!(check.check(&json!({"text": "hello"})), Ok(()));
        let problems = check.check(&json!({"volume": "loud", "text": ""})).unwrap_err().to_string();
        assert!(problems.contains("volume: ") && problems.contains("text: "), "{problems}");
        let problems = check.check(&json!({"txt": "hello"})).unwrap_err().to_string();
        assert!(problems.contains("txt") && problems.contains("\"text\" is a required property"), "{problems}");
    }

    #[test]
    fn a_large_value_does_not_hide_what_is_wrong_with_it() {
        let check = ArgumentCheck::compile(&schema_of::<Say>()).unwrap();
        let problem = check.check(&json!({"text": "x".repeat(501)})).unwrap_err().to_string();
        assert_eq!(problem, "text: value is longer than 500 characters");
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        assert!(ArgumentCheck::compile(&json!({"type": "onject"})).is_err());
    }
}
