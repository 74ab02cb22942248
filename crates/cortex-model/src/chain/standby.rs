//! Reflex in place of a model that can't be asked.
//!
//! It says yes only to steps of its own plans: of another model's plan it does not know what else the task depends on. Such a
//! plan ends once nothing is in flight, and reflex makes one of its own, as far as it understands the task.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, Purpose, ReplyListener};

use crate::reflex::{Reflex, confirm_taking_over};

/// Which model has made the last plan or answer.
#[derive(Debug, Default)]
pub(crate) struct LastPlanner(Mutex<String>);

impl LastPlanner {
    pub(super) fn note(&self, label: &str) {
        label.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn is(&self, label: &str) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) == label
    }
}

/// Reflex, where another model is asked first.
pub(crate) struct Standby {
    reflex: Reflex,
    planner: Arc<LastPlanner>,
}

impl Standby {
    pub(crate) fn new(reflex: Reflex, planner: Arc<LastPlanner>) -> Self {
        Self { reflex: reflex.taking_over(), planner }
    }
}

#[async_trait]
impl ChatModel for Standby {
    fn label(&self) -> String {
        self.reflex.label()
    }

    fn reads_every_tool(&self) -> bool {
        self.reflex.reads_every_tool()
    }

    async fn chat_streaming(&self, request: &ChatRequest, _: Arc<dyn ReplyListener>) -> Result<ChatReply, ModelError> {
        if request.purpose == Purpose::Confirm && !self.planner.is(&self.label()) {
            return Ok(confirm_taking_over(request));
        }
        self.reflex.chat(request).await
    }
}
