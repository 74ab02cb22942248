//! Who offered something when it was called, and how that ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use cortex_ros_client::graph::{Graph, GraphNode, InstanceId, SERVER_GRACE};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::catalog::{Entry, OfferKind};

/// How a server was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// Nobody offers it.
    Left,
    /// Another run does, which knows nothing of the call.
    Replaced,
}

/// The nodes that offered something.
pub(super) struct Server {
    name: String,
    kind: OfferKind,
    /// Their runs. Empty where they do not log over ROS.
    instances: BTreeSet<InstanceId>,
}

impl Server {
    /// Who offers it now.
    pub(super) fn of(entry: &Entry, graph: &Graph) -> Self {
        let mut server = Self { name: entry.name.clone(), kind: entry.kind, instances: BTreeSet::new() };
        server.instances = server.instances_in(graph).unwrap_or_default();
        server
    }

    /// Resolves when nobody who could answer is left, with what happened.
    pub(super) async fn lost(&self, mut graph: watch::Receiver<Arc<Graph>>) -> &'static str {
        let mut left = None;
        loop {
            let loss = self.loss(&graph.borrow_and_update());
            match loss {
                Some(Loss::Replaced) => return "was started anew",
                Some(Loss::Left) => _ = left.get_or_insert_with(Instant::now),
                None => left = None,
            }
            let gone = async {
                match left {
                    Some(left) => sleep_until(left + SERVER_GRACE).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = graph.changed() => if changed.is_err() {
                    // The watch has ended; it will not say. The caller's time-out stands.
                    std::future::pending::<()>().await;
                },
                () = gone => return "has left the ROS graph",
            }
        }
    }

    fn loss(&self, graph: &Graph) -> Option<Loss> {
        let Some(now) = self.instances_in(graph) else { return Some(Loss::Left) };
        let replaced = !self.instances.is_empty() && !now.is_empty() && now.is_disjoint(&self.instances);
        replaced.then_some(Loss::Replaced)
    }

    /// The runs of the nodes that offer it. None when there is no such node.
    fn instances_in(&self, graph: &Graph) -> Option<BTreeSet<InstanceId>> {
        let mut nodes = graph.robot_nodes().filter(|node| self.is_offered_by(node)).peekable();
        nodes.peek()?;
        Some(nodes.flat_map(|node| node.instances.iter().cloned()).collect())
    }

    fn is_offered_by(&self, node: &GraphNode) -> bool {
        let offered = match self.kind {
            OfferKind::Service => &node.services,
            OfferKind::Action => &node.actions,
            OfferKind::Topic => &node.subscriptions,
        };
        offered.iter().any(|interface| interface.name == self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_ros_client::graph::{Interface, NodeRole};

    fn graph(instance: Option<u8>) -> Graph {
        let reset = Interface { name: "/reset".to_owned(), types: vec!["std_srvs/srv/Trigger".to_owned()] };
        let mut node = GraphNode::new("/base".to_owned(), NodeRole::Robot).with_interfaces(vec![reset], vec![], vec![]);
        node.instances = instance.map(|number| InstanceId::new(&[number])).into_iter().collect();
        Graph::new([node])
    }

    fn server(graph: &Graph) -> Server {
        let mut server = Server { name: "/reset".to_owned(), kind: OfferKind::Service, instances: BTreeSet::new() };
        server.instances = server.instances_in(graph).unwrap();
        server
    }

    #[test]
    fn a_server_is_lost_when_it_leaves_or_another_run_answers_in_its_place() {
        let server = server(&graph(Some(1)));
        assert_eq!(server.loss(&graph(Some(1))), None);
        assert_eq!(server.loss(&graph(Some(2))), Some(Loss::Replaced));
        assert_eq!(server.loss(&Graph::default()), Some(Loss::Left));
    }

    #[tokio::test]
    async fn a_server_that_one_picture_of_the_graph_lacks_is_not_lost() {
        let server = server(&graph(Some(1)));
        let pictures = watch::Sender::new(Arc::new(Graph::default()));
        let mut lost = std::pin::pin!(server.lost(pictures.subscribe()));
        assert!(futures::poll!(&mut lost).is_pending());
        pictures.send_replace(Arc::new(graph(Some(1))));
        assert!(futures::poll!(&mut lost).is_pending());
        pictures.send_replace(Arc::new(graph(Some(2))));
        assert_eq!(lost.await, "was started anew");
    }

    #[test]
    fn one_that_does_not_log_is_judged_by_the_graph_alone() {
        let server = server(&graph(None));
        assert_eq!(server.loss(&graph(None)), None);
        // It becomes known late, which is no restart.
        assert_eq!(server.loss(&graph(Some(1))), None);
        assert_eq!(server.loss(&Graph::default()), Some(Loss::Left));
    }
}
