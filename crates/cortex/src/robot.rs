//! The robot as this process sees it: its own node, the graph, and what the components can do.

use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::Interfaces;
use cortex_protocol::mission::Expense;
use cortex_ros::{Discovery, Policy, RosTools, meters};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::{GraphWatch, RosError, RosNode};
use cortex_runtime::Meter;
use figment::value::Value;

use crate::config::{self, MeterSettings, Stranger};
use crate::management;

/// A process's place on the robot's graph.
#[derive(Clone)]
pub(crate) struct Robot {
    pub(crate) node: RosNode,
    pub(crate) graph: GraphWatch,
    pub(crate) endpoints: Endpoints,
    pub(crate) discovery: Discovery,
    pub(crate) tools: RosTools,
}

impl Robot {
    /// Finds out what the robot can do. Ends the node if that can't be.
    pub(crate) fn discover(node: RosNode, policy: Policy) -> anyhow::Result<Self> {
        let graph = match GraphWatch::start(node.fully_qualified_name()) {
            Ok(graph) => graph,
            Err(problem) => {
                node.shut_down();
                return Err(problem.into());
            }
        };
        let endpoints = match Endpoints::start(&graph) {
            Ok(endpoints) => endpoints,
            Err(problem) => {
                graph.shut_down();
                node.shut_down();
                return Err(problem.into());
            }
        };
        let discovery = Discovery::start(&node, &graph, &endpoints, &Arc::new(Interfaces::from_environment()), policy);
        let tools = RosTools::new(&graph, &endpoints, &discovery);
        Ok(Self { node, graph, endpoints, discovery, tools })
    }

    /// Joins for a look at the robot, without a name of its own on it.
    pub(crate) fn look(policy: impl FnOnce(&RosNode) -> anyhow::Result<Policy>) -> anyhow::Result<Self> {
        let node = join(&format!("_cortex_cli_{}", std::process::id()))?;
        match policy(&node) {
            Ok(policy) => Self::discover(node, policy),
            Err(problem) => {
                node.shut_down();
                Err(problem)
            }
        }
    }

    /// As [`look`](Self::look), and waits until the picture is complete.
    pub(crate) async fn visit(policy: impl FnOnce(&RosNode) -> anyhow::Result<Policy>) -> anyhow::Result<Self> {
        /// Longest wait for slow components.
        const LIMIT: Duration = Duration::from_secs(8);
        let robot = Self::look(policy)?;
        if !robot.discovery.settled(LIMIT).await {
            eprintln!(
                "cortex: within {} s there was no robot, or some components have not described themselves",
                LIMIT.as_secs()
            );
        }
        Ok(robot)
    }

    /// What measures the way and the energy, as the configuration names it.
    pub(crate) fn meters(&self, settings: &MeterSettings) -> Vec<Meter> {
        let interfaces = Arc::new(Interfaces::from_environment());
        let MeterSettings { odometry, battery, patience } = settings;
        let way = odometry.as_ref().map(|topic| Meter {
            expense: Expense::Metres,
            reading: meters::way(&self.endpoints, &interfaces, topic, *patience),
        });
        let energy = battery.as_ref().map(|topic| Meter {
            expense: Expense::WattHours,
            reading: meters::energy(&self.endpoints, &interfaces, topic, *patience),
        });
        way.into_iter().chain(energy).collect()
    }

    /// Leaves the graph: ends discovery, then the ROS threads.
    pub(crate) async fn leave(self) {
        self.discovery.shut_down().await;
        end_ros(self.node, self.graph, Some(self.endpoints)).await;
        self.tools.shut_down().await;
    }
}

/// Joins the graph under this node name; remaps apply.
pub(crate) fn join(name: &str) -> anyhow::Result<RosNode> {
    RosNode::start(name, "").map_err(|problem| match problem {
        // It says itself what is wrong, and that is nothing of the surroundings.
        RosError::Arguments { .. } => problem.into(),
        problem if std::env::var_os("ROS_SECURITY_ENABLE").is_some_and(|enabled| enabled == "true") => {
            anyhow::Error::from(problem).context(
                "the ROS node could not be started with security (ROS_SECURITY_ENABLE); ROS_SECURITY_KEYSTORE must hold the \
                 enclave of `--ros-args --enclave`, and the middleware must be built with security; docs/security.md tells \
                 more",
            )
        }
        problem => anyhow::Error::from(problem).context(
            "the ROS node could not be started; source a ROS 2 first, or use `cargo xtask env` in this repository",
        ),
    })
}

/// The parameters that are about the node, not about the agent.
const NODE_PARAMETERS: [&str; 3] =
    [management::AUTOSTART, cortex_ros_client::node::USE_SIM_TIME, "start_type_description_service"];

/// A node's ROS parameters as a layer of the configuration. `use_sim_time` and the like belong to the node; what is no key
/// of the configuration is told and left out.
pub(crate) fn parameters(node: &RosNode) -> Vec<(String, Value)> {
    let given = node.parameters().iter().filter(|(name, _)| !NODE_PARAMETERS.contains(&name.as_str()));
    let (ours, strangers) = config::part(given.map(|(name, value)| (name.clone(), value.clone())));
    for Stranger { name, meant } in strangers {
        let meant = meant.map(|meant| format!("; did you mean '{meant}'?")).unwrap_or_default();
        tracing::warn!("the ROS parameter '{name}' is none of Cortex, and is left out{meant}");
    }
    ours
}

/// Ends the ROS threads of this process. It must not return from `main` before: the middleware crashes in its exit
/// handlers otherwise.
pub(crate) async fn end_ros(node: RosNode, graph: GraphWatch, endpoints: Option<Endpoints>) {
    // Joining threads blocks.
    let ended = tokio::task::spawn_blocking(move || {
        if let Some(endpoints) = endpoints {
            endpoints.shut_down();
        }
        graph.shut_down();
        node.shut_down();
    })
    .await;
    if ended.is_err() {
        tracing::error!("the ROS threads could not be ended");
    }
}
