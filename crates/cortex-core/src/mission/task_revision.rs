//! What a person says in mid mission. A revision of the task reaches the model as the words of the person in charge, and
//! goes past no check: what has not begun is not begun, what is in flight is halted, and the mission plans anew.

use cortex_protocol::{MissionEvent, Origin, TaskClass, TaskReading};

use thiserror::Error;

use super::{Ending, Mission, Phase, ResearchState, prompts};
use crate::fragment::Fragment;
use crate::selection;

/// Longest revision, in bytes of UTF-8. It is in every later request to the model.
pub const MAX_REVISION_BYTES: usize = 2_048;
/// Revisions that one mission takes. Each allows one more plan.
pub const MAX_REVISIONS: usize = 10;

const REVISED: &str = "The task was corrected.";
const DROPPED: &str = "not done, because the task was corrected";

/// Why a task can't be revised so, now. In words for the person.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RevisionProblem {
    /// There is no text.
    #[error("the revision is empty; say what is to be done instead")]
    Empty,
    /// There is too much text.
    #[error("the revision has {bytes} bytes; at most {MAX_REVISION_BYTES} are taken")]
    TooLong {
        /// How much there is.
        bytes: usize,
    },
    /// The task was revised as often as it may be.
    #[error("the task was revised {MAX_REVISIONS} times, the most that may be; cancel it")]
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
    /// Whether the task can be revised so, now.
    ///
    /// # Errors
    /// Why not, for the person.
    pub fn check_revision(&self, text: &str) -> Result<(), RevisionProblem> {
        if text.trim().is_empty() {
            return Err(RevisionProblem::Empty);
        }
        if text.len() > MAX_REVISION_BYTES {
            return Err(RevisionProblem::TooLong { bytes: text.len() });
        }
        if self.revisions.texts().len() >= MAX_REVISIONS {
            return Err(RevisionProblem::TooMany);
        }
        match &self.phase {
            Phase::New => Err(RevisionProblem::NotBegun),
            Phase::Finished => Err(RevisionProblem::Ended),
            Phase::Halting {
                then: Ending::Failed { .. } | Ending::Closed { .. } | Ending::Cancelled { .. }, ..
            } => Err(RevisionProblem::Ending),
            Phase::Halting { then: Ending::Replan { .. } | Ending::Revised | Ending::Interrupted { .. }, .. }
            | Phase::Interrupted { .. }
            | Phase::Gathering { .. }
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

    pub(super) fn on_revise(&mut self, text: String, reading: &TaskReading, origin: Origin) {
        if self.check_revision(&text).is_err() {
            return;
        }
        let text = text.trim().to_owned();
        self.report(MissionEvent::TaskRevised { text: text.clone(), origin });
        let asks_no_action = reading.class.is_answered_by_words() || reading.is_search;
        self.task_state.looks_suffice = asks_no_action && (self.task_state.looks_suffice || self.revisions.is_empty());
        self.classify_anew(reading);
        self.overtake_steps();
        self.offer_what_fits(&text);
        self.revisions.add(text, self.run.number());
        self.task_state.told = false;
        self.conversation.await_more_than_words();
        self.task_state.found_something = false;
        self.leave_question("the task was corrected");
        self.void_approvals();
        match &mut self.phase {
            // What follows takes the revision with it.
            Phase::Interrupted { .. } | Phase::Halting { then: Ending::Interrupted { .. }, .. } => {}
            Phase::Halting { then, .. } => *then = Ending::Revised,
            Phase::Gathering { .. } | Phase::Planning { .. } => {
                self.abandon_model();
                self.plan_as_revised();
            }
            Phase::Researching { .. } => {
                self.answer_unfinished_research(DROPPED);
                self.halt_all(Ending::Revised);
            }
            _ => {
                self.abandon_model();
                self.phase = Phase::Underway;
                self.end_plan(Ending::Revised, "was not run, because the task was corrected");
            }
        }
    }

    /// A revision may ask for more than the task did: a question becomes what the revision is, and an action becomes a tour
    /// or an order that goes on. It never makes words enough for a task that needs actions, nor ends an order that goes on.
    fn classify_anew(&mut self, reading: &TaskReading) {
        let (before, said) = (self.task_state.class, reading.class);
        let may_be_search = self.task_state.is_search || before.is_answered_by_words();
        self.task_state.is_search = may_be_search && reading.is_search;
        let asks_for_more = matches!(said, TaskClass::SearchOrPatrol) || said.goes_on();
        if said == before || before.goes_on() || !(before.is_answered_by_words() || asks_for_more) {
            return;
        }
        self.task_state.class = said;
        let withheld = std::mem::take(&mut self.task_state.withheld);
        let tools = self.setup.tools.rebuilt(self.setup.tools.iter().chain(withheld.iter()).cloned()).0;
        self.report(MissionEvent::Classified { class: said });
        self.take_tools(tools);
    }

    /// Whether something is to be done for the last revision, and nothing was planned since: what was done before it is
    /// not what it asks for.
    pub(super) fn owes_a_revision(&self) -> bool {
        let is_revised = !self.revisions.is_empty();
        is_revised
            && self.run.number() == self.revisions.last_plan_before()
            && !self.task_state.class.is_answered_by_words()
    }

    /// Words, and nothing was planned since the task was revised.
    pub(super) fn words_after_a_revision(&mut self, text: &str) {
        let told = "Nothing was done since the task was corrected, and words do nothing. Call the tools that do what the \
                    correction asks for, or call decline_task with the reason why not.";
        self.words_do_nothing(text, told.to_owned(), "Nothing was done for the correction.");
    }

    /// What the current plan has not done may be wanted no more; the plan that comes says so, or does it.
    fn overtake_steps(&mut self) {
        self.record.overtake(self.run.number());
    }

    /// Of a robot with many tools the revision may need others than the task.
    fn offer_what_fits(&mut self, text: &str) {
        let found = selection::find(&self.setup.tools, text, self.offer.names());
        let names: Vec<_> = found.into_iter().map(|spec| spec.name.clone()).collect();
        if !names.is_empty() {
            self.offer(names);
        }
    }

    /// Every call has its answer, or providers refuse the conversation.
    pub(super) fn answer_unfinished_research(&mut self, because: &str) {
        let Phase::Researching { research, plan_calls, arranged } = self.phase.clone() else { return };
        let dropped = || Fragment::Notice { text: because.to_owned() };
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
    pub(super) fn plan_as_revised(&mut self) {
        // What the model has been told of stands in the conversation already.
        let ended = match &self.phase {
            Phase::Gathering { .. } | Phase::Planning { .. } => None,
            _ => (self.run.number() > 0).then(|| self.plan_record()),
        };
        let untold = self.revisions.take_new();
        self.conversation.push(prompts::revised(ended, untold));
        self.conversation.begin_phase();
        if self.run.number() > 0 {
            self.report(MissionEvent::Replanning { plan: self.run.next_number(), reason: REVISED.to_owned() });
        }
        self.ask_for_plan();
    }

    /// How many plans the mission may make: each revision and each interruption by a person allows one more.
    pub(super) fn plans_allowed(&self) -> u32 {
        let revisions = u32::try_from(self.revisions.texts().len()).unwrap_or(u32::MAX);
        let rounds = self.task_state.rounds.saturating_add(self.interruptions.over());
        self.setup.limits.max_replans.saturating_add(1).saturating_add(revisions).saturating_add(rounds)
    }

    /// The revisions for a request that does not carry the conversation.
    pub(super) fn revision_fragments(&self) -> Vec<Fragment> {
        self.revisions.texts().iter().map(|text| Fragment::Revision { text: text.clone() }).collect()
    }
}

impl Ending {
    /// Why everything is brought to rest.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Replan { reason }
            | Self::Interrupted { reason }
            | Self::Failed { reason }
            | Self::Closed { reason }
            | Self::Cancelled { reason } => reason,
            Self::Revised => REVISED,
        }
    }
}
