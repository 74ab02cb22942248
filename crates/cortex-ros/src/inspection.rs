//! `inspect_component`: what can be learnt of a node of the robot, as JSON in a stable order.
//!
//! It works for every node, a Cortex component or not. Everything is bounded, in time and in size.

use std::time::Duration;

use cortex_core::fragment::capped;
use cortex_protocol::{CancelMode, Dispatch, Effect, ToolPhase, ToolSpec};
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, OfferKind, is_infrastructure};
use crate::directory::component_name;
use crate::dynamic::parameters::{Descriptor, Parameters};
use crate::dynamic::{Endpoints, lifecycle};
use crate::graph::{GraphNode, Interface};
use crate::tools::parameter::has_parameters;
use crate::{Discovery, GraphWatch, RosError};

/// The tool's name.
pub(crate) const TOOL: &str = "inspect_component";

/// How long a node may take for one question. A busy component is described without the answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// How long the whole tool may take: two questions in turn, and the time until the services are seen.
const TOOL_TIMEOUT: Duration = Duration::from_secs(10);
/// Nodes that the tool's schema lists.
const MOST_NODES: usize = 200;
/// Interfaces of one kind, and parameters, that are listed.
const MOST_INTERFACES: usize = 60;
const MOST_PARAMETERS: usize = 100;
/// Characters of one parameter's value.
const VALUE_CHARACTERS: usize = 300;
/// Characters of a parameter's description.
const DESCRIPTION_CHARACTERS: usize = 200;

/// The tool, for a robot with these nodes. None where there is nothing to inspect.
pub(crate) fn tool<'a>(nodes: impl Iterator<Item = &'a str>) -> Option<ToolSpec> {
    let names: Vec<&str> = nodes.take(MOST_NODES).collect();
    if names.is_empty() {
        return None;
    }
    Some(ToolSpec {
        name: TOOL.into(),
        description: "Shows what a component of the robot is and how it is: its summary, topics, services, actions, \
                      parameters with their values, lifecycle state, health, and the tools that it offers."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"component": {"type": "string", "enum": names, "description": "Which component."}},
            "required": ["component"],
            "additionalProperties": false,
        }),
        phase: ToolPhase::Planning,
        effect: Effect::Observe,
        resources: Vec::new(),
        timeout: TOOL_TIMEOUT,
        dispatch: Dispatch::Wait,
        cancel: CancelMode::Drop,
        component: None,
        phrases: ["inspect {component}", "inspect the {component}", "what can the {component} do"]
            .map(str::to_owned)
            .to_vec(),
        conditions: cortex_protocol::Conditions::default(),
        serves: None,
    })
}

/// Looks at nodes.
pub(crate) struct Inspector {
    graph: GraphWatch,
    discovery: Discovery,
    endpoints: Endpoints,
}

impl Inspector {
    pub(crate) fn new(graph: &GraphWatch, endpoints: &Endpoints, discovery: &Discovery) -> Self {
        Self { graph: graph.clone(), endpoints: endpoints.clone(), discovery: discovery.clone() }
    }

    /// What is known of the node of this name, with or without the leading slash.
    pub(crate) async fn inspect(&self, name: &str) -> Result<Value, RosError> {
        let graph = self.graph.current();
        let Some(node) = graph.node(name) else {
            let known = graph.robot_nodes().take(MOST_NODES).map(|node| node.short_name().to_owned()).collect();
            return Err(RosError::UnknownNode { name: capped(name, VALUE_CHARACTERS), known });
        };
        let catalog = self.discovery.catalog().borrow().clone();
        let (parameters, lifecycle) = tokio::join!(self.parameters(node), self.lifecycle(node));
        let mut report = Map::from_iter([
            ("component".to_owned(), json!(node.short_name())),
            ("topics_in".to_owned(), interfaces(&node.subscriptions)),
            ("topics_out".to_owned(), interfaces(&node.publishers)),
            ("services".to_owned(), callable(&node.services, OfferKind::Service, &catalog)),
            ("actions".to_owned(), callable(&node.actions, OfferKind::Action, &catalog)),
            ("parameters".to_owned(), parameters),
            ("lifecycle".to_owned(), lifecycle),
        ]);
        report.append(&mut self.as_component(node));
        Ok(Value::Object(report))
    }

