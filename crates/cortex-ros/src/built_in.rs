//! The tools that Cortex itself has on every robot.

use cortex_protocol::ToolSpec;
use cortex_ros_client::graph::{Graph, GraphNode};

use crate::catalog::Catalog;
use crate::inspection;
use crate::policy::Policy;
use crate::tools::{parameter, topic};

/// Those that are of use on this robot, in a stable order.
pub(crate) fn tools(graph: &Graph, catalog: &Catalog, policy: &Policy) -> Vec<ToolSpec> {
    let inspect = inspection::tool(policy.shown(graph).map(GraphNode::short_name));
    inspect.into_iter().chain(topic::tool(catalog)).chain(parameter::tool(policy.shown(graph))).collect()
}
