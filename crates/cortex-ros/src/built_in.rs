//! The tools that Cortex itself has on every robot.

use std::time::Duration;

use cortex_protocol::{CancelMode, Dispatch, Effect, ToolPhase, ToolSpec};
use cortex_ros_client::graph::{Graph, GraphNode};
use serde_json::json;

use crate::catalog::Catalog;
use crate::shown_nodes::GraphPolicy as _;
use cortex_discovery_policy::Policy;

/// The names of the tools.
pub(crate) const INSPECT_COMPONENT: &str = "inspect_component";
pub(crate) const READ_TOPIC: &str = "read_topic";
pub(crate) const UPDATE_PARAMETER: &str = "update_parameter";

/// How long `inspect_component` may take: two questions in turn, and the time until the services are seen.
const INSPECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Nodes that its schema lists.
pub(crate) const MOST_NODES: usize = 200;
/// How long `read_topic` waits for a message, in seconds, unless the call says otherwise, and at most.
pub(crate) const WAIT_S: f64 = 5.0;
pub(crate) const LONGEST_WAIT_S: f64 = 30.0;
/// What subscribing may take besides.
const READ_MARGIN: Duration = Duration::from_secs(5);
/// How long `update_parameter` may take.
const UPDATE_TIMEOUT: Duration = Duration::from_secs(10);

/// Those that are of use on this robot, in a stable order.
pub(crate) fn tools(graph: &Graph, catalog: &Catalog, policy: &Policy) -> Vec<ToolSpec> {
    let inspect = inspect_component(policy.shown(graph).map(GraphNode::short_name));
    inspect.into_iter().chain(read_topic(catalog)).chain(update_parameter(policy.shown(graph))).collect()
}

/// The tool that inspects, for a robot with these nodes. None where there is nothing to inspect.
fn inspect_component<'a>(nodes: impl Iterator<Item = &'a str>) -> Option<ToolSpec> {
    let names: Vec<&str> = nodes.take(MOST_NODES).collect();
    if names.is_empty() {
        return None;
    }
    Some(
        ToolSpec::new(
            INSPECT_COMPONENT.into(),
            "Shows what a component of the robot is and how it is: its summary, topics, services, actions, \
                      parameters with their values, lifecycle state, health, and the tools that it offers."
                .to_owned(),
        )
        .with_parameters(json!({
            "type": "object",
            "properties": {"component": {"type": "string", "enum": names, "description": "Which component."}},
            "required": ["component"],
            "additionalProperties": false,
        }))
        .with_phase(ToolPhase::Planning)
        .with_effect(Effect::Observe)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(INSPECT_TIMEOUT)
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Drop)
        .with_phrases(
            ["inspect {component}", "inspect the {component}", "what can the {component} do"]
                .map(str::to_owned)
                .to_vec(),
        ),
    )
}

/// The tool that reads, for a robot with topics. None where there is nothing to read.
fn read_topic(catalog: &Catalog) -> Option<ToolSpec> {
    catalog.topics().next()?;
    Some(
        ToolSpec::new(
            READ_TOPIC.into(),
            "Reads one message of a topic of the robot: the latest where the topic keeps it, otherwise the next. \
                      Binary data and what is long is left out. inspect_component shows the topics of a component."
                .to_owned(),
        )
        .with_parameters(json!({
            "type": "object",
            "properties": {
                "topic": {"type": "string", "description": "The full name of the topic, such as \"/odom\"."},
                "timeout": {
                    "type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_WAIT_S, "default": WAIT_S,
                    "description": "How long to wait for a message, in seconds.",
                },
            },
            "required": ["topic"],
            "additionalProperties": false,
        }))
        .with_phase(ToolPhase::Both)
        .with_effect(Effect::Observe)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(Duration::from_secs_f64(LONGEST_WAIT_S) + READ_MARGIN)
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Drop)
        .with_phrases(vec!["read the topic {topic}".to_owned()]),
    )
}

/// The tool that sets a parameter, for a robot with these nodes. None where none of them has parameters.
fn update_parameter<'a>(mut nodes: impl Iterator<Item = &'a GraphNode>) -> Option<ToolSpec> {
    nodes.find(|node| has_parameters(node))?;
    Some(
        ToolSpec::new(
            UPDATE_PARAMETER.into(),
            "Changes a parameter of a component of the robot. inspect_component shows the parameters of a \
                      component, with their types, values and ranges."
                .to_owned(),
        )
        .with_parameters(json!({
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
        }))
        .with_phase(ToolPhase::Execution)
        .with_effect(Effect::Act)
        .with_effect_source(cortex_protocol::EffectSource::Assumed)
        .with_timeout(UPDATE_TIMEOUT)
        .with_dispatch(Dispatch::Wait)
        // A change is made at once or not at all: nothing goes on.
        .with_cancel(CancelMode::Drop)
        .with_phrases(vec!["set the parameter {param_name} of {component} to {new_value}".to_owned()]),
    )
}

/// Whether the node lets its parameters be seen.
pub(crate) fn has_parameters(node: &GraphNode) -> bool {
    node.offers("list_parameters", "rcl_interfaces/srv/ListParameters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_names_the_nodes_and_is_not_offered_without_any() {
        assert!(inspect_component(std::iter::empty()).is_none());
        let tool = inspect_component(["arm/gripper", "base"].into_iter()).unwrap();
        assert_eq!(tool.parameters["properties"]["component"]["enum"], json!(["arm/gripper", "base"]));
    }
}
