//! Has a stop outlive this process: a thread of its own writes it down, and removes that at a resume. A stop never waits for
//! the disk; a resume does, so that no task begins of which a restart would not know that it may.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cortex_ros_client::RosError;
use thiserror::Error;

/// Why the disk does not say whether the robot is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StopRecordError {
    /// Another stop came while a resume waited.
    #[error("the robot was stopped again meanwhile")]
    StoppedAgain,
    /// The disk takes too long.
    #[error("the disk did not take it within {} s", .waited.as_secs_f64())]
    TimedOut {
        /// How long it was waited for.
        waited: Duration,
    },
    /// It could not be written or removed.
    #[error("{problem}")]
    Failed {
        /// What the operating system says.
        problem: String,
    },
}

/// Where a stop is written down. Both may take as long as the disk does.
pub trait StopStore: Send + 'static {
    /// Writes down that the robot is stopped, and why. It is on the disk when this returns.
    ///
    /// # Errors
    /// When the disk does not take it.
    fn write(&mut self, why: &str) -> io::Result<()>;

    /// Removes what was written. It is gone from the disk when this returns.
    ///
    /// # Errors
    /// When it may still be there.
    fn remove(&mut self) -> io::Result<()>;
}

/// What outlives a process: whether the robot is stopped.
pub struct StopMemory {
    /// Where it is written down.
    pub store: Box<dyn StopStore>,
    /// Why the robot is stopped from the beginning, in words for people. None: it is not.
    pub stopped: Option<String>,
}

/// Writes stops down. Clones share it; without a store it keeps nothing.
#[derive(Clone, Default)]
pub(super) struct Recorder(Option<Arc<Shared>>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Rung with each change of the state.
    changed: Condvar,
}

/// What is wanted, and what has come of it. A later wish takes the place of an earlier one that was not begun.
struct State {
    wanted: Wanted,
    wish: Wish,
    done: Wish,
    outcome: Result<(), StopRecordError>,
    is_ending: bool,
}

#[derive(Clone)]
enum Wanted {
    Stopped(String),
    Resumed,
}

/// Counts the wishes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wish(u64);

impl Default for State {
    fn default() -> Self {
        Self {
            wanted: Wanted::Resumed,
            wish: Wish::default(),
            done: Wish::default(),
            outcome: Ok(()),
            is_ending: false,
        }
    }
}

impl State {
    fn want(&mut self, wanted: Wanted) -> Wish {
        self.wanted = wanted;
        self.wish = Wish(self.wish.0.wrapping_add(1));
        self.wish
    }

    /// What has come of the latest wish. None: it is not done.
    fn outcome(&self) -> Option<Result<(), StopRecordError>> {
        (self.done == self.wish).then(|| self.outcome.clone())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the latest wish is done, and gives what has come of it; or until the time is over, with the problem.
    fn wait(&self, limit: Duration) -> Result<(), StopRecordError> {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| state.outcome().is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.outcome().unwrap_or(Err(StopRecordError::TimedOut { waited: limit }))
    }
}

impl Recorder {
    /// Starts the thread `stop-record`, where there is a store. It ends with [`end`](Self::end).
    pub(super) fn start(memory: Option<StopMemory>) -> Result<Self, RosError> {
        let Some(StopMemory { store, stopped }) = memory else { return Ok(Self::default()) };
        let shared = Arc::new(Shared::default());
        if let Some(why) = stopped {
            shared.lock().wanted = Wanted::Stopped(why);
        }
        let state = Arc::clone(&shared);
        let work = move || keep(&state, store);
        std::thread::Builder::new().name("stop-record".to_owned()).spawn(work).map_err(RosError::Thread)?;
        Ok(Self(Some(shared)))
    }

    /// The robot is stopped. Waits for nothing.
    pub(super) fn stopped(&self, why: &str) {
        let Some(shared) = &self.0 else { return };
        shared.lock().want(Wanted::Stopped(why.to_owned()));
        shared.changed.notify_all();
    }

    /// The latest wish, so that a resume can't undo a later stop.
    pub(super) fn latest(&self) -> Wish {
        self.0.as_ref().map(|shared| shared.lock().wish).unwrap_or_default()
    }

