//! The mission machine: `(state, input) -> (state, effects)`. One mission is one task from its start to its one result.
//!
//! Pure: time comes in with each input, what is to be done goes out as [`Effect`]s. The state is `serde`; the same
//! inputs always give the same effects. See `docs/mission-loop.md`.
//!
//! - `planning`: phase 1, from the task to a committed plan or an answer;
//! - `execution`: phase 2, the confirmed steps;
//! - `ending`: replanning, halting and the one result;
//! - `prompts`: what the model is told.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_protocol::mission::InFlight;
use cortex_protocol::{
    CallId, Dispatch, HaltState, MissionEvent, MissionResult, Plan, ResourceName, SessionId, StepNumber, StepReport,
    ToolCall, ToolFingerprint, ToolName, ToolOutcome, Usage,
};
use serde::{Deserialize, Serialize};

use crate::chat::{ChatReply, ChatRequest, Message, ModelCall};
use crate::ports::ModelError;
use crate::schedule::Holder;
use crate::toolset::ToolSet;

mod ending;
mod execution;
mod planning;
mod prompts;

#[cfg(test)]
mod tests;

pub use crate::selection::FIND_TOOLS;
pub use prompts::DECLINE_TOOL;

/// The bounds of one mission. Every one of them ends something that could otherwise go on for ever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissionLimits {
    /// Longest task, in bytes of UTF-8.
    pub max_task_bytes: usize,
    /// Turns of research and mistakes before a plan must be committed.
    pub max_planning_steps: u32,
    /// Steps of one plan; more are cut.
    pub max_execution_steps: u32,
    /// Steps that run at a time, goals in flight included.
    pub max_parallel_steps: usize,
    /// Further plans after the first.
    pub max_replans: u32,
    /// Requests to the model in all.
    pub max_model_calls: u32,
    /// How often the model may be asked about one step.
    pub max_confirmations_per_step: u32,
    /// From the start to the end.
    pub max_duration: Duration,
    /// How long a CONTINUE waits for an event before the model is asked again.
    pub continue_timeout: Duration,
    /// How long everything in flight has to halt. The dispatcher's own bound is shorter; this one guards against it.
    pub halt_timeout: Duration,
    /// How often feedback tells what is in flight.
    pub progress_interval: Duration,
    /// Without new feedback for so long, a goal that has given feedback counts as stalled.
    pub stall_after: Duration,
    /// Tools that a model is offered. Where there are more, it gets those that the task needs and a search for the rest.
    pub max_offered_tools: usize,
    /// Methods that close what others opened; a cut plan keeps them.
    pub closing_methods: Vec<String>,
}

impl Default for MissionLimits {
    fn default() -> Self {
        Self {
            max_task_bytes: 16 * 1024,
            max_planning_steps: 10,
            max_execution_steps: 30,
            max_parallel_steps: 8,
            max_replans: 3,
            max_model_calls: 200,
            max_confirmations_per_step: 8,
            max_duration: Duration::from_secs(3600),
            continue_timeout: Duration::from_secs(60),
            halt_timeout: Duration::from_secs(15),
            progress_interval: Duration::from_secs(1),
            stall_after: Duration::from_secs(10),
            max_offered_tools: 40,
            closing_methods: vec!["end_episode".to_owned()],
        }
    }
}

/// What a mission starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissionSetup {
    /// In plain language.
    pub task: String,
    /// The conversation that it continues.
    pub session: Option<SessionId>,
    /// What the robot is, for the model. May be empty.
    pub identity: String,
    /// The tools on offer.
    pub tools: ToolSet,
    /// The bounds.
    pub limits: MissionLimits,
}

/// Matches a model's reply to the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestId(pub u32);

