//! The record of each step: what it was, how it ended, and what it returned.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_protocol::{
    Effect, MissionEvent, OutcomeStatus, Step, StepAddress, StepNumber, StepReport, StepStatus, ToolName, ToolOutcome,
    Verification,
};
use serde_json::{Map, Value};

use super::prompts::{self, StepInPlan};
use super::{Mission, Phase};
use crate::fragment::Fragment;
use crate::output_refs;

impl Mission {
    /// Writes the outcome into the step's record; it replaces whatever stood there.
    pub(super) fn end_step(&mut self, number: StepNumber, outcome: ToolOutcome) {
        // A step that has run before is being tried again.
        let never_ran = |mission: &mut Self| mission.report_of(number).is_some_and(|report| report.duration.is_none());
        let status = match outcome.status {
            OutcomeStatus::Succeeded => StepStatus::Success,
            // What is cancelled while the mission goes on is a failure that it has to deal with.
            OutcomeStatus::NotBegun if matches!(self.phase, Phase::Halting { .. }) && never_ran(self) => {
                StepStatus::Blocked
            }
            OutcomeStatus::Failed(_) | OutcomeStatus::Cancelled | OutcomeStatus::NotBegun => StepStatus::Failed,
        };
        self.learn_from_step(number, &outcome);
        if let Some(report) = self.report_of(number) {
            report.outcome = Some(outcome);
        }
        self.close_report(number, status, String::new());
    }

    /// Ends a step's record and tells it.
    pub(super) fn close_report(&mut self, number: StepNumber, status: StepStatus, note: String) {
        let steps = self.step_count();
        let timing = self.timeline.of(self.run.number(), number);
        let Some(report) = self.report_of(number) else { return };
        if report.status.is_terminal() {
            return;
        }
        // What has ended is not fixed.
        self.run.take_failure(number);
        let Some(report) = self.report_of(number) else { return };
        report.timing = timing;
        report.status = status;
        report.note = note;
        report.verification = match status {
            StepStatus::Success | StepStatus::Failed => Some(Verification::of(report.outcome.as_ref())),
            StepStatus::Pending | StepStatus::Running | StepStatus::Blocked | StepStatus::Skipped => None,
        };
        let report = report.clone();
        self.report(MissionEvent::StepFinished { steps, report });
    }

    /// What those steps of the current plan returned that the arguments refer to.
    pub(super) fn outputs_for(&self, arguments: &Map<String, Value>) -> BTreeMap<StepNumber, Value> {
        let wanted = output_refs::references(arguments);
        if wanted.is_empty() {
            return BTreeMap::new();
        }
        self.current_reports()
            .filter(|report| report.status == StepStatus::Success && wanted.contains(&report.number))
            .filter_map(|report| Some((report.number, report.outcome.as_ref()?.value.clone())))
            .collect()
    }

    pub(super) fn step(&self, number: StepNumber) -> Option<&Step> {
        self.run.step(number)
    }

    pub(super) fn step_count(&self) -> u32 {
        u32::try_from(self.run.steps().len()).unwrap_or(u32::MAX)
    }

    /// A step, what it would be called with, and what stands around it, for the model to decide upon.
    pub(super) fn in_plan(&self, step: &Step, arguments: Option<Map<String, Value>>) -> StepInPlan {
        let is_other = |report: &StepReport| report.plan != self.run.number() || report.number != step.number;
        let has_begun = |report: &&StepReport| report.status != StepStatus::Pending && is_other(report);
        let is_to_come = |number: &&StepNumber| {
            **number != step.number && self.status(**number).is_some_and(|status| status == StepStatus::Pending)
        };
        let done: Vec<(&StepReport, Option<Duration>)> =
            self.record.steps().iter().filter(has_begun).map(|report| (report, self.told_end(report))).collect();
        let findings = &self.task_state.findings;
        StepInPlan {
            address: StepAddress { plan: self.run.number(), step: step.number },
            steps: self.step_count(),
            call: prompts::shown_step(step, arguments),
            revisions: self.revision_fragments(),
            record: (!done.is_empty() || !findings.is_empty())
                .then(|| Fragment::brief(&done, findings, self.clock.now(), &|name| self.offered_name(name))),
            rest: self.run.order().iter().filter(is_to_come).filter_map(|number| self.step(*number).cloned()).collect(),
            goals: self.in_flight(),
        }
    }

    /// When a step ended whose age is told: what a look saw may be different now, and what failed may succeed.
    fn told_end(&self, report: &StepReport) -> Option<Duration> {
        let looks = self.setup.tools.get(&report.tool).is_some_and(|spec| spec.effect == Effect::Observe);
        let is_told = report.status == StepStatus::Failed || (looks && report.status == StepStatus::Success);
        if is_told { self.timeline.ended_at(report.plan, report.number) } else { None }
    }

    /// A tool under the name by which the model is offered it.
    pub(super) fn offered_name(&self, name: &ToolName) -> ToolName {
        let offered = self.setup.tools.wire_name(name).or_else(|| self.task_state.withheld.wire_name(name));
        offered.map_or_else(|| name.clone(), ToolName::from)
    }

    pub(super) fn current_reports(&self) -> impl Iterator<Item = &StepReport> {
        self.record.of_latest(self.run.number()).iter()
    }

    pub(super) fn report_of(&mut self, number: StepNumber) -> Option<&mut StepReport> {
        self.record.in_latest_mut(self.run.number(), number)
    }

    pub(super) fn status(&self, number: StepNumber) -> Option<StepStatus> {
        self.record.in_latest(self.run.number(), number).map(|report| report.status)
    }
}

/// Why a step failed, without the full stop.
pub(super) fn failure_text(report: &StepReport) -> String {
    let text = report.outcome.as_ref().map_or(report.note.as_str(), |outcome| outcome.message.as_str());
    let text = text.trim().trim_end_matches('.');
    if text.is_empty() { "no reason was given".to_owned() } else { text.to_owned() }
}
