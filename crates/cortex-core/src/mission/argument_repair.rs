//! Fixing a call that failed, in its step's place. What could not be reached is tried again after a pause, if it only
//! looks; else the error and the schema go back to the model, which may give the same tool other arguments. Bounded, and
//! only where nothing that the failed call started goes on.
//!
//! What acts runs with nothing that nobody has said yes to: a correction may fill in what the plan left open, as a
//! confirmation may, and anything else is confirmed anew, or is a matter for a new plan. The same holds for a call that was
//! never sent, because it waited so long that its confirmation is out of date.

use std::time::Duration;

use cortex_protocol::{
    Effect as ToolEffect, FailureKind, MissionEvent, OutcomeStatus, StepNumber, ToolName, ToolOutcome,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ConfirmationArguments, Mission, Phase, arguments, prompts};
use crate::chat::ChatReply;
use crate::confirmation::{self, Reading, Unusable};
use crate::ports::ModelError;

/// The first pause before a call is tried again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A step whose call failed, and what is done about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Failure {
    pub(super) outcome: ToolOutcome,
    pub(super) remedy: Remedy,
}

impl Failure {
    fn again_at(&self) -> Option<Duration> {
        match self.remedy {
            Remedy::Again { at } => Some(at),
            Remedy::OtherArguments | Remedy::Confirm { .. } => None,
        }
    }

    /// Whether the tool got the call that failed.
    pub(super) fn was_sent(&self) -> bool {
        self.outcome.status != OutcomeStatus::Failed(FailureKind::Expired)
    }
}

/// What may help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Remedy {
    /// The same call, at that time.
    Again { at: Duration },
    /// Other arguments.
    OtherArguments,
    /// A call with these arguments, once the model has confirmed it.
    Confirm { arguments: Map<String, Value> },
}

