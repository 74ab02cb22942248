//! Reading the latest message of a topic, as often as its reader wants one.
//!
//! For large messages that people look at, such as pictures: they are read on the thread of their reader, not on that of the
//! endpoints, and what comes between two looks is dropped by the middleware, unread.

use std::sync::Arc;

use cortex_interfaces::{Message, MessageInterface};

use super::Endpoints;
use super::endpoint_executor::{Endpoint, Registration, Slot};
use crate::rcl::subscription::Subscription;
use crate::{QosProfile, RosError};

/// Messages that are taken at one look. The middleware keeps one for each publisher.
const MESSAGES_AT_ONCE: usize = 16;

/// Reads one topic at times. The middleware forgets it when it is dropped.
pub struct Glance {
    subscription: Arc<Slot<Subscription>>,
    _registration: Registration,
}

impl Glance {
    /// The latest message that has come since the last look. Blocks for as long as it takes to read it.
    ///
    /// # Errors
    /// When it can't be read, and after the shutdown.
    pub fn take(&mut self) -> Result<Option<Message>, RosError> {
        let subscription = self.subscription.get()?;
        let mut latest = None;
        for _ in 0..MESSAGES_AT_ONCE {
            match subscription.take()? {
                Some(message) => latest = Some(message),
                None => break,
            }
        }
        Ok(latest)
    }
}

impl Endpoints {
    /// Reads the latest message of a topic whenever it is asked for. `topic` is fully qualified; of the profile, the depth
    /// does not count.
    ///
    /// # Errors
    /// As for [`subscribe`](Self::subscribe).
    pub async fn glance(
        &self,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
    ) -> Result<Glance, RosError> {
        let (topic, interface) = (topic.to_owned(), Arc::clone(interface));
        self.make(move |executor| {
            let subscription = Subscription::create(&executor.node()?, &topic, &interface, quality.keep_last(1))?;
            let subscription = Arc::new(Slot::new(subscription));
            let registration = executor.register(Endpoint::Glance(Arc::clone(&subscription)))?;
            Ok(Glance { subscription, _registration: registration })
        })
        .await
    }
}
