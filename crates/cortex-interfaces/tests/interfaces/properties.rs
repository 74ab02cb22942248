//! Random JSON against all installed types.

use std::sync::{Arc, OnceLock};

use cortex_interfaces::{
    Arity, Conventions, Field, FieldKind, Message, MessageInterface, MessageType, ReadLimits, ReadOptions, WriteOptions,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRng;
use serde_json::{Map, Value, json};

use crate::support::{NOW, all_names, interfaces, load, written};

/// All types, loaded once.
fn types() -> &'static [Arc<MessageInterface>] {
    static TYPES: OnceLock<Vec<Arc<MessageInterface>>> = OnceLock::new();
    TYPES.get_or_init(|| all_names(interfaces().index()).iter().map(|name| load(name)).collect())
}

fn any_type() -> impl Strategy<Value = Arc<MessageInterface>> {
    select(types().to_vec())
}

/// Any JSON, with names and texts that mean something to some type.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec!["now", "NaN", "-Infinity", "18446744073709551615", "AAAA", "\0", "", "🤖"]).prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        let name = prop_oneof![
            4 => select(vec![
                "header", "stamp", "sec", "nanosec", "frame_id", "pose", "position", "orientation", "x", "y", "z", "w",
                "yaw_deg", "roll_deg", "base64", "uuid", "goal", "goal_id", "data", "poses", "status", "name",
                "bool_values", "string_values", "uint8_values", "basic_types_values", "int64_value", "wstring_value",
            ]).prop_map(str::to_owned),
            1 => "\\PC{0,8}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A message of the type as exact JSON.
pub(crate) fn valid(message_type: &MessageType, rng: &mut TestRng) -> Value {
    Value::Object(message_type.fields.iter().map(|field| (field.name.clone(), valid_field(field, rng))).collect())
}

fn valid_field(field: &Field, rng: &mut TestRng) -> Value {
    let most = |bound: Option<usize>| bound.unwrap_or(3).min(3);
    let count = match field.arity {
        Arity::One => return valid_element(&field.kind, rng),
        Arity::Array(count) => count,
        Arity::Sequence { bound } => rng.random_range(0..=most(bound)),
    };
    (0..count).map(|_| valid_element(&field.kind, rng)).collect()
}

fn valid_element(kind: &FieldKind, rng: &mut TestRng) -> Value {
    if let Some((lowest, highest)) = kind.integer_range() {
        let value = match rng.random_range(0..4) {
            0 => lowest,
            1 => highest,
            _ => lowest + i128::from(rng.next_u64()) % (highest - lowest + 1),
        };
        return u64::try_from(value).map_or_else(|_| json!(i64::try_from(value).unwrap()), |value| json!(value));
    }
    match kind {
        FieldKind::Boolean => json!(rng.next_u32().is_multiple_of(2)),
        FieldKind::Float32 => {
            let value = f32::from_bits(rng.next_u32());
            // With the digits of the narrow float, as it is written.
            let digits = serde_json::to_string(&value).unwrap();
            float(f64::from(value)).unwrap_or_else(|| json!(digits.parse::<f64>().unwrap()))
        }
        FieldKind::Float64 => {
            let value = f64::from_bits(rng.next_u64());
            float(value).unwrap_or_else(|| json!(value))
        }
        FieldKind::String { bound } | FieldKind::WideString { bound } => text(bound.unwrap_or(8), rng).into(),
        FieldKind::Message(nested) => valid(nested, rng),
        _ => unreachable!("an integer"),
    }
}

/// What has no digits.
fn float(value: f64) -> Option<Value> {
    match value {
        _ if value.is_nan() => Some(json!("NaN")),
        f64::INFINITY => Some(json!("Infinity")),
        f64::NEG_INFINITY => Some(json!("-Infinity")),
        _ => None,
    }
}

fn text(most: usize, rng: &mut TestRng) -> String {
    let mut text = String::new();
    for _ in 0..rng.random_range(0..=most.min(8)) {
        let character = match rng.random_range(0..4) {
            0 => char::from_u32(rng.random_range(1..0x800)),
            1 => char::from_u32(rng.random_range(0x1_0000..0x11_0000)),
            _ => char::from_u32(rng.random_range(0x20..0x7f)),
        };
        let character = character.unwrap_or('x');
        if text.len() + character.len_utf8() <= most {
            text.push(character);
        }
    }
    text
}