/// Why a mission is ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// Whoever sent the task, or an operator, cancelled it.
    Client,
    /// The robot was stopped.
    Stop,
    /// Cortex is shutting down.
    ShutDown,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// The mission's turn has come.
    Start,
    /// The model answered, or gave up.
    ModelReplied {
        /// Which request.
        request: RequestId,
        /// What it said.
        reply: Result<ChatReply, ModelError>,
    },
    /// A background call was accepted and goes on.
    CallAccepted {
        /// Which.
        call: CallId,
    },
    /// A running call says how it is getting on.
    CallProgressed {
        /// Which.
        call: CallId,
        /// In its words.
        feedback: String,
    },
    /// A call ended. Comes exactly once for each.
    CallEnded {
        /// Which.
        call: CallId,
        /// How.
        outcome: ToolOutcome,
    },
    /// The tools on offer changed.
    ToolsChanged {
        /// All of them, now.
        tools: ToolSet,
    },
    /// Someone ends the mission.
    Cancel {
        /// Why.
        reason: CancelReason,
    },
    /// The time that [`Mission::next_wake`] asked for has come.
    Tick,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Ask the model; answer with [`Input::ModelReplied`].
    AskModel {
        /// Matches the reply.
        request: RequestId,
        /// What to ask.
        chat: ChatRequest,
    },
    /// Drop the model's request.
    AbandonModel {
        /// Which.
        request: RequestId,
    },
    /// Begin a call; answer with exactly one [`Input::CallEnded`].
    Invoke {
        /// Matches the answers.
        call: CallId,
        /// What to call. The arguments fit the schema.
        tool_call: ToolCall,
        /// The version of the tool that the call was made for.
        fingerprint: ToolFingerprint,
    },
    /// Make a call come to rest and end.
    CancelCall {
        /// Which.
        call: CallId,
    },
    /// Publish words for a person.
    Say {
        /// The words.
        text: String,
    },
    /// Tell everybody who watches.
    Report {
        /// What happened.
        event: MissionEvent,
    },
    /// The mission is over. Nothing follows.
    Finish {
        /// Its one result.
        result: MissionResult,
    },
}

/// A mission in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mission {
    setup: MissionSetup,
    phase: Phase,
    /// The latest time seen, since the mission was made.
    now: Duration,
    started: Duration,
    /// The planning conversation after its fixed beginning. Only ever grows, so that providers can cache it.
    conversation: Vec<Message>,
    /// What the model is offered, by name. Only ever grows.
    offered: BTreeSet<ToolName>,
    /// The versions of the tools that the model was shown last: a call is for these and for no others.
    shown: BTreeMap<ToolName, ToolFingerprint>,
    /// The versions of the tools that the current plan's steps are for.
    planned: BTreeMap<StepNumber, ToolFingerprint>,
    /// The current plan and the order in which its steps run.
    plan: Plan,
    order: Vec<StepNumber>,
    /// Counts plans from 1; 0 before the first.
    plan_number: u32,
    /// Turns of the current planning phase.
    planning_turn: u32,
    /// Every step of every plan.
    reports: Vec<StepReport>,
    /// Steps of the current plan whose conflict was told.
    told_conflicts: BTreeSet<StepNumber>,
    /// What is in flight.
    calls: BTreeMap<CallId, RunningCall>,
    /// What may still be going on, and what it says.
    not_stopped: Vec<(ToolName, HaltState)>,
    usage: Usage,
    next_call: u32,
    next_request: u32,
    next_progress: Duration,
    /// Effects of the current input.
    #[serde(skip)]
    effects: Vec<Effect>,
}

/// A call in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RunningCall {
    tool: ToolName,
    step: Option<StepNumber>,
    started: Duration,
    /// What it holds until it ends.
    resources: Vec<ResourceName>,
    dispatch: Dispatch,
    /// Whether it was accepted.
    accepted: bool,
    feedback: String,
    feedback_at: Option<Duration>,
}

