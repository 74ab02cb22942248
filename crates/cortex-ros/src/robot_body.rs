//! The body of the robot, as it describes itself on ROS: its URDF (`/robot_description`, as `robot_state_publisher` has it), and
//! what it senses with, by the types of the topics that its nodes publish.

use std::collections::BTreeMap;

use cortex_core::fragment::one_line;
use cortex_core::identity::Body;
use cortex_discovery_policy::Policy;
use cortex_ros_client::graph::Graph;
use thiserror::Error;

use crate::shown_nodes::GraphPolicy as _;

/// The topic of the description, in the namespace of the robot.
const DESCRIPTION_TOPIC: &str = "robot_description";
/// The largest description that is read, in bytes.
const MOST_BYTES: usize = 2 << 20;
/// The longest tag of it, in bytes.
const MOST_TAG_BYTES: usize = 4 << 10;
/// Most nodes of it: elements and texts.
const MOST_NODES: u32 = 100_000;
/// Most characters of a name that is told as wrong.
const NAME_CHARACTERS: usize = 80;
/// The package of what sensors publish.
const SENSORS: &str = "sensor_msgs/msg/";
/// What its messages mean is there. Compressed pictures and clouds come beside the others, of the same sensor.
const KINDS: [(&str, &str); 13] = [
    ("Image", "a camera"),
    ("CompressedImage", "a camera"),
    ("LaserScan", "a laser scanner"),
    ("PointCloud2", "a depth sensor"),
    ("Range", "a distance sensor"),
    ("Imu", "an inertial sensor"),
    ("NavSatFix", "satellite positioning"),
    ("BatteryState", "a battery gauge"),
    ("Temperature", "a thermometer"),
    ("RelativeHumidity", "a humidity sensor"),
    ("FluidPressure", "a pressure sensor"),
    ("Illuminance", "a light sensor"),
    ("MagneticField", "a compass"),
];
/// How joints move, in the words of URDF and of people.
const JOINTS: [(&str, &str); 5] = [
    ("continuous", "that turn without end"),
    ("revolute", "that turn"),
    ("prismatic", "that slide"),
    ("planar", "that move in a plane"),
    ("floating", "that move freely"),
];

