//! The port for what an incident keeps beside a mission's own record: the latest messages of chosen topics, and how the robot
//! was set up.

use std::sync::Arc;
use std::time::Duration;

/// What was kept in memory for an incident, and what belongs to it of this process.
pub trait IncidentPort: Send + Sync + 'static {
    /// The latest messages of the topics that the configuration chose. Answers at once: messages are shared, not copied.
    fn topics(&self) -> TopicSlice;

    /// Texts about this process, without secrets: the configuration, the recipe, the log. Reads files: blocks.
    fn texts(&self) -> Vec<IncidentText>;
}

/// A file of an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncidentText {
    /// The name of the file, such as `configuration.toml`.
    pub name: &'static str,
    /// What it holds.
    pub text: String,
}

/// The latest messages of chosen topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicSlice {
    /// How far back it reaches at most. Zero: no messages are kept.
    pub reach: Duration,
    /// The topics that were recorded, by name.
    pub topics: Vec<RecordedTopic>,
    /// The topics that were chosen and are not recorded, by name.
    pub left_out: Vec<LeftOutTopic>,
}

/// A topic with its latest messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTopic {
    /// Fully qualified.
    pub topic: String,
    /// Such as `nav_msgs/msg/Odometry`.
    pub type_name: String,
    /// The text of the type's interface file, with those of all types that it consists of, as bags hold it (`ros2msg`).
    pub definition: String,
    /// The hash of the type, such as `RIHS01_8b3c…`. Empty where the publishers tell none.
    pub type_hash: String,
    /// What the publishers offer, once for each kind of offer.
    pub offered: Vec<OfferedQuality>,
    /// The messages, in the order in which they arrived.
    pub messages: Vec<RecordedMessage>,
    /// How many messages within reach were dropped, because there was no room for them.
    pub dropped: u64,
}

/// What a publisher offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OfferedQuality {
    /// Whether messages that are lost on the way are sent again.
    pub is_reliable: bool,
    /// Whether late joiners receive messages that were sent before.
    pub is_transient_local: bool,
}

/// A message as it was on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedMessage {
    /// When it arrived, in nanoseconds since 1970.
    pub received_ns: u64,
    /// When it was published, in nanoseconds since 1970; when it arrived, where the middleware does not tell that.
    pub published_ns: u64,
    /// The message in CDR, with its four bytes of encapsulation.
    pub data: Arc<[u8]>,
}

/// A topic that was chosen and is not recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOutTopic {
    /// Fully qualified, or the pattern that was chosen.
    pub topic: String,
    /// Why, for people.
    pub reason: String,
}
