//! The model, with figures of what it was asked and what came of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use cortex_core::fragment::capped;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError};
use cortex_protocol::overview::{ModelErrorOverview, ModelOverview};

use crate::metrics::Metrics;
use crate::status::now_ms;

/// Characters of an error that are kept.
const ERROR_CHARACTERS: usize = 300;

/// A model whose requests are counted.
pub(crate) struct WatchedModel {
    inner: Arc<dyn ChatModel>,
    figures: ModelFigures,
    metrics: Metrics,
}

/// What is known of the model. Clones share it.
#[derive(Clone)]
pub(crate) struct ModelFigures(Arc<Mutex<ModelOverview>>);

impl WatchedModel {
    pub(crate) fn new(inner: Arc<dyn ChatModel>, metrics: &Metrics) -> Self {
        let name = inner.label();
        let figures = ModelFigures(Arc::new(Mutex::new(ModelOverview { name, ..ModelOverview::default() })));
        Self { inner, figures, metrics: metrics.clone() }
    }

    pub(crate) fn figures(&self) -> ModelFigures {
        self.figures.clone()
    }
}

impl ModelFigures {
    pub(crate) fn now(&self) -> ModelOverview {
        self.lock().clone()
    }

    fn note(&self, reply: &Result<ChatReply, ModelError>) {
        let mut figures = self.lock();
        figures.requests += 1;
        match reply {
            Ok(reply) => {
                figures.prompt_tokens = figures.prompt_tokens.saturating_add(reply.prompt_tokens);
                figures.completion_tokens = figures.completion_tokens.saturating_add(reply.completion_tokens);
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

    fn lock(&self) -> MutexGuard<'_, ModelOverview> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ChatModel for WatchedModel {
    fn label(&self) -> String {
        self.inner.label()
    }

    fn reads_every_tool(&self) -> bool {
        self.inner.reads_every_tool()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let asked = Instant::now();
        let reply = self.inner.chat(request).await;
        self.figures.note(&reply);
        self.metrics.model_answered(asked.elapsed(), &reply);
        reply
    }
}
