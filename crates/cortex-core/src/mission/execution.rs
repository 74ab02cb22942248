//! Phase 2: the steps, each confirmed before it runs.

use cortex_protocol::mission::ArgumentChange;
use cortex_protocol::{
    CallId, Decision, Effect as ToolEffect, FailureKind, MissionEvent, OutcomeStatus, Step, StepNumber, StepStatus,
    ToolCall, ToolFingerprint, ToolName, ToolOutcome,
};
use serde_json::{Map, Value};

use super::argument_repair::Failure;
use super::arguments::StepProblem;
use super::{ConfirmationMode, Mission, Phase, RunningCall, arguments, prompts};
use crate::chat::ChatReply;
use crate::confirmation::{self, Reading, Unusable};
use crate::output_refs::{self, Form};
use crate::ports::ModelError;
use crate::schedule::{self, Conflict, Holder, Next};

impl Mission {
    /// Goes to the next step, or on from the plan.
    pub(super) fn advance(&mut self) {
        if let Some(reason) = self.failure_of_plan() {
            self.end_plan_early(reason);
            return;
        }
        if let Some((tool, _)) = self.calls.not_stopped().first() {
            // It may have said that it is done; nothing is begun on top of it.
            let reason = format!("{tool} did not confirm that it is at rest.");
            self.end_plan_early(reason);
            return;
        }
        self.block_what_waits_for_failures();
        if self.hold_for_components() || (!self.is_paused() && (self.fix_next() || self.retry_next())) {
            return;
        }
        match self.next_step() {
            Next::Begin(_) if self.is_paused() => self.phase = Phase::Underway,
            Next::Begin(step) => self.confirm(step, 0, None),
            Next::Wait(conflicts) if !self.calls.is_empty() || self.run.has_failures() => {
                self.tell_conflicts(conflicts);
                self.phase = Phase::Underway;
            }
            Next::Done if self.run.has_failures() => self.phase = Phase::Underway,
            Next::Wait(_) | Next::Done => self.plan_carried_out(),
        }
    }

    fn next_step(&self) -> Next {
        let holders = self.holders();
        let tools = &self.setup.tools;
        // Collected once, in the order of their numbers: the schedule asks for the status of each step, and of each that
        // it waits for.
        let statuses: Vec<(StepNumber, StepStatus)> =
            self.current_reports().map(|report| (report.number, report.status)).collect();
        let status = |number: StepNumber| {
            let index = usize::try_from(number.0).ok()?.checked_sub(1)?;
            statuses.get(index).filter(|(there, _)| *there == number).map(|(_, status)| *status)
        };
        schedule::next(
            self.run.plan(),
            self.run.order(),
            |number| status(number).unwrap_or(StepStatus::Blocked),
            &holders,
            |step| tools.get(&step.call.tool).map(|spec| spec.resources.as_slice()).unwrap_or_default(),
            self.setup.limits.max_parallel_steps,
        )
    }

    /// Whether nothing that the tool needs is held.
    pub(super) fn is_free_for(&self, tool: &ToolName) -> bool {
        let needed = self.setup.tools.get(tool).map(|spec| spec.resources.as_slice()).unwrap_or_default();
        schedule::conflict(StepNumber(0), needed, &self.holders()).is_none()
    }

