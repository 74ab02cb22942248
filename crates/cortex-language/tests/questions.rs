//! What is asked is answered by what tells of it, and by nothing else.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use cortex_language::{Understanding, understand};

/// What is done with a sentence, in words.
fn said(robot: &str, text: &str) -> String {
    let tools = corpus::tools(robot);
    match understand(&corpus::robot(&tools), text) {
        Understanding::Understood(parts) => corpus::shown(&parts, &tools),
        Understanding::Unsure { offers, .. } => {
            format!("? {}", offers.iter().map(|offer| corpus::shown(offer, &tools)).collect::<Vec<_>>().join(" OR "))
        }
        _ => "refused".to_owned(),
    }
}

#[test]
fn a_question_is_answered_by_what_tells_of_what_is_asked() {
    assert_eq!(said("farm", "are the peppers thirsty?"), r#"soil-moisture {"zone":"peppers"}"#);
    assert_eq!(said("farm", "is it chilly in the barn?"), r#"climate-temperature {"location":"barn"}"#);
    assert_eq!(said("lab", "whereabouts are you?"), "base-get_place {}");
    assert_eq!(said("museum", "are you plugged in?"), "power-get_battery {}");
    assert_eq!(said("home", "can you see my glasses from where you are?"), "camera-look {}");
}

#[test]
fn what_no_tool_tells_of_is_not_answered() {
    assert_eq!(said("farm", "what colour is the sheep gate?"), "refused");
    assert_eq!(said("lab", "who cleaned the incubator?"), "refused");
    assert_eq!(said("home", "how warm is it in the bathroom?"), "refused");
    assert_eq!(said("museum", "when does the gate open?"), "refused");
}

#[test]
fn a_question_about_several_things_looks_at_each() {
    let both = r#"climate-temperature {"location":"greenhouse"} | climate-temperature {"location":"barn"}"#;
    assert_eq!(said("farm", "is it warmer in the greenhouse than in the barn?"), both);
    assert_eq!(said("home", "are any lights still burning in the house?"), r#"light-is_on {"room":"everywhere"}"#);
    let gates = ["main", "yard", "sheep"].map(|gate| format!(r#"gates-state {{"gate":"{gate}_gate"}}"#)).join(" | ");
    assert_eq!(said("farm", "which gates are open?"), gates);
    assert!(said("warehouse", "is there a lorry at the dock?").starts_with("? "), "nobody says at which");
}

#[test]
fn what_is_told_around_a_question_changes_nothing() {
    assert_eq!(said("warehouse", "I've lost you, whereabouts are you?"), "drive-where_am_i {}");
    assert_eq!(said("home", "my daughter would like to know how much charge you have left"), "battery-level {}");
}

#[test]
fn orders_and_conditions_are_no_questions() {
    for text in ["is the gate open? if so, close it", "see if the gate is open and close it if it is"] {
        assert!(!said("museum", text).starts_with("gate-get_state"), "{text}");
    }
    assert!(!said("arm", "If you can see the sponge, pick it up.").starts_with("camera"));
}

#[test]
fn to_go_somewhere_for_an_answer_is_asked_about() {
    let offer = r#"? base-go_to {"place":"cold_room"} | camera-look_for {"item":"person"}"#;
    assert_eq!(said("lab", "is anyone in the cold room?"), offer);
}
