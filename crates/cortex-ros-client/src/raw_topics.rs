//! Messages of topics as they are on the wire, for whoever keeps them unread.
//!
//! Nothing waits for them: they lie with the middleware until the thread that keeps them takes them, which costs other threads
//! nothing.

use std::sync::Arc;

use cortex_interfaces::MessageInterface;

use crate::qos::{Durability, QosProfile, Reliability};
use crate::rcl::announced::{End, Naming, announced};
use crate::rcl::context::Node;
use crate::rcl::subscription::{SerializedBuffer, Subscription};
use crate::{GraphWatch, RosError};

/// Subscriptions of one thread, on a hidden node of their own.
pub struct RawTopics {
    node: Arc<Node>,
}

/// One publisher of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicPublisher {
    /// The type, such as `nav_msgs/msg/Odometry`.
    pub type_name: String,
    /// The hash of the type. None where it tells none.
    pub type_hash: Option<String>,
    /// What it offers.
    pub reliability: Reliability,
    /// The same.
    pub durability: Durability,
}

/// A message as it was on the wire.
#[derive(Debug, Clone, Copy)]
pub struct RawMessage<'a> {
    /// When it was published, in nanoseconds since 1970. None where the middleware does not tell.
    pub published_ns: Option<u64>,
    /// When it arrived here. The same.
    pub received_ns: Option<u64>,
    /// The message in CDR, with its encapsulation.
    pub data: &'a [u8],
}

impl RawTopics {
    /// Makes the node. Blocks for some milliseconds.
    ///
    /// # Errors
    /// When ROS refuses, and after the shutdown.
    pub fn create(graph: &GraphWatch) -> Result<Self, RosError> {
        Ok(Self { node: Node::create(&graph.context()?, &format!("_cortex_topics_{}", std::process::id()))? })
    }

    /// Who publishes a topic now.
    ///
    /// # Errors
    /// When the client library refuses.
    pub fn publishers(&self, topic: &str) -> Result<Vec<TopicPublisher>, RosError> {
        let found = announced(&self.node, topic, Naming::Ros, End::Publishers)?;
        let publisher = |end: crate::rcl::announced::Announced| TopicPublisher {
            type_name: end.topic_type,
            type_hash: end.type_hash,
            reliability: end.reliability,
            durability: end.durability,
        };
        Ok(found.into_iter().map(publisher).collect())
    }

    /// Subscribes to a topic. The middleware forgets it when what is returned is dropped. Blocks for some milliseconds.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none.
    pub fn subscribe(
        &self,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
    ) -> Result<RawSubscription, RosError> {
        let subscription = Subscription::create(&self.node, topic, interface, quality)?;
        Ok(RawSubscription { subscription, buffer: SerializedBuffer::new() })
    }
}

/// A topic that is read.
pub struct RawSubscription {
    subscription: Subscription,
    buffer: SerializedBuffer,
}

impl RawSubscription {
    /// The next message that has arrived, if one has.
    ///
    /// # Errors
    /// When the middleware refuses.
    pub fn take(&mut self) -> Result<Option<RawMessage<'_>>, RosError> {
        let Some((published, received)) = self.subscription.take_serialized(&mut self.buffer)? else {
            return Ok(None);
        };
        let told = |at: i64| u64::try_from(at).ok().filter(|at| *at > 0);
        Ok(Some(RawMessage { published_ns: told(published), received_ns: told(received), data: self.buffer.bytes() }))
    }
}
