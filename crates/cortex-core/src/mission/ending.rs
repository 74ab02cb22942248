//! Replanning, halting, and the one result.

use std::fmt::Write as _;

use cortex_protocol::{
    Effect as ToolEffect, HaltState, MissionEvent, MissionResult, MissionStatus, StepNumber, StepReport, StepStatus,
    ToolName,
};
use thiserror::Error;

use super::prompts::PlanRecord;
use super::reports::failure_text;
use super::{CancelReason, Effect, Ending, Mission, Phase, prompts, record};
use crate::fragment;

/// Why what was planned does not count as done.
#[derive(Debug, Error)]
pub(super) enum Unfinished {
    #[error("{}.", .missing.join("; "))]
    Open { missing: Vec<String> },
    #[error("every step was skipped.")]
    AllSkipped,
}

impl Mission {
    pub(super) fn on_cancel(&mut self, reason: CancelReason) {
        let reason = match reason {
            CancelReason::Client => "The task was cancelled.".to_owned(),
            CancelReason::Stop => "The robot was stopped.".to_owned(),
            CancelReason::ShutDown => "Cortex is shutting down.".to_owned(),
            CancelReason::ControlsLost { because } => format!("{because}. What was run by hand was halted."),
        };
        let ending = Ending::Cancelled { reason };
        match &mut self.phase {
            Phase::Finished => {}
            // What is coming to rest already goes on doing so; what follows is the end.
            Phase::Halting { then, .. } => *then = ending,
            _ => self.halt_all(ending),
        }
    }

    /// Fails for a reason outside of the mission. What is already coming to rest for good goes on doing so.
    pub(super) fn on_give_up(&mut self, reason: String) {
        match &mut self.phase {
            Phase::Finished
            | Phase::Halting {
                then: Ending::Failed { .. } | Ending::Closed { .. } | Ending::Cancelled { .. }, ..
            } => {}
            Phase::Halting { then, .. } => *then = Ending::Failed { reason },
            _ => self.fail(reason),
        }
    }

    /// The model says that the task can't be done.
    pub(super) fn decline(&mut self, reason: &str) {
        let reason = reason.trim();
        let output = if reason.is_empty() { "The model declined the task and gave no reason." } else { reason };
        self.give_up(output, output.to_owned());
    }

    /// The model has said that it can't do what is missing.
    fn give_up(&mut self, said: &str, output: String) {
        if !self.waits_to_give_up(said, &output) {
            self.finish(MissionStatus::Failed, output);
        }
    }

    /// The model answers in words. Whether the mission succeeded is read from the record, not from the words.
    pub(super) fn answer(&mut self, text: &str) {
        if self.run.number() == 0 {
            self.words_alone(text);
        } else if self.task_state.class.goes_on() {
            self.words_in_a_round(text);
        } else if self.owes_a_revision() && self.judge().is_ok() {
            self.words_after_a_revision(text);
        } else {
            self.end_by_record(text);
        }
    }

    /// Ends the mission with these words, as the record says: with success or without.
    pub(super) fn end_by_record(&mut self, text: &str) {
        match self.judge().map_err(|unfinished| unfinished.to_string()) {
            Ok(skipped) => {
                let text = skipped.map_or_else(|| text.to_owned(), |skipped| format!("{text} ({skipped})"));
                // A question is answered by what was found; steps that found nothing answer none.
                let is_answer = !self.task_state.class.is_answered_by_words() || self.task_state.found_something;
                let status = if is_answer { MissionStatus::Succeeded } else { MissionStatus::Answered };
                self.finish(status, text);
            }
            Err(reason) if text.contains(&reason) => self.give_up(text, text.to_owned()),
            Err(reason) => self.give_up(text, format!("{text} (Not done: {reason})")),
        }
    }

    /// The steps that nothing has made good: what success is judged by, and what the model is told.
    fn open(&self) -> Vec<&StepReport> {
        let only_looks = |report: &StepReport| {
            self.setup.tools.get(&report.tool).is_some_and(|spec| spec.effect == ToolEffect::Observe)
        };
        let is_same_action = |one: &_, other: &_| self.is_same_action(one, other);
        record::open_steps(self.record.steps(), only_looks, is_same_action, self.task_state.looks_suffice)
    }

    pub(super) fn owed(&self) -> Vec<StepReport> {
        self.open().into_iter().map(|report| self.as_told(report)).collect()
    }

