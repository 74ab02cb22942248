//! What `scripted_robot.py` is given: a scenario's tools, as components and action servers.

use std::collections::BTreeMap;

use cortex_protocol::{Dispatch, ToolSpec};
use serde_json::{Value, json};

use crate::file::{Scenario, ToolTable};
use crate::world;

/// What the names of action servers begin with, as tools.
const GOAL: &str = "send_goal_to_";
/// How a call may end on real ROS: what `scripted_robot.py` can do.
const ENDINGS: [&str; 11] = [
    "returns",
    "returns_bytes",
    "fails",
    "rejects",
    "bad_response",
    "lost",
    "runs_until_halted",
    "halts_after",
    "succeeds_when_halted",
    "ignores_halt",
    "refuses_halt",
];

/// A robot that can be scripted.
pub(crate) struct Robot {
    /// For `scripted_robot.py`.
    pub(crate) description: Value,
    /// How many tools Cortex finds at least: those of the scenario, and a halt for each method of a component.
    pub(crate) fewest_tools: usize,
    /// How many components it finds.
    pub(crate) components: usize,
    /// The tools of which a process that dies can't tell that they were told to halt.
    pub(crate) lost: Vec<String>,
    /// The names of its actions.
    pub(crate) actions: Vec<String>,
}

pub(crate) fn robot(shared: &BTreeMap<String, ToolTable>, scenario: &Scenario, specs: &[ToolSpec]) -> Robot {
    let (mut described, mut halts, mut actions, mut lost) = (Vec::new(), 0, Vec::new(), Vec::new());
    let mut components: Vec<&str> = Vec::new();
    for spec in specs {
        let name = spec.name.as_str();
        let own = scenario.tools.get(name).and_then(|table| table.does.clone());
        let does = own.or_else(|| shared.get(name).and_then(|table| table.does.clone()));
        let does = turns(name, does.unwrap_or_else(|| json!({"returns": "done"})));
        if does.iter().any(|turn| turn.get("lost").is_some()) {
            lost.push(name.to_owned());
        }
        if let Some(action) = name.strip_prefix(GOAL) {
            actions.push(format!("/{action}"));
            described.push(json!({"name": name, "does": does}));
            continue;
        }
        // Only goals go on in the background; a method of a component that should is left out.
        let Some((component, method)) = name.split_once('.').filter(|_| spec.dispatch == Dispatch::Wait) else {
            continue;
        };
        if !components.contains(&component) {
            components.push(component);
        }
        halts += 1;
        described.push(json!({
            "name": name, "component": component, "method": method, "does": does,
            "describes": {
                "description": spec.description, "parameters": spec.parameters, "phase": spec.phase,
                "effect": spec.effect, "resources": spec.resources, "timeout_s": spec.timeout.as_secs_f64(),
                "phrases": spec.phrases,
            },
        }));
    }
    Robot {
        fewest_tools: described.len() + halts,
        components: components.len(),
        description: Value::Array(described),
        lost,
        actions,
    }
}

/// What a tool does, call by call.
fn turns(name: &str, does: Value) -> Vec<Value> {
    let turns = match does {
        Value::Array(turns) => turns,
        one => vec![one],
    };
    let turns: Vec<Value> = turns.into_iter().map(world::spelled_out).collect();
    for turn in &turns {
        let known = ENDINGS.iter().any(|ending| turn.get(ending).is_some());
        assert!(known, "{name}: the scripted robot can't do {turn}; take away on_ros");
    }
    turns
}
