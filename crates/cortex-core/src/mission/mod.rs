//! The mission machine: `(state, input) -> (state, effects)`. One mission is one task from its start to its one result.
//!
//! The driver of a mission carries out its effects and gives it their outcomes:
//!
//! ```
//! use cortex_core::{CallArguments, ChatReply, Effect, Input, Mission, ModelCall};
//! use cortex_protocol::ToolOutcome;
//! # use {serde_json::json, std::time::Duration};
//! let setup = serde_json::from_value(json!({
//!     "task": "Go to the kitchen.", "identity": "", "earlier": [], "limits": {}, "tools": [{
//!         "name": "base.go_to", "description": "Drives to a place.", "phase": "execution", "effect": "move",
//!         "parameters": {"type": "object"}, "resources": ["base"], "timeout": {"secs": 60, "nanos": 0},
//!         "dispatch": "wait", "cancel": "halt", "phrases": []
//!     }]
//! }))?;
//! let arguments = CallArguments::read(r#"{"place": "kitchen"}"#);
//! let plan = vec![ModelCall { id: "1".into(), name: "base-go_to".into(), arguments }];
//! // The model plans, confirms the one step of its plan, and answers.
//! let says = |text: &str, calls| Ok(ChatReply { text: text.into(), calls, ..ChatReply::default() });
//! let mut replies = [says("", plan), says("EXECUTE", vec![]), says("I am in the kitchen.", vec![])].into_iter();
//! let arrived = ToolOutcome::success(json!("arrived"));
//! let (mut mission, mut input, mut output) = (Mission::new(setup), Some(Input::Start), String::new());
//! while let Some(next) = input.take() {
//!     for effect in mission.handle(Duration::ZERO, next) {
//!         match effect {
//!             Effect::AskModel { request, .. } => input = replies.next().map(|reply| Input::ModelReplied { request, reply }),
//!             Effect::Invoke { call, .. } => input = Some(Input::CallEnded { call, outcome: arrived.clone() }),
//!             Effect::Finish { result } => output = result.output,
//!             _ => {} // events and words, for people
//!         }
//!     }
//! }
//! assert!(output.starts_with("I am in the kitchen.\nDone: base.go_to(place=kitchen)"), "{output}");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Pure: time comes in with each input, what is to be done goes out as [`Effect`]s. The state is `serde`; the same
//! inputs always give the same effects. See `docs/mission-loop.md`.
//!
//! # State
//!
//! [`Mission`] is made of parts. Each is a struct in the file named here, and its methods say what may be done
//! with it:
//!
//! - the run of a plan: `plan_run`, made anew by each commitment; `running_calls`: what is in flight; `record`: the steps of
//!   all plans, and which of them are still open; `timeline`: when they did what;
//! - the model: `conversation`, `offer`: the tools that it may call, `used_models`: which of several answers, and
//!   `answering`: the published part of an answer that is still arriving;
//! - the robot: `absences`: tools that have left; `availability`: what the monitor keeps from the mission;
//! - people: `task_revisions`, `interruptions`, and `approval`: what they were asked and what they approved;
//! - bounds: `spending`, and `clock`;
//! - `phase`: where it stands; `task_class`: what the class of the task decides; `setup`: what it starts with.
//!
//! # Decisions
//!
//! The rest decides what follows from an input:
//!
//! - `io`: inputs and effects;
//! - `planning`: phase 1, from the task to a plan or an answer; `calls`: what its replies call; `research`: looks that are
//!   done at once; `commitment`: the plan that comes of it; `truncation`: plans that are too long;
//! - `execution`: phase 2, the confirmed steps; `in_flight`: the calls under way; `reports`: the record of each step;
//! - `failure`: what a failed step does to its plan;
//! - `arguments`: those that a step runs with, and which of them a confirmation may change;
//! - `argument_repair`: fixing a call that failed; `budget`: what a mission may spend;
//!   `closing`: how it ends where its closing words fail;
//!   `compaction`: keeping its conversation within bounds;
//! - `standing_tasks`: orders that go on; `evidence`: what shows that they are fulfilled; `collections`: what `<each place>` stands
//!   for;
//! - `context`: what the robot has on record for the task;
//! - `tool_presence`: components that leave and come back;
//! - `stall_timeouts`: what would go on for ever ends;
//! - `ask_person`: what the model asks people; `dispute`: what they reopen;
//! - `task_revision`: what a person says in mid mission; `interruption`: a person who pauses the robot or takes the controls;
//! - `repetition`: what was done is not done again;
//! - `ending`: replanning, halting and the one result; `account`: what was done and looked at, in one line;
//! - `prompts`: what the model is told; `recall`: what it may ask for of what was left out.

