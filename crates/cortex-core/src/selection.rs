//! Which tools a model is offered. Every schema costs tokens at each request, so past a set number only those are
//! offered that the task needs; the model finds the others with [`FIND_TOOLS`].
//!
//! Ranking is lexical (BM25 over the words of a tool's name, description, phrases and arguments): it needs no model and
//! no network, and the same words always give the same order.

use std::collections::BTreeSet;

use bm25::{Document, Language, SearchEngine, SearchEngineBuilder};
use cortex_protocol::{ToolName, ToolPhase, ToolSpec};
use serde_json::{Value, json};

use crate::chat::{ToolDefinition, ToolKind};
use crate::fragment::capped;
use crate::toolset::ToolSet;

/// The built-in tool by which a model finds the tools that it was not offered.
pub const FIND_TOOLS: &str = "find_tools";

/// Tools that one search adds.
const FOUND_AT_ONCE: usize = 8;
/// How often the words of a name count: it says in two words what the description says in twenty.
const NAME_WEIGHT: usize = 3;
/// Characters of a description that are searched, and that are shown of what was found.
const SEARCHED: usize = 2_000;
const SHOWN: usize = 200;

/// The tools that are on offer from the start: all where there are at most `limit`; else those that fit the task best,
/// with those that look at the robot as a whole, filled up with the methods of its components.
pub(crate) fn choose(tools: &ToolSet, task: &str, limit: usize) -> BTreeSet<ToolName> {
    if tools.len() <= limit {
        return tools.iter().map(|spec| spec.name.clone()).collect();
    }
    let general = tools.iter().filter(|spec| is_general(spec)).map(|spec| spec.name.clone());
    let methods = tools.iter().filter(|spec| spec.component.is_some()).map(|spec| spec.name.clone());
    let rest = tools.iter().map(|spec| spec.name.clone());
    let mut chosen = BTreeSet::new();
    for name in general.chain(rank(tools, task)).chain(methods).chain(rest) {
        if chosen.len() >= limit {
            break;
        }
        chosen.insert(name);
    }
    chosen
}

/// The tools that fit the words best and are not among `known`, best first.
pub(crate) fn find<'a>(tools: &'a ToolSet, query: &str, known: &BTreeSet<ToolName>) -> Vec<&'a ToolSpec> {
    let new = rank(tools, query).into_iter().filter(|name| !known.contains(name));
    new.take(FOUND_AT_ONCE).filter_map(|name| tools.get(&name)).collect()
}

/// What a search answers.
pub(crate) fn found(specs: &[&ToolSpec], tools: &ToolSet) -> Value {
    if specs.is_empty() {
        return json!("Nothing more was found. Try other words, or say that the robot can't do it.");
    }
    let added: Vec<Value> = specs
        .iter()
        .map(|spec| json!({"name": tools.wire_name(&spec.name), "description": capped(&spec.description, SHOWN)}))
        .collect();
    json!({"added_to_your_tools": added})
}

/// The search as a model sees it; `left_out` is how many tools it was not offered.
pub(crate) fn definition(left_out: usize) -> ToolDefinition {
    ToolDefinition {
        name: FIND_TOOLS.to_owned(),
        description: format!(
            "Searches {left_out} further tools of this robot that are not listed here. What is found is added to your \
             tools. Use it before you say that something can't be done."
        ),
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What the tool should do, in a few words."}},
            "required": ["query"],
            "additionalProperties": false,
        }),
        phase: ToolPhase::Planning,
        phrases: Vec::new(),
        kind: ToolKind::BuiltIn,
    }
}

/// A tool for research that belongs to no component looks at the robot as a whole.
fn is_general(spec: &ToolSpec) -> bool {
    spec.component.is_none() && spec.phase == ToolPhase::Planning
}

/// The tools that share a word with the query, best first; of equals, by name.
fn rank(tools: &ToolSet, query: &str) -> Vec<ToolName> {
    let names: Vec<&ToolName> = tools.iter().map(|spec| &spec.name).collect();
    let documents = tools.iter().enumerate().map(|(index, spec)| Document { id: index, contents: words_of(spec) });
    let engine: SearchEngine<usize> =
        SearchEngineBuilder::with_documents(Language::English, documents.collect::<Vec<_>>()).build();
    let mut hits = engine.search(&words(query), None);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document.id.cmp(&b.document.id)));
    hits.iter().filter_map(|hit| names.get(hit.document.id)).map(|name| (*name).clone()).collect()
}