impl RunningCall {
    fn holder(&self) -> Holder<'_> {
        let lets_go = self.accepted && self.dispatch == Dispatch::Background;
        Holder { step: self.step, resources: &self.resources, lets_go }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    New,
    /// The model makes a plan or an answer.
    Planning {
        request: RequestId,
    },
    /// Planning tools are running; then the plan calls of the same reply, if any, are committed.
    Researching {
        research: Vec<Research>,
        plan_calls: Vec<(ModelCall, ToolName)>,
    },
    /// The model decides upon a step.
    Confirming {
        step: StepNumber,
        request: RequestId,
        /// How often it was asked about this step, this time included.
        asked: u32,
        /// Whether its previous answer could not be read.
        repeated: bool,
    },
    /// CONTINUE: until something in flight ends, or the time is up.
    Waiting {
        step: StepNumber,
        until: Duration,
        asked: u32,
    },
    /// Steps are running; none can begin until something in flight ends or lets go.
    Underway,
    /// Everything in flight is coming to rest; then this follows.
    Halting {
        then: Ending,
        until: Duration,
    },
    Finished,
}

/// One call of a planning tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Research {
    model_call: ModelCall,
    call: CallId,
    outcome: Option<ToolOutcome>,
}

/// What follows once everything is at rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Replan { reason: String },
    Failed { reason: String },
    Cancelled { reason: String },
}

impl Mission {
    /// A mission that waits for [`Input::Start`].
    #[must_use]
    pub fn new(setup: MissionSetup) -> Self {
        Self {
            setup,
            phase: Phase::New,
            now: Duration::ZERO,
            started: Duration::ZERO,
            conversation: Vec::new(),
            offered: BTreeSet::new(),
            shown: BTreeMap::new(),
            planned: BTreeMap::new(),
            plan: Plan::default(),
            order: Vec::new(),
            plan_number: 0,
            planning_turn: 0,
            reports: Vec::new(),
            told_conflicts: BTreeSet::new(),
            calls: BTreeMap::new(),
            not_stopped: Vec::new(),
            usage: Usage::default(),
            next_call: 1,
            next_request: 1,
            next_progress: Duration::ZERO,
            effects: Vec::new(),
        }
    }

    /// Takes one input at time `now` (since any fixed moment, never going back) and returns what is to be done, in
    /// order. Inputs that come too late for their purpose change nothing.
    #[must_use]
    pub fn handle(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        self.now = self.now.max(now);
        match input {
            Input::Start => self.on_start(),
            Input::ModelReplied { request, reply } => self.on_model_replied(request, reply),
            Input::CallAccepted { call } => self.on_call_accepted(call),
            Input::CallProgressed { call, feedback } => self.on_call_progressed(call, feedback),
            Input::CallEnded { call, outcome } => self.on_call_ended(call, outcome),
            Input::ToolsChanged { tools } => self.setup.tools = tools,
            Input::Cancel { reason } => self.on_cancel(reason),
            Input::Tick => self.on_tick(),
        }
        std::mem::take(&mut self.effects)
    }

