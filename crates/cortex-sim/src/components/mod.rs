//! The parts of the simulated robot.
//!
//! Each is a ROS 2 node that knows the others only by topics and services of standard types: `odom` (base), `battery_state`
//! (battery), `camera/scene`, and those of the navigation stack: `map`, `pose`, `planner/get_plan`, `plan`, `cmd_vel`.

mod base;
mod battery;
mod camera;
mod controller;
mod driving;
mod geometry;
mod light;
mod localization;
mod map_server;
mod navigator;
mod place;
mod planner;
mod speaker;
mod vision;

use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use cortex_component::{Component, Condition, Parameter, Source, Test};
use serde_json::json;

use crate::world::World;

/// A part of the robot, in the order in which the parts are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// Drives between the rooms, or as a navigation stack commands.
    Base,
    /// Reports what is visible.
    Camera,
    /// Says things aloud.
    Speaker,
    /// Switches the lights of the rooms.
    Light,
    /// Feeds the robot.
    Battery,
    /// Answers questions about what the camera sees.
    Vision,
    /// Tells of the map.
    #[value(name = "map_server")]
    MapServer,
    /// Tells where the robot is on the map.
    Localization,
    /// Plans paths.
    Planner,
    /// Follows paths by velocity commands.
    Controller,
    /// Goes to places, by the four before.
    Navigator,
}

impl Part {
    /// The parts of the robot that is started as a whole.
    pub const HOME: [Self; 5] = [Self::Base, Self::Camera, Self::Speaker, Self::Light, Self::Battery];

    /// Every part. Those that are not of [`Part::HOME`] are started one by one, as recipes do.
    pub const ALL: [Self; 11] = [
        Self::Base,
        Self::Camera,
        Self::Speaker,
        Self::Light,
        Self::Battery,
        Self::Vision,
        Self::MapServer,
        Self::Localization,
        Self::Planner,
        Self::Controller,
        Self::Navigator,
    ];

    /// The name of its node.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Camera => "camera",
            Self::Speaker => "speaker",
            Self::Light => "light",
            Self::Battery => "battery",
            Self::Vision => "vision",
            Self::MapServer => "map_server",
            Self::Localization => "localization",
            Self::Planner => "planner",
            Self::Controller => "controller",
            Self::Navigator => "navigator",
        }
    }

    /// The part as a component.
    #[must_use]
    pub fn component(self, world: Arc<World>) -> Component {
        match self {
            Self::Base => base::component(world),
            Self::Camera => camera::component(world),
            Self::Speaker => speaker::component(&world),
            Self::Light => light::component(world),
            Self::Battery => battery::component(world),
            Self::Vision => vision::component(&world),
            Self::MapServer => map_server::component(world),
            Self::Localization => localization::component(world),
            Self::Planner => planner::component(world),
            Self::Controller => controller::component(world),
            Self::Navigator => navigator::component(world),
        }
    }
}

/// How old the last message of a topic may be before it counts as silent.
const SILENCE: Duration = Duration::from_secs(2);
/// How long a call waits for the first message of a topic: discovery at start takes some tenths of a second.
const FIRST_MESSAGE_PATIENCE: Duration = Duration::from_secs(2);

/// The topic with the robot's odometry.
const ODOMETRY_TOPIC: &str = "odom";
/// The topic with the battery's state.
const BATTERY_TOPIC: &str = "battery_state";
/// The topic with what the camera sees: a [`Scene`](crate::questions::Scene) as JSON.
const SCENE_TOPIC: &str = "camera/scene";
/// The topic on which people say what they have moved: a JSON object of things and rooms.
const MOVED_TOPIC: &str = "home/moved";
/// The topic with the map.
const MAP_TOPIC: &str = "map";
/// The topic with the robot's pose on the map.
const POSE_TOPIC: &str = "pose";
/// The topic with the path that is followed. One that is empty, or not published any more, is not.
const PLAN_TOPIC: &str = "plan";
/// The topic with the velocities that the base obeys.
const COMMAND_TOPIC: &str = "cmd_vel";

const TIME_SCALE: &str = "time_scale";

fn time_scale(world: &World) -> Parameter {
    Parameter::double_within(TIME_SCALE, world.time_scale, 0.01..=1000.0).describe("Simulated seconds per real second.")
}

/// How long what the battery said counts for a drive. It speaks twice a second, and drains in an hour.
const BATTERY_HOLDS: Duration = Duration::from_secs(10);

const REQUIRE_BATTERY: &str = "require_battery";

/// That the battery is not empty, unless the component drives without one.
fn has_power() -> Condition {
    let is_not_empty = Condition::that(Source::topic(BATTERY_TOPIC, "percentage"), Test::Greater(json!(0)));
    let needs_none = Condition::that(Source::parameter(format!("~/{REQUIRE_BATTERY}")), Test::Equal(json!(false)));
    Condition::Or(vec![is_not_empty.seen_within(BATTERY_HOLDS), needs_none.seen_within(BATTERY_HOLDS)])
}
