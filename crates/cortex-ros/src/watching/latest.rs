//! What was seen and not yet taken.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cortex_core::condition::Observation;
use cortex_protocol::condition::Source;
use tokio::sync::Notify;

/// Sightings of one source that wait for a slow reader. The oldest go first: the latest are what counts, but a short breach
/// of what must hold should be seen, too.
const WAITING: usize = 32;

/// The sightings on their way, in the order seen.
#[derive(Debug, Default)]
pub(super) struct Latest {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// One entry for each sighting.
    order: VecDeque<Source>,
    of_source: BTreeMap<Source, VecDeque<Observation>>,
}

impl Latest {
    /// Notes what was seen. Never waits.
    pub(super) fn tell(&self, source: Source, observation: Observation) {
        let mut waiting = self.lock();
        let of_source = waiting.of_source.entry(source.clone()).or_default();
        of_source.push_back(observation);
        if of_source.len() > WAITING {
            of_source.pop_front();
        } else {
            waiting.order.push_back(source);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// What comes next. Dropping the future loses nothing.
    pub(super) async fn next(&self) -> (Source, Observation) {
        loop {
            // Asked for first: what arrives between the look and the wait is not missed.
            let arrived = self.arrived.notified();
            if let Some(seen) = self.take() {
                return seen;
            }
            arrived.await;
        }
    }

    fn take(&self) -> Option<(Source, Observation)> {
        let mut waiting = self.lock();
        let source = waiting.order.pop_front()?;
        let observation = waiting.of_source.get_mut(&source)?.pop_front()?;
        Some((source, observation))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_core::condition::Age;
    use serde_json::json;

    fn seen(name: &str, number: usize) -> (Source, Observation) {
        let source = Source::Topic { topic: name.to_owned(), field: String::new() };
        (source, Observation::Value { value: json!(number), kept: false, age: Age::Arrival })
    }

    #[tokio::test]
    async fn a_flood_of_one_source_does_not_hide_another() {
        let latest = Latest::default();
        let tell = |name: &str, number| {
            let (source, observation) = seen(name, number);
            latest.tell(source, observation);
        };
        tell("/quiet", 1);
        for number in 0..1_000 {
            tell("/loud", number);
        }
        assert_eq!(latest.next().await, seen("/quiet", 1));
        for number in 1_000 - WAITING..1_000 {
            assert_eq!(latest.next().await, seen("/loud", number));
        }
        assert_eq!(latest.take(), None);
        tell("/quiet", 2);
        assert_eq!(latest.next().await, seen("/quiet", 2));
    }
}
