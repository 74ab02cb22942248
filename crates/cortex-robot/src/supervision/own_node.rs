//! What the components of a recipe have of the node that brings them up: its time, and not its namespace.

use cortex_protocol::ComponentName;
use cortex_ros_client::{RosClock, RosNode};

use super::RobotRecipe;

impl RobotRecipe {
    /// The recipe for the node that brings the robot up: its components follow the time that this node follows. Its namespace
    /// is not theirs, and that is told.
    pub fn brought_up_by(mut self, node: &RosNode) -> Self {
        if matches!(node.clock(), RosClock::Simulated(_)) {
            self.recipe.follow_simulated_time();
        }
        let namespace = node.fully_qualified_name().rsplit_once('/').map_or("", |(namespace, _)| namespace);
        let outside: Vec<&str> = self.recipe.outside(namespace).map(ComponentName::as_str).collect();
        if let Some(first) = outside.first() {
            let below = namespace.trim_start_matches('/');
            tracing::warn!(
                "Cortex is in the namespace {namespace}, but these components are not, for they have the names that the \
                 recipe gives them: {}. Another robot of this recipe on the same network would collide with them. To move \
                 one, name it [components.\"{below}/{first}\"] and give it ros_arguments = [\"-r\", \"__ns:={namespace}\"]",
                outside.join(", ")
            );
        }
        self
    }
}