/// A description that can't be read.
#[derive(Debug, Error)]
pub enum DescriptionError {
    /// It is too large.
    #[error("it has {bytes} bytes, and at most {MOST_BYTES} are read")]
    Large {
        /// How large it is.
        bytes: usize,
    },
    /// One of its tags is longer than any that describes a part.
    #[error("one of its tags has more than {MOST_TAG_BYTES} bytes")]
    LongTag,
    /// It is no XML.
    #[error("it is no XML: {problem}", problem = one_line(&.0.to_string(), NAME_CHARACTERS))]
    Xml(#[from] roxmltree::Error),
    /// It is XML of something else.
    #[error("its root is '{0}' and not 'robot'")]
    Foreign(String),
}

/// The topic with the description of the robot to which the node of this full name belongs.
#[must_use]
pub fn description_topic(node: &str) -> String {
    let namespace = node.rsplit_once('/').map_or("", |(namespace, _)| namespace);
    format!("{namespace}/{DESCRIPTION_TOPIC}")
}

/// The body that a URDF describes (<https://docs.ros.org/en/jazzy/Tutorials/Intermediate/URDF/URDF-Main.html>).
///
/// # Errors
/// When it is none.
pub fn body_in(urdf: &str) -> Result<Body, DescriptionError> {
    if urdf.len() > MOST_BYTES {
        return Err(DescriptionError::Large { bytes: urdf.len() });
    }
    // The attributes of a tag are compared with one another: a tag of megabytes would take hours.
    let is_long = |tag: &str| !tag.starts_with("!--") && tag.find('>').unwrap_or(tag.len()) > MOST_TAG_BYTES;
    if urdf.split('<').skip(1).any(is_long) {
        return Err(DescriptionError::LongTag);
    }
    // Definitions of entities are not read, so that none can unfold.
    let options = roxmltree::ParsingOptions { nodes_limit: MOST_NODES, ..roxmltree::ParsingOptions::default() };
    let document = roxmltree::Document::parse_with_options(urdf, options)?;
    let robot = document.root_element();
    if !robot.has_tag_name("robot") {
        return Err(DescriptionError::Foreign(one_line(robot.tag_name().name(), NAME_CHARACTERS)));
    }
    let of = |tag: &'static str| robot.children().filter(move |child| child.has_tag_name(tag));
    let count = |kind: &str| of("joint").filter(|joint| joint.attribute("type") == Some(kind)).count();
    let joints = JOINTS.iter().map(|(kind, words)| (count(kind), words)).filter(|(count, _)| *count > 0);
    Ok(Body {
        name: robot.attribute("name").unwrap_or_default().to_owned(),
        parts: of("link").count(),
        joints: joints.map(|(count, words)| format!("{count} {words}")).collect(),
    })
}

/// What the robot senses with, each with its topic, in the order of the topics. Of a camera with several topics, the first. What
/// the configuration denies is told to nobody.
pub(crate) fn sensors_on(graph: &Graph, policy: &Policy) -> Vec<String> {
    let published = policy.shown(graph).flat_map(|node| &node.publishers);
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for topic in published.filter(|topic| policy.refusal(&topic.name).is_none()) {
        let kind = topic.types.iter().find_map(|kind| {
            let kind = kind.strip_prefix(SENSORS)?;
            KINDS.iter().find(|(name, _)| *name == kind).map(|(_, words)| *words)
        });
        if let Some(words) = kind {
            found.insert(&topic.name, words);
        }
    }
    // `/camera/image` and `/camera/image/compressed` are of one.
    let is_part = |topic: &str, words: &str| {
        found
            .iter()
            .any(|(other, kind)| *kind == words && topic.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')))
    };
    let sensors = found.iter().filter(|(topic, words)| !is_part(topic, words));
    sensors.map(|(topic, words)| format!("{words} ({topic})")).collect()
}

#[cfg(test)]
mod tests {
    use cortex_discovery_policy::PolicySettings;
    use cortex_ros_client::graph::{GraphNode, Interface, NodeRole};

    use super::*;

    #[test]
    fn a_description_is_looked_for_in_the_namespace_of_the_robot() {
        assert_eq!(description_topic("/cortex"), "/robot_description");
        assert_eq!(description_topic("/robot1/cortex"), "/robot1/robot_description");
    }

    #[test]
    fn a_description_is_told_by_its_parts_and_how_they_move() {
        let urdf = r#"<?xml version="1.0"?><robot name="home">
            <link name="base"/><link name="left"/><link name="right"/><link name="lift"/>
            <joint name="l" type="continuous"/><joint name="r" type="continuous"/><joint name="s" type="prismatic"/>
            <joint name="f" type="fixed"/></robot>"#;
        let body = body_in(urdf).unwrap();
        assert_eq!((body.name.as_str(), body.parts), ("home", 4));
        assert_eq!(body.joints, ["2 that turn without end", "1 that slide"]);
    }

    #[test]
    fn what_is_no_description_is_refused_with_the_reason() {
        let bomb = r#"<!DOCTYPE robot [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>"#;
        let attributes: String = (0..1_000).map(|number| format!(" a{number}=''")).collect();
        let long = format!("<robot{attributes}/>");
        for (text, expected) in [
            ("", "it is no XML"),
            (&long, "one of its tags has more than"),
            ("<sdf/>", "its root is 'sdf'"),
            (bomb, "it is no XML"),
        ] {
            let problem = body_in(text).unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}");
        }
        assert!(body_in(&" ".repeat(MOST_BYTES + 1)).unwrap_err().to_string().contains("at most"));
    }

    #[test]
    fn what_the_robot_senses_with_is_told_once_for_each_sensor() {
        let topic =
            |(name, kind): &(&str, &str)| Interface { name: (*name).to_owned(), types: vec![(*kind).to_owned()] };
        let publishes = [
            ("/camera/image", "sensor_msgs/msg/Image"),
            ("/camera/image/compressed", "sensor_msgs/msg/CompressedImage"),
            ("/scan", "sensor_msgs/msg/LaserScan"),
            ("/scan_rear", "sensor_msgs/msg/LaserScan"),
            ("/chatter", "std_msgs/msg/String"),
        ];
        let node = GraphNode::new("/parts".to_owned(), NodeRole::Robot);
        let node = node.with_interfaces(vec![], publishes.iter().map(topic).collect(), vec![]);
        let graph = Graph::new([node]);
        let sensors = ["a camera (/camera/image)", "a laser scanner (/scan)", "a laser scanner (/scan_rear)"];
        assert_eq!(sensors_on(&graph, &Policy::default()), sensors);
        let settings = PolicySettings { deny: vec!["/camera/**".to_owned()], ..PolicySettings::default() };
        let policy = Policy::new(&settings).unwrap();
        assert_eq!(sensors_on(&graph, &policy), sensors[1..], "what is denied is told to nobody");
    }
}
