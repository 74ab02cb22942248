//! Exact JSON: every kind of field both ways, and what is wrong with what does not fit.

use std::time::{Duration, Instant};

use cortex_interfaces::{Interfaces, Message, Missing, ReadLimits, ReadOptions, WriteLimits, WriteOptions};
use serde_json::{Value, json};

use crate::support::{load, load_from, problems, problems_with, read, written, written_as_numbers};

/// What comes back of exact JSON, through a tree and through text.
fn back(name: &str, value: &Value) -> Value {
    let from_tree = read(name, value).unwrap_or_else(|error| panic!("{error}"));
    let from_text = Message::from_json_str(&load(name), &value.to_string(), &ReadOptions::exact()).unwrap();
    let tree = written(&from_tree);
    assert_eq!(tree, written(&from_text));
    let mut text = Vec::new();
    from_text.view().write_json(&mut text, &WriteOptions::exact()).unwrap();
    assert_eq!(tree, serde_json::from_slice::<Value>(&text).unwrap());
    tree
}

#[test]
fn primitives_keep_their_extremes() {
    let lowest = json!({
        "bool_value": false, "byte_value": 0, "char_value": 0, "float32_value": -f32::MAX, "float64_value": f64::MIN,
        "int8_value": i8::MIN, "uint8_value": 0, "int16_value": i16::MIN, "uint16_value": 0, "int32_value": i32::MIN,
        "uint32_value": 0, "int64_value": i64::MIN, "uint64_value": 0,
    });
    let highest = json!({
        "bool_value": true, "byte_value": 255, "char_value": 255, "float32_value": 0.1, "float64_value": 5e-324,
        "int8_value": i8::MAX, "uint8_value": u8::MAX, "int16_value": i16::MAX, "uint16_value": u16::MAX,
        "int32_value": i32::MAX, "uint32_value": u32::MAX, "int64_value": i64::MAX, "uint64_value": u64::MAX,
    });
    let back_lowest = back("test_msgs/msg/BasicTypes", &lowest);
    for (name, value) in lowest.as_object().unwrap().iter().filter(|(name, _)| *name != "float32_value") {
        assert_eq!(&back_lowest[name], value, "{name}");
    }
    assert_eq!(back_lowest["float32_value"], json!(-3.402_823_5e38));
    assert_eq!(back("test_msgs/msg/BasicTypes", &highest), highest);
}

#[test]
fn large_integers_may_be_text_and_whole_floats_are_integers() {
    let value =
        json!({"int64_value": "-9223372036854775808", "uint64_value": "18446744073709551615", "int8_value": 3.0});
    let back = back("test_msgs/msg/BasicTypes", &value);
    assert_eq!((&back["int64_value"], &back["uint64_value"]), (&json!(i64::MIN), &json!(u64::MAX)));
    assert_eq!(back["int8_value"], json!(3));
    assert_eq!(
        problems(
            "test_msgs/msg/BasicTypes",
            &json!({
                "int8_value": "3", "int16_value": 1.5, "int32_value": 1e300, "int64_value": 18446744073709551615_u64,
                "uint64_value": "-1",
            })
        ),
        [
            "int16_value: expected a whole number from -32768 to 32767, got 1.5",
            "int32_value: expected a whole number from -2147483648 to 2147483647, got 1e300",
            "int64_value: expected a whole number from -9223372036854775808 to 9223372036854775807, got 18446744073709551615",
            "int8_value: expected a whole number from -128 to 127, got \"3\"",
            "uint64_value: expected a whole number from 0 to 18446744073709551615, got \"-1\"",
        ]
    );
}

#[test]
fn numbers_without_digits_have_names() {
    for name in ["NaN", "Infinity", "-Infinity"] {
        let back = back("test_msgs/msg/BasicTypes", &json!({"float32_value": name, "float64_value": name}));
        assert_eq!((&back["float32_value"], &back["float64_value"]), (&json!(name), &json!(name)));
    }
    assert_eq!(
        problems("test_msgs/msg/BasicTypes", &json!({"float32_value": 1e39, "float64_value": "nan"})),
        [
            "float32_value: expected a number from -3.4e38 to 3.4e38, got 1e39",
            "float64_value: expected a number, got \"nan\"",
        ]
    );
}

#[test]
fn texts_of_every_script_come_back() {
    for text in ["", "plain", "Grüße", "ハローワールド", "🤖 beyond the basic plane 𝄞", "\u{1}\n\t\"\\"] {
        let value = json!({"wstring_value": text, "array_of_wstrings": [text, "", text], "unbounded_sequence_of_wstrings": [text]});
        let back = back("test_msgs/msg/WStrings", &value);
        for (name, value) in value.as_object().unwrap() {
            assert_eq!(&back[name], value);
        }
        assert_eq!(self::back("test_msgs/msg/Strings", &json!({"string_value": text}))["string_value"], json!(text));
    }
}

