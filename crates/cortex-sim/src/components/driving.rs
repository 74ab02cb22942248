//! What drives is asked for in the same way, whether the wheels know the way or a navigation stack does.

use std::time::Duration;

use cortex_component::method::MethodBuilder;
use cortex_component::{Condition, Effect, Method, NoArguments, Source, Test, ToolPhase};
use serde::Deserialize;
use serde_json::json;

use super::has_power;
use crate::world::World;

/// Longest a drive may take.
const DRIVE_TIMEOUT: Duration = Duration::from_secs(120);
/// How long after a drive it may take until the robot is seen in the room.
const SEEN_WITHIN: Duration = Duration::from_secs(10);

/// Where to.
#[derive(Deserialize)]
pub(super) struct GoTo {
    pub(super) place: String,
}

/// A drive to a room, which has succeeded when that room is on `place_topic`.
pub(super) fn go_to(world: &World, place_topic: &str) -> MethodBuilder<GoTo> {
    let schema = json!({
        "type": "object",
        "properties": {"place": world.room_schema("The room to drive to.")},
        "required": ["place"],
        "additionalProperties": false,
    });
    Method::new("go_to", "Drives to a room of the home and returns when the robot has arrived there.")
        .parameters_schema::<GoTo>(schema)
        .effect(Effect::Move)
        .timeout(DRIVE_TIMEOUT)
        .cancelled_by("halt")
        .during(has_power())
        .after(Condition::that(Source::topic(place_topic, "data"), Test::Equal(json!("{place}"))), SEEN_WITHIN)
        .phrase("go to {place}")
        .phrase("drive to {place}")
        .phrase("move to {place}")
        .phrase("head to {place}")
        .phrase("come to {place}")
        .phrase("go into {place}")
}

/// A point of the map to drive to, in metres.
#[derive(Deserialize)]
pub(super) struct GoToPoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Metres from the origin of the map: no home is larger.
const FARTHEST_M: f64 = 1_000.0;

/// A drive to a point of the map.
pub(super) fn go_to_point() -> MethodBuilder<GoToPoint> {
    let metres = |axis: &str| {
        json!({"type": "number", "minimum": -FARTHEST_M, "maximum": FARTHEST_M,
               "description": format!("Along the {axis} axis of the frame map, in metres.")})
    };
    let schema = json!({
        "type": "object",
        "properties": {"x": metres("x"), "y": metres("y")},
        "required": ["x", "y"],
        "additionalProperties": false,
    });
    Method::new("go_to_point", "Drives to a point of the map and returns when the robot has arrived there.")
        .parameters_schema::<GoToPoint>(schema)
        .effect(Effect::Move)
        .timeout(DRIVE_TIMEOUT)
        .cancelled_by("halt")
        .during(has_power())
        .phrase("go to x {x} y {y}")
        .phrase("drive to x {x} y {y}")
}

/// Where the robot is.
pub(super) fn where_am_i() -> MethodBuilder<NoArguments> {
    Method::new("where_am_i", "Tells in which room the robot is, and its position in metres.")
        .phase(ToolPhase::Both)
        .effect(Effect::Observe)
        .phrase("where are you")
        .phrase("where am i")
        .phrase("where is the robot")
        .phrase("which room are you in")
}

/// The end of all driving.
pub(super) fn halt() -> MethodBuilder<NoArguments> {
    Method::new("halt", "Stops the robot where it is. Returns when it stands.")
        .effect(Effect::Act)
        .holds_nothing()
        .phrase("halt")
        .phrase("stop driving")
}
