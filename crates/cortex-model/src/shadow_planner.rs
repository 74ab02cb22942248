//! A second model that plans along: it is asked what the planner is asked, and where it would act otherwise, that is told. It
//! never acts: what it replies is compared, and then dropped.
//!
//! The mission does not depend on it. Both are asked at the same time; where the planner's reply moves something, the second one
//! has a bounded time more, and no time in all other cases. One that failed or was late is left alone for a while, like a model
//! of a chain.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::fragment::capped;
use cortex_core::mission::{ASK_PERSON, DECLINE_TOOL, FIND_TOOLS, RECALL_STEP};
use cortex_core::same_call::without_counterpart;
use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, Fragment, Message, ModelCall, ModelError, ModelErrorKind,
    Purpose, ReplyListener, SecondOpinion, SecondVerdict, ToolDefinition, ToolKind,
};
use cortex_protocol::ToolCall;
use serde_json::Map;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::chain::breaker::{Admission, Breaker};
use crate::reflex::{in_words, moving};

/// Most characters of what is told.
const TOLD_CHARACTERS: usize = 500;

/// How a second model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadowBounds {
    /// How much longer than the planner it may take for a plan that moves something.
    pub wait: Duration,
    /// How long it is left alone once it has failed or was late; twice as long after each further time, at most five minutes.
    pub pause: Duration,
    /// Whether a plan that it would not have made counts as doubted.
    pub doubts: bool,
}

impl Default for ShadowBounds {
    fn default() -> Self {
        Self { wait: Duration::from_secs(2), pause: Duration::from_secs(30), doubts: false }
    }
}

/// A model beside which a second one plans.
pub(crate) struct ShadowPlanned {
    planner: Arc<dyn ChatModel>,
    second: Arc<dyn ChatModel>,
    breaker: Mutex<Breaker>,
    bounds: ShadowBounds,
}

type Answer = Result<ChatReply, ModelError>;

impl ShadowPlanned {
    pub(crate) fn new(planner: Arc<dyn ChatModel>, second: Arc<dyn ChatModel>, bounds: ShadowBounds) -> Self {
        Self { planner, second, breaker: Mutex::new(Breaker::new(bounds.pause)), bounds }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to ask the second model. What it is asked ends with the value, and whatever goes wrong in it stays there.
    fn ask_second(&self, request: &ChatRequest) -> JoinSet<Answer> {
        let (second, request) = (Arc::clone(&self.second), request.clone());
        let mut asking = JoinSet::new();
        asking.spawn(async move { second.chat(&request).await });
        asking
    }

    /// What the second model says of a reply.
    async fn opinion(&self, request: &ChatRequest, reply: &ChatReply, mut asking: JoinSet<Answer>) -> SecondOpinion {
        let acts = moving(request, &reply.calls);
        let wait = if acts.is_empty() { Duration::ZERO } else { self.bounds.wait };
        let error = |kind, message| ModelError { kind, message, hint: String::new(), retry_after: None };
        let answer = match timeout(wait, asking.join_next()).await {
            Ok(Some(Ok(answer))) => answer,
            Ok(Some(Err(_)) | None) => {
                Err(error(ModelErrorKind::BadReply, "its adapter failed in an unforeseen way".to_owned()))
            }
            Err(_) if acts.is_empty() => {
                self.breaker().gave_up(Instant::now());
                return self.given_up(reply, SecondVerdict::NotCompared);
            }
            Err(_) => {
                let late = format!("it gave no answer within {:.1} s after the planner", wait.as_secs_f64());
                Err(error(ModelErrorKind::Timeout, late))
            }
        };
        let second = match answer {
            Ok(second) => second,
            Err(error) => return self.failed(reply, error),
        };
        let verdict = match &second.cut {
            // A part of a plan says neither that it is the same nor that it is another one.
            Some(because) => {
                let because = format!("its answer is not whole: {because}");
                self.breaker().failed(Instant::now(), because.clone(), None);
                no_answer(&because)
            }
            None => {
                self.breaker().succeeded();
                compared(request, &acts, &second)
            }
        };
        SecondOpinion {
            prompt_tokens: second.prompt_tokens,
            completion_tokens: second.completion_tokens,
            tokens_estimated: second.tokens_estimated,
            ..self.given_up(reply, verdict)
        }
    }

    /// The opinion where the second model failed.
    fn failed(&self, reply: &ChatReply, error: ModelError) -> SecondOpinion {
        let given_up = self.given_up(reply, no_answer(&error.message));
        self.breaker().failed(Instant::now(), error.message, error.retry_after);
        // Whoever was not reached, or refused the key, has read nothing that costs.
        if matches!(error.kind, ModelErrorKind::Unreachable | ModelErrorKind::Unauthorized) {
            return SecondOpinion { prompt_tokens: 0, tokens_estimated: false, ..given_up };
        }
        given_up
    }

    /// An opinion without a reply: it has read about what the planner has read.
    fn given_up(&self, reply: &ChatReply, verdict: SecondVerdict) -> SecondOpinion {
        SecondOpinion {
            model: self.second.label(),
            verdict,
            doubts: self.bounds.doubts,
            prompt_tokens: reply.prompt_tokens,
            completion_tokens: 0,
            tokens_estimated: true,
        }
    }
}

#[async_trait]
impl ChatModel for ShadowPlanned {
    fn label(&self) -> String {
        self.planner.label()
    }

    fn reads_every_tool(&self) -> bool {
        self.planner.reads_every_tool()
    }

    async fn prepare(&self) -> Result<(), ModelError> {
        let (planner, second) = tokio::join!(self.planner.prepare(), self.second.prepare());
        planner.and(second)
    }

