//! `update_parameter`: sets a parameter of any node.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::Invocation;
use cortex_core::fragment::capped;
use cortex_protocol::{FailureKind, ToolOutcome};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::parameters::{ParameterError, Parameters};
use cortex_ros_client::graph::{Graph, GraphNode, NodeRole};
use serde_json::Value;
use tokio::time::timeout;

use super::Surroundings;
use crate::AdapterError;
use crate::built_in::has_parameters;
use crate::calls::key;
use crate::shown_nodes::{GraphPolicy as _, parameter_name};

/// How long a node may take for all questions together.
const LIMIT: Duration = Duration::from_secs(8);
/// How long the services of a node may take to be found that is on the graph already: they come a moment later.
const FOUND_LATER: Duration = Duration::from_secs(2);
/// Nodes that are named when there is no such one.
const MOST_NODES: usize = 200;
/// Characters of a name that is none.
const NAME_CHARACTERS: usize = 200;

/// Carries out a call to its end.
pub(super) async fn update(around: &Surroundings, invocation: &Invocation) -> ToolOutcome {
    let argument = |name: &str| invocation.call.arguments.get(name);
    let text = |name: &str| argument(name).and_then(Value::as_str);
    let (Some(component), Some(parameter), Some(value)) =
        (text("component"), text("param_name"), argument("new_value"))
    else {
        let problem = "'component' and 'param_name' must be names, and 'new_value' must be given";
        return ToolOutcome::failure(FailureKind::InvalidArguments, problem);
    };
    let mut graphs = around.graph.subscribe();
    let is_settled = |graph: &Arc<Graph>| graph.node(component).is_none_or(has_parameters);
    // One that has none by then has none.
    let _ = timeout(FOUND_LATER, graphs.wait_for(is_settled)).await;
    let graph = around.graph.current();
    let policy = &around.shared().policy;
    let refusal_of = |node: &GraphNode, parameter: &str| policy.refusal(&parameter_name(node, parameter));
    // What is denied is no more known than what is not there. A node that is not shown may have a parameter that is allowed.
    let is_known = |node: &&GraphNode| {
        let may_be_set = policy.denial_of_node(&node.name).is_none() && refusal_of(node, parameter).is_none();
        node.role == NodeRole::Robot && (may_be_set || policy.hidden(node).is_none())
    };
    let Some(node) = graph.node(component).filter(is_known) else {
        let known = policy.shown(&graph).take(MOST_NODES).map(|node| node.short_name().to_owned()).collect();
        let unknown = AdapterError::UnknownNode { name: capped(component, NAME_CHARACTERS), known };
        return ToolOutcome::failure(FailureKind::NotFound, unknown.to_string());
    };
    if !has_parameters(node) {
        return ToolOutcome::failure(FailureKind::NotFound, format!("{component} has no parameters"));
    }
    let parameters = Parameters::new(&around.endpoints, &around.shared().interfaces);
    let set = async {
        if let Some(refusal) = refusal_of(node, parameter) {
            tracing::info!(
                "the parameter {} was not set: {refusal}",
                capped(&parameter_name(node, parameter), NAME_CHARACTERS)
            );
            let (node, name) = (node.name.clone(), capped(parameter, NAME_CHARACTERS));
            let known = parameters.list(&node, LIMIT).await?;
            return Err(ParameterError::Unknown { node, name, known });
        }
        let change = parameters.prepare(&node.name, parameter, value, LIMIT).await?;
        let sent = around.calls.halts().unless_halted(&key(invocation), || change.send());
        let answer = match sent {
            Ok(answer) => answer,
            Err(unsent) => return Ok(unsent.outcome()),
        };
        answer?.await?;
        Ok(ToolOutcome::success(Value::Null))
    };
    match set.await {
        Ok(outcome) => outcome,
        Err(ParameterError::Unknown { node: of, name, mut known }) => {
            known.retain(|parameter| refusal_of(node, parameter).is_none());
            let problem = ParameterError::Unknown { node: of, name, known };
            ToolOutcome::failure(kind(&problem), problem.to_string())
        }
        Err(problem) => ToolOutcome::failure(kind(&problem), problem.to_string()),
    }
}

fn kind(problem: &ParameterError) -> FailureKind {
    match problem {
        ParameterError::Unknown { .. } | ParameterError::Unfit { .. } => FailureKind::InvalidArguments,
        ParameterError::ReadOnly { .. } | ParameterError::Refused { .. } => FailureKind::Reported,
        ParameterError::Ros(RosError::NoAnswer { .. }) => FailureKind::Timeout,
        ParameterError::Ros(_) => FailureKind::Unavailable,
    }
}
