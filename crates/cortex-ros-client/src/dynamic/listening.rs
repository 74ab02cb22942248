//! Hearing a topic of any type at once, without a task.

use std::sync::Arc;

use cortex_interfaces::{Message, MessageInterface};

use super::Endpoints;
use super::endpoint_executor::Registration;
use super::polled_subscription::PolledSubscription;
use super::subscription::{Inlet, Listener};
use crate::graph::InstanceId;
use crate::{QosProfile, RosError};

/// A topic is heard. The middleware forgets it when this is dropped.
pub struct Listening {
    _registration: Registration,
}

struct Ear<F>(F);

impl<F: Fn(&Message) + Send + Sync + 'static> Listener for Ear<F> {
    fn message(&self, message: Message) {
        (self.0)(&message);
    }
}

impl Endpoints {
    /// Gives every message of a topic to `hear`, on the thread of the endpoints: it must not wait for anything. So what
    /// comes is heard also when no task runs any more. `topic` is fully qualified.
    ///
    /// # Errors
    /// As for [`subscribe`](Self::subscribe).
    pub async fn listen(
        &self,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
        hear: impl Fn(&Message) + Send + Sync + 'static,
    ) -> Result<Listening, RosError> {
        let (topic, interface) = (topic.to_owned(), Arc::clone(interface));
        self.make(move |executor| {
            let registration = Inlet::create(executor, &topic, &interface, quality, Arc::new(Ear(hear)))?;
            Ok(Listening { _registration: registration })
        })
        .await
    }

    /// The same for one of many topics that say little each: what comes is heard within
    /// 25 ms, with the identity of its publisher. To wait for hundreds of them would cost more than to look.
    ///
    /// # Errors
    /// As for [`subscribe`](Self::subscribe).
    pub async fn listen_at_times(
        &self,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
        hear: impl Fn(&Message, &InstanceId) + Send + Sync + 'static,
    ) -> Result<Listening, RosError> {
        let (topic, interface) = (topic.to_owned(), Arc::clone(interface));
        self.make(move |executor| {
            let registration = PolledSubscription::create(executor, &topic, &interface, quality, Box::new(hear))?;
            Ok(Listening { _registration: registration })
        })
        .await
    }
}
