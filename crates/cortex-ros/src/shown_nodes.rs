//! Which nodes of the graph models are told of, as the policy of discovery has it.

use cortex_discovery_policy::{NOT_ALLOWED, Policy};
use cortex_interfaces::Conventions;
use cortex_ros_client::graph::{Graph, GraphNode};

use crate::catalog::is_infrastructure;

/// The policy of discovery, asked about the graph.
pub(crate) trait GraphPolicy {
    /// Why no model is told that this node exists. None where it is told: the node is not denied as a whole, and its name or
    /// something of it is allowed.
    fn hidden(&self, node: &GraphNode) -> Option<String>;

    /// The nodes of the robot that models are told of, by name.
    fn shown<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = &'a GraphNode>;

    /// How messages are written: as is usual, and as the configuration says.
    fn message_conventions(&self) -> Conventions;
}

impl GraphPolicy for Policy {
    fn hidden(&self, node: &GraphNode) -> Option<String> {
        if let Some(denial) = self.denial_of_node(&node.name) {
            return Some(denial);
        }
        if self.allows_of_node(&node.name) {
            return None;
        }
        let all = [&node.services, &node.actions, &node.publishers, &node.subscriptions];
        let mut others = all.into_iter().flatten().filter(|interface| !is_infrastructure(interface));
        let is_named = others.any(|interface| self.refusal(&interface.name).is_none());
        (!is_named).then(|| NOT_ALLOWED.to_owned())
    }

    fn shown<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = &'a GraphNode> {
        graph.robot_nodes().filter(|node| self.hidden(node).is_none())
    }

    fn message_conventions(&self) -> Conventions {
        let added = self.conventions.iter();
        added.fold(Conventions::default(), |known, (name, convention)| known.with(name.clone(), *convention))
    }
}

/// The name by which the configuration knows a parameter: `/base/max_speed`.
pub(crate) fn parameter_name(node: &GraphNode, parameter: &str) -> String {
    format!("{}/{parameter}", node.name)
}

#[cfg(test)]
mod tests {
    use cortex_discovery_policy::PolicySettings;
    use cortex_ros_client::graph::{Interface, NodeRole};

    use super::*;

    fn policy(change: impl FnOnce(&mut PolicySettings)) -> Policy {
        let mut settings = PolicySettings::default();
        change(&mut settings);
        Policy::new(&settings).unwrap()
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_node_is_denied_by_its_name_or_by_all_that_is_below_it_and_allowed_by_anything_that_is_named() {
        let node = |name: &str, topic: &str| {
            let topic = Interface { name: topic.to_owned(), types: vec!["std_msgs/msg/String".to_owned()] };
            GraphNode::new(name.to_owned(), NodeRole::Robot).with_interfaces(vec![], vec![topic], vec![])
        };
        let denied = policy(|settings| settings.deny = texts(&["/wifi/**", "/modem", "/base/go_to", "**/secret"]));
        for (name, is_shown) in [("/wifi", false), ("/wifi/left", false), ("/modem", false), ("/a/secret", false)] {
            assert_eq!(denied.hidden(&node(name, "/scans")).is_none(), is_shown, "{name}");
        }
        assert_eq!(denied.hidden(&node("/wifi", "/scans")).unwrap(), "discovery.deny has '/wifi/**'");
        assert_eq!(denied.hidden(&node("/base", "/odom")), None);
        let allowed = policy(|settings| {
            settings.allow = texts(&["/arm/**", "/base/go_to", "/navigate", "**/reset", "/{a/b,c}/d"]);
            settings.deny = texts(&["/arm/left/**"]);
        });
        for (name, topic, is_shown) in [
            ("/arm", "/x", true),
            ("/arm/right", "/x", true),
            ("/arm/left", "/x", false),
            ("/base", "/x", true),
            ("/navigator", "/navigate", true),
            ("/wifi", "/wifi/reset", true),
            ("/wifi", "/wifi/scans", false),
            ("/navigator", "/rosout", false),
        ] {
            assert_eq!(allowed.hidden(&node(name, topic)).is_none(), is_shown, "{name} with {topic}");
        }
    }
}
