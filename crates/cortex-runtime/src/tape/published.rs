//! What was published, read back from the tapes: for those who have missed some of it.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_protocol::{CloudEvent, EventId, MissionId};
use uuid::Uuid;

use super::{Folder, Reader};

/// How much older than an event the last change of a tape may be that holds later ones: clocks are set.
const CLOCK_MARGIN: Duration = Duration::from_secs(60);

/// Published events, in the order of their ids, which is that of their times. A tape is open only while its mission is being
/// read.
#[derive(Debug)]
pub(crate) struct Published {
    folder: Folder,
    mission: Option<MissionId>,
    after: Option<EventId>,
    /// The tapes that come later. None: they were not looked for yet.
    later: Option<VecDeque<MissionId>>,
    open: Vec<Ahead>,
}

/// One tape, read up to its next event.
#[derive(Debug)]
struct Ahead {
    reader: Reader,
    next: CloudEvent,
}

impl Published {
    /// Those of one mission, or of all, that came after an event. A tape that can't be read is left out, and said so in the
    /// log. Reads nothing yet.
    pub(crate) fn after(folder: Folder, mission: Option<MissionId>, after: Option<EventId>) -> Self {
        Self { folder, mission, after, later: None, open: Vec::new() }
    }

    /// Opens the tapes that may hold an event before all that are known to come. The id of a mission is older than those of
    /// its events.
    fn open_next(&mut self) {
        let Self { folder, mission, after, later, open } = self;
        let later = later.get_or_insert_with(|| match mission {
            Some(mission) => VecDeque::from([mission.clone()]),
            None => recent(folder, after.as_ref()).into(),
        });
        loop {
            let first = open.iter().map(|ahead| ahead.next.id.as_str()).min();
            let may_come_first = |mission: &MissionId| first.is_none_or(|first| mission.as_str() < first);
            if !later.front().is_some_and(may_come_first) {
                return;
            }
            let Some(mission) = later.pop_front() else { return };
            let Ok(mut reader) = folder.read(&mission) else { continue };
            let is_later = |event: &CloudEvent| after.as_ref().is_none_or(|after| event.id > *after);
            let next = std::iter::from_fn(|| next_of(&mut reader)).find(is_later);
            open.extend(next.map(|next| Ahead { reader, next }));
        }
    }
}

impl Iterator for Published {
    type Item = CloudEvent;

    fn next(&mut self) -> Option<CloudEvent> {
        self.open_next();
        let (at, _) = self.open.iter().enumerate().min_by(|(_, one), (_, other)| one.next.id.cmp(&other.next.id))?;
        let ahead = self.open.get_mut(at)?;
        Some(match next_of(&mut ahead.reader) {
            Some(next) => std::mem::replace(&mut ahead.next, next),
            None => self.open.swap_remove(at).next,
        })
    }
}

/// The tapes that may hold something later than an event.
fn recent(folder: &Folder, after: Option<&EventId>) -> Vec<MissionId> {
    let since = after
        .and_then(|after| time_of(after.as_str()))
        .map(|time| time.checked_sub(CLOCK_MARGIN).unwrap_or(UNIX_EPOCH));
    let is_recent = |mission: &MissionId| {
        let changed = std::fs::metadata(folder.path(mission)).and_then(|file| file.modified());
        changed.is_ok_and(|changed| since.is_none_or(|since| changed >= since))
    };
    let mut missions = folder.missions().unwrap_or_else(|problem| {
        tracing::warn!("what was missed can't be read: {problem}");
        Vec::new()
    });
    missions.retain(is_recent);
    missions
}

/// When the id of an event or of a mission was made.
pub(super) fn time_of(id: &str) -> Option<SystemTime> {
    let (seconds, nanoseconds) = Uuid::try_parse(id).ok()?.get_timestamp()?.to_unix();
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

/// The next event of a tape, of what is written by now.
fn next_of(reader: &mut Reader) -> Option<CloudEvent> {
    loop {
        match reader.next_record() {
            Ok(Some((record, _))) => {
                if let Some(event) = record.into_event() {
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
