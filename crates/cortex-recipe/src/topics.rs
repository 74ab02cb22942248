//! What a recipe says of topics: which it looks at, who publishes them, and of which type they are.

use cortex_protocol::Condition;
use cortex_protocol::condition::{Check, Source};

use crate::{ActionKind, Recipe};

/// How the type of a topic is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The recipe says it: `publishes` of a component, or an action that publishes there.
    Said,
    /// Nearly every robot has it so: `/odom` is a `nav_msgs/msg/Odometry`. `publishes` says where it is not.
    Usual,
}

/// A condition of the recipe that looks at a topic, or the progress of a component.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicUse<'a> {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// The topic.
    pub topic: &'a str,
    /// The field, a path with dots. Empty: the whole message.
    pub field: &'a str,
    /// How it is compared, in a condition.
    pub check: Option<&'a Check>,
}

/// The types of topics that nearly every robot has under these names, the last part of a full name.
const USUAL: [(&str, &str); 6] = [
    ("battery_state", "sensor_msgs/msg/BatteryState"),
    ("odom", "nav_msgs/msg/Odometry"),
    ("scan", "sensor_msgs/msg/LaserScan"),
    ("joint_states", "sensor_msgs/msg/JointState"),
    ("cmd_vel", "geometry_msgs/msg/Twist"),
    ("diagnostics", "diagnostic_msgs/msg/DiagnosticArray"),
];

/// Topics that any node may publish.
const COMMON: [&str; 6] = ["/diagnostics", "/clock", "/tf", "/tf_static", "/rosout", "/parameter_events"];

impl Recipe {
    /// The type of a topic, as far as the recipe tells it.
    #[must_use]
    pub fn type_of_topic(&self, topic: &str) -> Option<(&str, Known)> {
        let published = self.components.values().find_map(|component| component.publishes.get(topic));
        let said = published.or_else(|| {
            self.actions.values().find_map(|action| match &action.kind {
                ActionKind::Topic(message) if message.name == topic => Some(&message.interface),
                _ => None,
            })
        });
        if let Some(said) = said {
            return Some((said, Known::Said));
        }
        let last = topic.rsplit('/').next().unwrap_or_default();
        USUAL.iter().find(|(name, _)| *name == last).map(|(_, interface)| (*interface, Known::Usual))
    }

    /// Whether the recipe says who publishes a topic: a component by `publishes`, by its `progress`, or by its name,
    /// which the topic is below.
    #[must_use]
    pub fn says_who_publishes(&self, topic: &str) -> bool {
        let below =
            |node: &str| topic.trim_start_matches('/').strip_prefix(node).is_some_and(|rest| rest.starts_with('/'));
        COMMON.contains(&topic)
            || below("cortex")
            || self.components.iter().any(|(name, component)| {
                below(name.as_str())
                    || component.publishes.contains_key(topic)
                    || component.progress.iter().any(|progress| progress.topic.as_deref() == Some(topic))
            })
    }

    /// Every topic that the recipe looks at, in the order of its components and events.
    #[must_use]
    pub fn topic_uses(&self) -> Vec<TopicUse<'_>> {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        let mut uses = Vec::new();
        for (name, component) in &self.components {
            for (index, progress) in component.progress.iter().enumerate() {
                let Some(topic) = &progress.topic else { continue };
                uses.push(TopicUse {
                    path: keys(&["components", name.as_str(), "progress", &index.to_string()]),
                    topic,
                    field: progress.field.as_deref().unwrap_or_default(),
                    check: None,
                });
            }
        }
        for (path, check) in self.event_checks() {
            if let Source::Topic { topic, field } = &check.source {
                uses.push(TopicUse { path, topic, field, check: Some(check) });
            }
        }
        uses
    }

    /// Every comparison of every event, with the keys that lead to its condition.
    #[must_use]
    pub fn event_checks(&self) -> Vec<(Vec<String>, &Check)> {
        let mut checks = Vec::new();
        for (name, event) in &self.events {
            for (key, condition) in [("when", Some(&event.when)), ("until", event.until.as_ref())] {
                let path = || vec!["events".to_owned(), name.as_str().to_owned(), key.to_owned()];
                checks.extend(condition.into_iter().flat_map(Condition::checks).map(|check| (path(), check)));
            }
        }
        checks
    }
}
