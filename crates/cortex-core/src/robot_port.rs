//! The port through which people look at the robot itself: its maps, pictures and numbers, and its parameters.

use async_trait::async_trait;
use cortex_protocol::CommandError;
use cortex_protocol::robot_view::{NodeParameter, RobotSight, RobotSources};
use serde_json::Value;

/// The robot, for people who look at it. What is looked at is chosen by its topic; only what somebody looks at costs
/// anything.
#[async_trait]
pub trait RobotPort: Send + Sync + 'static {
    /// What there is to look at now.
    ///
    /// # Errors
    /// When it can't be had any more.
    async fn sources(&self) -> Result<RobotSources, CommandError>;

    /// Begins to look at a topic, or at one number of its messages; ends when what is returned is dropped. A topic that
    /// nobody publishes yet is waited for. What lies in a frame is given in `frame`, where the robot tells how the two
    /// lie to each other.
    fn watch(&self, topic: &str, field: Option<&str>, frame: Option<&str>) -> Box<dyn RobotSightStream>;

    /// The parameters of a node, by name.
    ///
    /// # Errors
    /// When there is no such node, or it does not answer.
    async fn parameters(&self, node: &str) -> Result<Vec<NodeParameter>, CommandError>;

    /// Sets a parameter of a node.
    ///
    /// # Errors
    /// When it was not set, with the node's own reason where it gave one.
    async fn set_parameter(&self, node: &str, name: &str, value: &Value) -> Result<(), CommandError>;
}

/// A topic that is looked at. Dropping it ends the look.
#[async_trait]
pub trait RobotSightStream: Send {
    /// What is seen next, not more often than a person can follow. A slow reader gets the latest only. None when nothing can
    /// be seen any more. Dropping the future loses nothing.
    async fn next(&mut self) -> Option<RobotSight>;
}
