//! The robot behind the page.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cortex_core::{
    CONTROL_LEASE, ClientPort, ControlLoss, ControlPort, EventStream, EventWindow, IncidentPort, LogPort, LogStream,
    OperatorPort, OverviewStream, RobotPort, SkillPort, control,
};
use cortex_protocol::event::{EventData, SPEC_VERSION};
use cortex_protocol::overview::{OVERVIEW_VERSION, Overview};
use cortex_protocol::{
    CloudEvent, Command, CommandError, CommandErrorKind, CommandOutcome, ConnectionId, Control, ControlState, EventId,
    LogLevel, LogLine, MissionEvent, MissionId, OpenQuestion, Origin, Principal, RecordedMission, StopOutcome,
    ToolSpec,
};
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;

use super::{HANGS, ScriptedRobot};

/// A robot that does what a test says.
pub(crate) struct ScriptedPort {
    told: Arc<Told>,
    overview: watch::Sender<Arc<Overview>>,
    executed: watch::Sender<Vec<(Command, Principal)>>,
    questions: Mutex<Vec<OpenQuestion>>,
    /// Whether a task can be planned.
    pub(crate) ready: watch::Sender<bool>,
    /// Whether a stop comes to its end.
    pub(crate) stops_end: watch::Sender<bool>,
    /// Stops that have come to their end.
    pub(crate) stops_ended: watch::Sender<usize>,
    pub(crate) tape: Mutex<Option<PathBuf>>,
    /// What can be read from the end of a mission. None: nothing can.
    pub(crate) window: Mutex<Option<Vec<CloudEvent>>>,
    /// What is kept for an incident.
    pub(crate) incident: Mutex<Option<Arc<dyn IncidentPort>>>,
    /// The skills of the robot. None: it uses none.
    pub(crate) skills: Mutex<Option<Arc<dyn SkillPort>>>,
    /// The log of the robot's nodes. None: it is not read.
    pub(crate) log: Option<Arc<ScriptedLog>>,
    /// Whether the next task is refused because there is too much to do.
    pub(crate) is_busy: AtomicBool,
    /// Streams of events that continue after one.
    pub(crate) refills: AtomicUsize,
    pub(crate) robot: Arc<ScriptedRobot>,
    /// When the holder of the controls was heard last.
    heard: Mutex<Instant>,
}

struct Told {
    events: Mutex<Vec<Arc<CloudEvent>>>,
    lost: Mutex<BTreeSet<usize>>,
    changed: watch::Sender<()>,
}

