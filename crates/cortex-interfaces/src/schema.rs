//! JSON Schema for what a model fills: the request of a service, the goal of an action, a message to publish.
//!
//! The schema (draft 2020-12, everything inline) describes friendly JSON. It leaves out what nobody writes by hand:
//! binary data, very long lists, what is nested too deeply. A field that is left out of the schema has its default.

use serde_json::{Map, Value, json};

use crate::conventions::identifier;
use crate::conventions::rotation::ANGLES;
use crate::conventions::time::NOW;
use crate::interface_file::sentences;
use crate::model::{Arity, Choices, Constant, Field, FieldKind};
use crate::{Convention, Conventions, MessageType};

/// Where choices with their descriptions are longer, in bytes, their names have to do.
const LONGEST_CHOICES: usize = 500;

/// What is too much for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaLimits {
    /// How deep messages are nested in one another.
    pub depth: usize,
    /// Properties in all.
    pub properties: usize,
    /// Elements of a fixed list, and of a list of bytes.
    pub elements: usize,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self { depth: 8, properties: 400, elements: 64 }
    }
}

/// A schema, and what it does not offer.
#[derive(Debug, Clone, PartialEq)]
pub struct FillSchema {
    /// JSON Schema of an object.
    pub schema: Value,
    /// The fields that are left out, with the reason: `image.data: binary data`.
    pub left_out: Vec<String>,
}

/// The schema of what fills a message of that type.
///
/// Required are, of the outermost fields, those without which a call would do something that nobody asked for: numbers,
/// truth values and messages without a declared default and without a convention that fills them. Text and lists start
/// empty, which mostly means "nothing in particular".
#[must_use]
pub fn fill_schema(message_type: &MessageType, conventions: &Conventions, limits: &SchemaLimits) -> FillSchema {
    let mut writer =
        Writer { conventions, limits, properties_left: limits.properties, path: Vec::new(), left_out: Vec::new() };
    let mut schema = writer.root(message_type);
    let required: Vec<Value> = message_type
        .fields
        .iter()
        .filter(|field| is_required(field, conventions))
        .filter(|field| schema.get("properties").and_then(|properties| properties.get(&field.name)).is_some())
        .map(|field| Value::from(field.name.clone()))
        .collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    FillSchema { schema: Value::Object(schema), left_out: writer.left_out }
}

fn is_required(field: &Field, conventions: &Conventions) -> bool {
    if field.default.is_some() || field.arity != Arity::One {
        return false;
    }
    match &field.kind {
        FieldKind::String { .. } | FieldKind::WideString { .. } => false,
        FieldKind::Message(nested) => {
            !nested.fields.is_empty() && !matches!(conventions.of(nested), Some(Convention::Time | Convention::Header))
        }
        _ => true,
    }
}

struct Writer<'a> {
    conventions: &'a Conventions,
    limits: &'a SchemaLimits,
    properties_left: usize,
    path: Vec<String>,
    left_out: Vec<String>,
}

