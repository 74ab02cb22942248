//! Which topics are recorded, as what, and with which quality. No IO.

use std::collections::BTreeSet;

use cortex_core::OfferedQuality;
use cortex_discovery_policy::{Policy, TopicChoice};
use cortex_ros_client::QosProfile;
use cortex_ros_client::graph::Graph;
use cortex_ros_client::qos::{Durability, Reliability};
use cortex_ros_client::raw_topics::TopicPublisher;

/// Topics that are recorded at most; others are named as left out.
pub(super) const MOST_TOPICS: usize = 64;
/// Messages that the middleware keeps between two looks: those of a topic of 5,000 a second.
const WAITING: usize = 256;

/// The topics of the graph that were chosen, in order: those that somebody publishes, and the names.
pub(super) fn topics(choice: &TopicChoice, graph: &Graph) -> BTreeSet<String> {
    choice.of(graph.nodes().flat_map(|node| &node.publishers).map(|topic| &topic.name))
}

/// How a topic is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) type_name: String,
    pub(super) type_hash: String,
    pub(super) offered: Vec<OfferedQuality>,
}

/// What can be read of a topic now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nobody publishes it.
    Nobody,
    /// It is read so.
    Readable(Reading),
    /// It is not read, for this reason.
    Unreadable(String),
}

impl Found {
    /// By what publishers say.
    pub(super) fn of(topic: &str, publishers: &[TopicPublisher], policy: &Policy) -> Self {
        if let Some(denial) = policy.denial(topic) {
            return Self::Unreadable(denial);
        }
        let types: BTreeSet<&str> = publishers.iter().map(|publisher| publisher.type_name.as_str()).collect();
        let mut types = types.into_iter();
        let Some(type_name) = types.next() else { return Self::Nobody };
        if let Some(other) = types.next() {
            return Self::Unreadable(format!("it is published as {type_name} and as {other}"));
        }
        let offered: BTreeSet<OfferedQuality> = publishers.iter().map(offered).collect();
        Self::Readable(Reading {
            type_name: type_name.to_owned(),
            type_hash: publishers.iter().find_map(|publisher| publisher.type_hash.clone()).unwrap_or_default(),
            offered: offered.into_iter().collect(),
        })
    }
}

impl Reading {
    /// The most that every publisher offers: so messages of all of them arrive.
    pub(super) fn quality(&self) -> QosProfile {
        let quality = QosProfile::BEST_EFFORT.keep_last(WAITING);
        let quality = if self.offered.iter().all(|offer| offer.is_reliable) { quality.reliable() } else { quality };
        if self.is_latched() { quality.transient_local() } else { quality }
    }

    /// Whether late joiners receive what was sent before, of every publisher.
    pub(super) fn is_latched(&self) -> bool {
        self.offered.iter().all(|offer| offer.is_transient_local)
    }
}

fn offered(publisher: &TopicPublisher) -> OfferedQuality {
    OfferedQuality {
        is_reliable: publisher.reliability == Reliability::Reliable,
        is_transient_local: publisher.durability == Durability::TransientLocal,
    }
}

#[cfg(test)]
mod tests {
    use cortex_discovery_policy::PolicySettings;

    use super::*;

    fn publisher(type_name: &str, reliability: Reliability, durability: Durability) -> TopicPublisher {
        TopicPublisher { type_name: type_name.to_owned(), type_hash: None, reliability, durability }
    }

    #[test]
    fn the_quality_is_the_most_that_all_publishers_offer() {
        use Durability::{TransientLocal, Volatile};
        use Reliability::{BestEffort, Reliable};
        let quality = |offers: &[(Reliability, Durability)]| {
            let publishers: Vec<_> = offers.iter().map(|(one, other)| publisher("a/msg/A", *one, *other)).collect();
            let Found::Readable(reading) = Found::of("/a", &publishers, &Policy::default()) else {
                panic!("a reading")
            };
            (reading.quality().reliability, reading.quality().durability, reading.offered.len())
        };
        assert_eq!(quality(&[(Reliable, TransientLocal), (Reliable, TransientLocal)]), (Reliable, TransientLocal, 1));
        assert_eq!(quality(&[(Reliable, TransientLocal), (Reliable, Volatile)]), (Reliable, Volatile, 2));
        assert_eq!(quality(&[(BestEffort, Volatile), (Reliable, Volatile)]), (BestEffort, Volatile, 2));
    }

    #[test]
    fn what_can_not_be_read_says_why() {
        let of = |type_name| publisher(type_name, Reliability::Reliable, Durability::Volatile);
        assert_eq!(Found::of("/a", &[], &Policy::default()), Found::Nobody);
        let two = Found::of("/a", &[of("b/msg/B"), of("a/msg/A")], &Policy::default());
        assert_eq!(two, Found::Unreadable("it is published as a/msg/A and as b/msg/B".to_owned()));
        let settings = PolicySettings { deny: vec!["/a".to_owned()], ..PolicySettings::default() };
        let denied = Found::of("/a", &[of("a/msg/A")], &Policy::new(&settings).unwrap());
        assert_eq!(denied, Found::Unreadable("discovery.deny has '/a'".to_owned()));
    }
}
