//! The model, with figures of what it was asked and what came of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use cortex_core::fragment::capped;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, ReplyListener};
use cortex_protocol::overview::{ModelErrorOverview, ModelOverview, StandbyModelOverview};

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
                }
                if let Some(error) = &mut figures.last_error {
                    error.is_over = true;
                }
            }
            Err(error) => {
                figures.errors += 1;
                let message = capped(&error.to_string(), ERROR_CHARACTERS);
                figures.last_error = Some(ModelErrorOverview { message, at_ms: now_ms(), is_over: false });
            }
        }
    }

    fn figures(&self) -> MutexGuard<'_, ModelOverview> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
