//! The hazard suite: five robots whose descriptions state rules of safety in prose. The policy rules were written from the
//! descriptions alone, and so were the hazardous calls with their benign twins, each without sight of the other.
//!
//! On its first run policy asked about or denied 121 of 127 hazards, and 2 of 127 benign twins. It missed names of places
//! that were spelt with a space (now folded), places that a description does not list, and a load that weighed more than
//! the call said (now rules). From then on the suite guards against regressions.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a suite that can't be read ends here, and says why"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use cortex_core::condition::{self, Age, Observation, Observations, Verdict};
use cortex_core::policy::{Policy, PolicyContext, PolicySettings, RobotState};
use cortex_protocol::condition::Source;
use cortex_protocol::{
    CancelMode, Dispatch, Effect, EffectSource, Origin, PolicyRule, PolicyVerdict, ToolCall, ToolPhase, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Map, Value};

const ROBOTS: [&str; 5] = ["greenhouse", "home_helper", "hospital_cart", "lab_arm", "warehouse_forklift"];
/// Benign calls of which policy may ask or refuse, in percent.
const BENIGN_REFUSED_PERCENT: usize = 2;
/// Fewest pairs that count as a suite.
const FEWEST_PAIRS: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Robot {
    #[serde(rename = "description")]
    _description: String,
    #[serde(rename = "topics")]
    _topics: BTreeMap<String, Value>,
    tools: BTreeMap<String, Tool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    description: String,
    effect: Effect,
    source: EffectSource,
    parameters: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    rules: Vec<PolicyRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pairs {
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    why: String,
    /// What the description demands at least of the hazardous call.
    expected: PolicyVerdict,
    hazard: Call,
    benign: Call,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    arguments: Map<String, Value>,
    /// By topic and field, `/weather/wind speed`.
    #[serde(default)]
    state: BTreeMap<String, Value>,
    #[serde(default = "morning")]
    time: String,
    #[serde(default = "ros")]
    channel: String,
}

fn morning() -> String {
    "10:00".to_owned()
}

fn ros() -> String {
    "ros".to_owned()
}

fn read<T: for<'de> Deserialize<'de>>(robot: &str, file: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hazards").join(robot).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    toml::from_str(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

impl Tool {
    fn spec(&self, name: &str) -> ToolSpec {
        ToolSpec::new(name.into(), self.description.clone())
            .with_parameters(self.parameters.clone())
            .with_phase(ToolPhase::Execution)
            .with_effect(self.effect)
            .with_effect_source(self.source)
            .with_timeout(Duration::from_secs(10))
            .with_dispatch(Dispatch::Wait)
            .with_cancel(CancelMode::Halt)
    }
}

impl Call {
    fn judged(&self, robot: &Robot, policy: &Policy) -> PolicyVerdict {
        let spec = robot.tools[&self.tool].spec(&self.tool);
        let call = ToolCall { tool: spec.name.clone(), arguments: self.arguments.clone() };
        let origin = Origin::new(self.channel.clone(), "/cortex/task");
        let state = RobotState { conditions: self.conditions(policy), minute: Some(self.minute()) };
        policy.judge(&call, &spec, &PolicyContext { origin: &origin, state: &state }).verdict
    }

    /// What the state says of the condition of each rule.
    fn conditions(&self, policy: &Policy) -> Vec<Verdict> {
        let now = Duration::from_secs(1);
        let mut seen = Observations::default();
        for (name, value) in &self.state {
            let (topic, field) = name.split_once(' ').unwrap_or((name, ""));
            seen.see(
                Source::topic(topic, field),
                Observation::Value { value: value.clone(), kept: false, age: Age::Arrival },
                now,
            );
        }
        let judge = |rule: &PolicyRule| {
            let bound = rule.when.as_ref().map(|when| condition::bind(when, &Map::new()).unwrap());
            bound.map_or(Verdict::Unknown, |bound| bound.evaluate(&seen, None, now).verdict)
        };
        policy.rules().map(judge).collect()
    }

    fn minute(&self) -> u16 {
        let (hours, minutes) = self.time.split_once(':').unwrap();
        hours.parse::<u16>().unwrap() * 60 + minutes.parse::<u16>().unwrap()
    }
}

#[test]
fn every_hazard_is_asked_or_denied_and_its_benign_twin_goes_through() {
    let (mut pairs, mut milder, mut refused) = (0, Vec::new(), Vec::new());
    let mut allowed_hazards = Vec::new();
    for name in ROBOTS {
        let robot: Robot = read(name, "robot.toml");
        let Rules { rules } = read(name, "rules.toml");
        let policy = Policy::new(PolicySettings { rules, ..PolicySettings::default() }).unwrap();
        let Pairs { pairs: of_robot } = read(name, "pairs.toml");
        for (index, pair) in of_robot.iter().enumerate() {
            pairs += 1;
            let place = format!("{name} {}: {}", index + 1, pair.why);
            let hazard = pair.hazard.judged(&robot, &policy);
            if hazard == PolicyVerdict::Allow {
                allowed_hazards.push(place.clone());
            } else if hazard < pair.expected {
                milder.push(place.clone());
            }
            if pair.benign.judged(&robot, &policy) != PolicyVerdict::Allow {
                refused.push(place);
            }
        }
    }
    println!("{pairs} pairs; asked where a denial was wanted: {milder:#?}; benign and not allowed: {refused:#?}");
    assert!(pairs >= FEWEST_PAIRS, "{pairs} pairs");
    assert!(allowed_hazards.is_empty(), "hazards that were allowed: {allowed_hazards:#?}");
    assert!(refused.len() * 100 <= pairs * BENIGN_REFUSED_PERCENT, "benign calls that were not allowed: {refused:#?}");
}
