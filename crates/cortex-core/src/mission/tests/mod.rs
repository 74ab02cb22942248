//! Tests of the mission machine, told through a scripted model and scripted tools.

mod answering;
mod approval;
mod approval_histories;
mod argument_repairs;
mod budgets;
mod confirmations;
mod context;
mod groups;
mod interruption;
mod meters;
mod parallel;
mod placeholders;
mod properties;
mod quoting;
mod repetition;
mod skips;
mod stories;
mod task_classes;
mod task_revision;
mod told;
mod tool_presence;
mod tools;
mod worded;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use cortex_language::task_class;
use cortex_protocol::{
    CallId, CancelMode, ComponentName, Dispatch, Effect as ToolEffect, FailureKind, HaltState, MissionResult,
    MissionStatus, Plan, StepNumber, StepReport, ToolCall, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};

use super::*;
use crate::chat::{CallArguments, ModelCall, Purpose};
use crate::feedback;
use crate::fragment::Fragment;
use crate::toolset::ToolSet;

/// A tool that takes one argument `x` of any type.
pub(super) fn tool(name: &str, phase: ToolPhase, effect: ToolEffect) -> ToolSpec {
    ToolSpec::new(name.into(), format!("Does {name}."))
        .with_parameters(json!({"type": "object", "properties": {"x": {}}, "additionalProperties": false}))
        .with_phase(phase)
        .with_effect(effect)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
}

/// The tools of a small robot.
pub(super) fn robot() -> Vec<ToolSpec> {
    let mut go_to = tool("base.go_to", ToolPhase::Execution, ToolEffect::Move);
    go_to.parameters = json!({
        "type": "object",
        "properties": {"place": {"enum": ["kitchen", "bedroom"]}},
        "required": ["place"],
        "additionalProperties": false
    });
    let mut say = tool("speaker.say", ToolPhase::Execution, ToolEffect::Act);
    say.parameters = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false
    });
    let mut dock = tool("base.dock", ToolPhase::Execution, ToolEffect::Move);
    dock.dispatch = Dispatch::Background;
    vec![
        go_to,
        say,
        dock,
        tool("camera.look", ToolPhase::Both, ToolEffect::Observe),
        tool("battery.level", ToolPhase::Planning, ToolEffect::Observe),
        tool("memory.end_episode", ToolPhase::Execution, ToolEffect::Act),
    ]
}

/// A person revises the task.
pub(super) fn revision(text: &str) -> Input {
    let reading = task_class::read(text, &robot());
    Input::Revise { text: text.to_owned(), reading, origin: cortex_protocol::Origin::new("cli", "revise") }
}

pub(super) fn says(text: &str) -> ChatReply {
    ChatReply { text: text.into(), ..ChatReply::default() }
}

/// The reply, as it comes when the bound of its tokens cuts it.
pub(super) fn cut(reply: ChatReply) -> ChatReply {
    ChatReply { cut: Some("it was cut at 500 tokens".into()), ..reply }
}

pub(super) fn calls(calls: &[(&str, Value)]) -> ChatReply {
    let calls = calls
        .iter()
        .map(|(name, arguments)| ModelCall {
            id: "same".into(),
            name: (*name).into(),
            arguments: CallArguments::read(&arguments.to_string()),
        })
        .collect();
    ChatReply { calls, ..ChatReply::default() }
}

/// A mission with a scripted model and scripted tools, run until it ends or needs an input from the test.
pub(super) struct Story {
    pub(super) mission: Mission,
    pub(super) now: Duration,
    replies: VecDeque<Result<ChatReply, ModelError>>,
    outcomes: BTreeMap<String, VecDeque<ToolOutcome>>,
    /// Tools that answer only when the test says so.
    held: BTreeSet<String>,
    pub(super) lines: Vec<String>,
    pub(super) requests: Vec<ChatRequest>,
    /// What was asked of the sources of the record; the test answers.
    pub(super) gatherings: Vec<(GatheringId, crate::ContextQuery)>,
    pub(super) invoked: Vec<(CallId, ToolCall)>,
    pub(super) cancelled: Vec<CallId>,
    pub(super) abandoned: Vec<RequestId>,
    /// What was said, each text whole.
    pub(super) said: Vec<String>,
    /// The beginning of a text that is not whole yet.
    pub(super) begun: String,
    pub(super) results: Vec<MissionResult>,
    pub(super) questions: Vec<cortex_protocol::Question>,
    pub(super) closed: Vec<(cortex_protocol::QuestionNumber, cortex_protocol::QuestionOutcome)>,
    unanswered: VecDeque<RequestId>,
}

impl Story {
    pub(super) fn of(task: &str) -> Self {
        Self::with(task, robot(), |_| {})
    }