    /// Removes what the stops up to `latest` have left. Blocks until that is done, at most for `limit`.
    ///
    /// # Errors
    /// Why it is not, or that another stop came since. The robot must stay stopped then, and what is on the disk says so.
    pub(super) fn resumed(&self, latest: Wish, limit: Duration) -> Result<(), StopRecordError> {
        let Some(shared) = &self.0 else { return Ok(()) };
        let (wish, before) = {
            let mut state = shared.lock();
            if matches!(state.wanted, Wanted::Resumed) && state.outcome() == Some(Ok(())) {
                return Ok(());
            }
            if state.wish != latest {
                return Err(StopRecordError::StoppedAgain);
            }
            let before = state.wanted.clone();
            (state.want(Wanted::Resumed), before)
        };
        shared.changed.notify_all();
        let removed = shared.wait(limit);
        let mut state = shared.lock();
        if state.wish != wish {
            return Err(StopRecordError::StoppedAgain);
        }
        if removed.is_err() {
            state.want(before);
            shared.changed.notify_all();
        }
        removed
    }

    /// Whether the latest stop is on the disk. None: that is not known yet.
    pub(super) fn outcome(&self) -> Option<Result<(), StopRecordError>> {
        self.0.as_ref().map_or(Some(Ok(())), |shared| shared.lock().outcome())
    }

    /// The same; blocks until it is known, at most for `limit`.
    pub(super) fn wait(&self, limit: Duration) -> Result<(), StopRecordError> {
        self.0.as_ref().map_or(Ok(()), |shared| shared.wait(limit))
    }

