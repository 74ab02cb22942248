//! The robot as this process sees it: its own node, the graph, and what the components can do.

use std::time::Duration;

use anyhow::Context as _;
use cortex_ros::{Discovery, GraphWatch, Policy, RosNode, RosTools};
use figment::value::Value;

/// A process's place on the robot's graph.
#[derive(Clone)]
pub(crate) struct Robot {
    pub(crate) node: RosNode,
    pub(crate) graph: GraphWatch,
    pub(crate) discovery: Discovery,
    pub(crate) tools: RosTools,
}

impl Robot {
    /// Joins the graph under this node name; remaps apply.
    pub(crate) fn join(name: &str) -> anyhow::Result<Self> {
        let node = RosNode::start(name, "").context(
            "the ROS node could not be started; source a ROS 2 first, or use `cargo xtask env` in this repository",
        )?;
        let graph = GraphWatch::start(node.fully_qualified_name())?;
        let discovery = Discovery::start(&node, &graph, Policy::default());
        let tools = RosTools::new(&node, &graph, &discovery);
        Ok(Self { node, graph, discovery, tools })
    }

    /// Joins for a look at the robot, without a name of its own on it, and waits until the picture is complete.
    pub(crate) async fn visit() -> anyhow::Result<Self> {
        /// Longest wait for slow components.
        const LIMIT: Duration = Duration::from_secs(8);
        let robot = Self::join(&format!("_cortex_cli_{}", std::process::id()))?;
        if !robot.discovery.settled(LIMIT).await {
            eprintln!("cortex: some components have not described themselves within {} s", LIMIT.as_secs());
        }
        Ok(robot)
    }

    /// The node's ROS parameters as a layer of the configuration. `use_sim_time` and the like belong to ROS.
    pub(crate) fn parameters(&self) -> Vec<(String, Value)> {
        self.node
            .parameters()
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "use_sim_time" | "start_type_description_service"))
            .filter_map(|(name, value)| {
                Value::serialize(cortex_ros::parameters::value_as_json(value)).ok().map(|value| (name.clone(), value))
            })
            .collect()
    }

    /// Leaves the graph: ends discovery, then the ROS threads.
    pub(crate) async fn leave(self) {
        self.discovery.shut_down().await;
        end_ros(self.node, self.graph).await;
        self.tools.shut_down().await;
    }
}

/// Ends the ROS threads of this process. It must not return from `main` before: the middleware crashes in its exit
/// handlers otherwise.
pub(crate) async fn end_ros(node: RosNode, graph: GraphWatch) {
    // Joining threads blocks.
    let ended = tokio::task::spawn_blocking(move || {
        graph.shut_down();
        node.shut_down();
    })
    .await;
    if ended.is_err() {
        tracing::error!("the ROS threads could not be ended");
    }
}
