//! What was done is not done again: a step that acts and is just what a step of an earlier plan did is a mistake of the
//! model, unless it says why it must be. Looking may be repeated freely.

use cortex_protocol::{Effect, Plan, StepAddress, StepNumber, StepReport, StepStatus, ToolName};
use serde_json::{Map, Value};
use thiserror::Error;

use super::Mission;
use super::arguments::StepProblem;
use super::commitment::PlanProblem;
use crate::output_refs;
use crate::step_groups::ARRANGE_TOOL;

/// What a step does that was done. In words for the model.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("repeats {done}, which has SUCCESS; leave it out, or name it in 'again' of {ARRANGE_TOOL} with the reason")]
pub(super) struct Repeats {
    done: StepAddress,
}

impl Repeats {
    fn new(done: &StepReport) -> Self {
        Self { done: StepAddress { plan: done.plan, step: done.number } }
    }
}

/// What several steps of a plan repeat, in words for the model.
pub(super) fn repeats_of_steps(repeated: &[(StepNumber, Repeats)]) -> String {
    let told = repeated.iter().map(|(step, repeats)| format!("step {step} {repeats}"));
    told.collect::<Vec<_>>().join("; ")
}

impl Mission {
    /// Whether a plan that is to be the next one repeats what was done.
    pub(super) fn check_repetitions_in(&self, plan: &Plan) -> Result<(), PlanProblem> {
        let unmarked = plan.steps.iter().filter(|step| step.again.is_empty());
        // What a placeholder comes to is known when the step's turn comes.
        let bound = unmarked.filter(|step| output_refs::references(&step.call.arguments).is_empty());
        let repeated: Vec<(StepNumber, Repeats)> = bound
            .filter_map(|step| {
                let done = self.done_in_plan_before(self.run.next_number(), &step.call.tool, &step.call.arguments)?;
                Some((step.number, Repeats::new(done)))
            })
            .collect();
        if repeated.is_empty() { Ok(()) } else { Err(PlanProblem::Repeats(repeated)) }
    }

    /// Whether a step of the current plan would repeat with these arguments what was done.
    pub(super) fn check_repetition(&self, tool: &ToolName, arguments: &Map<String, Value>) -> Result<(), StepProblem> {
        match self.done_in_plan_before(self.run.number(), tool, arguments) {
            Some(done) => Err(StepProblem::Repeats(Repeats::new(done))),
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
                && report.plan > self.task_state.rounded
                && report.status == StepStatus::Success
                && report.tool == *tool
                && same_fields(&report.arguments, arguments)
        };
        self.record.steps().iter().find(is_same)
    }
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