    /// When the machine wants a [`Input::Tick`] at the latest, in the time of [`handle`](Self::handle).
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        let end = self.started + self.setup.limits.max_duration;
        let progress = (!self.calls.is_empty()).then_some(self.next_progress);
        let phase = match &self.phase {
            Phase::New | Phase::Finished => return None,
            Phase::Halting { until, .. } => return Some(*until),
            Phase::Waiting { until, .. } => Some(*until),
            Phase::Planning { .. } | Phase::Researching { .. } | Phase::Confirming { .. } | Phase::Underway => None,
        };
        [Some(end), progress, phase].into_iter().flatten().min()
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
        self.started = self.now;
        let bytes = self.setup.task.len();
        if self.setup.task.trim().is_empty() {
            self.fail("The task is empty. Say what the robot shall do or answer.".to_owned());
        } else if bytes > self.setup.limits.max_task_bytes {
            self.fail(format!(
                "The task has {bytes} bytes; at most {} are taken. Say it shorter, or in several tasks.",
                self.setup.limits.max_task_bytes
            ));
        } else {
            self.ask_for_plan();
        }
    }

    fn on_model_replied(&mut self, request: RequestId, reply: Result<ChatReply, ModelError>) {
        if let Ok(reply) = &reply {
            self.usage.prompt_tokens = self.usage.prompt_tokens.saturating_add(reply.prompt_tokens);
            self.usage.completion_tokens = self.usage.completion_tokens.saturating_add(reply.completion_tokens);
        }
        match self.phase.clone() {
            Phase::Planning { request: current } if current == request => self.on_plan_reply(reply),
            Phase::Confirming { step, request: current, asked, repeated } if current == request => {
                self.on_confirmation(step, asked, repeated, reply);
            }
            // An answer to a request that was given up.
            _ => {}
        }
    }

    fn on_call_progressed(&mut self, call: CallId, feedback: String) {
        let now = self.now;
        if let Some(running) = self.calls.get_mut(&call) {
            running.feedback = feedback;
            running.feedback_at = Some(now);
        }
    }

    fn on_tick(&mut self) {
        let expired = self.now >= self.started + self.setup.limits.max_duration;
        match self.phase.clone() {
            Phase::New | Phase::Finished => return,
            Phase::Halting { then, until } => {
                if self.now >= until {
                    self.give_up_on_halting(then);
                }
                return;
            }
            _ if expired => {
                let seconds = self.setup.limits.max_duration.as_secs();
                self.fail(format!("The task was not done within {seconds} s, the most that a task may take."));
                return;
            }
            Phase::Waiting { step, until, asked } if self.now >= until => self.confirm(step, asked, None),
            _ => {}
        }
        if !self.calls.is_empty() && self.now >= self.next_progress {
            self.next_progress = self.now + self.setup.limits.progress_interval;
            let in_flight = self.in_flight();
            self.report(MissionEvent::Progress { in_flight });
        }
    }

    /// What is in flight, oldest first.
    fn in_flight(&self) -> Vec<InFlight> {
        let stall_after = self.setup.limits.stall_after;
        self.calls
            .iter()
            .map(|(id, call)| InFlight {
                call: *id,
                step: call.step,
                tool: call.tool.clone(),
                age: self.now.saturating_sub(call.started),
                feedback: call.feedback.clone(),
                stalled: call
                    .feedback_at
                    .map(|at| self.now.saturating_sub(at))
                    .filter(|silence| *silence >= stall_after),
            })
            .collect()
    }

    /// Begins a call.
    fn invoke(&mut self, tool_call: ToolCall, fingerprint: ToolFingerprint, step: Option<StepNumber>) -> CallId {
        let call = CallId(self.next_call);
        self.next_call += 1;
        if self.calls.is_empty() {
            self.next_progress = self.now + self.setup.limits.progress_interval;
        }
        let spec = self.setup.tools.get(&tool_call.tool);
        self.calls.insert(
            call,
            RunningCall {
                tool: tool_call.tool.clone(),
                step,
                started: self.now,
                resources: spec.map(|spec| spec.resources.clone()).unwrap_or_default(),
                dispatch: spec.map(|spec| spec.dispatch).unwrap_or_default(),
                accepted: false,
                feedback: String::new(),
                feedback_at: None,
            },
        );
        self.effects.push(Effect::Invoke { call, tool_call, fingerprint });
        call
    }

    /// Asks the model, unless the budget is spent: then the mission fails and `None` comes back.
    fn ask_model(&mut self, chat: ChatRequest) -> Option<RequestId> {
        if self.usage.model_calls >= self.setup.limits.max_model_calls {
            let limit = self.setup.limits.max_model_calls;
            self.fail(format!("The task has used up its {limit} requests to the model."));
            return None;
        }
        self.usage.model_calls += 1;
        let request = RequestId(self.next_request);
        self.next_request += 1;
        self.effects.push(Effect::AskModel { request, chat });
        Some(request)
    }

    fn report(&mut self, event: MissionEvent) {
        self.effects.push(Effect::Report { event });
    }
}
