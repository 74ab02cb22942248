//! What the thread waits for: the endpoints there are, and the node that they belong to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_interfaces::Interfaces;
use tokio::sync::watch;

use super::polled_subscription::PolledSubscription;
use super::publisher::Outlet;
use super::service_client::Requests;
use super::subscription::Inlet;
use super::turns::AllTurns;
use crate::RosError;
use crate::rcl::context::{GuardCondition, Node};
use crate::rcl::subscription::Subscription;

/// More endpoints than any robot needs: whoever makes so many has lost count, and a wait gets slower with each.
const ENDPOINT_LIMIT: usize = 4096;

/// The endpoints of this process. Everything of the client library is in `open`, so that nothing of it outlives the
/// shutdown, whoever still has a handle.
pub(super) struct EndpointExecutor {
    open: Mutex<Option<Open>>,
    graph: watch::Sender<u64>,
    /// For what every action has: its states, and the service that cancels.
    pub(super) own_interfaces: Interfaces,
    /// How many requests are at each service.
    pub(super) turns: AllTurns,
}

struct Open {
    node: Arc<Node>,
    wake: Arc<GuardCondition>,
    endpoints: BTreeMap<u64, Endpoint>,
    /// The number of the next endpoint.
    next: u64,
    /// Changes with the set of endpoints.
    generation: u64,
    /// What nobody has any more. Destroyed one after the other, since the middleware stands still meanwhile.
    dropped: VecDeque<Endpoint>,
}

/// One endpoint.
#[derive(Clone)]
pub(super) enum Endpoint {
    Requests(Arc<Requests>),
    Inlet(Arc<Inlet>),
    PolledSubscription(Arc<PolledSubscription>),
    Outlet(Arc<Outlet>),
    Glance(Arc<Slot<Subscription>>),
}

impl Endpoint {
    fn close(&self) {
        match self {
            Self::Requests(requests) => requests.close(),
            Self::Inlet(inlet) => inlet.close(),
            Self::PolledSubscription(subscription) => subscription.close(),
            Self::Outlet(outlet) => outlet.close(),
            Self::Glance(subscription) => subscription.close(),
        }
    }
}

impl EndpointExecutor {
    /// `graph` counts the events of the graph, whoever sees them first: all nodes of a context have one condition for them,
    /// which tells each event to one waiting thread only.
    pub(super) fn new(node: Arc<Node>, wake: Arc<GuardCondition>, graph: watch::Sender<u64>) -> Arc<Self> {
        let open = Open { node, wake, endpoints: BTreeMap::new(), next: 0, generation: 0, dropped: VecDeque::new() };
        let own_interfaces = Interfaces::from_environment();
        Arc::new(Self { open: Mutex::new(Some(open)), graph, own_interfaces, turns: AllTurns::default() })
    }

    /// The node that endpoints are made on.
    ///
    /// # Errors
    /// After the shutdown.
    pub(super) fn node(&self) -> Result<Arc<Node>, RosError> {
        self.lock().as_ref().map(|open| Arc::clone(&open.node)).ok_or(RosError::ShutDown)
    }

    /// Changes with each event of the graph. Whoever looks at the graph should look again then.
    pub(super) fn graph_events(&self) -> watch::Receiver<u64> {
        self.graph.subscribe()
    }

    pub(super) fn graph_changed(&self) {
        self.graph.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Lets the thread wait for an endpoint, until what is returned is dropped.
    ///
    /// # Errors
    /// After the shutdown, and when there are too many.
    pub(super) fn register(self: &Arc<Self>, endpoint: Endpoint) -> Result<Registration, RosError> {
        let mut guard = self.lock();
        let open = guard.as_mut().ok_or(RosError::ShutDown)?;
        if open.endpoints.len() + open.dropped.len() >= ENDPOINT_LIMIT {
            return Err(RosError::TooMany { what: "endpoints", limit: ENDPOINT_LIMIT });
        }
        let number = open.next;
        open.next += 1;
        open.endpoints.insert(number, endpoint);
        open.changed();
        Ok(Registration { executor: Arc::clone(self), number })
    }

    fn remove(&self, number: u64) {
        let mut guard = self.lock();
        let Some(open) = guard.as_mut() else { return };
        if let Some(endpoint) = open.endpoints.remove(&number) {
            open.dropped.push_back(endpoint);
            open.changed();
        }
    }

    /// Destroys one of the endpoints that nobody has any more. Returns whether there are others.
    pub(super) fn destroy_one(&self) -> bool {
        let mut guard = self.lock();
        let Some(open) = guard.as_mut() else { return false };
        let dropped = open.dropped.pop_front();
        let are_others = !open.dropped.is_empty();
        drop(guard);
        // Without the lock: it takes a while.
        drop(dropped);
        are_others
    }

    /// The endpoints, and their generation. None after the shutdown.
    pub(super) fn endpoints(&self) -> Option<(u64, Vec<Endpoint>)> {
        let guard = self.lock();
        let open = guard.as_ref()?;
        Some((open.generation, open.endpoints.values().cloned().collect()))
    }

    /// Whether the endpoints are still those of that generation.
    pub(super) fn is_at(&self, generation: u64) -> bool {
        self.lock().as_ref().is_some_and(|open| open.generation == generation)
    }

    /// Ends everything: whoever waits is told, and what was made is given back. Later calls do nothing.
    pub(super) fn close(&self) {
        let Some(open) = self.lock().take() else { return };
        for endpoint in open.endpoints.values() {
            endpoint.close();
        }
        open.wake.trigger();
        self.graph_changed();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        // What is in it is whole at every moment.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn changed(&mut self) {
        self.generation += 1;
        self.wake.trigger();
    }
}

/// Keeps an endpoint among those that are waited for.
pub(super) struct Registration {
    executor: Arc<EndpointExecutor>,
    number: u64,
}

impl Registration {
    pub(super) fn executor(&self) -> &Arc<EndpointExecutor> {
        &self.executor
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.executor.remove(self.number);
    }
}

/// Something of the client library that is given back at the shutdown, whoever still has a handle.
pub(super) struct Slot<T>(Mutex<Option<Arc<T>>>);

impl<T> Slot<T> {
    pub(super) fn new(content: T) -> Self {
        Self(Mutex::new(Some(Arc::new(content))))
    }

    /// # Errors
    /// After the shutdown.
    pub(super) fn get(&self) -> Result<Arc<T>, RosError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(RosError::ShutDown)
    }

    pub(super) fn close(&self) {
        let content = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(content);
    }
}