    /// What only a Cortex component says of itself; null and empty for other nodes.
    fn as_component(&self, node: &GraphNode) -> Map<String, Value> {
        let name = component_name(&node.name);
        let directory = self.discovery.directory().borrow().clone();
        let component = directory.component(&name);
        let description = component.and_then(|component| component.description.as_deref());
        let tools: Vec<Value> = description
            .map(|description| description.tools(&name))
            .unwrap_or_default()
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "phase": tool.phase,
                    "effect": tool.effect,
                    "timeout_s": tool.timeout.as_secs_f64(),
                })
            })
            .collect();
        let health = self.discovery.shared().heartbeats.health(&name).map(|health| {
            json!({
                "status": health.status.to_string(),
                "message": health.message,
                "sources": health.sources,
            })
        });
        Map::from_iter([
            ("summary".to_owned(), json!(description.map(|description| &description.summary))),
            ("state".to_owned(), json!(component.map(|component| component.state.to_string()))),
            ("problems".to_owned(), json!(component.map(|component| &component.problems))),
            ("health".to_owned(), json!(health)),
            ("tools".to_owned(), json!(tools)),
        ])
    }

    /// The parameters with their values, or why there are none.
    async fn parameters(&self, node: &GraphNode) -> Value {
        if !has_parameters(node) {
            return Value::Null;
        }
        match self.read_parameters(&node.name).await {
            Ok(values) => values,
            Err(problem) => json!(format!("not known: {problem}")),
        }
    }

    async fn read_parameters(&self, node: &str) -> Result<Value, RosError> {
        let parameters = Parameters::new(&self.endpoints, &self.discovery.shared().interfaces);
        let mut names = parameters.list(node, ANSWER_LIMIT).await?;
        let left_out = names.len().saturating_sub(MOST_PARAMETERS);
        names.truncate(MOST_PARAMETERS);
        let (values, described) = tokio::try_join!(
            parameters.get(node, &names, ANSWER_LIMIT),
            parameters.describe(node, &names, ANSWER_LIMIT)
        )?;
        let mut report: Map<String, Value> = values
            .into_iter()
            .map(|(name, value)| {
                let descriptor = described.iter().find(|descriptor| descriptor.name == name);
                (name, as_parameter(value, descriptor))
            })
            .collect();
        note_left_out(&mut report, left_out);
        Ok(Value::Object(report))
    }

    async fn lifecycle(&self, node: &GraphNode) -> Value {
        if !node.offers("get_state", "lifecycle_msgs/srv/GetState") {
            return Value::Null;
        }
        let interfaces = &self.discovery.shared().interfaces;
        match lifecycle::state(&self.endpoints, interfaces, &node.name, ANSWER_LIMIT).await {
            Ok(label) => json!(capped(&label, VALUE_CHARACTERS)),
            Err(problem) => json!(format!("not known: {problem}")),
        }
    }
}

/// A parameter's value, and what the node says of what it may be, as far as it says something.
fn as_parameter(value: Value, descriptor: Option<&Descriptor>) -> Value {
    let mut parameter = Map::from_iter([("value".to_owned(), short(value))]);
    let Some(descriptor) = descriptor else { return Value::Object(parameter) };
    parameter.insert("type".to_owned(), json!(descriptor.parameter_type.to_string()));
    if descriptor.read_only {
        parameter.insert("read_only".to_owned(), json!(true));
    }
    if let Some(range) = &descriptor.range {
        parameter.insert("range".to_owned(), json!(range.to_string()));
    }
    for (name, text) in [("description", &descriptor.description), ("constraints", &descriptor.constraints)] {
        if !text.is_empty() {
            parameter.insert(name.to_owned(), json!(capped(text, DESCRIPTION_CHARACTERS)));
        }
    }
    Value::Object(parameter)
}

