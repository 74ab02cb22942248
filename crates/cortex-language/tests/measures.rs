//! Numbers, units and shares, texts for somebody somewhere, and things that are handed over: each rule by a sentence.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use cortex_language::{Understanding, understand};

/// The calls that a text asks for, after a question mark where a person is asked first; an empty text where it is refused.
fn read(robot: &str, text: &str) -> String {
    let tools = corpus::tools(robot);
    match understand(&corpus::robot(&tools), text) {
        Understanding::Understood(parts) => corpus::shown(&parts, &tools),
        Understanding::Unsure { offers, .. } => {
            format!("? {}", offers.iter().map(|it| corpus::shown(it, &tools)).collect::<Vec<_>>().join(" OR "))
        }
        _ => String::new(),
    }
}

fn check(sentences: &[(&str, &str, &str)]) {
    for (robot, text, calls) in sentences {
        assert_eq!(read(robot, text), *calls, "{text}");
    }
}

#[test]
fn units_are_converted() {
    check(&[
        ("arm", "raise the arm by two inches", r#"arm-move_relative {"direction":"up","distance_cm":5.08}"#),
        ("arm", "move left half a foot", r#"arm-move_relative {"direction":"left","distance_cm":15.24}"#),
        ("arm", "120 mils in the red mug", r#"arm-pour {"amount_ml":120,"container":"red_mug"}"#),
        ("arm", "stir the bowl for 1 minute 30", r#"arm-stir {"container":"glass_bowl","duration_s":90}"#),
        ("lab", "incubator to 98.6 degrees fahrenheit", r#"incubator-set_temperature {"target_c":37.0}"#),
        ("lab", "centrifuge 12,000 rpm 10 min", r#"centrifuge-spin {"minutes":10,"speed_rpm":12000}"#),
        ("farm", "the pigs get a kilo and a half", r#"feeder-dispense {"animal":"pigs","kilograms":1.5}"#),
        ("warehouse", "limit the speed to 5 mph", r#"drive-set_speed_limit {"speed_kmh":8.04672}"#),
        // A gallon is not the same everywhere.
        ("farm", "5 gallons for the herbs", r#"? valves-dose {"litres":22.73045,"zone":"herbs"}"#),
    ]);
}

#[test]
fn a_share_is_one_of_all_that_there_is() {
    check(&[
        ("lab", "hood half open please", r#"hood-move_sash {"height_mm":250}"#),
        ("farm", "bay 3 vents, a quarter open", r#"vents-set {"bay":3,"open_percent":25}"#),
        ("farm", "blinds in bay 2 a quarter open", r#"blinds-set {"bay":2,"closed_percent":75}"#),
        ("arm", "bring the speed down to a quarter of the maximum", r#"arm-set_speed {"percent":25}"#),
        ("museum", "volume half", r#"audio-set_volume {"level":5}"#),
    ]);
}

#[test]
fn how_much_something_changes_is_not_what_it_is_set_to() {
    check(&[
        ("warehouse", "raise the forks to 10 cm", r#"fork-set_height {"height_mm":100.0}"#),
        ("warehouse", "raise the forks by 10 cm", ""),
        ("lab", "incubator 5 degrees warmer", ""),
        ("farm", "turn the heater down by 2 degrees", ""),
        ("hotel", "dim the display by 10 percent", ""),
    ]);
}

#[test]
fn a_number_belongs_to_what_is_measured_in_its_unit() {
    check(&[
        ("farm", "give the tomatoes 20 litres", r#"valves-dose {"litres":20.0,"zone":"tomatoes"}"#),
        ("farm", "the goats get 2 and a half kilos", r#"feeder-dispense {"animal":"goats","kilograms":2.5}"#),
        ("arm", "slow down to 10 %", r#"arm-set_speed {"percent":10}"#),
        ("lab", "incubator 28 deg", r#"incubator-set_temperature {"target_c":28.0}"#),
        ("lab", "shaker at 300 rpm", r#"shaker-start {"speed_rpm":300}"#),
        ("warehouse", "go no faster than 4 km/h", r#"drive-set_speed_limit {"speed_kmh":4.0}"#),
        ("warehouse", "two metres back", r#"drive-move {"distance_cm":-200.0}"#),
        ("warehouse", "get me C 7 top level", r#"rack-retrieve {"aisle":"c","bay":7,"level":4}"#),
    ]);
}

#[test]
fn a_text_has_the_shape_that_its_schema_demands() {
    let call = r#"pipette-transfer {"from_plate":"sample_plate","from_well":"A1","to_plate":"assay_plate","to_well":"B12","volume_ul":50.0}"#;
    check(&[
        ("lab", "transfer 50 ul from A1 of the sample plate into b12 of the assay plate", call),
        ("lab", "transfer 50 ul from sample plate A1 to assay plate B12", call),
        ("lab", "transfer 50 ul from sample plate A1 to assay plate B13", ""),
    ]);
}

#[test]
fn what_is_told_is_not_done() {
    check(&[
        ("farm", "yard gate open", r#"gates-set {"gate":"yard_gate","state":"open"}"#),
        ("farm", "the yard gate's open", ""),
        ("home", "the kitchen light's on", ""),
        ("lab", "the incubator's at 37 degrees", ""),
        ("arm", "the whisk's in the sink", ""),
        ("lab", "hood already closed", ""),
        ("lab", "the hood is closed", ""),
        // Nor is what is to be done later.
        ("farm", "water the herbs in ten minutes", ""),
        ("lab", "get the tip box from bench 1 to Emre", ""),
    ]);
}

#[test]
fn texts_are_said_where_they_are_to_be_heard() {
    let go = r#"base-go_to {"place":"kitchen"}"#;
    check(&[
        (
            "home",
            "tell everybody in the kitchen that dinner is ready",
            &format!(r#"{go} | speaker-say {{"text":"dinner is ready"}}"#),
        ),
        (
            "home",
            "go to the kitchen and tell the kitchen I am late",
            &format!(r#"{go} | speaker-say {{"text":"I am late"}}"#),
        ),
        (
            "museum",
            "announce in the shop that we close soon",
            r#"base-go_to {"place":"shop"} | speech-say {"text":"we close soon"}"#,
        ),
        (
            "hotel",
            "tell the guest in 301 that her taxi is here",
            r#"? base-go_to {"station":"room_301"} | voice-say {"text":"her taxi is here"}"#,
        ),
        // Nobody can tell where the robot is to go.
        ("home", "tell Tom to come to the kitchen", r#"? speaker-say {"text":"come to the kitchen"}"#),
        ("lab", "print two labels that say toxic", r#"label-print {"copies":2,"text":"toxic"}"#),
        ("hotel", "say 'hello' go to the bar", r#"voice-say {"text":"hello"} | base-go_to {"station":"bar"}"#),
    ]);
}

#[test]
fn what_is_handed_over_is_picked_up_and_held_out() {
    let calls = r#"arm-pick {"object":"whisk"} | arm-move_to_pose {"pose":"handover"}"#;
    check(&[
        ("arm", "hand me the whisk", calls),
        ("arm", "pass the whisk to Anna", calls),
        ("arm", "hand over the whisk", calls),
    ]);
}

#[test]
fn regression_a_minute_was_taken_for_a_courtesy() {
    check(&[
        ("arm", "stir the glass bowl for a minute", r#"arm-stir {"container":"glass_bowl","duration_s":60}"#),
        ("arm", "stir the glass bowl in a minute", ""),
        ("arm", "open the gripper in a sec", ""),
        ("home", "go to the kitchen in a bit", ""),
        ("home", "say \"back in a bit\"", r#"speaker-say {"text":"back in a bit"}"#),
    ]);
}
