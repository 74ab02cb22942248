//! Types written by hand: no library is loaded.

use std::sync::Arc;

use super::*;
use crate::InterfaceName;

fn field(name: &str, kind: FieldKind, arity: Arity) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        arity,
        description: String::new(),
        default: None,
        choices: Choices::Free,
        offset: 0,
    }
}

fn one(name: &str, kind: FieldKind) -> Field {
    field(name, kind, Arity::One)
}

fn message(name: &str, fields: Vec<Field>) -> MessageType {
    let name: InterfaceName = name.parse().unwrap();
    MessageType { name, description: String::new(), fields, constants: Vec::new(), size_of: 1 }
}

fn nested(name: &str, fields: Vec<Field>) -> FieldKind {
    FieldKind::Message(Arc::new(message(name, fields)))
}

fn schema(message_type: &MessageType) -> FillSchema {
    fill_schema(message_type, &Conventions::default(), &SchemaLimits::default())
}

fn properties(fields: Vec<Field>) -> Value {
    schema(&message("a_msgs/msg/Any", fields)).schema["properties"].clone()
}

fn time() -> FieldKind {
    nested("builtin_interfaces/msg/Time", vec![one("sec", FieldKind::Int32), one("nanosec", FieldKind::Uint32)])
}

#[test]
fn bounds_defaults_and_comments_are_kept() {
    let mut speed = one("speed", FieldKind::Float64);
    speed.description = "How fast, m/s.".to_owned();
    speed.default = Some(json!(0.5));
    let fields = vec![
        speed,
        one("level", FieldKind::Uint8),
        one("count", FieldKind::Int64),
        one("text", FieldKind::String { bound: Some(10) }),
        field("corners", FieldKind::Float32, Arity::Array(4)),
        field("names", FieldKind::String { bound: None }, Arity::Sequence { bound: Some(3) }),
    ];
    let mut message_type = message("a_msgs/srv/Drive_Request", fields);
    message_type.description = "Drives.".to_owned();
    assert_eq!(
        schema(&message_type),
        FillSchema {
            schema: json!({
                "type": "object",
                "description": "Drives.",
                "properties": {
                    "speed": {"type": "number", "default": 0.5, "description": "How fast, m/s."},
                    "level": {"type": "integer", "minimum": 0, "maximum": 255},
                    "count": {"type": "integer"},
                    "text": {"type": "string", "maxLength": 10},
                    "corners": {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4},
                    "names": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                },
                "additionalProperties": false,
                "required": ["level", "count"],
            }),
            left_out: vec![],
        }
    );
}

#[test]
fn constants_become_an_enumeration_or_a_hint() {
    let constants = |values: &[i64]| -> Vec<Constant> {
        let named = values.iter().map(|value| Constant {
            name: format!("N{value}"),
            kind: FieldKind::Uint8,
            value: json!(value),
            description: if *value == 1 { "the first".to_owned() } else { String::new() },
        });
        named.collect()
    };
    let with = |choices: Choices| {
        let mut level = one("level", FieldKind::Uint8);
        level.choices = choices;
        level.default = Some(json!(0));
        properties(vec![level])["level"].clone()
    };
    assert_eq!(
        with(Choices::OneOf(constants(&[1, 2, 1]))),
        json!({"type": "integer", "enum": [1, 2], "description": "One of: 1 = N1 (the first), 2 = N2, 1 = N1 (the first)."})
    );
    assert_eq!(
        with(Choices::SumOf(constants(&[1, 2]))),
        json!({
            "type": "integer", "minimum": 0, "maximum": 255, "default": 0,
            "description": "A sum of: 1 = N1 (the first), 2 = N2.",
        })
    );
}

#[test]
fn binary_long_and_deep_fields_are_left_out_with_a_reason() {
    let mut deep = one("end", FieldKind::Boolean);
    for _ in 0..10 {
        deep = one("deeper", nested("a_msgs/msg/Deep", vec![deep]));
    }
    let unbounded = Arity::Sequence { bound: None };
    let written = schema(&message(
        "a_msgs/msg/Any",
        vec![
            field("image", FieldKind::Uint8, unbounded),
            field("blob", FieldKind::Byte, Arity::Sequence { bound: Some(1000) }),
            field("key", FieldKind::Uint8, Arity::Sequence { bound: Some(8) }),
            field("ranges", FieldKind::Float32, unbounded),
            field("grid", FieldKind::Float32, Arity::Array(1000)),
            deep,
        ],
    ));
    assert_eq!(
        written.left_out,
        [
            "image: binary data",
            "blob: binary data",
            "grid: a very long list",
            "deeper.deeper.deeper.deeper.deeper.deeper.deeper.deeper.deeper: nested too deeply",
        ]
    );
    let names: Vec<&String> = written.schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["deeper", "key", "ranges"]);
}

