//! What a person says in mid mission. A correction of the task reaches the model as the words of the person in charge, and
//! goes past no check: what has not begun is not begun, what is in flight is halted, and the mission plans anew.

use cortex_protocol::{GoalClass, MissionEvent, Origin, StepReport, StepStatus, TaskReading};

use thiserror::Error;

use super::{Ending, Mission, Phase, ResearchState, prompts};
use crate::fragment::Fragment;
use crate::selection;

/// Longest correction, in bytes of UTF-8. It is in every later request to the model.
pub const MAX_CORRECTION_BYTES: usize = 2_048;
/// Corrections that one mission takes. Each allows one more plan.
pub const MAX_CORRECTIONS: usize = 10;

const CORRECTED: &str = "The task was corrected.";
const DROPPED: &str = "not done, because the task was corrected";

/// Why a task can't be corrected so, now. In words for the person.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorrectionProblem {
    /// There is no text.
    #[error("the correction is empty; say what is to be done instead")]
    Empty,
    /// There is too much text.
    #[error("the correction has {bytes} bytes; at most {MAX_CORRECTION_BYTES} are taken")]
    TooLong {
        /// How much there is.
        bytes: usize,
    },
    /// The task was corrected as often as it may be.
    #[error("the task was corrected {MAX_CORRECTIONS} times, the most that may be; cancel it")]
    TooMany,
    /// The mission waits for its turn.
    #[error("the task has not begun")]
    NotBegun,
    /// What is in flight is brought to rest, and nothing follows.
    #[error("the task is ending")]
    Ending,
    /// The mission is over.
    #[error("the task has ended")]
    Ended,
}

impl Mission {
    /// Whether the task can be corrected so, now.
    ///
    /// # Errors
    /// Why not, for the person.
    pub fn check_correction(&self, text: &str) -> Result<(), CorrectionProblem> {
        if text.trim().is_empty() {
            return Err(CorrectionProblem::Empty);
        }
        if text.len() > MAX_CORRECTION_BYTES {
            return Err(CorrectionProblem::TooLong { bytes: text.len() });
        }
        if self.task_corrections.len() >= MAX_CORRECTIONS {
            return Err(CorrectionProblem::TooMany);
        }
        match &self.phase {
            Phase::New => Err(CorrectionProblem::NotBegun),
            Phase::Finished => Err(CorrectionProblem::Ended),
            Phase::Halting {
                then: Ending::Failed { .. } | Ending::Closed { .. } | Ending::Cancelled { .. }, ..
            } => Err(CorrectionProblem::Ending),
            Phase::Halting { then: Ending::Replan { .. } | Ending::Corrected, .. }
            | Phase::Planning { .. }
            | Phase::Researching { .. }
            | Phase::Confirming { .. }
            | Phase::Correcting { .. }
            | Phase::Asking { .. }
            | Phase::Waiting { .. }
            | Phase::Away { .. }
            | Phase::Underway => Ok(()),
        }
    }

    pub(super) fn on_correct(&mut self, text: String, reading: &TaskReading, origin: Origin) {
        if self.check_correction(&text).is_err() {
            return;
        }
        let text = text.trim().to_owned();
        self.report(MissionEvent::TaskCorrected { text: text.clone(), origin });
        let asks_no_deed = reading.class.is_answered_by_words() || reading.is_search;
        self.goal.looks_suffice = asks_no_deed && (self.goal.looks_suffice || self.task_corrections.is_empty());
        self.classify_anew(reading);
        self.overtake_steps();
        self.offer_what_fits(&text);
        self.task_corrections.push(text);
        self.corrected_plan = self.run.number();
        self.goal.told = false;
        self.awaits_closing_words = false;
        self.goal.found_something = false;
        self.leave_question("the task was corrected");
        self.void_approvals();
        match &mut self.phase {
            Phase::Halting { then, .. } => *then = Ending::Corrected,
            Phase::Planning { .. } => {
                self.abandon_model();
                self.plan_as_corrected();
            }
            Phase::Researching { .. } => {
                self.answer_unfinished_research();
                self.halt_all(Ending::Corrected);
            }
            _ => {
                self.abandon_model();
                self.phase = Phase::Underway;
                self.end_plan(Ending::Corrected, "was not run, because the task was corrected");
            }
        }
    }