/// Event number `number` of the mission `m`.
fn event(number: usize, text: &str) -> CloudEvent {
    CloudEvent {
        specversion: SPEC_VERSION.to_owned(),
        id: EventId::new(format!("{number:08}")),
        source: "/robbie/cortex".to_owned(),
        kind: "cortex.model.refused".to_owned(),
        subject: "m".into(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        datacontenttype: "application/json".to_owned(),
        provider: "agent".to_owned(),
        event: "model".to_owned(),
        action: "refused".to_owned(),
        actor: "model".to_owned(),
        sequence: number as u64 + 1,
        data: EventData {
            origin: Origin::new("web", "test"),
            text: text.to_owned(),
            payload: MissionEvent::ModelMistake { problem: text.to_owned() },
        },
    }
}

fn calm() -> Overview {
    serde_json::from_value(serde_json::json!({
        "version": OVERVIEW_VERSION, "at_ms": 1, "started_ms": 1, "robot": "Robbie", "node": "/robbie/cortex", "tools": 0,
        "stop": {"stopped": false, "stops": 0, "why": "", "not_stopped": []},
        "model": {"name": "reflex", "requests": 0, "errors": 0, "prompt_tokens": 0, "completion_tokens": 0},
        "components": [], "missions": [], "calls": [], "budget": []
    }))
    .unwrap()
}

impl ScriptedPort {
    pub(crate) fn new() -> Self {
        let told = Told { events: Mutex::default(), lost: Mutex::default(), changed: watch::Sender::new(()) };
        Self {
            told: Arc::new(told),
            overview: watch::Sender::new(Arc::new(calm())),
            executed: watch::Sender::new(Vec::new()),
            questions: Mutex::default(),
            ready: watch::Sender::new(true),
            stops_end: watch::Sender::new(true),
            stops_ended: watch::Sender::new(0),
            tape: Mutex::default(),
            window: Mutex::default(),
            incident: Mutex::default(),
            skills: Mutex::default(),
            log: Some(Arc::new(ScriptedLog { lines: Mutex::default(), newest: broadcast::Sender::new(20_000) })),
            is_busy: AtomicBool::new(false),
            refills: AtomicUsize::new(0),
            robot: Arc::default(),
            heard: Mutex::new(Instant::now()),
        }
    }

    /// Waits until the controls are so, and says what they are.
    pub(crate) async fn controls_are(&self, state: ControlState) -> Control {
        let mut overview = self.overview.subscribe();
        let reached = timeout(HANGS, overview.wait_for(|overview| overview.control.state == state)).await;
        reached.expect("the controls").unwrap().control.clone()
    }

    /// Ends the lease of the controls where nobody was heard, as the runtime does.
    pub(crate) async fn watch_lease(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let is_over = self.heard.lock().unwrap().elapsed() >= CONTROL_LEASE;
            let holder = self.overview.borrow().control.holder.clone();
            if let Some(holder) = holder.filter(|_| is_over) {
                self.lose_controls(&holder, ControlLoss::Silent);
            }
        }
    }

    /// A node logs this.
    pub(crate) fn log(&self, level: LogLevel, text: &str) {
        self.log.as_ref().expect("a log").add(level, text);
    }

    /// Tells so many more events, each with this text.
    pub(crate) fn tell(&self, count: usize, text: &str) {
        let mut events = self.told.events.lock().unwrap();
        for _ in 0..count {
            let number = events.len();
            events.push(Arc::new(event(number, text)));
        }
        drop(events);
        self.told.changed.send_replace(());
    }

    /// The events of these numbers can't be had any more.
    pub(crate) fn lose(&self, numbers: std::ops::Range<usize>) {
        self.told.lost.lock().unwrap().extend(numbers);
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Overview)) {
        self.overview.send_modify(|overview| change(Arc::make_mut(overview)));
    }

    pub(crate) fn ask(&self, questions: Vec<OpenQuestion>) {
        *self.questions.lock().unwrap() = questions;
    }

    pub(crate) fn executed(&self) -> Vec<(Command, Principal)> {
        self.executed.borrow().clone()
    }

    pub(crate) fn count(&self, command: &Command) -> usize {
        self.executed.borrow().iter().filter(|(executed, _)| executed == command).count()
    }

    /// Waits until so many commands were begun.
    pub(crate) async fn executed_are(&self, count: usize) -> Vec<(Command, Principal)> {
        let mut executed = self.executed.subscribe();
        let reached = timeout(HANGS, executed.wait_for(|executed| executed.len() >= count)).await;
        reached.expect("the commands were begun").unwrap().clone()
    }

    fn stream(&self, next: usize) -> Box<dyn EventStream> {
        let changed = self.told.changed.subscribe();
        Box::new(Following { told: Arc::clone(&self.told), changed, next, missed: 0 })
    }
}

struct Following {
    told: Arc<Told>,
    changed: watch::Receiver<()>,
    next: usize,
    missed: u64,
}

