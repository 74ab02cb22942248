//! Every message of chosen topics, of any type, as JSON, as far as their publishers and this machine keep up: what is lost
//! is said once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_core::condition::Age;
use cortex_interfaces::{MessageView, WriteLimits, WriteOptions};
use cortex_ros_client::GraphWatch;
use cortex_ros_client::clock::RosClock;
use cortex_ros_client::dynamic::Endpoints;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::Discovery;
use crate::following::{TopicFollower, TopicListener};
use crate::message_age::age_of;

/// How much of a message is read: enough for a thousand sightings.
const LIMITS: WriteLimits =
    WriteLimits { elements: 20_000, string_bytes: 4 * 1_024, binary_bytes: 0, total_bytes: 1 << 20 };
/// Messages that may wait for a slow reader. What comes then is lost, and said to be.
const WAITING: usize = 1_024;

/// A message that has come.
#[derive(Debug, Clone, PartialEq)]
pub struct HeardMessage {
    /// On which topic.
    pub topic: String,
    /// What it says. Numbers that are not finite are the words of JSON for them.
    pub message: Value,
    /// When it was made by the wall clock, in milliseconds since 1970: by its stamp, or else when it came.
    pub wall_ms: u64,
    /// Whether a publisher had it from before, and nobody knows since when: it has no stamp.
    pub is_of_unknown_age: bool,
}

/// The messages of topics. Dropping it ends the subscriptions.
pub struct TopicFeed {
    messages: mpsc::Receiver<HeardMessage>,
    _tasks: JoinSet<()>,
}

impl TopicFeed {
    /// Begins to hear these topics of the robot that was discovered. A topic that nobody publishes yet is waited for; what
    /// Cortex itself publishes is not heard. Must be called within a tokio runtime.
    #[must_use]
    pub fn start(graph: &GraphWatch, endpoints: &Endpoints, discovery: &Discovery, topics: BTreeSet<String>) -> Self {
        let follower =
            TopicFollower { graph: graph.clone(), endpoints: endpoints.clone(), discovery: discovery.clone() };
        let (sender, messages) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        for topic in topics {
            let listener = Listener {
                clock: discovery.shared().node.clock().clone(),
                topic: topic.clone(),
                sender: sender.clone(),
                is_lossy: AtomicBool::new(false),
                is_cut: AtomicBool::new(false),
                absence: Mutex::default(),
            };
            let follower = follower.clone();
            tasks.spawn(async move { follower.follow(&topic, &listener).await });
        }
        Self { messages, _tasks: tasks }
    }

    /// Waits for messages, and takes at most `most` of those that have come, in their order. Empty: none will come any more.
    /// Dropping the future loses nothing.
    pub async fn next(&mut self, most: usize) -> Vec<HeardMessage> {
        let mut taken = Vec::new();
        self.messages.recv_many(&mut taken, most).await;
        taken
    }
}

/// Hands the messages of one topic on.
struct Listener {
    topic: String,
    sender: mpsc::Sender<HeardMessage>,
    /// The clock of the stamps.
    clock: RosClock,
    /// Whether it was said that messages are lost.
    is_lossy: AtomicBool,
    /// Whether it was said that messages are longer than what is read of them.
    is_cut: AtomicBool,
    /// Why nothing can come, as it was told last.
    absence: Mutex<Option<String>>,
}

impl TopicListener for Listener {
    fn absent(&self, reason: &str) {
        let mut absence = self.absence.lock().unwrap_or_else(PoisonError::into_inner);
        if absence.as_deref() != Some(reason) {
            tracing::info!("nothing is heard on {}: {reason}", self.topic);
            *absence = Some(reason.to_owned());
        }
    }

    fn message(&self, message: MessageView<'_>, kept: bool) {
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (age, is_stamped) = match age_of(message, &self.clock) {
            Age::Stamped(age) => (age, true),
            Age::Arrival | Age::Unknown { .. } => (Duration::ZERO, false),
        };
        let written = message.to_json(&WriteOptions { limits: LIMITS, ..WriteOptions::exact() });
        if let Some(cut) = written.left_out.first()
            && !self.is_cut.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("messages of {} are longer than what is read of them; cut at {}", self.topic, cut.path);
        }
        let heard = HeardMessage {
            topic: self.topic.clone(),
            message: written.value,
            wall_ms: u64::try_from(now_ms.saturating_sub(age).as_millis()).unwrap_or(u64::MAX),
            is_of_unknown_age: kept && !is_stamped,
        };
        // A reader that is gone wants nothing more.
        if let Err(mpsc::error::TrySendError::Full(_)) = self.sender.try_send(heard) {
            self.lose();
        }
    }

    fn dropped(&self, messages: u64) {
        if messages > 0 {
            self.lose();
        }
    }

    fn wants_all(&self) -> bool {
        true
    }
}

impl Listener {
    /// Says once that messages are lost.
    fn lose(&self) {
        if !self.is_lossy.swap(true, Ordering::Relaxed) {
            tracing::warn!("messages of {} come faster than they are taken in; some are lost", self.topic);
        }
    }
}
