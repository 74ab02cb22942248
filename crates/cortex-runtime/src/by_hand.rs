//! One tool, run by a person: a mission whose plan is that one call. It passes policy, approval, locks, preconditions, tape
//! and journal as every other step does, and it is halted, stopped and reported like one. Only no model is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use cortex_core::fragment::{capped, one_line};
use cortex_core::policy::PolicyContext;
use cortex_core::{
    ArgumentsError, CallArguments, ChatModel, ChatReply, ChatRequest, Message, MissionLimits, ModelCall, ModelError,
    Purpose, ReplyListener, ToolSet, for_each, output_refs,
};
use cortex_protocol::{
    Effect, MissionId, PolicyVerdict, Principal, Submission, TaskClass, TaskReading, ToolCall, ToolName,
};
use thiserror::Error;

use crate::mission_request::Work;
use crate::{Rejection, Runtime};

/// Most characters of the arguments that stand in the task; the plan has all of them.
const ARGUMENT_CHARACTERS: usize = 400;
/// Most characters of what a look found that are repeated as the answer.
const FOUND_CHARACTERS: usize = 4_000;

/// Why a tool is not run. Nothing was called.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ByHandRefusal {
    /// There is no such tool, or nobody may choose it.
    #[error("there is no tool '{}' now; the list of tools shows those that there are", one_line(.tool.as_str(), 100))]
    Unknown {
        /// What was named.
        tool: ToolName,
    },
    /// The arguments do not fit the schema.
    #[error("the arguments do not fit {tool}: {problem}")]
    Unfit {
        /// Of which tool.
        tool: ToolName,
        /// Each problem with its place.
        problem: ArgumentsError,
    },
    /// An argument stands for something else: other bytes than a person has confirmed would run.
    #[error("the arguments hold a placeholder such as <output of step 1> or <each place>; write the value itself")]
    Placeholder,
    /// Nothing of its component may be called.
    #[error("{tool} can't be called now: {because}")]
    KeptBack {
        /// Which tool.
        tool: ToolName,
        /// Why.
        because: String,
    },
    /// Policy denies it.
    #[error("policy denies this call of {tool}: {because}")]
    Denied {
        /// Which tool.
        tool: ToolName,
        /// The reasons.
        because: String,
    },
    /// No task is taken, or not beside the others.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

impl Runtime {
    /// Runs one tool for a person, as a mission of its own. Comes back once it was taken; what comes of it is told by the events
    /// of that mission.
    ///
    /// For the person who holds the controls it runs at once, beside the missions that wait for that person, and is halted
    /// when the controls are lost or handed back. For others it runs where no mission runs or waits.
    ///
    /// # Errors
    /// Why it is not run. Nothing was called then.
    pub async fn run_by_hand(&self, call: ToolCall, by: &Principal) -> Result<MissionId, ByHandRefusal> {
        let (origin, control) = (by.origin.clone(), self.control());
        let held = control.is_held_by(by).then_some(control);
        let registry = self.tool_registry();
        let named = registry.tools.get(&call.tool).filter(|spec| spec.serves.is_none());
        let Some(spec) = named else { return Err(ByHandRefusal::Unknown { tool: call.tool }) };
        if let Err(problem) = registry.tools.check(&call.tool, &call.arguments) {
            return Err(ByHandRefusal::Unfit { tool: call.tool, problem });
        }
        if holds_placeholder(&call) {
            return Err(ByHandRefusal::Placeholder);
        }
        let availability = self.gate.availability().borrow().clone();
        let available = availability.available(&registry.tools, &registry.removed);
        let kept_back = available.kept_back.get(&call.tool).cloned();
        let is_served = available.served_by.contains_key(&call.tool);
        if let Some(because) = kept_back.or_else(|| availability.refusal(spec, &call).filter(|_| !is_served)) {
            return Err(ByHandRefusal::KeptBack { tool: call.tool, because });
        }
        // Said at once; the mission judges it again, and asks where policy asks.
        let shared = Arc::clone(&self.shared.borrow());
        let state = shared.robot_state.state().borrow().clone();
        let judged = shared.config.policy.judge(&call, spec, &PolicyContext { origin: &origin, state: &state });
        if judged.verdict == PolicyVerdict::Deny {
            return Err(ByHandRefusal::Denied { tool: call.tool, because: judged.told() });
        }
        let arguments = serde_json::Value::Object(call.arguments.clone()).to_string();
        let task = format!("Run by hand: {} {}", call.tool, capped(&arguments, ARGUMENT_CHARACTERS));
        let work = Work::ByHand { call: Box::new(call), held: held.map(Box::new) };
        let ticket = self.submit_work(Submission { task, session: None, origin }, work).await?;
        Ok(ticket.id)
    }
}

/// Whether the call is not what it says: a plan's arguments may stand for what other steps returned, or for several values.
fn holds_placeholder(call: &ToolCall) -> bool {
    let arguments = &call.arguments;
    !output_refs::references(arguments).is_empty()
        || !for_each::names(arguments).is_empty()
        || output_refs::malformed(arguments).is_some()
}

/// What kind of thing the call is: a look answers a question, everything else acts.
pub(crate) fn reading(call: &ToolCall, tools: &ToolSet) -> TaskReading {
    let looks = tools.get(&call.tool).is_some_and(|spec| spec.effect == Effect::Observe);
    let class = if looks { TaskClass::QuestionAboutWorld } else { TaskClass::Action };
    TaskReading { class, is_search: false, declared_by: Vec::new() }
}

/// The bounds of a mission with these bounds where nobody can plan anew.
pub(crate) fn limits(limits: MissionLimits) -> MissionLimits {
    MissionLimits { max_replans: 0, max_corrections: 0, max_offered_tools: usize::MAX, ..limits }
}

/// In place of a model: what the person has confirmed is the plan, and each question about it is answered by that.
pub(crate) struct GivenCall {
    call: ToolCall,
    is_given: AtomicBool,
}

impl GivenCall {
    pub(crate) fn new(call: ToolCall) -> Self {
        Self { call, is_given: AtomicBool::new(false) }
    }

    fn plan(&self) -> ChatReply {
        let arguments = CallArguments::Object(self.call.arguments.clone());
        let call = ModelCall { id: "by-hand".to_owned(), name: self.call.tool.to_string(), arguments };
        ChatReply { calls: vec![call], ..ChatReply::default() }
    }
}

#[async_trait]
impl ChatModel for GivenCall {
    fn label(&self) -> String {
        "by hand".to_owned()
    }

    fn reads_every_tool(&self) -> bool {
        true
    }

    async fn chat_streaming(&self, request: &ChatRequest, _: Arc<dyn ReplyListener>) -> Result<ChatReply, ModelError> {
        let says = |text: String| ChatReply { text, ..ChatReply::default() };
        Ok(match request.purpose {
            Purpose::Plan if !self.is_given.swap(true, Ordering::AcqRel) => self.plan(),
            Purpose::Plan => says(closing_words(&request.messages)),
            Purpose::Confirm => says("EXECUTE".to_owned()),
            // There are no others than those that the person has confirmed.
            Purpose::Correct => says("The arguments stay as the person has given them.".to_owned()),
        })
    }
}

/// What a look has found, or that the step has ended: its report says how.
fn closing_words(messages: &[Message]) -> String {
    match messages.last() {
        Some(Message::Tool { content, .. }) => capped(&content.render(), FOUND_CHARACTERS),
        _ => "This was one call, by hand.".to_owned(),
    }
}