impl Writer<'_> {
    /// An object in any case: arguments always are one.
    fn root(&mut self, message_type: &MessageType) -> Map<String, Value> {
        match (self.conventions.of(message_type), rotation()) {
            (Some(Convention::Header), _) => self.header(message_type),
            (Some(Convention::Rotation), Value::Object(schema)) => schema,
            _ => self.object(message_type),
        }
    }

    fn object(&mut self, message_type: &MessageType) -> Map<String, Value> {
        let mut properties = Map::new();
        for field in &message_type.fields {
            self.path.push(field.name.clone());
            match self.field(field) {
                Ok(schema) => {
                    properties.insert(field.name.clone(), schema);
                }
                Err(reason) => self.left_out.push(format!("{}: {reason}", self.path.join("."))),
            }
            self.path.pop();
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        describe(&mut schema, &[&message_type.description]);
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }

    /// The schema of a field, or why it is left out.
    fn field(&mut self, field: &Field) -> Result<Value, &'static str> {
        let is_byte = field.kind.integer_range().is_some_and(|(lowest, highest)| highest - lowest <= 255);
        match field.arity {
            Arity::Array(count) if count > self.limits.elements => return Err("a very long list"),
            Arity::Sequence { bound } if is_byte && bound.is_none_or(|bound| bound > self.limits.elements) => {
                return Err("binary data");
            }
            _ => {}
        }
        self.properties_left = self.properties_left.checked_sub(1).ok_or("too many fields")?;
        let mut element = self.element(&field.kind)?;
        let notes = apply_choices(&field.choices, &mut element);
        let mut schema = match field.arity {
            Arity::One => element,
            Arity::Array(count) => list(element, Some(count), Some(count)),
            Arity::Sequence { bound } => list(element, None, bound),
        };
        if let Some(default) = field.default.as_ref().filter(|default| allows(&schema, default)) {
            schema.insert("default".to_owned(), default.clone());
        }
        let of_type = match schema.get("description") {
            // What is said of the field is more to the point than what is said of its type.
            Some(Value::String(text)) if field.description.is_empty() || self.has_convention(&field.kind) => {
                text.clone()
            }
            _ => String::new(),
        };
        schema.remove("description");
        describe(&mut schema, &[&field.description, &notes, &of_type]);
        Ok(Value::Object(schema))
    }

    fn element(&mut self, kind: &FieldKind) -> Result<Map<String, Value>, &'static str> {
        let schema = match kind {
            FieldKind::Boolean => json!({"type": "boolean"}),
            FieldKind::Float32 | FieldKind::Float64 => json!({"type": "number"}),
            FieldKind::String { bound } | FieldKind::WideString { bound } => match bound {
                // In bytes or units, of which a character has at least one.
                Some(bound) => json!({"type": "string", "maxLength": bound}),
                None => json!({"type": "string"}),
            },
            FieldKind::Message(nested) => return self.message(nested),
            // No model needs to be told the limits of 64 bits, and not every reader of schemas can hold them.
            FieldKind::Int64 => json!({"type": "integer"}),
            FieldKind::Uint64 => json!({"type": "integer", "minimum": 0}),
            _ => match kind.integer_range().map(|(low, high)| (i64::try_from(low), i64::try_from(high))) {
                Some((Ok(lowest), Ok(highest))) => json!({"type": "integer", "minimum": lowest, "maximum": highest}),
                _ => return Err("not describable"),
            },
        };
        match schema {
            Value::Object(schema) => Ok(schema),
            _ => Err("not describable"),
        }
    }

    fn message(&mut self, message_type: &MessageType) -> Result<Map<String, Value>, &'static str> {
        let convention = self.conventions.of(message_type);
        let schema = match convention {
            Some(Convention::Time) => json!({
                "anyOf": [{"type": "number"}, {"const": NOW}],
                "default": NOW,
                "description": "Seconds since 1970 of the robot's clock.",
            }),
            Some(Convention::Duration) => json!({"type": "number", "default": 0, "description": "Seconds."}),
            Some(Convention::Rotation) => rotation(),
            Some(Convention::Header) => return Ok(self.header(message_type)),
            Some(Convention::HexText) => {
                let digits = identifier::length(message_type).unwrap_or_default() * 2;
                json!({"type": "string", "pattern": format!("^(-*[0-9a-fA-F]){{{digits}}}-*$")})
            }
            Some(Convention::Hidden) => return Err("hidden by a convention"),
            Some(Convention::Plain) | None => {
                if self.path.len() > self.limits.depth {
                    return Err("nested too deeply");
                }
                return Ok(self.object(message_type));
            }
        };
        match schema {
            Value::Object(schema) => Ok(schema),
            _ => Err("not describable"),
        }
    }

    /// A header: the frame. The time may be given, too, since what a model was shown has it.
    fn header(&mut self, message_type: &MessageType) -> Map<String, Value> {
        let mut schema = self.object(message_type);
        schema.remove("description");
        let frame = "The coordinate frame, such as \"map\".";
        for (name, description) in [("frame_id", frame), ("stamp", "Leave out: it is filled in with now.")] {
            if let Some(Value::Object(property)) = schema.get_mut("properties").and_then(|all| all.get_mut(name)) {
                property.insert("description".to_owned(), json!(description));
            }
        }
        schema
    }

    fn has_convention(&self, kind: &FieldKind) -> bool {
        matches!(kind, FieldKind::Message(nested) if self.conventions.of(nested).is_some())
    }
}

/// Restricts an element to the values that have names, if only those are allowed. Returns what their names are.
fn apply_choices(choices: &Choices, element: &mut Map<String, Value>) -> String {
    let (constants, intro) = match choices {
        Choices::Free => return String::new(),
        Choices::OneOf(constants) => {
            let mut values: Vec<Value> = Vec::new();
            for constant in constants {
                if !values.contains(&constant.value) {
                    values.push(constant.value.clone());
                }
            }
            for bound in ["minimum", "maximum", "maxLength"] {
                element.remove(bound);
            }
            element.insert("enum".to_owned(), Value::Array(values));
            (constants, "One of")
        }
        Choices::SumOf(constants) => (constants, "A sum of"),
        Choices::Named(constants) => (constants, "Special values"),
    };
    let list = |name: fn(&Constant) -> String| constants.iter().map(name).collect::<Vec<_>>().join(", ");
    let described = list(described);
    let names = if described.len() <= LONGEST_CHOICES { described } else { list(Constant::listed) };
    format!("{intro}: {names}.")
}

fn described(constant: &Constant) -> String {
    if constant.description.is_empty() {
        constant.listed()
    } else {
        format!("{} ({})", constant.listed(), constant.description)
    }
}

fn rotation() -> Value {
    let [yaw, pitch, roll] = ANGLES;
    json!({
        "type": "object",
        "description": "Which way it faces, in degrees.",
        "properties": {
            yaw: {
                "type": "number",
                "default": 0,
                "description": "Counter-clockwise seen from above; 0 is along the x axis of the frame, 90 along y.",
            },
            pitch: {"type": "number", "default": 0, "description": "Nose down is positive."},
            roll: {"type": "number", "default": 0},
        },
        "additionalProperties": false,
    })
}

fn list(element: Map<String, Value>, fewest: Option<usize>, most: Option<usize>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("array"));
    schema.insert("items".to_owned(), Value::Object(element));
    for (name, bound) in [("minItems", fewest), ("maxItems", most)] {
        if let Some(bound) = bound {
            schema.insert(name.to_owned(), json!(bound));
        }
    }
    schema
}

/// Whether a default is one of the values, where they are listed.
fn allows(schema: &Map<String, Value>, default: &Value) -> bool {
    match schema.get("enum") {
        Some(Value::Array(values)) => values.contains(default),
        _ => true,
    }
}

/// Sets the description to the parts that say something.
fn describe(schema: &mut Map<String, Value>, parts: &[&str]) {
    let text = sentences(parts.iter().copied());
    if !text.is_empty() {
        schema.insert("description".to_owned(), json!(text));
    }
}

#[cfg(test)]
mod tests;
