//! `cortex recipe check --live`: what only the running robot can tell of a recipe.

use std::collections::{BTreeMap, BTreeSet};

use cortex_config::{self as config, Layers};
use cortex_core::ToolSet;
use cortex_interfaces::Interfaces;
use cortex_protocol::condition::Source;
use cortex_protocol::{ComponentName, ToolName, ToolSpec};
use cortex_recipe::{Action, ActionKind, EventAction, Mistake, Recipe, out_of_range};
use cortex_robot::supervision::field_mistake;
use cortex_ros_client::graph::Interface;
use serde_json::{Map, Value};

use crate::visit::visit;

/// The types of what has a name on the graph.
type Types = BTreeMap<String, BTreeSet<String>>;

/// What is seen of the robot.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The nodes, without the leading slash.
    nodes: BTreeSet<String>,
    /// The methods and everything else that can be called.
    tools: ToolSet,
    published: Types,
    read: Types,
    services: Types,
}

/// What does not fit the robot.
#[derive(Debug, Default)]
pub(super) struct Misfits {
    /// It can't work.
    pub(super) wrong: Vec<Mistake>,
    /// It could not be checked, or need not be wrong.
    pub(super) doubtful: Vec<Mistake>,
}

/// Looks at the robot that runs, with the configuration of the recipe.
pub(super) async fn look(recipe: &Recipe) -> anyhow::Result<Seen> {
    let layers = Layers { file: config::file(None), recipe: recipe.cortex.clone(), ..Layers::default() };
    let policy = config::load(&layers)?.policy;
    let robot = visit(move |_| Ok(policy)).await?;
    let graph = robot.graph.current();
    let mut seen = Seen::default();
    for node in graph.nodes() {
        seen.nodes.insert(node.short_name().to_owned());
    }
    let add = |types: &mut Types, all: &[Interface]| {
        for interface in all {
            types.entry(interface.name.clone()).or_default().extend(interface.types.iter().cloned());
        }
    };
    for node in graph.robot_nodes() {
        add(&mut seen.published, &node.publishers);
        add(&mut seen.read, &node.subscriptions);
        add(&mut seen.services, &node.services);
    }
    // What policy keeps from models, an action of the recipe may still call.
    let mut specs: BTreeMap<ToolName, ToolSpec> =
        robot.discovery.tools().borrow().iter().map(|spec| (spec.name.clone(), spec.clone())).collect();
    for spec in robot.discovery.directory().borrow().tools() {
        specs.entry(spec.name.clone()).or_insert(spec);
    }
    robot.leave().await;
    seen.tools = ToolSet::new(specs.into_values()).0;
    Ok(seen)
}

/// What of the recipe does not fit what was seen.
pub(super) fn misfits(recipe: &Recipe, seen: &Seen) -> Misfits {
    let mut found = Misfits::default();
    for (name, _) in recipe.regular().filter(|(name, _)| !seen.nodes.contains(name.as_str())) {
        found.doubtful.push(Mistake {
            path: path(&["components", name.as_str()]),
            message: format!("'{name}' is not on the robot's graph, so what the recipe says of it was not checked"),
            fix: "start the robot, in the same ROS_DOMAIN_ID, and check again".to_owned(),
        });
    }
    for (name, action) in &recipe.actions {
        if let Some((keys, message, fix)) = wrong_action(recipe, seen, action) {
            let path = path(&["actions", name.as_str()]).into_iter().chain(path(&keys)).collect();
            found.wrong.push(Mistake { path, message, fix });
        }
    }
    for (name, event) in &recipe.events {
        for (key, actions) in [("do", &event.actions), ("on_failure", &event.on_failure)] {
            for (index, action) in actions.iter().enumerate() {
                let EventAction::Tool { tool, arguments } = action else { continue };
                if recipe.actions.keys().any(|action| action.as_str() == tool.as_str()) {
                    continue;
                }
                if let Some((message, fix)) = wrong_call(recipe, seen, tool, arguments) {
                    let path = path(&["events", name.as_str(), key, &index.to_string()]);
                    found.wrong.push(Mistake { path, message, fix });
                }
            }
        }
    }
    topics(recipe, seen, &mut found);
    found
}

/// What is wrong with a call of a tool, and how to fix it.
fn wrong_call(
    recipe: &Recipe,
    seen: &Seen,
    tool: &ToolName,
    arguments: &Map<String, Value>,
) -> Option<(String, String)> {
    if seen.tools.get(tool).is_some() {
        let problem = seen.tools.check(tool, arguments).err()?;
        return Some((
            format!("'{tool}' can't be called so: {problem}"),
            "fix `arguments`; `cortex tools` lists them".into(),
        ));
    }
    let Some((component, method)) = tool.as_str().rsplit_once('.') else {
        let near = nearest(tool.as_str(), seen.tools.iter().map(|spec| spec.name.as_str()));
        return Some((format!("the robot offers no tool '{tool}'"), near));
    };
    if is_absent(recipe, seen, &component.into()) {
        return None;
    }
    let begin = format!("{component}.");
    let methods = seen.tools.iter().filter_map(|spec| spec.name.as_str().strip_prefix(&begin));
    let methods: Vec<&str> = methods.collect();
    if methods.is_empty() {
        let fix = "it must answer on ~/describe; docs/component-contract.md has the form".to_owned();
        return Some((format!("'{component}' offers no methods"), fix));
    }
    Some((format!("'{component}' has no method '{method}'"), nearest(method, methods.into_iter())))
}

/// Whether nothing can be said of a component, since it does not run.
fn is_absent(_: &Recipe, seen: &Seen, component: &ComponentName) -> bool {
    !seen.nodes.contains(component.as_str())
}

