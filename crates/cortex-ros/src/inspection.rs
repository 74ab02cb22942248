//! `inspect_component`: what can be learnt of a node of the robot, as JSON in a stable order.
//!
//! It works for every node, a Cortex component or not. Everything is bounded, in time and in size. What the configuration
//! denies is invisible to a model; a person at the terminal, whose configuration it is, sees it marked.

use std::time::Duration;

use cortex_core::fragment::capped;
use cortex_protocol::{Conditions, Evidence};
use cortex_ros_client::dynamic::parameters::{Descriptor, Parameters};
use cortex_ros_client::dynamic::{Endpoints, lifecycle};
use cortex_ros_client::graph::{GraphNode, Interface};
use cortex_ros_client::{GraphWatch, RosError};
use serde_json::{Map, Value, json};

use crate::built_in::{MOST_NODES, has_parameters};
use crate::catalog::{Catalog, OfferKind, is_infrastructure};
use crate::directory::component_name;
use crate::discovery::refusal_of_method;
use crate::shown_nodes::{GraphPolicy as _, parameter_name};
use crate::{AdapterError, Discovery};
use cortex_discovery_policy::Policy;

/// How long a node may take for one question. A busy component is described without the answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// Interfaces of one kind, and parameters, that are listed.
const MOST_INTERFACES: usize = 60;
const MOST_PARAMETERS: usize = 100;
/// Characters of one parameter's value.
const VALUE_CHARACTERS: usize = 300;
/// Characters of a parameter's description.
const DESCRIPTION_CHARACTERS: usize = 200;

/// Who reads what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A model, and with it the tape: what is denied does not exist.
    Model,
    /// Whoever owns the configuration: what is denied is marked.
    Person,
}

/// What a reader may see.
#[derive(Clone, Copy)]
struct View<'a> {
    audience: Audience,
    policy: &'a Policy,
}

