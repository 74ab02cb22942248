//! The robot, for people who look at it: maps, poses, pictures and numbers of the topics that they chose, and parameters.
//!
//! Found by type on the graph, without any configuration. A topic is subscribed to only while somebody looks at it, and is
//! read as often as a person can follow, on threads of whoever looks. What the configuration denies is not shown.

mod base_watch;
mod frames;
mod parameters;
mod rigid;
mod sights;
mod sources;
mod transforms;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::fragment::capped;
use cortex_core::{RobotPort, RobotSightStream};
use cortex_protocol::robot_view::{NodeParameter, RobotSources};
use cortex_protocol::{CommandError, CommandErrorKind};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::dynamic::parameters::{ParameterError, Parameters};
use cortex_ros_client::graph::GraphNode;
use cortex_ros_client::{GraphWatch, RosError};
use serde_json::Value;

use crate::Discovery;
use crate::built_in::has_parameters;
use crate::policy::parameter_name;
use base_watch::BaseWatch;
use frames::{Frames, SharedFrames};
use watch::TopicWatch;

/// How long a node may take to answer all questions about its parameters.
const LIMIT: Duration = Duration::from_secs(5);
/// Characters of a name that is repeated to who gave it.
const NAME_CHARACTERS: usize = 200;

/// The robot behind a graph. Clones share everything.
#[derive(Clone)]
pub struct RobotViews {
    graph: GraphWatch,
    endpoints: Endpoints,
    discovery: Discovery,
    frames: SharedFrames,
}

impl RobotViews {
    /// Of the robot on this graph.
    #[must_use]
    pub fn new(graph: &GraphWatch, endpoints: &Endpoints, discovery: &Discovery) -> Self {
        let frames = SharedFrames::default();
        Self { graph: graph.clone(), endpoints: endpoints.clone(), discovery: discovery.clone(), frames }
    }

    /// How the frames of the robot lie to each other, as long as what is returned is held.
    async fn frames(&self) -> Result<Arc<Frames>, RosError> {
        self.frames.listen(&self.endpoints, &self.discovery).await
    }

    fn parameters_of(&self) -> Parameters {
        Parameters::new(&self.endpoints, &self.discovery.shared().interfaces)
    }

    /// The node of this name, if it may be looked at and has parameters.
    fn node(&self, name: &str) -> Result<GraphNode, CommandError> {
        let graph = self.graph.current();
        let policy = &self.discovery.shared().policy;
        let node = policy.shown(&graph).find(|node| node.name == name || node.short_name() == name);
        let node = node.ok_or_else(|| {
            let name = capped(name, NAME_CHARACTERS);
            let reason = format!("there is no node {name} any more. Look at the list of nodes again.");
            CommandError::new(CommandErrorKind::NotFound, reason)
        })?;
        if has_parameters(node) {
            return Ok(node.clone());
        }
        Err(CommandError::new(CommandErrorKind::NotFound, format!("{} has no parameters.", node.name)))
    }
}

#[async_trait]
impl RobotPort for RobotViews {
    async fn sources(&self) -> Result<RobotSources, CommandError> {
        let graph = self.graph.current();
        let shared = self.discovery.shared();
        let topics = sources::Topics::of(&graph, &shared.policy);
        let numeric = topics.types_with_numbers();
        let numbers = shared.interface(move |interfaces| Ok(sources::number_fields(interfaces, &numeric))).await;
        let numbers = numbers.map_err(|problem| unavailable(&problem))?;
        Ok(topics.sources(&graph, &shared.policy, &numbers))
    }

    fn watch(&self, topic: &str, field: Option<&str>, frame: Option<&str>) -> Box<dyn RobotSightStream> {
        match topic {
            sources::ROBOT_TRANSFORMS => Box::new(BaseWatch::new(self.clone(), frame)),
            _ => Box::new(TopicWatch::new(self.clone(), topic, field, frame)),
        }
    }

    async fn parameters(&self, node: &str) -> Result<Vec<NodeParameter>, CommandError> {
        let node = self.node(node)?;
        let policy = &self.discovery.shared().policy;
        let parameters = self.parameters_of();
        let listed = parameters.list(&node.name, LIMIT).await.map_err(|problem| unavailable(&problem))?;
        let may_be_seen = |name: &String| policy.refusal(&parameter_name(&node, name)).is_none();
        let names: Vec<String> = listed.into_iter().filter(may_be_seen).take(parameters::MOST).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let (described, values) = tokio::try_join!(
            parameters.describe(&node.name, &names, LIMIT),
            parameters.get(&node.name, &names, LIMIT),
        )
        .map_err(|problem| unavailable(&problem))?;
        Ok(parameters::views(&described, values))
    }

    async fn set_parameter(&self, node: &str, name: &str, value: &Value) -> Result<(), CommandError> {
        let node = self.node(node)?;
        if let Some(refusal) = self.discovery.shared().policy.refusal(&parameter_name(&node, name)) {
            let name = capped(name, NAME_CHARACTERS);
            tracing::info!("the parameter {name} of {} was not set: {refusal}", node.name);
            let reason = format!("the configuration of this robot does not let {name} be changed: {refusal}.");
            return Err(CommandError::new(CommandErrorKind::Refused, reason));
        }
        self.parameters_of().set(&node.name, name, value, LIMIT).await.map_err(|problem| unset(&problem))
    }
}

fn unset(problem: &ParameterError) -> CommandError {
    let kind = match problem {
        ParameterError::Unknown { .. } => CommandErrorKind::NotFound,
        ParameterError::Unfit { .. } => CommandErrorKind::Invalid,
        ParameterError::ReadOnly { .. } | ParameterError::Refused { .. } => CommandErrorKind::Refused,
        ParameterError::Ros(_) => CommandErrorKind::Unavailable,
    };
    CommandError::new(kind, problem.to_string())
}

fn unavailable(problem: &RosError) -> CommandError {
    CommandError::new(CommandErrorKind::Unavailable, problem.to_string())
}

/// Whether a topic has this type, and no other.
fn is_of(types: &[String], type_name: &str) -> bool {
    matches!(types, [only] if only == type_name)
}
