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
    let of = |mission: &str, numbers: &[u64]| numbers.iter().map(|it| (mission.to_owned(), *it)).collect::<Vec<_>>();
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
    let mut read = next(&mut all, 1).await;
    assert_eq!(all.missed(), 0, "what is being read back is not missing");
    read.extend(next(&mut all, 9 + KEPT).await);
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
