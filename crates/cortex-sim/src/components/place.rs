//! Where the robot is, in words, and as the parts without wheels learn it: from the odometry.

use std::sync::Arc;

use cortex_component::messages::nav_msgs::msg::Odometry;
use cortex_component::{ComponentContext, Failure, Latest, QosProfile, Slot};
use serde_json::{Value, json};

use super::geometry::{pose, position};
use super::{FIRST_MESSAGE_PATIENCE, ODOMETRY_TOPIC, SILENCE};
use crate::pursuit::Pose;
use crate::world::{Position, Room, World};

/// The robot is in a room when it is this near to its middle, in metres; else it is on the way.
const IN_ROOM_M: f64 = 0.5;

/// The room that a place is in. Empty between rooms.
pub(super) fn room_at(world: &World, here: Position) -> String {
    let room = world.nearest(here).filter(|room| room.position().distance_m(here) <= IN_ROOM_M);
    room.map(|room| room.name.clone()).unwrap_or_default()
}

/// Where the robot is, as a method tells it.
pub(super) fn where_at(world: &World, here: Position) -> Result<Value, Failure> {
    let room = world.nearest(here).ok_or("the world has no rooms")?;
    let round = |metres: f64| (metres * 100.0).round() / 100.0;
    Ok(json!({
        "place": room.name,
        "x": round(here.x_m),
        "y": round(here.y_m),
        "text": format!("I am in the {}.", room.name),
    }))
}

/// Finds the room in which the robot is.
#[derive(Clone)]
pub(super) struct PlaceFinder {
    world: Arc<World>,
    odometry: Slot<Latest<Odometry>>,
}

impl PlaceFinder {
    pub(super) fn new(world: Arc<World>) -> Self {
        Self { world, odometry: Slot::default() }
    }

    pub(super) async fn configure(&self, context: &ComponentContext) -> Result<(), Failure> {
        self.odometry.put(context.latest(ODOMETRY_TOPIC, QosProfile::default()).await?);
        Ok(())
    }

    /// The room whose middle is nearest to the robot, if the odometry tells of it now.
    pub(super) fn room_now(&self) -> Option<Room> {
        let odometry = self.odometry.get().ok()?.fresh(SILENCE)?;
        self.world.nearest(position(&odometry)).cloned()
    }

    /// Where the robot is and where it looks, if the odometry tells of it now.
    pub(super) fn pose_now(&self) -> Option<Pose> {
        pose(&self.odometry.get().ok()?.fresh(SILENCE)?.pose.pose)
    }

    /// The room whose middle is nearest to the robot.
    pub(super) async fn room(&self) -> Result<Room, Failure> {
        let odometry = self.odometry.get()?.within(SILENCE, FIRST_MESSAGE_PATIENCE).await;
        let odometry = odometry.ok_or_else(|| {
            Failure::Reason(format!(
                "no odometry for more than {} s, so it is not known where the robot is; is the base running?",
                SILENCE.as_secs()
            ))
        })?;
        let room = self.world.nearest(position(&odometry)).cloned();
        room.ok_or_else(|| "the world has no rooms".into())
    }
}
