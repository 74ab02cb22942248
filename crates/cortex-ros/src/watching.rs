//! Watches what conditions are about: topics of any type, parameters and the health of nodes.
//!
//! One task for each topic, for each node with parameters, and one for all components; they end with the watch.

mod components;
mod latest;
mod parameters;
pub(crate) mod topics;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::condition::Observation;
use cortex_core::{ConditionSource, ObservationStream};
use cortex_protocol::condition::Source;
use cortex_protocol::{ToolCall, ToolSpec};
use cortex_ros_client::GraphWatch;
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::graph::Graph;
use tokio::task::JoinSet;

use crate::Discovery;
use crate::following::{TopicFollower, nobody_publishes, types_of};
use latest::Latest;

/// Watches the robot. Clones share everything.
#[derive(Clone)]
pub(crate) struct RobotConditionSource {
    topics: TopicFollower,
}

impl RobotConditionSource {
    pub(crate) fn new(graph: &GraphWatch, endpoints: &Endpoints, discovery: &Discovery) -> Self {
        Self {
            topics: TopicFollower { graph: graph.clone(), endpoints: endpoints.clone(), discovery: discovery.clone() },
        }
    }

    /// What is wrong with a tool's conditions as the robot is now, for people.
    pub(crate) fn problems(&self, spec: &ToolSpec) -> Vec<String> {
        let mut problems = Vec::new();
        if let Err(error) = spec.conditions.check(&spec.parameters) {
            problems.push(error.to_string());
        }
        let evidence = spec.conditions.after.iter().flat_map(|evidence| evidence.condition.checks());
        problems.extend(evidence.filter_map(|check| self.refusal(&check.source)));
        let graph = self.topics.graph.current();
        for check in spec.conditions.all().flat_map(|condition| condition.checks()) {
            if let Source::Topic { topic, .. } = &check.source
                && types_of(&graph, topic).is_empty()
            {
                problems.push(nobody_publishes(topic));
            }
        }
        problems.sort();
        problems.dedup();
        problems
    }

    /// Why what this source tells is no evidence of anything that Cortex did.
    fn refusal(&self, source: &Source) -> Option<String> {
        let Source::Topic { topic, .. } = source else { return None };
        let may_publish = self.topics.discovery.shared().policy.may_publish(topic);
        may_publish.then(|| {
            format!(
                "{topic} may be published by Cortex itself (discovery.publish), so it shows nothing that the robot did"
            )
        })
    }
}

#[async_trait]
impl ConditionSource for RobotConditionSource {
    async fn watch(&self, sources: BTreeSet<Source>) -> Box<dyn ObservationStream> {
        let latest = Arc::new(Latest::default());
        let mut tasks = JoinSet::new();
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut nodes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut components = Vec::new();
        for source in sources {
            match source {
                Source::Topic { topic, field } => fields.entry(topic).or_default().push(field),
                Source::Parameter { parameter } => match parameter.rsplit_once('/') {
                    Some((node, name)) => nodes.entry(node.to_owned()).or_default().push(name.to_owned()),
                    None => {
                        let reason = "it is no name of a node's parameter".to_owned();
                        latest.tell(Source::Parameter { parameter }, Observation::Absent { reason });
                    }
                },
                Source::Component { component } => components.push(component),
            }
        }
        for (topic, fields) in fields {
            tasks.spawn(topics::follow(self.clone(), topic, fields, Arc::clone(&latest)));
        }
        for (node, names) in nodes {
            tasks.spawn(parameters::follow(self.clone(), node, names, Arc::clone(&latest)));
        }
        if !components.is_empty() {
            tasks.spawn(components::follow(self.clone(), components, Arc::clone(&latest)));
        }
        Box::new(RobotWatch { latest, _tasks: tasks })
    }

    fn echo(&self, source: &Source, _call: &ToolCall) -> Option<String> {
        // What a call publishes is among what may be published.
        self.refusal(source)
    }
}

/// A watch under way. Its tasks end when it is dropped.
struct RobotWatch {
    latest: Arc<Latest>,
    _tasks: JoinSet<()>,
}

#[async_trait]
impl ObservationStream for RobotWatch {
    async fn next(&mut self) -> (Source, Observation) {
        self.latest.next().await
    }
}

/// Whether a node of the robot is on the graph.
fn is_there(graph: &Graph, name: &str) -> bool {
    graph.robot_nodes().any(|node| node.name == name || node.short_name() == name)
}
