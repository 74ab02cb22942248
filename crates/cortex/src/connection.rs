//! A connection to a running Cortex, for the commands that are its clients.

use std::time::Duration;

use anyhow::Context as _;
use cortex_ros::{GraphWatch, RosNode, TaskClient};

use crate::arguments::ServerArguments;
use crate::robot::end_ros;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Tasks,
    /// To stop and to resume; needs less, and so is there sooner.
    Stop,
}

/// A client of one Cortex, with a node of its own.
pub(crate) struct Connection {
    node: RosNode,
    graph: GraphWatch,
    pub(crate) client: TaskClient,
}

impl Connection {
    /// Waits for the Cortex that the arguments name.
    pub(crate) async fn open(arguments: &ServerArguments, purpose: Purpose) -> anyhow::Result<Self> {
        let server = format!("/{}", arguments.server.trim_matches('/'));
        let node = RosNode::start(&format!("_cortex_cli_{}", std::process::id()), "")?;
        let graph = match GraphWatch::start(node.fully_qualified_name()) {
            Ok(graph) => graph,
            Err(error) => {
                node.shut_down();
                return Err(error.into());
            }
        };
        let limit = Duration::from_secs_f64(arguments.wait);
        let connected = match purpose {
            Purpose::Tasks => TaskClient::connect(&node, &graph, &server, limit).await,
            Purpose::Stop => TaskClient::connect_for_stop(&node, &graph, &server, limit).await,
        };
        match connected {
            Ok(client) => Ok(Self { node, graph, client }),
            Err(error) => {
                end_ros(node, graph, None).await;
                Err(error).with_context(|| {
                    format!(
                        "no Cortex takes tasks at {server}. Start one with `cortex run`, in the same ROS_DOMAIN_ID; \
                         name it with --server if it has another name; `cortex doctor` looks for the reason"
                    )
                })
            }
        }
    }

    pub(crate) async fn close(self) {
        drop(self.client);
        end_ros(self.node, self.graph, None).await;
    }
}