/// Name to type and tool, or to type and the reason why there is no tool.
fn callable(all: &[Interface], kind: OfferKind, catalog: &Catalog) -> Value {
    let shown: Vec<&Interface> = all.iter().filter(|interface| !is_infrastructure(interface)).collect();
    let mut report: Map<String, Value> = shown
        .iter()
        .take(MOST_INTERFACES)
        .map(|interface| {
            let mut about = Map::from_iter([("type".to_owned(), json!(interface.types.join(" or ")))]);
            if let Some(tool) = catalog.tool_for(&interface.name, kind) {
                about.insert("tool".to_owned(), json!(tool));
            } else {
                let reason = catalog.reason_for(&interface.name, kind).unwrap_or("its type is being loaded");
                about.insert("not_callable".to_owned(), json!(reason));
            }
            (interface.name.clone(), Value::Object(about))
        })
        .collect();
    note_left_out(&mut report, shown.len().saturating_sub(MOST_INTERFACES));
    Value::Object(report)
}

/// Name to type, without what belongs to the infrastructure.
fn interfaces(all: &[Interface]) -> Value {
    let shown: Vec<&Interface> = all.iter().filter(|interface| !is_infrastructure(interface)).collect();
    let mut report: Map<String, Value> = shown
        .iter()
        .take(MOST_INTERFACES)
        .map(|interface| (interface.name.clone(), json!(interface.types.join(" or "))))
        .collect();
    note_left_out(&mut report, shown.len().saturating_sub(MOST_INTERFACES));
    Value::Object(report)
}

fn note_left_out(report: &mut Map<String, Value>, left_out: usize) {
    if left_out > 0 {
        report.insert("...".to_owned(), json!(format!("{left_out} more are left out")));
    }
}

/// The value, or its beginning where it is long.
fn short(value: Value) -> Value {
    let text = value.to_string();
    if text.len() <= VALUE_CHARACTERS { value } else { json!(capped(&text, VALUE_CHARACTERS)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, type_name: &str) -> Interface {
        Interface { name: name.to_owned(), types: vec![type_name.to_owned()] }
    }

    #[test]
    fn what_belongs_to_the_infrastructure_is_left_out() {
        let shown = interfaces(&[
            interface("/base/get_parameters", "rcl_interfaces/srv/GetParameters"),
            interface("/base/describe", "cortex_msgs/srv/DescribeComponent"),
            interface("/base/drive/_action/send_goal", "nav_msgs/action/Drive_SendGoal"),
            interface("/rosout", "rcl_interfaces/msg/Log"),
            interface("/base/reset", "std_srvs/srv/Trigger"),
        ]);
        assert_eq!(shown, json!({"/base/reset": "std_srvs/srv/Trigger"}));
    }

    #[test]
    fn a_flood_is_cut_and_the_cut_is_named() {
        let flood: Vec<Interface> = (0..1000).map(|number| interface(&format!("/t{number:04}"), "x/msg/Y")).collect();
        let shown = interfaces(&flood);
        assert_eq!(shown["..."], "940 more are left out");
        assert_eq!(shown.as_object().unwrap().len(), MOST_INTERFACES + 1);
        assert!(short(json!("x".repeat(100_000))).to_string().len() < 2 * VALUE_CHARACTERS);
    }

    #[test]
    fn the_tool_names_the_nodes_and_is_not_offered_without_any() {
        assert!(tool(std::iter::empty()).is_none());
        let tool = tool(["arm/gripper", "base"].into_iter()).unwrap();
        assert_eq!(tool.parameters["properties"]["component"]["enum"], json!(["arm/gripper", "base"]));
    }
}
