//! The port that the page is served from. What happens there happened once; nothing that is asked for is done.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cortex_core::{ClientPort, ControlLoss, ControlPort, EventStream, OperatorPort, OverviewStream};
use cortex_protocol::overview::Overview;
use cortex_protocol::{
    CloudEvent, Command, CommandError, CommandErrorKind, CommandOutcome, ConnectionId, EventId, MissionId,
    OpenQuestion, Principal, RecordedMission, ToolSpec,
};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep, sleep_until};

use crate::picture::Picture;
use crate::recent::Recent;
use crate::recording::Recording;
use crate::round::{Position, Round};
use crate::speed::Speed;

/// Between the end of a round and the beginning of the next: people read how the mission ended.
const BETWEEN_ROUNDS: Duration = Duration::from_secs(8);
/// The status is renewed so often while nothing happens.
const RENEWED: Duration = Duration::from_secs(2);
/// Rounds whose events can be had: pages still show them.
const ROUNDS: usize = 8;
/// Events that are read ahead of those who follow.
const AHEAD: usize = 16;

/// A recorded mission as a robot: it happens again and again, until this is dropped.
pub struct RecordedRobot {
    shared: Arc<Shared>,
    playing: JoinHandle<()>,
}

struct Shared {
    recording: Recording,
    speed: Speed,
    recent: Arc<Recent>,
    picture: Mutex<Picture>,
    overview: watch::Sender<Arc<Overview>>,
    /// The latest is the last.
    rounds: Mutex<VecDeque<Arc<LiveRound>>>,
    handle: Handle,
}

/// A round, and how many of its events have happened.
struct LiveRound {
    round: Round,
    happened: watch::Sender<u64>,
}

/// What is read of a round.
enum Read {
    Event {
        due: Duration,
        event: Arc<CloudEvent>,
        bytes: usize,
    },
    /// The rest can't be read.
    Broken(String),
}

impl RecordedRobot {
    /// Begins to play. To be called on a tokio runtime, which does it.
    #[must_use]
    pub fn start(recording: Recording, speed: Speed) -> Self {
        let now = now_ms();
        let picture = Picture::new(&recording, speed, now);
        let shared = Arc::new(Shared {
            overview: watch::Sender::new(Arc::new(picture.overview(now))),
            recording,
            speed,
            recent: Arc::default(),
            picture: Mutex::new(picture),
            rounds: Mutex::default(),
            handle: Handle::current(),
        });
        let playing = tokio::spawn(play(Arc::clone(&shared)));
        Self { shared, playing }
    }
}

impl Drop for RecordedRobot {
    fn drop(&mut self) {
        self.playing.abort();
    }
}

async fn play(shared: Arc<Shared>) {
    let mut renewed = interval(RENEWED);
    loop {
        let (live, begun) = (shared.begin_round(), Instant::now());
        let mut events = shared.read(Some(live.round.clone()));
        while let Some(read) = events.recv().await {
            match read {
                Read::Event { due, event, bytes } => {
                    let due = begun.checked_add(due).unwrap_or(begun);
                    while Instant::now() < due {
                        tokio::select! {
                            () = sleep_until(due) => {}
                            _ = renewed.tick() => shared.change(|_| {}),
                        }
                    }
                    shared.change(|picture| picture.note(&event, now_ms()));
                    shared.recent.add(event, bytes);
                    live.happened.send_modify(|count| *count = count.saturating_add(1));
                }
                Read::Broken(because) => {
                    tracing::warn!("the rest of the recording is left out: {because}");
                    shared.change(|picture| picture.cut(because));
                }
            }
        }
        // Whoever follows it hears its end.
        live.happened.send_replace(u64::MAX);
        let next = sleep(BETWEEN_ROUNDS);
        tokio::pin!(next);
        loop {
            tokio::select! {
                () = &mut next => break,
                _ = renewed.tick() => shared.change(|_| {}),
            }
        }
    }
}

impl Shared {
    fn begin_round(&self) -> Arc<LiveRound> {
        let live = Arc::new(LiveRound { round: Round::begin(self.speed), happened: watch::Sender::new(0) });
        let mut rounds = locked(&self.rounds);
        rounds.push_back(Arc::clone(&live));
        if rounds.len() > ROUNDS {
            rounds.pop_front();
        }
        drop(rounds);
        self.change(Picture::begin);
        live
    }

    fn change(&self, change: impl FnOnce(&mut Picture)) {
        let mut picture = locked(&self.picture);
        change(&mut picture);
        self.overview.send_replace(Arc::new(picture.overview(now_ms())));
    }

