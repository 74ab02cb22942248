//! Nothing that is allocated for a message outlives it, whether it was read or refused.
//!
//! Alone in its process, since all memory of the process is counted: that of Rust as well as that of the C libraries.

#![expect(clippy::indexing_slicing, reason = "the JSON is written right here")]

use cortex_interfaces::{Conventions, Interfaces, Message, ReadLimits, ReadOptions, Timestamp, WriteOptions};
use serde_json::{Value, json};

/// The smallest leak, once in each round, is more than the growth that is allowed for a block of rounds.
const ROUNDS: usize = 50;
const ALLOWED_GROWTH: usize = ROUNDS;
/// The allocator keeps some of what is freed, and more of it for a while; a leak would go on and on.
const BLOCKS: usize = 40;

/// Bytes that are allocated and not freed.
#[expect(unsafe_code, reason = "the C library counts what it has handed out")]
fn allocated() -> usize {
    // SAFETY: takes nothing, and returns a plain value.
    unsafe { libc::mallinfo2() }.uordblks
}

/// Messages that are taken, and such as are refused at every stage.
fn inputs() -> Vec<(&'static str, Value)> {
    let poses: Vec<Value> = (0..50).map(|index| json!({"header": {"frame_id": format!("frame {index}")}})).collect();
    let texts = json!({
        "string_values": ["a", "", "ハローワールド", "x".repeat(1000)],
        "defaults_values": [{}, {"int8_value": 1}],
        "string_values_default": ["replaced"],
        "uint8_values": {"base64": "AAAA".repeat(1000)},
        "float64_values": vec![0.5; 1000],
    });
    let mut broken = texts.clone();
    broken["string_values"][3] = json!(3);
    broken["basic_types_values"] = json!([{"int8_value": 300}, {"unknown": ["x"]}]);
    vec![
        ("nav_msgs/msg/Path", json!({"poses": poses})),
        ("nav_msgs/msg/Path", json!({"poses": [{"header": {"frame_id": "map", "stamp": 3}}, 5, {"pose": []}]})),
        ("test_msgs/msg/UnboundedSequences", texts.clone()),
        ("test_msgs/msg/UnboundedSequences", broken),
        ("test_msgs/msg/MultiNested", json!({"unbounded_sequence_of_unbounded_sequences": [texts, {}]})),
        ("test_msgs/msg/WStrings", json!({"wstring_value": "ö", "unbounded_sequence_of_wstrings": ["🤖", "", "\0"]})),
        ("test_msgs/msg/Arrays", json!({"string_values": ["a", "b", "c"], "int8_values": [1, 2]})),
        ("test_msgs/msg/BoundedSequences", json!({"string_values": ["a", "b", "c", "d"]})),
        ("test_msgs/msg/Strings", json!({"string_value": "x".repeat(100_000)})),
    ]
}

#[test]
fn what_is_allocated_for_a_message_is_freed_with_it() {
    let interfaces = Interfaces::from_environment();
    let inputs: Vec<_> = inputs()
        .into_iter()
        .map(|(name, value)| (interfaces.message(name).unwrap(), value.to_string(), value))
        .collect();
    let conventions = Conventions::default();
    let limits = ReadLimits { memory_bytes: 50_000, problems: 2, ..ReadLimits::default() };
    let all_options = [
        ReadOptions::exact(),
        ReadOptions { limits, ..ReadOptions::exact() },
        ReadOptions::friendly(&conventions, Timestamp { sec: 1, nanosec: 2 }),
    ];
    let (mut taken, mut refused) = (0, 0);
    let mut round = || {
        for (interface, text, value) in &inputs {
            for options in &all_options {
                let from_text = Message::from_json_str(interface, text, options);
                let from_tree = Message::from_json(interface, value, options);
                for message in [from_text, from_tree] {
                    let Ok(mut message) = message else {
                        refused += 1;
                        continue;
                    };
                    taken += 1;
                    let bytes = message.to_serialized().unwrap();
                    assert!(Message::from_serialized(interface, &bytes).is_ok());
                    assert!(Message::from_serialized(interface, &bytes[..bytes.len() / 2]).is_err());
                    message.view().write_json(std::io::sink(), &WriteOptions::friendly(&conventions)).unwrap();
                    // Filled again: what was in it is freed, too.
                    for (field, value) in value.as_object().unwrap() {
                        let _ = message.fill(field, value, options);
                    }
                }
            }
        }
    };
    let mut growth = Vec::new();
    for _ in 0..BLOCKS {
        let before = allocated();
        (0..ROUNDS).for_each(|_| round());
        growth.push(allocated().saturating_sub(before));
        // The first block fills what the allocator keeps.
        if growth.len() > 1 && growth.last().is_some_and(|bytes| *bytes < ALLOWED_GROWTH) {
            assert!(taken > 1000 && refused > 1000, "{taken} taken, {refused} refused");
            return;
        }
    }
    panic!("bytes that were not freed, for each {ROUNDS} rounds: {growth:?}");
}