/// Everything that a search looks at.
fn words_of(spec: &ToolSpec) -> String {
    let name = words(spec.name.as_str());
    let mut text = vec![name; NAME_WEIGHT];
    text.push(words(&capped(&spec.description, SEARCHED)));
    text.extend(spec.phrases.iter().map(|phrase| words(phrase)));
    let arguments = spec.parameters.get("properties").and_then(Value::as_object);
    for (argument, schema) in arguments.into_iter().flatten() {
        text.push(words(argument));
        let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        text.extend(choices.filter_map(Value::as_str).map(words));
    }
    text.join(" ")
}

/// The words of a text or an identifier: `send_goal_to_arm/openGripper` has six.
fn words(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut previous_is_lower = false;
    for character in text.chars() {
        if character.is_uppercase() && previous_is_lower {
            spaced.push(' ');
        }
        previous_is_lower = character.is_lowercase();
        spaced.push(if character.is_alphanumeric() { character } else { ' ' });
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_protocol::{CancelMode, Dispatch, Effect};
    use std::time::Duration;

    fn tool(name: &str, description: &str, component: Option<&str>, phase: ToolPhase) -> ToolSpec {
        ToolSpec::new(name.into(), description.to_owned())
            .with_parameters(json!({"type": "object"}))
            .with_phase(phase)
            .with_effect(Effect::Move)
            .with_effect_source(cortex_protocol::EffectSource::Declared)
            .with_timeout(Duration::from_secs(1))
            .with_dispatch(Dispatch::Wait)
            .with_cancel(CancelMode::Halt)
            .with_component(component.map(Into::into))
    }

    fn large_robot() -> ToolSet {
        let mut specs = vec![
            tool("inspect_component", "Shows a component.", None, ToolPhase::Planning),
            tool("send_goal_to_arm/openGripper", "Opens the gripper.", None, ToolPhase::Execution),
            tool("base.go_to", "Drives to a room.", Some("base"), ToolPhase::Execution),
        ];
        let others = (0..500).map(|number| {
            let name = format!("send_request_to_motor_{number:03}/calibrate");
            tool(&name, "Calibrates one motor.", None, ToolPhase::Execution)
        });
        specs.extend(others);
        ToolSet::new(specs).0
    }

    #[test]
    fn a_small_robot_offers_everything() {
        let (tools, _) = ToolSet::new([tool("a", "", None, ToolPhase::Both), tool("b", "", None, ToolPhase::Both)]);
        assert_eq!(choose(&tools, "anything", 2).len(), 2);
    }

    #[test]
    fn a_large_robot_offers_what_the_task_needs_and_the_choice_is_stable() {
        let tools = large_robot();
        let chosen = choose(&tools, "please open the grippers", 3);
        let names: Vec<&str> = chosen.iter().map(|name| name.as_str()).collect();
        assert_eq!(names, ["base.go_to", "inspect_component", "send_goal_to_arm/openGripper"]);
        assert_eq!(choose(&tools, "please open the grippers", 3), chosen);
        assert_eq!(choose(&tools, "", 40).len(), 40);
    }

    #[test]
    fn what_was_not_offered_can_be_found_and_is_not_found_twice() {
        let tools = large_robot();
        let mut known = choose(&tools, "drive to the kitchen", 2);
        let names = |found: &[&ToolSpec]| found.iter().map(|spec| spec.name.as_str().to_owned()).collect::<Vec<_>>();
        let first = find(&tools, "opening a gripper", &known);
        assert_eq!(names(&first), ["send_goal_to_arm/openGripper"]);
        assert!(found(&first, &tools).to_string().contains("send_goal_to_arm-openGripper"));
        known.extend(first.iter().map(|spec| spec.name.clone()));
        assert!(find(&tools, "opening a gripper", &known).is_empty());
        assert_eq!(find(&tools, "calibrate", &known).len(), FOUND_AT_ONCE);
    }

    #[test]
    fn a_query_of_any_kind_finds_or_does_not_but_never_fails() {
        let tools = large_robot();
        for query in ["", "   ", "🤖", "the of and", "öffne den Greifer", &"gripper ".repeat(10_000)] {
            let _ = find(&tools, query, &BTreeSet::new());
        }
    }
}