    /// Whether nothing that counts was done.
    fn is_all_skipped(&self) -> bool {
        // What was done before a correction is not what it asks for; words alone are told apart elsewhere.
        let counts_from = if self.owes_a_revision() || self.task_state.class.is_answered_by_words() {
            0
        } else {
            self.revisions.last_plan_before()
        };
        !self.record.steps().iter().any(|report| report.plan > counts_from && report.status == StepStatus::Success)
    }

    /// What the current plan came to.
    pub(super) fn plan_record(&mut self) -> PlanRecord {
        let steps: Vec<StepReport> = self.current_reports().map(|report| self.as_told(report)).collect();
        self.conversation.note_left_out(fragment::leaves_out(&steps, fragment::LEDGER_OUTPUTS));
        let owed = self.owed();
        PlanRecord {
            number: self.run.number(),
            is_all_skipped: owed.is_empty() && self.is_all_skipped(),
            looks_suffice: self.task_state.looks_suffice,
            steps,
            owed,
        }
    }

    /// Whether everything that was planned was done: each step has ended well, was skipped, or was made good by a later
    /// plan. A plan that only says why another failed is no success. What was skipped is named.
    pub(super) fn judge(&self) -> Result<Option<String>, Unfinished> {
        let open = self.open();
        if !open.is_empty() {
            return Err(Unfinished::Open { missing: open.into_iter().map(what_is_missing).collect() });
        }
        if self.is_all_skipped() {
            return Err(Unfinished::AllSkipped);
        }
        let skipped: Vec<String> =
            self.record.steps().iter().filter(|report| report.status == StepStatus::Skipped).map(name_of).collect();
        Ok((!skipped.is_empty()).then(|| format!("Skipped: {}.", skipped.join(", "))))
    }

    /// Nothing of the plan can run any more.
    pub(super) fn plan_carried_out(&mut self) {
        if let Some(reason) = self.what_is_left_open() {
            self.replan(reason);
            return;
        }
        if self.task_state.class.goes_on() {
            self.round_carried_out();
            return;
        }
        self.conversation.await_closing_words();
        let record = self.plan_record();
        self.conversation.push(prompts::plan_report(record, None));
        self.conversation.begin_phase();
        self.ask_for_plan();
    }

    /// Blocks what has not begun, halts what is in flight, and replans.
    pub(super) fn end_plan_early(&mut self, reason: String) {
        self.end_plan(Ending::Replan { reason }, "was not run, because the plan ended before it");
    }

    /// Blocks what has not begun, with a note, and halts what is in flight; `then` follows.
    pub(super) fn end_plan(&mut self, then: Ending, note: &str) {
        self.give_up_fixing();
        let pending: Vec<StepNumber> = self
            .current_reports()
            .filter(|report| report.status == StepStatus::Pending)
            .map(|report| report.number)
            .collect();
        for number in pending {
            self.close_report(number, StepStatus::Blocked, note.to_owned());
        }
        if self.calls.is_empty() {
            self.follow(then);
        } else {
            self.halt_all(then);
        }
    }

    fn replan(&mut self, reason: String) {
        if self.run.number() >= self.plans_allowed() || !self.waits_to_replan(&reason) {
            self.replan_now(reason);
        }
    }

    pub(super) fn replan_now(&mut self, reason: String) {
        if self.run.number() >= self.plans_allowed() {
            let tried = self.plans_tried();
            self.fail(format!("{reason} {tried} plans were tried, the most that a task may have."));
            return;
        }
        let record = self.plan_record();
        self.conversation.push(prompts::plan_report(record, Some(&reason)));
        self.conversation.begin_phase();
        self.report(MissionEvent::Replanning { plan: self.run.next_number(), reason });
        self.ask_for_plan();
    }

    /// Ends the mission without success, once everything is at rest.
    pub(super) fn fail(&mut self, reason: String) {
        if self.calls.is_empty() {
            self.finish(MissionStatus::Failed, reason);
        } else {
            self.halt_all(Ending::Failed { reason });
        }
    }

    /// Gives up the request to the model, if one is open.
    pub(super) fn abandon_model(&mut self) {
        if let Phase::Planning { request } | Phase::Confirming { request, .. } | Phase::Correcting { request, .. } =
            self.phase
        {
            self.timeline.answered(self.clock.now());
            self.effects.push(Effect::AbandonModel { request });
            self.close_published();
        }
    }