    async fn chat_streaming(&self, request: &ChatRequest, listener: Arc<dyn ReplyListener>) -> Answer {
        // Where there are no tools, nothing can be planned.
        if request.purpose != Purpose::Plan || request.tools.is_empty() {
            return self.planner.chat_streaming(request, listener).await;
        }
        let admission = self.breaker().admit(Instant::now());
        if admission != Admission::Passes {
            return self.planner.chat_streaming(request, listener).await;
        }
        let asking = self.ask_second(request);
        let mut passage = Passage { breaker: &self.breaker, is_over: false };
        let reply = self.planner.chat_streaming(request, listener).await?;
        let second = self.opinion(request, &reply, asking).await;
        passage.is_over = true;
        Ok(ChatReply { second: Some(Box::new(second)), ..reply })
    }
}

/// A question that was let pass. Given up with the planner's, it has shown nothing of the second model.
struct Passage<'s> {
    breaker: &'s Mutex<Breaker>,
    is_over: bool,
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.breaker.lock().unwrap_or_else(PoisonError::into_inner).gave_up(Instant::now());
        }
    }
}

fn no_answer(because: &str) -> SecondVerdict {
    SecondVerdict::NoAnswer { because: capped(because, TOLD_CHARACTERS) }
}

/// What a second plan says of these acts.
fn compared(request: &ChatRequest, acts: &[&ModelCall], second: &ChatReply) -> SecondVerdict {
    if acts.is_empty() {
        return SecondVerdict::NotCompared;
    }
    let (tools, others) = (tools_of(request), moving(request, &second.calls));
    let declines = second.refusal.is_some() || second.calls.iter().any(|call| call.name == DECLINE_TOOL);
    let asks = second.calls.iter().any(|call| call.name == ASK_PERSON);
    let is_moving = |call: &ModelCall| others.iter().any(|other| std::ptr::eq(*other, call));
    let is_unknown = |call: &&ModelCall| named(&tools, &call.name).is_none() && !is_moving(call);
    if let Some(call) = second.calls.iter().find(is_unknown).filter(|_| !declines && !asks) {
        // Cortex would ask it again: what it would do is not known yet.
        return no_answer(&format!("it calls '{}', and there is no tool of this name", call.name));
    }
    // Who looks first may still plan the same. Who only speaks, or says that an order is fulfilled, does not.
    let only_looks = second.calls.iter().all(|call| named(&tools, &call.name).is_some_and(looks));
    if only_looks && !second.calls.is_empty() && !declines {
        return SecondVerdict::NotCompared;
    }
    let as_tool_calls =
        |calls: &[&ModelCall]| -> Vec<ToolCall> { calls.iter().map(|call| tool_call(&tools, call)).collect() };
    let (planned, others_named) = (as_tool_calls(acts), as_tool_calls(&others));
    let more = without_counterpart(&planned, &others_named);
    let missing = without_counterpart(&others_named, &planned);
    if more.is_empty() && missing.is_empty() {
        return SecondVerdict::Same;
    }
    let words = |left: &[&ToolCall], named: &[ToolCall], calls: &[&ModelCall]| -> Vec<String> {
        let is_left = |call: &ToolCall| left.iter().any(|other| std::ptr::eq(*other, call));
        named.iter().zip(calls).filter(|(call, _)| is_left(call)).map(|(_, call)| in_words(call)).collect()
    };
    let listed = |words: Vec<String>| if words.is_empty() { "nothing".to_owned() } else { words.join("; ") };
    let instead = match words(&missing, &others_named, &others) {
        _ if declines => "decline the task".to_owned(),
        _ if asks => "ask a person first".to_owned(),
        words if words.is_empty() && others.is_empty() => "do nothing that moves".to_owned(),
        words => format!("do {}", listed(words)),
    };
    let only_planned = listed(words(&more, &planned, acts));
    let told = format!("it would {instead}; only the plan has: {only_planned}");
    SecondVerdict::Other { told: capped(&told, TOLD_CHARACTERS) }
}

/// The tools that a call may name: those of the request, and those that it tells of.
fn tools_of(request: &ChatRequest) -> Vec<&ToolDefinition> {
    let mut tools: Vec<&ToolDefinition> = request.tools.iter().collect();
    for message in &request.messages {
        let (Message::System { fragments } | Message::User { fragments }) = message else { continue };
        for fragment in fragments {
            match fragment {
                Fragment::Abilities { tools: told } => tools.extend(told),
                Fragment::Away { tools: away } => tools.extend(away.iter().map(|away| &away.tool)),
                _ => {}
            }
        }
    }
    tools
}

/// The tool of this name: the one on the wire, or the canonical one, as in `base.go_to`. A canonical name that was cut, or is
/// told apart by a hash, stays as it is written: a question too many is better than one too few.
fn named<'r>(tools: &[&'r ToolDefinition], written: &str) -> Option<&'r ToolDefinition> {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let plain: String = written.chars().map(plain).collect();
    let exact = tools.iter().copied().find(|tool| tool.name == written);
    exact.or_else(|| tools.iter().copied().find(|tool| tool.name == plain))
}

/// Whether a call of the tool only finds something out.
fn looks(tool: &ToolDefinition) -> bool {
    matches!(tool.kind, ToolKind::Look | ToolKind::LookAtOnce | ToolKind::LookAsStep)
        || [FIND_TOOLS, RECALL_STEP].contains(&tool.name.as_str())
}

/// The call by the one name that its tool has.
fn tool_call(tools: &[&ToolDefinition], call: &ModelCall) -> ToolCall {
    let arguments = match &call.arguments {
        CallArguments::Object(arguments) => arguments.clone(),
        CallArguments::Malformed { .. } => Map::new(),
    };
    let name = named(tools, &call.name).map_or(call.name.as_str(), |tool| tool.name.as_str());
    ToolCall { tool: name.into(), arguments }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
