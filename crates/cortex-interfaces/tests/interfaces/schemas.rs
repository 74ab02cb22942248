//! Schemas of installed interfaces: they are schemas, and what they accept can be read.

use cortex_interfaces::{Conventions, FillSchema, Message, ReadOptions, SchemaLimits, WriteOptions, fill_schema};
use serde_json::{Value, json};

use crate::support::{NOW, all_names, interfaces, load};

fn schema(name: &str) -> FillSchema {
    fill_schema(load(name).message_type(), &Conventions::default(), &SchemaLimits::default())
}

fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let validator = jsonschema::draft202012::new(schema).unwrap();
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn what_a_new_message_shows_is_what_its_schema_accepts() {
    let conventions = Conventions::default();
    for name in all_names(interfaces().index()) {
        let interface = load(&name);
        let written = fill_schema(interface.message_type(), &conventions, &SchemaLimits::default());
        assert!(jsonschema::draft202012::meta::is_valid(&written.schema), "{name}: {}", written.schema);
        assert_eq!(written.schema["type"], json!("object"), "{name}");
        let now = ReadOptions::friendly(&conventions, NOW);
        let message = Message::from_json(&interface, &json!({}), &now).unwrap();
        let mut shown = message.view().to_json(&WriteOptions::friendly(&conventions)).value;
        if !shown.is_object() {
            // A time alone is shown as a number, and arguments are an object.
            continue;
        }
        for reason in &written.left_out {
            remove(&mut shown, reason.split(':').next().unwrap());
        }
        assert_eq!(without_enumerations(problems(&written.schema, &shown)), Vec::<String>::new(), "{name}: {shown}");
        let again = Message::from_json(&interface, &shown, &now);
        assert!(again.is_ok(), "{name}: {:?}", again.err());
    }
}

/// A field may start with a value that has no name, such as a level of 0.
fn without_enumerations(problems: Vec<String>) -> Vec<String> {
    problems.into_iter().filter(|problem| !problem.contains("is not one of")).collect()
}

fn remove(value: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| remove(element, path)),
        Value::Object(fields) => match rest {
            Some(rest) => {
                if let Some(field) = fields.get_mut(first) {
                    remove(field, rest);
                }
            }
            None => {
                fields.remove(first);
            }
        },
        _ => {}
    }
}

#[test]
fn a_switch_needs_its_position() {
    let written = schema("std_srvs/srv/SetBool_Request");
    assert_eq!(
        written,
        FillSchema {
            schema: json!({
                "type": "object",
                "properties": {
                    "data": {"type": "boolean", "description": "e.g. for hardware enabling / disabling"}
                },
                "additionalProperties": false,
                "required": ["data"],
            }),
            left_out: vec![],
        }
    );
    assert_eq!(problems(&written.schema, &json!({"data": true})), [""; 0]);
    assert_eq!(problems(&written.schema, &json!({})).len(), 1);
    assert_eq!(problems(&written.schema, &json!({"data": true, "force": 1})).len(), 1);
}

#[test]
fn a_goal_pose_is_small_and_says_what_the_fields_mean() {
    let written = schema("geometry_msgs/msg/PoseStamped");
    assert!(written.schema.to_string().len() < 1500, "{} bytes", written.schema.to_string().len());
    let good = json!({
        "header": {"frame_id": "map"},
        "pose": {"position": {"x": 1, "y": 2, "z": 0}, "orientation": {"yaw_deg": 45}},
    });
    assert_eq!(problems(&written.schema, &good), [""; 0]);
    assert_eq!(written.schema["required"], json!(["pose"]));
}

#[test]
fn constants_restrict_what_a_model_may_write() {
    let written = schema("sensor_msgs/msg/BatteryState");
    let status = &written.schema["properties"]["power_supply_status"];
    assert_eq!(status["enum"], json!([0, 1, 2, 3, 4]));
    assert!(status["description"].as_str().unwrap().contains("4 = POWER_SUPPLY_STATUS_FULL"), "{status}");
    let service = &schema("sensor_msgs/msg/NavSatStatus").schema["properties"]["service"];
    assert_eq!(service["maximum"], json!(65535));
    assert!(service["description"].as_str().unwrap().contains("A sum of: "), "{service}");
}

#[test]
fn an_image_is_offered_without_its_pixels() {
    let written = schema("sensor_msgs/msg/Image");
    assert_eq!(written.left_out, ["data: binary data"]);
    assert!(written.schema["properties"].get("data").is_none());
}
