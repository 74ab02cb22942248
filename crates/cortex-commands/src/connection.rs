//! A connection to a running Cortex, for the commands that are its clients.

use std::time::Instant;

use anyhow::Context as _;
use cortex_robot::end_ros;
use cortex_ros::TaskClient;
use cortex_ros_client::{GraphWatch, Instance, Roll, RosError, RosNode, ServedNames};

use crate::absence::{longest, unless_absent};
use crate::arguments::ServerArguments;

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
    server: String,
    roll: Roll,
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
        let (limit, begun) = (longest(arguments), Instant::now());
        let connected = async {
            // First, so that those who are there are heard meanwhile.
            let roll = Roll::call(&node, &server).await?;
            let connect = async |names: ServedNames| match purpose {
                Purpose::Tasks => TaskClient::connect(&node, &graph, names, limit).await,
                Purpose::Stop => TaskClient::connect_for_stop(&node, &graph, names, limit).await,
            };
            // It says itself under which names it serves. A stop does not wait for that where those of its node are there.
            let own = ServedNames::from(server.as_str());
            let client = match purpose {
                Purpose::Tasks => match roll.names_within(limit).await {
                    Some(names) => connect(names).await?,
                    None => {
                        let service = own.below("task/_action/send_goal");
                        return Err(RosError::NoServer { service, waited: limit });
                    }
                },
                Purpose::Stop => tokio::select! {
                    names = roll.renamed() => connect(names).await?,
                    client = connect(own) => client?,
                },
            };
            Ok::<_, RosError>((roll, client))
        };
        let connected = match purpose {
            Purpose::Tasks => {
                let not_there = || Err(RosError::NoServer { service: server.clone(), waited: begun.elapsed() });
                unless_absent(arguments, &graph, connected).await.unwrap_or_else(not_there)
            }
            // Where it is not sure whether there is one, a stop waits for it as long as it may.
            Purpose::Stop => connected.await,
        };
        match connected {
            Ok((roll, client)) => {
                let connection = Self { node, graph, server, roll, client };
                // A stop waits for nobody.
                let duplicates = if purpose == Purpose::Tasks { connection.duplicates().await } else { None };
                let Some(duplicates) = duplicates else { return Ok(connection) };
                connection.close().await;
                anyhow::bail!("{duplicates}; nothing was sent, as each would take it")
            }
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

    /// What is to be told when more than one Cortex has the name of the server: who answers is a matter of chance.
    pub(crate) async fn duplicates(&self) -> Option<String> {
        let listed = || self.graph.current().node(&self.server).map_or(0, |node| node.instances.len());
        duplicates(&self.server, &self.roll.answers(listed).await)
    }

    pub(crate) async fn close(self) {
        drop(self.client);
        end_ros(self.node, self.graph, None).await;
    }
}

/// Names those that share a name, and says what to do. None where there is one, or none that speaks.
pub(crate) fn duplicates(name: &str, all: &[Instance]) -> Option<String> {
    let told: Vec<String> = all.iter().map(ToString::to_string).collect();
    (told.len() > 1).then(|| format!("{} Cortexes are named {name}: {}. End all but one", told.len(), told.join(", ")))
}
