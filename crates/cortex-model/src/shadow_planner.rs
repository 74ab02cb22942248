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
use cortex_core::mission::{ASK_PERSON, DECLINE_TOOL};
use cortex_core::same_call::without_counterpart;
use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, ModelCall, ModelError, Purpose, ReplyListener, SecondOpinion,
    SecondVerdict,
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
        let answer = match timeout(wait, asking.join_next()).await {
            Ok(Some(Ok(Ok(answer)))) => Ok(answer),
            Ok(Some(Ok(Err(error)))) => Err(error.message),
            Ok(Some(Err(_)) | None) => Err("its adapter failed in an unforeseen way".to_owned()),
            Err(_) if acts.is_empty() => {
                self.breaker().gave_up(Instant::now());
                return self.given_up(reply, SecondVerdict::NotCompared);
            }
            Err(_) => Err(format!("it gave no answer within {:.1} s after the planner", wait.as_secs_f64())),
        };
        match answer {
            Ok(second) => {
                self.breaker().succeeded();
                let verdict = compared(request, &acts, &second);
                SecondOpinion {
                    prompt_tokens: second.prompt_tokens,
                    completion_tokens: second.completion_tokens,
                    tokens_estimated: second.tokens_estimated,
                    ..self.given_up(reply, verdict)
                }
            }
            Err(because) => {
                self.breaker().failed(Instant::now(), because.clone(), None);
                self.given_up(reply, SecondVerdict::NoAnswer { because: capped(&because, TOLD_CHARACTERS) })
            }
        }
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

/// What a second plan says of these acts.
fn compared(request: &ChatRequest, acts: &[&ModelCall], second: &ChatReply) -> SecondVerdict {
    let others = moving(request, &second.calls);
    let declines = second.refusal.is_some() || second.calls.iter().any(|call| call.name == DECLINE_TOOL);
    let asks = second.calls.iter().any(|call| call.name == ASK_PERSON);
    // Who looks first may still plan the same.
    let looks_first = others.is_empty() && !second.calls.is_empty() && !declines && !asks;
    if acts.is_empty() || looks_first || second.cut.is_some() {
        return SecondVerdict::NotCompared;
    }
    let named = |calls: &[&ModelCall]| calls.iter().map(|call| tool_call(call)).collect::<Vec<ToolCall>>();
    let (planned, others_named) = (named(acts), named(&others));
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

fn tool_call(call: &ModelCall) -> ToolCall {
    let arguments = match &call.arguments {
        CallArguments::Object(arguments) => arguments.clone(),
        CallArguments::Malformed { .. } => Map::new(),
    };
    ToolCall { tool: call.name.as_str().into(), arguments }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
