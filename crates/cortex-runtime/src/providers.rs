//! The registered providers of tools. They come and go while the runtime runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cortex_core::ToolProvider;
use tokio::sync::watch;

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
    pub(crate) fn register(&self, provider: Arc<dyn ToolProvider>) -> ProviderId {
        let id = ProviderId(self.next.fetch_add(1, Ordering::Relaxed));
        self.registered.send_modify(|registered| {
            registered.insert(id, provider);
        });
        id
    }

    pub(crate) fn remove(&self, id: ProviderId) {
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