    pub(super) fn holders(&self) -> Vec<Holder<'_>> {
        self.calls.values().map(RunningCall::holder).collect()
    }

    /// Says, once for each step, what it waits for although nothing orders it to.
    fn tell_conflicts(&mut self, conflicts: Vec<Conflict>) {
        for Conflict { step, resource, holder } in conflicts {
            let Some(tool) = self.step(step).map(|step| step.call.tool.clone()) else { continue };
            if self.run.note_conflict(step) {
                self.report(MissionEvent::Conflict { step, tool, resource, holder });
            }
        }
    }

    /// Asks the model about a step. `asked` counts how often it was asked about it before.
    pub(super) fn confirm(&mut self, number: StepNumber, asked: u32, problem: Option<String>) {
        let proposed = self.proposed_for(number);
        self.confirm_proposed(number, asked, problem, proposed);
    }

    /// Asks the model about a step with these arguments in place of the planned ones.
    fn confirm_proposed(
        &mut self,
        number: StepNumber,
        asked: u32,
        problem: Option<String>,
        proposed: Option<Map<String, Value>>,
    ) {
        let Some(step) = self.step(number).cloned() else { return };
        let repeated = problem.is_some();
        if asked >= self.setup.limits.max_confirmations_per_step {
            self.decide_safely(&step, format!("the model was asked {asked} times without an end"));
            return;
        }
        if self.must_hold() {
            self.phase = Phase::Underway;
            self.advance();
            return;
        }
        if let Err(outcome) = self.is_as_planned(&step) {
            self.end_step(number, outcome);
            self.advance();
            return;
        }
        if let Some(reason) = self.refusal_of_motion(&step.call.tool) {
            self.fail(reason);
            return;
        }
        if self.waits_for_approval(&step) {
            return;
        }
        if asked == 0 && self.needs_no_confirmation(&step) {
            return;
        }
        let bound = match &proposed {
            // As they would run.
            Some(proposed) => self.resolved_arguments(&step, Some(proposed.clone())).ok(),
            None => output_refs::bind(&step.call.arguments, &self.outputs_for(&step.call.arguments), Form::Value).ok(),
        };
        let notice = match problem {
            Some(problem) => {
                let shown = bound.as_ref().unwrap_or(&step.call.arguments);
                let is_open =
                    arguments::leaves_open(shown) && self.resolved_arguments(&step, proposed.clone()).is_err();
                Some(prompts::asked_again(&problem, is_open, !self.calls.is_empty()))
            }
            None => self.told_of_proposal(number),
        };
        let mut chat = prompts::confirmation_request(&self.setup, self.in_plan(&step, bound), notice);
        self.add_containment(&mut chat);
        if let Some(request) = self.ask_model(chat) {
            self.timeline.asked(self.clock.now(), number);
            self.timeline.confirmation_asked(repeated);
            self.phase = Phase::Confirming { step: number, request, asked: asked + 1, repeated, proposed };
        }
    }

    /// Where the model is only asked when something has changed: runs a step that only reads as it was planned.
    fn needs_no_confirmation(&mut self, step: &Step) -> bool {
        let adaptive = self.setup.limits.confirmation == ConfirmationMode::Adaptive;
        let only_reads = self.setup.tools.get(&step.call.tool).is_some_and(|spec| spec.effect == ToolEffect::Observe);
        let as_expected = !self.run.have_tools_changed()
            && !self.run.has_failures()
            && self
                .current_reports()
                .all(|report| matches!(report.status, StepStatus::Pending | StepStatus::Running | StepStatus::Success));
        if !(adaptive && only_reads && as_expected) {
            return false;
        }
        let (Ok(arguments), Ok(fingerprint)) = (self.resolved_arguments(step, None), self.is_as_planned(step)) else {
            return false;
        };
        let reason = "not asked: it only reads, and nothing has changed since the plan was made";
        self.report_decision(step, Decision::Execute, reason.to_owned(), Vec::new());
        self.start_step(step, arguments, fingerprint);
        true
    }

    pub(super) fn on_confirmation(
        &mut self,
        number: StepNumber,
        asked: u32,
        repeated: bool,
        proposed: Option<Map<String, Value>>,
        reply: Result<ChatReply, ModelError>,
    ) {
        let Some(step) = self.step(number).cloned() else { return };
        let wire_name = self.setup.tools.wire_name(&step.call.tool).unwrap_or_default().to_owned();
        let reading = reply
            .map_err(|error| Unusable::from(error.message))
            .and_then(|reply| confirmation::read(&reply, &wire_name, step.call.tool.as_str()));
        let acted = reading.and_then(|reading| {
            // A bare EXECUTE is for the arguments that the model was shown.
            let arguments = reading.arguments.or_else(|| proposed.clone());
            Ok(self.act_on(&step, asked, Reading { arguments, ..reading })?)
        });
        let Err(Unusable { problem, proposed: given }) = acted else { return };
        if repeated {
            self.decide_safely(&step, format!("no usable confirmation: {problem}"));
            return;
        }
        // What a bare EXECUTE would let run is checked before it is shown.
        let checked = given.map(|given| self.check_given(&step, &given).map(|()| given)).transpose();
        let (problem, given) = checked.map_or_else(|refused| (refused.to_string(), None), |given| (problem, given));
        self.report(MissionEvent::ModelMistake { problem: problem.clone() });
        self.confirm_proposed(number, asked, Some(problem), given.or(proposed));
    }

    /// Whether a confirmation may give these arguments, and the tool takes them.
    fn check_given(&self, step: &Step, given: &Map<String, Value>) -> Result<(), StepProblem> {
        self.changes(step, Some(given))?;
        self.resolved_arguments(step, Some(given.clone())).map(drop)
    }

    /// Carries out a decision, or says why it can't be.
    fn act_on(&mut self, step: &Step, asked: u32, reading: Reading) -> Result<(), StepProblem> {
        match reading.decision {
            Decision::Execute if self.must_hold() => {
                self.phase = Phase::Underway;
                self.advance();
            }
            Decision::Execute => {
                let fingerprint = match self.is_as_planned(step) {
                    Ok(fingerprint) => fingerprint,
                    Err(outcome) => {
                        self.end_step(step.number, outcome);
                        self.advance();
                        return Ok(());
                    }
                };
                let changes = self.changes(step, reading.arguments.as_ref())?;
                let arguments = self.resolved_arguments(step, reading.arguments)?;
                self.report_decision(step, Decision::Execute, reading.reason, changes);
                self.run.take_failure(step.number);
                self.start_step(step, arguments, fingerprint);
            }
            Decision::Skip => self.skip(step, reading.reason),
            Decision::Abort => self.abort(step, reading.reason),
            Decision::Continue if self.calls.is_empty() => return Err(StepProblem::NothingInFlight),
            Decision::Continue => {
                self.report_decision(step, Decision::Continue, reading.reason, Vec::new());
                // The model was told of those that have stalled by now.
                self.notice_stalls();
                let until = self.clock.now() + self.setup.limits.continue_timeout;
                self.phase = Phase::Waiting { step: step.number, until, asked };
            }
        }
        Ok(())
    }

    /// Whether the step's tool is there and still what it was when the plan was made: what was planned for another
    /// version of it must not reach this one.
    pub(super) fn is_as_planned(&self, step: &Step) -> Result<ToolFingerprint, ToolOutcome> {
        let tool = &step.call.tool;
        match (self.setup.tools.fingerprint(tool), self.run.fingerprint(step.number)) {
            (None, _) => Err(self.absence(tool)),
            (Some(now), Some(planned)) if now == planned => Ok(now),
            (Some(_), _) => {
                let message = format!(
                    "the tool '{tool}' has changed since the plan was made; it was not called with the old arguments"
                );
                Err(ToolOutcome::failure(FailureKind::Changed, message))
            }
        }
    }

    /// What is done when the model gave no usable decision. A step that is left out so was not done, and satisfies nothing.
    fn decide_safely(&mut self, step: &Step, reason: String) {
        // A tool that is gone counts as one that moves.
        let effect = self.setup.tools.get(&step.call.tool).map(|spec| spec.effect).unwrap_or_default();
        match confirmation::safe_decision(effect) {
            Decision::Skip => self.leave_out(step, &reason),
            Decision::Execute | Decision::Abort | Decision::Continue => self.abort(step, reason),
        }
    }

    fn skip(&mut self, step: &Step, reason: String) {
        self.report_decision(step, Decision::Skip, reason.clone(), Vec::new());
        match self.run.take_failure(step.number) {
            // It was tried, so it is no step that was not needed.
            Some(failure) if failure.was_sent() => self.end_step(step.number, failure.outcome),
            _ => self.close_report(step.number, StepStatus::Skipped, reason),
        }
        self.advance();
    }

    fn abort(&mut self, step: &Step, reason: String) {
        self.report_decision(step, Decision::Abort, reason.clone(), Vec::new());
        let why = if reason.is_empty() { String::new() } else { format!(": {}", reason.trim_end_matches('.')) };
        self.end_plan_early(format!("It was aborted before step {} ({}){why}.", step.number, step.call.tool));
    }

    pub(super) fn report_decision(
        &mut self,
        step: &Step,
        decision: Decision,
        reason: String,
        changes: Vec<ArgumentChange>,
    ) {
        let event = MissionEvent::Decided {
            step: step.number,
            steps: self.step_count(),
            tool: step.call.tool.clone(),
            decision,
            reason,
            in_flight: self.in_flight(),
            changes,
        };
        self.report(event);
    }

    /// How the arguments that the model gave differ from the planned ones, if they may.
    pub(super) fn changes(
        &self,
        step: &Step,
        given: Option<&Map<String, Value>>,
    ) -> Result<Vec<ArgumentChange>, StepProblem> {
        let (Some(given), Some(spec)) = (given, self.setup.tools.get(&step.call.tool)) else { return Ok(Vec::new()) };
        let given = prompts::without_own(spec, given);
        arguments::changes(spec, &step.call.arguments, &given, self.setup.limits.confirmation_arguments)
    }

    /// The arguments with which the step runs: those that the model resolved, or the planned ones; placeholders bound;
    /// fitting the schema.
    pub(super) fn resolved_arguments(
        &self,
        step: &Step,
        resolved: Option<Map<String, Value>>,
    ) -> Result<Map<String, Value>, StepProblem> {
        let tool = &step.call.tool;
        let arguments = match (resolved, self.setup.tools.get(tool)) {
            (Some(resolved), Some(spec)) => prompts::without_own(spec, &resolved),
            (_, _) => step.call.arguments.clone(),
        };
        let outputs = self.outputs_for(&arguments);
        self.check_placeholders(step, &arguments)?;
        let missing = |placeholders: Vec<String>| StepProblem::NoValue { placeholders };
        let as_values = output_refs::bind(&arguments, &outputs, Form::Value).map_err(missing)?;
        let arguments = match self.setup.tools.check(tool, &as_values) {
            Ok(()) => as_values,
            Err(problem) => {
                let as_text = output_refs::bind(&arguments, &outputs, Form::Text).map_err(missing)?;
                if self.setup.tools.check(tool, &as_text).is_ok() { as_text } else { return Err(problem.into()) }
            }
        };
        if step.again.is_empty() {
            self.check_repetition(tool, &arguments)?;
        }
        Ok(arguments)
    }

    pub(super) fn start_step(&mut self, step: &Step, arguments: Map<String, Value>, fingerprint: ToolFingerprint) {
        // Whatever led here: since it was decided, a call may have ended without being at rest, a component may have left, and
        // a meter may have fallen silent.
        if self.must_hold() {
            self.phase = Phase::Underway;
            self.advance();
            return;
        }
        if let Some(reason) = self.refusal_of_motion(&step.call.tool) {
            self.fail(reason);
            return;
        }
        if self.ends_for_budget() {
            return;
        }
        let tool_call = ToolCall { tool: step.call.tool.clone(), arguments: arguments.clone() };
        if let Some(outcome) = self.forbidden(&tool_call) {
            self.end_step(step.number, outcome);
            self.advance();
            return;
        }
        if !self.has_leave(step.number, &tool_call, fingerprint) {
            return;
        }
        let by = self.server_of(&tool_call.tool);
        self.timeline.began(self.clock.now(), step.number);
        let call = self.invoke(tool_call, fingerprint, Some(step.number));
        if let Some(report) = self.report_of(step.number) {
            report.status = StepStatus::Running;
            report.arguments = arguments.clone();
            report.by.clone_from(&by);
        }
        let event = MissionEvent::StepStarted {
            call,
            step: step.number,
            steps: self.step_count(),
            tool: step.call.tool.clone(),
            by,
            arguments,
        };
        self.report(event);
        self.advance();
    }

    /// Whether nothing may begin now, whatever was decided; [`advance`](Self::advance) tells what follows.
    pub(super) fn must_hold(&self) -> bool {
        !self.calls.not_stopped().is_empty() || self.misses_component() || self.is_paused()
    }

    pub(super) fn on_call_accepted(&mut self, call: CallId) {
        let Some(running) = self.calls.get_mut(call) else { return };
        running.accepted = true;
        self.clock.note_progress();
        if self.phase == Phase::Underway {
            self.advance();
        }
    }

    pub(super) fn on_call_ended(&mut self, call: CallId, outcome: ToolOutcome) {
        let Some(RunningCall { tool, step, started, cut, .. }) = self.calls.end(call) else { return };
        let outcome = cut.map_or(outcome.clone(), |cut| cut.outcome(outcome));
        self.clock.note_progress();
        if outcome.halt.may_go_on() {
            self.calls.note_not_stopped(tool.clone(), outcome.halt);
        }
        let mut has_failed = false;
        if let Some(number) = step {
            if outcome.status == OutcomeStatus::NotBegun {
                self.timeline.call_withdrawn(number);
            } else {
                self.timeline.call_ended(self.clock.now(), number);
                let duration = self.clock.now().saturating_sub(started);
                if let Some(report) = self.report_of(number) {
                    report.duration = Some(duration);
                }
            }
            // A plan that is coming to rest is over: nothing of it is fixed.
            let is_ending = matches!(self.phase, Phase::Halting { .. });
            match self.remedy(number, &tool, &outcome).filter(|_| !is_ending) {
                Some(remedy) => {
                    self.run.fix_later(number, Failure { outcome: outcome.clone(), remedy });
                }
                None => {
                    has_failed = !outcome.is_success();
                    self.end_step(number, outcome.clone());
                }
            }
        }
        match self.phase.clone() {
            Phase::Researching { .. } if step.is_none() => self.on_researched(call, tool, outcome),
            Phase::Underway => self.advance(),
            // The model is still asked as if everything went well.
            Phase::Confirming { .. } | Phase::Correcting { .. } if self.failure_of_plan().is_some() => {
                self.ask_anew();
            }
            // Nothing is begun on top of what may go on.
            Phase::Confirming { .. } | Phase::Correcting { .. } | Phase::Waiting { .. }
                if !self.calls.not_stopped().is_empty() =>
            {
                self.ask_anew();
            }
            // No model is asked to fix anything meanwhile.
            Phase::Asking { .. } => self.review_question(),
            Phase::Confirming { step, .. } if has_failed || self.fixes_another_than(step) => self.ask_anew(),
            Phase::Waiting { .. } if has_failed || self.run.has_failures() => self.advance(),
            Phase::Waiting { step, asked, .. } => self.confirm(step, asked, None),
            Phase::Halting { then, .. } => {
                self.report(MissionEvent::Halted { call, step, tool, state: outcome.halt });
                if self.calls.is_empty() {
                    self.follow(then);
                }
            }
            _ => {}
        }
    }

    /// Gives up the request to the model, which was made of a state that is over, and goes on from the present one.
    pub(super) fn ask_anew(&mut self) {
        self.abandon_model();
        self.phase = Phase::Underway;
        self.advance();
    }
}
