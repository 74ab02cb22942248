//! What was done is not done again: a step that acts and is just what a step of an earlier plan did is a mistake of the
//! model, unless it says why it must be. Looking may be repeated freely.

use cortex_protocol::{Effect, Plan, StepAddress, StepReport, StepStatus, ToolName};
use serde_json::{Map, Value};

use super::Mission;
use crate::arrangement::ARRANGE_TOOL;
use crate::binding;

impl Mission {
    /// What is wrong with a plan that is to be the next one, if it repeats what was done.
    pub(super) fn repetition_in(&self, plan: &Plan) -> Option<String> {
        let unmarked = plan.steps.iter().filter(|step| step.again.is_empty());
        // What a placeholder comes to is known when the step's turn comes.
        let bound = unmarked.filter(|step| binding::references(&step.call.arguments).is_empty());
        let repeated: Vec<String> = bound
            .filter_map(|step| {
                let done = self.done_in_plan_before(self.plan_number + 1, &step.call.tool, &step.call.arguments)?;
                Some(format!("step {} {}", step.number, repeats(done)))
            })
            .collect();
        (!repeated.is_empty()).then(|| repeated.join("; "))
    }

    /// Whether a step of the current plan would repeat with these arguments what was done.
    pub(super) fn check_repetition(&self, tool: &ToolName, arguments: &Map<String, Value>) -> Result<(), String> {
        match self.done_in_plan_before(self.plan_number, tool, arguments) {
            Some(done) => Err(format!("it {}", repeats(done))),
            None => Ok(()),
        }
    }

    fn done_in_plan_before(&self, plan: u32, tool: &ToolName, arguments: &Map<String, Value>) -> Option<&StepReport> {
        // A tool that is gone counts as one that moves.
        let effect = self.setup.tools.get(tool).map(|spec| spec.effect).unwrap_or_default();
        if effect == Effect::Observe {
            return None;
        }
        let is_same = |report: &&StepReport| {
            report.plan < plan
                && report.plan > self.goal.rounded
                && report.status == StepStatus::Success
                && report.tool == *tool
                && same_fields(&report.arguments, arguments)
        };
        self.reports.iter().find(is_same)
    }
}

fn repeats(done: &StepReport) -> String {
    let done = StepAddress { plan: done.plan, step: done.number };
    format!("repeats {done}, which has SUCCESS; leave it out, or name it in 'again' of {ARRANGE_TOOL} with the reason")
}

/// Whether two values mean the same: 1 is 1.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => same_fields(one, other),
        _ => one == other,
    }
}

fn same_fields(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let equal = |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| same(value, other));
    one.len() == other.len() && one.iter().all(equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        assert!(same(&json!({"to": [1, 2.0, "a"]}), &json!({"to": [1.0, 2, "a"]})));
        for other in [json!({"to": [1, 2]}), json!({"to": [1, 3.0, "a"]}), json!({"at": [1, 2, "a"]}), json!({})] {
            assert!(!same(&json!({"to": [1, 2, "a"]}), &other), "{other}");
        }
    }
}