/// Where an action does not fit the robot, what is wrong, and how to fix it.
fn wrong_action(recipe: &Recipe, seen: &Seen, action: &Action) -> Option<([&'static str; 2], String, String)> {
    match &action.kind {
        ActionKind::Method(method) => {
            let tool = ToolName::of_method(&method.component, &method.name);
            let is_free = action.tool.as_ref().is_some_and(|tool| !tool.parameters.is_empty());
            match seen.tools.get(&tool) {
                // Which values it is given is known with each call; which arguments, now.
                Some(spec) if is_free => {
                    let names = spec.parameters.get("properties").and_then(Value::as_object);
                    let is_known = |name: &String| names.is_some_and(|names| names.contains_key(name));
                    let unknown = method.arguments.keys().find(|name| !is_known(name))?;
                    let known = names.into_iter().flatten().map(|(name, _)| name.as_str());
                    Some((
                        ["method", "arguments"],
                        format!("'{tool}' takes no argument '{unknown}'"),
                        nearest(unknown, known),
                    ))
                }
                Some(_) => {
                    let problem = seen.tools.check(&tool, &method.arguments).err()?;
                    let fix = "fix `arguments`; `cortex tools` lists them".to_owned();
                    Some((["method", "arguments"], format!("'{tool}' can't be called so: {problem}"), fix))
                }
                None => {
                    let (message, fix) = wrong_call(recipe, seen, &tool, &method.arguments)?;
                    Some((["method", "name"], message, fix))
                }
            }
        }
        ActionKind::Service(service) => typed(&seen.services, &service.name, &service.interface, "offers the service")
            .map(|(message, fix)| (["service", "name"], message, fix)),
        ActionKind::Topic(topic) => typed(&seen.read, &topic.name, &topic.interface, "reads the topic")
            .map(|(message, fix)| (["topic", "name"], message, fix)),
        ActionKind::Command(_) | ActionKind::Parameters(_) => None,
    }
}

/// What is wrong with a name on the graph that should have this type.
fn typed(all: &Types, name: &str, interface: &str, does: &str) -> Option<(String, String)> {
    match all.get(name) {
        None => Some((format!("no part of the robot {does} '{name}'"), nearest(name, all.keys().map(String::as_str)))),
        Some(types) if !types.contains(interface) => {
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            Some((
                format!("'{name}' has another type than {interface}"),
                format!("write type = \"{}\"", types.join(" or ")),
            ))
        }
        Some(_) => None,
    }
}

/// The topics, fields, nodes and parameters that conditions and `progress` look at.
fn topics(recipe: &Recipe, seen: &Seen, found: &mut Misfits) {
    let interfaces = Interfaces::from_environment();
    for used in recipe.topic_uses() {
        let Some(types) = seen.published.get(used.topic) else {
            let mistake = Mistake {
                path: used.path.clone(),
                message: format!("no part of the robot publishes '{}'", used.topic),
                fix: nearest(used.topic, seen.published.keys().map(String::as_str)),
            };
            // Somebody who is not there may publish it.
            let is_whole = recipe.components.keys().all(|name| seen.nodes.contains(name.as_str()));
            let may_come = !is_whole && recipe.says_who_publishes(used.topic);
            if may_come {
                found.doubtful.push(mistake);
            } else {
                found.wrong.push(mistake);
            }
            continue;
        };
        for type_name in types {
            if let Some(mistake) = field_mistake(&interfaces, &used, type_name) {
                found.wrong.push(mistake);
            } else if let Some((message, fix)) = used.check.and_then(|check| out_of_range(type_name, used.field, check))
            {
                found.wrong.push(Mistake { path: used.path.clone(), message, fix });
            }
        }
    }
    for (name, component) in &recipe.components {
        for (topic, said) in &component.publishes {
            if let Some(types) = seen.published.get(topic)
                && !types.contains(said)
            {
                let types: Vec<&str> = types.iter().map(String::as_str).collect();
                found.wrong.push(Mistake {
                    path: path(&["components", name.as_str(), "publishes", topic]),
                    message: format!("'{topic}' is published as {}", types.join(" and ")),
                    fix: "write that type".to_owned(),
                });
            }
        }
    }
    for (path, check) in recipe.event_checks() {
        let node = match &check.source {
            Source::Component { component } => component.as_str(),
            Source::Parameter { parameter } => parameter.rsplit_once('/').map_or("", |(node, _)| node),
            Source::Topic { .. } => continue,
        };
        let node = node.trim_start_matches('/');
        if !seen.nodes.contains(node) && !recipe.components.contains_key(&node.into()) {
            let fix = nearest(node, seen.nodes.iter().map(String::as_str));
            found.wrong.push(Mistake { path, message: format!("there is no node '{node}' on the robot"), fix });
        }
    }
    let mut told = BTreeSet::new();
    found.wrong.retain(|mistake| told.insert((mistake.path.get(..2).map(<[String]>::to_vec), mistake.message.clone())));
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// The name that was probably meant, or those that there are.
fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    /// Most names that are listed.
    const MOST: usize = 12;
    let names: BTreeSet<&str> = names.collect();
    let alike = |name: &str| strsim::normalized_damerau_levenshtein(wrong, name);
    let best = names.iter().map(|name| (alike(name), name)).filter(|(alike, _)| *alike >= 0.6);
    match best.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((_, name)) => format!("did you mean \"{name}\"?"),
        None if names.is_empty() => String::new(),
        None if names.len() > MOST => "`cortex tools` and `cortex inspect NODE` list what there is".to_owned(),
        None => format!("there are {}", names.into_iter().collect::<Vec<_>>().join(", ")),
    }
}
