//! Words and things: what a verb says by itself, what only may mean something, and by which names values are known.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use cortex_language::{Understanding, understand};

/// The calls that a text asks for, with a question mark before the first thing that is asked about.
fn read(robot: &str, text: &str) -> String {
    let tools = corpus::tools(robot);
    match understand(&corpus::robot(&tools), text) {
        Understanding::Understood(parts) => corpus::shown(&parts, &tools),
        Understanding::Unsure { offers, .. } => format!("? {}", corpus::shown(&offers[0], &tools)),
        _ => String::new(),
    }
}

fn all_are_read(cases: &[(&str, &str, &str)]) {
    for (robot, text, calls) in cases {
        assert_eq!(read(robot, text), *calls, "{robot}: {text}");
    }
}

#[test]
fn a_verb_says_a_value_or_a_place_by_itself() {
    all_are_read(&[
        ("hotel", "turn around", r#"base-turn {"angle_deg":180.0}"#),
        ("warehouse", "spin round and face the other way", r#"drive-turn {"angle_deg":180.0}"#),
        ("museum", "speak up", r#"audio-step_volume {"direction":"louder"}"#),
        ("arm", "blink yellow", r#"lamp-set {"blink":true,"color":"yellow"}"#),
        ("arm", "kill the light", r#"lamp-set {"color":"off"}"#),
        // Where nothing charges, one goes to the charger; where something does, it is called.
        ("lab", "go and charge yourself", r#"base-go_to {"place":"charging_dock"}"#),
        ("farm", "go home to your charger", r#"base-go_to {"place":"charging_dock"}"#),
        ("warehouse", "go and charge yourself", "battery-charge {}"),
    ]);
}

#[test]
fn what_only_may_be_meant_is_asked_about() {
    all_are_read(&[
        ("hotel", "go home", "? base-dock {}"),
        ("hotel", "give us a fanfare", r#"? voice-play_sound {"sound":"fanfare"}"#),
        ("farm", "enough", "? base-halt {}"),
    ]);
}

#[test]
fn what_a_tool_does_is_stopped_by_what_ends_it() {
    all_are_read(&[
        ("lab", "stop shaking", "shaker-stop {}"),
        ("lab", "enough shaking", "shaker-stop {}"),
        ("farm", "stop watering the lettuce", r#"valves-close {"zone":"lettuce"}"#),
    ]);
}

#[test]
fn descriptions_name_values() {
    all_are_read(&[
        // "Counted from the top", "1 is the lowest, 4 the top", "500 is fully open", "stow (folded up)".
        ("hotel", "open the bottom drawer", r#"drawers-open {"drawer":4}"#),
        (
            "hotel",
            "shut both the top and the bottom drawer",
            r#"drawers-close {"drawer":1} | drawers-close {"drawer":4}"#,
        ),
        ("lab", "open the hood completely", r#"hood-move_sash {"height_mm":500}"#),
        ("arm", "upright", r#"arm-move_to_pose {"pose":"home"}"#),
        ("warehouse", "turn the amber light off", r#"lights-switch {"light":"beacon","state":"off"}"#),
        // Forks that are fully up at 4500 are not there once they are raised.
        ("warehouse", "raise the forks", ""),
    ]);
}

#[test]
fn things_and_their_number_are_said_together() {
    all_are_read(&[
        ("hotel", "close all three drawers", ""),
        ("warehouse", "tines to 120 mm", r#"fork-set_height {"height_mm":120.0}"#),
        // Docks with numbers are no chargers.
        ("warehouse", "drive to the charger", r#"drive-go_to {"location":"charging_station"}"#),
        ("hotel", "get us the lift", "lift-call {}"),
    ]);
}
