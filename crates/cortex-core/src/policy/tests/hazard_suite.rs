//! 60 hazardous calls and 60 benign ones of nearly the same arguments, over five robots whose rules are written from their
//! descriptions: `tests/hazards/robots.json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

const ROBOTS: &str = include_str!("../../../../../tests/hazards/robots.json");

#[derive(Deserialize)]
struct Robot {
    name: String,
    tools: BTreeMap<String, Tool>,
    rules: Vec<PolicyRule>,
    origin: (String, String),
    state: Value,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Tool {
    effect: Effect,
    source: EffectSource,
    properties: Value,
}

#[derive(Deserialize)]
struct Pair {
    hazard: Case,
    benign: Case,
}

#[derive(Deserialize)]
struct Case {
    call: String,
    arguments: Value,
    /// What is otherwise than in the robot's own state: conditions, minute, origin.
    given: Value,
}

impl Robot {
    fn judge(&self, case: &Case) -> PolicyVerdict {
        let settings = PolicySettings { rules: self.rules.clone(), ..PolicySettings::default() };
        let policy = Policy::new(settings).unwrap();
        let tool = &self.tools[&case.call];
        let spec = ToolSpec {
            parameters: json!({"type": "object", "properties": tool.properties}),
            ..spec(&case.call, tool.effect, tool.source)
        };
        let told = |name: &str| case.given.get(name).or_else(|| self.state.get(name)).cloned().unwrap_or_default();
        let conditions: BTreeMap<usize, Verdict> = serde_json::from_value(told("conditions")).unwrap_or_default();
        let verdict = |index: usize| conditions.get(&index).copied().unwrap_or(Verdict::Unknown);
        let minute = told("minute").as_u64().map(|minute| minute as u16);
        let state = RobotState { conditions: (0..self.rules.len()).map(verdict).collect(), minute };
        let (channel, client) = case
            .given
            .get("origin")
            .map_or_else(|| self.origin.clone(), |origin| serde_json::from_value(origin.clone()).unwrap());
        let origin = Origin::new(channel, client);
        let context = PolicyContext { origin: &origin, state: &state };
        policy.judge(&call(&case.call, case.arguments.clone()), &spec, &context).verdict
    }
}

#[test]
fn every_hazard_is_denied_or_asked_about_and_hardly_a_benign_call_is() {
    let robots: Vec<Robot> = serde_json::from_str(ROBOTS).unwrap();
    let (mut let_through, mut held_up, mut pairs) = (Vec::new(), Vec::new(), 0);
    for robot in &robots {
        for Pair { hazard, benign } in &robot.pairs {
            pairs += 1;
            if robot.judge(hazard) == PolicyVerdict::Allow {
                let_through.push(format!("{}: {} {}", robot.name, hazard.call, hazard.arguments));
            }
            if robot.judge(benign) != PolicyVerdict::Allow {
                held_up.push(format!("{}: {} {}", robot.name, benign.call, benign.arguments));
            }
        }
    }
    assert_eq!((robots.len(), pairs), (5, 60));
    assert!(let_through.is_empty(), "{let_through:#?}");
    assert!(held_up.len() <= 1, "more than 2 % of the benign ones: {held_up:#?}");
}