    /// Gives up the model's request and makes everything in flight come to rest; `then` follows.
    pub(super) fn halt_all(&mut self, then: Ending) {
        self.withdraw_question(then.reason());
        self.void_approvals();
        self.abandon_model();
        self.give_up_fixing();
        let reason = then.reason().to_owned();
        let tools = self.calls.values().map(|call| call.tool.clone()).collect();
        for (call, _) in self.calls.iter() {
            self.effects.push(Effect::CancelCall { call });
        }
        self.report(MissionEvent::Stopping { reason, tools });
        if self.calls.is_empty() {
            self.follow(then);
        } else {
            self.phase = Phase::Halting { then, until: self.clock.now() + self.setup.limits.halt_timeout };
        }
    }

    /// The time to halt is over: what has not ended counts as still going on.
    pub(super) fn give_up_on_halting(&mut self, then: Ending) {
        for (id, call) in self.calls.end_all() {
            if let Some(number) = call.step {
                self.timeline.call_ended(self.clock.now(), number);
                self.close_report(number, StepStatus::Failed, "did not end when it was told to halt".to_owned());
            }
            let state = HaltState::Unconfirmed;
            self.report(MissionEvent::Halted { call: id, step: call.step, tool: call.tool.clone(), state });
            self.calls.note_not_stopped(call.tool, state);
        }
        self.follow(then);
    }

    /// Goes on after everything has come to rest.
    pub(super) fn follow(&mut self, then: Ending) {
        self.give_up_fixing();
        match then {
            // Replanning while something may still be moving would put two plans on one robot.
            Ending::Replan { .. }
            | Ending::Revised
            | Ending::Interrupted { .. }
            | Ending::Failed { .. }
            | Ending::Closed { .. }
                if !self.calls.not_stopped().is_empty() =>
            {
                self.finish(MissionStatus::Failed, then.reason().to_owned());
            }
            Ending::Interrupted { .. } => self.wait_interrupted(),
            Ending::Replan { reason } => self.replan(reason),
            Ending::Revised => self.plan_as_revised(),
            Ending::Failed { reason } => self.finish(MissionStatus::Failed, reason),
            Ending::Closed { reason } => self.close_by_record(&reason),
            Ending::Cancelled { reason } => self.finish(MissionStatus::Cancelled, reason),
        }
    }

    pub(super) fn finish(&mut self, status: MissionStatus, mut output: String) {
        self.withdraw_question("the task has ended");
        self.give_up_fixing();
        let unfinished: Vec<StepNumber> =
            self.current_reports().filter(|report| !report.status.is_terminal()).map(|report| report.number).collect();
        for number in unfinished {
            self.close_report(number, StepStatus::Blocked, "was not run, because the task ended before it".to_owned());
        }
        let mut moving = self.calls.not_stopped().to_vec();
        moving.sort();
        moving.dedup();
        for (state, complaint) in
            [(HaltState::Refused, "refused to halt"), (HaltState::Unconfirmed, "did not confirm that it is at rest")]
        {
            let of_state = moving.iter().filter(|(_, found)| *found == state);
            let names: Vec<&str> = of_state.map(|(tool, _)| tool.as_str()).collect();
            if !names.is_empty() {
                let _ = write!(output, " WARNING: {} {complaint}.", names.join(", "));
            }
        }
        let mut not_stopped: Vec<ToolName> = moving.iter().map(|(tool, _)| tool.clone()).collect();
        not_stopped.dedup();
        let duration = self.clock.elapsed();
        let account = self.account();
        let mut result = MissionResult {
            status,
            class: self.task_state.class,
            output,
            words_alone: status == MissionStatus::Answered && self.owes_more_than_words(),
            account: String::new(),
            steps: self.record.steps().to_vec(),
            execution: self.timeline.report(self.record.steps(), duration),
            revisions: self.revisions.texts().to_vec(),
            not_stopped,
            usage: *self.spending.usage(),
            duration,
        };
        let words = result.output.clone();
        result.output = format!("{}\n{account}", result.output.trim_end());
        result.account = account;
        if status != MissionStatus::Cancelled {
            // Whoever only listens must hear that nothing came of it.
            let text = if result.is_success() { words } else { result.output.clone() };
            self.publish(text);
        }
        self.close_published();
        self.report(MissionEvent::Finished { result: result.clone() });
        self.effects.push(Effect::Finish { result });
        self.phase = Phase::Finished;
    }
}

fn what_is_missing(report: &StepReport) -> String {
    if report.status == StepStatus::Failed {
        return format!("{} failed: {}", name_of(report), failure_text(report));
    }
    let note = if report.note.is_empty() { "was not run" } else { report.note.as_str() };
    format!("{} {note}", name_of(report))
}

fn name_of(report: &StepReport) -> String {
    format!("step {} ({})", report.number, report.tool)
}
