//! What the robot's nodes offer, without what belongs to the client library and to Cortex.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cortex_ros_client::graph::{AGENT_ACTION, Graph, GraphNode, InstanceId, Interface, is_hidden};
use serde::Serialize;

use crate::shown_nodes::GraphPolicy as _;
use cortex_discovery_policy::Policy;

/// What is offered under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OfferKind {
    /// Answers requests.
    Service,
    /// Takes goals.
    Action,
    /// Can be published.
    Topic,
}

impl fmt::Display for OfferKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Service => "service",
            Self::Action => "action",
            Self::Topic => "topic",
        })
    }
}

/// Something on the graph that could be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) types: BTreeSet<String>,
    /// Who offers it, by name, without the leading slash.
    pub(crate) nodes: BTreeSet<String>,
    /// Those that offer it, too, and that no model is told of, with the reason.
    pub(crate) hidden: BTreeMap<String, String>,
    /// The runs of those nodes, as far as they are known.
    pub(crate) instances: BTreeSet<InstanceId>,
}

/// A full ROS name, and what is offered under it.
pub(crate) type OfferKey = (String, OfferKind);

/// What is offered.
pub(crate) type Offers = BTreeMap<OfferKey, Offer>;

/// Types that belong to the client library and to Cortex rather than to what the robot does. Nodes that can be managed
/// or loaded are the business of whoever supervises the robot.
const INFRASTRUCTURE: [&str; 8] = [
    "rcl_interfaces/",
    "type_description_interfaces/",
    "lifecycle_msgs/",
    "composition_interfaces/",
    "nav2_msgs/srv/ManageLifecycleNodes",
    // Those of components, and those in which people speak to a Cortex: no model answers what people are asked.
    "cortex_msgs/srv/",
    "cortex_msgs/msg/ComponentStatus",
    AGENT_ACTION,
];

/// Whether it is of no interest to somebody who wants to know what a node does.
pub(crate) fn is_infrastructure(interface: &Interface) -> bool {
    is_hidden(&interface.name)
        || interface.types.iter().any(|name| INFRASTRUCTURE.iter().any(|beginning| name.starts_with(beginning)))
}

/// The services and the actions of the robot.
pub(crate) fn callable(graph: &Graph, policy: &Policy) -> Offers {
    let mut offers = Offers::new();
    for node in graph.robot_nodes() {
        let hidden = policy.hidden(node);
        let services = node.services.iter().map(|service| (OfferKind::Service, service));
        let actions = node.actions.iter().map(|action| (OfferKind::Action, action));
        for (kind, interface) in services.chain(actions).filter(|(_, interface)| !is_infrastructure(interface)) {
            note(&mut offers, kind, interface, node, hidden.as_ref());
        }
    }
    offers
}

/// The topics that the robot's nodes publish, for reading. What is denied is not among them.
pub(crate) fn published(graph: &Graph, policy: &Policy) -> Offers {
    let mut topics = Offers::new();
    for node in graph.robot_nodes() {
        let hidden = policy.hidden(node);
        for topic in node.publishers.iter().filter(|topic| !is_infrastructure(topic)) {
            note(&mut topics, OfferKind::Topic, topic, node, hidden.as_ref());
        }
    }
    topics
}

/// The topics that the robot's nodes read.
pub(crate) fn read(graph: &Graph, policy: &Policy) -> Offers {
    let mut topics = Offers::new();
    for node in graph.robot_nodes() {
        let hidden = policy.hidden(node);
        for topic in node.subscriptions.iter().filter(|topic| !is_infrastructure(topic)) {
            note(&mut topics, OfferKind::Topic, topic, node, hidden.as_ref());
        }
    }
    topics
}

fn note(offers: &mut Offers, kind: OfferKind, interface: &Interface, node: &GraphNode, hidden: Option<&String>) {
    let offer = offers.entry((interface.name.clone(), kind)).or_insert_with(|| Offer {
        types: BTreeSet::new(),
        nodes: BTreeSet::new(),
        hidden: BTreeMap::new(),
        instances: BTreeSet::new(),
    });
    offer.types.extend(interface.types.iter().cloned());
    let name = node.short_name().to_owned();
    match hidden {
        Some(reason) => _ = offer.hidden.insert(name, reason.clone()),
        None => _ = offer.nodes.insert(name),
    }
    offer.instances.extend(node.instances.iter().cloned());
}
