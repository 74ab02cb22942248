//! Where the robot is, as the parts without wheels learn it: from the odometry.

use std::sync::Arc;

use cortex_component::r2r::QosProfile;
use cortex_component::r2r::nav_msgs::msg::Odometry;
use cortex_component::{ComponentContext, Failure, Latest, Slot};

use super::{FIRST_MESSAGE_PATIENCE, ODOMETRY_TOPIC, SILENCE};
use crate::world::{Position, Room, World};

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

/// Where the odometry says that the robot is. In the simulation the frames `odom` and `map` coincide.
pub(super) fn position(odometry: &Odometry) -> Position {
    let point = &odometry.pose.pose.position;
    Position { x_m: point.x, y_m: point.y }
}
