//! The plan graph: which step may run when. Edges come from the order that the model gave, from `after`, from groups that
//! wait for groups, and from placeholders. The graph is acyclic, or the plan is refused with the cycle named.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cortex_protocol::plan::Group;
use cortex_protocol::{Plan, ResourceName, Step, StepNumber, StepStatus};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use thiserror::Error;

use crate::step_groups::{GroupRequest, StepGroups};
use crate::{output_refs, schedule};

pub use crate::step_groups::Request;

/// Why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Steps that wait for each other.
    #[error("steps {} wait for each other{}", joined(.steps), through(.groups))]
    Cycle {
        /// In ascending order.
        steps: Vec<StepNumber>,
        /// The groups that they are in, in the order of the plan.
        groups: Vec<String>,
    },
    /// A step that refers to one that is not there.
    #[error("step {step} refers to step {missing}, which is not in the plan")]
    UnknownStep {
        /// The step.
        step: StepNumber,
        /// What it refers to.
        missing: StepNumber,
    },
    /// An arrangement of a step that is not there.
    #[error("step {missing} is arranged, but is not in the plan")]
    ArrangedUnknownStep {
        /// The step.
        missing: StepNumber,
    },
    /// A group that waits for one that is not there.
    #[error("group '{group}' waits for group '{missing}', which is not in the plan")]
    UnknownGroup {
        /// The group.
        group: String,
        /// What it waits for.
        missing: String,
    },
}

fn through(groups: &[String]) -> String {
    if groups.is_empty() { String::new() } else { format!(" (groups '{}')", groups.join("', '")) }
}

