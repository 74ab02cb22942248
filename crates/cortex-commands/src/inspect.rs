//! `cortex inspect NAME`: everything about one node.

use std::fmt::Write as _;
use std::process::ExitCode;

use cortex_protocol::tool::value_as_text;
use serde_json::Value;

use crate::configuration::policy;
use crate::visit::visit;

/// Prints what is known of the node of this name, as JSON where `json` says so.
pub async fn inspect(name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let robot = visit(|node| policy(node, None)).await?;
    let report = robot.tools.inspect(name).await;
    robot.leave().await;
    let report = report?;
    if json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", readable(&report));
    }
    Ok(ExitCode::SUCCESS)
}

/// The report for people: what the node is first, then what can be called, then the rest.
fn readable(report: &Value) -> String {
    let mut text = String::new();
    let said = |key: &str| report.get(key).filter(|value| !value.is_null()).map(value_as_text).unwrap_or_default();
    let mut line = |indent: usize, line: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:indent$}{}", "", line.trim_end());
    };
    line(0, &said("component"));
    for (key, label) in [("summary", ""), ("state", "it "), ("lifecycle", "lifecycle: "), ("denied", "denied: ")] {
        if !said(key).is_empty() {
            line(2, &format!("{label}{}", said(key)));
        }
    }
    if let Some(health) = report.get("health").filter(|health| !health.is_null()) {
        let of = |key: &str| health.get(key).map(value_as_text).unwrap_or_default();
        let message = of("message");
        line(
            2,
            &format!("health: {}{}", of("status"), if message.is_empty() { message } else { format!(", {message}") }),
        );
    }
    for problem in report.get("problems").and_then(Value::as_array).into_iter().flatten() {
        line(2, &format!("problem: {}", value_as_text(problem)));
    }
    let tools = report.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !tools.is_empty() {
        line(0, "\ntools");
    }
    for tool in tools {
        let of = |key: &str| tool.get(key).map(value_as_text).unwrap_or_default();
        line(2, &format!("{}  ({}, {}, at most {} s)", of("name"), of("effect"), of("phase"), of("timeout_s")));
        let denied = tool.get("denied").map(|reason| format!("denied: {}", value_as_text(reason)));
        let progress = tool.get("progress").map(|topic| format!("tells its progress on {}", value_as_text(topic)));
        let conditions = tool.get("conditions").and_then(Value::as_array).into_iter().flatten().map(value_as_text);
        let about = std::iter::once(of("description")).chain(denied).chain(progress).chain(conditions);
        about.filter(|about| !about.is_empty()).for_each(|about| line(6, &about));
        for (name, schema) in tool.pointer("/parameters/properties").and_then(Value::as_object).into_iter().flatten() {
            line(6, &format!("{name}: {}", parameter(schema)));
        }
    }
    for (key, label) in [
        ("actions", "actions"),
        ("services", "services"),
        ("topics_out", "topics that it publishes"),
        ("topics_in", "topics that it reads"),
        ("parameters", "parameters"),
    ] {
        match report.get(key) {
            Some(Value::Object(named)) if !named.is_empty() => {
                line(0, &format!("\n{label}"));
                named.iter().for_each(|(name, about)| line(2, &format!("{name}  {}", entry(about))));
            }
            // Why there are none.
            Some(Value::String(why)) => line(0, &format!("\n{label}: {why}")),
            _ => {}
        }
    }
    text
}

/// One interface or parameter: a type, or its value with what is said of it.
fn entry(about: &Value) -> String {
    let Some(fields) = about.as_object() else { return value_as_text(about) };
    let own = ["value", "type"].iter().filter_map(|key| fields.get(*key));
    let mut parts: Vec<String> =
        own.map(|value| if value.is_null() { "not set".to_owned() } else { value.to_string() }).collect();
    parts.iter_mut().for_each(|part| *part = part.trim_matches('"').to_owned());
    let others = fields.iter().filter(|(key, _)| !["value", "type"].contains(&key.as_str()));
    parts.extend(others.map(|(key, value)| match value {
        Value::Bool(true) => key.replace('_', " "),
        value => format!("{}: {}", key.replace('_', " "), value_as_text(value)),
    }));
    parts.join(", ")
}

/// The schema of a parameter in few words.
fn parameter(schema: &Value) -> String {
    let choices = schema.get("enum").and_then(Value::as_array);
    let kind = match choices {
        Some(choices) => choices.iter().map(value_as_text).collect::<Vec<_>>().join(" | "),
        None => schema.get("type").map_or_else(|| "any".to_owned(), value_as_text),
    };
    let bounds = [("minimum", "at least"), ("maximum", "at most")];
    let bounds = bounds.iter().filter_map(|(key, words)| Some(format!(", {words} {}", schema.get(*key)?)));
    let description = schema.get("description").map(|text| format!(". {}", value_as_text(text))).unwrap_or_default();
    format!("{kind}{}{description}", bounds.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_is_read_without_braces_and_with_its_conditions() {
        let report = json!({
            "component": "base", "summary": "The wheels.", "state": "is ready", "lifecycle": "active", "problems": [],
            "health": {"status": "healthy", "message": "", "sources": []},
            "tools": [{
                "name": "base.go_to", "description": "Drives.", "phase": "execution", "effect": "move", "timeout_s": 120.0,
                "parameters": {"properties": {"place": {"enum": ["kitchen", "hall"], "description": "The room."}}},
                "conditions": ["only if /battery is above 20"], "progress": "/base/go_to/progress",
            }],
            "topics_out": {"/odom": "nav_msgs/msg/Odometry"}, "topics_in": {}, "actions": {},
            "services": {"/base/reset": {"type": "std_srvs/srv/Trigger", "tool": "call_base_reset"}},
            "parameters": {"speed_mps": {"value": 0.5, "type": "double", "range": "0 to 2", "read_only": true}},
        });
        let expected = "base\n  The wheels.\n  it is ready\n  lifecycle: active\n  health: healthy\n\ntools\n  \
                        base.go_to  (move, execution, at most 120.0 s)\n      Drives.\n      \
                        tells its progress on /base/go_to/progress\n      only if /battery is above 20\n      \
                        place: kitchen | hall. The room.\n\nservices\n  \
                        /base/reset  std_srvs/srv/Trigger, tool: call_base_reset\n\ntopics that it publishes\n  \
                        /odom  nav_msgs/msg/Odometry\n\nparameters\n  speed_mps  0.5, double, range: 0 to 2, read only\n";
        assert_eq!(readable(&report), expected);
        let plain = readable(&json!({"component": "lidar", "tools": [], "parameters": "not known: silent"}));
        assert_eq!(plain, "lidar\n\nparameters: not known: silent\n");
    }
}
