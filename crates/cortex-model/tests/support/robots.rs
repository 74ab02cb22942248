//! Robots, as the reader gets to know them: by their tools.
#![allow(dead_code, reason = "each test uses its own robots")]

use cortex_core::ToolDefinition;
use cortex_protocol::ToolPhase;
use serde_json::{Value, json};

/// In which phase a tool may be called, as the core shows it in a definition.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Planning,
    Execution,
    /// A look that is always a step.
    LookAsStep,
    Both,
}

pub(crate) fn tool(name: &str, phase: Phase, description: &str, properties: Value, phrases: &[&str]) -> ToolDefinition {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    ToolDefinition {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        phase: match phase {
            Phase::Planning => ToolPhase::Planning,
            Phase::Execution | Phase::LookAsStep => ToolPhase::Execution,
            Phase::Both => ToolPhase::Both,
        },
        phrases: phrases.iter().map(|phrase| (*phrase).to_owned()).collect(),
        kind: match phase {
            Phase::Planning => cortex_core::ToolKind::LookAtOnce,
            Phase::Execution => cortex_core::ToolKind::Act,
            Phase::LookAsStep => cortex_core::ToolKind::LookAsStep,
            Phase::Both => cortex_core::ToolKind::Look,
        },
    }
}

pub(crate) fn home_robot() -> Vec<ToolDefinition> {
    let place = json!({"place": {"type": "string", "enum": ["kitchen", "living_room", "bedroom", "bathroom", "hallway", "charging_dock"]}});
    let text = json!({"text": {"type": "string", "maxLength": 500}});
    vec![
        tool("base-go_to", Phase::Execution, "Drives to a named place.", place, &["go to {place}", "drive to {place}"]),
        tool("base-stop", Phase::Execution, "Stops driving at once.", json!({}), &["stop"]),
        tool("base-where_am_i", Phase::Both, "Tells in which room the robot is.", json!({}), &["where are you"]),
        tool("battery-level", Phase::Planning, "How full the battery is.", json!({}), &["how full is the battery"]),
        tool(
            "camera-look",
            Phase::LookAsStep,
            "Looks at the surroundings and describes what is visible.",
            json!({}),
            &["look around"],
        ),
        tool("light-turn_off", Phase::Execution, "Turns the light off.", json!({}), &["turn off the light"]),
        tool("light-turn_on", Phase::Execution, "Turns the light on.", json!({}), &["turn on the light"]),
        tool("speaker-say", Phase::Execution, "Says a text aloud.", text, &["say {text}"]),
        tool(
            "inspect_component",
            Phase::Planning,
            "Tells what a component does, its parameters and its health.",
            json!({"component": {"type": "string"}}),
            &[],
        ),
        tool(
            "decline_task",
            Phase::Planning,
            "Say that the task can't be done.",
            json!({"reason": {"type": "string"}}),
            &[],
        ),
    ]
}

/// A robot of a hotel, whose only text that is not spoken is shown on its display.
pub(crate) fn hotel_robot() -> Vec<ToolDefinition> {
    let text = json!({"text": {"type": "string"}});
    let station = json!({"station": {"enum": ["lobby", "kitchen", "laundry"]}});
    let drawer = json!({"number": {"type": "integer", "minimum": 1, "maximum": 4}});
    let floor = json!({"floor": {"type": "integer", "minimum": 0, "maximum": 9}});
    vec![
        tool("cart-go_to", Phase::Execution, "Drives to a station.", station, &["go to {station}"]),
        tool("drawers-open", Phase::Execution, "Opens a drawer.", drawer, &["open drawer {number}"]),
        tool("lift-call", Phase::Execution, "Calls the lift to a floor.", floor, &["call the lift to floor {floor}"]),
        tool("display-show", Phase::Execution, "Shows a text on the display.", text.clone(), &["show {text}"]),
        tool("voice-announce", Phase::Execution, "Announces a text.", text, &["announce {text}"]),
        tool("scanner-scan", Phase::Both, "Scans what is in front of the robot.", json!({}), &["scan"]),
    ]
}