impl Mission {
    /// What may help against a failure, if anything may that was not tried often enough.
    pub(super) fn remedy(&self, step: StepNumber, tool: &ToolName, outcome: &ToolOutcome) -> Option<Remedy> {
        let OutcomeStatus::Failed(kind) = outcome.status else { return None };
        if outcome.halt.may_go_on() {
            return None;
        }
        match kind {
            FailureKind::Reported | FailureKind::InvalidArguments => {
                let may = self.run.repairs(step) < self.setup.limits.max_corrections && self.may_be_corrected(step);
                may.then_some(Remedy::OtherArguments)
            }
            // Nothing was sent. What was decided then need not hold now.
            FailureKind::Expired => {
                let tried = self.run.retries(step);
                let arguments = self.current_reports().find(|report| report.number == step)?.arguments.clone();
                (tried < self.setup.limits.max_confirmations_per_step).then_some(Remedy::Confirm { arguments })
            }
            // What acts may have acted although nobody said so; only what looks is done twice.
            FailureKind::Unavailable | FailureKind::Timeout => {
                let only_looks = self.setup.tools.get(tool).is_some_and(|spec| spec.effect == ToolEffect::Observe);
                let tried = self.run.retries(step);
                let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tried)).min(LONGEST_PAUSE);
                (only_looks && tried < self.setup.limits.max_retries)
                    .then(|| Remedy::Again { at: self.clock.now().saturating_add(pause) })
            }
            _ => None,
        }
    }

    /// Whether a correction could change anything: a step that acts is not planned anew by its correction.
    fn may_be_corrected(&self, number: StepNumber) -> bool {
        let Some(step) = self.step(number) else { return false };
        !self.acts(&step.call.tool)
            || self.setup.limits.confirmation_arguments == ConfirmationArguments::Any
            || arguments::leaves_open(&step.call.arguments)
    }

    /// A tool that is gone counts as one that acts.
    fn acts(&self, tool: &ToolName) -> bool {
        self.setup.tools.get(tool).is_none_or(|spec| spec.effect != ToolEffect::Observe)
    }

    /// The arguments with which a step is to be confirmed in place of the planned ones.
    pub(super) fn proposed_for(&self, number: StepNumber) -> Option<Map<String, Value>> {
        match &self.run.failure(number)?.remedy {
            Remedy::Confirm { arguments } => Some(arguments.clone()),
            Remedy::Again { .. } | Remedy::OtherArguments => None,
        }
    }

    /// What the model is told of a step that is confirmed anew.
    pub(super) fn told_of_proposal(&self, number: StepNumber) -> Option<String> {
        self.proposed_for(number)?;
        let failure = self.run.failure(number)?;
        Some(prompts::confirmed_anew(&failure.outcome.message, failure.was_sent()))
    }

    /// Whether a step other than this one waits to be fixed.
    pub(super) fn fixes_another_than(&self, step: StepNumber) -> bool {
        self.run.failures().any(|(number, _)| number != step)
    }

    fn due_times(&self) -> impl Iterator<Item = Duration> {
        self.run.failures().filter_map(|(_, failure)| failure.again_at())
    }

    /// When the next pause before a further try is over. What is due but can't begin yet waits for something in flight.
    pub(super) fn next_retry(&self) -> Option<Duration> {
        self.due_times().filter(|at| *at > self.clock.now()).min()
    }

    pub(super) fn has_due_retry(&self) -> bool {
        self.due_times().any(|at| at <= self.clock.now())
    }

    /// Whether the step finds what it needs, and room beside what runs.
    fn may_begin(&self, number: StepNumber) -> bool {
        let is_free = self.step(number).is_some_and(|step| self.is_free_for(&step.call.tool));
        is_free && self.calls.len() < self.setup.limits.max_parallel_steps
    }

    /// Begins anew the first call whose pause is over. Returns whether there is one.
    pub(super) fn retry_next(&mut self) -> bool {
        let due = |failure: &Failure| failure.again_at().is_some_and(|at| at <= self.clock.now());
        let next = self.run.failures().find(|(number, failure)| due(failure) && self.may_begin(*number));
        let Some(number) = next.map(|(number, _)| number) else { return false };
        let (Some(step), Some(failure)) = (self.step(number).cloned(), self.run.take_failure(number)) else {
            return false;
        };
        self.run.count_retry(number);
        let tried = self.current_reports().find(|report| report.number == number);
        let arguments = tried.map(|report| report.arguments.clone()).unwrap_or_default();
        match self.is_as_planned(&step) {
            Ok(fingerprint) => {
                self.timeline.retried();
                self.report(MissionEvent::Retrying {
                    step: number,
                    tool: step.call.tool.clone(),
                    problem: failure.outcome.message,
                });
                self.start_step(&step, arguments, fingerprint);
            }
            Err(outcome) => {
                self.end_step(number, outcome);
                self.advance();
            }
        }
        true
    }

    /// Asks the model about the first step that failed: for other arguments, or whether those that it has now shall run.
    /// Returns whether there is one.
    pub(super) fn fix_next(&mut self) -> bool {
        let is_proposed = |failure: &Failure| matches!(failure.remedy, Remedy::Confirm { .. });
        let next = self.run.failures().find(|(number, failure)| is_proposed(failure) && self.may_begin(*number));
        if let Some(number) = next.map(|(number, _)| number) {
            self.run.count_retry(number);
            self.confirm(number, 0, None);
            return true;
        }
        let asks = |failure: &Failure| failure.remedy == Remedy::OtherArguments;
        let Some((number, failure)) = self.run.failures().find(|(_, failure)| asks(failure)) else { return false };
        let outcome = failure.outcome.clone();
        let Some(step) = self.step(number).cloned() else { return false };
        let attempt = self.run.count_repair(number);
        let tried = self.current_reports().find(|report| report.number == number).cloned();
        let tried = tried.map(|report| report.arguments).unwrap_or_default();
        self.report(MissionEvent::Correcting {
            step: number,
            tool: step.call.tool.clone(),
            attempt,
            problem: outcome.message.clone(),
        });
        let chat =
            prompts::correction_request(&self.setup, self.in_plan(&step, Some(tried)), &step.call.arguments, outcome);
        if let Some(request) = self.ask_model(chat) {
            self.timeline.asked(self.clock.now(), number);
            self.timeline.corrected();
            self.phase = Phase::Correcting { step: number, request };
        }
        true
    }

    /// Calls the tool again with the model's arguments, or lets the step fail as it did.
    pub(super) fn on_correction(&mut self, number: StepNumber, reply: Result<ChatReply, ModelError>) {
        let (Some(step), Some(failure)) = (self.step(number).cloned(), self.run.take_failure(number)) else { return };
        let tool = &step.call.tool;
        let wire_name = self.setup.tools.wire_name(tool).unwrap_or_default().to_owned();
        let tried = self.current_reports().find(|report| report.number == number).map(|report| &report.arguments);
        let acts = self.acts(tool);
        let read = reply.map_err(|error| Unusable::from(error.message));
        let read = read.and_then(|reply| confirmation::read(&reply, &wire_name, tool.as_str()));
        let has_words = matches!(&read, Err(Unusable { proposed: Some(_), .. }));
        let given = match read {
            Ok(Reading { arguments: given, .. }) | Err(Unusable { proposed: given, .. }) => given,
        };
        let allowed = given.filter(|given| !acts || self.changes(&step, Some(given)).is_ok());
        let fixed = allowed.and_then(|given| self.resolved_arguments(&step, Some(given)).ok());
        // The same arguments would fail again.
        let fixed = fixed.filter(|arguments| Some(arguments) != tried);
        // Words beside the call may take it back, and other arguments than the planned ones were never confirmed.
        let is_unconfirmed = has_words || self.setup.limits.confirmation_arguments == ConfirmationArguments::Any;
        if self.must_hold() {
            // It waits with the plan, or ends with it as it did.
            self.run.fix_later(number, failure);
            self.phase = Phase::Underway;
            self.advance();
            return;
        }
        if let Some(reason) = self.refusal_of_motion(tool).filter(|_| fixed.is_some()) {
            self.end_step(number, failure.outcome);
            self.fail(reason);
            return;
        }
        match (fixed, self.is_as_planned(&step)) {
            (Some(arguments), Ok(_)) if acts && is_unconfirmed => {
                self.run.fix_later(number, Failure { remedy: Remedy::Confirm { arguments }, ..failure });
                self.phase = Phase::Underway;
                self.advance();
            }
            (Some(arguments), Ok(fingerprint)) if self.may_begin(number) => {
                self.start_step(&step, arguments, fingerprint);
            }
            (Some(_) | None, _) => {
                self.end_step(number, failure.outcome);
                self.advance();
            }
        }
    }

    /// What was to be fixed has failed after all: the plan ends before the model was asked, or had answered.
    pub(super) fn give_up_fixing(&mut self) {
        while let Some((step, failure)) = self.run.take_first_failure() {
            self.end_step(step, failure.outcome);
        }
    }
}
