//! What can go wrong between Cortex and the robot.

use cortex_protocol::words::did_you_mean;
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::parameters::ParameterError;
use thiserror::Error;

/// An error of the adapter.
#[derive(Debug, Error)]
pub enum AdapterError {
    /// The robot is stopped.
    #[error("the robot is stopped; nothing is sent until ~/resume is called")]
    Stopped,
    /// No node of the robot has this name.
    #[error("there is no node '{name}'{}; there are: {}", did_you_mean(.name, .known.iter().map(String::as_str)), listed(.known))]
    UnknownNode {
        /// The name asked for.
        name: String,
        /// The names that are known, in order.
        known: Vec<String>,
    },
    /// A task was refused by the agent without a reason. It does so only when the goal's id was used before.
    #[error("{agent} refused the task")]
    Refused {
        /// The agent's node.
        agent: String,
    },
    /// The agent was there and is gone.
    #[error("{agent} has left the ROS graph before it sent a result; whether the task goes on is not known")]
    Vanished {
        /// The agent's node.
        agent: String,
    },
    /// A parameter was not set.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// ROS refuses.
    #[error(transparent)]
    Ros(#[from] RosError),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
