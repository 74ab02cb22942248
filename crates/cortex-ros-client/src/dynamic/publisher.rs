//! Publishing a topic of any type.

use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::{Message, MessageInterface};

use super::endpoint_executor::{Endpoint, EndpointExecutor, Registration, Slot};
use crate::rcl;
use crate::{QosProfile, RosError};

/// While a reader is waited for: how long to wait for the graph before another look. The graph says when one has come, but
/// not when the middleware has matched it with the publisher, which is a moment later.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Publishes one topic. The middleware forgets it, and what it published, when it is dropped.
pub struct Publisher {
    outlet: Arc<Outlet>,
    topic: String,
    registration: Registration,
}

impl Publisher {
    /// Blocks for some milliseconds.
    pub(super) fn create(
        executor: &Arc<EndpointExecutor>,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
    ) -> Result<Self, RosError> {
        let publisher = rcl::publisher::Publisher::create(&executor.node()?, topic, interface, quality)?;
        let outlet = Arc::new(Outlet { publisher: Slot::new(publisher) });
        let registration = executor.register(Endpoint::Outlet(Arc::clone(&outlet)))?;
        Ok(Self { outlet, topic: topic.to_owned(), registration })
    }

    /// Waits until somebody reads the topic. What is published before is lost, unless the quality keeps it.
    ///
    /// # Errors
    /// [`RosError::NoReader`] when nobody comes within `limit`, [`RosError::ShutDown`] after the shutdown.
    pub async fn wait_for_reader(&self, limit: Duration) -> Result<(), RosError> {
        let mut graph = self.registration.executor().graph_events();
        let read = async {
            let mut pause = FIRST_PAUSE;
            while self.readers()? == 0 {
                // Both ends of it are fine: an event, or time for another look.
                let _ = tokio::time::timeout(pause, graph.changed()).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Ok(())
        };
        match tokio::time::timeout(limit, read).await {
            Ok(read) => read,
            Err(_) => Err(RosError::NoReader { topic: self.topic.clone(), waited: limit }),
        }
    }

    /// How many subscriptions get what is published.
    ///
    /// # Errors
    /// After the shutdown, or when the client library refuses the query.
    pub fn readers(&self) -> Result<usize, RosError> {
        self.outlet.publisher.get()?.readers()
    }

    /// Publishes a message. That it was published does not say that anybody got it.
    ///
    /// # Errors
    /// When the message is one of another type, when it can't be sent, and after the shutdown.
    pub fn publish(&self, message: &Message) -> Result<(), RosError> {
        self.outlet.publisher.get()?.publish(message)
    }
}

impl Publisher {
    /// Waits until all who read reliably have confirmed what was published; gives whether they have within `limit`. To be
    /// called before the publisher is dropped: a reader that has just come may not know the publisher yet, and gets the
    /// message when it does. False says nothing of the message: a reader that was killed never confirms, and one that got it
    /// late may do so at the middleware's next heartbeat only (with Fast DDS up to 3 s later).
    ///
    /// # Errors
    /// After the shutdown, or when the client library refuses.
    pub async fn confirmed(&self, limit: Duration) -> Result<bool, RosError> {
        let outlet = Arc::clone(&self.outlet);
        let waiting = move || outlet.publisher.get()?.wait_until_confirmed(limit);
        // It fails only when the runtime ends.
        tokio::task::spawn_blocking(waiting).await.unwrap_or(Err(RosError::ShutDown))
    }
}

/// Where messages go out.
pub(super) struct Outlet {
    publisher: Slot<rcl::publisher::Publisher>,
}

impl Outlet {
    pub(super) fn close(&self) {
        self.publisher.close();
    }
}
