//! The fields of a topic.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::condition::{Age, Observation, at_path};
use cortex_interfaces::{InterfaceName, MessageView, WriteLimits, WriteOptions};
use cortex_protocol::condition::Source;
use cortex_ros_client::clock::RosClock;
use cortex_ros_client::dynamic::Subscription;
use cortex_ros_client::graph::Graph;
use cortex_ros_client::{QosProfile, RosError};
use serde_json::Value;
use thiserror::Error;
use tokio::sync::watch;

use super::RobotConditionSource;
use super::latest::Latest;

/// How much of a message is looked at. What is cut can't be compared.
const LIMITS: WriteLimits =
    WriteLimits { elements: 1_024, string_bytes: 4 * 1_024, binary_bytes: 0, total_bytes: 64 * 1_024 };
/// The pause before a topic that can't be read is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How long the middleware may take to connect with a publisher that is on the graph. One that was killed is never connected
/// with.
const CONNECT: Duration = Duration::from_secs(2);
/// The header whose stamp says how old a message is.
const HEADER: &str = "std_msgs/msg/Header";
/// How far the clocks of two machines may differ: so far in the future a stamp still means now.
const CLOCKS_DIFFER: Duration = Duration::from_secs(1);

/// The types with which the robot publishes a topic. What Cortex publishes does not count.
pub(crate) fn types_of(graph: &Graph, topic: &str) -> BTreeSet<String> {
    let publishers = graph.robot_nodes().flat_map(|node| &node.publishers);
    publishers.filter(|published| published.name == topic).flat_map(|published| published.types.clone()).collect()
}

/// What is told of a topic without publishers.
pub(crate) fn nobody_publishes(topic: &str) -> String {
    format!("no part of the robot publishes {topic}")
}

/// Tells of the fields with every message, and whenever nobody is there to publish any.
pub(super) async fn follow(
    condition_source: RobotConditionSource,
    topic: String,
    fields: Vec<String>,
    latest: Arc<Latest>,
) {
    let clock = condition_source.discovery.shared().node.clock().clone();
    let reading = Reading { topic, fields, latest, clock };
    let mut graph = condition_source.graph.subscribe();
    loop {
        let types = types_of(&graph.borrow_and_update(), &reading.topic);
        let mut named = types.iter();
        match (named.next(), named.next()) {
            (None, _) => reading.absent(&nobody_publishes(&reading.topic)),
            (Some(only), None) => match open(&condition_source, &reading.topic, only).await {
                Ok(heard) => {
                    reading.listen(heard, &types, &mut graph).await;
                    continue;
                }
                Err(problem) => reading.absent(&problem.to_string()),
            },
            (Some(_), Some(_)) => {
                let types: Vec<&str> = types.iter().map(String::as_str).collect();
                reading.absent(&format!("{} is published with several types: {}", reading.topic, types.join(", ")));
            }
        }
        // A graph that has ended says nothing more; the pause bounds how often it is looked.
        let _ = tokio::time::timeout(AGAIN, graph.changed()).await;
        if graph.has_changed().is_err() {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// One hears everybody from now on, the other also what was kept for who comes late; not every topic fits both.
struct Heard {
    live: Subscription,
    kept: Option<Subscription>,
}

async fn open(condition_source: &RobotConditionSource, topic: &str, type_name: &str) -> Result<Heard, RosError> {
    let type_name = type_name.to_owned();
    let interface =
        condition_source.discovery.shared().interface(move |interfaces| interfaces.message(&type_name)).await?;
    condition_source.endpoints.check_topic(topic, &interface)?;
    let (live, kept) = tokio::try_join!(
        condition_source.endpoints.subscribe(topic, &interface, QosProfile::BEST_EFFORT),
        condition_source.endpoints.subscribe(topic, &interface, QosProfile::TRANSIENT_LOCAL),
    )?;
    Ok(Heard { live, kept: Some(kept) })
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
    /// Until it is published by nobody any more, or with other types.
    async fn listen(&self, mut heard: Heard, types: &BTreeSet<String>, graph: &mut watch::Receiver<Arc<Graph>>) {
        // What comes meanwhile waits.
        if let Ok(Ok(())) = tokio::time::timeout(CONNECT, heard.live.connected()).await {
            self.each(Observation::Silent);
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
                    let Some(message) = message else { return self.ended().await };
                    // What was kept is older from now on.
                    heard.kept = None;
                    self.tell(message.view(), false);
                }
                message = kept => {
                    let Some(message) = message else { return self.ended().await };
                    self.tell(message.view(), true);
                }
                changed = graph.changed() => {
                    if changed.is_err() {
                        return self.ended().await;
                    }
                    if types_of(&graph.borrow_and_update(), &self.topic) != *types {
                        graph.mark_changed();
                        return;
                    }
                }
            }
        }
    }

    /// ROS is being shut down.
    async fn ended(&self) {
        self.absent("ROS was shut down");
        tokio::time::sleep(AGAIN).await;
    }

    fn absent(&self, reason: &str) {
        self.each(Observation::Absent { reason: reason.to_owned() });
    }

    fn each(&self, observation: Observation) {
        for field in &self.fields {
            self.latest.tell(self.source(field), observation.clone());
        }
    }

    fn tell(&self, message: MessageView<'_>, kept: bool) {
        let age = age_of(message, &self.clock);
        for field in &self.fields {
            let observation = match value_of(message, field) {
                Ok(value) => Observation::Value { value, kept, age: age.clone() },
                Err(problem) => Observation::Unusable { reason: problem.to_string() },
            };
            self.latest.tell(self.source(field), observation);
        }
    }

    fn source(&self, field: &str) -> Source {
        Source::Topic { topic: self.topic.clone(), field: field.to_owned() }
    }
}

/// How old a message is by the stamp of its header, on the clock of Cortex. One that is zero was not filled in.
fn age_of(message: MessageView<'_>, clock: &RosClock) -> Age {
    let is_header = |header: &MessageView<'_>| header.message_type().name.to_string() == HEADER;
    let Some(stamp) = message.nested("header").filter(is_header).and_then(|header| header.nested("stamp")) else {
        return Age::Arrival;
    };
    let (Some(seconds), Some(nanoseconds)) = (stamp.integer("sec"), stamp.integer("nanosec")) else {
        return Age::Arrival;
    };
    match age_at(seconds * 1_000_000_000 + nanoseconds, clock.now_ns().into()) {
        Some(Ok(age)) => Age::Stamped(age),
        Some(Err(unknown)) => Age::Unknown { reason: unknown.to_string() },
        None => Age::Arrival,
    }
}

/// Why nobody knows how old a message is.
#[derive(Debug, PartialEq, Error)]
enum UnknownAge {
    #[error("use_sim_time is set, and nothing was heard on /clock")]
    NoClock,
    #[error(
        "its stamp lies {:.1} s in the future; the clocks differ, or only one side has use_sim_time", .ahead.as_secs_f64()
    )]
    InFuture { ahead: Duration },
}

