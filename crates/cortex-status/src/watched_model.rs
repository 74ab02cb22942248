//! The model, with figures of what it was asked and what came of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use cortex_core::fragment::capped;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, ReplyListener, SecondOpinion, SecondVerdict};
use cortex_protocol::overview::{ModelErrorOverview, ModelOverview, SecondModelOverview, StandbyModelOverview};

use crate::{Metrics, now_ms};

/// Characters of an error that are kept.
const ERROR_CHARACTERS: usize = 300;

/// Counts what models are asked and what comes of it, whichever is asked at the time. Clones share the figures.
#[derive(Clone)]
pub struct ModelWatch {
    figures: Arc<Mutex<ModelOverview>>,
    metrics: Metrics,
}

impl ModelWatch {
    /// Also counts in these.
    pub fn new(metrics: &Metrics) -> Self {
        Self { figures: Arc::default(), metrics: metrics.clone() }
    }

    /// The same model, whose requests are counted from now on. It is the one that is told of.
    pub fn watched(&self, model: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        let mut figures = self.figures();
        figures.name = model.label();
        figures.standbys.clear();
        figures.second = None;
        drop(figures);
        Arc::new(WatchedModel { inner: model, watch: self.clone() })
    }

    /// What was counted so far.
    pub fn now(&self) -> ModelOverview {
        self.figures().clone()
    }

    /// Where else it is counted.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn note(&self, reply: &Result<ChatReply, ModelError>) {
        let mut figures = self.figures();
        figures.requests += 1;
        match reply {
            Ok(reply) => {
                if let Some(used) = &reply.used {
                    figures.standbys.retain(|earlier| earlier.wanted != used.wanted);
                    if used.model != used.wanted {
                        figures.standbys.push(StandbyModelOverview {
                            wanted: used.wanted.clone(),
                            model: used.model.clone(),
                            because: capped(&used.because, ERROR_CHARACTERS),
                        });
                    }
                }
                figures.prompt_tokens = figures.prompt_tokens.saturating_add(reply.prompt_tokens);
                figures.completion_tokens = figures.completion_tokens.saturating_add(reply.completion_tokens);
                figures.tokens_estimated |= reply.tokens_estimated;
                if let Some(second) = &reply.second {
                    figures.prompt_tokens = figures.prompt_tokens.saturating_add(second.prompt_tokens);
                    figures.completion_tokens = figures.completion_tokens.saturating_add(second.completion_tokens);
                    figures.tokens_estimated |= second.tokens_estimated;
                    if figures.second.is_some() || second.verdict != SecondVerdict::NotCompared {
                        note_opinion(figures.second.get_or_insert_default(), second);
                    }
                }
                if let Some(error) = &mut figures.last_error {
                    error.is_over = true;
                }
            }
            Err(error) => {
                figures.errors += 1;
                figures.last_error = Some(told(error));
            }
        }
    }

    /// Notes why the model is not ready, before anything was asked.
    fn note_not_ready(&self, error: &ModelError) {
        self.figures().last_error = Some(told(error));
    }

    fn figures(&self) -> MutexGuard<'_, ModelOverview> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note_opinion(overview: &mut SecondModelOverview, second: &SecondOpinion) {
    if overview.name != second.model {
        *overview = SecondModelOverview { name: second.model.clone(), ..SecondModelOverview::default() };
    }
    match &second.verdict {
        SecondVerdict::Same => overview.same += 1,
        SecondVerdict::Other { told } => {
            overview.otherwise += 1;
            overview.last_otherwise = capped(told, ERROR_CHARACTERS);
        }
        SecondVerdict::NoAnswer { .. } => overview.unanswered += 1,
        SecondVerdict::NotCompared => {}
    }
}

fn told(error: &ModelError) -> ModelErrorOverview {
    let message = capped(&error.to_string(), ERROR_CHARACTERS);
    ModelErrorOverview { message, at_ms: now_ms(), is_over: false }
}

/// A model whose requests are counted.
struct WatchedModel {
    inner: Arc<dyn ChatModel>,
    watch: ModelWatch,
}

#[async_trait]
impl ChatModel for WatchedModel {
    fn label(&self) -> String {
        self.inner.label()
    }

    fn reads_every_tool(&self) -> bool {
        self.inner.reads_every_tool()
    }

    async fn prepare(&self) -> Result<(), ModelError> {
        let prepared = self.inner.prepare().await;
        if let Err(error) = &prepared {
            self.watch.note_not_ready(error);
        }
        prepared
    }

    async fn chat_streaming(
        &self,
        request: &ChatRequest,
        listener: Arc<dyn ReplyListener>,
    ) -> Result<ChatReply, ModelError> {
        let asked = Instant::now();
        let reply = self.inner.chat_streaming(request, listener).await;
        self.watch.note(&reply);
        self.watch.metrics.model_answered(asked.elapsed(), &reply);
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opinion(model: &str, verdict: SecondVerdict) -> SecondOpinion {
        SecondOpinion {
            model: model.to_owned(),
            verdict,
            doubts: false,
            prompt_tokens: 1,
            completion_tokens: 1,
            tokens_estimated: false,
        }
    }

    #[test]
    fn what_a_second_model_says_is_counted_and_another_one_begins_anew() {
        let other = |told: &str| SecondVerdict::Other { told: told.to_owned() };
        let no_answer = SecondVerdict::NoAnswer { because: "it is away".to_owned() };
        let mut overview = SecondModelOverview::default();
        for verdict in [SecondVerdict::Same, other("first"), SecondVerdict::NotCompared, no_answer, other("last")] {
            note_opinion(&mut overview, &opinion("small", verdict));
        }
        let told = SecondModelOverview {
            name: "small".to_owned(),
            same: 1,
            otherwise: 2,
            unanswered: 1,
            last_otherwise: "last".to_owned(),
        };
        assert_eq!(overview, told);
        note_opinion(&mut overview, &opinion("large", SecondVerdict::Same));
        assert_eq!((overview.name.as_str(), overview.same, overview.otherwise), ("large", 1, 0));
    }
}
