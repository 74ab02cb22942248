//! The latest messages of topics, within bounds of age and size. No IO.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cortex_core::RecordedMessage;

/// What a message costs beside its bytes: its place, its times, and what the memory's owner notes of it.
const OVERHEAD: usize = 80;
/// Messages of a topic that late joiners receive: such as one of each publisher of `/tf_static`. They are kept whatever their
/// age.
const LATCHED: usize = 100;

/// The latest messages of topics.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Bytes that all messages may take.
    most_bytes: usize,
    bytes: usize,
    topics: BTreeMap<String, Kept>,
}

/// What is kept of one topic.
#[derive(Debug, Default)]
struct Kept {
    messages: VecDeque<RecordedMessage>,
    bytes: usize,
    dropped: u64,
    /// Whether late joiners receive what was sent before.
    is_latched: bool,
}

impl Ring {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, ..Self::default() }
    }

    /// Keeps messages of this topic from now on. Whoever adds messages says so first.
    pub(super) fn keep(&mut self, topic: &str, is_latched: bool) {
        self.topics.entry(topic.to_owned()).or_default().is_latched = is_latched;
    }

    /// Forgets the topic.
    pub(super) fn forget(&mut self, topic: &str) {
        let kept = self.topics.remove(topic);
        self.bytes -= kept.map_or(0, |kept| kept.bytes);
    }

    /// Adds the newest message of a topic. Where there is no room, the oldest message of the topic that takes most gives way:
    /// a camera displaces its own pictures, and not the log.
    pub(super) fn add(&mut self, topic: &str, message: RecordedMessage) {
        let Some(kept) = self.topics.get_mut(topic) else { return };
        let cost = cost(&message);
        if cost > self.most_bytes {
            kept.dropped += 1;
            return;
        }
        kept.messages.push_back(message);
        kept.bytes += cost;
        self.bytes += cost;
        while self.bytes > self.most_bytes {
            let Some(largest) = self.topics.values_mut().max_by_key(|kept| kept.bytes) else { return };
            self.bytes -= largest.drop_oldest();
            largest.dropped += 1;
        }
    }

    /// Forgets what was received before then, in nanoseconds since 1970.
    pub(super) fn forget_before(&mut self, begin_ns: u64) {
        for kept in self.topics.values_mut() {
            let most_old = if kept.is_latched { LATCHED } else { 0 };
            while kept.messages.len() > most_old
                && kept.messages.front().is_some_and(|oldest| oldest.received_ns < begin_ns)
            {
                self.bytes -= kept.drop_oldest();
            }
        }
    }

    /// What is kept of a topic, oldest first, and how many messages were dropped for want of room. The messages are shared.
    pub(super) fn of(&self, topic: &str) -> (Vec<RecordedMessage>, u64) {
        let kept = self.topics.get(topic);
        kept.map(|kept| (kept.messages.iter().cloned().collect(), kept.dropped)).unwrap_or_default()
    }
}

impl Kept {
    /// Returns what the message has cost.
    fn drop_oldest(&mut self) -> usize {
        let cost = self.messages.pop_front().as_ref().map_or(0, cost);
        self.bytes -= cost;
        cost
    }
}

fn cost(message: &RecordedMessage) -> usize {
    message.data.len() + OVERHEAD
}

/// A message to keep.
pub(super) fn message(received_ns: u64, published_ns: u64, data: &[u8]) -> RecordedMessage {
    RecordedMessage { received_ns, published_ns, data: Arc::from(data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_size(at: u64, bytes: usize) -> RecordedMessage {
        message(at, at, &vec![0; bytes])
    }

    fn times(ring: &Ring, topic: &str) -> Vec<u64> {
        ring.of(topic).0.iter().map(|message| message.received_ns).collect()
    }

    #[test]
    fn a_topic_that_takes_most_gives_way_and_the_bound_holds() {
        let mut ring = Ring::new(10_000);
        ring.keep("/camera", false);
        ring.keep("/odom", false);
        for at in 0..1_000 {
            ring.add("/camera", of_size(at, 900));
            if at % 100 == 0 {
                ring.add("/odom", of_size(at, 100));
            }
            assert!(ring.bytes <= 10_000);
        }
        assert_eq!(ring.of("/odom").0.len(), 10, "a loud topic displaces none of a quiet one");
        let (camera, dropped) = ring.of("/camera");
        assert_eq!(camera.len() as u64 + dropped, 1_000);
        assert_eq!(camera.last().map(|message| message.received_ns), Some(999));
        let counted: usize = ring.topics.values().flat_map(|kept| &kept.messages).map(cost).sum();
        assert_eq!(counted, ring.bytes);
    }

    #[test]
    fn one_message_that_is_larger_than_all_room_is_counted_and_displaces_nothing() {
        let mut ring = Ring::new(1_000);
        ring.keep("/map", false);
        ring.add("/map", of_size(1, 100));
        ring.add("/map", of_size(2, 5_000));
        assert_eq!((times(&ring, "/map"), ring.of("/map").1), (vec![1], 1));
    }

    #[test]
    fn what_is_too_old_goes_and_what_late_joiners_receive_stays() {
        let mut ring = Ring::new(1_000_000);
        ring.keep("/odom", false);
        ring.keep("/tf_static", true);
        for at in [1, 2, 50] {
            ring.add("/odom", of_size(at, 10));
            ring.add("/tf_static", of_size(at, 10));
        }
        ring.forget_before(50);
        assert_eq!(times(&ring, "/odom"), [50]);
        assert_eq!(times(&ring, "/tf_static"), [1, 2, 50]);
        for at in 51..500 {
            ring.add("/tf_static", of_size(at, 10));
        }
        ring.forget_before(500);
        assert_eq!(times(&ring, "/tf_static").len(), LATCHED);
        ring.forget("/tf_static");
        ring.forget("/odom");
        assert_eq!(ring.bytes, 0);
        ring.add("/odom", of_size(1, 10));
        assert_eq!(ring.bytes, 0, "what was forgotten takes nothing");
    }
}