    /// A correction may ask for more than the task did: a question becomes what the correction is, and a deed becomes a tour
    /// or an order that goes on. It never makes words enough for a task that needs deeds, nor ends an order that goes on.
    fn classify_anew(&mut self, reading: &TaskReading) {
        let (before, said) = (self.goal.class, reading.class);
        let may_be_search = self.goal.is_search || before.is_answered_by_words();
        self.goal.is_search = may_be_search && reading.is_search;
        let asks_for_more = matches!(said, GoalClass::SearchOrPatrol) || said.goes_on();
        if said == before || before.goes_on() || !(before.is_answered_by_words() || asks_for_more) {
            return;
        }
        self.goal.class = said;
        let withheld = std::mem::take(&mut self.goal.withheld);
        let tools = self.setup.tools.rebuilt(self.setup.tools.iter().chain(withheld.iter()).cloned()).0;
        self.report(MissionEvent::Classified { class: said });
        self.take_tools(tools);
    }

    /// Whether something is to be done for the last correction, and nothing was planned since: what was done before it is
    /// not what it asks for.
    pub(super) fn owes_a_correction(&self) -> bool {
        let is_corrected = !self.task_corrections.is_empty();
        is_corrected && self.run.number() == self.corrected_plan && !self.goal.class.is_answered_by_words()
    }

    /// Words, and nothing was planned since the task was corrected.
    pub(super) fn words_after_a_correction(&mut self, text: &str) {
        let told = "Nothing was done since the task was corrected, and words do nothing. Call the tools that do what the \
                    correction asks for, or call decline_task with the reason why not.";
        self.words_do_nothing(text, told.to_owned(), "Nothing was done for the correction.");
    }

    /// What the current plan has not done may be wanted no more; the plan that comes says so, or does it.
    fn overtake_steps(&mut self) {
        let plan = self.run.number();
        let is_open = |report: &&mut StepReport| {
            report.plan == plan && !matches!(report.status, StepStatus::Success | StepStatus::Skipped)
        };
        for report in self.reports.iter_mut().filter(is_open) {
            report.overtaken = true;
        }
    }

    /// Of a robot with many tools the correction may need others than the task.
    fn offer_what_fits(&mut self, text: &str) {
        let found = selection::find(&self.setup.tools, text, &self.offered);
        let names: Vec<_> = found.into_iter().map(|spec| spec.name.clone()).collect();
        if !names.is_empty() {
            self.offer(names);
        }
    }

    /// Every call has its answer, or providers refuse the conversation.
    fn answer_unfinished_research(&mut self) {
        let Phase::Researching { research, plan_calls, arranged } = self.phase.clone() else { return };
        let dropped = || Fragment::Notice { text: DROPPED.to_owned() };
        for entry in research {
            let answer = match entry.state {
                ResearchState::Answered { outcome } => Fragment::ToolResult { outcome },
                ResearchState::Waiting { .. } | ResearchState::Running { .. } | ResearchState::Asking { .. } => {
                    dropped()
                }
            };
            self.answer_call(entry.model_call, answer);
        }
        let planned = plan_calls.into_iter().map(|(call, _)| call);
        for call in planned.chain(arranged.map(|arranged| arranged.model_call)) {
            self.answer_call(call, dropped());
        }
    }

    /// Asks for a plan of the task as it is now. Everything is at rest.
    pub(super) fn plan_as_corrected(&mut self) {
        // What the model has been told of stands in the conversation already.
        let ended = match &self.phase {
            Phase::Planning { .. } => None,
            _ => (self.run.number() > 0).then(|| self.plan_record()),
        };
        let untold = self.task_corrections.get(self.told_corrections..).unwrap_or_default().to_vec();
        self.told_corrections = self.task_corrections.len();
        self.conversation.push(prompts::corrected(ended, untold));
        self.planning_turn = 0;
        if self.run.number() > 0 {
            self.report(MissionEvent::Replanning { plan: self.run.next_number(), reason: CORRECTED.to_owned() });
        }
        self.ask_for_plan();
    }

    /// How many plans the mission may make: each correction allows one more.
    pub(super) fn plans_allowed(&self) -> u32 {
        let corrections = u32::try_from(self.task_corrections.len()).unwrap_or(u32::MAX);
        let rounds = self.goal.rounds;
        self.setup.limits.max_replans.saturating_add(1).saturating_add(corrections).saturating_add(rounds)
    }

    /// The corrections for a request that does not carry the conversation.
    pub(super) fn correction_fragments(&self) -> Vec<Fragment> {
        self.task_corrections.iter().map(|text| Fragment::Correction { text: text.clone() }).collect()
    }
}

impl Ending {
    /// Why everything is brought to rest.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Replan { reason }
            | Self::Failed { reason }
            | Self::Closed { reason }
            | Self::Cancelled { reason } => reason,
            Self::Corrected => CORRECTED,
        }
    }
}