use std::time::Duration;

use cortex_protocol::{MissionEvent, ToolName};
use serde::{Deserialize, Serialize};

use crate::chat::{ChatReply, ChatRequest, Message, Purpose};
use crate::feedback::in_seconds;
use crate::ports::{ModelError, ModelErrorKind};
use crate::toolset::{ToolSet, plain_wire_name};
use absences::Absences;
use answering::Answering;
use approval::Approvals;
use availability::MissionAvailability;
use clock::Clock;
use context::MissionContext;
use conversation::Conversation;
use in_flight::RunningCall;
use interruption::Interruptions;
use offer::Offer;
use phase::{Arranged, Ending, Phase, Research, ResearchState};
use plan_run::PlanRun;
use record::Record;
use running_calls::RunningCalls;
use spending::Spending;
use task_class::TaskState;
use task_revisions::TaskRevisions;
use timeline::Timeline;
use used_models::UsedModels;

mod absences;
mod account;
mod answering;
mod approval;
mod argument_repair;
mod arguments;
mod ask_person;
mod availability;
mod bounds;
mod budget;
mod calls;
mod clock;
mod closing;
mod collections;
mod commitment;
mod compaction;
mod context;
mod conversation;
mod dispute;
mod ending;
mod evidence;
mod execution;
mod failure;
mod in_flight;
mod interruption;
mod io;
mod offer;
mod phase;
mod plan_run;
mod planning;
mod prompts;
mod recall;
mod record;
mod repetition;
mod reports;
mod research;
mod running_calls;
mod setup;
mod spending;
mod stall_timeouts;
mod standing_tasks;
mod task_class;
mod task_revision;
mod task_revisions;
mod timeline;
mod tool_presence;
mod truncation;
mod used_models;

#[cfg(test)]
mod tests;

pub use crate::selection::FIND_TOOLS;
pub use crate::step_groups::ARRANGE_TOOL;
pub use approval::AnswerProblem;
pub use ask_person::ASK_PERSON;
pub use budget::Prices;
pub use context::GatheringId;
pub use dispute::{DISPUTED, Reopened};
pub use io::{CancelReason, Effect, Input, RequestId, SpokenPiece};
pub use prompts::DECLINE_TOOL;
pub use recall::RECALL_STEP;
pub use setup::{
    ApprovalSettings, ConfirmationArguments, ConfirmationMode, MissionLimits, MissionSetup, OnFailure, PolicySetup,
};
pub use standing_tasks::ORDER_FULFILLED;
pub use task_revision::{MAX_REVISION_BYTES, MAX_REVISIONS, RevisionProblem};

/// A mission in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mission {
    /// As it started. Of it only the tools change, and the state of the robot by which policy judges.
    setup: MissionSetup,
    /// What kind of thing the task asks for, and what follows from it.
    task_state: TaskState,
    phase: Phase,
    clock: Clock,
    spending: Spending,
    /// Which of several models answers.
    #[serde(default)]
    models: UsedModels,
    /// The published part of an answer that is still arriving.
    #[serde(default)]
    answering: Answering,
    /// The planning conversation with the model.
    conversation: Conversation,
    /// What the robot has on record for the task.
    #[serde(default)]
    context: MissionContext,
    /// The tools that the model may call.
    offer: Offer,
    /// The current plan and how far it got.
    run: PlanRun,
    /// The calls under way.
    calls: RunningCalls,
    /// Every step of every plan.
    record: Record,
    timeline: Timeline,
    /// The part of the robot that is kept from the mission.
    availability: MissionAvailability,
    /// The tools that have left.
    absences: Absences,
    /// The revisions of the task by people.
    revisions: TaskRevisions,
    /// The times in which people had the controls.
    #[serde(default)]
    interruptions: Interruptions,
    /// Questions to people and their approvals.
    #[serde(default)]
    approvals: Approvals,
    /// Effects of the current input.
    #[serde(skip)]
    effects: Vec<Effect>,
}