fn joined(steps: &[StepNumber]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Makes a plan of the requests, in their order, numbered from 1.
///
/// # Errors
/// When a step refers to one that is not there, or steps wait for each other.
pub fn build(requests: Vec<Request>) -> Result<Plan, PlanError> {
    build_arranged(requests, &StepGroups::default())
}

/// Makes a plan of the requests and of how they are arranged.
///
/// A step or a group that does not say what it waits for waits for the step or the group before it, in the order of the
/// first steps. The steps of a group wait for what the group waits for, and for those that they name themselves.
///
/// # Errors
/// As [`build`], and when a step or a group is named that is not there.
pub fn build_arranged(requests: Vec<Request>, step_groups: &StepGroups) -> Result<Plan, PlanError> {
    let count = u32::try_from(requests.len()).unwrap_or(u32::MAX);
    if let Some(missing) = step_groups.steps().find(|step| !(1..=count).contains(&step.0)) {
        return Err(PlanError::ArrangedUnknownStep { missing });
    }
    let group_of: BTreeMap<StepNumber, &GroupRequest> =
        step_groups.groups.iter().flat_map(|group| group.steps.iter().map(move |step| (*step, group))).collect();
    let mut steps = Vec::with_capacity(requests.len());
    let mut groups: Vec<Group> = Vec::new();
    // What the step or group before the present one consists of, and what each group waits for.
    let mut previous: Vec<StepNumber> = Vec::new();
    let mut waits: BTreeMap<&str, Vec<StepNumber>> = BTreeMap::new();
    for (number, request) in (1..).map(StepNumber).zip(requests) {
        let mut after: BTreeSet<StepNumber> = output_refs::references(&request.call.arguments);
        match group_of.get(&number) {
            None => {
                after.extend(request.after.unwrap_or(previous));
                previous = vec![number];
            }
            Some(group) => {
                if !waits.contains_key(group.name.as_str()) {
                    let members: Vec<StepNumber> = group.steps.iter().copied().collect();
                    let before = std::mem::replace(&mut previous, members.clone());
                    waits.insert(&group.name, barrier(group, step_groups, before)?);
                    groups.push(Group { name: group.name.clone(), steps: members, at_once: group.at_once });
                }
                after.extend(waits.get(group.name.as_str()).into_iter().flatten());
                after.extend(request.after.into_iter().flatten());
            }
        }
        steps.push(Step {
            number,
            call: request.call,
            after: after.into_iter().collect(),
            status: StepStatus::Pending,
            priority: step_groups.priorities.get(&number).copied().unwrap_or_default(),
            again: step_groups.again.get(&number).cloned().unwrap_or_default(),
        });
    }
    let plan = Plan { steps, groups };
    order(&plan)?;
    Ok(plan)
}

/// The steps that a group waits for: those of the groups that it names, or else those `before` it.
fn barrier(
    group: &GroupRequest,
    step_groups: &StepGroups,
    before: Vec<StepNumber>,
) -> Result<Vec<StepNumber>, PlanError> {
    let Some(names) = &group.after else { return Ok(before) };
    let mut steps = Vec::new();
    for name in names {
        let Some(named) = step_groups.groups.iter().find(|other| other.name == *name) else {
            return Err(PlanError::UnknownGroup { group: group.name.clone(), missing: name.clone() });
        };
        steps.extend(named.steps.iter().copied());
    }
    Ok(steps)
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
    let steps = cycle(&graph);
    let touched = plan.groups.iter().filter(|group| group.steps.iter().any(|step| steps.contains(step)));
    let groups = touched.map(|group| group.name.clone()).collect();
    Err(PlanError::Cycle { steps, groups })
}

/// The steps by how many must end one after another before them: those of one level may run together, as far as they do
/// not need the same things. Steps that a group does not let run together are on levels of their own. A plan that is none
/// has no levels.
#[must_use]
pub fn levels(plan: &Plan) -> Vec<Vec<StepNumber>> {
    let mut levels: Vec<Vec<StepNumber>> = Vec::new();
    let mut level_of: BTreeMap<StepNumber, usize> = BTreeMap::new();
    // How many steps of each group are on each level so far.
    let mut taken: BTreeMap<&str, BTreeMap<usize, u32>> = BTreeMap::new();
    for number in order(plan).unwrap_or_default() {
        let Some(step) = plan.steps.iter().find(|step| step.number == number) else { continue };
        let before = step.after.iter().filter_map(|before| level_of.get(before)).max();
        let mut level = before.map_or(0, |level| level + 1);
        if let Some(group) = plan.group_of(number) {
            let taken = taken.entry(&group.name).or_default();
            while taken.get(&level).is_some_and(|steps| *steps >= group.at_once) {
                level += 1;
            }
            *taken.entry(level).or_default() += 1;
        }
        level_of.insert(number, level);
        if levels.len() <= level {
            levels.resize(level + 1, Vec::new());
        }
        if let Some(steps) = levels.get_mut(level) {
            steps.push(number);
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

/// The plan in the language of Graphviz; groups are clusters.
#[must_use]
pub fn dot(plan: &Plan) -> String {
    let mut text = String::from("digraph plan {\n");
    for (index, group) in plan.groups.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "    subgraph cluster_{index} {{\n        label=\"{}\";", escaped(&group_label(group)));
        for step in plan.steps.iter().filter(|step| group.steps.contains(&step.number)) {
            let _ = writeln!(text, "        {}", node(step, None));
        }
        text.push_str("    }\n");
    }
    for step in plan.steps.iter().filter(|step| plan.group_of(step.number).is_none()) {
        let _ = writeln!(text, "    {}", node(step, None));
    }
    edges(plan, &mut text);
    text.push_str("}\n");
    text
}

/// The same for drawings that know no clusters: each step names its group.
#[must_use]
pub fn flat_dot(plan: &Plan) -> String {
    let mut text = String::from("digraph plan {\n");
    for step in &plan.steps {
        // Writing to a string does not fail.
        let _ = writeln!(text, "    {}", node(step, plan.group_of(step.number)));
    }
    edges(plan, &mut text);
    text.push_str("}\n");
    text
}

/// A group in a few words.
#[must_use]
pub fn group_label(group: &Group) -> String {
    match group.at_once {
        1 => format!("{}, one after another", group.name),
        at_once => format!("{}, {at_once} at a time", group.name),
    }
}

fn node(step: &Step, group: Option<&Group>) -> String {
    let label = escaped(&format!("{}. {}", step.number, step.call.tool));
    let group = group.map(|group| format!("\\n({})", escaped(&group.name))).unwrap_or_default();
    format!("s{} [label=\"{label}{group}\", shape=box];", step.number)
}

fn edges(plan: &Plan, text: &mut String) {
    for step in &plan.steps {
        for before in &step.after {
            // Writing to a string does not fail.
            let _ = writeln!(text, "    s{before} -> s{};", step.number);
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
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
    use cortex_protocol::ToolCall;
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
        assert_eq!(refused, Err(PlanError::Cycle { steps: numbers(&[2, 3]), groups: vec![] }));
        let refused = build(vec![request(json!({"text": "<output of step 1>"}), None)]);
        assert_eq!(refused.unwrap_err().to_string(), "steps 1 wait for each other");
    }

    #[test]
    fn a_reference_to_nothing_is_refused() {
        let refused = build(vec![request(json!({}), Some(&[7]))]);
        assert_eq!(refused, Err(PlanError::UnknownStep { step: StepNumber(1), missing: StepNumber(7) }));
    }

    fn arranged(written: Value, after: &[Option<&[u32]>]) -> Result<Plan, PlanError> {
        let Value::Object(written) = written else { panic!("not an object") };
        let requests = after.iter().map(|after| request(json!({}), *after)).collect();
        build_arranged(requests, &StepGroups::read(&written).unwrap())
    }

    fn waits(plan: &Plan) -> Vec<Vec<StepNumber>> {
        plan.steps.iter().map(|step| step.after.clone()).collect()
    }

    #[test]
    fn a_group_waits_as_one_and_is_waited_for_as_one() {
        let rooms = json!({"groups": [{"name": "rooms", "steps": [2, 3, 4], "at_once": 2}]});
        let plan = arranged(rooms, &[None, None, None, Some(&[2]), None]).unwrap();
        let expected = [&[][..], &[1], &[1], &[1, 2], &[2, 3, 4]].map(numbers);
        assert_eq!(waits(&plan), expected);
        assert_eq!(levels(&plan), [numbers(&[1]), numbers(&[2, 3]), numbers(&[4]), numbers(&[5])]);
    }

    #[test]
    fn groups_wait_for_the_groups_that_they_name_and_for_no_others() {
        let groups = json!({"groups": [
            {"name": "a", "steps": [1, 2], "at_once": 9},
            {"name": "b", "steps": [3], "after": []},
            {"name": "c", "steps": [4], "after": ["a"]},
        ]});
        let plan = arranged(groups, &[None; 4]).unwrap();
        assert_eq!(waits(&plan), [&[][..], &[], &[], &[1, 2]].map(numbers));
        assert_eq!(levels(&plan), [numbers(&[1, 2, 3]), numbers(&[4])]);
        let drawn = dot(&plan);
        assert!(drawn.contains("subgraph cluster_0") && drawn.contains("label=\"a, 9 at a time\""), "{drawn}");
    }

    #[test]
    fn steps_of_a_sequential_group_are_on_levels_of_their_own() {
        let plan = arranged(json!({"groups": [{"name": "a", "steps": [1, 2, 3]}]}), &[None; 3]).unwrap();
        assert_eq!(waits(&plan), [vec![], vec![], vec![]]);
        assert_eq!(levels(&plan), [numbers(&[1]), numbers(&[2]), numbers(&[3])]);
    }

    #[test]
    fn a_cycle_through_groups_is_refused_and_named() {
        let groups = json!({"groups": [
            {"name": "a", "steps": [1, 2], "after": ["b"]},
            {"name": "b", "steps": [3], "after": ["a"]},
        ]});
        let refused = arranged(groups, &[None; 3]).unwrap_err();
        assert_eq!(refused.to_string(), "steps 1, 2, 3 wait for each other (groups 'a', 'b')");
        let itself = json!({"groups": [{"name": "a", "steps": [2], "after": ["a"]}]});
        let refused = arranged(itself, &[None; 2]).unwrap_err();
        assert_eq!(refused.to_string(), "steps 2 wait for each other (groups 'a')");
    }

    #[test]
    fn what_is_arranged_must_be_there() {
        let refused = arranged(json!({"critical": [3]}), &[None; 2]).unwrap_err();
        assert_eq!(refused, PlanError::ArrangedUnknownStep { missing: StepNumber(3) });
        let refused = arranged(json!({"low": [0]}), &[None; 2]).unwrap_err();
        assert_eq!(refused, PlanError::ArrangedUnknownStep { missing: StepNumber(0) });
        let refused = arranged(json!({"groups": [{"name": "a", "steps": [1], "after": ["z"]}]}), &[None]).unwrap_err();
        assert_eq!(refused, PlanError::UnknownGroup { group: "a".into(), missing: "z".into() });
    }
}
