//! The newest events of all missions. Everybody who follows them reads at their own pace, and holds nothing up.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cortex_core::EventStream;
use cortex_protocol::{CloudEvent, EventId, MissionId};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::tape::Folder;
use crate::tape::published::Published;

/// Events that are kept. Whoever lags behind further misses some.
const KEPT: usize = 2_048;
/// Most bytes of them, as they would be written: what a tool returns may be large.
const KEPT_BYTES: usize = 16 << 20;

/// Events that are read back from the tapes at a time, and about how many bytes of them.
const REFILLED: usize = 256;
const REFILLED_BYTES: usize = 1 << 20;
/// Who may read back at a time; others wait for their turn.
const READERS: usize = 4;

/// The log. Its streams outlive it, and end once they have read what it held.
#[derive(Debug)]
pub(crate) struct EventLog {
    kept: Arc<Mutex<Kept>>,
    changed: watch::Sender<()>,
    /// Held while an event gets its id and its place: both have one order.
    adding: Mutex<()>,
    /// Where events are read back that are kept no more. None: nowhere.
    tapes: Option<Folder>,
    /// Where files are read: those who follow may have a runtime of their own, which knows nothing of ours.
    runtime: Handle,
    /// How many may read files at a time.
    readers: Arc<Semaphore>,
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
    /// One that reads files on the current tokio runtime.
    pub(crate) fn new(tapes: Option<Folder>) -> Self {
        let (changed, runtime) = (watch::Sender::new(()), Handle::current());
        let readers = Arc::new(Semaphore::new(READERS));
        Self { kept: Arc::default(), changed, adding: Mutex::default(), tapes, runtime, readers }
    }

    /// Events of the mission will come, until this is dropped.
    pub(crate) fn open(self: &Arc<Self>, mission: &MissionId) -> OpenMission {
        locked(&self.kept).open.insert(mission.clone());
        OpenMission { log: Arc::clone(self), mission: mission.clone() }
    }

    /// Adds the event that `make` gives its id. Never waits for anything slow.
    pub(crate) fn add(&self, make: impl FnOnce() -> Arc<CloudEvent>) {
        let _one_by_one = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let event = make();
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
        let kept = locked(&self.kept);
        // Where none is kept, whatever comes is later than this id.
        let seen = kept.events.back().map(|(event, _)| event.id.clone());
        let seen = seen.unwrap_or_else(|| EventId::new(Uuid::now_v7().to_string()));
        self.stream(None, kept.end(), Some(seen))
    }

    /// All events after this one, which may be of an earlier life of Cortex.
    pub(crate) fn after(&self, seen: EventId) -> Events {
        let kept = locked(&self.kept);
        let place = kept.events.iter().position(|(event, _)| event.id == seen);
        let next = match place {
            Some(place) => kept.first + place as u64 + 1,
            // It was there when nothing was kept yet, or is kept no more.
            None if kept.events.front().is_none_or(|(oldest, _)| seen < oldest.id) => NOT_KEPT,
            // The clock was set back since: all that is kept is of this life.
            None => kept.first,
        };
        self.stream(None, next, Some(seen))
    }

    /// The events of one mission, from its first one on.
    pub(crate) fn of_mission(&self, mission: MissionId) -> Events {
        let next = if locked(&self.kept).first == 0 { 0 } else { NOT_KEPT };
        self.stream(Some(mission), next, None)
    }

    fn stream(&self, mission: Option<MissionId>, next: u64, seen: Option<EventId>) -> Events {
        Events {
            kept: Arc::clone(&self.kept),
            changed: self.changed.subscribe(),
            tapes: self.tapes.clone(),
            runtime: self.runtime.clone(),
            readers: Arc::clone(&self.readers),
            mission,
            next,
            seen,
            refill: None,
            read_back: VecDeque::new(),
            sequence: 0,
            missed: 0,
            owed: 0,
            is_over: false,
        }
    }
}

/// The place of events before the first that was kept: they are read back.
const NOT_KEPT: u64 = u64::MAX;

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

/// Events, in order: all, or those of one mission. What is kept no more is read back from the tapes. Can be read on any
/// runtime.
#[derive(Debug)]
pub struct Events {
    kept: Arc<Mutex<Kept>>,
    changed: watch::Receiver<()>,
    tapes: Option<Folder>,
    runtime: Handle,
    readers: Arc<Semaphore>,
    mission: Option<MissionId>,
    /// The place of the next event.
    next: u64,
    /// The last event that was read.
    seen: Option<EventId>,
    /// What is being read back.
    refill: Option<Refilling>,
    read_back: VecDeque<CloudEvent>,
    /// The number of the last event of the mission that was read.
    sequence: u64,
    missed: u64,
    /// How many of those may still be read back.
    owed: u64,
    is_over: bool,
}

/// What is read back: between two turns, or by a task.
#[derive(Debug)]
enum Refilling {
    Waits(Box<Refill>),
    Reads(JoinHandle<Option<Refill>>),
}

/// Events that are read back, up to one that is kept.
#[derive(Debug)]
struct Refill {
    tapes: Published,
    until: EventId,
    read: VecDeque<CloudEvent>,
}

