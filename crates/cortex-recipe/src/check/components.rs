//! Components one by one.

use std::collections::{BTreeSet, VecDeque};

use cortex_protocol::ComponentName;

use super::actions::is_type;
use super::{Finding, is_full_name, is_node_name, meant_component};
use crate::{ComponentRecipe, During, Progress, Recipe, SHORTEST_HEARTBEAT_S, Start};

/// Most messages in a time span that can be asked for.
const MAX_AT_LEAST: u32 = 1_000_000;

pub(super) fn check(recipe: &Recipe, findings: &mut Vec<Finding>) {
    for (name, component) in &recipe.components {
        if !is_node_name(name.as_str()) {
            findings.push(Finding::new(
                ["components".into(), name.as_str().into()],
                format!("'{name}' can't be the name of a node"),
                "write the full name of its node without the leading slash: letters, digits, underscores, and slashes between namespaces",
            ));
        }
        start(recipe, name, component, findings);
        standby(recipe, name, component, findings);
        heartbeat(name, component, findings);
        publishes(name, component, findings);
        for (index, progress) in component.progress.iter().enumerate() {
            watch(name, index, progress, findings);
        }
    }
}

fn start(recipe: &Recipe, name: &ComponentName, component: &ComponentRecipe, findings: &mut Vec<Finding>) {
    let path = |key: &str| ["components".into(), name.as_str().into(), "start".into(), key.into()];
    let Start::Process(process) = &component.start else { return };
    if process.program.trim().is_empty() {
        findings.push(Finding::new(path("program"), "there is no program", "write its name or its path"));
    }
    if recipe.world.is_none() && process.arguments.iter().any(|argument| argument.contains("{world}")) {
        findings.push(Finding::new(
            path("arguments"),
            "{world} is used, and the recipe has no world",
            "add world = \"FILE\" at the top of the recipe",
        ));
    }
    for variable in process.environment.keys() {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            findings.push(Finding::new(
                path("environment"),
                format!("'{variable}' can't be the name of a variable"),
                "",
            ));
        }
    }
}

fn standby(recipe: &Recipe, name: &ComponentName, component: &ComponentRecipe, findings: &mut Vec<Finding>) {
    let Some(other) = &component.standby else { return };
    let mut add = |message: String, fix: String| {
        findings.push(Finding::new(["components".into(), name.as_str().into(), "standby".into()], message, fix));
    };
    match recipe.components.get(other) {
        None => {
            add(format!("there is no component '{other}' to stand in for '{name}'"), meant_component(recipe, other));
        }
        Some(_) if other == name => add(format!("'{name}' can't stand in for itself"), "name another component".into()),
        Some(standby) if standby.standby.is_some() => add(
            format!("'{other}' stands in for '{name}' and has a standby itself"),
            format!("take standby out of [components.\"{other}\"]"),
        ),
        Some(_) => {
            if let Some(way) = way_down(recipe, other, name) {
                add(
                    format!("'{other}' stands in for '{name}' and depends on it: {}", way.join(" -> ")),
                    "it could not be started when it is needed; take one of these dependencies out, or name another \
                     component"
                        .into(),
                );
            }
        }
    }
}

fn heartbeat(name: &ComponentName, component: &ComponentRecipe, findings: &mut Vec<Finding>) {
    let Some(seconds) = component.heartbeat_s.map(f64::from).filter(|seconds| *seconds < SHORTEST_HEARTBEAT_S) else {
        return;
    };
    findings.push(Finding::new(
        ["components".into(), name.as_str().into(), "heartbeat_s".into()],
        format!("heartbeat_s is {seconds} s: heartbeats that are hardly late would be taken for a hang"),
        format!("write at least {SHORTEST_HEARTBEAT_S}; a component may publish its health more often than that"),
    ));
}

fn publishes(name: &ComponentName, component: &ComponentRecipe, findings: &mut Vec<Finding>) {
    for (topic, interface) in &component.publishes {
        let mut add = |message: String, fix: &str| {
            let path = ["components".into(), name.as_str().into(), "publishes".into(), topic.as_str().into()];
            findings.push(Finding::new(path, message, fix));
        };
        if !is_full_name(topic) {
            add(format!("'{topic}' is not the full name of a topic"), "begin it with a slash: \"/odom\"");
        }
        if !is_type(interface, "msg") {
            let fix = "write package/msg/Name, as \"sensor_msgs/msg/BatteryState\"";
            add(format!("'{interface}' is not a type of messages"), fix);
        }
    }
}

/// A shortest way from a component to one that it depends on, however indirectly, if it does.
fn way_down<'a>(recipe: &'a Recipe, from: &'a ComponentName, to: &ComponentName) -> Option<Vec<&'a str>> {
    // Breadth first; a circle, which is told elsewhere, is gone round once.
    let mut seen = BTreeSet::from([from]);
    let mut ways = VecDeque::from([(from, vec![from.as_str()])]);
    while let Some((here, way)) = ways.pop_front() {
        for other in recipe.components.get(here).map(|component| component.depends_on.as_slice()).unwrap_or_default() {
            let longer = [way.as_slice(), &[other.as_str()]].concat();
            if other == to {
                return Some(longer);
            }
            if seen.insert(other) {
                ways.push_back((other, longer));
            }
        }
    }
    None
}

fn watch(name: &ComponentName, index: usize, progress: &Progress, findings: &mut Vec<Finding>) {
    let mut add = |key: &str, message: String, fix: &str| {
        let path = ["components".into(), name.as_str().into(), "progress".into(), index.into(), key.into()];
        findings.push(Finding::new(path, message, fix));
    };
    if !(1..=MAX_AT_LEAST).contains(&progress.at_least) {
        add(
            "at_least",
            format!("at_least is {}", progress.at_least),
            "write how many messages have to come, from 1 to 1000000",
        );
    }
    match &progress.topic {
        Some(topic) if !is_full_name(topic) => {
            add("topic", format!("'{topic}' is not the full name of a topic"), "begin it with a slash: \"/odom\"");
        }
        None if progress.field.is_some() => {
            add("field", "field is given without a topic".into(), "name the topic whose field it is");
        }
        None if progress.during == During::Always => add(
            "during",
            "there is only feedback while a goal goes on".into(),
            "add during = \"goal\", or name a topic",
        ),
        _ => {}
    }
    match (progress.changes_by, &progress.field) {
        (Some(_), None) => {
            add("changes_by", "changes_by is given without a field".into(), "name the field that has to change");
        }
        (Some(change), Some(_)) if !(change.is_finite() && change > 0.0) => {
            add("changes_by", format!("changes_by is {change}"), "write a number above 0, in the unit of the field");
        }
        _ => {}
    }
}
