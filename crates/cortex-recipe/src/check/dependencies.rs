//! What depends on what.

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::ComponentName;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use super::{Finding, meant_component};
use crate::Recipe;

pub(super) fn check(recipe: &Recipe, findings: &mut Vec<Finding>) {
    for (name, component) in &recipe.components {
        let mut seen = BTreeSet::new();
        for (index, other) in component.depends_on.iter().enumerate() {
            let mut add = |message: String, fix: String| {
                let path = ["components".into(), name.as_str().into(), "depends_on".into(), index.into()];
                findings.push(Finding::new(path, message, fix));
            };
            if !recipe.components.contains_key(other) {
                add(format!("'{name}' depends on '{other}', which is no component"), meant_component(recipe, other));
            } else if recipe.stands_in(other) {
                add(
                    format!("'{name}' depends on '{other}', which only stands in for others"),
                    "depend on the component that it stands in for".into(),
                );
            } else if !seen.insert(other) {
                add(format!("'{other}' is named twice"), "take one of them out".into());
            }
        }
    }
    cycles(recipe, findings);
}

/// Components that wait for each other would wait for ever.
fn cycles(recipe: &Recipe, findings: &mut Vec<Finding>) {
    let mut graph = DiGraph::<&ComponentName, ()>::new();
    let nodes: BTreeMap<_, _> = recipe.components.keys().map(|name| (name, graph.add_node(name))).collect();
    for (name, component) in &recipe.components {
        for other in &component.depends_on {
            if let (Some(from), Some(to)) = (nodes.get(name), nodes.get(other)) {
                graph.update_edge(*from, *to, ());
            }
        }
    }
    for knot in tarjan_scc(&graph) {
        let mut names: Vec<&ComponentName> = knot.iter().filter_map(|node| graph.node_weight(*node).copied()).collect();
        names.sort();
        let Some(first) = names.first().copied() else { continue };
        let waits_for_itself =
            recipe.components.get(first).is_some_and(|component| component.depends_on.contains(first));
        if names.len() == 1 && !waits_for_itself {
            continue;
        }
        let path = ["components".into(), first.as_str().into(), "depends_on".into()];
        findings.push(Finding::new(
            path,
            format!("components depend on each other in a circle: {}", circle(recipe, first, &names)),
            "none of them could be started first; take one of the dependencies out",
        ));
    }
}

/// One way round, from the first back to it: `a -> b -> a`.
fn circle(recipe: &Recipe, first: &ComponentName, knot: &[&ComponentName]) -> String {
    // Breadth first, so the way is a shortest one and always the same.
    let mut came_from: BTreeMap<&ComponentName, &ComponentName> = BTreeMap::new();
    let mut front = vec![first];
    'search: while !front.is_empty() {
        let mut next = Vec::new();
        for name in front {
            let others =
                recipe.components.get(name).map(|component| component.depends_on.as_slice()).unwrap_or_default();
            for other in others.iter().filter(|other| knot.contains(other)) {
                if came_from.contains_key(other) {
                    continue;
                }
                came_from.insert(other, name);
                if other == first {
                    break 'search;
                }
                next.push(other);
            }
        }
        front = next;
    }
    let mut way = vec![first.as_str()];
    let mut here = first;
    while let Some(before) = came_from.get(here).copied() {
        way.push(before.as_str());
        if before == first || way.len() > knot.len() {
            break;
        }
        here = before;
    }
    way.reverse();
    way.join(" -> ")
}