#[test]
fn texts_that_ros_can_not_hold_are_refused() {
    assert_eq!(
        problems(
            "test_msgs/msg/Strings",
            &json!({"string_value": "a\0b", "bounded_string_value": "ä".repeat(12), "string_value_default1": 3})
        ),
        [
            "bounded_string_value: expected a text of at most 22 bytes, got \"ääääääääääää\"",
            "string_value: expected a text without zero characters, got \"a\\0b\"",
            "string_value_default1: expected a text, got 3",
        ]
    );
    assert_eq!(
        problems("test_msgs/msg/WStrings", &json!({"wstring_value": "\0"})),
        ["wstring_value: expected a text without zero characters, got \"\\0\""]
    );
    assert!(read("test_msgs/msg/Strings", &json!({"bounded_string_value": "ä".repeat(11)})).is_ok());
}

#[test]
fn lists_replace_their_defaults_and_keep_their_bounds() {
    let back =
        back("test_msgs/msg/BoundedSequences", &json!({"int32_values_default": [5], "string_values_default": []}));
    assert_eq!((&back["int32_values_default"], &back["string_values_default"]), (&json!([5]), &json!([])));
    assert_eq!(back["uint8_values_default"], json!([0, 1, 255]));
    assert_eq!(
        problems(
            "test_msgs/msg/BoundedSequences",
            &json!({"bool_values": [true, false, true, true], "basic_types_values": [{}, {}, {}, {}, {}]})
        ),
        ["basic_types_values: expected at most 3 elements, got 5", "bool_values: expected at most 3 elements, got 4"]
    );
    assert_eq!(
        problems("test_msgs/msg/Arrays", &json!({"bool_values": [true], "string_values": ["", "", "", ""]})),
        ["bool_values: expected 3 elements, got 1", "string_values: expected 3 elements, got 4"]
    );
}

#[test]
fn what_is_not_given_has_its_default() {
    let defaults = written(&Message::new(&load("test_msgs/msg/Defaults")));
    assert_eq!(back("test_msgs/msg/Defaults", &json!({})), defaults);
    assert_eq!(defaults["uint64_value"], json!(50_000_000));
    assert_eq!(back("test_msgs/msg/Defaults", &json!({"int8_value": null})), defaults);
    assert_eq!(
        back("test_msgs/msg/UnboundedSequences", &json!({"defaults_values": [{}]}))["defaults_values"],
        json!([defaults])
    );
    assert_eq!(back("test_msgs/msg/Empty", &json!({})), json!({}));
}

#[test]
fn missing_fields_are_refused_where_that_is_asked_for() {
    let options = ReadOptions { missing: Missing::Refuse, ..ReadOptions::exact() };
    assert_eq!(
        problems_with("geometry_msgs/msg/Pose", &json!({"position": {"x": 1, "y": null}}), &options),
        ["position.y: missing", "position.z: missing", "orientation: missing"]
    );
}

#[test]
fn every_problem_is_told_with_its_path() {
    let value = json!({
        "header": {"frame_id": 7, "stamp": "soon"},
        "pose": {"position": {"x": "left", "y": [1], "z": {"a": 1}}, "orientation": null, "turn": 1},
        "pose ": 1,
    });
    assert_eq!(
        problems_with("geometry_msgs/msg/PoseStamped", &value, &ReadOptions { root: "goal", ..ReadOptions::exact() }),
        [
            "goal.header.frame_id: expected a text, got 7",
            "goal.header.stamp: expected an object, got \"soon\"",
            "goal.pose.position.x: expected a number, got \"left\"",
            "goal.pose.position.y: expected a number, got a list",
            "goal.pose.position.z: expected a number, got an object",
            "goal.pose.turn: there is no such field; there are: position, orientation",
            "goal.\"pose \": there is no such field; there are: header, pose",
        ]
    );
    assert_eq!(
        problems(
            "test_msgs/msg/UnboundedSequences",
            &json!({"basic_types_values": [{}, {"int8_value": true}, null, []], "bool_values": {"0": true}, "uint8_values": 5})
        ),
        [
            "basic_types_values[1].int8_value: expected a whole number from -128 to 127, got true",
            "basic_types_values[2]: expected an object, got null",
            "basic_types_values[3]: expected an object, got a list",
            "bool_values: expected a list, got an object",
            "uint8_values: expected a list, got 5",
        ]
    );
    for (value, problem) in [
        (json!(null), "expected an object, got null"),
        (json!([]), "expected an object, got a list"),
        (json!("x"), "expected an object, got \"x\""),
    ] {
        assert_eq!(problems("geometry_msgs/msg/Pose", &value), [problem]);
    }
}