#[test]
fn a_type_that_explodes_is_cut() {
    let mut kind = FieldKind::Boolean;
    for _ in 0..7 {
        let fields = (0..10).map(|index| one(&format!("f{index}"), kind.clone())).collect();
        kind = nested("a_msgs/msg/Wide", fields);
    }
    let written = schema(&message("a_msgs/msg/Any", vec![one("wide", kind)]));
    assert!(written.schema.to_string().len() < 100_000);
    assert!(written.left_out.iter().all(|reason| reason.ends_with("too many fields")));
}

#[test]
fn conventions_say_what_a_model_writes() {
    let header =
        nested("std_msgs/msg/Header", vec![one("stamp", time()), one("frame_id", FieldKind::String { bound: None })]);
    let rotation_fields = ["x", "y", "z", "w"].map(|name| one(name, FieldKind::Float64)).to_vec();
    let fields = vec![
        one("at", time()),
        one("header", header),
        one("facing", nested("geometry_msgs/msg/Quaternion", rotation_fields)),
        one("id", nested("unique_identifier_msgs/msg/UUID", vec![field("uuid", FieldKind::Uint8, Arity::Array(16))])),
    ];
    let written = schema(&message("a_msgs/msg/Any", fields));
    assert_eq!(written.schema["required"], json!(["facing", "id"]));
    let properties = &written.schema["properties"];
    assert_eq!(properties["at"]["anyOf"], json!([{"type": "number"}, {"const": "now"}]));
    assert_eq!(
        properties["header"],
        json!({
            "type": "object",
            "properties": {
                "frame_id": {"type": "string", "description": "The coordinate frame, such as \"map\"."},
                "stamp": {
                    "anyOf": [{"type": "number"}, {"const": "now"}], "default": "now",
                    "description": "Leave out: it is filled in with now.",
                },
            },
            "additionalProperties": false,
        })
    );
    let angles: Vec<&String> = properties["facing"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(angles, ["pitch_deg", "roll_deg", "yaw_deg"]);
    assert_eq!(properties["id"]["pattern"], json!("^(-*[0-9a-fA-F]){32}-*$"));
}

#[test]
fn a_convention_is_added_or_taken_away_by_the_user() {
    let stamp = |name: &str| nested(name, vec![one("sec", FieldKind::Int32), one("nanosec", FieldKind::Uint32)]);
    let message_type =
        message("a_msgs/msg/Any", vec![one("at", stamp("my_msgs/msg/Stamp")), one("blob", stamp("my_msgs/msg/Blob"))]);
    let written = |conventions: &Conventions| fill_schema(&message_type, conventions, &SchemaLimits::default());
    let plain = written(&Conventions::default());
    assert_eq!(plain.schema["properties"]["at"]["type"], json!("object"));
    let conventions = Conventions::default()
        .with("my_msgs/msg/Stamp".parse().unwrap(), Convention::Duration)
        .with("my_msgs/msg/Blob".parse().unwrap(), Convention::Hidden);
    let own = written(&conventions);
    assert_eq!(own.schema["properties"]["at"]["type"], json!("number"));
    assert_eq!(own.left_out, ["blob: hidden by a convention"]);
    assert_eq!(
        written(&conventions.with("my_msgs/msg/Blob".parse().unwrap(), Convention::Plain)).left_out,
        Vec::<String>::new()
    );
}

#[test]
fn a_convention_whose_fields_the_type_lacks_is_not_applied() {
    let odd = nested("builtin_interfaces/msg/Time", vec![one("sec", FieldKind::Int64)]);
    let written = properties(vec![one("at", odd)]);
    assert_eq!(written["at"]["properties"]["sec"], json!({"type": "integer"}));
}
