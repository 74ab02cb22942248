//! The robot as a program of these tests sees it, in its own process: what `cortex run` sees, without a model.

use std::sync::Arc;

use cortex_interfaces::Interfaces;
use cortex_ros::{Discovery, Policy, RosTools};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::{GraphWatch, RosNode};

/// A place on the robot's graph.
pub struct Robot {
    /// The node.
    pub node: RosNode,
    /// The graph.
    pub graph: GraphWatch,
    /// Clients of any type.
    pub endpoints: Endpoints,
    /// What there is.
    pub discovery: Discovery,
    /// What can be called.
    pub tools: RosTools,
}

impl Robot {
    /// Joins the graph under this node name.
    ///
    /// # Errors
    /// When ROS can't be started.
    pub fn join(name: &str) -> anyhow::Result<Self> {
        let node = RosNode::start(name, "")?;
        let graph = GraphWatch::start(node.fully_qualified_name())?;
        let endpoints = Endpoints::start(&graph)?;
        let discovery =
            Discovery::start(&node, &graph, &endpoints, &Arc::new(Interfaces::from_environment()), Policy::default());
        let tools = RosTools::new(&graph, &endpoints, &discovery);
        Ok(Self { node, graph, endpoints, discovery, tools })
    }

    /// Leaves the graph.
    ///
    /// # Errors
    /// When the ROS threads can't be ended.
    pub async fn leave(self) -> anyhow::Result<()> {
        let Self { node, graph, endpoints, discovery, tools } = self;
        discovery.shut_down().await;
        // Joining threads blocks.
        tokio::task::spawn_blocking(move || {
            endpoints.shut_down();
            graph.shut_down();
            node.shut_down();
        })
        .await?;
        tools.shut_down().await;
        Ok(())
    }
}
