//! The tools that Cortex itself has on every robot.

use cortex_protocol::ToolSpec;

use crate::catalog::Catalog;
use crate::graph::{Graph, GraphNode};
use crate::inspection;
use crate::tools::{parameter, topic};

/// Those that are of use on this robot, in a stable order.
pub(crate) fn tools(graph: &Graph, catalog: &Catalog) -> Vec<ToolSpec> {
    let inspect = inspection::tool(graph.robot_nodes().map(GraphNode::short_name));
    inspect.into_iter().chain(topic::tool(catalog)).chain(parameter::tool(graph)).collect()
}
