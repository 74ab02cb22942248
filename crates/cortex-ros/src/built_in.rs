//! The tools that Cortex itself has on every robot.

use cortex_protocol::ToolSpec;

use crate::catalog::Catalog;
use crate::graph::{Graph, GraphNode};
use crate::inspection;

/// Those that are of use on this robot, in a stable order.
pub(crate) fn tools(graph: &Graph, _catalog: &Catalog) -> Vec<ToolSpec> {
    inspection::tool(graph.robot_nodes().map(GraphNode::short_name)).into_iter().collect()
}
