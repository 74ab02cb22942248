//! Whatever is said, the reader answers without a panic, and what it would do stems from what was said.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use std::time::{Duration, Instant};

use cortex_language::{Part, Robot, Understanding, understand};
use proptest::prelude::*;
use serde_json::Value;

fn home() -> (Vec<corpus::ToolEntry>, Robot) {
    let tools = corpus::tools("hotel");
    let robot = corpus::robot(&tools);
    (tools, robot)
}

/// The words of a value, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|next: char| !next.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Returns true if each word of a free text was said.
fn stems_from(task: &str, text: &str) -> bool {
    let said = words(task);
    words(text).iter().all(|word| said.contains(word))
}

/// Words that mean something to the reader, in any order.
fn sentence() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "go", "to", "the", "kitchen", "lobby", "room", "101", "say", "hello", "and", "then", ",", ".", "tell",
        "everyone", "that", "what", "is", "how", "full", "battery", "open", "close", "drawer", "drawers", "1", "two",
        "third", "all", "every", "except", "both", "twice", "again", "no", "wait", "sorry", "i", "mean", "before",
        "after", "once", "you", "are", "could", "would", "mind", "please", "it", "there", "back", "left", "right",
        "on", "off", "show", "\"", "'", "turn", "ninety", "degrees", "minus", "half", "a", "not", "if", "the", "light",
        "red", "?", "!", ":", "-", "🚫",
    ]);
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_words_are_read(task in sentence()) {
        let (tools, robot) = home();
        if let Understanding::Understood(parts) = understand(&robot, &task) {
            for part in &parts {
                let Part::Call { call, .. } = part else { continue };
                let schema = &tools[call.tool].parameters;
                for (name, value) in &call.arguments {
                    let property = &schema["properties"][name];
                    prop_assert!(!property.is_null(), "{task}: {name} is no parameter");
                    if let (Value::String(text), true) = (value, property["enum"].is_null()) {
                        prop_assert!(stems_from(&task, text), "{task}: {text}");
                    }
                    if let Some(values) = property["enum"].as_array() {
                        prop_assert!(values.contains(value), "{task}: {value}");
                    }
                }
                for needed in schema["required"].as_array().into_iter().flatten() {
                    prop_assert!(call.arguments.contains_key(needed.as_str().unwrap()), "{task}: {needed} is missing");
                }
            }
        }
    }

    #[test]
    fn any_text_is_read(task in "\\PC{0,120}") {
        let (_, robot) = home();
        let _ = understand(&robot, &task);
    }
}

/// Against hangs only.
const AT_MOST: Duration = Duration::from_secs(240);

#[test]
fn long_texts_are_read_in_time() {
    let (_, robot) = home();
    for text in [
        "say to everyone on the display ".repeat(120),
        "put hello on the display ".repeat(150),
        "open drawer 1 and ".repeat(40),
        "no, I mean ".repeat(150),
        "all every 1 to 2 to 3 ".repeat(120),
    ] {
        let begun = Instant::now();
        let _ = understand(&robot, &text);
        assert!(begun.elapsed() < AT_MOST, "{text:.40}: {:?}", begun.elapsed());
    }
}

#[test]
fn the_data_of_every_language_is_read() {
    let (_, robot) = home();
    let read = understand(&robot, "go to the lobby");
    assert!(matches!(&read, Understanding::Understood(parts) if parts.len() == 1), "{read:?}");
}
