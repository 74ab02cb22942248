//! One round of a recording: the same events, as a mission of their own that happens now.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_protocol::{CloudEvent, EventId, MissionId};
use uuid::{Builder, Uuid};

use crate::speed::Speed;

/// A longer silence of a recording is shortened to this, in its own time: nobody waits for a person who was away, or for a
/// clock that was set.
const LONGEST_SILENCE: Duration = Duration::from_secs(20);

/// One round.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    /// The mission of this round: pages take each round for a new one.
    pub(crate) mission: MissionId,
    pub(crate) begun: SystemTime,
    pub(crate) speed: Speed,
}

/// How far a round has come.
#[derive(Debug, Default)]
pub(crate) struct Position {
    /// When the event before was recorded.
    before: Option<SystemTime>,
    /// Since the beginning, in the time of the recording.
    since: Duration,
}

impl Round {
    pub(crate) fn begin(speed: Speed) -> Self {
        Self { mission: MissionId::new(Uuid::now_v7().to_string()), begun: SystemTime::now(), speed }
    }

    /// An event as it happens in this round, and how long after the beginning. The same for each who reads along.
    pub(crate) fn take(&self, position: &mut Position, mut event: CloudEvent) -> (Duration, CloudEvent) {
        let recorded = humantime::parse_rfc3339_weak(&event.time).ok();
        if let (Some(before), Some(recorded)) = (position.before, recorded) {
            // None where the clock was set back.
            let silence = recorded.duration_since(before).unwrap_or_default();
            position.since = position.since.saturating_add(silence.min(LONGEST_SILENCE));
        }
        position.before = recorded.or(position.before);
        let due = position.since.div_f64(self.speed.times());
        let at = self.begun + due;
        event.time = humantime::format_rfc3339_micros(at).to_string();
        event.id = id(at, event.sequence);
        event.subject = self.mission.clone();
        (due, event)
    }
}

/// The id of the event of that time and number: ids keep the order of events.
fn id(at: SystemTime, sequence: u64) -> EventId {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut rest = [0; 10];
    if let Some(places) = rest.last_chunk_mut() {
        *places = sequence.to_be_bytes();
    }
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    EventId::new(Builder::from_unix_timestamp_millis(millis, &rest).into_uuid().to_string())
}

#[cfg(test)]
mod tests {
    use cortex_protocol::event::{EventData, SPEC_VERSION};
    use cortex_protocol::{MissionEvent, Origin};

    use super::*;

    fn event(sequence: u64, time: &str) -> CloudEvent {
        CloudEvent {
            specversion: SPEC_VERSION.to_owned(),
            id: "e".into(),
            source: "/robbie/cortex".to_owned(),
            kind: String::new(),
            subject: "m".into(),
            time: time.to_owned(),
            datacontenttype: String::new(),
            provider: String::new(),
            event: String::new(),
            action: String::new(),
            actor: String::new(),
            sequence,
            data: EventData { origin: Origin::new("test", ""), text: String::new(), payload: MissionEvent::Unpaused },
        }
    }

    #[test]
    fn events_come_at_their_times_and_long_silences_and_wrong_clocks_hold_nothing_up() {
        let round = Round { mission: "r".into(), begun: SystemTime::now(), speed: Speed::new(2.0).unwrap() };
        let mut position = Position::default();
        let times = [
            ("2026-01-01T00:00:00Z", 0),
            ("2026-01-01T00:00:01.5Z", 750),
            ("2026-01-01T00:00:01Z", 750),
            ("2026-01-01T01:00:00Z", 10_750),
            ("no time", 10_750),
            ("2026-01-01T01:00:02Z", 11_750),
        ];
        let mut last = String::new();
        for (sequence, (time, due)) in times.into_iter().enumerate() {
            let (at, taken) = round.take(&mut position, event(sequence as u64, time));
            assert_eq!(at, Duration::from_millis(due), "{time}");
            assert_eq!(taken.subject, round.mission);
            assert!(taken.id.as_str() > last.as_str(), "ids keep the order");
            last = taken.id.as_str().to_owned();
        }
    }

    #[test]
    fn whoever_reads_a_round_again_reads_the_same() {
        let round = Round::begin(Speed::default());
        let read = || round.take(&mut Position::default(), event(1, "2026-01-01T00:00:00Z")).1;
        assert_eq!(read(), read());
        assert_ne!(Round::begin(Speed::default()).mission, round.mission);
    }
}
