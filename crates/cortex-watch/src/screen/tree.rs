//! How far each step of a plan is indented: a chain goes straight down, what begins together after the same step stands
//! further in, and what waits for several of those stands further out again.

use std::collections::BTreeMap;

use cortex_protocol::{Plan, StepNumber};

/// Deepest indentation.
const DEEPEST: usize = 6;

/// How deep each step stands, in the order of the plan.
pub(super) fn depths(plan: &Plan) -> Vec<usize> {
    let mut dependents: BTreeMap<StepNumber, usize> = BTreeMap::new();
    for step in plan.steps.iter().flat_map(|step| &step.after) {
        *dependents.entry(*step).or_default() += 1;
    }
    let mut depths: BTreeMap<StepNumber, usize> = BTreeMap::new();
    for step in &plan.steps {
        // A step that comes later, or does not exist, counts as the outermost one.
        let of = |step: &StepNumber| depths.get(step).copied().unwrap_or_default();
        let depth = match step.after.as_slice() {
            [] => 0,
            [only] => of(only) + usize::from(dependents.get(only).is_some_and(|dependents| *dependents > 1)),
            several => several.iter().map(of).min().unwrap_or_default().saturating_sub(1),
        };
        depths.insert(step.number, depth.min(DEEPEST));
    }
    let of = |step: &StepNumber| depths.get(step).copied().unwrap_or_default();
    plan.steps.iter().map(|step| of(&step.number) + usize::from(plan.group_of(step.number).is_some())).collect()
}

#[cfg(test)]
mod tests {
    use cortex_protocol::plan::Group;
    use cortex_protocol::{Priority, Step, StepStatus, ToolCall};

    use super::*;

    fn plan(after: &[&[u32]]) -> Plan {
        let step = |(number, after): (u32, &&[u32])| Step {
            number: StepNumber(number),
            call: ToolCall { tool: "base.go".into(), arguments: serde_json::Map::new() },
            after: after.iter().copied().map(StepNumber).collect(),
            status: StepStatus::Pending,
            priority: Priority::Normal,
            again: String::new(),
        };
        Plan { steps: (1..).zip(after).map(step).collect(), groups: Vec::new() }
    }

    #[test]
    fn a_chain_goes_down_a_fork_goes_in_and_a_join_comes_out() {
        assert_eq!(depths(&plan(&[&[], &[1], &[2], &[3]])), [0, 0, 0, 0]);
        assert_eq!(depths(&plan(&[&[], &[1], &[1], &[2, 3], &[4]])), [0, 1, 1, 0, 0]);
        assert_eq!(depths(&plan(&[&[], &[1], &[1], &[2], &[2], &[4, 5], &[3, 6]])), [0, 1, 1, 2, 2, 1, 0]);
    }

    #[test]
    fn steps_of_a_group_stand_below_its_name_and_nonsense_does_no_harm() {
        let mut grouped = plan(&[&[], &[], &[1, 2]]);
        grouped.groups.push(Group { name: "look".to_owned(), steps: vec![StepNumber(1), StepNumber(2)], at_once: 2 });
        assert_eq!(depths(&grouped), [1, 1, 0]);
        assert_eq!(depths(&plan(&[&[1], &[9], &[3, 2, 1]])), [1, 0, 0]);
    }
}
