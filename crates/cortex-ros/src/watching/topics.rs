//! The fields of a topic.

use std::sync::Arc;

use cortex_core::condition::{Observation, at_path};
use cortex_interfaces::{InterfaceName, MessageView, WriteLimits, WriteOptions};
use cortex_protocol::condition::Source;
use cortex_ros_client::clock::RosClock;
use serde_json::Value;
use thiserror::Error;

use super::RobotConditionSource;
use super::latest::Latest;
use crate::following::TopicListener;
use crate::message_age::age_of;

/// How much of a message is looked at. What is cut can't be compared.
const LIMITS: WriteLimits =
    WriteLimits { elements: 1_024, string_bytes: 4 * 1_024, binary_bytes: 0, total_bytes: 64 * 1_024 };

/// Tells of the fields with every message, and whenever nobody is there to publish any.
pub(super) async fn follow(
    condition_source: RobotConditionSource,
    topic: String,
    fields: Vec<String>,
    latest: Arc<Latest>,
) {
    let clock = condition_source.topics.discovery.shared().node.clock().clone();
    let reading = Reading { topic, fields, latest, clock };
    condition_source.topics.follow(&reading.topic, &reading).await;
}

/// What is told of a topic.
struct Reading {
    topic: String,
    fields: Vec<String>,
    latest: Arc<Latest>,
    /// The clock of the stamps.
    clock: RosClock,
}

impl Reading {
    fn each(&self, observation: Observation) {
        for field in &self.fields {
            self.latest.tell(self.source(field), observation.clone());
        }
    }

    fn source(&self, field: &str) -> Source {
        Source::Topic { topic: self.topic.clone(), field: field.to_owned() }
    }
}

impl TopicListener for Reading {
    fn silent(&self) {
        self.each(Observation::Silent);
    }

    fn absent(&self, reason: &str) {
        self.each(Observation::Absent { reason: reason.to_owned() });
    }

    fn message(&self, message: MessageView<'_>, kept: bool) {
        let age = age_of(message, &self.clock);
        for field in &self.fields {
            let observation = match value_of(message, field) {
                Ok(value) => Observation::Value { value, kept, age: age.clone() },
                Err(problem) => Observation::Unusable { reason: problem.to_string() },
            };
            self.latest.tell(self.source(field), observation);
        }
    }
}

/// Why a field can't be used.
#[derive(Debug, PartialEq, Error)]
pub(crate) enum FieldProblem {
    #[error("{message_type} has no field '{field}'")]
    Missing { message_type: InterfaceName, field: String },
    #[error("'{field}' is too long to be compared")]
    TooLong { field: String },
}

/// The value of a field, by the names of the message's definition.
///
/// # Errors
/// When it can't be used.
pub(crate) fn value_of(message: MessageView<'_>, field: &str) -> Result<Value, FieldProblem> {
    // As far as messages lie within messages, nothing beside them is written.
    let (mut view, mut rest) = (message, field);
    while let Some((first, inner)) = rest.split_once('.') {
        let Some(nested) = view.nested(first) else { break };
        (view, rest) = (nested, inner);
    }
    let written = view.to_json(&WriteOptions { limits: LIMITS, ..WriteOptions::exact() });
    let Some(value) = at_path(&written.value, rest) else {
        let message_type = message.message_type().name.clone();
        return Err(FieldProblem::Missing { message_type, field: field.to_owned() });
    };
    let is_cut = written.left_out.iter().any(|cut| touches(&cut.path, rest));
    if is_cut {
        return Err(FieldProblem::TooLong { field: field.to_owned() });
    }
    Ok(value.clone())
}

/// Whether what was cut at the path `cut` (`a.b[3].c`) is the field, or within it.
fn touches(cut: &str, field: &str) -> bool {
    let cut: Vec<&str> = cut.split(['.', '[', ']']).filter(|part| !part.is_empty()).collect();
    let field: Vec<&str> = field.split('.').filter(|part| !part.is_empty()).collect();
    cut.starts_with(&field)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cortex_core::condition::Age;
    use cortex_interfaces::{Interfaces, Message, ReadOptions};
    use serde_json::json;

    use super::*;

    fn seen(type_name: &str, message: &Value, field: &str) -> Result<Value, String> {
        let interface: Arc<_> = Interfaces::from_environment().message(type_name).unwrap();
        let message = Message::from_json(&interface, message, &ReadOptions::exact()).unwrap();
        value_of(message.view(), field).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_field_is_found_by_the_names_of_the_definition() {
        let odometry = json!({"pose": {"pose": {"position": {"x": 1.5}}, "covariance": vec![0.25; 36]}});
        let seen = |field| seen("nav_msgs/msg/Odometry", &odometry, field);
        assert_eq!(seen("pose.pose.position.x"), Ok(json!(1.5)));
        assert_eq!(seen("pose.covariance.35"), Ok(json!(0.25)));
        assert_eq!(seen("pose.pose.position"), Ok(json!({"x": 1.5, "y": 0.0, "z": 0.0})));
        assert_eq!(seen("pose.pose.speed"), Err("nav_msgs/msg/Odometry has no field 'pose.pose.speed'".to_owned()));
        assert_eq!(
            seen("pose.covariance.36"),
            Err("nav_msgs/msg/Odometry has no field 'pose.covariance.36'".to_owned())
        );
    }

    #[tokio::test]
    async fn regression_the_age_of_a_message_was_not_told_with_its_values() {
        let clock = RosClock::simulated();
        clock.set(r2r::builtin_interfaces::msg::Time { sec: 100, nanosec: 0 });
        let (topic, field) = ("/odom".to_owned(), "pose.pose.position.x".to_owned());
        let reading = Reading { topic, fields: vec![field], latest: Arc::default(), clock };
        let interface = Interfaces::from_environment().message("nav_msgs/msg/Odometry").unwrap();
        let stamped = json!({"header": {"stamp": {"sec": 90}}, "pose": {"pose": {"position": {"x": 1.5}}}});
        reading.message(Message::from_json(&interface, &stamped, &ReadOptions::exact()).unwrap().view(), false);
        let (_, observation) = reading.latest.next().await;
        let age = Age::Stamped(Duration::from_secs(10));
        assert_eq!(observation, Observation::Value { value: json!(1.5), kept: false, age });
    }

    #[test]
    fn what_is_too_long_is_not_compared_and_what_is_beside_it_is() {
        let scan = json!({"range_min": 0.5, "ranges": vec![1.0; 5_000]});
        let seen = |field| seen("sensor_msgs/msg/LaserScan", &scan, field);
        assert_eq!(seen("range_min"), Ok(json!(0.5)));
        assert_eq!(seen("ranges.7"), Ok(json!(1.0)));
        assert_eq!(seen("ranges"), Err("'ranges' is too long to be compared".to_owned()));
        assert!(seen("ranges.4999").is_err());
    }
}