/// Why a field can't be used.
#[derive(Debug, PartialEq, Error)]
pub(crate) enum FieldProblem {
    #[error("{message_type} has no field '{field}'")]
    Missing { message_type: InterfaceName, field: String },
    #[error("'{field}' is too long to be compared")]
    TooLong { field: String },
}

/// How old what has this stamp is, both in nanoseconds. None: it has none.
fn age_at(stamp: i128, now: i128) -> Option<Result<Duration, UnknownAge>> {
    if stamp == 0 {
        return None;
    }
    if now == 0 {
        return Some(Err(UnknownAge::NoClock));
    }
    if stamp > now {
        let ahead = Duration::from_nanos(u64::try_from(stamp - now).unwrap_or(u64::MAX));
        return Some(if ahead <= CLOCKS_DIFFER { Ok(Duration::ZERO) } else { Err(UnknownAge::InFuture { ahead }) });
    }
    Some(Ok(Duration::from_nanos(u64::try_from(now - stamp).unwrap_or(u64::MAX))))
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
    use std::sync::Arc;

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
        reading.tell(Message::from_json(&interface, &stamped, &ReadOptions::exact()).unwrap().view(), false);
        let (_, observation) = reading.latest.next().await;
        let age = Age::Stamped(Duration::from_secs(10));
        assert_eq!(observation, Observation::Value { value: json!(1.5), kept: false, age });
    }

    #[test]
    fn regression_a_message_that_arrives_late_is_as_old_as_its_stamp() {
        let interfaces = Interfaces::from_environment();
        let clock = RosClock::simulated();
        let age = |type_name: &str, message: Value| {
            let interface = interfaces.message(type_name).unwrap();
            age_of(Message::from_json(&interface, &message, &ReadOptions::exact()).unwrap().view(), &clock)
        };
        let odometry = |seconds: i32| {
            age("nav_msgs/msg/Odometry", json!({"header": {"stamp": {"sec": seconds, "nanosec": 500_000_000}}}))
        };
        assert!(matches!(odometry(90), Age::Unknown { reason } if reason.contains("/clock")));
        clock.set(r2r::builtin_interfaces::msg::Time { sec: 100, nanosec: 0 });
        assert_eq!(odometry(90), Age::Stamped(Duration::from_millis(9_500)));
        assert_eq!(odometry(100), Age::Stamped(Duration::ZERO));
        assert!(matches!(odometry(130), Age::Unknown { reason } if reason.contains("30.5 s in the future")));
        assert_eq!(age("nav_msgs/msg/Odometry", json!({})), Age::Arrival, "a stamp of zero is none");
        assert_eq!(age("std_msgs/msg/String", json!({"data": "x"})), Age::Arrival);
        assert_eq!(
            age_at(i128::from(i32::MIN) * 1_000_000_000, 1),
            Some(Ok(Duration::from_nanos(2_147_483_648_000_000_001)))
        );
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
