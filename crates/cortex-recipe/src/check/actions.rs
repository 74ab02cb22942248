//! The actions of the recipe.

use cortex_protocol::ComponentName;

use super::{Finding, is_full_name, meant_component};
use crate::{Action, ActionKind, ActionName, BuiltIn, Recipe};

pub(super) fn check(recipe: &Recipe, findings: &mut Vec<Finding>) {
    for (name, action) in &recipe.actions {
        if BuiltIn::named(name).is_some() {
            findings.push(Finding::new(
                ["actions".into(), name.as_str().into()],
                format!("'{name}' is built in"),
                "give the action another name",
            ));
        } else if !is_word(name.as_str()) {
            findings.push(Finding::new(
                ["actions".into(), name.as_str().into()],
                format!("'{name}' can't be the name of an action"),
                "write 1 to 64 letters, digits and underscores, the first not a digit",
            ));
        }
        if let Some(tool) = &action.tool
            && tool.description.trim().is_empty()
        {
            findings.push(Finding::new(
                ["actions".into(), name.as_str().into(), "tool".into(), "description".into()],
                "the tool has no description",
                "say what it does and when to use it: a model knows nothing else of it",
            ));
        }
        owner(recipe, name, action, findings);
        kind(recipe, name, &action.kind, findings);
    }
}

/// Whose it is, where that is written.
fn owner(recipe: &Recipe, name: &ActionName, action: &Action, findings: &mut Vec<Finding>) {
    let Some(component) = action.component.as_ref().filter(|component| !component.as_str().is_empty()) else { return };
    let path = ["actions".into(), name.as_str().into(), "component".into()];
    if matches!(action.kind, ActionKind::Method(_) | ActionKind::Parameters(_)) {
        findings.push(Finding::new(path, "the action names its component already", "leave this one out"));
    } else if !recipe.components.contains_key(component) {
        let message = format!("there is no component '{component}'");
        findings.push(Finding::new(path, message, meant_component(recipe, component)));
    }
}

fn kind(recipe: &Recipe, name: &ActionName, kind: &ActionKind, findings: &mut Vec<Finding>) {
    let mut add = |table: &str, key: &str, message: String, fix: String| {
        findings.push(Finding::new(["actions".into(), name.as_str().into(), table.into(), key.into()], message, fix));
    };
    let unknown = |component: &ComponentName| {
        let is_known = recipe.components.contains_key(component);
        (!is_known).then(|| (format!("there is no component '{component}'"), meant_component(recipe, component)))
    };
    match kind {
        ActionKind::Service(service) => {
            if !is_full_name(&service.name) {
                add("service", "name", format!("'{}' is not the full name of a service", service.name), slash());
            }
            if !is_type(&service.interface, "srv") {
                add(
                    "service",
                    "type",
                    format!("'{}' is not a type of services", service.interface),
                    "write package/srv/Name, as \"std_srvs/srv/Trigger\"".into(),
                );
            }
        }
        ActionKind::Topic(topic) => {
            if !is_full_name(&topic.name) {
                add("topic", "name", format!("'{}' is not the full name of a topic", topic.name), slash());
            }
            if !is_type(&topic.interface, "msg") {
                add(
                    "topic",
                    "type",
                    format!("'{}' is not a type of messages", topic.interface),
                    "write package/msg/Name, as \"std_msgs/msg/Bool\"".into(),
                );
            }
        }
        ActionKind::Command(command) => {
            if command.program.trim().is_empty() {
                add("command", "program", "there is no program".into(), "write its name or its path".into());
            }
        }
        ActionKind::Method(method) => {
            if let Some((message, fix)) = unknown(&method.component) {
                add("method", "component", message, fix);
            }
            if !is_word(&method.name) {
                add("method", "name", format!("'{}' can't be the name of a method", method.name), String::new());
            }
        }
        ActionKind::Parameters(parameters) => {
            if let Some((message, fix)) = unknown(&parameters.component) {
                add("parameters", "component", message, fix);
            }
            if parameters.values.is_empty() {
                add("parameters", "values", "no parameter is set".into(), "write values = { name = value }".into());
            }
        }
    }
}

fn slash() -> String {
    "begin it with a slash: \"/base/reset\"".to_owned()
}

pub(super) fn is_type(interface: &str, kind: &str) -> bool {
    let mut parts = interface.split('/');
    parts.next().is_some_and(is_word)
        && parts.next() == Some(kind)
        && parts.next().is_some_and(is_word)
        && parts.next().is_none()
}

pub(super) fn is_word(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
}
