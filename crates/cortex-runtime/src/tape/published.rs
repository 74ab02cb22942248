//! What was published, read back from the tapes: for those who have missed some of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_protocol::event::EventData;
use cortex_protocol::{CloudEvent, EventId, MissionId};
use uuid::Uuid;

use super::{Body, Folder, Reader, Record};

/// Tapes that are read side by side, at most: the newest.
const MOST_TAPES: usize = 128;
/// How much older than an event the last change of a tape may be that holds later ones: clocks are set.
const CLOCK_MARGIN: Duration = Duration::from_secs(60);

/// Published events, in the order of their ids, which is that of their times.
#[derive(Debug)]
pub(crate) struct Published(Vec<Ahead>);

/// One tape, read up to its next event.
#[derive(Debug)]
struct Ahead {
    reader: Reader,
    next: CloudEvent,
}

impl Published {
    /// Those of one mission, or of all, that came after an event. A tape that can't be read is left out, and said so in the
    /// log. Reads files.
    pub(crate) fn after(folder: &Folder, mission: Option<&MissionId>, after: Option<&EventId>) -> Self {
        let missions = match mission {
            Some(mission) => vec![mission.clone()],
            None => recent(folder, after),
        };
        let ahead = |mission: &MissionId| {
            let mut reader = folder.read(mission).ok()?;
            loop {
                let next = next_of(&mut reader)?;
                if after.is_none_or(|after| next.id > *after) {
                    return Some(Ahead { reader, next });
                }
            }
        };
        Self(missions.iter().filter_map(ahead).collect())
    }
}

impl Iterator for Published {
    type Item = CloudEvent;

    fn next(&mut self) -> Option<CloudEvent> {
        let (at, _) = self.0.iter().enumerate().min_by(|(_, one), (_, other)| one.next.id.cmp(&other.next.id))?;
        let ahead = self.0.get_mut(at)?;
        Some(match next_of(&mut ahead.reader) {
            Some(next) => std::mem::replace(&mut ahead.next, next),
            None => self.0.swap_remove(at).next,
        })
    }
}

/// The tapes that may hold something later than an event.
fn recent(folder: &Folder, after: Option<&EventId>) -> Vec<MissionId> {
    let since = after.and_then(time_of).map(|time| time.checked_sub(CLOCK_MARGIN).unwrap_or(UNIX_EPOCH));
    let is_recent = |mission: &MissionId| {
        let changed = std::fs::metadata(folder.path(mission)).and_then(|file| file.modified());
        changed.is_ok_and(|changed| since.is_none_or(|since| changed >= since))
    };
    let mut missions = folder.missions().unwrap_or_else(|problem| {
        tracing::warn!("what was missed can't be read: {problem}");
        Vec::new()
    });
    missions.retain(is_recent);
    missions.split_off(missions.len().saturating_sub(MOST_TAPES))
}

/// When an id was made.
fn time_of(id: &EventId) -> Option<SystemTime> {
    let (seconds, nanoseconds) = Uuid::try_parse(id.as_str()).ok()?.get_timestamp()?.to_unix();
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

/// The next event of a tape, of what is written by now.
fn next_of(reader: &mut Reader) -> Option<CloudEvent> {
    loop {
        match reader.next_record() {
            Ok(Some((record, _))) => {
                if let Some(event) = event_of(record) {
                    return Some(event);
                }
            }
            Ok(None) => return None,
            Err(problem) => {
                tracing::warn!("the rest of a tape is left out: {problem}");
                return None;
            }
        }
    }
}

/// What was published, if the line holds all of it.
fn event_of(record: Record) -> Option<CloudEvent> {
    let sequence = record.sequence?;
    let Ok(Body::Published(payload)) = record.body() else { return None };
    Some(CloudEvent {
        specversion: record.specversion,
        id: record.id,
        source: record.source,
        kind: record.kind,
        subject: record.subject,
        time: record.time,
        datacontenttype: record.datacontenttype,
        provider: record.provider,
        event: record.event,
        action: record.action,
        actor: record.actor,
        sequence,
        data: EventData { origin: record.data.origin, text: record.data.text, payload },
    })
}
