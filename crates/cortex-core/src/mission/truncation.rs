//! Plans that are too long: which of their steps stay, and what these refer to then.

use cortex_protocol::{StepNumber, ToolCall, ToolName};

use super::MissionLimits;
use super::commitment::PlanProblem;
use crate::{output_refs, plan};

/// The number of a step in a plan of which only these calls were kept.
pub(super) fn kept_as(kept: &[usize], step: StepNumber) -> Vec<StepNumber> {
    let numbers = (1..).map(StepNumber).zip(kept);
    let called_as = |index: usize| u32::try_from(index + 1).is_ok_and(|number| number == step.0);
    numbers.filter(|(_, index)| called_as(**index)).map(|(number, _)| number).collect()
}

/// A step of a plan of which only these calls were kept, in the numbers that they have now.
pub(super) fn cut_to(kept: &[usize], request: plan::Request) -> Result<plan::Request, PlanProblem> {
    let moved = |after: Vec<StepNumber>| {
        let now: Vec<StepNumber> = after.iter().flat_map(|step| kept_as(kept, *step)).collect();
        // What waited only for steps that were cut waits for those before it.
        (after.is_empty() || !now.is_empty()).then_some(now)
    };
    let arguments = output_refs::with_numbers(&request.call.arguments, |step| {
        kept_as(kept, step).first().copied().ok_or(PlanProblem::UsesCutStep { step })
    })?;
    let call = ToolCall { arguments, ..request.call };
    Ok(plan::Request { call, after: request.after.and_then(moved), ..request })
}

/// The indices of the steps that stay when a plan is too long: the first ones, and those that close what others opened.
pub(super) fn kept_steps(tools: &[ToolName], limits: &MissionLimits) -> Vec<usize> {
    let limit = limits.max_execution_steps as usize;
    if tools.len() <= limit {
        return (0..tools.len()).collect();
    }
    let closes = |tool: &ToolName| {
        let method = tool.as_str().rsplit('.').next().unwrap_or_default();
        limits.closing_methods.iter().any(|closing| closing == method)
    };
    let closing: Vec<usize> = (limit..tools.len()).filter(|index| tools.get(*index).is_some_and(closes)).collect();
    let closing = closing.get(closing.len().saturating_sub(limit)..).unwrap_or_default();
    (0..limit - closing.len()).chain(closing.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_step_that_is_kept_refers_to_the_same_steps_as_before() {
        let request = |text: &str, after: &[u32]| plan::Request {
            call: ToolCall {
                tool: "a.b".into(),
                arguments: [("text".to_owned(), json!([text]))].into_iter().collect(),
            },
            after: Some(after.iter().copied().map(StepNumber).collect()),
            instead_of: Vec::new(),
        };
        let kept = [0, 3, 4];
        let now = cut_to(&kept, request("<output of step 4.x> and <output of step 1>", &[2, 4])).unwrap();
        assert_eq!(now, request("<output of step 2.x> and <output of step 1>", &[2]));
        assert_eq!(cut_to(&kept, request("", &[2, 3])).unwrap().after, None, "the one before it");
        let problem = cut_to(&kept, request("<output of step 2>", &[])).unwrap_err().to_string();
        assert_eq!(problem, "<output of step 2> is used, but the plan is too long, and step 2 is not kept");
    }
}
