//! Several models as one: each is asked when those before it can't be.
//!
//! A request goes to the first model whose [`breaker`] lets it pass. One that fails, or takes longer than it may while another
//! is left to ask, is left alone for a while, and the next is asked. Confirmations may have a model of their own, which is
//! asked before all others. The last of all is best [reflex](crate::Reflex), which can't be down and knows what it does not
//! understand; [`standby`] keeps it from judging plans that it could not have made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, ModelUsed, Purpose, ReplyListener};
use tokio::time::{Instant, timeout};

pub(crate) mod breaker;
mod standby;

use breaker::{Admission, Breaker};
pub(crate) use standby::{LastPlanner, Standby};

/// How long the last model may take, however late it is: reflex, which may have to read what it has learnt.
const LAST_TIMEOUT: Duration = Duration::from_secs(2);

/// How the models of a chain are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainBounds {
    /// How long one model may take while another is left to ask.
    pub answer_timeout: Duration,
    /// How long all of them may take together.
    pub request_timeout: Duration,
    /// How long a model that failed is left alone; twice as long after each further failure, at most five minutes.
    pub pause: Duration,
}

impl Default for ChainBounds {
    fn default() -> Self {
        Self {
            answer_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(120),
            pause: Duration::from_secs(30),
        }
    }
}

/// Models in the order in which they are asked.
pub(crate) struct Chain {
    /// For plans and answers.
    planning: Vec<Arc<Link>>,
    /// For decisions on steps.
    confirming: Vec<Arc<Link>>,
    planner: Arc<LastPlanner>,
    bounds: ChainBounds,
}

struct Link {
    label: String,
    model: Arc<dyn ChatModel>,
    breaker: Mutex<Breaker>,
}

impl Link {
    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request to a link that was let pass. Given up, it has shown nothing of the link.
struct Passage<'l> {
    link: &'l Link,
    is_over: bool,
}

impl Passage<'_> {
    fn succeeded(mut self) {
        self.is_over = true;
        self.link.breaker().succeeded();
    }

    fn failed(mut self, error: &ModelError) {
        self.is_over = true;
        self.link.breaker().failed(Instant::now(), error.to_string(), error.retry_after);
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.link.breaker().gave_up(Instant::now());
        }
    }
}

impl Chain {
    /// These models, in this order. `confirmation` is asked first about steps, and never for a plan; none: the same as for
    /// plans.
    pub(crate) fn new(
        models: Vec<Arc<dyn ChatModel>>,
        confirmation: Option<Arc<dyn ChatModel>>,
        planner: Arc<LastPlanner>,
        bounds: ChainBounds,
    ) -> Self {
        let link = |model: Arc<dyn ChatModel>| {
            Arc::new(Link { label: model.label(), model, breaker: Mutex::new(Breaker::new(bounds.pause)) })
        };
        let planning: Vec<Arc<Link>> = models.into_iter().map(link).collect();
        let mut confirming = planning.clone();
        if let Some(model) = confirmation {
            let label = model.label();
            let known = confirming.iter().position(|link| link.label == label);
            let first = known.map_or_else(|| link(model), |at| confirming.remove(at));
            confirming.insert(0, first);
        }
        Self { planning, confirming, planner, bounds }
    }

    fn links(&self, purpose: Purpose) -> &[Arc<Link>] {
        match purpose {
            Purpose::Plan => &self.planning,
            Purpose::Confirm | Purpose::Correct => &self.confirming,
        }
    }

    /// Those whose breaker lets a request pass now; if there are none, the first all the same: a request that is not sent
    /// has failed for certain. With why each other one is left out.
    fn passages<'l>(&self, links: &'l [Arc<Link>]) -> (Vec<Passage<'l>>, Vec<String>) {
        let now = Instant::now();
        let (mut passages, mut left_out) = (Vec::new(), Vec::new());
        for link in links {
            match link.breaker().admit(now) {
                Admission::Passes => passages.push(Passage { link, is_over: false }),
                Admission::LeftAlone(because) => left_out.push(format!("{}: {because}", link.label)),
            }
        }
        if let (true, Some(link)) = (passages.is_empty(), links.first()) {
            passages.push(Passage { link, is_over: false });
        }
        (passages, left_out)
    }
}

#[async_trait]
impl ChatModel for Chain {
    fn label(&self) -> String {
        let labels: Vec<&str> = self.planning.iter().map(|link| link.label.as_str()).collect();
        labels.join(", then ")
    }

    fn reads_every_tool(&self) -> bool {
        // What it would be, if it were asked now.
        let open = |link: &&Arc<Link>| link.breaker().is_closed();
        self.planning.iter().find(open).is_some_and(|link| link.model.reads_every_tool())
    }

    /// Each of them, one after the other. One that can't be got ready is left alone for a while.
    async fn prepare(&self) -> Result<(), ModelError> {
        let mut prepared = Ok(());
        let is_new = |link: &&Arc<Link>| !self.planning.iter().any(|other| Arc::ptr_eq(link, other));
        for link in self.planning.iter().chain(self.confirming.iter().filter(is_new)) {
            if let Err(error) = link.model.prepare().await {
                Passage { link, is_over: false }.failed(&error);
                prepared = prepared.and(Err(error));
            }
        }
        prepared
    }

    async fn chat_streaming(
        &self,
        request: &ChatRequest,
        listener: Arc<dyn ReplyListener>,
    ) -> Result<ChatReply, ModelError> {
        let deadline = Instant::now() + self.bounds.request_timeout;
        let links = self.links(request.purpose);
        let wanted = links.first().map(|link| link.label.clone()).unwrap_or_default();
        let (passages, mut failures) = self.passages(links);
        let mut last = None;
        let mut left = passages.len();
        for passage in passages {
            left -= 1;
            let remaining = deadline.saturating_duration_since(Instant::now());
            let allowed =
                if left > 0 { remaining.min(self.bounds.answer_timeout) } else { remaining.max(LAST_TIMEOUT) };
            let label = passage.link.label.clone();
            let error = match timeout(allowed, passage.link.model.chat_streaming(request, Arc::clone(&listener))).await
            {
                Ok(Ok(reply)) => {
                    passage.succeeded();
                    if request.purpose == Purpose::Plan {
                        self.planner.note(&label);
                    }
                    let because = if label == wanted { String::new() } else { failures.join("; ") };
                    return Ok(ChatReply { used: Some(ModelUsed { model: label, wanted, because }), ..reply });
                }
                // It is there and has spoken; to ask another one for the rest would be no better.
                Ok(Err(error)) if error.kind == ModelErrorKind::CutReply => {
                    passage.succeeded();
                    return Err(error);
                }
                Ok(Err(error)) => error,
                Err(_) => too_slow(allowed),
            };
            passage.failed(&error);
            tracing::warn!(model = %label, "the model can't be used: {error}");
            failures.push(format!("{label}: {error}"));
            last = Some(error);
        }
        let last = last.unwrap_or_else(|| too_slow(self.bounds.request_timeout));
        Err(ModelError { message: format!("none of the models can be used: {}", failures.join("; ")), ..last })
    }
}

fn too_slow(allowed: Duration) -> ModelError {
    ModelError {
        kind: ModelErrorKind::Timeout,
        message: format!("it gave no answer within {:.1} s", allowed.as_secs_f64()),
        hint: String::new(),
        retry_after: None,
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
