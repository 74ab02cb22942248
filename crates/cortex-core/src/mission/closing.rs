//! The end of a mission that lacks nothing but its closing words. They are asked of the model; where a budget is spent before,
//! the record alone closes the mission. A model that fails is another thing: it might have had more to plan.

use cortex_protocol::{Effect as ToolEffect, StepReport, StepStatus, ToolName};

use super::{Ending, Mission, Phase};
use crate::fragment::{one_line, quoted};
use crate::selection::FIND_TOOLS;

/// Most characters of what a look has found, where nobody has put it into words.
const FOUND_CHARACTERS: usize = 500;
/// Most characters of why there are no words.
const REASON_CHARACTERS: usize = 300;

impl Mission {
    /// Whether the record says that everything was done, and the model has planned nothing since.
    pub(super) fn needs_only_words(&self) -> bool {
        self.conversation.awaits_closing_words()
            && !matches!(self.phase, Phase::New | Phase::Halting { .. } | Phase::Finished)
            && self.calls.values().all(|call| call.step.is_none())
            && self.calls.not_stopped().is_empty()
            && !self.task_state.class.goes_on()
            && !self.owes_a_revision()
            && self.judge().is_ok()
    }

    /// Ends the mission because a budget is spent: without success, unless its steps were all done.
    pub(super) fn fail_or_close(&mut self, reason: String) {
        if !self.needs_only_words() {
            self.fail(reason);
        } else if self.calls.is_empty() {
            self.abandon_model();
            self.close_by_record(&reason);
        } else {
            self.halt_all(Ending::Closed { reason });
        }
    }

    /// Ends the mission by its record, without words of the model.
    pub(super) fn close_by_record(&mut self, reason: &str) {
        let found = self.task_state.class.is_answered_by_words().then(|| self.last_found()).flatten();
        let found = found.map(|found| format!(" {found}")).unwrap_or_default();
        let reason = one_line(reason, REASON_CHARACTERS);
        self.end_by_record(&format!("All that was planned was done.{found} There are no closing words: {reason}"));
    }

    /// What the last look of the plan returned: the answer that nobody has put into words.
    fn last_found(&self) -> Option<String> {
        let looks = |tool: &ToolName| self.setup.tools.get(tool).is_some_and(|spec| spec.effect == ToolEffect::Observe);
        let found = |report: &&StepReport| report.status == StepStatus::Success && looks(&report.tool);
        let report = self.record.steps().iter().rev().find(found)?;
        let text = report.outcome.as_ref()?.text();
        Some(format!("{}: {}.", report.tool, quoted(&text, FOUND_CHARACTERS)))
    }

    /// Whether the tool that a reply calls changes nothing, so that words may still be all that is wanting.
    pub(super) fn is_a_look(&self, wire_name: &str) -> bool {
        let spec = self.setup.tools.resolve(wire_name);
        wire_name == FIND_TOOLS || spec.is_some_and(|spec| spec.effect == ToolEffect::Observe)
    }
}
