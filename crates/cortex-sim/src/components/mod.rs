//! The parts of the simulated robot.
//!
//! Each is a ROS 2 node that knows the others only by their topics: `odom` (base) and `battery_state` (battery).

mod base;
mod battery;
mod camera;
mod light;
mod place;
mod speaker;

use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use cortex_component::{Component, Parameter};

use crate::world::World;

/// A part of the robot, in the order in which the parts are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// Drives between the rooms.
    Base,
    /// Reports what is visible.
    Camera,
    /// Says things aloud.
    Speaker,
    /// Switches the lights of the rooms.
    Light,
    /// Feeds the robot.
    Battery,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 5] = [Self::Base, Self::Camera, Self::Speaker, Self::Light, Self::Battery];

    /// The name of its node.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Camera => "camera",
            Self::Speaker => "speaker",
            Self::Light => "light",
            Self::Battery => "battery",
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

const TIME_SCALE: &str = "time_scale";

fn time_scale(world: &World) -> Parameter {
    Parameter::double_within(TIME_SCALE, world.time_scale, 0.01..=1000.0).describe("Simulated seconds per real second.")
}
