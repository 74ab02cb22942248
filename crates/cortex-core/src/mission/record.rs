//! The record: the steps of every plan, and which of them are still open after everything that later plans did.

use std::collections::BTreeSet;

use cortex_protocol::{StepAddress, StepNumber, StepReport, StepStatus, ToolName};
use serde::{Deserialize, Serialize};

/// Every step of every plan, in the order of the plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    steps: Vec<StepReport>,
}

impl Record {
    /// Takes a step of the latest plan.
    pub(super) fn push(&mut self, step: StepReport) {
        self.steps.push(step);
    }

    pub(super) fn steps(&self) -> &[StepReport] {
        &self.steps
    }

    pub(super) fn step(&self, address: StepAddress) -> Option<&StepReport> {
        self.steps.iter().find(|report| report.plan == address.plan && report.number == address.step)
    }

    /// The steps of the latest plan, whose number this is.
    pub(super) fn of_latest(&self, plan: u32) -> &[StepReport] {
        self.steps.get(self.begin_of(plan)..).unwrap_or_default()
    }

    /// A step of the latest plan, whose number this is.
    pub(super) fn in_latest(&self, plan: u32, step: StepNumber) -> Option<&StepReport> {
        self.steps.get(self.place_of(plan, step)?)
    }

    /// As [`in_latest`](Self::in_latest), to be changed.
    pub(super) fn in_latest_mut(&mut self, plan: u32, step: StepNumber) -> Option<&mut StepReport> {
        let place = self.place_of(plan, step)?;
        self.steps.get_mut(place)
    }

    /// Notes that a person's revision has overtaken the steps of a plan that are neither done nor skipped.
    pub(super) fn overtake(&mut self, plan: u32) {
        let is_open = |report: &&mut StepReport| {
            report.plan == plan && !matches!(report.status, StepStatus::Success | StepStatus::Skipped)
        };
        for report in self.steps.iter_mut().filter(is_open) {
            report.overtaken = true;
        }
    }

    /// Notes that a person has interrupted the steps of a plan that have not ended.
    pub(super) fn interrupt(&mut self, plan: u32) {
        let is_open = |report: &&mut StepReport| report.plan == plan && !report.status.is_terminal();
        for report in self.steps.iter_mut().filter(is_open) {
            report.interrupted = true;
        }
    }

    /// Where the steps of a plan begin.
    fn begin_of(&self, plan: u32) -> usize {
        self.steps.partition_point(|report| report.plan < plan)
    }

    /// Where a step of the latest plan stands. A plan numbers its steps from 1, so it is looked for where it must be: plans
    /// may be long.
    fn place_of(&self, plan: u32, step: StepNumber) -> Option<usize> {
        let begins = self.begin_of(plan);
        let place = begins.checked_add(usize::try_from(step.0).ok()?.checked_sub(1)?)?;
        let is_it = |report: &StepReport| report.number == step;
        if self.steps.get(place).is_some_and(is_it) {
            return Some(place);
        }
        Some(begins + self.steps.get(begins..)?.iter().position(is_it)?)
    }
}

/// The steps that did not end well and that no later step took over, in order.
///
/// One step takes over one other: a step of a later plan with the same call, as planned or as called, or one that names it in `instead_of` and
/// calls the same tool. What it took over is as open as it is itself. A look that was tried and failed need
/// not be repeated where later plans went on without it; one that never began is as open as any step. What a person's
/// revision of the task has overtaken is taken over by any step of the same tool in a later plan, or by steps that
/// name it, whatever they call: by one that acts, and where people asked for no action (`looks_suffice`) by a look, too.
/// `is_same_action` says whether two tools count as the same: that of a component and that of its standby do.
pub(super) fn open_steps(
    reports: &[StepReport],
    only_looks: impl Fn(&StepReport) -> bool,
    is_same_action: impl Fn(&ToolName, &ToolName) -> bool,
    looks_suffice: bool,
) -> Vec<&StepReport> {
    let mut used = BTreeSet::new();
    let mut open = Vec::new();
    for report in reports {
        match report.status {
            StepStatus::Success | StepStatus::Skipped => continue,
            StepStatus::Failed | StepStatus::Pending | StepStatus::Running | StepStatus::Blocked => {}
        }
        let went_on = || reports.iter().any(|later| later.plan > report.plan && later.status == StepStatus::Success);
        if report.status == StepStatus::Failed && only_looks(report) && went_on() {
            continue;
        }
        let may_replace = |later: &StepReport| looks_suffice || only_looks(report) || !only_looks(later);
        let replaces = |later: &StepReport| stands_for(later, report) && may_replace(later);
        if report.overtaken && reports.iter().any(|later| replaces(later) && later.status != StepStatus::Skipped) {
            continue;
        }
        let taken_over = reports.iter().enumerate().find(|(place, later)| {
            takes_over(later, report, &is_same_action) && later.status != StepStatus::Skipped && !used.contains(place)
        });
        match taken_over {
            Some((place, _)) => {
                used.insert(place);
            }
            None => open.push(report),
        }
    }
    open
}

