//! The ROS graph at one moment, as plain data in a stable order.
//!
//! Where it comes from: [`GraphWatch`](crate::GraphWatch). No ROS here.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long a server may be missing from the graph before it counts as lost: a graph can be wrong for a moment.
pub const SERVER_GRACE: Duration = Duration::from_secs(2);

/// What the service of a goal request adds to the name and to the type of an action.
const SEND_GOAL: (&str, &str) = ("/_action/send_goal", "_SendGoal");

/// The type of the action that Cortex offers. Who offers it is Cortex, this process or another.
pub const AGENT_ACTION: &str = "cortex_msgs/action/VisionLanguageAction";

/// How much of an identity names the participant of DDS.
const PARTICIPANT_BYTES: usize = 12;

/// A topic, service or action with its types.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interface {
    /// Fully qualified.
    pub name: String,
    /// More than one only where nodes disagree.
    pub types: Vec<String>,
}

/// Tells two runs of a node of the same name apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstanceId(Box<[u8]>);

impl InstanceId {
    /// From the identity that the middleware gave an endpoint of the node.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// Whether both are of one process, as far as the middleware tells that: identities of DDS begin with that of the
    /// participant.
    pub fn is_of_process_of(&self, other: &Self) -> bool {
        match (self.0.get(..PARTICIPANT_BYTES), other.0.get(..PARTICIPANT_BYTES)) {
            (Some(one), Some(other)) => one == other && one.iter().any(|byte| *byte != 0),
            _ => false,
        }
    }

    /// Whether it tells one from another: a middleware that tells none leaves it empty.
    pub fn is_told(&self) -> bool {
        self.0.iter().any(|byte| *byte != 0)
    }
}

/// What a node is to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeRole {
    /// A part of the robot.
    Robot,
    /// A tool, or an agent: never offered to a model. Hidden nodes and that of this process are listed without
    /// interfaces.
    Infrastructure,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphNode {
    /// Fully qualified, with the leading slash.
    pub name: String,
    /// What it is to the agent.
    pub role: NodeRole,
    /// The runs of the node that are there. Two for a moment when it was restarted, or when two nodes share a name.
    /// Empty where the node does not log over ROS.
    pub instances: BTreeSet<InstanceId>,
    /// The services that it offers.
    pub services: Vec<Interface>,
    /// The actions that it offers.
    pub actions: Vec<Interface>,
    /// The topics that it publishes.
    pub publishers: Vec<Interface>,
    /// The topics that it reads.
    pub subscriptions: Vec<Interface>,
}

impl GraphNode {
    /// A node without interfaces.
    #[must_use]
    pub fn new(name: String, role: NodeRole) -> Self {
        Self {
            name,
            role,
            instances: BTreeSet::new(),
            services: Vec::new(),
            actions: Vec::new(),
            publishers: Vec::new(),
            subscriptions: Vec::new(),
        }
    }

    /// The same node with what it offers and reads, in any order. The parts of an action count as the action. A node
    /// that turns out to be Cortex is infrastructure.
    #[must_use]
    pub fn with_interfaces(
        mut self,
        services: Vec<Interface>,
        publishers: Vec<Interface>,
        subscriptions: Vec<Interface>,
    ) -> Self {
        self.actions = in_order(services.iter().filter_map(as_action).collect());
        self.services = in_order(services);
        self.publishers = in_order(publishers);
        self.subscriptions = in_order(subscriptions);
        if self.is_cortex() {
            self.role = NodeRole::Infrastructure;
        }
        self
    }

    /// The name without the leading slash, as models and people see it.
    #[must_use]
    pub fn short_name(&self) -> &str {
        self.name.trim_start_matches('/')
    }

    /// Whether the node is a Cortex: it takes tasks.
    #[must_use]
    pub fn is_cortex(&self) -> bool {
        self.actions.iter().any(|action| action.types.iter().any(|name| name == AGENT_ACTION))
    }

    /// Whether the node offers the service `name` below its own name, of this type.
    #[must_use]
    pub fn offers(&self, name: &str, service_type: &str) -> bool {
        let below = |service: &Interface| service.name.strip_prefix(&self.name)?.strip_prefix('/').map(str::to_owned);
        self.services.iter().any(|service| {
            below(service).as_deref() == Some(name) && service.types.iter().any(|found| found == service_type)
        })
    }
}

/// The nodes at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    nodes: BTreeMap<String, GraphNode>,
}

impl Graph {
    /// A graph of these nodes. A name that is there twice counts once.
    #[must_use]
    pub fn new(nodes: impl IntoIterator<Item = GraphNode>) -> Self {
        Self { nodes: nodes.into_iter().map(|node| (node.name.clone(), node)).collect() }
    }

    /// Every node, by name.
    pub fn nodes(&self) -> impl Iterator<Item = &GraphNode> {
        self.nodes.values()
    }

    /// The nodes that are parts of the robot, by name.
    pub fn robot_nodes(&self) -> impl Iterator<Item = &GraphNode> {
        self.nodes().filter(|node| node.role == NodeRole::Robot)
    }

