//! What there is to look at, by the types on the graph. No IO.

use std::collections::{BTreeMap, BTreeSet};

use cortex_interfaces::{Arity, FieldKind, Interfaces, MessageType};
use cortex_protocol::robot_view::{NodeView, NumberSource, RobotSources, ViewTopic};
use cortex_ros_client::graph::{Graph, is_hidden};

use super::is_of;
use crate::built_in::has_parameters;
use crate::policy::Policy;

pub(super) const GRID: &str = "nav_msgs/msg/OccupancyGrid";
pub(super) const PATH: &str = "nav_msgs/msg/Path";
pub(super) const ODOMETRY: &str = "nav_msgs/msg/Odometry";
pub(super) const POSE: &str = "geometry_msgs/msg/PoseStamped";
pub(super) const POSE_ESTIMATE: &str = "geometry_msgs/msg/PoseWithCovarianceStamped";
pub(super) const IMAGE: &str = "sensor_msgs/msg/Image";
pub(super) const COMPRESSED_IMAGE: &str = "sensor_msgs/msg/CompressedImage";
pub(super) const TRANSFORMS: &str = "tf2_msgs/msg/TFMessage";
/// The topics with how the frames lie to each other, and whether what they tell holds always.
pub(super) const TRANSFORM_TOPICS: [(&str, bool); 2] = [("/tf", false), ("/tf_static", true)];
/// The one that is looked at for the place of the robot.
pub(super) const ROBOT_TRANSFORMS: &str = TRANSFORM_TOPICS[0].0;
const BATTERY: &str = "sensor_msgs/msg/BatteryState";
/// The packages whose messages are looked through for numbers: the standard ones. A number of any other type can be plotted
/// by its name.
const NUMERIC_PACKAGES: [&str; 4] = ["geometry_msgs/", "nav_msgs/", "sensor_msgs/", "std_msgs/"];
/// Topics that every node has.
const COMMON_TOPICS: [&str; 2] = ["/parameter_events", "/rosout"];
/// Things of a kind that are listed: far more than robots have.
const MOST: usize = 200;
/// Numbers of one topic that are listed, and how deep they may lie.
const MOST_FIELDS: usize = 24;
const DEEPEST: usize = 4;

/// The fields of types that hold one number.
pub(super) type NumberFields = BTreeMap<String, Vec<String>>;

/// The topics that may be looked at, with their types and the nodes that publish them.
pub(super) struct Topics(BTreeMap<String, (Vec<String>, BTreeSet<String>)>);

impl Topics {
    pub(super) fn of(graph: &Graph, policy: &Policy) -> Self {
        let mut topics: BTreeMap<String, (Vec<String>, BTreeSet<String>)> = BTreeMap::new();
        for node in policy.shown(graph) {
            for topic in &node.publishers {
                let is_common = COMMON_TOPICS.contains(&topic.name.as_str()) || is_hidden(&topic.name);
                if is_common || policy.refusal(&topic.name).is_some() {
                    continue;
                }
                let (types, nodes) = topics.entry(topic.name.clone()).or_default();
                types.extend(topic.types.iter().cloned());
                types.sort();
                types.dedup();
                nodes.insert(node.name.clone());
            }
        }
        Self(topics)
    }

    /// The types that may hold numbers.
    pub(super) fn types_with_numbers(&self) -> BTreeSet<String> {
        let is_numeric = |name: &&String| NUMERIC_PACKAGES.iter().any(|package| name.starts_with(package));
        self.0.values().filter_map(|(types, _)| types.first()).filter(is_numeric).cloned().collect()
    }

    pub(super) fn sources(&self, graph: &Graph, policy: &Policy, numbers: &NumberFields) -> RobotSources {
        let of = |names: &[&str]| -> Vec<ViewTopic> {
            let found = names.iter().flat_map(|name| self.0.iter().filter(|(_, (types, _))| is_of(types, name)));
            let view = |(topic, (_, nodes)): (&String, &(Vec<String>, BTreeSet<String>))| ViewTopic {
                topic: topic.clone(),
                nodes: nodes.iter().cloned().collect(),
            };
            found.map(view).take(MOST).collect()
        };
        let is_of_robot = |view: &ViewTopic| view.topic == ROBOT_TRANSFORMS;
        let robot_transforms: Vec<ViewTopic> = of(&[TRANSFORMS]).into_iter().filter(is_of_robot).collect();
        RobotSources {
            maps: of(&[GRID]),
            cameras: of(&[IMAGE, COMPRESSED_IMAGE]),
            poses: [of(&[POSE_ESTIMATE]), robot_transforms, of(&[POSE, ODOMETRY])].concat(),
            paths: of(&[PATH]),
            numbers: self.numbers(numbers),
            nodes: nodes(graph, policy),
        }
    }

    fn numbers(&self, numbers: &NumberFields) -> Vec<NumberSource> {
        let mut found: Vec<NumberSource> = Vec::new();
        for (topic, (types, _)) in &self.0 {
            let [type_name] = types.as_slice() else { continue };
            for field in numbers.get(type_name).into_iter().flatten() {
                let is_charge = type_name == BATTERY && field == "percentage";
                found.push(NumberSource { topic: topic.clone(), field: field.clone(), is_charge });
            }
        }
        found.sort_by_key(|number| !number.is_charge);
        found.truncate(MOST);
        found
    }
}

