//! `update_parameter`: sets a parameter of any node.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::Invocation;
use cortex_core::fragment::capped;
use cortex_protocol::{CancelMode, Dispatch, Effect, FailureKind, ToolOutcome, ToolPhase, ToolSpec};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::parameters::{ParameterError, Parameters};
use cortex_ros_client::graph::{Graph, GraphNode, NodeRole};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Surroundings;
use crate::AdapterError;
use crate::calls::key;

/// The tool's name.
pub(crate) const UPDATE: &str = "update_parameter";

/// How long a node may take for all questions together.
const LIMIT: Duration = Duration::from_secs(8);
/// How long the tool may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long the services of a node may take to be found that is on the graph already: they come a moment later.
const FOUND_LATER: Duration = Duration::from_secs(2);
/// Nodes that are named when there is no such one.
const MOST_NODES: usize = 200;
/// Characters of a name that is none.
const NAME_CHARACTERS: usize = 200;

/// The tool, for a robot with these nodes. None where none of them has parameters.
pub(crate) fn tool<'a>(mut nodes: impl Iterator<Item = &'a GraphNode>) -> Option<ToolSpec> {
    nodes.find(|node| has_parameters(node))?;
    Some(ToolSpec {
        name: UPDATE.into(),
        description: "Changes a parameter of a component of the robot. inspect_component shows the parameters of a \
                      component, with their types, values and ranges."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "component": {"type": "string", "description": "Which component."},
                "param_name": {"type": "string", "description": "The name of the parameter."},
                "new_value": {
                    "type": ["boolean", "number", "string", "array"],
                    "items": {"type": ["boolean", "number", "string"]},
                    "description": "Of the parameter's own type.",
                },
            },
            "required": ["component", "param_name", "new_value"],
            "additionalProperties": false,
        }),
        phase: ToolPhase::Execution,
        effect: Effect::Act,
        effect_source: cortex_protocol::EffectSource::Assumed,
        resources: Vec::new(),
        timeout: TIMEOUT,
        dispatch: Dispatch::Wait,
        // A change is made at once or not at all: nothing goes on.
        cancel: CancelMode::Drop,
        component: None,
        phrases: vec!["set the parameter {param_name} of {component} to {new_value}".to_owned()],
        conditions: cortex_protocol::Conditions::default(),
        serves: None,
        outlives_process: false,
    })
}

/// Whether the node lets its parameters be seen.
pub(crate) fn has_parameters(node: &GraphNode) -> bool {
    node.offers("list_parameters", "rcl_interfaces/srv/ListParameters")
}

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
    let refusal_of = |node: &GraphNode, parameter: &str| policy.refusal(&name_of(node, parameter));
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
                capped(&name_of(node, parameter), NAME_CHARACTERS)
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

/// The name by which the configuration knows a parameter: `/base/max_speed`.
pub(crate) fn name_of(node: &GraphNode, parameter: &str) -> String {
    format!("{}/{parameter}", node.name)
}

fn kind(problem: &ParameterError) -> FailureKind {
    match problem {
        ParameterError::Unknown { .. } | ParameterError::Unfit { .. } => FailureKind::InvalidArguments,
        ParameterError::ReadOnly { .. } | ParameterError::Refused { .. } => FailureKind::Reported,
        ParameterError::Ros(RosError::NoAnswer { .. }) => FailureKind::Timeout,
        ParameterError::Ros(_) => FailureKind::Unavailable,
    }
}
