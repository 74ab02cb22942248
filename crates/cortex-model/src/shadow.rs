//! Reflex beside another model: it reads each task that the other one plans, and says where the plan acts otherwise.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, Purpose, ReplyListener};

use crate::ModelChoice;
use crate::reflex::doubt;

/// A model whose plans reflex compares with the task.
pub(crate) struct Shadowed(pub(crate) Arc<dyn ChatModel>);

#[async_trait]
impl ChatModel for Shadowed {
    fn label(&self) -> String {
        self.0.label()
    }

    fn reads_every_tool(&self) -> bool {
        self.0.reads_every_tool()
    }

    async fn prepare(&self) -> Result<(), ModelError> {
        self.0.prepare().await
    }

    async fn chat_streaming(
        &self,
        request: &ChatRequest,
        listener: Arc<dyn ReplyListener>,
    ) -> Result<ChatReply, ModelError> {
        let mut reply = self.0.chat_streaming(request, listener).await?;
        let is_by_reflex = reply.used.as_ref().is_some_and(|used| used.model == ModelChoice::Reflex.to_string());
        if request.purpose == Purpose::Plan && !is_by_reflex {
            reply.doubt = doubt(request, &reply.calls);
        }
        Ok(reply)
    }
}
