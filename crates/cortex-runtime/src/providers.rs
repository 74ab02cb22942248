//! The registered providers of tools. They come and go while the runtime runs, each with a handle of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cortex_core::ToolProvider;
use cortex_protocol::ToolSpec;
use tokio::sync::{mpsc, watch};

use crate::mission_queue::QueueMessage;
use crate::tool_registry::Audience;

/// Identifies a registered provider, in the order of registration. An id is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderId(u64);

/// The providers that are registered now, the earliest first.
pub(crate) type Registered = BTreeMap<ProviderId, Arc<dyn ToolProvider>>;

/// Owns the fact which providers are registered.
#[derive(Default)]
pub(crate) struct Providers {
    next: AtomicU64,
    registered: watch::Sender<Registered>,
}

impl Providers {
    fn register(&self, provider: Arc<dyn ToolProvider>) -> ProviderId {
        let id = ProviderId(self.next.fetch_add(1, Ordering::Relaxed));
        self.registered.send_modify(|registered| {
            registered.insert(id, provider);
        });
        id
    }

    fn remove(&self, id: ProviderId) {
        let mut removed = None;
        self.registered.send_modify(|registered| removed = registered.remove(&id));
        // Outside of the lock: a provider that ends here may hold the handles of others.
        drop(removed);
    }

    /// The provider of that id, unless it has left.
    pub(crate) fn get(&self, id: ProviderId) -> Option<Arc<dyn ToolProvider>> {
        self.registered.borrow().get(&id).map(Arc::clone)
    }

    /// Whether this provider has not left.
    pub(crate) fn has(&self, provider: &Arc<dyn ToolProvider>) -> bool {
        self.registered.borrow().values().any(|registered| Arc::ptr_eq(registered, provider))
    }

    /// The registered providers, now and later.
    pub(crate) fn watch(&self) -> watch::Receiver<Registered> {
        self.registered.subscribe()
    }
}

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
