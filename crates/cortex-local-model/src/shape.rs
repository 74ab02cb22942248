//! Which texts are a reply: words, or JSON: a list of calls, or an answer that has a schema of its own.
//!
//! The engine makes a grammar of [`schema`] and lets the model write nothing else. Words begin with none of
//! [`NO_WORDS_BEGIN`], so that the first letter says which of them the reply is.

use serde_json::{Map, Value, json};

use crate::protocol::Tool;

/// Most calls of one reply. A model that falls into a loop comes to an end.
pub const MOST_CALLS: usize = 20;

/// Letters with which words do not begin: JSON does, and the marks of thoughts and of chat templates do.
pub const NO_WORDS_BEGIN: [char; 6] = ['[', '{', '<', ' ', '\n', '\t'];

/// Whether words are a reply: they are not where an answer has a schema.
#[must_use]
pub fn may_be_words(answer: Option<&Value>) -> bool {
    answer.is_none()
}

/// The JSON Schema of a reply that is no words. None: there is no such reply, as there are neither tools nor an answer with a
/// schema.
#[must_use]
pub fn schema(tools: &[Tool], answer: Option<&Value>) -> Option<Value> {
    let mut definitions = Map::new();
    let mut within = |schema: &Value, name: String| {
        let mut schema = schema.clone();
        if points_within(&schema) {
            // What it points at lies elsewhere from now on.
            redirect(&mut schema, &name);
            definitions.insert(name, schema.clone());
        }
        schema
    };
    let calls: Vec<Value> = tools
        .iter()
        .enumerate()
        .map(|(index, tool)| {
            json!({
                "type": "object",
                "properties": {"name": {"const": tool.name}, "arguments": within(&tool.parameters, format!("tool{index}"))},
                "required": ["name", "arguments"],
                "additionalProperties": false,
            })
        })
        .collect();
    let answer = answer.map(|answer| within(answer, "answer".to_owned()));
    let list = (!calls.is_empty())
        .then(|| json!({"type": "array", "items": {"anyOf": calls}, "minItems": 1, "maxItems": MOST_CALLS}));
    let mut schema = match (list, answer) {
        (None, None) => return None,
        (Some(only), None) | (None, Some(only)) => only,
        (Some(list), Some(answer)) => json!({"anyOf": [list, answer]}),
    };
    if let (false, Some(fields)) = (definitions.is_empty(), schema.as_object_mut()) {
        fields.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Some(schema)
}

/// Whether a schema points at parts of itself.
fn points_within(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.get("$ref").and_then(Value::as_str).is_some_and(|target| target.starts_with('#'))
                || fields.values().any(points_within)
        }
        Value::Array(items) => items.iter().any(points_within),
        _ => false,
    }
}

/// Lets a schema that lies at `#/$defs/NAME` point at itself there.
fn redirect(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref")
                && let Some(pointer) = target.strip_prefix('#')
            {
                *target = format!("#/$defs/{name}{pointer}");
            }
            fields.values_mut().for_each(|value| redirect(value, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, name)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, parameters: Value) -> Tool {
        Tool { name: name.to_owned(), parameters }
    }

    fn go_and_say() -> Vec<Tool> {
        let go = json!({"type": "object", "properties": {"place": {"$ref": "#/$defs/Place"}}, "required": ["place"],
            "additionalProperties": false, "$defs": {"Place": {"enum": ["kitchen", "office"]}}});
        let say = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        vec![tool("go", go), tool("say", say)]
    }

    #[test]
    fn only_calls_of_the_tools_with_their_arguments_fit() {
        let schema = schema(&go_and_say(), None).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let call = |name: &str, arguments: Value| json!([{"name": name, "arguments": arguments}]);
        for good in [
            call("go", json!({"place": "kitchen"})),
            call("say", json!({"text": "kitchen"})),
            json!([{"name": "go", "arguments": {"place": "office"}}, {"name": "say", "arguments": {"text": ""}}]),
        ] {
            assert!(validator.is_valid(&good), "{good}");
        }
        for bad in [
            call("go", json!({"place": "cellar"})),
            call("go", json!({"text": "kitchen"})),
            call("fly", json!({})),
            json!([]),
            json!([{"name": "say"}]),
            json!({"name": "go", "arguments": {"place": "kitchen"}}),
            Value::Array(vec![json!({"name": "say", "arguments": {"text": ""}}); MOST_CALLS + 1]),
        ] {
            assert!(!validator.is_valid(&bad), "{bad}");
        }
    }

    #[test]
    fn an_answer_with_a_schema_takes_the_place_of_words() {
        let answer =
            json!({"type": "object", "properties": {"decision": {"enum": ["EXECUTE"]}}, "required": ["decision"]});
        assert!(may_be_words(None) && !may_be_words(Some(&answer)));
        let both = schema(&go_and_say(), Some(&answer)).unwrap();
        let validator = jsonschema::validator_for(&both).unwrap();
        assert!(validator.is_valid(&json!({"decision": "EXECUTE"})));
        assert!(
            validator.is_valid(&json!([{"name": "go", "arguments": {"place": "office"}}])),
            "as it is, with its $defs"
        );
        assert!(!validator.is_valid(&json!({"decision": "RUN"})));
        assert_eq!(schema(&[], Some(&answer)), Some(answer));
        assert_eq!(schema(&[], None), None);
    }
}