fn takes_over(later: &StepReport, open: &StepReport, is_same_action: &impl Fn(&ToolName, &ToolName) -> bool) -> bool {
    let is_same = later.arguments == open.arguments || is_planned_alike(later, open) || open.overtaken;
    later.plan > open.plan && is_same_action(&later.tool, &open.tool) && (is_same || stands_for(later, open))
}

/// Whether both were planned with the same arguments, in which something was still to be filled in.
fn is_planned_alike(later: &StepReport, open: &StepReport) -> bool {
    !open.planned.is_empty() && later.planned == open.planned
}

fn stands_for(later: &StepReport, open: &StepReport) -> bool {
    let names = |address: &StepAddress| {
        let plan = if address.plan == 0 { later.plan.saturating_sub(1) } else { address.plan };
        plan == open.plan && address.step == open.number
    };
    later.plan > open.plan && later.instead_of.iter().any(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn step(plan: u32, number: u32, place: &str, status: StepStatus, instead_of: &[u32]) -> StepReport {
        let Value::Object(arguments) = json!({"place": place}) else { unreachable!() };
        StepReport {
            plan,
            number: StepNumber(number),
            tool: "base.go_to".into(),
            arguments,
            planned: serde_json::Map::new(),
            instead_of: instead_of.iter().map(|step| StepAddress { plan: plan - 1, step: StepNumber(*step) }).collect(),
            status,
            outcome: None,
            note: String::new(),
            duration: None,
            timing: cortex_protocol::execution::StepTiming::default(),
            overtaken: false,
            interrupted: false,
            verification: None,
            by: None,
        }
    }

    /// One base stands in for another.
    fn is_same(one: &ToolName, other: &ToolName) -> bool {
        let plain = |tool: &ToolName| tool.as_str().replace("spare_base", "base");
        plain(one) == plain(other)
    }

    fn open(reports: &[StepReport]) -> Vec<(u32, u32)> {
        open_steps(reports, |_| false, is_same, false)
            .into_iter()
            .map(|report| (report.plan, report.number.0))
            .collect()
    }

    #[test]
    fn the_same_call_that_succeeds_later_makes_one_failure_good() {
        let (failed, done) = (StepStatus::Failed, StepStatus::Success);
        assert_eq!(open(&[step(1, 1, "kitchen", failed, &[]), step(2, 1, "kitchen", done, &[])]), []);
        let twice = [step(1, 1, "a", failed, &[]), step(1, 2, "a", failed, &[]), step(2, 1, "a", done, &[])];
        assert_eq!(open(&twice), [(1, 2)]);
    }

    #[test]
    fn regression_a_component_and_its_standby_did_not_make_good_what_the_other_left_open() {
        let (failed, done) = (StepStatus::Failed, StepStatus::Success);
        let spare = |step: StepReport| StepReport { tool: "spare_base.go_to".into(), ..step };
        let (lost, driven) = (step(1, 1, "kitchen", failed, &[]), step(2, 1, "kitchen", done, &[]));
        assert_eq!(open(&[spare(lost.clone()), driven.clone()]), []);
        assert_eq!(open(&[lost.clone(), spare(driven)]), []);
        assert_eq!(open(&[spare(lost), step(2, 1, "home", done, &[])]), [(1, 1)], "another place is another action");
    }

    #[test]
    fn regression_driving_home_does_not_make_good_a_kitchen_that_was_not_reached() {
        let (failed, done) = (StepStatus::Failed, StepStatus::Success);
        assert_eq!(open(&[step(1, 1, "kitchen", failed, &[]), step(2, 1, "home", done, &[])]), [(1, 1)]);
    }

    #[test]
    fn regression_a_call_that_was_planned_alike_and_filled_in_did_not_pay_what_was_owed() {
        let planned = |plan, said: &str, asked: &str, status| StepReport {
            planned: serde_json::Map::from_iter([("place".to_owned(), json!(asked))]),
            ..step(plan, 1, said, status, &[])
        };
        let blocked = planned(1, "<what was seen>", "<what was seen>", StepStatus::Blocked);
        let done = StepStatus::Success;
        assert_eq!(open(&[blocked.clone(), planned(2, "a cup", "<what was seen>", done)]), []);
        assert_eq!(open(&[blocked.clone(), planned(2, "a cup", "<what was heard>", done)]), [(1, 1)]);
        assert_eq!(open(&[blocked, step(2, 1, "a cup", done, &[])]), [(1, 1)], "other words are not those asked for");
    }

    #[test]
    fn another_way_counts_where_the_model_says_so_and_through_further_plans() {
        let (failed, done) = (StepStatus::Failed, StepStatus::Success);
        assert_eq!(open(&[step(1, 1, "north door", failed, &[]), step(2, 1, "south door", done, &[1])]), []);
        let chain =
            [step(1, 1, "north", failed, &[]), step(2, 1, "south", failed, &[1]), step(3, 1, "west", done, &[1])];
        assert_eq!(open(&chain), []);
        assert_eq!(open(&chain[..2]), [(2, 1)], "the latest that is open stands for those before");
    }

    #[test]
    fn what_a_correction_has_overtaken_is_replaced_by_the_plan_that_follows_and_by_nothing_else() {
        let overtaken =
            |number, place| StepReport { overtaken: true, ..step(1, number, place, StepStatus::Failed, &[]) };
        let done = StepStatus::Success;
        assert_eq!(open(&[overtaken(1, "kitchen"), step(2, 1, "bath", done, &[])]), [], "the same tool");
        let say = |instead_of: &[u32]| StepReport { tool: "say".into(), ..step(2, 1, "", done, instead_of) };
        assert_eq!(open(&[overtaken(1, "kitchen"), overtaken(2, "bath"), say(&[1, 2])]), [], "as the model says");
        assert_eq!(open(&[overtaken(1, "kitchen"), say(&[])]), [(1, 1)]);
        assert_eq!(open(&[overtaken(1, "kitchen")]), [(1, 1)], "words alone replace nothing");
        let failed = step(2, 1, "bath", StepStatus::Failed, &[1]);
        assert_eq!(open(&[overtaken(1, "kitchen"), failed]), [(2, 1)]);
    }

    /// "Do not go there": nothing that acts is left to plan, so nothing could take the place of the drive.
    #[test]
    fn regression_what_a_person_forbade_stayed_open_where_only_looks_were_left_to_plan() {
        let overtaken = StepReport { overtaken: true, ..step(1, 1, "kitchen", StepStatus::Failed, &[]) };
        let look = StepReport { tool: "camera.look".into(), ..step(2, 1, "", StepStatus::Success, &[1]) };
        let reports = [overtaken.clone(), look.clone()];
        let only_looks = |report: &StepReport| report.tool.as_str() == "camera.look";
        assert_eq!(open_steps(&reports, only_looks, is_same, true), Vec::<&StepReport>::new());
        assert_eq!(open_steps(&reports, only_looks, is_same, false), [&overtaken], "a person asked for an action");
        let unnamed = [overtaken.clone(), StepReport { instead_of: Vec::new(), ..look.clone() }];
        assert_eq!(open_steps(&unnamed, only_looks, is_same, true), [&overtaken]);
        let never_revised = [StepReport { overtaken: false, ..overtaken }, look];
        assert_eq!(open_steps(&never_revised, only_looks, is_same, true).len(), 1);
    }

    #[test]
    fn regression_a_look_that_was_cut_is_not_left_behind() {
        let cut = step(1, 2, "kitchen", StepStatus::Blocked, &[]);
        let looked = |place| step(2, 1, place, StepStatus::Success, &[]);
        let reports = [cut.clone(), looked("bedroom")];
        assert_eq!(open_steps(&reports, |_| true, is_same, false), [&cut]);
        assert_eq!(open_steps(&[cut, looked("kitchen")], |_| true, is_same, false), Vec::<&StepReport>::new());
    }

    #[test]
    fn a_step_that_only_looked_is_left_behind() {
        let reports = [step(1, 1, "kitchen", StepStatus::Failed, &[]), step(2, 1, "bedroom", StepStatus::Success, &[])];
        assert_eq!(open_steps(&reports, |_| true, is_same, false), Vec::<&StepReport>::new());
    }
}
