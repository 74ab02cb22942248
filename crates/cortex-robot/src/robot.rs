//! The robot as this process sees it: its own node, the graph, and what the components can do.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use cortex_config::MeterSettings;
use cortex_interfaces::Interfaces;
use cortex_protocol::mission::Expense;
use cortex_ros::{Discovery, Policy, RosTools, meters};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::{GraphWatch, RosError, RosNode};
use cortex_runtime::Meter;

/// A process's place on the robot's graph.
#[derive(Clone)]
pub struct Robot {
    /// Its node.
    pub node: RosNode,
    /// Who is on the graph.
    pub graph: GraphWatch,
    /// Services, actions and topics of any type.
    pub endpoints: Endpoints,
    /// What of the graph is known to be of use.
    pub discovery: Discovery,
    /// What can be called there.
    pub tools: RosTools,
}

impl Robot {
    /// Finds out what the robot can do. Ends the node if that can't be.
    pub fn discover(node: RosNode, policy: Policy) -> anyhow::Result<Self> {
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
    pub fn look(policy: impl FnOnce(&RosNode) -> anyhow::Result<Policy>) -> anyhow::Result<Self> {
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
    pub async fn visit(policy: impl FnOnce(&RosNode) -> anyhow::Result<Policy>) -> anyhow::Result<Self> {
        /// Longest wait for slow components.
        const LIMIT: Duration = Duration::from_secs(8);
        let robot = Self::look(policy)?;
        if !robot.discovery.settled(LIMIT).await {
            // A closed standard error is no reason to stop.
            let _ = writeln!(
                std::io::stderr(),
                "cortex: within {} s there was no robot, or some components have not described themselves",
                LIMIT.as_secs()
            );
        }
        Ok(robot)
    }

    /// What measures the way and the energy, as the configuration names it.
    pub fn meters(&self, settings: &MeterSettings) -> Vec<Meter> {
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
    pub async fn leave(self) {
        self.discovery.shut_down().await;
        end_ros(self.node, self.graph, Some(self.endpoints)).await;
        self.tools.shut_down().await;
    }
}

/// Joins the graph under this node name; remaps apply.
pub fn join(name: &str) -> anyhow::Result<RosNode> {
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

/// Ends the ROS threads of this process. It must not return from `main` before: the middleware crashes in its exit
/// handlers otherwise.
pub async fn end_ros(node: RosNode, graph: GraphWatch, endpoints: Option<Endpoints>) {
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
