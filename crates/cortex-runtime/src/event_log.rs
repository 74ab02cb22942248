//! The newest events of all missions. Everybody who follows them reads at their own pace, and holds nothing up.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cortex_core::EventStream;
use cortex_protocol::{CloudEvent, MissionId};
use tokio::sync::watch;

/// Events that are kept. Whoever lags behind further misses some.
const KEPT: usize = 2_048;
/// Most bytes of them, as they would be written: what a tool returns may be large.
const KEPT_BYTES: usize = 16 << 20;

/// The log. Its streams outlive it, and end once they have read what it held.
#[derive(Debug)]
pub(crate) struct EventLog {
    kept: Arc<Mutex<Kept>>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The place of the oldest event.
    first: u64,
    /// Each with its bytes.
    events: VecDeque<(Arc<CloudEvent>, usize)>,
    bytes: usize,
    /// Missions of which events may come.
    open: BTreeSet<MissionId>,
}

impl Kept {
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self { kept: Arc::default(), changed: watch::Sender::new(()) }
    }

    /// Events of the mission will come, until this is dropped.
    pub(crate) fn open(self: &Arc<Self>, mission: &MissionId) -> OpenMission {
        locked(&self.kept).open.insert(mission.clone());
        OpenMission { log: Arc::clone(self), mission: mission.clone() }
    }

    /// Adds an event. Never waits.
    pub(crate) fn push(&self, event: Arc<CloudEvent>) {
        let bytes = bytes_of(&event);
        let mut kept = locked(&self.kept);
        kept.events.push_back((event, bytes));
        kept.bytes += bytes;
        // The newest stays, however large it is.
        while kept.events.len() > KEPT || (kept.bytes > KEPT_BYTES && kept.events.len() > 1) {
            let oldest = kept.events.pop_front().map_or(0, |(_, bytes)| bytes);
            kept.bytes -= oldest;
            kept.first += 1;
        }
        drop(kept);
        self.changed.send_replace(());
    }

    /// All events from now on.
    pub(crate) fn newest(&self) -> Events {
        self.stream(None, locked(&self.kept).end())
    }

    /// The events of one mission, from the oldest that is kept.
    pub(crate) fn of_mission(&self, mission: MissionId) -> Events {
        self.stream(Some(mission), locked(&self.kept).first)
    }

    fn stream(&self, mission: Option<MissionId>, next: u64) -> Events {
        Events {
            kept: Arc::clone(&self.kept),
            changed: self.changed.subscribe(),
            mission,
            next,
            missed: 0,
            is_over: false,
        }
    }
}

/// Keeps those who follow a mission waiting for more. Whoever reads its end finds everything done that is done at it: its
/// place in the queue is free, and its conversation knows of it.
#[derive(Debug)]
pub(crate) struct OpenMission {
    log: Arc<EventLog>,
    mission: MissionId,
}

impl Drop for OpenMission {
    fn drop(&mut self) {
        locked(&self.log.kept).open.remove(&self.mission);
        self.log.changed.send_replace(());
    }
}

/// Events, in order: all, or those of one mission.
#[derive(Debug)]
pub struct Events {
    kept: Arc<Mutex<Kept>>,
    changed: watch::Receiver<()>,
    mission: Option<MissionId>,
    /// The place of the next event.
    next: u64,
    missed: u64,
    is_over: bool,
}

impl Events {
    /// The next event; `None` after the last of the mission, or when the runtime is gone. Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<Arc<CloudEvent>> {
        loop {
            // What comes from here on wakes it, whether or not it is read below.
            self.changed.mark_unchanged();
            if let Some(event) = self.read() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            // What the log was given last is read once more.
            self.is_over = self.changed.changed().await.is_err();
        }
    }

    /// How many events were gone before they were read, those of other missions among them.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }

    fn read(&mut self) -> Option<Arc<CloudEvent>> {
        let kept = locked(&self.kept);
        self.missed += kept.first.saturating_sub(self.next);
        self.next = self.next.max(kept.first);
        while self.next < kept.end() {
            let event = usize::try_from(self.next - kept.first).ok().and_then(|at| kept.events.get(at));
            self.next += 1;
            if let Some((event, _)) =
                event.filter(|(event, _)| self.mission.as_ref().is_none_or(|it| *it == event.subject))
            {
                return Some(Arc::clone(event));
            }
        }
        self.is_over |= self.mission.as_ref().is_some_and(|mission| !kept.open.contains(mission));
        None
    }
}