impl Mission {
    /// A mission that waits for [`Input::Start`].
    #[must_use]
    pub fn new(setup: MissionSetup) -> Self {
        Self {
            task_state: TaskState::of(&setup.reading),
            availability: MissionAvailability::new(
                setup.availability.clone(),
                setup.tools.clone(),
                setup.removed.clone(),
            ),
            setup,
            phase: Phase::New,
            clock: Clock::default(),
            spending: Spending::default(),
            models: UsedModels::default(),
            answering: Answering::default(),
            conversation: Conversation::new(),
            context: MissionContext::default(),
            offer: Offer::default(),
            run: PlanRun::default(),
            calls: RunningCalls::new(),
            record: Record::default(),
            timeline: Timeline::default(),
            absences: Absences::default(),
            revisions: TaskRevisions::default(),
            interruptions: Interruptions::default(),
            approvals: Approvals::default(),
            effects: Vec::new(),
        }
    }

    /// Takes one input at time `now` (since any fixed moment, never going back) and returns what is to be done, in
    /// order. Inputs that come too late for their purpose change nothing.
    #[must_use]
    pub fn handle(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        self.clock.advance(now);
        match input {
            Input::Start => self.on_start(),
            Input::ModelReplied { request, reply } => self.on_model_replied(request, reply),
            Input::AnswerStreamed { request, offset, text } => self.on_answer_streamed(request, offset, &text),
            Input::ContextGathered { gathering, context } => self.on_context_gathered(gathering, context),
            Input::CallAccepted { call } => self.on_call_accepted(call),
            Input::CallProgressed { call, feedback } => self.on_call_progressed(call, feedback),
            Input::CallEnded { call, outcome } => self.on_call_ended(call, outcome),
            Input::ToolsChanged { tools } => self.on_tools_changed(tools),
            Input::ToolsDiffer { changes } => self.on_tools_differ(&changes),
            Input::AvailabilityChanged { availability } => self.on_availability_changed(availability),
            Input::Revise { text, reading, origin } => self.on_revise(text, &reading, origin),
            Input::Answered { number, answer, origin } => self.on_answered(number, answer, origin),
            Input::RobotState { state } => self.on_robot_state(state),
            Input::Metered { expense, total, is_live } => self.on_metered(expense, total, is_live),
            Input::Cancel { reason } => self.on_cancel(reason),
            Input::GiveUp { reason } => self.on_give_up(reason),
            Input::Tick => self.on_tick(),
        }
        std::mem::take(&mut self.effects)
    }

