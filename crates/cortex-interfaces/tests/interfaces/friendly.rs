//! Friendly JSON: times, rotations, headers and identifiers as people write them.

use cortex_interfaces::{Convention, Conventions, Message, Missing, ReadOptions, WriteOptions};
use serde_json::{Value, json};

use crate::support::{NOW, load, problems_with, read, written};

fn friendly(name: &str, value: &Value) -> Message {
    let conventions = Conventions::default();
    Message::from_json(&load(name), value, &ReadOptions::friendly(&conventions, NOW))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn shown(message: &Message) -> Value {
    message.view().to_json(&WriteOptions::friendly(&Conventions::default())).value
}

fn refused(name: &str, value: &Value) -> Vec<String> {
    problems_with(name, value, &ReadOptions::friendly(&Conventions::default(), NOW))
}

#[test]
fn a_pose_is_written_as_a_person_would() {
    let value = json!({
        "header": {"frame_id": "map"},
        "pose": {"position": {"x": 1.5, "y": -2}, "orientation": {"yaw_deg": 90}},
    });
    let pose = friendly("geometry_msgs/msg/PoseStamped", &value);
    let exact = written(&pose);
    assert_eq!(exact["header"], json!({"stamp": {"sec": 1000, "nanosec": 500_000_000}, "frame_id": "map"}));
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let turned = &exact["pose"]["orientation"];
    assert!((turned["z"].as_f64().unwrap() - half).abs() < 1e-12);
    assert!((turned["w"].as_f64().unwrap() - half).abs() < 1e-12);
    let seen = shown(&pose);
    assert_eq!(
        seen,
        json!({
            "header": {"stamp": 1000.5, "frame_id": "map"},
            "pose": {"position": {"x": 1.5, "y": -2.0, "z": 0.0}, "orientation": {"yaw_deg": 90.0}},
        })
    );
    // What is shown can be given back.
    assert_eq!(shown(&friendly("geometry_msgs/msg/PoseStamped", &seen)), seen);
}

#[test]
fn times_are_seconds_or_now_and_now_when_they_are_not_given() {
    let stamp = |value: Value| written(&friendly("test_msgs/msg/Builtins", &value))["time_value"].clone();
    let now = json!({"sec": 1000, "nanosec": 500_000_000});
    assert_eq!(stamp(json!({})), now);
    assert_eq!(stamp(json!({"time_value": null})), now);
    assert_eq!(stamp(json!({"time_value": "now"})), now);
    assert_eq!(stamp(json!({"time_value": 12.25})), json!({"sec": 12, "nanosec": 250_000_000}));
    assert_eq!(stamp(json!({"time_value": {"sec": 3}})), json!({"sec": 3, "nanosec": 0}));
    let duration = |value: Value| written(&friendly("test_msgs/msg/Builtins", &value))["duration_value"].clone();
    assert_eq!(duration(json!({})), json!({"sec": 0, "nanosec": 0}));
    assert_eq!(duration(json!({"duration_value": -0.5})), json!({"sec": -1, "nanosec": 500_000_000}));
    assert_eq!(
        shown(&friendly("test_msgs/msg/Builtins", &json!({"duration_value": -0.5})))["duration_value"],
        json!(-0.5)
    );
}

#[test]
fn now_reaches_every_message_that_is_not_given() {
    let path = friendly("nav_msgs/msg/Path", &json!({"poses": [{}, {"pose": {}}]}));
    let exact = written(&path);
    for header in [&exact["header"], &exact["poses"][0]["header"], &exact["poses"][1]["header"]] {
        assert_eq!(header["stamp"]["sec"], json!(1000));
    }
    // In fixed lists, too, and nowhere in exact JSON.
    assert_eq!(written(&read("test_msgs/msg/Builtins", &json!({})).unwrap())["time_value"]["sec"], json!(0));
}

#[test]
fn times_that_ros_can_not_hold_are_refused() {
    assert_eq!(
        refused("test_msgs/msg/Builtins", &json!({"time_value": "tomorrow", "duration_value": 1e10})),
        [
            "duration_value: expected seconds (at most 2147483647), got 10000000000.0",
            "time_value: expected seconds since 1970 (at most 2147483647) or \"now\", got \"tomorrow\"",
        ]
    );
    assert_eq!(
        refused("test_msgs/msg/Builtins", &json!({"time_value": "NaN", "duration_value": "now"})),
        [
            "duration_value: expected seconds (at most 2147483647), got \"now\"",
            "time_value: expected seconds since 1970 (at most 2147483647) or \"now\", got \"NaN\"",
        ]
    );
    let conventions = Conventions::default();
    let options = ReadOptions { now: None, ..ReadOptions::friendly(&conventions, NOW) };
    assert_eq!(
        problems_with("test_msgs/msg/Builtins", &json!({"time_value": "now"}), &options),
        ["time_value: what time it is now is not known here; give the seconds"]
    );
}

#[test]
fn rotations_are_angles_or_quaternions_but_not_both() {
    let turned = |value: Value| {
        shown(&friendly("geometry_msgs/msg/Pose", &json!({"orientation": value})))["orientation"].clone()
    };
    assert_eq!(turned(json!({})), json!({"yaw_deg": 0.0}));
    assert_eq!(turned(json!({"x": 0, "y": 0, "z": 1, "w": 0})), json!({"yaw_deg": 180.0}));
    assert_eq!(
        turned(json!({"yaw_deg": 10, "pitch_deg": -20.5, "roll_deg": 30})),
        json!({"yaw_deg": 10.0, "pitch_deg": -20.5, "roll_deg": 30.0})
    );
    let problem = |value: Value| refused("geometry_msgs/msg/Pose", &json!({"orientation": value}));
    assert_eq!(
        problem(json!({"yaw_deg": 90, "w": 1})),
        ["orientation: expected either angles or x, y, z and w, got both"]
    );
    assert_eq!(
        problem(json!({"x": 0, "y": 0, "z": 0, "w": 0})),
        ["orientation: expected x, y, z and w of length 1, got 0.000"]
    );
    assert_eq!(problem(json!({"yaw_deg": "left"})), ["orientation.yaw_deg: expected a number, got \"left\""]);
    assert_eq!(problem(json!({"yaw_deg": "Infinity"})), ["orientation.yaw_deg: expected a number, got \"Infinity\""]);
    assert_eq!(problem(json!({"yaw": 1})), ["orientation: expected yaw_deg, pitch_deg, roll_deg, or x, y, z and w"]);
    assert_eq!(problem(json!(90)), ["orientation: expected an object, got 90"]);
    // What is no rotation is shown as it is.
    let zero = read("geometry_msgs/msg/Quaternion", &json!({"w": 0})).unwrap();
    assert_eq!(shown(&zero), json!({"x": 0.0, "y": 0.0, "z": 0.0, "w": 0.0}));
}

#[test]
fn identifiers_are_hexadecimal_text() {
    let text = "00112233-4455-6677-8899-aabbccddeeff";
    let id = friendly("unique_identifier_msgs/msg/UUID", &json!(text));
    assert_eq!(id.view().bytes("uuid").unwrap()[15], 0xff);
    assert_eq!(shown(&id), json!(text.replace('-', "")));
    let wrong = refused("test_msgs/action/Fibonacci_GetResult_Request", &json!({"goal_id": "00"}));
    assert_eq!(wrong, ["goal_id: expected 32 hexadecimal digits, got \"00\""]);
    let plain = friendly("unique_identifier_msgs/msg/UUID", &json!({"uuid": vec![7; 16]}));
    assert_eq!(shown(&plain), json!("07".repeat(16)));
}

#[test]
fn conventions_fill_what_strict_reading_would_miss() {
    let conventions = Conventions::default();
    let options = ReadOptions { missing: Missing::Refuse, ..ReadOptions::friendly(&conventions, NOW) };
    assert_eq!(problems_with("geometry_msgs/msg/PoseStamped", &json!({}), &options), ["pose: missing"]);
}

#[test]
fn images_are_not_shown_and_their_size_is() {
    let image = read("sensor_msgs/msg/Image", &json!({"width": 640, "data": {"base64": "A".repeat(4000)}})).unwrap();
    let shown = image.view().to_json(&WriteOptions::friendly(&Conventions::default()));
    assert_eq!(shown.value["data"], json!({"left_out": "3000 bytes"}));
    assert_eq!(shown.left_out[0].to_string(), "data: 3000 bytes");
}

#[test]
fn a_hidden_type_is_neither_shown_nor_needed() {
    let conventions = Conventions::default().with("geometry_msgs/msg/Point".parse().unwrap(), Convention::Hidden);
    let pose =
        Message::from_json(&load("geometry_msgs/msg/Pose"), &json!({}), &ReadOptions::friendly(&conventions, NOW))
            .unwrap();
    let shown = pose.view().to_json(&WriteOptions::friendly(&conventions));
    assert_eq!(shown.value, json!({"orientation": {"yaw_deg": 0.0}}));
    assert_eq!(shown.left_out[0].to_string(), "position: a geometry_msgs/msg/Point");
}
