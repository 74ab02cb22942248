//! Reading a topic of any type.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cortex_interfaces::{Message, MessageInterface};
use tokio::sync::Notify;

use super::endpoint_executor::{Endpoint, EndpointExecutor, Registration, Slot};
use crate::rcl;
use crate::{QosProfile, RosError};

/// While a publisher is waited for: how long to wait for the graph before another look. The graph says when one has come,
/// but not when the middleware has connected it, which is a moment later.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Messages that wait for a slow reader: a moment's worth. Of a topic, the latest are what counts.
const WAITING_MESSAGES: usize = 64;
/// Messages of one topic that are handed on before others get their turn.
const MESSAGES_AT_ONCE: usize = 64;

/// Reads one topic. The middleware forgets it when it is dropped.
pub struct Subscription {
    queue: Arc<Queue>,
    inlet: Arc<Inlet>,
    registration: Registration,
}

impl Subscription {
    /// Blocks for some milliseconds.
    pub(super) fn create(
        executor: &Arc<EndpointExecutor>,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
    ) -> Result<Self, RosError> {
        let queue = Arc::new(Queue::default());
        let inlet = Inlet::new(executor, topic, interface, quality, Arc::clone(&queue))?;
        let registration = executor.register(Endpoint::Inlet(Arc::clone(&inlet)))?;
        Ok(Self { queue, inlet, registration })
    }

    /// The next message. None after the shutdown.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            // Asked for first: what arrives between the look and the wait is not missed.
            let arrived = self.queue.arrived.notified();
            {
                let mut waiting = self.queue.waiting();
                if let Some(message) = waiting.messages.pop_front() {
                    return Some(message);
                }
                if waiting.ended {
                    return None;
                }
            }
            arrived.await;
        }
    }

    /// Waits until somebody publishes the topic: what is published from then on is heard.
    ///
    /// # Errors
    /// After the shutdown, or when the client library refuses the query.
    pub async fn connected(&self) -> Result<(), RosError> {
        let mut graph = self.registration.executor().graph_events();
        let mut pause = FIRST_PAUSE;
        while self.inlet.subscription()?.publishers()? == 0 {
            // Both ends of it are fine: an event, or time for another look.
            let _ = tokio::time::timeout(pause, graph.changed()).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Ok(())
    }

    /// How many messages were dropped so far because they were not taken in time. The oldest go first.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped.load(Ordering::Relaxed)
    }
}

/// What has arrived and was not taken yet.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Notify,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Message>,
    ended: bool,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Queue {
    fn message(&self, message: Message) {
        let mut waiting = self.waiting();
        waiting.messages.push_back(message);
        let oldest = if waiting.messages.len() > WAITING_MESSAGES { waiting.messages.pop_front() } else { None };
        drop(waiting);
        if oldest.is_some() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        self.arrived.notify_one();
    }

    fn ended(&self) {
        self.waiting().ended = true;
        self.arrived.notify_one();
    }
}

/// Gets the messages of a topic, on the thread of the endpoints: it must not wait for anything.
pub(super) trait Listener: Send + Sync + 'static {
    /// A message has arrived.
    fn message(&self, message: Message);

    /// No more will.
    fn ended(&self) {}
}

/// Where messages of a topic arrive.
pub(super) struct Inlet {
    subscription: Slot<rcl::subscription::Subscription>,
    listener: Arc<dyn Listener>,
}

impl Inlet {
    /// Lets a listener have the messages of a topic, until what is returned is dropped. Blocks for some milliseconds.
    pub(super) fn create(
        executor: &Arc<EndpointExecutor>,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
        listener: Arc<impl Listener>,
    ) -> Result<Registration, RosError> {
        executor.register(Endpoint::Inlet(Self::new(executor, topic, interface, quality, listener)?))
    }

    fn new(
        executor: &Arc<EndpointExecutor>,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
        listener: Arc<impl Listener>,
    ) -> Result<Arc<Self>, RosError> {
        let subscription = rcl::subscription::Subscription::create(&executor.node()?, topic, interface, quality)?;
        Ok(Arc::new(Self { subscription: Slot::new(subscription), listener }))
    }

    pub(super) fn subscription(&self) -> Result<Arc<rcl::subscription::Subscription>, RosError> {
        self.subscription.get()
    }

    pub(super) fn deliver(&self) {
        let Ok(subscription) = self.subscription() else { return };
        for _ in 0..MESSAGES_AT_ONCE {
            match subscription.take() {
                Ok(Some(message)) => self.listener.message(message),
                Ok(None) => return,
                Err(problem) => {
                    tracing::debug!("a message can't be read: {problem}");
                    return;
                }
            }
        }
    }

    pub(super) fn close(&self) {
        self.subscription.close();
        self.listener.ended();
    }
}