/// A robot without a single sentence pattern.
pub(crate) fn factory_robot() -> Vec<ToolDefinition> {
    vec![
        tool("arm-grasp", Phase::Execution, "Grasps an object.", json!({"object": {"type": "string"}}), &[]),
        tool(
            "conveyor-set_speed",
            Phase::Execution,
            "Sets the speed of the belt.",
            json!({"speed_mps": {"type": "number", "minimum": 0, "maximum": 2}}),
            &[],
        ),
        tool("gripper-close", Phase::Execution, "Closes the gripper.", json!({}), &[]),
        tool("gripper-open", Phase::Execution, "Opens the gripper.", json!({}), &[]),
        tool("lamp-set", Phase::Execution, "Switches the lamp on or off.", json!({"on": {"type": "boolean"}}), &[]),
        tool("send_request_to_reset_odometry", Phase::Execution, "Calls the service reset_odometry.", json!({}), &[]),
        tool(
            "turntable-rotate",
            Phase::Execution,
            "Rotates the table.",
            json!({"angle_deg": {"type": "number", "minimum": -180, "maximum": 180}}),
            &[],
        ),
        tool("belt-state", Phase::Planning, "The state of the conveyor belt: speed and load.", json!({}), &[]),
    ]
}

/// The home robot once more, as it is simulated: most of what it can tell is open to both phases, and a light may be
/// the light of a room.
pub(crate) fn house_robot() -> Vec<ToolDefinition> {
    let places = ["kitchen", "living_room", "bedroom", "bathroom", "hallway", "charging_dock"];
    let rooms = ["bathroom", "bedroom", "hallway", "kitchen", "living_room", "everywhere"];
    let place = json!({"place": {"type": "string", "enum": places, "description": "The room to drive to."}});
    let room = json!({"room": {"type": "string", "enum": rooms, "description": "The room of the light."}});
    let text = json!({"text": {"type": "string"}});
    let light = |name: &str, phase: Phase, description: &str, phrases: &[&str]| {
        let mut light = tool(name, phase, description, room.clone(), phrases);
        light.parameters["required"] = json!([]);
        light
    };
    let on = ["turn on the light", "turn the light on", "turn on the light in {room}", "turn on the {room} light"];
    let off = ["turn off the light", "turn the light off", "turn off the light in {room}", "turn off the {room} light"];
    let is_on = ["is the light on", "is the light off", "is the light on in {room}", "is the {room} light on"];
    vec![
        tool(
            "base-go_to",
            Phase::Execution,
            "Drives to a room of the home and returns when the robot has arrived there.",
            place,
            &["go to {place}", "come to {place}"],
        ),
        tool(
            "base-halt",
            Phase::Execution,
            "Stops the robot where it is. Returns when it stands.",
            json!({}),
            &["halt", "stop driving"],
        ),
        tool(
            "base-where_am_i",
            Phase::Both,
            "Tells in which room the robot is, and its position in metres.",
            json!({}),
            &["where are you", "which room are you in"],
        ),
        tool(
            "battery-level",
            Phase::Both,
            "Tells how full the battery is, in percent, and whether it is charging.",
            json!({}),
            &["how full is the battery", "battery level"],
        ),
        tool(
            "camera-look",
            Phase::Both,
            "Looks around and tells what is visible from where the robot is now.",
            json!({}),
            &["look around", "look", "what do you see"],
        ),
        light("light-is_on", Phase::Both, "Tells whether a light is on.", &is_on),
        light("light-turn_off", Phase::Execution, "Turns a light off.", &off),
        light("light-turn_on", Phase::Execution, "Turns a light on.", &on),
        tool(
            "speaker-quiet",
            Phase::Execution,
            "Stops speaking. Returns when it is quiet.",
            json!({}),
            &["be quiet", "stop talking"],
        ),
        tool("speaker-say", Phase::Execution, "Says a text aloud and returns when it was said.", text, &["say {text}"]),
        tool(
            "inspect_component",
            Phase::Planning,
            "Tells what a component does, its parameters and its health.",
            json!({"component": {"enum": ["base", "battery", "camera", "light", "speaker"]}}),
            &["inspect {component}"],
        ),
    ]
}