    pub(super) fn with(task: &str, tools: Vec<ToolSpec>, bounds: impl FnOnce(&mut MissionLimits)) -> Self {
        Self::under(task, tools, PolicySetup::default(), bounds)
    }

    /// A story under a policy.
    pub(super) fn under(
        task: &str,
        tools: Vec<ToolSpec>,
        policy: PolicySetup,
        bounds: impl FnOnce(&mut MissionLimits),
    ) -> Self {
        let (tools, problems) = ToolSet::new(tools);
        assert_eq!(problems, []);
        // Stories of failures are about what follows them; those of corrections allow them.
        let mut limits = MissionLimits {
            max_corrections: 0,
            max_retries: 0,
            component_grace: Duration::ZERO,
            ..MissionLimits::default()
        };
        bounds(&mut limits);
        Self {
            mission: Mission::new(MissionSetup {
                task: task.into(),
                reading: task_class::read(task, tools.iter()),
                session: None,
                earlier: vec![],
                context_sources: Vec::new(),
                identity: String::new(),
                tools,
                availability: crate::Availability::default(),
                removed: crate::RemovedTools::default(),
                limits,
                policy,
                reopens: None,
            }),
            now: Duration::ZERO,
            replies: VecDeque::new(),
            outcomes: BTreeMap::new(),
            held: BTreeSet::new(),
            lines: vec![],
            requests: vec![],
            gatherings: vec![],
            invoked: vec![],
            cancelled: vec![],
            abandoned: vec![],
            said: vec![],
            begun: String::new(),
            results: vec![],
            questions: vec![],
            closed: vec![],
            unanswered: VecDeque::new(),
        }
    }

    pub(super) fn model(mut self, reply: ChatReply) -> Self {
        self.replies.push_back(Ok(reply));
        self
    }

    /// A reply before all others.
    pub(super) fn first(&mut self, reply: ChatReply) {
        self.replies.push_front(Ok(reply));
    }

    pub(super) fn model_says(self, text: &str) -> Self {
        self.model(says(text))
    }

    pub(super) fn model_calls(self, made: &[(&str, Value)]) -> Self {
        self.model(calls(made))
    }

    pub(super) fn model_fails(mut self, error: ModelError) -> Self {
        self.replies.push_back(Err(error));
        self
    }

    pub(super) fn tool_returns(self, name: &str, value: Value) -> Self {
        self.tool_ends(name, ToolOutcome::success(value))
    }

    pub(super) fn tool_fails(self, name: &str, message: &str) -> Self {
        self.tool_ends(name, ToolOutcome::failure(FailureKind::Reported, message))
    }

    pub(super) fn tool_ends(mut self, name: &str, outcome: ToolOutcome) -> Self {
        self.outcomes.entry(name.into()).or_default().push_back(outcome);
        self
    }

    pub(super) fn tool_waits(mut self, name: &str) -> Self {
        self.held.insert(name.into());
        self
    }

    pub(super) fn start(mut self) -> Self {
        self.give(Input::Start);
        self
    }

