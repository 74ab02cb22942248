//! What happens in a mission, as CloudEvents.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_core::feedback;
use cortex_protocol::event::{EventData, SPEC_VERSION};
use cortex_protocol::{CloudEvent, EventId, MissionEvent, MissionId, Origin};
use uuid::{ContextV7, Timestamp, Uuid};

/// Puts the events of one mission into their envelopes.
#[derive(Clone)]
pub(crate) struct Envelope {
    source: String,
    mission: MissionId,
    origin: Origin,
    sequence: u64,
}

impl Envelope {
    pub(crate) fn new(source: String, mission: MissionId, origin: Origin) -> Self {
        Self { source, mission, origin, sequence: 0 }
    }

    /// Where they come from.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whose they are.
    pub(crate) fn mission(&self) -> &MissionId {
        &self.mission
    }

    /// Where the mission came from.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(crate) fn wrap(&mut self, payload: MissionEvent) -> CloudEvent {
        self.sequence += 1;
        let (provider, event, action, actor) = payload.routing();
        CloudEvent {
            specversion: SPEC_VERSION.to_owned(),
            id: EventId::new(Uuid::now_v7().to_string()),
            source: self.source.clone(),
            kind: format!("cortex.{event}.{action}"),
            subject: self.mission.clone(),
            time: humantime::format_rfc3339_micros(SystemTime::now()).to_string(),
            datacontenttype: "application/json".to_owned(),
            provider: provider.to_owned(),
            event: event.to_owned(),
            action: action.to_owned(),
            actor: actor.to_owned(),
            sequence: self.sequence,
            data: EventData { origin: self.origin.clone(), text: feedback::line_in(&self.mission, &payload), payload },
        }
    }
}

/// Keeps the ids of missions in the order in which they were made, whatever the clock does meanwhile.
static IDS: Mutex<ContextV7> = Mutex::new(ContextV7::new());

/// Ids of a time after this one are no ids that were made here: the year 6429. A damaged name must not use up all that come.
const LATEST_MS: u64 = 1 << 47;

/// A new mission's id: unique without coordination, in the order in which they are made.
pub(crate) fn new_mission_id() -> MissionId {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    MissionId::new(id_at(&IDS, now.as_secs(), now.subsec_nanos()).to_string())
}

/// At this time, or at that of the latest id, where that is later.
fn id_at(ids: &Mutex<ContextV7>, seconds: u64, nanoseconds: u32) -> Uuid {
    Uuid::new_v7(Timestamp::from_unix(ids, seconds, nanoseconds))
}

/// Has all ids from now on sort after those of the missions that have tapes, also where the clock was set back since: which
/// tape is the oldest is known by its id.
pub(crate) fn continue_after(missions: &[MissionId]) {
    continue_after_ids(&IDS, missions);
}

fn continue_after_ids(ids: &Mutex<ContextV7>, missions: &[MissionId]) {
    let times =
        missions.iter().filter_map(|id| Uuid::try_parse(id.as_str()).ok()?.get_timestamp()).map(|at| at.to_unix());
    let millis = times.map(|(seconds, nanoseconds)| seconds.saturating_mul(1_000) + u64::from(nanoseconds) / 1_000_000);
    if let Some(latest) = millis.filter(|millis| *millis < LATEST_MS).max() {
        let after = Duration::from_millis(latest + 1);
        id_at(ids, after.as_secs(), after.subsec_nanos());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the clock had been set back, tapes were removed in another order than they were made: the newest first.
    #[test]
    fn regression_ids_keep_their_order_when_the_clock_is_set_back() {
        let ids = Mutex::new(ContextV7::new());
        let id = |seconds| MissionId::new(id_at(&ids, seconds, 0).to_string());
        let made: Vec<MissionId> = [1_800_000_000, 1_700_000_000, 1_700_000_001, 5, 1_800_000_001].map(id).into();
        assert!(made.is_sorted(), "{made:#?}");
        // The same after a restart.
        let restarted = Mutex::new(ContextV7::new());
        continue_after_ids(&restarted, &made);
        let next = MissionId::new(id_at(&restarted, 1_700_000_002, 0).to_string());
        assert!(made.iter().all(|id| *id < next), "{next} comes after {made:#?}");
    }

    #[test]
    fn a_damaged_name_does_not_use_up_the_ids() {
        let ids = Mutex::new(ContextV7::new());
        continue_after_ids(&ids, &["ffffffff-ffff-7fff-bfff-ffffffffffff".into(), "no id".into()]);
        let id = id_at(&ids, 1_700_000_000, 0);
        assert_eq!(id.get_timestamp().map(|at| at.to_unix().0), Some(1_700_000_000));
    }
}
