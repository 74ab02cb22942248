//! The newest events of all missions. Everybody who follows them reads at their own pace, and holds nothing up.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cortex_core::EventStream;
use cortex_protocol::{CloudEvent, EventId, MissionId};
use tokio::runtime::Handle;
use tokio::sync::watch;
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
        Self { kept: Arc::default(), changed, adding: Mutex::default(), tapes, runtime }
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
    Reads(JoinHandle<Refill>),
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
        self.missed
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
        if self.mission.is_none() {
            self.missed += missed;
            self.owed = missed;
        }
        let Some(tapes) = self.tapes.clone() else { return };
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
                Refilling::Waits(refill) => self.runtime.spawn_blocking(|| refill.turn()),
                Refilling::Reads(reading) => reading,
            };
            // Kept while it is waited for, so that dropping the future loses nothing.
            let Refilling::Reads(reading) = self.refill.insert(Refilling::Reads(reading)) else { return None };
            // A task that has panicked has read nothing.
            let refilled = reading.await.ok();
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
        self.missed
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
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::envelope::Envelope;
    use crate::tape::{Tape, TapeSettings};

    /// A mission that tells something with each call.
    fn teller(log: &Arc<EventLog>, mission: &str) -> (OpenMission, impl FnMut() + use<>) {
        let mut envelope = Envelope::new("/robot/cortex".to_owned(), mission.into(), Origin::new("test", "it"));
        let (open, log) = (log.open(&mission.into()), Arc::clone(log));
        (open, move || log.add(|| Arc::new(envelope.wrap(MissionEvent::Unpaused))))
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
        let log = Arc::new(EventLog::new(None));
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
        let log = Arc::new(EventLog::new(None));
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
        let log = Arc::new(EventLog::new(None));
        let mut envelope = Envelope::new("/robot/cortex".to_owned(), "one".into(), Origin::new("test", "it"));
        let open = log.open(&"one".into());
        let slow = log.of_mission("one".into());
        for _ in 0..20 {
            let because = "x".repeat(KEPT_BYTES / 8);
            log.add(|| Arc::new(envelope.wrap(MissionEvent::Paused { because, patience: std::time::Duration::ZERO })));
        }
        assert!(locked(&log.kept).bytes <= KEPT_BYTES);
        drop(open);
        let (read, missed) = rest(slow).await;
        assert_eq!(read.len() as u64 + missed, 20);
        assert!(!read.is_empty() && missed > 0, "{missed}");
    }

    /// Tapes have names like these.
    const ONE: &str = "0199c3f0-7a00-7000-8000-000000000001";
    const OTHER: &str = "0199c3f0-7a00-7000-8000-000000000002";

    /// A mission that is on a tape, too.
    struct Recorded {
        log: Arc<EventLog>,
        open: OpenMission,
        envelope: Envelope,
        tape: Tape,
        told: Vec<EventId>,
    }

    impl Recorded {
        fn begin(log: &Arc<EventLog>, folder: &Folder, mission: &str) -> Self {
            let envelope = Envelope::new("/robot/cortex".to_owned(), mission.into(), Origin::new("test", "it"));
            let tape = Tape::begin(&TapeSettings::at(folder.directory()), &envelope, &TaskTracker::new());
            Self { log: Arc::clone(log), open: log.open(&mission.into()), envelope, tape, told: Vec::new() }
        }

        async fn tell(&mut self, times: usize) {
            for number in 0..times {
                self.log.add(|| {
                    let event = Arc::new(self.envelope.wrap(MissionEvent::Unpaused));
                    self.tape.published(&event);
                    self.told.push(event.id.clone());
                    event
                });
                if number % 100 == 0 {
                    self.tape.written().await;
                }
            }
            self.tape.written().await;
        }
    }

    /// The numbers of the next events of these missions.
    async fn next(events: &mut Events, count: usize) -> Vec<(String, u64)> {
        let mut read = Vec::new();
        for _ in 0..count {
            let event = tokio::time::timeout(LIMIT, events.recv()).await.unwrap().unwrap();
            read.push((event.subject.to_string(), event.sequence));
        }
        read
    }

    /// A thread that is woken for each step of a future.
    struct Driven(std::thread::Thread);

    impl std::task::Wake for Driven {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    impl Driven {
        fn by_this_thread<T>(future: impl Future<Output = T>) -> T {
            let waker = Arc::new(Self(std::thread::current())).into();
            let mut future = std::pin::pin!(future);
            loop {
                match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
                    std::task::Poll::Ready(output) => return output,
                    std::task::Poll::Pending => std::thread::park(),
                }
            }
        }
    }

    /// Nothing here takes longer.
    const LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

    fn numbers(mission: &str, numbers: impl IntoIterator<Item = usize>) -> Vec<(String, u64)> {
        numbers.into_iter().map(|number| (mission.to_owned(), number as u64)).collect()
    }

    /// A client that was slow was told nothing of the end of its mission, and called it failed.
    #[tokio::test]
    async fn regression_who_lags_behind_gets_the_rest_from_the_tape() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        let log = Arc::new(EventLog::new(Some(folder.clone())));
        let (mut one, mut all) = (Recorded::begin(&log, &folder, ONE), log.newest());
        let slow = log.of_mission(ONE.into());
        let mut other = Recorded::begin(&log, &folder, OTHER);
        one.tell(5).await;
        other.tell(KEPT).await;
        one.tell(5).await;
        let Recorded { open, .. } = one;
        drop(open);
        assert_eq!(rest(slow).await, (numbers(ONE, 1..=10), 0));
        assert_eq!(rest(log.of_mission(ONE.into())).await, (numbers(ONE, 1..=10), 0), "late, and all the same");
        let read = next(&mut all, 10 + KEPT).await;
        assert_eq!(read[..6], [numbers(ONE, 1..=5), numbers(OTHER, [1])].concat());
        assert_eq!((&read[5 + KEPT..], all.missed()), (&numbers(ONE, 6..=10)[..], 0));
    }

    /// The page has a runtime of its own.
    #[tokio::test]
    async fn who_follows_on_another_runtime_gets_what_is_read_back_too() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        let log = Arc::new(EventLog::new(Some(folder.clone())));
        let mut one = Recorded::begin(&log, &folder, ONE);
        let slow = log.of_mission(ONE.into());
        one.tell(KEPT + 7).await;
        let Recorded { open, .. } = one;
        drop(open);
        // No runtime at all is there: what was to be spawned on it would panic.
        let foreign = std::thread::spawn(move || Driven::by_this_thread(rest(slow)));
        let read = tokio::task::spawn_blocking(move || foreign.join().unwrap()).await.unwrap();
        assert_eq!(read, (numbers(ONE, 1..=KEPT + 7), 0));
    }

    #[tokio::test]
    async fn a_client_that_returns_gets_what_it_has_missed_also_after_a_restart() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        let before = Arc::new(EventLog::new(Some(folder.clone())));
        let mut early = Recorded::begin(&before, &folder, ONE);
        early.tell(5).await;
        let mut returned = before.after(early.told[1].clone());
        assert_eq!(next(&mut returned, 3).await, numbers(ONE, 3..=5));
        let log = Arc::new(EventLog::new(Some(folder.clone())));
        let mut returned = log.after(early.told[1].clone());
        assert_eq!(next(&mut returned, 3).await, numbers(ONE, 3..=5), "of the life before");
        let mut late = Recorded::begin(&log, &folder, OTHER);
        late.tell(2).await;
        assert_eq!(next(&mut returned, 2).await, numbers(OTHER, 1..=2), "and it goes on");
        let mut again = log.after(early.told[4].clone());
        assert_eq!(next(&mut again, 2).await, numbers(OTHER, 1..=2));
        assert_eq!((returned.missed(), again.missed()), (0, 0));
    }

    #[tokio::test]
    async fn a_tape_that_is_damaged_is_a_gap_and_holds_nobody_up() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        let log = Arc::new(EventLog::new(Some(folder.clone())));
        let mut one = Recorded::begin(&log, &folder, ONE);
        let slow = log.of_mission(ONE.into());
        one.tell(KEPT + 7).await;
        let path = folder.path(&ONE.into());
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // The first line is the tape's own.
        std::fs::write(&path, format!("{}\n{}\nno line\n", lines[0], lines[1])).unwrap();
        let Recorded { open, .. } = one;
        drop(open);
        let (read, missed) = rest(slow).await;
        assert_eq!((read[..2].to_vec(), missed), (numbers(ONE, [1, 8]), 6));
    }
}
