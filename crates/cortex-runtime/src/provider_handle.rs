//! The handle by which a provider offers its tools, and leaves.

use std::sync::Arc;

use cortex_core::ToolProvider;
use cortex_protocol::ToolSpec;
use tokio::sync::mpsc;

use crate::mission_queue::QueueMessage;
use crate::providers::{ProviderId, Providers};
use crate::tool_registry::Audience;

/// The registration of one provider of tools. Dropping it lets the provider leave: its tools are no longer on offer, running
/// missions are told, and no new call reaches it. A call under way goes on to its end, and a call that did not confirm that it
/// is at rest can still be halted.
///
/// Of two tools with one name, the provider that was registered earlier carries out the call.
#[must_use = "the provider leaves when its handle is dropped"]
pub struct ProviderHandle {
    id: ProviderId,
    providers: Arc<Providers>,
    mission_queue: mpsc::Sender<QueueMessage>,
}

impl ProviderHandle {
    pub(crate) fn register(
        provider: Arc<dyn ToolProvider>,
        providers: Arc<Providers>,
        mission_queue: mpsc::Sender<QueueMessage>,
    ) -> Self {
        Self { id: providers.register(provider), providers, mission_queue }
    }

    /// Identifies the provider in [`ToolRegistry::routes`](crate::ToolRegistry::routes).
    #[must_use]
    pub fn id(&self) -> ProviderId {
        self.id
    }

    /// Replaces the tools that the provider offers to missions and clients. Running missions are told.
    pub async fn offer_tools(&self, tools: Vec<ToolSpec>) {
        self.offer_to(Audience::Everyone, tools).await;
    }

    /// Replaces the tools of the provider that are for [`Runtime::call`](crate::Runtime::call) alone: models are not told of
    /// them.
    pub async fn offer_to_clients(&self, tools: Vec<ToolSpec>) {
        self.offer_to(Audience::Clients, tools).await;
    }

    async fn offer_to(&self, audience: Audience, tools: Vec<ToolSpec>) {
        // A closed mission queue means that the runtime is down; then no tools are needed.
        let _ = self.mission_queue.send(QueueMessage::OfferTools { provider: self.id, audience, tools }).await;
    }

    /// Lets the provider leave, as dropping the handle does.
    pub fn leave(self) {}
}

impl Drop for ProviderHandle {
    fn drop(&mut self) {
        self.providers.remove(self.id);
    }
}
