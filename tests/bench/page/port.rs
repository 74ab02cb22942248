//! A mission that tells a line every millisecond, each with the time at which it came to be.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use async_trait::async_trait;
use cortex_core::{ClientPort, ControlLoss, ControlPort, EventStream, OperatorPort, OverviewStream, RobotPort};
use cortex_protocol::event::{EventData, SPEC_VERSION};
use cortex_protocol::overview::{OVERVIEW_VERSION, Overview};
use cortex_protocol::{
    CloudEvent, Command, CommandError, CommandErrorKind, CommandOutcome, ConnectionId, EventId, MissionEvent,
    MissionId, OpenQuestion, Origin, Principal, RecordedMission, ToolSpec,
};
use cortex_ros::{LatestStop, StopHandle};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::task::AbortOnDropHandle;

/// The mission that tells.
const MISSION: &str = "talkative";
/// Between two lines: 1 kHz.
const PERIOD: Duration = Duration::from_millis(1);

/// What the page is shown: the lines, and the topics of a robot, to whose stop a STOP goes.
pub(crate) struct TalkativePort {
    events: Arc<Events>,
    overview: watch::Sender<Arc<Overview>>,
    stop: StopHandle,
    views: Arc<dyn RobotPort>,
    /// When the last cancel of each stop was sent, of those that found something in flight. A page asks once more where
    /// the first answer is late.
    pub(crate) stops: watch::Sender<Vec<Instant>>,
}

#[derive(Default)]
struct Events {
    all: Mutex<Vec<Arc<CloudEvent>>>,
    changed: watch::Sender<()>,
}

impl Events {
    fn add(&self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let event = line(all.len());
        all.push(Arc::new(event));
        drop(all);
        self.changed.send_replace(());
    }

    fn get(&self, number: usize) -> Option<Arc<CloudEvent>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).get(number).cloned()
    }

    fn count(&self) -> usize {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Line number `number`, which says when it came to be, in microseconds since 1970.
fn line(number: usize) -> CloudEvent {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let text = format!("line {number} at {at}, with as many words as a line of feedback has");
    CloudEvent {
        specversion: SPEC_VERSION.to_owned(),
        id: EventId::new(format!("{number:08}")),
        source: "/bench/cortex".to_owned(),
        kind: "cortex.model.refused".to_owned(),
        subject: MISSION.into(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        datacontenttype: "application/json".to_owned(),
        provider: "agent".to_owned(),
        event: "model".to_owned(),
        action: "refused".to_owned(),
        actor: "model".to_owned(),
        sequence: number as u64 + 1,
        data: EventData {
            origin: Origin::new("web", "bench"),
            text: text.clone(),
            payload: MissionEvent::ModelMistake { problem: text },
        },
    }
}

impl TalkativePort {
    pub(crate) fn new(stop: StopHandle, views: Arc<dyn RobotPort>) -> anyhow::Result<Self> {
        let overview = json!({
            "version": OVERVIEW_VERSION, "at_ms": 1, "started_ms": 1, "robot": "Bench", "node": "/bench/cortex", "tools": 0,
            "stop": {"stopped": false, "stops": 0, "why": "", "not_stopped": []},
            "model": {"name": "reflex", "requests": 0, "errors": 0, "prompt_tokens": 0, "completion_tokens": 0},
            "components": [], "calls": [], "budget": [],
            "missions": [{"id": MISSION, "task": "talk", "phase": "acting", "since_ms": 1, "plan": 0, "steps": [],
                          "more_steps": 0, "output": ""}],
        });
        let overview = serde_json::from_value(overview).context("the overview of the benchmark")?;
        Ok(Self {
            events: Arc::default(),
            overview: watch::Sender::new(Arc::new(overview)),
            stop,
            views,
            stops: watch::Sender::new(Vec::new()),
        })
    }

    /// Tells a line every millisecond while the handle is kept.
    pub(crate) fn talk(&self) -> AbortOnDropHandle<()> {
        let events = Arc::clone(&self.events);
        AbortOnDropHandle::new(tokio::spawn(async move {
            let mut beat = interval(PERIOD);
            beat.set_missed_tick_behavior(MissedTickBehavior::Burst);
            loop {
                beat.tick().await;
                events.add();
            }
        }))
    }

    fn stream(&self, next: usize) -> Box<dyn EventStream> {
        Box::new(Lines { events: Arc::clone(&self.events), changed: self.events.changed.subscribe(), next })
    }
}

struct Lines {
    events: Arc<Events>,
    changed: watch::Receiver<()>,
    next: usize,
}

#[async_trait]
impl EventStream for Lines {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        loop {
            self.changed.mark_unchanged();
            if let Some(event) = self.events.get(self.next) {
                self.next += 1;
                return Some(event);
            }
            self.changed.changed().await.ok()?;
        }
    }

    fn missed(&self) -> u64 {
        0
    }
}

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

fn refused() -> CommandError {
    CommandError::new(CommandErrorKind::Refused, "the benchmark does nothing but STOP")
}

#[async_trait]
impl ClientPort for TalkativePort {
    async fn ready(&self) -> Result<(), CommandError> {
        Ok(())
    }

    async fn execute(&self, command: Command, _: Principal) -> Result<CommandOutcome, CommandError> {
        if command != Command::Stop {
            return Err(refused());
        }
        let asked_at = Instant::now();
        let mut latest = self.stop.watch_latest();
        let mut stopping = pin!(self.stop.stop_for_task("the benchmark".to_owned()));
        let is_mine = |latest: &Option<LatestStop>| latest.as_ref().is_some_and(|latest| latest.asked_at >= asked_at);
        tokio::select! {
            biased;
            latest = latest.wait_for(is_mine) => if let Ok(latest) = latest
                && let Some(latest) = latest.as_ref().filter(|latest| latest.in_flight > 0)
            {
                self.stops.send_modify(|stops| stops.push(latest.sent_at));
            },
            outcome = &mut stopping => return outcome,
        }
        stopping.await
    }

    fn follow(&self, mission: &MissionId) -> Box<dyn EventStream> {
        self.stream(if mission.as_str() == MISSION { 0 } else { usize::MAX })
    }

    fn events(&self, after: Option<EventId>) -> Box<dyn EventStream> {
        let after: Option<usize> = after.and_then(|after| after.as_str().parse().ok());
        self.stream(after.map_or_else(|| self.events.count(), |after| after + 1))
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        Vec::new()
    }
}

/// Nobody takes the controls here.
impl ControlPort for TalkativePort {
    fn keep_controls(&self, _: &ConnectionId) {}

    fn lose_controls(&self, _: &ConnectionId, _: ControlLoss) {}
}

#[async_trait]
impl OperatorPort for TalkativePort {
    fn overviews(&self) -> Box<dyn OverviewStream> {
        Box::new(Overviews(self.overview.subscribe()))
    }

    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    fn robot(&self) -> Option<Arc<dyn RobotPort>> {
        Some(Arc::clone(&self.views))
    }

    async fn recorded(&self, _before: Option<MissionId>, _most: usize) -> Result<Vec<RecordedMission>, CommandError> {
        Err(refused())
    }

    fn tape(&self, _mission: &MissionId) -> Result<PathBuf, CommandError> {
        Err(refused())
    }
}
