//! Conditions that the robot can check: how they are read, and what an answer says of them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use cortex_language::{Condition, Part, Understanding, understand};
use serde_json::{Value, json};

/// What is done, in one line; empty if nothing is done at once.
fn read(robot: &str, text: &str) -> String {
    let tools = corpus::tools(robot);
    match understand(&corpus::robot(&tools), text) {
        Understanding::Understood(parts) => corpus::shown(&parts, &tools),
        _ => String::new(),
    }
}

/// The condition of a text that begins with one.
fn condition(robot: &str, text: &str) -> Condition {
    match understand(&corpus::robot(&corpus::tools(robot)), text) {
        Understanding::Understood(parts) => only(text, &parts),
        Understanding::Unsure { offers, .. } if offers.len() == 1 => only(text, &offers[0]),
        other => panic!("{text}: {other:?}"),
    }
}

fn only(text: &str, parts: &[Part]) -> Condition {
    match parts {
        [Part::If { condition, .. }] => condition.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

fn holds(robot: &str, text: &str, answers: &[(Value, Option<bool>)]) {
    let condition = condition(robot, text);
    for (answer, expected) in answers {
        assert_eq!(condition.holds(answer), *expected, "{text}: {answer}");
    }
}

#[test]
fn a_condition_is_found_wherever_it_stands() {
    let checked = |clause: &str| {
        format!(
            r#"if "{clause}" [light-is_on {{"room":"kitchen"}}] then [light-turn_off {{"room":"kitchen"}}] else []"#
        )
    };
    for (text, clause) in [
        ("if the kitchen light is on, turn it off", "the kitchen light is on"),
        ("If the light in the kitchen is on then turn it off please.", "the light in the kitchen is on"),
        ("turn off the kitchen light if it is on", "it is on"),
        ("in case the kitchen light's on turn it off", "the kitchen light's on"),
        ("Is the kitchen light on? If so, turn it off.", "Is the kitchen light on"),
        ("see if the kitchen light is on, and if it is, turn it off", "the kitchen light is on"),
        ("should the kitchen light still be on, turn it off", "the kitchen light still be on"),
        ("only if the kitchen light is on, turn it off", "the kitchen light is on"),
        ("unless the kitchen light is off, turn it off", "the kitchen light is off"),
        ("wenn das Licht in der Küche an ist, mach es aus", "das Licht in der Küche an ist"),
        ("falls das Licht in der Küche noch an ist, schalte es aus", "das Licht in der Küche noch an ist"),
        ("Ist das Licht in der Küche an? Wenn ja, schalte es aus.", "Ist das Licht in der Küche an"),
    ] {
        assert_eq!(read("home", text), checked(clause), "{text}");
    }
}

#[test]
fn what_may_be_a_time_is_no_condition() {
    assert_eq!(read("home", "wenn du in der Küche bist, fahr in den Flur"), "");
    assert_eq!(
        read("home", "falls du in der Küche bist, fahr in den Flur"),
        r#"if "du in der Küche bist" [base-where_am_i {}] then [base-go_to {"place":"hallway"}] else []"#
    );
}

#[test]
fn what_is_looked_for_without_naming_the_tool_is_asked_about() {
    assert_eq!(read("arm", "if you see the red mug, open the gripper"), "");
    let found = condition("arm", "if you see the red mug, open the gripper");
    assert_eq!(found.look.arguments["object"], "red_mug");
}

#[test]
fn what_comes_before_and_otherwise_is_kept_apart() {
    assert_eq!(
        read("home", "go to the kitchen, and if the light is on turn it off, otherwise say good night"),
        r#"base-go_to {"place":"kitchen"} | if "the light is on" [light-is_on {}] then [light-turn_off {}] else [speaker-say {"text":"good night"}]"#
    );
    assert_eq!(
        read("home", "if the kitchen light is on, turn it off. Go to the office."),
        r#"if "the kitchen light is on" [light-is_on {"room":"kitchen"}] then [light-turn_off {"room":"kitchen"}] else [] | base-go_to {"place":"office"}"#
    );
}

#[test]
fn what_may_depend_on_a_condition_or_not_is_not_done_at_once() {
    for text in [
        "say hello and go to the office if the kitchen light is on",
        "go to the office if the kitchen light is on and say hello",
        "say hello, if the kitchen light is on, go to the office",
        "say come here if the kitchen light is on",
        "if the kitchen light is on, turn it off. Then go to the office.",
        "if the kitchen light is on turn it off, and if the kitchen light is off turn it on",
        "if the kitchen light is on, turn it off, no, the bedroom light",
    ] {
        assert_eq!(read("home", text), "", "{text}");
    }
}

#[test]
fn what_no_tool_can_check_is_not_done() {
    for (robot, text) in [
        ("home", "when it is dark, turn the kitchen light on"),
        ("home", "if it is dark, turn the kitchen light on"),
        ("home", "if Ada comes, turn the kitchen light on"),
        ("home", "if you see Ada, say hello"),
        ("home", "if the kitchen light was on, turn it off"),
        ("home", "if the kitchen light has been on for ten minutes, turn it off"),
        ("home", "if the kitchen light will be on, turn it off"),
        ("home", "if the kitchen light gets turned on, turn it off"),
        ("home", "if you turn the kitchen light on, go to the office"),
        ("home", "if I am in the kitchen, go to the office"),
        ("home", "if the kitchen light or the bedroom light is on, say hello"),
        ("home", "if the kitchen light and the bedroom light are on, say hello"),
        ("home", "if none of the lights is on, say hello"),
        ("home", "if the lights are on, say hello"),
        ("home", "if the battery is low, go to the office"),
        ("home", "if the battery is full enough, go to the office"),
        ("home", "if the kitchen is cold, go to the office"),
        ("home", "if the battery is below 20 degrees, go to the office"),
        ("home", "if the kitchen light is on, do not turn it off"),
        ("home", "if the kitchen light is on"),
        ("farm", "if it rains, close all valves"),
        ("farm", "once the sheep gate is open, sound the siren"),
        ("farm", "whenever the sheep gate is open, sound the siren"),
        ("farm", "if the gate is open, sound the siren"),
        ("lab", "if the incubator is broken, say help"),
        ("lab", "as long as the uv lamp is on, say warning"),
        ("warehouse", "if a truck comes to dock 1, honk"),
        ("warehouse", "if there was a lorry at dock 1, honk"),
    ] {
        assert_eq!(read(robot, text), "", "{text}");
    }
}

#[test]
fn a_state_is_told_by_fields_and_sentences() {
    holds(
        "home",
        "if the kitchen light is on, turn it off",
        &[
            (json!({"on": ["kitchen"], "off": [], "text": "The light in the kitchen is on."}), Some(true)),
            (json!({"on": [], "off": ["kitchen"], "text": "The light in the kitchen is off."}), Some(false)),
            (json!(true), Some(true)),
            (json!({"on": false}), Some(false)),
            (json!("The light on the wall of the kitchen is off."), Some(false)),
            (json!("The light is not on."), Some(false)),
            (json!({"state": "on"}), Some(true)),
            (json!("off"), Some(false)),
            (json!({"on": ["kitchen"], "off": ["bedroom"]}), None),
            (json!({"on": true, "text": "The light is off."}), None),
            (json!("The light was on."), None),
            (json!("The light is on or off."), None),
            (json!("The light is on the ceiling."), Some(true)),
            (json!("I see no light."), None),
            (json!({"ok": true}), None),
            (json!(1), None),
            (json!(null), None),
            (json!({}), None),
        ],
    );
    holds(
        "hotel",
        "if drawer 2 isn't open, open it",
        &[
            (json!("open"), Some(false)),
            (json!("closed"), Some(true)),
            (json!({"drawer_2": "shut"}), Some(true)),
            (json!({"1": "open", "2": "closed"}), None),
            // Nothing says what a bare yes would mean.
            (json!(true), None),
        ],
    );
}

#[test]
fn a_number_is_compared_in_its_unit() {
    holds(
        "home",
        "if the battery is below 20 percent, go to the office",
        &[
            (json!({"percent": 19.9, "charging": false, "text": "The battery is 20 percent full."}), Some(true)),
            (json!({"percent": 20.0, "charging": true}), Some(false)),
            (json!(12), Some(true)),
            (json!("The battery is 45 percent full."), Some(false)),
            (json!({"level": 0.82}), None),
            (json!({"percentage": 0.82}), Some(false)),
            (json!({"voltage_v": 11.0}), None),
            (json!({"level": 12, "other": 80}), Some(true)),
            (json!({"one": 12, "other": 80}), None),
            (json!({"one": 12}), None),
            (json!({"value": 12}), Some(true)),
            (json!("The battery is about 10 percent full."), None),
            (json!("full"), None),
            (json!(null), None),
        ],
    );
    holds(
        "warehouse",
        "should the load weigh at least 0.9 tonnes, honk",
        &[
            (json!(900), Some(true)),
            (json!({"weight_kg": 899.0}), Some(false)),
            (json!({"weight_g": 950_000}), Some(true)),
            (json!("The load weighs 1 tonne."), Some(true)),
        ],
    );
    holds(
        "lab",
        "if the incubator isn't warmer than 37, say hello",
        &[(json!({"temperature_c": 37.5}), Some(false)), (json!(37.0), Some(true)), (json!("37 °C"), Some(true))],
    );
}

#[test]
fn a_place_is_the_one_that_is_named_and_no_other() {
    holds(
        "home",
        "if you are in the kitchen, say hello",
        &[
            (json!({"place": "kitchen", "x": 1.0, "y": 2.0, "text": "I am in the kitchen."}), Some(true)),
            (json!({"place": "living room", "text": "I am in the living room."}), Some(false)),
            (json!("kitchen"), Some(true)),
            (json!("I am near the kitchen."), None),
            (json!("I am between the kitchen and the hallway."), None),
            (json!("I am not in the kitchen."), None),
            (json!("I am in the garden."), None),
            (json!({"place": "office", "goal": "kitchen"}), None),
        ],
    );
}

#[test]
fn something_is_there_if_the_answer_says_so() {
    holds(
        "warehouse",
        "if there is a lorry at dock 1, honk",
        &[
            (json!(true), Some(true)),
            (json!({"present": false}), Some(false)),
            (json!("no"), Some(false)),
            (json!({"charging": true}), None),
            (json!("The dock is closed."), None),
        ],
    );
    holds(
        "warehouse",
        "honk unless you see a person",
        &[(json!(0), Some(true)), (json!({"count": 2}), Some(false)), (json!("somebody"), None)],
    );
    holds(
        "home",
        "if you see a cup, say hello",
        &[
            (json!({"place": "kitchen", "sees": ["a table", "a red cup"], "text": "I see a red cup."}), Some(true)),
            (json!({"sees": ["a table"], "text": "I see a table."}), Some(false)),
            (json!({"sees": ["no cup"]}), None),
            (json!("I see a cup."), Some(true)),
            (json!("I see a table."), None),
        ],
    );
    // Somebody may be seen without being named so.
    holds(
        "home",
        "if you don't see anybody, say hello",
        &[(json!({"sees": []}), Some(true)), (json!({"sees": ["a woman", "a table"]}), None)],
    );
}