#[test]
fn text_that_is_no_json_or_says_things_twice_is_refused() {
    let problems = |text: &str| {
        let error =
            Message::from_json_str(&load("geometry_msgs/msg/Point"), text, &ReadOptions::exact()).err().unwrap();
        error.to_string()
    };
    assert_eq!(problems(r#"{"x": 1, "x": 2}"#), "x: given twice");
    assert!(problems(r#"{"x": 1"#).starts_with("this is not JSON: EOF"));
    assert!(problems(r#"{"x": 1} {}"#).starts_with("this is not JSON: trailing characters"));
    assert!(problems("").starts_with("this is not JSON: EOF"));
    assert!(problems(r#"{"x": "a", "y" 1}"#).starts_with("x: expected a number, got \"a\"; this is not JSON"));
}

#[test]
fn bytes_are_base64_past_a_length() {
    let short: Vec<u8> = (0..64).collect();
    let long: Vec<u8> = (0..=255).collect();
    assert_eq!(back("test_msgs/msg/UnboundedSequences", &json!({"uint8_values": short}))["uint8_values"], json!(short));
    let encoded = back("test_msgs/msg/UnboundedSequences", &json!({"uint8_values": long, "byte_values": long}));
    let text = encoded["uint8_values"]["base64"].as_str().unwrap();
    assert!(text.starts_with("AAECAwQF") && text.len() == 344);
    assert_eq!(encoded["uint8_values"], encoded["byte_values"]);
    let message = read("test_msgs/msg/UnboundedSequences", &encoded).unwrap();
    assert_eq!(written_as_numbers(&message)["byte_values"], json!(long));
    // Other numbers of eight bits are no bytes.
    let signed: Vec<i8> = (0..100).collect();
    assert_eq!(back("test_msgs/msg/UnboundedSequences", &json!({"int8_values": signed}))["int8_values"], json!(signed));
}

#[test]
fn base64_that_does_not_fit_is_refused() {
    assert_eq!(
        problems(
            "test_msgs/msg/BoundedSequences",
            &json!({
                "uint8_values": {"base64": "AAECAw=="},
                "byte_values": {"base64": "!"},
                "char_values": {"base64": 3},
                "int8_values": {"base64": "AAEC"},
                "uint8_values_default": {"base64": "", "more": 1},
                "byte_values_default": {},
            })
        ),
        [
            "byte_values.base64: expected bytes as base64: Invalid symbol 33, offset 0.",
            "byte_values_default: expected a list of at most 3, got an empty object",
            "char_values.base64: expected bytes as base64, got 3",
            "int8_values: expected a list of at most 3, got an object",
            "uint8_values.base64: expected a list of at most 3, got 4 bytes",
            "uint8_values_default: expected a list of at most 3, or {\"base64\": \"...\"} and nothing else",
        ]
    );
    assert_eq!(
        problems("test_msgs/msg/Arrays", &json!({"uint8_values": {"base64": "AAE="}})),
        ["uint8_values.base64: expected a list of 3, got 2 bytes"]
    );
}

#[test]
fn hostile_json_ends_soon_and_takes_little() {
    let start = Instant::now();
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_objects = format!("{}1{}", r#"{"position":"#.repeat(10_000), "}".repeat(10_000));
    let pose = load("geometry_msgs/msg/Pose");
    for (text, problem) in [
        (deep.clone(), "expected an object, got a list"),
        (format!(r#"{{"unknown": {deep}}}"#), "unknown: there is no such field; there are: position, orientation"),
        (format!(r#"{{"position": {deep}}}"#), "position: expected an object, got a list"),
        (deep_objects, "position.position: there is no such field; there are: x, y, z"),
    ] {
        let error = Message::from_json_str(&pose, &text, &ReadOptions::exact()).err().unwrap();
        // The reader of JSON itself may stop first, at its own depth.
        let told = error.problems[0].to_string();
        assert!(told == problem || told.starts_with("this is not JSON: recursion limit"), "{told}");
    }

    let string = load("std_msgs/msg/String");
    let long = format!(r#"{{"data": "{}"}}"#, "x".repeat(10_000_000));
    let error = Message::from_json_str(&string, &long, &ReadOptions::exact()).err().unwrap();
    assert_eq!(error.to_string(), "data: expected at most 4194304 bytes of text, got 10000000");
    let limits = ReadLimits { input_bytes: 1_000_000, ..ReadLimits::default() };
    let error = Message::from_json_str(&string, &long, &ReadOptions { limits, ..ReadOptions::exact() }).err().unwrap();
    assert_eq!(error.to_string(), "10000012 bytes of JSON; at most 1000000 are read");

    let wrong = format!(r#"{{"poses": [{}1]}}"#, "1,".repeat(1_000_000));
    let error = Message::from_json_str(&load("nav_msgs/msg/Path"), &wrong, &ReadOptions::exact()).err().unwrap();
    assert_eq!((error.problems.len(), error.stopped), (16, true));
    assert_eq!(error.problems[15].to_string(), "poses[15]: expected an object, got 1");
    // Generous: it takes some tenths of a second in a debug build.
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn memory_is_counted_before_it_is_taken() {
    let with = |limits: ReadLimits, value: &Value| {
        problems_with("test_msgs/msg/UnboundedSequences", value, &ReadOptions { limits, ..ReadOptions::exact() })
    };
    let elements = ReadLimits { elements: 10, ..ReadLimits::default() };
    assert_eq!(
        with(elements, &json!({"int8_values": vec![0; 11], "uint8_values": {"base64": "A".repeat(16)}})),
        ["int8_values: 11 elements; at most 10 are read", "uint8_values.base64: expected a list, got 12 bytes"]
    );
    let memory = ReadLimits { memory_bytes: 1000, ..ReadLimits::default() };
    assert_eq!(
        with(memory, &json!({"basic_types_values": vec![json!({}); 100]})),
        ["basic_types_values: the message takes more than 1000 bytes of memory"]
    );
    assert_eq!(
        with(memory, &json!({"string_values": ["x".repeat(500), "y".repeat(500)]})),
        ["string_values[1]: the message takes more than 1000 bytes of memory"]
    );
    assert_eq!(
        with(memory, &json!({"uint8_values": {"base64": "A".repeat(2000)}})),
        ["uint8_values.base64: the message takes more than 1000 bytes of memory"]
    );
    let depth = ReadLimits { depth: 1, ..ReadLimits::default() };
    assert_eq!(with(depth, &json!({"basic_types_values": [{}]})), ["basic_types_values[0]: nested more than 1 deep"]);
}

#[test]
fn a_message_is_put_into_another_and_a_list_of_messages_is_read() {
    let goal_type = load("test_msgs/action/NestedMessage_Goal");
    let sent = json!({"nested_field_no_pkg": {"duration_value": {"sec": 7}}});
    let goal = || Message::from_json(&goal_type, &sent, &ReadOptions::exact()).unwrap();
    let expected = written(&goal());
    let mut request = Message::new(&load("test_msgs/action/NestedMessage_SendGoal_Request"));
    request.put("goal", goal()).unwrap();
    assert_eq!(written(&request)["goal"], expected);

    // What does not fit comes back as it was.
    for field in ["goal_id", "none"] {
        assert_eq!(written(&request.put(field, goal()).unwrap_err()), expected);
    }
    // Laid out by another set of interfaces: perhaps by another library.
    let others = Interfaces::from_environment();
    let other = Message::new(&load_from(&others, "test_msgs/action/NestedMessage_Goal"));
    assert!(request.put("goal", other).is_err());
    let mut lists = Message::new(&load("test_msgs/msg/UnboundedSequences"));
    assert!(lists.put("basic_types_values", Message::new(&load("test_msgs/msg/BasicTypes"))).is_err());

    let values = json!([{"int32_value": 1}, {"int32_value": 2}]);
    lists.fill("basic_types_values", &values, &ReadOptions::exact()).unwrap();
    let view = lists.view();
    let numbers: Vec<_> = view.list("basic_types_values").unwrap().map(|one| one.integer("int32_value")).collect();
    assert_eq!(numbers, [Some(1), Some(2)]);
    assert_eq!(view.list("constants_values").unwrap().count(), 0);
    assert!(view.list("int32_values").is_none() && view.list("none").is_none());
}

#[test]
fn one_field_of_a_message_is_filled_alone() {
    let mut request = Message::new(&load("test_msgs/action/Fibonacci_SendGoal_Request"));
    request.fill("goal", &json!({"order": 5}), &ReadOptions::exact()).unwrap();
    request.fill("goal_id", &json!({"uuid": (0..16).collect::<Vec<u8>>()}), &ReadOptions::exact()).unwrap();
    let goal = request.view().nested("goal").unwrap();
    assert_eq!(goal.integer("order"), Some(5));
    assert_eq!(request.view().nested("goal_id").unwrap().bytes("uuid").unwrap()[15], 15);
    assert_eq!((goal.boolean("order"), goal.integer("none"), goal.nested("order").is_none()), (None, None, true));

    let mut problem =
        |field: &str, value: Value| request.fill(field, &value, &ReadOptions::exact()).unwrap_err().to_string();
    assert_eq!(
        problem("goal", json!({"order": "five"})),
        "goal.order: expected a whole number from -2147483648 to 2147483647, got \"five\""
    );
    assert_eq!(problem("gaol", json!({})), "gaol: test_msgs/action/Fibonacci_SendGoal_Request has no such field");
}

#[test]
fn what_is_cut_is_said_in_its_place_and_in_the_summary() {
    let message = read(
        "test_msgs/msg/UnboundedSequences",
        &json!({
            "int32_values": (0..10).collect::<Vec<_>>(),
            "string_values": ["a long text, ärgerlich"],
            "uint8_values": vec![0; 100],
            "basic_types_values": vec![json!({}); 5],
        }),
    )
    .unwrap();
    let limits = WriteLimits { elements: 3, string_bytes: 14, binary_bytes: 50, ..WriteLimits::NONE };
    let written = message.view().to_json(&WriteOptions { limits, ..WriteOptions::exact() });
    assert_eq!(written.value["int32_values"], json!([0, 1, 2, "… 7 of 10 elements left out"]));
    assert_eq!(written.value["string_values"], json!(["a long text, … 10 of 23 bytes left out"]));
    assert_eq!(written.value["uint8_values"], json!({"left_out": "100 bytes"}));
    assert_eq!(written.value["basic_types_values"][3], json!("… 2 of 5 elements left out"));
    let told: Vec<String> = written.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "uint8_values: 100 bytes",
            "int32_values: 7 of 10 elements",
            "string_values[0]: 10 of 23 bytes",
            "basic_types_values: 2 of 5 elements",
        ]
    );
}

#[test]
fn the_whole_output_is_bounded() {
    let path = read("nav_msgs/msg/Path", &json!({"poses": vec![json!({}); 10_000]})).unwrap();
    let limits = WriteLimits { total_bytes: 10_000, ..WriteLimits::NONE };
    let mut text = Vec::new();
    let left_out = path.view().write_json(&mut text, &WriteOptions { limits, ..WriteOptions::exact() }).unwrap();
    assert!((5_000..20_000).contains(&text.len()), "{} bytes", text.len());
    assert_eq!(left_out.len(), 1);
    assert_eq!(left_out[0].path, "poses");
}

#[test]
fn serialised_messages_are_the_same_afterwards() {
    let value = json!({"string_values": ["a", "", "ハロー"], "int64_values": [i64::MIN], "basic_types_values": [{"bool_value": true}]});
    let message = read("test_msgs/msg/UnboundedSequences", &value).unwrap();
    let bytes = message.to_serialized().unwrap();
    let again = Message::from_serialized(message.interface(), &bytes).unwrap();
    assert_eq!(written(&again), written(&message));
    assert_eq!(again.to_serialized().unwrap(), bytes);
}

#[test]
fn bytes_that_are_no_message_are_an_error() {
    let interface = load("test_msgs/msg/UnboundedSequences");
    let bytes = Message::new(&interface).to_serialized().unwrap();
    for cut in [0, 1, 3, bytes.len() / 2] {
        assert!(Message::from_serialized(&interface, &bytes[..cut]).is_err(), "the first {cut} bytes were taken");
    }
}

#[test]
fn texts_that_are_no_unicode_are_shown_as_far_as_they_are() {
    let show = |name: &str, value: &Value, from: &[u8], to: &[u8]| {
        let message = read(name, value).unwrap();
        let mut bytes = message.to_serialized().unwrap();
        let place = bytes.windows(from.len()).position(|window| window == from).unwrap();
        bytes[place..place + to.len()].copy_from_slice(to);
        written(&Message::from_serialized(message.interface(), &bytes).unwrap())
    };
    let text = show("std_msgs/msg/String", &json!({"data": "left"}), b"left", b"l\xfft");
    assert_eq!(text["data"], json!("l\u{fffd}tt"));
    // The first half of a pair without the second.
    let wide = show("test_msgs/msg/WStrings", &json!({"wstring_value": "🤖"}), &[0x3e, 0xd8], &[0x41, 0x00]);
    assert_eq!(wide["wstring_value"], json!("A\u{fffd}"));
}