    /// Reads the recording, as it happens in a round or as it is. Whoever drops the receiver ends it.
    fn read(self: &Arc<Self>, round: Option<Round>) -> mpsc::Receiver<Read> {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let shared = Arc::clone(self);
        self.handle.spawn_blocking(move || {
            let mut events = match shared.recording.events() {
                Ok(events) => events,
                Err(problem) => return drop(sender.blocking_send(Read::Broken(problem.to_string()))),
            };
            let mut position = Position::default();
            for (event, bytes) in events.by_ref() {
                let (due, event) = match &round {
                    Some(round) => round.take(&mut position, event),
                    None => (Duration::ZERO, event),
                };
                if sender.blocking_send(Read::Event { due, event: Arc::new(event), bytes }).is_err() {
                    return;
                }
            }
            if let Some(because) = events.broken() {
                let _ = sender.blocking_send(Read::Broken(because.to_owned()));
            }
        });
        receiver
    }

    fn round_of(&self, mission: &MissionId) -> Option<Arc<LiveRound>> {
        locked(&self.rounds).iter().find(|live| live.round.mission == *mission).map(Arc::clone)
    }

    fn is_known(&self, mission: &MissionId) -> bool {
        self.recording.about().mission == *mission || self.round_of(mission).is_some()
    }
}

/// Why nothing that is asked for is done.
fn refused() -> CommandError {
    let reason = "This is a recording: no robot is connected, and nothing moves. If a robot near you moves, use the page or \
                  the emergency stop of that robot.";
    CommandError::new(CommandErrorKind::Refused, reason)
}

#[async_trait]
impl ClientPort for RecordedRobot {
    async fn ready(&self) -> Result<(), CommandError> {
        Err(refused())
    }

    async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError> {
        principal.may(&command)?;
        Err(refused())
    }

    /// The mission as it was recorded, or as it happens in a round.
    fn follow(&self, mission: &MissionId) -> Box<dyn EventStream> {
        if *mission == self.shared.recording.about().mission {
            return Box::new(Following { events: self.shared.read(None), happened: None, taken: 0 });
        }
        let Some(live) = self.shared.round_of(mission) else { return Box::new(Nothing) };
        let events = self.shared.read(Some(live.round.clone()));
        Box::new(Following { events, happened: Some(live.happened.subscribe()), taken: 0 })
    }

    fn events(&self, after: Option<EventId>) -> Box<dyn EventStream> {
        self.shared.recent.follow(after.as_ref())
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        locked(&self.shared.picture).questions()
    }
}

/// Nobody has the controls of a recording.
impl ControlPort for RecordedRobot {
    fn keep_controls(&self, _connection: &ConnectionId) {}

    fn lose_controls(&self, _connection: &ConnectionId, _loss: ControlLoss) {}
}

#[async_trait]
impl OperatorPort for RecordedRobot {
    fn overviews(&self) -> Box<dyn OverviewStream> {
        let mut overviews = self.shared.overview.subscribe();
        overviews.mark_changed();
        Box::new(Overviews(overviews))
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.shared.recording.tools().to_vec()
    }

    async fn recorded(&self, before: Option<MissionId>, most: usize) -> Result<Vec<RecordedMission>, CommandError> {
        let about = self.shared.recording.about();
        let is_listed = before.is_none_or(|before| about.mission < before);
        Ok(std::iter::once(about.clone()).filter(|_| is_listed).take(most).collect())
    }

    fn tape(&self, mission: &MissionId) -> Result<PathBuf, CommandError> {
        if self.shared.is_known(mission) {
            return Ok(self.shared.recording.path().to_owned());
        }
        Err(CommandError::new(CommandErrorKind::NotFound, "this is a recording of another mission."))
    }
}

/// The events of one mission. See [`EventStream`].
struct Following {
    events: mpsc::Receiver<Read>,
    /// How many have happened. None: all.
    happened: Option<watch::Receiver<u64>>,
    taken: u64,
}

#[async_trait]
impl EventStream for Following {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        let taken = self.taken;
        if let Some(happened) = &mut self.happened {
            // Where the round is forgotten, it is over: the rest of it has happened, too.
            let _ = happened.wait_for(|count| *count > taken).await;
        }
        match self.events.recv().await? {
            Read::Event { event, .. } => {
                self.taken += 1;
                Some(event)
            }
            Read::Broken(_) => None,
        }
    }

    fn missed(&self) -> u64 {
        0
    }
}

/// A mission that is not known.
struct Nothing;

#[async_trait]
impl EventStream for Nothing {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        None
    }

    fn missed(&self) -> u64 {
        0
    }
}

/// See [`OverviewStream`].
struct Overviews(watch::Receiver<Arc<Overview>>);

#[async_trait]
impl OverviewStream for Overviews {
    fn latest(&self) -> Arc<Overview> {
        Arc::clone(&self.0.borrow())
    }

    async fn next(&mut self) -> Option<Arc<Overview>> {
        self.0.changed().await.ok()?;
        Some(Arc::clone(&self.0.borrow_and_update()))
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
