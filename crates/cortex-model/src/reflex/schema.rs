//! The parameters of a tool as its JSON Schema declares them: what a sentence would have to say for each.

use serde_json::{Map, Value};

use super::readable;

/// How deep references within a schema are followed.
const REFERENCE_DEPTH: usize = 4;

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Its name for people, without a unit.
    pub(super) label: String,
    /// The unit that its name ends in, as it is written.
    pub(super) unit: Option<String>,
    pub(super) kind: Kind,
    /// True if a call must give it.
    pub(super) is_needed: bool,
}

/// What a parameter takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// One of a few values.
    Choice(Vec<Value>),
    /// On or off.
    Flag,
    /// A number.
    Number(Bounds),
    /// Any text of at most so many characters.
    Text(Option<u64>),
    /// A number, on or off, or a text.
    Any,
    /// What no sentence can say: lists, objects.
    Other,
}

/// Which numbers a parameter takes, in its own unit.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Bounds {
    pub(super) whole: bool,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    /// True if the lower bound itself is excluded.
    pub(super) above: bool,
}

impl Bounds {
    /// In words.
    pub(super) fn in_words(&self) -> String {
        let what = if self.whole { "a whole number" } else { "a number" };
        match (self.minimum, self.maximum) {
            (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
            (Some(least), None) if self.above => format!("{what} above {least}"),
            (Some(least), None) => format!("{what} of at least {least}"),
            (None, Some(most)) => format!("{what} of at most {most}"),
            (None, None) => what.to_owned(),
        }
    }
}

/// The parameters of a tool, in the order of their names.
pub(super) fn parameters(schema: &Value) -> Vec<Parameter> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(Map::iter)
        .map(|(name, property)| {
            let (words, unit) = readable::without_unit(name);
            Parameter {
                name: name.clone(),
                label: words.join(" "),
                kind: kind(property, schema),
                unit,
                is_needed: is_required(name) && property.get("default").is_none_or(Value::is_null),
            }
        })
        .collect()
}

fn kind(property: &Value, root: &Value) -> Kind {
    let property = resolved(property, root, 0);
    if let Some(values) = choices(property, root) {
        return Kind::Choice(values);
    }
    match type_name(property) {
        Some("boolean") => Kind::Flag,
        Some("string") => Kind::Text(property.get("maxLength").and_then(Value::as_u64)),
        Some(name @ ("number" | "integer")) => {
            let bound = |key: &str| property.get(key).and_then(Value::as_f64);
            Kind::Number(Bounds {
                whole: name == "integer",
                minimum: bound("minimum").or_else(|| bound("exclusiveMinimum")),
                maximum: bound("maximum").or_else(|| bound("exclusiveMaximum")),
                above: bound("minimum").is_none() && bound("exclusiveMinimum").is_some(),
            })
        }
        _ if takes_any(property) => Kind::Any,
        _ => Kind::Other,
    }
}

/// Returns true if the type is a choice of several, a number and a text among them.
fn takes_any(property: &Value) -> bool {
    let names = property.get("type").and_then(Value::as_array);
    let has = |wanted: &str| names.is_some_and(|names| names.iter().any(|name| name == wanted));
    has("string") && has("number")
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

/// Returns true if two values say the same: numbers about, texts whatever their case.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    /// Two numbers are the same if they differ by less than this share.
    const SHARE: f64 = 1e-6;
    match (one.as_f64(), other.as_f64(), one.as_str(), other.as_str()) {
        (Some(one), Some(other), ..) => (one - other).abs() <= SHARE * one.abs().max(other.abs()),
        (.., Some(one), Some(other)) => one.trim().to_lowercase() == other.trim().to_lowercase(),
        _ => one == other,
    }
}

/// A value as a person says it: `living room` for `living_room`.
pub(super) fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace(['_', '-'], " "),
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        // A number that was read is kept as one with a fraction, even where it has none.
        other => other.to_string().trim_end_matches(".0").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_read_in_every_form_of_schema() {
        let two = || Kind::Choice(vec![json!("a"), json!("b")]);
        let number = |whole: bool| Bounds { whole, ..Bounds::default() };
        for (property, expected) in [
            (json!({"enum": ["a", "b", null]}), two()),
            (json!({"$ref": "#/$defs/Place"}), two()),
            (json!({"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]}), two()),
            (json!({"const": "a"}), Kind::Choice(vec![json!("a")])),
            (json!({"type": ["string", "null"], "maxLength": 9}), Kind::Text(Some(9))),
            (json!({"type": "string"}), Kind::Text(None)),
            (json!({"type": "boolean"}), Kind::Flag),
            (json!({"type": "integer"}), Kind::Number(number(true))),
            (
                json!({"type": "number", "exclusiveMinimum": 0}),
                Kind::Number(Bounds { minimum: Some(0.0), above: true, ..number(false) }),
            ),
            (json!({"type": ["boolean", "number", "string", "array"]}), Kind::Any),
            (json!({"type": "array"}), Kind::Other),
            (json!(true), Kind::Other),
        ] {
            let schema = json!({
                "properties": {"x": property},
                "$defs": {"Place": {"oneOf": [{"const": "a"}, {"const": "b", "description": "B."}]}},
            });
            assert_eq!(parameters(&schema).remove(0).kind, expected, "{property}");
        }
        assert!(parameters(&json!([])).is_empty());
    }

    #[test]
    fn a_parameter_with_a_default_need_not_be_said() {
        let schema = json!({"properties": {
            "a": {"type": "string"}, "b": {"type": "string", "default": "x"}, "c": {"type": "string"},
        }, "required": ["a", "b"]});
        let needed: Vec<bool> = parameters(&schema).iter().map(|it| it.is_needed).collect();
        assert_eq!(needed, [true, false, false]);
    }
}
