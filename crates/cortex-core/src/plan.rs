//! The plan graph: which step may run when. Edges come from the order that the model gave, from `after`, and from
//! placeholders. The graph is acyclic, or the plan is refused with the cycle named.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cortex_protocol::{Plan, Priority, ResourceName, Step, StepNumber, StepStatus, ToolCall};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use thiserror::Error;

use crate::{binding, schedule};

/// Why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Steps that wait for each other.
    #[error("steps {} wait for each other", joined(.steps))]
    Cycle {
        /// In ascending order.
        steps: Vec<StepNumber>,
    },
    /// A step that refers to one that is not there.
    #[error("step {step} refers to step {missing}, which is not in the plan")]
    UnknownStep {
        /// The step.
        step: StepNumber,
        /// What it refers to.
        missing: StepNumber,
    },
}

fn joined(steps: &[StepNumber]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A step as a model asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What is called.
    pub call: ToolCall,
    /// The steps that must have begun before; `None`: the one before it in the list.
    pub after: Option<Vec<StepNumber>>,
    /// The steps of the plan before that it does the work of.
    pub instead_of: Vec<StepNumber>,
}

/// Makes a plan of the requests, in their order, numbered from 1.
///
/// # Errors
/// When a step refers to one that is not there, or steps wait for each other.
pub fn build(requests: Vec<Request>) -> Result<Plan, PlanError> {
    let mut steps = Vec::with_capacity(requests.len());
    let mut previous: Option<StepNumber> = None;
    for (number, request) in (1..).map(StepNumber).zip(requests) {
        let order: Vec<StepNumber> = request.after.unwrap_or_else(|| previous.into_iter().collect());
        let mut after: BTreeSet<StepNumber> = order.into_iter().collect();
        after.extend(binding::references(&request.call.arguments));
        steps.push(Step {
            number,
            call: request.call,
            after: after.into_iter().collect(),
            status: StepStatus::Pending,
            priority: Priority::Normal,
        });
        previous = Some(number);
    }
    let plan = Plan { steps };
    order(&plan)?;
    Ok(plan)
}

/// The order in which the steps may run (Kahn): among those that are ready, the smallest number first.
///
/// # Errors
/// As [`build`].
pub fn order(plan: &Plan) -> Result<Vec<StepNumber>, PlanError> {
    let (graph, nodes) = graph(plan)?;
    let mut waiting: BTreeMap<StepNumber, usize> = BTreeMap::new();
    for (number, node) in &nodes {
        waiting.insert(*number, graph.edges_directed(*node, petgraph::Direction::Incoming).count());
    }
    let mut ready: BTreeSet<StepNumber> =
        waiting.iter().filter(|(_, count)| **count == 0).map(|(number, _)| *number).collect();
    let mut ordered = Vec::with_capacity(plan.steps.len());
    while let Some(number) = ready.pop_first() {
        ordered.push(number);
        let Some(node) = nodes.get(&number) else { continue };
        for edge in graph.edges(*node) {
            let Some(next) = graph.node_weight(edge.target()) else { continue };
            if let Some(count) = waiting.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(*next);
                }
            }
        }
    }
    if ordered.len() == plan.steps.len() {
        return Ok(ordered);
    }
    Err(PlanError::Cycle { steps: cycle(&graph) })
}

/// The steps by how many must end one after another before them: those of one level may run together, as far as they do
/// not need the same things. A plan that is none has no levels.
#[must_use]
pub fn levels(plan: &Plan) -> Vec<Vec<StepNumber>> {
    let mut levels: Vec<Vec<StepNumber>> = Vec::new();
    let mut level_of: BTreeMap<StepNumber, usize> = BTreeMap::new();
    for number in order(plan).unwrap_or_default() {
        let Some(step) = plan.steps.iter().find(|step| step.number == number) else { continue };
        let before = step.after.iter().filter_map(|before| level_of.get(before)).max();
        let level = before.map_or(0, |level| level + 1);
        level_of.insert(number, level);
        match levels.get_mut(level) {
            Some(steps) => steps.push(number),
            None => levels.push(vec![number]),
        }
    }
    for steps in &mut levels {
        steps.sort_unstable();
    }
    levels
}

/// The pairs of steps that nothing orders and that need the same thing, with what that is. They run one after the other.
#[must_use]
pub fn conflicts<'a>(
    plan: &'a Plan,
    resources: impl Fn(&Step) -> &'a [ResourceName],
) -> Vec<(StepNumber, StepNumber, ResourceName)> {
    let mut found = Vec::new();
    for (index, step) in plan.steps.iter().enumerate() {
        for other in plan.steps.iter().skip(index + 1) {
            if comes_before(plan, step.number, other.number) || comes_before(plan, other.number, step.number) {
                continue;
            }
            let needed = resources(step).iter();
            let shared = needed.filter(|one| resources(other).iter().any(|two| schedule::collide(one, two)));
            found.extend(shared.map(|resource| (step.number, other.number, resource.clone())));
        }
    }
    found
}

