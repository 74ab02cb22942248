//! Every sentence that the reader offers is typed, with a value in each place: it must plan the tool that it is offered
//! for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use cortex_core::ToolDefinition;
use reading::{Table, planned};
use robots::{Phase, factory_robot, home_robot, hotel_robot, house_robot, tool};
use serde_json::json;

#[path = "support/offers.rs"]
mod offers;
#[path = "support/reading.rs"]
mod reading;
#[path = "support/robots.rs"]
mod robots;

/// As Cortex itself brings them along.
fn own_tools() -> Vec<ToolDefinition> {
    let value = json!({
        "component": {"type": "string"}, "param_name": {"type": "string"},
        "new_value": {"type": ["boolean", "number", "string", "array"]},
    });
    let phrase = "set the parameter {param_name} of {component} to {new_value}";
    vec![
        tool(
            "update_parameter",
            Phase::Execution,
            "Changes a parameter of a component of the robot.",
            value,
            &[phrase],
        ),
        tool(
            "read_topic",
            Phase::Both,
            "Reads one message of a topic.",
            json!({"topic": {"type": "string"}}),
            &["read the topic {topic}"],
        ),
    ]
}

/// A robot that nobody has built: texts in the midst of sentences, verbs that mean anything, values of every kind.
fn made_up_robot() -> Vec<ToolDefinition> {
    let text = |name: &str| json!({name: {"type": "string"}});
    vec![
        tool("scanner-scan", Phase::Both, "Scans the tag in front of it.", json!({}), &["scan the tag"]),
        tool("arm-put", Phase::Execution, "Puts a thing somewhere.", text("thing"), &["put {thing} away"]),
        tool(
            "tank-vent",
            Phase::Execution,
            "Vents the tank.",
            json!({"valves": {"type": "array"}}),
            &["vent {valves}"],
        ),
        tool(
            "oven-heat",
            Phase::Execution,
            "Heats the oven.",
            json!({"celsius": {"type": "integer", "minimum": 30, "maximum": 250}, "fan": {"type": "boolean"}}),
            &["heat the oven to {celsius} with the fan {fan}"],
        ),
        tool(
            "crane-lift",
            Phase::Execution,
            "Lifts.",
            json!({"height_m": {"type": "number", "minimum": 0, "maximum": 3}}),
            &[],
        ),
    ]
}

#[tokio::test]
async fn every_offer_is_understood() {
    let mut table = Table::default();
    for (robot, fewest) in
        [(home_robot(), 7), (hotel_robot(), 4), (factory_robot(), 4), (house_robot(), 4), (made_up_robot(), 4)]
    {
        let tools: Vec<ToolDefinition> = robot.into_iter().chain(own_tools()).collect();
        let typed = offers::type_each(&tools, &mut table).await;
        let said = planned("xyzzy plugh", tools.clone()).await;
        assert!(typed >= fewest, "{typed} of {} tools are offered: {said}", tools.len());
    }
    table.check();
}

#[tokio::test]
async fn what_can_not_be_said_is_not_offered() {
    let said = planned("xyzzy plugh", made_up_robot()).await;
    assert!(!said.contains("vent"), "{said}");
    assert!(said.contains("put THING away"), "{said}");
}

#[tokio::test]
async fn parameters_are_set_by_the_sentence_that_is_offered() {
    let mut table = Table::default();
    let tools = || home_robot().into_iter().chain(own_tools()).collect::<Vec<_>>();
    for (task, expected) in [
        (
            "set the parameter speed_mps of base to 0.5",
            r#"update_parameter {"component":"base","new_value":0.5,"param_name":"speed_mps"}"#,
        ),
        (
            "Please set the parameter camera.frameRate of the left/camera to 30.",
            r#"update_parameter {"component":"left/camera","new_value":30,"param_name":"camera.frameRate"}"#,
        ),
        (
            "set the parameter time_of_day of light to on",
            r#"update_parameter {"component":"light","new_value":true,"param_name":"time_of_day"}"#,
        ),
        (
            "set the parameter mode of base to slow",
            r#"update_parameter {"component":"base","new_value":"slow","param_name":"mode"}"#,
        ),
        (
            "set the parameter greeting of speaker to \"good day\"",
            r#"update_parameter {"component":"speaker","new_value":"good day","param_name":"greeting"}"#,
        ),
        (
            "look around and set the parameter speed of base to -1.0",
            r#"camera-look | update_parameter {"component":"base","new_value":-1.0,"param_name":"speed"}"#,
        ),
    ] {
        table.row(task, &planned(task, tools()).await, expected);
    }
    for (task, says) in [
        ("set the parameter speed_mps of base to 3 meters", "in the unit that the tool takes"),
        ("set the parameter greeting of speaker to good day", "quotation marks"),
        ("set the parameter speed_mps of base", "new value"),
        ("do not set the parameter speed_mps of base to 1", "not"),
        ("set the parameter speed of base to 1 if it rains", "if"),
    ] {
        table.refused(task, &planned(task, tools()).await, says);
    }
    table.check();
}