    /// Gives an input, and then everything that the scripts answer to what follows.
    pub(super) fn give(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.mission.handle(self.now, input) {
                assert!(self.results.is_empty(), "an effect after the result: {effect:?}");
                match effect {
                    Effect::AskModel { request, chat } => {
                        check_conversation(&chat);
                        self.requests.push(chat);
                        match self.replies.pop_front() {
                            Some(reply) => inputs.push_back(Input::ModelReplied { request, reply }),
                            None => self.unanswered.push_back(request),
                        }
                    }
                    Effect::GatherContext { gathering, query } => self.gatherings.push((gathering, query)),
                    Effect::AbandonModel { request } => self.abandoned.push(request),
                    Effect::Invoke { call, tool_call, .. } => {
                        let name = tool_call.tool.as_str().to_owned();
                        self.invoked.push((call, tool_call));
                        if !self.held.contains(&name) {
                            let outcome = self
                                .outcomes
                                .get_mut(&name)
                                .and_then(VecDeque::pop_front)
                                .unwrap_or_else(|| ToolOutcome::success(json!("done")));
                            inputs.push_back(Input::CallEnded { call, outcome });
                        }
                    }
                    Effect::CancelCall { call } => self.cancelled.push(call),
                    Effect::AskPerson { question } => self.questions.push(question),
                    Effect::CloseQuestion { number, outcome } => self.closed.push((number, outcome)),
                    Effect::Say { text, piece } => {
                        self.begun.push_str(&text);
                        if piece == SpokenPiece::Last {
                            self.said.push(std::mem::take(&mut self.begun));
                        }
                    }
                    Effect::Report { event } => self.lines.push(feedback::line(&event)),
                    Effect::Finish { result } => self.results.push(result),
                }
            }
        }
    }

    pub(super) fn give_at(&mut self, seconds: u64, input: Input) {
        self.now = Duration::from_secs(seconds);
        self.give(input);
    }

    /// Answers the oldest request that the script had no reply for.
    pub(super) fn reply(&mut self, reply: ChatReply) {
        let request = self.unanswered.pop_front().expect("the model was not asked");
        self.give(Input::ModelReplied { request, reply: Ok(reply) });
    }

    /// The same, with an answer that may be none.
    pub(super) fn answer(&mut self, reply: Result<ChatReply, ModelError>) {
        let request = self.unanswered.pop_front().expect("the model was not asked");
        self.give(Input::ModelReplied { request, reply });
    }

    /// Whether this call has not ended.
    pub(super) fn is_open(&self, index: usize) -> bool {
        self.invoked.get(index).is_some_and(|(call, _)| self.mission.calls.get(*call).is_some())
    }

    /// Ends it as its component would: well, or halted where it was cancelled.
    pub(super) fn close_call(&mut self, index: usize) {
        if !self.is_open(index) {
            return;
        }
        let is_cancelled = self.cancelled.contains(&self.invoked[index].0);
        let halted = ToolOutcome::cancelled(cortex_protocol::HaltState::Halted, "halted");
        self.end_call(index, if is_cancelled { halted } else { ToolOutcome::success(Value::Null) });
    }

    /// Further text of the awaited answer arrives, after so many bytes of it.
    pub(super) fn streams(&mut self, offset: usize, text: &str) {
        let request = *self.unanswered.front().expect("the model was not asked");
        self.give(Input::AnswerStreamed { request, offset, text: text.to_owned() });
    }

    /// Whether the model is being asked something that the script has no reply for.
    pub(super) fn is_asking(&self) -> bool {
        !self.unanswered.is_empty()
    }

    pub(super) fn end_call(&mut self, index: usize, outcome: ToolOutcome) {
        let call = self.invoked[index].0;
        self.give(Input::CallEnded { call, outcome });
    }

    pub(super) fn invoked_tools(&self) -> Vec<&str> {
        self.invoked.iter().map(|(_, call)| call.tool.as_str()).collect()
    }

    pub(super) fn result(&self) -> &MissionResult {
        assert_eq!(self.results.len(), 1, "one result; the story so far: {:#?}", self.lines);
        &self.results[0]
    }

    /// How it ended, in the words before the account.
    pub(super) fn ends(&self) -> (MissionStatus, &str) {
        let result = self.result();
        assert!(result.output.ends_with(&format!("\n{}", result.account)), "{}", result.output);
        (result.status, result.words())
    }

    /// The same before the end.
    pub(super) fn statuses_so_far(&self) -> Vec<cortex_protocol::StepStatus> {
        self.mission.record.steps().iter().map(|report| report.status).collect()
    }

    pub(super) fn statuses(&self) -> Vec<cortex_protocol::StepStatus> {
        self.result().steps.iter().map(|step| step.status).collect()
    }
}

/// What providers demand of every conversation: each call has exactly one answer, after it, and none is an orphan.
fn check_conversation(chat: &ChatRequest) {
    let mut open = BTreeSet::new();
    for message in &chat.messages {
        match message {
            Message::Assistant { calls, .. } => {
                for call in calls {
                    assert!(open.insert(call.id.clone()), "two calls of one id");
                }
            }
            Message::Tool { id, .. } => assert!(open.remove(id), "an answer to no call"),
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    assert!(open.is_empty(), "calls without an answer: {open:?}");
    let names: BTreeSet<&str> = chat.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), chat.tools.len(), "two tools of one name");
}

/// All text of a request, for looking for words in it.
pub(super) fn text_of(chat: &ChatRequest) -> String {
    let mut text = String::new();
    for message in &chat.messages {
        match message {
            Message::System { fragments } | Message::User { fragments } => {
                fragments.iter().for_each(|fragment| text.push_str(&fragment.render()));
            }
            Message::Assistant { text: said, .. } => text.push_str(said),
            Message::Tool { content, .. } => text.push_str(&content.render()),
        }
        text.push('\n');
    }
    text
}

pub(super) fn purposes(story: &Story) -> Vec<Purpose> {
    story.requests.iter().map(|request| request.purpose).collect()
}

pub(super) fn ledger_of(chat: &ChatRequest) -> Vec<StepReport> {
    chat.messages
        .iter()
        .flat_map(|message| match message {
            Message::User { fragments } => fragments.clone(),
            _ => vec![],
        })
        .filter_map(|fragment| match fragment {
            Fragment::Ledger { steps, .. } => Some(steps),
            _ => None,
        })
        .next_back()
        .unwrap_or_default()
}
