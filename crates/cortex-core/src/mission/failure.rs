//! What a failed step does to its plan: it ends it, or the rest goes on without what waits for it.

use std::collections::BTreeSet;

use cortex_protocol::{Decision, Effect as ToolEffect, Priority, Step, StepNumber, StepReport, StepStatus};

use super::reports::failure_text;
use super::{Mission, OnFailure};

/// The note of a step that was cut from its plan.
pub(super) const CUT: &str = "cut: the plan was too long";
/// Steps that are named as left open.
const NAMED: usize = 5;

impl Mission {
    /// Why the plan can't go on, if a step has failed that ends it.
    pub(super) fn failure_of_plan(&self) -> Option<String> {
        let stops = self.setup.limits.on_failure == OnFailure::Stop;
        let ends_it = |report: &&StepReport| report.status == StepStatus::Failed && (stops || self.is_critical(report));
        self.current_reports().find(ends_it).map(failure_reason)
    }

    fn is_critical(&self, report: &StepReport) -> bool {
        self.step(report.number).is_some_and(|step| step.priority == Priority::Critical)
    }

    /// Leaves out a step that nobody decided upon. It never began, so it is blocked, and so is what waits for it.
    pub(super) fn leave_out(&mut self, step: &Step, reason: &str) {
        self.report_decision(step, Decision::Skip, reason.to_owned(), Vec::new());
        let note = format!("was not run: {reason}");
        self.close_report(step.number, StepStatus::Blocked, note.clone());
        if self.setup.limits.on_failure == OnFailure::Stop || step.priority == Priority::Critical {
            self.end_plan_early(format!("Step {} ({}) {note}.", step.number, step.call.tool));
        } else {
            self.advance();
        }
    }

    /// Blocks what waits, directly or through others, for a step that does not satisfy it: one that has failed, is blocked,
    /// or was skipped without a reason; and what acts after a look that was skipped, whatever the reason.
    pub(super) fn block_what_waits_for_failures(&mut self) {
        let with = |is_so: &dyn Fn(&StepReport) -> bool| -> BTreeSet<StepNumber> {
            self.current_reports().filter(|report| is_so(report)).map(|report| report.number).collect()
        };
        let is_skipped = |report: &StepReport| report.status == StepStatus::Skipped;
        let mut lost = with(&|report| {
            let is_lost = matches!(report.status, StepStatus::Failed | StepStatus::Blocked);
            is_lost || (is_skipped(report) && report.note.trim().is_empty())
        });
        let mut unseen = with(&|report| is_skipped(report) && self.only_looks(report));
        if lost.is_empty() && unseen.is_empty() {
            return;
        }
        // What comes after a look through another step depends on it, too.
        loop {
            let depends = |step: &&Step| step.after.iter().any(|before| unseen.contains(before));
            let more: Vec<StepNumber> = self.run.steps().iter().filter(depends).map(|step| step.number).collect();
            let before = unseen.len();
            unseen.extend(more);
            if unseen.len() == before {
                break;
            }
        }
        // A step may wait for one with a higher number, so one look is not enough.
        loop {
            let pending = self.run.steps().iter().filter(|step| self.status(step.number) == Some(StepStatus::Pending));
            let mut unsatisfied = pending.filter_map(|step| {
                let of = |set: &BTreeSet<StepNumber>| step.after.iter().find(|before| set.contains(before)).copied();
                let acts = self.setup.tools.get(&step.call.tool).is_none_or(|spec| spec.effect != ToolEffect::Observe);
                let was_not_done = of(&lost).map(|before| format!("step {before} was not done"));
                let is_unseen = acts && of(&unseen).is_some();
                let was_not_seen = is_unseen.then(|| "a look that it depends on was skipped".to_owned());
                Some((step.number, was_not_done.or(was_not_seen)?))
            });
            let Some((number, because)) = unsatisfied.next() else { return };
            lost.insert(number);
            self.close_report(number, StepStatus::Blocked, format!("was not run, because {because}"));
        }
    }

    fn only_looks(&self, report: &StepReport) -> bool {
        self.setup.tools.get(&report.tool).is_some_and(|spec| spec.effect == ToolEffect::Observe)
    }

    /// Why a plan of which nothing can run any more was not carried out, if it was not.
    pub(super) fn what_is_left_open(&self) -> Option<String> {
        let failed: Vec<String> =
            self.current_reports().filter(|report| report.status == StepStatus::Failed).map(failure_reason).collect();
        if !failed.is_empty() {
            return Some(failed.join(" "));
        }
        let blocked = || self.current_reports().filter(|report| report.status == StepStatus::Blocked);
        let cut = blocked().filter(|report| report.note == CUT).count();
        let cut = (cut > 0).then(|| format!("{cut} of its steps were cut, because the plan was too long."));
        let named = blocked().filter(|report| report.note != CUT).take(NAMED);
        let open: Vec<String> = named
            .map(|report| format!("Step {} ({}) {}.", report.number, report.tool, report.note))
            .chain(cut)
            .collect();
        (!open.is_empty()).then(|| open.join(" "))
    }
}

/// Why a plan ended by this step.
pub(super) fn failure_reason(report: &StepReport) -> String {
    format!("Step {} ({}) failed: {}.", report.number, report.tool, failure_text(report))
}