impl Refill {
    /// Reads some. None are left when none was read. Reads files.
    fn turn(mut self) -> Self {
        let mut bytes = 0;
        while self.read.len() < REFILLED && bytes < REFILLED_BYTES {
            let Some(event) = self.tapes.next().filter(|event| event.id < self.until) else { break };
            bytes += bytes_of(&event);
            self.read.push_back(event);
        }
        self
    }
}

/// What the log holds for a reader.
enum Look {
    Event(Arc<CloudEvent>),
    /// So many are kept no more, before the event of this id.
    Gap(u64, Option<EventId>),
    Nothing,
}

impl Events {
    /// The next event; `None` after the last of the mission, or when the runtime is gone. Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<Arc<CloudEvent>> {
        loop {
            if let Some(event) = self.read_back().await {
                return Some(event);
            }
            // What comes from here on wakes it, whether or not it is read below.
            self.changed.mark_unchanged();
            match self.look() {
                Look::Event(event) => return Some(event),
                Look::Gap(missed, until) => self.begin_refill(missed, until),
                Look::Nothing if self.is_over => return None,
                // What the log was given last is read once more.
                Look::Nothing => self.is_over = self.changed.changed().await.is_err(),
            }
        }
    }

    /// How many events could not be read, also not from the tapes, as far as that is known: of what came before a client
    /// returned it is not.
    #[must_use]
    pub fn missed(&self) -> u64 {
        // What may still be read back is not missing yet.
        self.missed.saturating_sub(self.owed)
    }

    fn look(&mut self) -> Look {
        let kept = Arc::clone(&self.kept);
        let kept = locked(&kept);
        if self.next == NOT_KEPT || self.next < kept.first {
            let missed = if self.next == NOT_KEPT { 0 } else { kept.first - self.next };
            self.next = kept.first;
            return Look::Gap(missed, kept.events.front().map(|(event, _)| event.id.clone()));
        }
        while self.next < kept.end() {
            let event = usize::try_from(self.next - kept.first).ok().and_then(|at| kept.events.get(at));
            self.next += 1;
            let Some((event, _)) = event else { continue };
            if self.note(event) {
                return Look::Event(Arc::clone(event));
            }
        }
        self.is_over |= self.mission.as_ref().is_some_and(|mission| !kept.open.contains(mission));
        Look::Nothing
    }

    /// Whether the event is to be read. Those of one mission are counted by their numbers.
    fn note(&mut self, event: &CloudEvent) -> bool {
        if let Some(mission) = &self.mission {
            if *mission != event.subject || event.sequence <= self.sequence {
                return false;
            }
            self.missed += event.sequence - self.sequence - 1;
            self.sequence = event.sequence;
        }
        self.seen = Some(event.id.clone());
        true
    }

    fn begin_refill(&mut self, missed: u64, until: Option<EventId>) {
        let tapes = self.tapes.clone();
        if self.mission.is_none() {
            self.missed += missed;
            self.owed = if tapes.is_some() { missed } else { 0 };
        }
        let Some(tapes) = tapes else { return };
        let (mission, seen) = (self.mission.clone(), self.seen.clone());
        // Where none is kept, those that come are later than this id.
        let until = until.unwrap_or_else(|| EventId::new(Uuid::now_v7().to_string()));
        let tapes = Published::after(tapes, mission, seen);
        self.refill = Some(Refilling::Waits(Box::new(Refill { tapes, until, read: VecDeque::new() })));
    }

    async fn read_back(&mut self) -> Option<Arc<CloudEvent>> {
        loop {
            while let Some(event) = self.read_back.pop_front() {
                if self.note(&event) {
                    let owed = u64::from(self.owed > 0);
                    self.owed -= owed;
                    self.missed -= owed;
                    return Some(Arc::new(event));
                }
            }
            let reading = match self.refill.take()? {
                Refilling::Waits(refill) => self.runtime.spawn(read_in_turn(refill, Arc::clone(&self.readers))),
                Refilling::Reads(reading) => reading,
            };
            // Kept while it is waited for, so that dropping the future loses nothing.
            let Refilling::Reads(reading) = self.refill.insert(Refilling::Reads(reading)) else { return None };
            // A task that has panicked has read nothing.
            let refilled = reading.await.ok().flatten();
            self.refill = None;
            let Some(mut refill) = refilled.filter(|refill| !refill.read.is_empty()) else {
                self.owed = 0;
                return None;
            };
            self.read_back = std::mem::take(&mut refill.read);
            self.refill = Some(Refilling::Waits(Box::new(refill)));
        }
    }
}

#[async_trait]
impl EventStream for Events {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        self.recv().await
    }

    fn missed(&self) -> u64 {
        Self::missed(self)
    }
}

/// Reads some once it is the reader's turn. Missions need the threads that read files, too. None: it panicked.
async fn read_in_turn(refill: Box<Refill>, readers: Arc<Semaphore>) -> Option<Refill> {
    let _turn = readers.acquire_owned().await.ok()?;
    tokio::task::spawn_blocking(|| refill.turn()).await.ok()
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
mod tests;
