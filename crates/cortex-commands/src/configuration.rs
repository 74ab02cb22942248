//! The configuration, for commands that carry nothing out.

use std::path::Path;

use cortex_config::{self as config, Layers, Resolved, Sources};
use cortex_parameters::node_parameters;
use cortex_ros::Policy;
use cortex_ros_client::RosNode;

/// Reads the configuration.
pub(crate) fn resolve(
    node: &RosNode,
    file: Option<&Path>,
    recipe: serde_json::Map<String, serde_json::Value>,
    model: Option<String>,
) -> anyhow::Result<Resolved> {
    Sources::new(node_parameters(node), file, recipe, Vec::new(), model, true)?.resolve()
}

/// What the configuration says of the robot, for commands that look at it.
pub(crate) fn policy(node: &RosNode, file: Option<&Path>) -> anyhow::Result<Policy> {
    let ros = node_parameters(node);
    Ok(config::load(&Layers { file: config::file(file), ros, ..Layers::default() })?.policy)
}
