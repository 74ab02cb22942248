//! Which step of a plan may begin next. Steps run together where nothing orders them and nothing that one holds is
//! needed by the other; steps that collide run one after the other, and the conflict is told.

use std::collections::BTreeSet;

use cortex_protocol::plan::Group;
use cortex_protocol::{Effect, Plan, ResourceName, Step, StepNumber, StepStatus, ToolSpec};

use crate::output_refs;

/// Marks a resource that is only read: readers do not collide with each other.
const READ: &str = ":read";

/// What runs, as the schedule sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holder<'a> {
    /// For which step; none for research.
    pub(crate) step: Option<StepNumber>,
    /// What it holds until it ends.
    pub(crate) resources: &'a [ResourceName],
    /// Whether steps that only come after it may begin: it was accepted and goes on in the background.
    pub(crate) lets_go: bool,
}

/// What may be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// This step may begin.
    Begin(StepNumber),
    /// Nothing may begin until something in flight ends or lets go.
    Wait(Vec<Conflict>),
    /// Every step has ended, or waits for one that never will.
    Done,
}

/// A step that could begin if another did not hold what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) step: StepNumber,
    pub(crate) resource: ResourceName,
    pub(crate) holder: Option<StepNumber>,
}

/// The first step in `order` that may begin: the one that matters most comes first there. At most `most_at_once` run at a time.
pub(crate) fn next<'a>(
    plan: &Plan,
    order: &[StepNumber],
    status: impl Fn(StepNumber) -> StepStatus,
    holders: &[Holder<'a>],
    resources: impl Fn(&Step) -> &'a [ResourceName],
    most_at_once: usize,
) -> Next {
    let lets_go: BTreeSet<StepNumber> =
        holders.iter().filter(|holder| holder.lets_go).filter_map(|holder| holder.step).collect();
    let mut conflicts = Vec::new();
    let mut is_waited_for = false;
    let is_full = |group: &Group| {
        let running = group.steps.iter().filter(|step| status(**step) == StepStatus::Running).count();
        u32::try_from(running).unwrap_or(u32::MAX) >= group.at_once
    };
    for number in order.iter().filter(|number| status(**number) == StepStatus::Pending) {
        let Some(step) = step(plan, *number) else { continue };
        let group = plan.group_of(*number);
        // What waits for a group waits for the end of all that it began.
        let is_barrier = |before: &StepNumber| plan.group_of(*before).is_some_and(|other| group != Some(other));
        let is_open = |before: &&StepNumber| match status(**before) {
            StepStatus::Pending => true,
            // Reading the arguments is the dearest question; most plans never ask it.
            StepStatus::Running => {
                !lets_go.contains(before)
                    || is_barrier(before)
                    || output_refs::references(&step.call.arguments).contains(before)
            }
            StepStatus::Success | StepStatus::Failed | StepStatus::Blocked | StepStatus::Skipped => false,
        };
        if step.after.iter().any(|before| is_open(&before)) || group.is_some_and(&is_full) {
            is_waited_for = true;
            continue;
        }
        match conflict(step.number, resources(step), holders) {
            Some(conflict) => conflicts.push(conflict),
            None if holders.len() < most_at_once => return Next::Begin(*number),
            None => is_waited_for = true,
        }
    }
    if holders.is_empty() && !is_waited_for { Next::Done } else { Next::Wait(conflicts) }
}

/// The step of that number. A plan numbers its steps from 1, so it is looked for where it must be; a schedule asks for
/// each step again and again.
pub(crate) fn step(plan: &Plan, number: StepNumber) -> Option<&Step> {
    let index = usize::try_from(number.0).ok()?.checked_sub(1)?;
    let there = plan.steps.get(index).filter(|step| step.number == number);
    there.or_else(|| plan.steps.iter().find(|step| step.number == number))
}

/// Who holds what the step needs.
pub(crate) fn conflict(step: StepNumber, needed: &[ResourceName], holders: &[Holder<'_>]) -> Option<Conflict> {
    needed.iter().find_map(|resource| {
        let collides = |holder: &&Holder<'_>| holder.resources.iter().any(|held| collide(resource, held));
        let holder = holders.iter().find(collides)?;
        Some(Conflict { step, resource: resource.clone(), holder: holder.step })
    })
}

/// Whether two claims can't be held together: they are for one resource, and one of them is for more than reading.
#[must_use]
pub fn collide(one: &ResourceName, other: &ResourceName) -> bool {
    let (one_name, one_reads) = claim(one);
    let (other_name, other_reads) = claim(other);
    one_name == other_name && !(one_reads && other_reads)
}

/// Whether a call may not begin while a call of another tool may still go on: they are of one component, need one
/// resource, or both move and their resources do not show that they move different things.
#[must_use]
pub fn may_collide(call: &ToolSpec, other: &ToolSpec) -> bool {
    let is_same = call.component.is_some() && call.component == other.component;
    let shares = call.resources.iter().any(|needed| other.resources.iter().any(|held| collide(needed, held)));
    let both_move = call.effect == Effect::Move && other.effect == Effect::Move;
    let shown_apart = !call.resources.is_empty() && !other.resources.is_empty();
    is_same || shares || both_move && !shown_apart
}

fn claim(resource: &ResourceName) -> (&str, bool) {
    resource.as_str().strip_suffix(READ).map_or((resource.as_str(), false), |name| (name, true))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cortex_protocol::{CancelMode, Dispatch, EffectSource, ToolPhase};

    use super::*;

    fn tool(component: &str, effect: Effect, resources: &[&str]) -> ToolSpec {
        ToolSpec::new("tool".into(), String::new())
            .with_parameters(serde_json::Value::Null)
            .with_phase(ToolPhase::Execution)
            .with_effect(effect)
            .with_effect_source(EffectSource::Declared)
            .with_resources(resources.iter().map(|name| (*name).into()).collect())
            .with_timeout(Duration::from_secs(1))
            .with_dispatch(Dispatch::Wait)
            .with_cancel(CancelMode::Halt)
            .with_component((!component.is_empty()).then(|| component.into()))
    }

    #[test]
    fn calls_collide_where_nothing_shows_them_apart() {
        let drive = tool("base", Effect::Move, &["base"]);
        for (other, collides, why) in [
            (tool("base", Effect::Act, &[]), true, "one component"),
            (tool("nav", Effect::Act, &["base"]), true, "one resource"),
            (tool("arm", Effect::Move, &["arm"]), false, "both say what they hold"),
            (tool("arm", Effect::Move, &[]), true, "it may move anything"),
            (tool("", Effect::Move, &[]), true, "nobody's, and it may move anything"),
            (tool("voice", Effect::Act, &["voice"]), false, "it does not move"),
            (tool("", Effect::Act, &[]), false, "it holds nothing and does not move"),
        ] {
            assert_eq!(may_collide(&drive, &other), collides, "{why}");
            assert_eq!(may_collide(&other, &drive), collides, "{why}, the other way round");
        }
        let reads = tool("a", Effect::Act, &["camera:read"]);
        assert!(!may_collide(&reads, &tool("b", Effect::Act, &["camera:read"])));
        assert!(may_collide(&reads, &tool("b", Effect::Act, &["camera"])));
        assert!(!may_collide(&tool("", Effect::Act, &["a"]), &tool("", Effect::Act, &["b"])), "nobody is no component");
    }
}