/// The paths of all values that are neither list nor object.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                leaves(element, &format!("{path}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                leaves(field, &format!("{path}/{name}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// `/poses/3/x` as errors write it: `poses[3].x`.
fn as_error(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        match part.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if path.is_empty() => path.push_str(part),
            Err(_) => path.push_str(&format!(".{part}")),
        }
    }
    path
}

/// So many cases, unless the environment names a number: fewer under valgrind, more over night.
fn cases(count: u32) -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(count),
    }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn any_json_is_read_or_refused_with_reasons(interface in any_type(), value in any_json()) {
        let conventions = Conventions::default();
        let limits = ReadLimits { memory_bytes: 100_000, elements: 100, string_bytes: 50, ..ReadLimits::default() };
        let exact = ReadOptions { limits, ..ReadOptions::exact() };
        let friendly = ReadOptions { limits, ..ReadOptions::friendly(&conventions, NOW) };
        for options in [exact, friendly] {
            let tree = Message::from_json(&interface, &value, &options);
            let text = Message::from_json_str(&interface, &value.to_string(), &options);
            match (tree, text) {
                (Ok(tree), Ok(text)) => {
                    prop_assert_eq!(written(&tree), written(&text));
                    let _ = tree.view().to_json(&WriteOptions::friendly(&conventions));
                }
                (Err(tree), Err(text)) => {
                    prop_assert_eq!(&tree, &text);
                    prop_assert!(!tree.problems.is_empty());
                }
                (tree, text) => prop_assert!(false, "tree: {:?}, text: {:?}", tree.err(), text.err()),
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn what_is_written_reads_as_the_same_message(interface in any_type(), mut rng in any_rng()) {
        let value = valid(interface.message_type(), &mut rng);
        let message = Message::from_json(&interface, &value, &ReadOptions::exact());
        let message = message.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let options = WriteOptions { base64_over: usize::MAX, ..WriteOptions::exact() };
        prop_assert_eq!(&message.view().to_json(&options).value, &value);
        // And so it does by way of base64 and of text.
        let mut text = Vec::new();
        message.view().write_json(&mut text, &WriteOptions::exact()).unwrap();
        let again = Message::from_json_str(&interface, std::str::from_utf8(&text).unwrap(), &ReadOptions::exact());
        let again = again.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&again.view().to_json(&options).value, &value);
    }

    #[test]
    fn one_wrong_value_is_told_by_its_path(interface in any_type(), mut rng in any_rng(), place in any::<Index>()) {
        let mut value = valid(interface.message_type(), &mut rng);
        let mut paths = Vec::new();
        leaves(&value, "", &mut paths);
        prop_assume!(!paths.is_empty());
        let pointer = place.get(&paths);
        *value.pointer_mut(pointer).unwrap() = json!({"no": "leaf"});
        let error = Message::from_json(&interface, &value, &ReadOptions::exact()).err();
        let error = error.ok_or_else(|| TestCaseError::fail("it was taken"))?;
        let told: Vec<&str> = error.problems.iter().map(|problem| problem.path.as_str()).collect();
        let expected = as_error(pointer);
        prop_assert_eq!(told, vec![expected.as_str()]);
    }
}

proptest! {
    // Few: the middleware complains of each on its own.
    #![proptest_config(cases(50))]

    #[test]
    fn damaged_bytes_are_a_message_or_an_error(
        interface in any_type(),
        mut rng in any_rng(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        cut in any::<Index>(),
    ) {
        let value = valid(interface.message_type(), &mut rng);
        let message = Message::from_json(&interface, &value, &ReadOptions::exact()).unwrap();
        let mut bytes = message.to_serialized().unwrap();
        // The first four say how the rest is written, and are those of the middleware.
        for (place, byte) in changes {
            let place = 4 + place.index((bytes.len() - 4).max(1));
            if let Some(old) = bytes.get_mut(place) {
                *old = byte;
            }
        }
        bytes.truncate(cut.index(2 * bytes.len()).max(4));
        if let Ok(message) = Message::from_serialized(&interface, &bytes) {
            // Whatever it is now, it can be shown and written.
            let _ = message.view().to_json(&WriteOptions::exact());
            let _ = message.to_serialized();
        }
    }
}

fn any_rng() -> impl Strategy<Value = TestRng> {
    any::<[u8; 32]>().prop_map(|seed| TestRng::from_seed(prop::test_runner::RngAlgorithm::ChaCha, &seed)).no_shrink()
}
