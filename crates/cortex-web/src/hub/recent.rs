//! The newest events, each encoded once, for all who follow.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_protocol::{CloudEvent, EventId};

/// Most events that are kept, and most bytes of them. Who lags behind further reads them from the port.
const KEPT: usize = 4_096;
const KEPT_BYTES: usize = 8 << 20;
/// Most events of one frame, and about how many bytes of them.
pub(crate) const FRAME_EVENTS: usize = 256;
pub(crate) const FRAME_BYTES: usize = 1 << 20;

/// The newest events. A place counts the events before it, so that what follows an event is known by a number.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The place of the oldest one.
    first: u64,
    events: VecDeque<Encoded>,
    bytes: usize,
    /// The place after each.
    places: HashMap<EventId, u64>,
    /// The very first one: the rest can be read after it.
    first_ever: Option<Encoded>,
}

/// An event as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    pub(crate) id: EventId,
    pub(crate) json: Arc<str>,
    /// Events right before it that could not be had.
    pub(crate) missed: u64,
}

impl Encoded {
    pub(crate) fn new(event: &CloudEvent, missed: u64) -> Self {
        // Only maps with other keys than texts can't be written, and there are none.
        let json = serde_json::to_string(event).unwrap_or_else(|_| "null".to_owned());
        Self { id: event.id.clone(), json: json.into(), missed }
    }
}

/// Events that follow a place.
pub(crate) enum Following {
    /// These, up to the place `next`. Only before the first of them some are missing. May be none.
    Events { events: Vec<Encoded>, next: u64 },
    /// They are kept no more.
    Gone,
}

impl Recent {
    /// Adds the newest one and returns the place after it.
    pub(crate) fn add(&self, event: Encoded) -> u64 {
        let mut kept = self.kept();
        let after = kept.first + kept.events.len() as u64 + 1;
        kept.bytes += event.json.len();
        kept.places.insert(event.id.clone(), after);
        if after == 1 {
            kept.first_ever = Some(event.clone());
        }
        kept.events.push_back(event);
        // The newest stays, however large it is.
        while kept.events.len() > KEPT || (kept.bytes > KEPT_BYTES && kept.events.len() > 1) {
            if let Some(oldest) = kept.events.pop_front() {
                kept.bytes -= oldest.json.len();
                kept.places.remove(&oldest.id);
            }
            kept.first += 1;
        }
        after
    }

    /// The place after an event, where it is kept.
    pub(crate) fn place_after(&self, event: &EventId) -> Option<u64> {
        self.kept().places.get(event).copied()
    }

    /// What follows a place, before `end`: as much as one frame holds.
    pub(crate) fn following(&self, place: u64, end: u64) -> Following {
        let kept = self.kept();
        if place < kept.first {
            return Following::Gone;
        }
        let skipped = usize::try_from(place - kept.first).unwrap_or(usize::MAX);
        let count = usize::try_from(end.saturating_sub(place)).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let fits = |(at, event): &(usize, &Encoded)| {
            let fits = *at == 0 || (event.missed == 0 && bytes < FRAME_BYTES);
            bytes += event.json.len();
            fits
        };
        let waiting = kept.events.iter().skip(skipped).take(count.min(FRAME_EVENTS));
        let events: Vec<Encoded> = waiting.enumerate().take_while(fits).map(|(_, event)| event.clone()).collect();
        let next = place + events.len() as u64;
        Following::Events { events, next }
    }

    /// The very first event.
    pub(crate) fn first_ever(&self) -> Option<Encoded> {
        self.kept().first_ever.clone()
    }

    /// The place of the oldest event that is kept.
    pub(crate) fn first(&self) -> u64 {
        self.kept().first
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: usize, missed: u64, bytes: usize) -> Encoded {
        Encoded { id: EventId::new(number.to_string()), json: "x".repeat(bytes).into(), missed }
    }

    fn numbers(following: Following) -> Option<(Vec<String>, u64)> {
        match following {
            Following::Events { events, next } => {
                Some((events.iter().map(|event| event.id.to_string()).collect(), next))
            }
            Following::Gone => None,
        }
    }

    #[test]
    fn events_follow_a_place_and_a_gap_begins_a_frame() {
        let recent = Recent::default();
        for (number, missed) in [(0, 0), (1, 0), (2, 5), (3, 0)] {
            recent.add(event(number, missed, 1));
        }
        assert_eq!(numbers(recent.following(0, 4)), Some((vec!["0".into(), "1".into()], 2)));
        assert_eq!(numbers(recent.following(2, 4)), Some((vec!["2".into(), "3".into()], 4)));
        assert_eq!(numbers(recent.following(2, 3)), Some((vec!["2".into()], 3)));
        assert_eq!(numbers(recent.following(4, 4)), Some((vec![], 4)));
        assert_eq!(recent.place_after(&"1".into()), Some(2));
        assert_eq!(recent.place_after(&"9".into()), None);
    }

    #[test]
    fn the_newest_are_kept_within_bounds() {
        let recent = Recent::default();
        for number in 0..KEPT + 10 {
            recent.add(event(number, 0, 1));
        }
        assert!(numbers(recent.following(9, 20)).is_none());
        assert_eq!(numbers(recent.following(10, 11)), Some((vec!["10".into()], 11)));
        assert_eq!(recent.place_after(&"9".into()), None);
        recent.add(event(KEPT + 10, 0, 2 * KEPT_BYTES));
        let end = KEPT as u64 + 11;
        assert_eq!(numbers(recent.following(end - 1, end)), Some((vec![(KEPT + 10).to_string()], end)));
        assert_eq!(recent.kept().places.len(), 1);
    }
}