#[async_trait]
impl EventStream for Events {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        self.recv().await
    }
}

/// The bytes of the event in JSON.
fn bytes_of(event: &CloudEvent) -> usize {
    struct Counted(usize);
    impl std::io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // Values of the protocol always have a form in JSON.
    let _ = serde_json::to_writer(&mut counted, event);
    counted.0
}

fn locked(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use cortex_protocol::{MissionEvent, Origin};

    use super::*;
    use crate::envelope::Envelope;

    /// A mission that tells something with each call.
    fn teller(log: &Arc<EventLog>, mission: &str) -> (OpenMission, impl FnMut() + use<>) {
        let mut envelope = Envelope::new("/robot/cortex".to_owned(), mission.into(), Origin::new("test", "it"));
        let (open, log) = (log.open(&mission.into()), Arc::clone(log));
        (open, move || log.push(Arc::new(envelope.wrap(MissionEvent::Unpaused))))
    }

    async fn rest(mut events: Events) -> (Vec<(String, u64)>, u64) {
        let mut read = Vec::new();
        while let Some(event) = events.recv().await {
            read.push((event.subject.to_string(), event.sequence));
        }
        (read, events.missed())
    }

    #[tokio::test]
    async fn who_follows_a_mission_reads_all_of_it_from_its_beginning_and_nothing_else() {
        let log = Arc::new(EventLog::new());
        let ((open, mut one), (_, mut other)) = (teller(&log, "one"), teller(&log, "other"));
        one();
        other();
        let all = log.newest();
        one();
        let followed = tokio::spawn(rest(log.of_mission("one".into())));
        one();
        drop(open);
        let of =
            |mission: &str, numbers: &[u64]| numbers.iter().map(|it| (mission.to_owned(), *it)).collect::<Vec<_>>();
        assert_eq!(followed.await.unwrap(), (of("one", &[1, 2, 3]), 0));
        assert_eq!(rest(log.of_mission("one".into())).await.0, of("one", &[1, 2, 3]), "who comes later has it, too");
        assert_eq!(rest(log.of_mission("nobody".into())).await, (vec![], 0));
        drop((one, other));
        drop(log);
        assert_eq!(rest(all).await, (of("one", &[2, 3]), 0), "what the log held is read although it is gone");
    }

    #[tokio::test]
    async fn who_lags_behind_is_told_how_much_was_missed_and_holds_nobody_up() {
        let log = Arc::new(EventLog::new());
        let (open, mut tell) = teller(&log, "one");
        let slow = log.of_mission("one".into());
        for _ in 0..KEPT + 10 {
            tell();
        }
        drop(open);
        let (read, missed) = rest(slow).await;
        assert_eq!((read.len(), read.first().map(|(_, number)| *number), missed), (KEPT, Some(11), 10));
    }

    #[tokio::test]
    async fn large_events_take_no_more_memory_than_is_set_apart_for_them() {
        let log = Arc::new(EventLog::new());
        let mut envelope = Envelope::new("/robot/cortex".to_owned(), "one".into(), Origin::new("test", "it"));
        let open = log.open(&"one".into());
        let slow = log.of_mission("one".into());
        for _ in 0..20 {
            let because = "x".repeat(KEPT_BYTES / 8);
            log.push(Arc::new(envelope.wrap(MissionEvent::Paused { because, patience: std::time::Duration::ZERO })));
        }
        assert!(locked(&log.kept).bytes <= KEPT_BYTES);
        drop(open);
        let (read, missed) = rest(slow).await;
        assert_eq!(read.len() as u64 + missed, 20);
        assert!(!read.is_empty() && missed > 0, "{missed}");
    }
}
