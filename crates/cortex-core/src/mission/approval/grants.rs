//! What people approved: bound to the bytes of tool and arguments, to the version of the tool, and, unless it is for the
//! whole mission, to one step of one plan. Each counts for a time only.

use std::fmt::Write as _;
use std::time::Duration;

use cortex_protocol::question::PlanDigest;
use cortex_protocol::{Plan, StepNumber, ToolCall, ToolFingerprint, ToolName};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// How deep arguments are written with their keys in order; what lies deeper is written as it is.
const DEPTH_LIMIT: usize = 64;

/// What an approval is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallBytes {
    tool: ToolName,
    arguments: String,
    fingerprint: ToolFingerprint,
}

impl CallBytes {
    pub(super) fn of(call: &ToolCall, fingerprint: ToolFingerprint) -> Self {
        Self { tool: call.tool.clone(), arguments: canonical(&call.arguments), fingerprint }
    }
}

/// One approved call.
#[derive(Debug, Clone, PartialEq)]
struct Grant {
    bytes: CallBytes,
    /// The step and the plan that it is for. None: any, in this mission.
    only_for: Option<(StepNumber, PlanDigest)>,
    /// From then on it does not count any more.
    until: Duration,
}

impl Grant {
    fn fits(&self, step: StepNumber, bytes: &CallBytes, plan: Option<&PlanDigest>, now: Duration) -> bool {
        let is_for = |(only, of): &(StepNumber, PlanDigest)| *only == step && plan == Some(of);
        now < self.until && self.only_for.as_ref().is_none_or(is_for) && self.bytes == *bytes
    }
}

/// All approved calls of a mission.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Grants(Vec<Grant>);

impl Grants {
    /// Adds a call; `only_for` is the step and the plan that it is for, unless it is for the whole mission.
    pub(super) fn add(&mut self, bytes: CallBytes, only_for: Option<(StepNumber, PlanDigest)>, until: Duration) {
        self.0.push(Grant { bytes, only_for, until });
    }

    pub(super) fn has(&self, step: StepNumber, bytes: &CallBytes, plan: Option<&PlanDigest>, now: Duration) -> bool {
        self.0.iter().any(|grant| grant.fits(step, bytes, plan, now))
    }

    /// Whether the call was approved. An approval for once is used up.
    pub(super) fn take(
        &mut self,
        step: StepNumber,
        bytes: &CallBytes,
        plan: Option<&PlanDigest>,
        now: Duration,
    ) -> bool {
        let Some(place) = self.0.iter().position(|grant| grant.fits(step, bytes, plan, now)) else { return false };
        if self.0.get(place).is_some_and(|grant| grant.only_for.is_some()) {
            self.0.remove(place);
        }
        true
    }

    /// Only what counts for the whole mission is left.
    pub(super) fn keep_for_mission(&mut self) {
        self.0.retain(|grant| grant.only_for.is_none());
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The digest of a plan: of each step, in order, the number, the tool, its version, the arguments and what it waits for.
pub(super) fn digest(plan: &Plan, planned: &BTreeMap<StepNumber, ToolFingerprint>) -> PlanDigest {
    let mut hasher = Sha256::new();
    for step in &plan.steps {
        let fingerprint = planned.get(&step.number).map_or(0, |fingerprint| fingerprint.0);
        let after: Vec<u32> = step.after.iter().map(|number| number.0).collect();
        let arguments = canonical(&step.call.arguments);
        // As JSON, so that no text can pass for the end of one part and the beginning of the next.
        let line = serde_json::json!([step.number.0, step.call.tool.as_str(), fingerprint, arguments, after]);
        hasher.update(line.to_string());
        hasher.update("\n");
    }
    let mut text = String::from("sha256:");
    for byte in hasher.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    PlanDigest(text)
}

/// The arguments as JSON without spaces, the keys of every object in order: the same bytes for the same arguments.
pub(super) fn canonical(arguments: &Map<String, Value>) -> String {
    let mut text = String::new();
    write_object(arguments, 0, &mut text);
    text
}

fn write_object(fields: &Map<String, Value>, depth: usize, text: &mut String) {
    let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
    text.push('{');
    for (index, (name, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_text(name, text);
        text.push(':');
        write_value(value, depth + 1, text);
    }
    text.push('}');
}

fn write_text(words: &str, text: &mut String) {
    text.push_str(&Value::from(words).to_string());
}

fn write_value(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(fields) if depth < DEPTH_LIMIT => write_object(fields, depth, text),
        Value::Array(items) if depth < DEPTH_LIMIT => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(item, depth + 1, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_same_arguments_are_the_same_bytes_and_others_are_not() {
        let one = canonical(&object(json!({"b": [1, {"d": "x", "c": null}], "a": 0.5})));
        assert_eq!(one, r#"{"a":0.5,"b":[1,{"c":null,"d":"x"}]}"#);
        let mut other = Map::new();
        other.insert("b".to_owned(), json!([1, {"c": null, "d": "x"}]));
        other.insert("a".to_owned(), json!(0.5));
        assert_eq!(canonical(&other), one);
        assert_ne!(canonical(&object(json!({"a": "1"}))), canonical(&object(json!({"a": 1}))));
    }

    #[test]
    fn a_yes_is_for_its_step_of_its_plan_once_and_for_a_time() {
        let call = ToolCall { tool: "pump.run".into(), arguments: Map::new() };
        let bytes = CallBytes::of(&call, ToolFingerprint(1));
        let (plan, other) = (PlanDigest("sha256:one".to_owned()), PlanDigest("sha256:other".to_owned()));
        let (step, until) = (StepNumber(1), Duration::from_secs(10));
        let mut grants = Grants::default();
        grants.add(bytes.clone(), Some((step, plan.clone())), until);
        let now = Duration::from_secs(9);
        assert!(!grants.has(StepNumber(2), &bytes, Some(&plan), now) && !grants.has(step, &bytes, Some(&plan), until));
        assert!(!grants.take(step, &bytes, Some(&other), now) && !grants.take(step, &bytes, None, now), "another plan");
        assert!(grants.take(step, &bytes, Some(&plan), now));
        assert!(!grants.take(step, &bytes, Some(&plan), now), "it is used up");
    }
}
