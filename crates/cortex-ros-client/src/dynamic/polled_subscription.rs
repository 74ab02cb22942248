//! Reading many topics that say little each, such as the heartbeats of a hundred components.
//!
//! A wait for many endpoints costs the middleware time for each of them, whichever of them something has come for: with a
//! hundred readers and a hundred messages a second, a tenth of a core. To look into each a few times a second costs a
//! hundredth of that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::{Message, MessageInterface};

use super::endpoint_executor::{Endpoint, EndpointExecutor, Registration, Slot};
use crate::graph::InstanceId;
use crate::rcl::subscription::Subscription;
use crate::{QosProfile, RosError};

/// How often it is looked whether something has come. Heartbeats are the fastest of what is read so; the shortest that a
/// recipe may ask for is four times this.
pub(super) const LOOK: Duration = Duration::from_millis(25);
/// Messages of one topic that are handed on at one look: more than its reader keeps are never there.
const MESSAGES_AT_ONCE: usize = 64;

/// Gets the messages with their publisher, on the thread of the endpoints: it must not wait for anything.
pub(super) type Hear = Box<dyn Fn(&Message, &InstanceId) + Send + Sync>;

/// Where messages of a topic lie until it is looked.
pub(super) struct PolledSubscription {
    subscription: Slot<Subscription>,
    interface: Arc<MessageInterface>,
    hear: Hear,
}

impl PolledSubscription {
    /// Gives the messages of a topic to `hear`, until what is returned is dropped. Blocks for some milliseconds.
    pub(super) fn create(
        executor: &Arc<EndpointExecutor>,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
        hear: Hear,
    ) -> Result<Registration, RosError> {
        let subscription = Slot::new(Subscription::create(&executor.node()?, topic, interface, quality)?);
        let subscription = Self { subscription, interface: Arc::clone(interface), hear };
        executor.register(Endpoint::PolledSubscription(Arc::new(subscription)))
    }

    /// Hands on what has come. `pool` are messages to read into, which are kept: almost every look finds nothing.
    pub(super) fn look(&self, pool: &mut MessagePool) {
        let Ok(subscription) = self.subscription.get() else { return };
        let message = pool.of(&self.interface);
        for _ in 0..MESSAGES_AT_ONCE {
            match subscription.take_into(message) {
                Ok(Some(publisher)) => (self.hear)(message, &publisher),
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
    }
}

/// One message of each type, used again and again.
#[derive(Default)]
pub(super) struct MessagePool(BTreeMap<*const MessageInterface, Message>);

impl MessagePool {
    fn of(&mut self, interface: &Arc<MessageInterface>) -> &mut Message {
        // The message keeps its interface, so no other one comes to lie there.
        self.0.entry(Arc::as_ptr(interface)).or_insert_with(|| Message::new(interface))
    }
}