/// The nodes of the robot, and whose topics each reads.
fn nodes(graph: &Graph, policy: &Policy) -> Vec<NodeView> {
    let mut publishers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for node in policy.shown(graph) {
        for topic in &node.publishers {
            publishers.entry(&topic.name).or_default().insert(&node.name);
        }
    }
    let view = |node: &cortex_ros_client::graph::GraphNode| {
        let read = node.subscriptions.iter().filter(|topic| !COMMON_TOPICS.contains(&topic.name.as_str()));
        let from = read.filter_map(|topic| publishers.get(topic.name.as_str())).flatten();
        let from: BTreeSet<&str> = from.copied().filter(|name| *name != node.name).collect();
        NodeView {
            name: node.name.clone(),
            has_parameters: has_parameters(node),
            reads: from.into_iter().map(str::to_owned).take(MOST).collect(),
        }
    };
    policy.shown(graph).map(view).take(MOST).collect()
}

/// The numbers within messages of these types. A type that is not installed has none. Blocks while types are loaded.
pub(super) fn number_fields(interfaces: &Interfaces, types: &BTreeSet<String>) -> NumberFields {
    let mut found = NumberFields::new();
    for name in types {
        let Ok(interface) = interfaces.message(name) else { continue };
        let mut fields = Vec::new();
        collect(interface.message_type(), "", DEEPEST, &mut fields);
        fields.truncate(MOST_FIELDS);
        found.insert(name.clone(), fields);
    }
    found
}

fn collect(message_type: &MessageType, path: &str, depth: usize, found: &mut Vec<String>) {
    for field in message_type.fields.iter().filter(|field| field.arity == Arity::One) {
        // Times are no numbers to plot.
        if field.name == "header" || field.name == "stamp" || found.len() >= MOST_FIELDS {
            continue;
        }
        let path = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        match &field.kind {
            FieldKind::Message(inner) if depth > 1 => collect(inner, &path, depth - 1, found),
            FieldKind::Float32 | FieldKind::Float64 => found.push(path),
            kind if kind.integer_range().is_some() => found.push(path),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use cortex_ros_client::graph::{GraphNode, Interface, NodeRole};

    use super::*;
    use crate::PolicySettings;

    fn topic(name: &str, type_name: &str) -> Interface {
        Interface { name: name.to_owned(), types: vec![type_name.to_owned()] }
    }

    fn node(name: &str, publishes: &[(&str, &str)], reads: &[(&str, &str)]) -> GraphNode {
        let topics = |some: &[(&str, &str)]| some.iter().map(|(name, of)| topic(name, of)).collect();
        GraphNode::new(name.to_owned(), NodeRole::Robot).with_interfaces(vec![], topics(publishes), topics(reads))
    }

    fn robot() -> Graph {
        Graph::new([
            node("/base", &[("/odom", ODOMETRY), ("/rosout", "rcl_interfaces/msg/Log")], &[]),
            node(
                "/localization",
                &[("/pose", POSE_ESTIMATE)],
                &[("/odom", ODOMETRY), ("/rosout", "rcl_interfaces/msg/Log")],
            ),
            node("/map_server", &[("/map", GRID)], &[]),
            node("/arm", &[("/tf", TRANSFORMS), ("/arm/tf", TRANSFORMS)], &[]),
            node("/battery", &[("/battery_state", BATTERY)], &[("/odom", ODOMETRY)]),
            node("/left", &[("/both", GRID)], &[]),
            node("/right", &[("/both", IMAGE)], &[]),
        ])
    }

    fn topics(names: &[ViewTopic]) -> Vec<&str> {
        names.iter().map(|view| view.topic.as_str()).collect()
    }

    #[test]
    fn what_there_is_to_look_at_is_found_by_its_type_and_one_that_has_two_is_nothing() {
        let policy = Policy::new(&PolicySettings::default()).unwrap();
        let (graph, interfaces) = (robot(), Interfaces::from_environment());
        let topics_of_robot = Topics::of(&graph, &policy);
        let numbers = number_fields(&interfaces, &topics_of_robot.types_with_numbers());
        let found = topics_of_robot.sources(&graph, &policy, &numbers);
        assert_eq!(topics(&found.maps), ["/map"]);
        assert_eq!(topics(&found.poses), ["/pose", "/tf", "/odom"], "an estimate on the map before mere odometry");
        assert!(found.cameras.is_empty());
        let first = &found.numbers[0];
        assert!(first.is_charge && first.topic == "/battery_state" && first.field == "percentage", "{first:?}");
        let has = |topic: &str, field: &str| found.numbers.iter().any(|one| one.topic == topic && one.field == field);
        assert!(has("/odom", "pose.pose.position.x") && has("/battery_state", "voltage"));
        let localization = found.nodes.iter().find(|node| node.name == "/localization").unwrap();
        assert_eq!(localization.reads, ["/base"], "the log that every node writes joins nobody");
    }

    #[test]
    fn what_the_configuration_denies_is_not_shown() {
        let settings =
            PolicySettings { deny: vec!["/pose".to_owned(), "/map_server/**".to_owned()], ..PolicySettings::default() };
        let policy = Policy::new(&settings).unwrap();
        let graph = robot();
        let found = Topics::of(&graph, &policy).sources(&graph, &policy, &NumberFields::new());
        assert_eq!((topics(&found.maps), topics(&found.poses)), (vec![], vec!["/tf", "/odom"]));
        assert!(found.nodes.iter().all(|node| node.name != "/map_server"));
    }
}
