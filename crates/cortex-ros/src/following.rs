//! Follows a topic of any type through the life of its publishers: those who come, go, and change its type.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::MessageView;
use cortex_ros_client::dynamic::{Endpoints, Subscription};
use cortex_ros_client::graph::Graph;
use cortex_ros_client::qos::Reliability;
use cortex_ros_client::{GraphWatch, QosProfile, RosError};
use tokio::sync::watch;

use crate::Discovery;

/// The pause before a topic that can't be read is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How long the middleware may take to connect with a publisher that is on the graph. One that was killed is never connected
/// with.
const CONNECT: Duration = Duration::from_secs(2);
/// Messages that the middleware keeps where none may be missed.
const KEPT: usize = 200;

/// Who is told of a topic. Must not block.
pub(crate) trait TopicListener: Send + Sync {
    /// It is published, and nothing has come yet.
    fn silent(&self) {}

    /// Nothing can come, for this reason.
    fn absent(&self, reason: &str);

    /// A message has come. Kept: a publisher had it from before.
    fn message(&self, message: MessageView<'_>, kept: bool);

    /// So many messages were lost so far, because they came faster than they were taken.
    fn dropped(&self, _messages: u64) {}

    /// Whether none may be missed where publishers see to that. Else the latest are what counts.
    fn wants_all(&self) -> bool {
        false
    }
}

/// Where topics are followed.
#[derive(Clone)]
pub(crate) struct TopicFollower {
    pub(crate) graph: GraphWatch,
    pub(crate) endpoints: Endpoints,
    pub(crate) discovery: Discovery,
}

/// The types with which the robot publishes a topic. What Cortex publishes does not count.
pub(crate) fn types_of(graph: &Graph, topic: &str) -> BTreeSet<String> {
    let publishers = graph.robot_nodes().flat_map(|node| &node.publishers);
    publishers.filter(|published| published.name == topic).flat_map(|published| published.types.clone()).collect()
}

/// What is told of a topic without publishers.
pub(crate) fn nobody_publishes(topic: &str) -> String {
    format!("no part of the robot publishes {topic}")
}

impl TopicFollower {
    /// Tells the listener of every message, and whenever nobody is there to publish any. Ends when it is dropped.
    pub(crate) async fn follow(&self, topic: &str, listener: &impl TopicListener) {
        let mut graph = self.graph.subscribe();
        loop {
            let types = types_of(&graph.borrow_and_update(), topic);
            let mut named = types.iter();
            match (named.next(), named.next()) {
                (None, _) => listener.absent(&nobody_publishes(topic)),
                (Some(only), None) => match self.open(topic, only, listener.wants_all()).await {
                    Ok(heard) => {
                        listen(topic, heard, &types, &mut graph, listener).await;
                        continue;
                    }
                    Err(problem) => listener.absent(&problem.to_string()),
                },
                (Some(_), Some(_)) => {
                    let types: Vec<&str> = types.iter().map(String::as_str).collect();
                    listener.absent(&format!("{topic} is published with several types: {}", types.join(", ")));
                }
            }
            // A graph that has ended says nothing more; the pause bounds how often it is looked.
            let _ = tokio::time::timeout(AGAIN, graph.changed()).await;
            if graph.has_changed().is_err() {
                tokio::time::sleep(AGAIN).await;
            }
        }
    }

    async fn open(&self, topic: &str, type_name: &str, wants_all: bool) -> Result<Heard, RosError> {
        let type_name = type_name.to_owned();
        let interface = self.discovery.shared().interface(move |interfaces| interfaces.message(&type_name)).await?;
        self.endpoints.check_topic(topic, &interface)?;
        let offered = self.endpoints.offered(topic)?;
        let are_reliable = offered.iter().all(|(reliability, _)| *reliability == Reliability::Reliable);
        // One that is reliable hears nobody who is not.
        let quality = match wants_all && are_reliable {
            true => QosProfile::RELIABLE.keep_last(KEPT),
            false => QosProfile::BEST_EFFORT,
        };
        let (live, kept) = tokio::try_join!(
            self.endpoints.subscribe(topic, &interface, quality),
            self.endpoints.subscribe(topic, &interface, QosProfile::TRANSIENT_LOCAL),
        )?;
        Ok(Heard { live, kept: Some(kept) })
    }
}

/// One hears everybody from now on, the other also what was kept for who comes late; not every topic fits both.
struct Heard {
    live: Subscription,
    kept: Option<Subscription>,
}

/// Until it is published by nobody any more, or with other types.
async fn listen(
    topic: &str,
    mut heard: Heard,
    types: &BTreeSet<String>,
    graph: &mut watch::Receiver<Arc<Graph>>,
    listener: &impl TopicListener,
) {
    // What comes meanwhile waits.
    if let Ok(Ok(())) = tokio::time::timeout(CONNECT, heard.live.connected()).await {
        listener.silent();
    }
    loop {
        let kept = async {
            match &mut heard.kept {
                Some(kept) => kept.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            message = heard.live.next() => {
                let Some(message) = message else { return ended(listener).await };
                // What was kept is older from now on.
                heard.kept = None;
                listener.message(message.view(), false);
                listener.dropped(heard.live.dropped());
            }
            message = kept => {
                let Some(message) = message else { return ended(listener).await };
                listener.message(message.view(), true);
            }
            changed = graph.changed() => {
                if changed.is_err() {
                    return ended(listener).await;
                }
                if types_of(&graph.borrow_and_update(), topic) != *types {
                    graph.mark_changed();
                    return;
                }
            }
        }
    }
}

/// ROS is being shut down.
async fn ended(listener: &impl TopicListener) {
    listener.absent("ROS was shut down");
    tokio::time::sleep(AGAIN).await;
}