    /// When the machine wants a [`Input::Tick`] at the latest, in the time of [`handle`](Self::handle).
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        let end = self.clock.when_spent(self.setup.limits.max_duration);
        let progress = self.calls.next_progress();
        let phase = match &self.phase {
            Phase::New | Phase::Finished => return None,
            Phase::Halting { until, .. } => return Some(*until),
            Phase::Interrupted { .. } => return Some(self.interrupted_wake()),
            Phase::Gathering { until, .. } => Some(*until),
            Phase::Asking { until, .. } => Some(self.question_ends(*until)),
            Phase::Waiting { until, .. } => Some(self.next_stall().map_or(*until, |stall| stall.min(*until))),
            Phase::Planning { .. }
            | Phase::Researching { .. }
            | Phase::Confirming { .. }
            | Phase::Correcting { .. }
            | Phase::Away { .. }
            | Phase::Underway => None,
        };
        [Some(end), progress, phase, self.next_retry(), self.next_departure(), self.next_supervision()]
            .into_iter()
            .flatten()
            .min()
    }

    /// The tools of the robot, as the mission knows them now.
    #[must_use]
    pub fn tools(&self) -> &ToolSet {
        &self.setup.tools
    }

    /// Whether the one result is out.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    fn on_start(&mut self) {
        if self.phase != Phase::New {
            return;
        }
        self.clock.start();
        self.clock.note_progress();
        let bytes = self.setup.task.len();
        if self.setup.task.trim().is_empty() {
            self.fail("The task is empty. Say what the robot shall do or answer.".to_owned());
        } else if bytes > self.setup.limits.max_task_bytes {
            self.fail(format!(
                "The task has {bytes} bytes; at most {} are taken. Say it shorter, or in several tasks.",
                self.setup.limits.max_task_bytes
            ));
        } else {
            self.begin_reopened();
            self.begin_task();
            self.warn_about_meters();
            if !self.begins_interrupted() {
                self.ask_for_plan();
            }
        }
    }

    fn on_model_replied(&mut self, request: RequestId, reply: Result<ChatReply, ModelError>) {
        if let Ok(reply) = &reply {
            self.note_model(reply);
            self.book(reply);
            if matches!(self.phase, Phase::Planning { request: current } if current == request) {
                self.spending.note_closing_cost(reply);
            }
        }
        self.halt_if_spent();
        let reply = reply.and_then(whole);
        self.clock.note_progress();
        match self.phase.clone() {
            Phase::Planning { request: current } if current == request => self.on_plan_reply(reply),
            Phase::Confirming { step, request: current, asked, repeated, proposed } if current == request => {
                self.timeline.answered(self.clock.now());
                self.on_confirmation(step, asked, repeated, proposed, reply);
            }
            Phase::Correcting { step, request: current } if current == request => {
                self.timeline.answered(self.clock.now());
                self.on_correction(step, reply);
            }
            // An answer to a request that was given up.
            _ => {}
        }
    }

    fn on_tick(&mut self) {
        let expired = self.clock.spent() >= self.setup.limits.max_duration;
        match self.phase.clone() {
            Phase::New | Phase::Finished => return,
            Phase::Halting { then, until } => {
                if self.clock.now() >= until {
                    self.give_up_on_halting(then);
                }
                return;
            }
            _ if expired => {
                let seconds = in_seconds(self.setup.limits.max_duration);
                self.fail_or_close(format!("The task was not done within {seconds} s, the most that a task may take."));
                return;
            }
            _ if self.give_up_pausing() || self.give_up_without_progress() => return,
            _ => {}
        }
        self.give_up_on_cut_calls();
        self.cut_hung_goals();
        match self.phase.clone() {
            Phase::New | Phase::Finished | Phase::Halting { .. } | Phase::Interrupted { .. } => return,
            Phase::Waiting { step, until, asked } if self.clock.now() >= until || self.notice_stalls() => {
                self.confirm(step, asked, None);
            }
            Phase::Gathering { until, .. } if self.clock.now() >= until => self.give_up_gathering(),
            Phase::Asking { .. } => self.end_unanswered_question(),
            Phase::Underway if self.has_due_retry() => self.advance(),
            Phase::Away { .. } => self.end_wait_if_over(),
            _ => self.give_up_what_is_gone(),
        }
        self.warn_about_budget();
        if self.calls.next_progress().is_some_and(|at| self.clock.now() >= at) {
            self.calls.report_progress_at(self.clock.now() + self.setup.limits.progress_interval);
            let in_flight = self.in_flight();
            self.report(MissionEvent::Progress { in_flight });
        }
    }

    /// Asks the model, unless the budget is spent: then the mission ends and `None` comes back. What asks about a step leaves
    /// what is kept for the closing words.
    fn ask_model(&mut self, mut chat: ChatRequest) -> Option<RequestId> {
        match chat.purpose {
            Purpose::Plan if self.ends_for_budget() => return None,
            Purpose::Plan => {}
            Purpose::Confirm | Purpose::Correct => {
                if let Some(reason) = self.spent_but_for_closing() {
                    self.fail(reason);
                    return None;
                }
            }
        }
        self.name_as_offered(&mut chat);
        self.spending.count_model_call();
        self.warn_about_budget();
        let request = self.conversation.next_request();
        self.effects.push(Effect::AskModel { request, chat });
        Some(request)
    }

    /// A model reads one name of each tool: the one that it is offered. That is how a name is rendered anyway, but for
    /// names that are too long or would be the same as others'.
    fn name_as_offered(&self, chat: &mut ChatRequest) {
        let offered = |name: &ToolName| {
            let offered = self.offered_name(name);
            if offered.as_str() == plain_wire_name(name) { name.clone() } else { offered }
        };
        for message in &mut chat.messages {
            match message {
                Message::System { fragments } | Message::User { fragments } => {
                    fragments.iter_mut().for_each(|fragment| fragment.rename(&offered));
                }
                Message::Assistant { .. } | Message::Tool { .. } => {}
            }
        }
    }

    fn report(&mut self, event: MissionEvent) {
        self.effects.push(Effect::Report { event });
    }
}

/// The reply, if it is whole. One that was cut is no answer, whatever it is an answer to: what is missing may take back what
/// is there.
fn whole(reply: ChatReply) -> Result<ChatReply, ModelError> {
    let Some(cut) = reply.cut else { return Ok(reply) };
    Err(ModelError {
        kind: ModelErrorKind::CutReply,
        message: format!("the answer is not whole: {cut}"),
        hint: "Use a model that thinks less before it answers, or one whose answers its endpoint does not withhold."
            .to_owned(),
        retry_after: None,
    })
}
