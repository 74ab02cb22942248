//! The parameters of a node. It is asked again and again: not every node tells when one changes.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::condition::{Age, Observation};
use cortex_protocol::condition::Source;
use cortex_ros_client::dynamic::parameters::Parameters;
use tokio::time::MissedTickBehavior;

use super::RobotConditionSource;
use super::latest::Latest;

/// How often a node is asked.
const PERIOD: Duration = Duration::from_millis(500);
/// How long it may take to answer.
const LIMIT: Duration = Duration::from_secs(1);

/// Tells of the parameters whenever the node was asked.
pub(super) async fn follow(
    condition_source: RobotConditionSource,
    node: String,
    names: Vec<String>,
    latest: Arc<Latest>,
) {
    let parameters =
        Parameters::new(&condition_source.topics.endpoints, &condition_source.topics.discovery.shared().interfaces);
    let mut turns = tokio::time::interval(PERIOD);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let answer = if super::is_there(&condition_source.topics.graph.current(), &node) {
            parameters.get(&node, &names, LIMIT).await.map_err(|problem| problem.to_string())
        } else {
            Err(format!("{node} is not on the graph"))
        };
        for name in &names {
            let source = Source::Parameter { parameter: format!("{node}/{name}") };
            let observation = match &answer {
                Err(reason) => Observation::Absent { reason: reason.clone() },
                Ok(values) => match values.iter().find(|(found, value)| found == name && !value.is_null()) {
                    Some((_, value)) => Observation::Value { value: value.clone(), kept: false, age: Age::Arrival },
                    None => Observation::Unusable { reason: format!("{node} has no parameter '{name}' that is set") },
                },
            };
            latest.tell(source, observation);
        }
    }
}