/// Whether `later` waits for `earlier`, directly or through others.
fn comes_before(plan: &Plan, earlier: StepNumber, later: StepNumber) -> bool {
    let mut open = vec![later];
    let mut seen = BTreeSet::new();
    while let Some(number) = open.pop() {
        let step = plan.steps.iter().find(|step| step.number == number);
        for before in step.map(|step| step.after.as_slice()).unwrap_or_default() {
            if *before == earlier {
                return true;
            }
            if seen.insert(*before) {
                open.push(*before);
            }
        }
    }
    false
}

/// The plan in the language of Graphviz.
#[must_use]
pub fn dot(plan: &Plan) -> String {
    let escaped = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = String::from("digraph plan {\n");
    for step in &plan.steps {
        let label = escaped(format!("{}. {}", step.number, step.call.tool));
        // Writing to a string does not fail.
        let _ = writeln!(text, "    s{} [label=\"{label}\", shape=box];", step.number);
    }
    for step in &plan.steps {
        for before in &step.after {
            let _ = writeln!(text, "    s{before} -> s{};", step.number);
        }
    }
    text.push_str("}\n");
    text
}

/// The steps of one cycle, or of the step that waits for itself.
fn cycle(graph: &DiGraph<StepNumber, ()>) -> Vec<StepNumber> {
    let mut steps: Vec<StepNumber> = tarjan_scc(graph)
        .into_iter()
        .find(|component| {
            component.len() > 1 || component.first().is_some_and(|node| graph.contains_edge(*node, *node))
        })
        .unwrap_or_default()
        .into_iter()
        .filter_map(|node| graph.node_weight(node).copied())
        .collect();
    steps.sort_unstable();
    steps
}

type Graph = (DiGraph<StepNumber, ()>, BTreeMap<StepNumber, NodeIndex>);

fn graph(plan: &Plan) -> Result<Graph, PlanError> {
    let mut graph = DiGraph::with_capacity(plan.steps.len(), plan.steps.len());
    let nodes: BTreeMap<StepNumber, NodeIndex> =
        plan.steps.iter().map(|step| (step.number, graph.add_node(step.number))).collect();
    for step in &plan.steps {
        for before in &step.after {
            let (Some(from), Some(to)) = (nodes.get(before), nodes.get(&step.number)) else {
                return Err(PlanError::UnknownStep { step: step.number, missing: *before });
            };
            graph.update_edge(*from, *to, ());
        }
    }
    Ok((graph, nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn request(arguments: Value, after: Option<&[u32]>) -> Request {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        Request {
            call: ToolCall { tool: "a.b".into(), arguments },
            after: after.map(|numbers| numbers.iter().copied().map(StepNumber).collect()),
            instead_of: vec![],
        }
    }

    fn numbers(steps: &[u32]) -> Vec<StepNumber> {
        steps.iter().copied().map(StepNumber).collect()
    }

    #[test]
    fn steps_run_in_the_models_order_unless_it_says_otherwise() {
        let plan = build(vec![request(json!({}), None), request(json!({}), None), request(json!({}), None)]).unwrap();
        assert_eq!(order(&plan), Ok(numbers(&[1, 2, 3])));
        let plan =
            build(vec![request(json!({}), Some(&[3])), request(json!({}), Some(&[])), request(json!({}), Some(&[2]))])
                .unwrap();
        assert_eq!(order(&plan), Ok(numbers(&[2, 3, 1])));
    }

    #[test]
    fn levels_and_conflicts_show_what_may_run_together() {
        let plan = build(vec![
            request(json!({}), Some(&[])),
            request(json!({}), Some(&[])),
            request(json!({}), Some(&[1])),
            request(json!({}), Some(&[1, 2])),
        ])
        .unwrap();
        assert_eq!(levels(&plan), [numbers(&[1, 2]), numbers(&[3, 4])]);
        let base: Vec<ResourceName> = vec!["base".into()];
        let none: Vec<ResourceName> = vec![];
        let held = conflicts(&plan, |step| if step.number == StepNumber(4) { &none } else { &base });
        let pair = |one, two| (StepNumber(one), StepNumber(two), ResourceName::from("base"));
        assert_eq!(held, [pair(1, 2), pair(2, 3)], "1 and 3 are ordered");
        assert!(dot(&plan).contains("s1 -> s4;"));
    }

    #[test]
    fn a_placeholder_is_an_edge() {
        let plan =
            build(vec![request(json!({"text": "<output of step 2>"}), Some(&[])), request(json!({}), Some(&[]))])
                .unwrap();
        assert_eq!(order(&plan), Ok(numbers(&[2, 1])));
    }

    #[test]
    fn a_cycle_is_refused_and_named() {
        let refused = build(vec![
            request(json!({}), None),
            request(json!({}), Some(&[3])),
            request(json!({"text": "<output of step 2>"}), Some(&[])),
        ]);
        assert_eq!(refused, Err(PlanError::Cycle { steps: numbers(&[2, 3]) }));
        let refused = build(vec![request(json!({"text": "<output of step 1>"}), None)]);
        assert_eq!(refused.unwrap_err().to_string(), "steps 1 wait for each other");
    }

    #[test]
    fn a_reference_to_nothing_is_refused() {
        let refused = build(vec![request(json!({}), Some(&[7]))]);
        assert_eq!(refused, Err(PlanError::UnknownStep { step: StepNumber(1), missing: StepNumber(7) }));
    }
}
