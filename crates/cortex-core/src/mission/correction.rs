//! Mending a call that failed, in its step's place: the error and the schema go back to the model, which may give the
//! same tool other arguments. Bounded, and only where nothing that the failed call started goes on.

use cortex_protocol::{FailureKind, MissionEvent, OutcomeStatus, StepNumber, ToolOutcome};

use super::{Mission, Phase, prompts};
use crate::chat::ChatReply;
use crate::confirmation;
use crate::ports::ModelError;

impl Mission {
    /// Whether other arguments might help, and the model may still be asked for some.
    pub(super) fn can_be_mended(&self, step: StepNumber, outcome: &ToolOutcome) -> bool {
        let about_arguments =
            matches!(outcome.status, OutcomeStatus::Failed(FailureKind::Reported | FailureKind::InvalidArguments));
        let asked = self.corrections.get(&step).copied().unwrap_or_default();
        about_arguments && !outcome.halt.may_go_on() && asked < self.setup.limits.max_corrections
    }

    /// Asks the model for other arguments for the first step that failed. Returns whether there is one.
    pub(super) fn mend_next(&mut self) -> bool {
        let Some((number, outcome)) = self.to_mend.first_key_value() else { return false };
        let (number, outcome) = (*number, outcome.clone());
        let Some(step) = self.step(number).cloned() else { return false };
        let asked = self.corrections.entry(number).or_default();
        *asked += 1;
        let attempt = *asked;
        let tried = self.current_reports().find(|report| report.number == number).cloned();
        let tried = tried.map(|report| report.arguments).unwrap_or_default();
        self.report(MissionEvent::Correcting {
            step: number,
            tool: step.call.tool.clone(),
            attempt,
            problem: outcome.message.clone(),
        });
        let shown = (number, self.step_count(), prompts::shown_step(&step, Some(tried)));
        let chat = prompts::correction_request(&self.setup, self.begun_reports(), shown, self.in_flight(), outcome);
        if let Some(request) = self.ask_model(chat) {
            self.phase = Phase::Correcting { step: number, request };
        }
        true
    }

    /// Calls the tool again with the model's arguments, or lets the step fail as it did.
    pub(super) fn on_correction(&mut self, number: StepNumber, reply: Result<ChatReply, ModelError>) {
        let (Some(step), Some(outcome)) = (self.step(number).cloned(), self.to_mend.remove(&number)) else { return };
        let tool = &step.call.tool;
        let wire_name = self.setup.tools.wire_name(tool).unwrap_or_default().to_owned();
        let tried = self.current_reports().find(|report| report.number == number).map(|report| &report.arguments);
        let mended = reply
            .map_err(|error| error.message)
            .and_then(|reply| confirmation::read(&reply, &wire_name, tool.as_str()))
            .and_then(|reading| reading.arguments.ok_or(reading.reason))
            .and_then(|arguments| self.resolved_arguments(&step, Some(arguments)))
            .and_then(|arguments| {
                if Some(&arguments) == tried { Err("the same arguments again".to_owned()) } else { Ok(arguments) }
            });
        match (mended, self.is_as_planned(&step)) {
            (Ok(arguments), Ok(fingerprint)) => self.start_step(&step, arguments, fingerprint),
            (Err(_), _) | (_, Err(_)) => {
                self.end_step(number, outcome);
                self.advance();
            }
        }
    }

    /// What was to be mended has failed after all: the plan ends before the model was asked, or had answered.
    pub(super) fn give_up_mending(&mut self) {
        while let Some((step, outcome)) = self.to_mend.pop_first() {
            self.end_step(step, outcome);
        }
    }
}
