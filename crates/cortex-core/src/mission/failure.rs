//! What a failed step does to its plan: it ends it, or the rest goes on without what waits for it.

use std::collections::BTreeSet;

use cortex_protocol::{Priority, StepNumber, StepReport, StepStatus};

use super::reports::failure_text;
use super::{Mission, OnFailure};

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

    /// Blocks what waits for a step that has failed or is blocked, directly or through others.
    pub(super) fn block_what_waits_for_failures(&mut self) {
        let stopped = |report: &&StepReport| matches!(report.status, StepStatus::Failed | StepStatus::Blocked);
        let mut lost: BTreeSet<StepNumber> =
            self.current_reports().filter(stopped).map(|report| report.number).collect();
        if lost.is_empty() {
            return;
        }
        // A step may wait for one with a higher number, so one look is not enough.
        loop {
            let pending = self.plan.steps.iter().filter(|step| self.status(step.number) == Some(StepStatus::Pending));
            let next = pending
                .filter_map(|step| Some((step.number, *step.after.iter().find(|before| lost.contains(before))?)));
            let Some((number, before)) = next.into_iter().next() else { return };
            lost.insert(number);
            let note = format!("was not run, because step {before} was not done");
            self.close_report(number, StepStatus::Blocked, note);
        }
    }

    /// Why a plan of which nothing can run any more was not carried out, if it was not.
    pub(super) fn what_is_left_open(&self) -> Option<String> {
        let failed: Vec<String> =
            self.current_reports().filter(|report| report.status == StepStatus::Failed).map(failure_reason).collect();
        if !failed.is_empty() {
            return Some(failed.join(" "));
        }
        let cut = self.current_reports().filter(|report| report.status == StepStatus::Blocked).count();
        (cut > 0).then(|| format!("{cut} of its steps were cut, because the plan was too long."))
    }
}

fn failure_reason(report: &StepReport) -> String {
    format!("Step {} ({}) failed: {}.", report.number, report.tool, failure_text(report))
}