    /// The robot's nodes with what they offer and read, and the names of those that are a Cortex but for one, as a digest: the
    /// same wherever the same is seen, by programs of one build. The one is who looks: no node reads what it offers itself.
    #[must_use]
    pub fn digest_but(&self, cortex: &str) -> String {
        use std::hash::{Hash as _, Hasher as _};
        let mut hasher = std::hash::DefaultHasher::new();
        for node in self.robot_nodes() {
            (&node.name, &node.services, &node.publishers, &node.subscriptions).hash(&mut hasher);
        }
        for node in self.nodes().filter(|node| node.is_cortex() && node.name != cortex) {
            node.name.hash(&mut hasher);
        }
        format!("{:016x}", hasher.finish())
    }

    /// The node of this name, with or without the leading slash.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&GraphNode> {
        self.nodes.get(name).or_else(|| self.nodes.get(&format!("/{name}")))
    }
}

/// Whether a run of a node is there that was not there before. Known runs that left, and a first look, do not count.
#[must_use]
pub fn is_another_run(known: &BTreeSet<InstanceId>, now: &BTreeSet<InstanceId>) -> bool {
    !known.is_empty() && !now.is_subset(known)
}

/// The fully qualified name of a node.
#[must_use]
pub fn fully_qualified(name: &str, namespace: &str) -> String {
    format!("{}/{name}", namespace.trim_end_matches('/'))
}

/// Whether a name is hidden by the convention of ROS: one of its parts begins with an underscore.
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

fn as_action(service: &Interface) -> Option<Interface> {
    let (name_end, type_end) = SEND_GOAL;
    let name = service.name.strip_suffix(name_end)?.to_owned();
    let types = service.types.iter().filter_map(|of_service| of_service.strip_suffix(type_end));
    Some(Interface { name, types: types.map(str::to_owned).collect() })
}

fn in_order(mut interfaces: Vec<Interface>) -> Vec<Interface> {
    for interface in &mut interfaces {
        interface.types.sort();
    }
    interfaces.sort();
    interfaces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, type_name: &str) -> Interface {
        Interface { name: name.to_owned(), types: vec![type_name.to_owned()] }
    }

    #[test]
    fn names_are_qualified_and_hidden_ones_are_known() {
        assert_eq!(fully_qualified("base", "/"), "/base");
        assert_eq!(fully_qualified("gripper", "/left_arm"), "/left_arm/gripper");
        for hidden in ["/_ros2cli_daemon_0", "/_tools/shell", "/base/_action/status"] {
            assert!(is_hidden(hidden), "{hidden}");
        }
        for shown in ["/base", "/left_arm/gripper", "/a_b/c_"] {
            assert!(!is_hidden(shown), "{shown}");
        }
    }

    #[test]
    fn an_action_is_recognised_by_its_goal_service_and_everything_is_in_order() {
        let node = GraphNode::new("/nav".to_owned(), NodeRole::Robot).with_interfaces(
            vec![
                interface("/nav/drive/_action/send_goal", "nav_msgs/action/Drive_SendGoal"),
                interface("/nav/describe", "cortex_msgs/srv/DescribeComponent"),
            ],
            vec![
                interface("/odom", "nav_msgs/msg/Odometry"),
                interface("/nav/status", "cortex_msgs/msg/ComponentStatus"),
            ],
            vec![],
        );
        assert_eq!(node.actions, [interface("/nav/drive", "nav_msgs/action/Drive")]);
        assert_eq!(
            node.services.iter().map(|service| service.name.as_str()).collect::<Vec<_>>(),
            ["/nav/describe", "/nav/drive/_action/send_goal"]
        );
        assert_eq!(
            node.publishers.iter().map(|topic| topic.name.as_str()).collect::<Vec<_>>(),
            ["/nav/status", "/odom"]
        );
    }

    #[test]
    fn a_node_that_takes_tasks_is_another_cortex_and_no_part_of_the_robot() {
        let goals = "cortex_msgs/action/VisionLanguageAction_SendGoal";
        let node = GraphNode::new("/helper".to_owned(), NodeRole::Robot).with_interfaces(
            vec![interface("/helper/task/_action/send_goal", goals)],
            vec![],
            vec![],
        );
        let graph = Graph::new([node]);
        assert_eq!((graph.robot_nodes().count(), graph.nodes().count()), (0, 1));
    }

    #[test]
    fn a_service_counts_only_below_the_node_itself_and_with_the_right_type() {
        let node = GraphNode::new("/base".to_owned(), NodeRole::Robot).with_interfaces(
            vec![interface("/base/describe", "cortex_msgs/srv/DescribeComponent"), interface("/other/stop", "x/srv/Y")],
            vec![],
            vec![],
        );
        assert!(node.offers("describe", "cortex_msgs/srv/DescribeComponent"));
        assert!(!node.offers("describe", "std_srvs/srv/Trigger"));
        assert!(!node.offers("stop", "x/srv/Y"));
        let longer = GraphNode { name: "/bas".to_owned(), ..node };
        assert!(!longer.offers("describe", "cortex_msgs/srv/DescribeComponent"));
    }

    #[test]
    fn a_node_that_is_listed_twice_counts_once_and_is_found_with_or_without_the_slash() {
        let node = GraphNode::new("/base".to_owned(), NodeRole::Robot);
        let graph = Graph::new([node.clone(), node.clone()]);
        assert_eq!(graph.nodes().count(), 1);
        assert_eq!(graph.node("base"), Some(&node));
        assert_eq!(graph.node("/base"), Some(&node));
        assert_eq!(graph.node("ase"), None);
    }
}
