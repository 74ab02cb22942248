//! The tools that events call, as far as the recipe knows what there is.

use cortex_protocol::{ComponentName, ToolName};
use serde_json::{Map, Value};

use super::{meant_component, nearest};
use crate::binding::bind;
use crate::{ActionName, Recipe};

/// How the tools begin that stand for what is found on the robot: its services, actions and topics.
const FOUND: [&str; 3] = ["send_request_to_", "send_goal_to_", "publish_to_"];
/// The tools that Cortex itself brings along, and the arguments that they need.
const OWN: [(&str, &[&str]); 3] = [
    ("read_topic", &["topic"]),
    ("update_parameter", &["component", "param_name", "new_value"]),
    ("inspect_component", &["component"]),
];

/// What is wrong with the call of a tool, and how to fix it.
pub(super) fn wrong(recipe: &Recipe, tool: &ToolName, arguments: &Map<String, Value>) -> Option<(String, String)> {
    let name = tool.as_str();
    if name.trim().is_empty() {
        return Some(("no tool is named".to_owned(), "`cortex tools` lists their names".to_owned()));
    }
    if FOUND.iter().any(|begins| name.starts_with(begins)) {
        return None;
    }
    if let Some((component, method)) = name.rsplit_once('.') {
        let component = ComponentName::new(component);
        if !recipe.components.contains_key(&component) {
            return Some((format!("there is no component '{component}'"), meant_component(recipe, &component)));
        }
        let is_method = super::actions::is_word(method);
        return (!is_method)
            .then(|| (format!("'{name}' names no method of '{component}'"), format!("write \"{component}.METHOD\"")));
    }
    if let Some(action) = recipe.actions.get(&ActionName::new(name)) {
        return bind(action, arguments)
            .err()
            .map(|problem| (format!("'{name}' can't be called so: {problem}"), "fix `arguments`".to_owned()));
    }
    if let Some((_, needed)) = OWN.iter().find(|(own, _)| *own == name) {
        let missing = needed.iter().find(|needed| !arguments.contains_key(**needed))?;
        return Some((
            format!("'{name}' needs the argument '{missing}'"),
            format!("add it: arguments = {{ {missing} = ... }}"),
        ));
    }
    let actions = recipe.actions.keys().map(ActionName::as_str);
    let fix = match nearest(name, actions.chain(OWN.iter().map(|(own, _)| *own))) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => "a method is written \"COMPONENT.METHOD\"; `cortex tools` lists what the robot offers".to_owned(),
    };
    Some((format!("there is no tool '{name}'"), fix))
}