    /// Ends the thread as soon as it has done what is wanted. Does not wait for it: a disk may hang.
    pub(super) fn end(&self) {
        if let Some(shared) = &self.0 {
            shared.lock().is_ending = true;
            shared.changed.notify_all();
        }
    }
}

fn keep(shared: &Shared, mut store: Box<dyn StopStore>) {
    let mut state = shared.lock();
    loop {
        if state.done == state.wish {
            if state.is_ending {
                return;
            }
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let (wanted, wish) = (state.wanted.clone(), state.wish);
        drop(state);
        let done = match &wanted {
            Wanted::Stopped(why) => store.write(why),
            Wanted::Resumed => store.remove(),
        };
        let outcome = done.map_err(|problem| StopRecordError::Failed { problem: problem.to_string() });
        if let (Wanted::Stopped(_), Err(problem)) = (&wanted, &outcome) {
            tracing::error!("the stop could not be written down, so a restart would undo it: {problem}");
        }
        state = shared.lock();
        (state.done, state.outcome) = (wish, outcome);
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// Longer than any test.
    const LONG: Duration = Duration::from_secs(60);
    /// More than any test lets a disk do.
    const TURNS: usize = 8;
    const SHORT: Duration = Duration::from_millis(50);

    /// A disk that does each thing when it is let.
    struct Disk {
        record: Arc<Mutex<Option<String>>>,
        turns: Receiver<io::Result<()>>,
    }

    impl Disk {
        fn change(&mut self, to: Option<&str>) -> io::Result<()> {
            self.turns.recv().map_err(io::Error::other)??;
            *self.record.lock().unwrap() = to.map(str::to_owned);
            Ok(())
        }
    }

    impl StopStore for Disk {
        fn write(&mut self, why: &str) -> io::Result<()> {
            self.change(Some(why))
        }

        fn remove(&mut self) -> io::Result<()> {
            self.change(None)
        }
    }

    struct World {
        recorder: Recorder,
        record: Arc<Mutex<Option<String>>>,
        disk: SyncSender<io::Result<()>>,
    }

    fn world(stopped: Option<&str>) -> World {
        let record = Arc::new(Mutex::new(stopped.map(str::to_owned)));
        let (disk, turns) = sync_channel(TURNS);
        let store = Box::new(Disk { record: Arc::clone(&record), turns });
        let recorder = Recorder::start(Some(StopMemory { store, stopped: stopped.map(str::to_owned) })).unwrap();
        World { recorder, record, disk }
    }

    impl World {
        fn let_disk_work(&self, times: u32) {
            (0..times).for_each(|_| self.disk.send(Ok(())).unwrap());
        }

        fn on_disk(&self) -> Option<String> {
            self.record.lock().unwrap().clone()
        }
    }

    #[test]
    fn a_stop_does_not_wait_for_the_disk_and_a_resume_does() {
        let world = world(None);
        assert_eq!(world.recorder.outcome(), Some(Ok(())), "there is nothing to be written");
        world.recorder.stopped("why");
        assert_eq!((world.recorder.outcome(), world.on_disk()), (None, None));
        world.let_disk_work(1);
        assert_eq!(world.recorder.wait(LONG), Ok(()));
        assert_eq!(world.on_disk().as_deref(), Some("why"));
        world.let_disk_work(1);
        assert_eq!(world.recorder.resumed(world.recorder.latest(), LONG), Ok(()));
        assert_eq!(world.on_disk(), None);
        assert_eq!(world.recorder.resumed(world.recorder.latest(), LONG), Ok(()), "there is nothing to be removed");
    }

    #[test]
    fn a_resume_that_the_disk_does_not_take_leaves_the_stop_on_it() {
        let world = world(Some("before the restart"));
        let in_time = world.recorder.resumed(world.recorder.latest(), SHORT);
        assert!(in_time.unwrap_err().to_string().contains("the disk did not take it within"));
        // It goes through with it after all; then the stop is written anew.
        world.let_disk_work(2);
        assert_eq!(world.recorder.wait(LONG), Ok(()));
        assert_eq!(world.on_disk().as_deref(), Some("before the restart"));
        world.disk.send(Err(io::Error::other("read-only"))).unwrap();
        world.let_disk_work(1);
        let read_only = StopRecordError::Failed { problem: "read-only".to_owned() };
        assert_eq!(world.recorder.resumed(world.recorder.latest(), LONG), Err(read_only));
        assert_eq!(world.recorder.wait(LONG), Ok(()));
        assert_eq!(world.on_disk().as_deref(), Some("before the restart"));
    }

    #[test]
    fn a_resume_never_removes_the_record_of_a_later_stop() {
        let world = world(Some("the first"));
        let latest = world.recorder.latest();
        world.recorder.stopped("the second");
        world.let_disk_work(1);
        assert_eq!(world.recorder.resumed(latest, LONG), Err(StopRecordError::StoppedAgain));
        assert_eq!(world.recorder.wait(LONG), Ok(()));
        assert_eq!(world.on_disk().as_deref(), Some("the second"));
    }

    #[test]
    fn a_stop_that_comes_while_a_resume_waits_for_the_disk_is_what_the_disk_has_in_the_end() {
        let world = world(Some("the first"));
        let (recorder, latest) = (world.recorder.clone(), world.recorder.latest());
        let resuming = std::thread::spawn(move || recorder.resumed(latest, LONG));
        while world.recorder.latest() == latest {
            std::thread::yield_now();
        }
        world.recorder.stopped("the second");
        world.let_disk_work(2);
        assert_eq!(resuming.join().unwrap(), Err(StopRecordError::StoppedAgain));
        assert_eq!(world.recorder.wait(LONG), Ok(()));
        assert_eq!(world.on_disk().as_deref(), Some("the second"));
    }

    #[test]
    fn what_can_not_be_written_is_known_and_what_is_wanted_is_done_before_the_end() {
        let world = world(None);
        world.recorder.stopped("why");
        world.disk.send(Err(io::Error::other("no space left"))).unwrap();
        let full = StopRecordError::Failed { problem: "no space left".to_owned() };
        assert_eq!(world.recorder.wait(LONG), Err(full.clone()));
        assert_eq!(world.recorder.outcome(), Some(Err(full)));
        world.recorder.stopped("again");
        world.recorder.end();
        world.let_disk_work(1);
        assert_eq!(world.recorder.wait(LONG), Ok(()));
        assert_eq!(world.on_disk().as_deref(), Some("again"));
    }
}
