//! What happens in a mission, as CloudEvents.

use std::time::SystemTime;

use cortex_core::feedback;
use cortex_protocol::event::{EventData, SPEC_VERSION};
use cortex_protocol::{CloudEvent, EventId, MissionEvent, MissionId, Origin};
use uuid::Uuid;

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
            data: EventData { origin: self.origin.clone(), text: feedback::line(&payload), payload },
        }
    }
}

/// A new mission's id: unique without coordination, in the order of time.
pub(crate) fn new_mission_id() -> MissionId {
    MissionId::new(Uuid::now_v7().to_string())
}