#[async_trait]
impl EventStream for Following {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        loop {
            self.changed.mark_unchanged();
            loop {
                let Some(event) = self.told.events.lock().unwrap().get(self.next).cloned() else { break };
                self.next += 1;
                if !self.told.lost.lock().unwrap().contains(&(self.next - 1)) {
                    return Some(event);
                }
                self.missed += 1;
            }
            self.changed.changed().await.ok()?;
        }
    }

    fn missed(&self) -> u64 {
        self.missed
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

#[async_trait]
impl ClientPort for ScriptedPort {
    async fn ready(&self) -> Result<(), CommandError> {
        let mut ready = self.ready.subscribe();
        ready.wait_for(|ready| *ready).await.map(drop).map_err(|_| gone())
    }

    async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError> {
        principal.may(&command)?;
        control::check(&self.overview.borrow().control, &command, &principal)?;
        self.executed.send_modify(|executed| executed.push((command.clone(), principal)));
        match command {
            Command::Stop => {
                let mut end = self.stops_end.subscribe();
                end.wait_for(|end| *end).await.map(drop).map_err(|_| gone())?;
                self.stops_ended.send_modify(|ended| *ended += 1);
                Ok(CommandOutcome::Stopped(StopOutcome { missions_ended: 1, not_stopped: vec!["base.go_to".into()] }))
            }
            Command::Resume => Ok(CommandOutcome::Resumed { was_stopped: true }),
            Command::Submit { .. } if self.is_busy.swap(false, Ordering::Relaxed) => {
                Err(CommandError::new(CommandErrorKind::Busy, "another task is being taken"))
            }
            Command::Submit { .. } => Ok(CommandOutcome::Submitted { mission: "m".into() }),
            Command::Cancel { mission } => Ok(CommandOutcome::Cancelled { mission }),
            Command::Pause | Command::Unpause | Command::TakeOver | Command::HandBack => {
                let by = self.executed.borrow().last().unwrap().1.clone();
                let now = self.overview.borrow().control.clone();
                let control = match command {
                    Command::Pause => control::pause(&now, &by, 1),
                    Command::Unpause => control::unpause(&now, &by, 1),
                    Command::TakeOver => control::take_over(&now, &by, 1),
                    _ => control::hand_back(&now, &by, 1),
                }?;
                *self.heard.lock().unwrap() = Instant::now();
                self.change(|overview| overview.control = control.clone());
                Ok(CommandOutcome::Control(control))
            }
            Command::Answer { question, .. } => Ok(CommandOutcome::Answered { question }),
            _ => Err(CommandError::new(CommandErrorKind::Refused, "not in this test")),
        }
    }

    fn follow(&self, mission: &MissionId) -> Box<dyn EventStream> {
        let next = if mission.as_str() == "m" { 0 } else { usize::MAX };
        self.stream(next)
    }

    fn events(&self, after: Option<EventId>) -> Box<dyn EventStream> {
        let events = self.told.events.lock().unwrap();
        let next = match after {
            None => events.len(),
            Some(after) => {
                self.refills.fetch_add(1, Ordering::SeqCst);
                events.iter().position(|event| event.id == after).map_or(0, |at| at + 1)
            }
        };
        drop(events);
        self.stream(next)
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        self.questions.lock().unwrap().clone()
    }
}

impl ControlPort for ScriptedPort {
    fn keep_controls(&self, connection: &ConnectionId) {
        if self.overview.borrow().control.is_held_over(connection) {
            *self.heard.lock().unwrap() = Instant::now();
        }
    }

    fn lose_controls(&self, connection: &ConnectionId, loss: ControlLoss) {
        let lost = control::lose(&self.overview.borrow().control, connection, loss, 1);
        if let Some(control) = lost {
            self.change(|overview| overview.control = control);
        }
    }
}

#[async_trait]
impl OperatorPort for ScriptedPort {
    fn overviews(&self) -> Box<dyn OverviewStream> {
        Box::new(Overviews(self.overview.subscribe()))
    }

    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    async fn recorded(&self, _before: Option<MissionId>, _most: usize) -> Result<Vec<RecordedMission>, CommandError> {
        Err(CommandError::new(CommandErrorKind::Unavailable, "nothing is recorded"))
    }

    fn node_log(&self) -> Option<Arc<dyn LogPort>> {
        self.log.clone().map(|log| -> Arc<dyn LogPort> { log })
    }

    fn incident(&self) -> Option<Arc<dyn IncidentPort>> {
        self.incident.lock().unwrap().clone()
    }

    fn skills(&self) -> Option<Arc<dyn SkillPort>> {
        self.skills.lock().unwrap().clone()
    }

    async fn window(&self, _: &MissionId, _: EventWindow) -> Result<Option<Vec<CloudEvent>>, CommandError> {
        Ok(self.window.lock().unwrap().clone())
    }

    fn tape(&self, _mission: &MissionId) -> Result<PathBuf, CommandError> {
        let tape = self.tape.lock().unwrap().clone();
        tape.ok_or_else(|| CommandError::new(CommandErrorKind::NotFound, "there is no tape of this mission"))
    }

    fn robot(&self) -> Option<Arc<dyn RobotPort>> {
        Some(Arc::clone(&self.robot) as Arc<dyn RobotPort>)
    }
}

/// What nodes have logged.
pub(crate) struct ScriptedLog {
    lines: Mutex<Vec<Arc<LogLine>>>,
    newest: broadcast::Sender<Arc<LogLine>>,
}

struct FollowingLog(broadcast::Receiver<Arc<LogLine>>);

#[async_trait]
impl LogStream for FollowingLog {
    async fn next(&mut self) -> Option<Arc<LogLine>> {
        self.0.recv().await.ok()
    }

    fn missed(&self) -> u64 {
        0
    }
}

impl ScriptedLog {
    fn add(&self, level: LogLevel, text: &str) {
        let mut lines = self.lines.lock().unwrap();
        let at_ms = lines.len() as u64;
        let line = LogLine { at_ms, level, node: "base".to_owned(), text: text.to_owned(), count: 1 };
        lines.push(Arc::new(line.clone()));
        let _ = self.newest.send(Arc::new(line));
    }
}

impl LogPort for ScriptedLog {
    fn latest(&self, most: usize) -> Vec<Arc<LogLine>> {
        let lines = self.lines.lock().unwrap();
        lines[lines.len().saturating_sub(most)..].to_vec()
    }

    fn follow(&self, most: usize) -> (Vec<Arc<LogLine>>, Box<dyn LogStream>) {
        let latest = self.latest(most);
        let next = self.newest.subscribe();
        (latest, Box::new(FollowingLog(next)))
    }
}

fn gone() -> CommandError {
    CommandError::new(CommandErrorKind::Unavailable, "the test is over")
}