impl View<'_> {
    /// Whether something is shown that is refused for this reason.
    fn shows(self, refusal: Option<&String>) -> bool {
        self.audience == Audience::Person || refusal.is_none()
    }

    /// Of all interfaces those that are shown, each with why it is denied; without what belongs to the infrastructure.
    fn of(self, all: &[Interface]) -> Vec<(&Interface, Option<String>)> {
        let all = all.iter().filter(|interface| !is_infrastructure(interface));
        let judged = all.map(|interface| (interface, self.policy.refusal(&interface.name)));
        judged.filter(|(_, refusal)| self.shows(refusal.as_ref())).collect()
    }
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
    pub(crate) async fn inspect(&self, name: &str, audience: Audience) -> Result<Value, AdapterError> {
        let graph = self.graph.current();
        let view = View { audience, policy: &self.discovery.shared().policy };
        let found = graph.node(name).map(|node| (node, view.policy.hidden(node)));
        let Some((node, hidden)) = found.filter(|(_, hidden)| view.shows(hidden.as_ref())) else {
            let nodes = graph.robot_nodes().filter(|node| view.shows(view.policy.hidden(node).as_ref()));
            let known = nodes.take(MOST_NODES).map(|node| node.short_name().to_owned()).collect();
            return Err(AdapterError::UnknownNode { name: capped(name, VALUE_CHARACTERS), known });
        };
        let catalog = self.discovery.catalog().borrow().clone();
        let (parameters, lifecycle) = tokio::join!(self.parameters(node, view), self.lifecycle(node));
        let mut report = Map::from_iter([
            ("component".to_owned(), json!(node.short_name())),
            ("topics_in".to_owned(), interfaces(&node.subscriptions, view)),
            ("topics_out".to_owned(), interfaces(&node.publishers, view)),
            ("services".to_owned(), callable(&node.services, OfferKind::Service, &catalog, view)),
            ("actions".to_owned(), callable(&node.actions, OfferKind::Action, &catalog, view)),
            ("parameters".to_owned(), parameters),
            ("lifecycle".to_owned(), lifecycle),
        ]);
        report.append(&mut self.as_component(node, view));
        mark(&mut report, hidden);
        Ok(Value::Object(report))
    }

    /// What only a Cortex component says of itself; null and empty for other nodes.
    fn as_component(&self, node: &GraphNode, view: View<'_>) -> Map<String, Value> {
        let name = component_name(&node.name);
        let directory = self.discovery.directory().borrow().clone();
        let component = directory.component(&name);
        let description = component.and_then(|component| component.description.as_deref());
        let tools: Vec<Value> = description
            .map(|description| description.tools(&name))
            .unwrap_or_default()
            .iter()
            .map(|tool| (tool, refusal_of_method(view.policy, tool.name.as_str())))
            .filter(|(_, refusal)| view.shows(refusal.as_ref()))
            .map(|(tool, refusal)| {
                let mut about = Map::from_iter([
                    ("name".to_owned(), json!(tool.name)),
                    ("description".to_owned(), json!(tool.description)),
                    ("parameters".to_owned(), tool.parameters.clone()),
                    ("phase".to_owned(), json!(tool.phase)),
                    ("effect".to_owned(), json!(tool.effect)),
                    ("timeout_s".to_owned(), json!(tool.timeout.as_secs_f64())),
                ]);
                let described = tool.name.as_str().rsplit('.').next().and_then(|method| description?.method(method));
                if let Some(topic) = described.and_then(|method| method.progress_topic(&name)) {
                    about.insert("progress".to_owned(), json!(topic));
                }
                let conditions = in_words(&tool.conditions);
                if !conditions.is_empty() {
                    about.insert("conditions".to_owned(), json!(conditions));
                }
                mark(&mut about, refusal);
                Value::Object(about)
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
    async fn parameters(&self, node: &GraphNode, view: View<'_>) -> Value {
        if !has_parameters(node) {
            return Value::Null;
        }
        match self.read_parameters(node, view).await {
            Ok(values) => values,
            Err(problem) => json!(format!("not known: {problem}")),
        }
    }

    async fn read_parameters(&self, of: &GraphNode, view: View<'_>) -> Result<Value, RosError> {
        let node = of.name.as_str();
        let refusal = |parameter: &str| view.policy.refusal(&parameter_name(of, parameter));
        let parameters = Parameters::new(&self.endpoints, &self.discovery.shared().interfaces);
        let mut names = parameters.list(node, ANSWER_LIMIT).await?;
        // Before anything is asked: the value of what is denied does not even come here.
        names.retain(|parameter| view.shows(refusal(parameter).as_ref()));
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
                let refusal = refusal(&name);
                (name, as_parameter(value, descriptor, refusal))
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

/// What must hold for a call, one line for each.
#[must_use]
pub fn in_words(conditions: &Conditions) -> Vec<String> {
    let Conditions { before, during, after } = conditions;
    let before = before.iter().map(|condition| format!("only if {condition}"));
    let during = during.iter().map(|condition| format!("only while {condition}"));
    let after = after.iter().map(|Evidence { condition, within }| {
        format!("done when {condition}, at most {} s after it says so", within.as_secs_f64())
    });
    before.chain(during).chain(after).collect()
}

/// Says, for a person, that no model is told of it, and why.
fn mark(about: &mut Map<String, Value>, refusal: Option<String>) {
    if let Some(reason) = refusal {
        about.insert("denied".to_owned(), json!(reason));
    }
}

/// A parameter's value, and what the node says of what it may be, as far as it says something.
fn as_parameter(value: Value, descriptor: Option<&Descriptor>, refusal: Option<String>) -> Value {
    let mut parameter = Map::from_iter([("value".to_owned(), short(value))]);
    mark(&mut parameter, refusal);
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
fn callable(all: &[Interface], kind: OfferKind, catalog: &Catalog, view: View<'_>) -> Value {
    let shown = view.of(all);
    let mut report: Map<String, Value> = shown
        .iter()
        .take(MOST_INTERFACES)
        .map(|(interface, _)| {
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

/// Name to type, and why it is denied where it is.
fn interfaces(all: &[Interface], view: View<'_>) -> Value {
    let shown = view.of(all);
    let mut report: Map<String, Value> = shown
        .iter()
        .take(MOST_INTERFACES)
        .map(|(interface, refusal)| {
            let types = interface.types.join(" or ");
            let told = refusal.as_ref().map_or_else(|| types.clone(), |reason| format!("{types} (denied: {reason})"));
            (interface.name.clone(), json!(told))
        })
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
    use cortex_discovery_policy::PolicySettings;

    fn interface(name: &str, type_name: &str) -> Interface {
        Interface { name: name.to_owned(), types: vec![type_name.to_owned()] }
    }

    fn shown(all: &[Interface]) -> Value {
        interfaces(all, View { audience: Audience::Model, policy: &Policy::default() })
    }

    #[test]
    fn what_is_denied_is_nothing_to_a_model_and_marked_for_a_person() {
        let settings = PolicySettings { deny: vec!["/wifi/**".to_owned()], ..PolicySettings::default() };
        let policy = Policy::new(&settings).unwrap();
        let all = [interface("/wifi/scans", "std_msgs/msg/String"), interface("/odom", "nav_msgs/msg/Odometry")];
        let told = |audience| interfaces(&all, View { audience, policy: &policy });
        assert_eq!(told(Audience::Model), json!({"/odom": "nav_msgs/msg/Odometry"}));
        let marked = "std_msgs/msg/String (denied: discovery.deny has '/wifi/**')";
        assert_eq!(told(Audience::Person), json!({"/odom": "nav_msgs/msg/Odometry", "/wifi/scans": marked}));
    }

    #[test]
    fn what_belongs_to_the_infrastructure_is_left_out() {
        let shown = shown(&[
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
        let shown = shown(&flood);
        assert_eq!(shown["..."], "940 more are left out");
        assert_eq!(shown.as_object().unwrap().len(), MOST_INTERFACES + 1);
        assert!(short(json!("x".repeat(100_000))).to_string().len() < 2 * VALUE_CHARACTERS);
    }
}
