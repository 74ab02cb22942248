//! `cortex tools`: what the robot can do.

use std::process::ExitCode;

use cortex_core::ToolSet;
use cortex_protocol::{Effect, ToolPhase, ToolSpec};
use cortex_ros::{Uncallable, conditions_in_words};
use serde_json::{Value, json};

use crate::arguments::ToolsArguments;
use crate::configuration::policy;
use crate::visit::visit;

/// `cortex tools`: what the robot offers.
///
/// # Errors
/// When the graph can't be joined, or the configuration is wrong.
pub async fn tools(arguments: ToolsArguments) -> anyhow::Result<ExitCode> {
    let robot = visit(|node| policy(node, arguments.config.as_deref())).await?;
    let specs: Vec<ToolSpec> = robot.discovery.tools().borrow().as_ref().clone();
    let mut problems: Vec<String> = Vec::new();
    for (name, component) in robot.discovery.directory().borrow().components() {
        problems.extend(component.problems.iter().map(|problem| format!("{name}: {problem}")));
    }
    for spec in &specs {
        let found = robot.tools.condition_problems(spec).into_iter();
        problems.extend(found.map(|problem| format!("{}: {problem}", spec.name)));
    }
    let uncallable: Vec<Uncallable> = robot.discovery.catalog().borrow().uncallable().to_vec();
    robot.leave().await;
    let (set, left_out) = ToolSet::new(specs);
    problems.extend(left_out.iter().map(ToString::to_string));
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&as_value(&set, &uncallable, &problems))?);
    } else {
        print_table(&set);
        print_uncallable(&uncallable);
        for problem in problems {
            eprintln!("warning: {problem}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn as_value(set: &ToolSet, uncallable: &[Uncallable], problems: &[String]) -> Value {
    let tools: Vec<Value> = set
        .iter()
        .map(|spec| {
            json!({
                "name": spec.name,
                "wire_name": set.wire_name(&spec.name),
                "description": spec.description,
                "phase": spec.phase,
                "effect": spec.effect,
                "resources": spec.resources,
                "timeout_s": spec.timeout.as_secs_f64(),
                "dispatch": spec.dispatch,
                "component": spec.component,
                "parameters": spec.parameters,
                "phrases": spec.phrases,
                "conditions": spec.conditions,
            })
        })
        .collect();
    json!({"tools": tools, "uncallable": uncallable, "problems": problems})
}

fn print_table(set: &ToolSet) {
    if set.iter().all(|spec| spec.component.is_none()) {
        println!("Nothing on the robot can be called. Are its nodes running, with the same ROS_DOMAIN_ID?");
        println!("`cortex doctor` looks for the reason.");
        return;
    }
    let width = set.iter().map(|spec| spec.name.as_str().len()).max().unwrap_or_default();
    for spec in set.iter() {
        println!("{:width$}  {:8}  {}", spec.name.as_str(), kind(spec), first_line(&spec.description));
        for (name, parameter) in parameters(spec) {
            println!("{:width$}            {name}: {parameter}", "");
        }
        for condition in conditions_in_words(&spec.conditions) {
            println!("{:width$}            {condition}", "");
        }
    }
}

/// What is on the graph but no tool, with the reasons.
fn print_uncallable(uncallable: &[Uncallable]) {
    if uncallable.is_empty() {
        return;
    }
    println!("\nOn the graph, but not to be called:");
    for Uncallable { kind, name, types, reason, .. } in uncallable {
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        println!("  {kind} {name} ({}): {reason}", types.join(", "));
    }
}

fn kind(spec: &ToolSpec) -> &'static str {
    match (spec.phase, spec.effect) {
        (ToolPhase::Planning | ToolPhase::Both, Effect::Observe) => "asks",
        (_, Effect::Observe) => "reads",
        (_, Effect::Act) => "acts",
        (_, Effect::Move) => "moves",
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The parameters in few words: their type or choices, and whether they are needed.
fn parameters(spec: &ToolSpec) -> Vec<(String, String)> {
    let required: Vec<&str> = spec
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = spec.parameters.get("properties").and_then(Value::as_object) else { return Vec::new() };
    properties
        .iter()
        .map(|(name, schema)| {
            let mut text = match schema.get("enum").and_then(Value::as_array) {
                Some(choices) => {
                    choices.iter().map(cortex_protocol::tool::value_as_text).collect::<Vec<_>>().join(" | ")
                }
                None => schema.get("type").map_or_else(|| "any".to_owned(), cortex_protocol::tool::value_as_text),
            };
            if !required.contains(&name.as_str()) {
                text.push_str(" (optional)");
            }
            (name.clone(), text)
        })
        .collect()
}
