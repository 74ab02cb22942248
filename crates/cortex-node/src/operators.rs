//! The port for clients that show the robot to people, such as the page. They may have a runtime of their own: whatever
//! needs that of Cortex is carried out there.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{
    ClientPort, ControlLoss, ControlPort, EventStream, EventWindow, IncidentPort, LogPort, MemoryPort, OperatorPort,
    OverviewStream, RobotPort, SkillPort,
};
use cortex_protocol::overview::Overview;
use cortex_protocol::{
    CloudEvent, Command, CommandError, CommandErrorKind, CommandOutcome, ConnectionId, EventId, MissionId,
    OpenQuestion, Origin, Principal, RecordedMission, ToolSpec,
};
use cortex_ros::StopHandle;
use cortex_runtime::Runtime;
use cortex_runtime::tape::{Folder, TapeError};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::task::AbortOnDropHandle;

use crate::SelfWatch;

/// Lists and parts of tapes that are read at a time; others wait. Reading must not take the threads that missions need.
const LISTS_AT_A_TIME: usize = 2;
/// Characters of the name of a client, and of what it comes by, in the reason of a stop.
const NAME_CHARACTERS: usize = 60;

/// The port for operators over the port for clients, which is given every command but those of the stop.
pub struct Operators {
    clients: Arc<dyn ClientPort>,
    runtime: Runtime,
    stop: StopHandle,
    overviews: watch::Receiver<Arc<Overview>>,
    tapes: Option<Folder>,
    lists: Arc<Semaphore>,
    robot: Option<Arc<dyn RobotPort>>,
    log: Option<Arc<dyn LogPort>>,
    incident: Option<Arc<dyn IncidentPort>>,
    memory: Option<Arc<dyn MemoryPort>>,
    skills: Option<Arc<dyn SkillPort>>,
    /// Who the robot is, whenever it is asked.
    identity: Box<dyn Fn() -> String + Send + Sync>,
    /// Where Cortex runs.
    handle: Handle,
}

impl Operators {
    /// To be called on the tokio runtime of Cortex. `clients` is the port over `runtime`, and `self_watch` is who gathers the
    /// overview.
    #[must_use]
    pub fn new(clients: Arc<dyn ClientPort>, runtime: &Runtime, stop: StopHandle, self_watch: &SelfWatch) -> Self {
        Self::showing(clients, runtime, stop, self_watch.overviews())
    }

    /// One that shows these overviews.
    #[must_use]
    pub fn showing(
        clients: Arc<dyn ClientPort>,
        runtime: &Runtime,
        stop: StopHandle,
        overviews: watch::Receiver<Arc<Overview>>,
    ) -> Self {
        Self {
            clients,
            runtime: runtime.clone(),
            stop,
            overviews,
            tapes: runtime.tapes(),
            lists: Arc::new(Semaphore::new(LISTS_AT_A_TIME)),
            robot: None,
            log: None,
            incident: None,
            memory: None,
            skills: None,
            identity: Box::new(String::new),
            handle: Handle::current(),
        }
    }

    /// With the robot itself to look at.
    #[must_use]
    pub fn with_robot(self, robot: Arc<dyn RobotPort>) -> Self {
        Self { robot: Some(robot), ..self }
    }

    /// One that shows the log of the robot's nodes, too.
    #[must_use]
    pub fn with_log(self, log: Option<Arc<dyn LogPort>>) -> Self {
        Self { log, ..self }
    }

    /// One with what is kept for an incident.
    #[must_use]
    pub fn with_incident(self, incident: Option<Arc<dyn IncidentPort>>) -> Self {
        Self { incident, ..self }
    }

    /// One with what the robot remembers.
    #[must_use]
    pub fn with_memory(self, memory: Option<Arc<dyn MemoryPort>>) -> Self {
        Self { memory, ..self }
    }

    /// One with the skills of the robot.
    #[must_use]
    pub fn with_skills(self, skills: Option<Arc<dyn SkillPort>>) -> Self {
        Self { skills, ..self }
    }

    /// One that says who the robot is.
    #[must_use]
    pub fn with_identity(self, identity: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self { identity: Box::new(identity), ..self }
    }

    /// Reads tapes where Cortex runs, a few at a time.
    async fn read<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> Result<T, CommandError> {
        let (lists, handle) = (Arc::clone(&self.lists), self.handle.clone());
        let reading = self.handle.spawn(async move {
            // It is never closed.
            let turn = lists.acquire_owned().await.ok();
            let reading = handle.spawn_blocking(move || {
                // Kept by who reads, also where nobody waits for it any more.
                let _turn = turn;
                read()
            });
            reading.await
        });
        given_up_when_dropped(reading).await?.map_err(|problem| ended(&problem))
    }

    fn tapes(&self) -> Result<&Folder, CommandError> {
        self.tapes.as_ref().ok_or_else(|| {
            CommandError::new(CommandErrorKind::NotFound, "this Cortex records no missions, so there are no tapes.")
        })
    }
}

#[async_trait]
impl ClientPort for Operators {
    async fn ready(&self) -> Result<(), CommandError> {
        let clients = Arc::clone(&self.clients);
        given_up_when_dropped(self.handle.spawn(async move { clients.ready().await })).await?
    }

    /// What was begun goes on when the future is dropped: half a dispute would be worse than one whose answer nobody reads.
    async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError> {
        principal.may(&command)?;
        match command {
            Command::Stop => self.stop.stop_for_task(reason(&principal.origin)).await,
            Command::Resume => self.stop.resume_for_task(principal).await,
            command => {
                let clients = Arc::clone(&self.clients);
                let executed = self.handle.spawn(async move { clients.execute(command, principal).await });
                executed.await.map_err(|problem| ended(&problem))?
            }
        }
    }

    fn follow(&self, mission: &MissionId) -> Box<dyn EventStream> {
        self.clients.follow(mission)
    }

    fn events(&self, after: Option<EventId>) -> Box<dyn EventStream> {
        self.clients.events(after)
    }

    fn questions(&self) -> Vec<OpenQuestion> {
        self.clients.questions()
    }
}

impl ControlPort for Operators {
    fn keep_controls(&self, connection: &ConnectionId) {
        self.runtime.keep_controls(connection);
    }

    fn lose_controls(&self, connection: &ConnectionId, loss: ControlLoss) {
        self.runtime.lose_controls(connection, loss);
    }
}

#[async_trait]
impl OperatorPort for Operators {
    fn overviews(&self) -> Box<dyn OverviewStream> {
        let mut overviews = self.overviews.clone();
        // The first one was not given yet, whenever it was gathered.
        overviews.mark_changed();
        Box::new(Overviews(overviews))
    }

    fn tools(&self) -> Vec<ToolSpec> {
        // Those that serve another one are for nobody to choose, and are not counted in the overview.
        let mut tools: Vec<ToolSpec> =
            self.runtime.tools().iter().filter(|spec| spec.serves.is_none()).cloned().collect();
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        tools
    }

    async fn recorded(&self, before: Option<MissionId>, most: usize) -> Result<Vec<RecordedMission>, CommandError> {
        let tapes = self.tapes()?.clone();
        let listed = self.read(move || tapes.recorded(before.as_ref(), most)).await?;
        listed.map_err(|problem| unlisted(&problem))
    }

    async fn window(&self, mission: &MissionId, window: EventWindow) -> Result<Option<Vec<CloudEvent>>, CommandError> {
        let Some(tapes) = self.tapes.clone() else { return Ok(None) };
        let wanted = mission.clone();
        let read = self.read(move || tapes.window(&wanted, &window)).await?;
        match read {
            Ok(Some(events)) => Ok(Some(events)),
            Ok(None) => {
                let reason = "this mission has no such event; its newest ones can be had without 'before'.";
                Err(CommandError::new(CommandErrorKind::NotFound, reason))
            }
            // Another part of Cortex may still have its events.
            Err(TapeError::Missing { .. }) => Ok(None),
            Err(problem) => {
                tracing::warn!("the tape of {mission} can't be read from its end: {problem}");
                Ok(None)
            }
        }
    }

    fn tape(&self, mission: &MissionId) -> Result<PathBuf, CommandError> {
        self.tapes()?.tape(mission).map_err(|_| unknown(mission))
    }

    fn robot(&self) -> Option<Arc<dyn RobotPort>> {
        self.robot.clone()
    }

    fn node_log(&self) -> Option<Arc<dyn LogPort>> {
        self.log.clone()
    }

    fn memory(&self) -> Option<Arc<dyn MemoryPort>> {
        self.memory.clone()
    }

    fn skills(&self) -> Option<Arc<dyn SkillPort>> {
        self.skills.clone()
    }

    fn identity(&self) -> String {
        (self.identity)()
    }

    fn incident(&self) -> Option<Arc<dyn IncidentPort>> {
        self.incident.clone()
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

/// What comes of it, unless nobody waits for that any more.
async fn given_up_when_dropped<T>(task: JoinHandle<T>) -> Result<T, CommandError> {
    AbortOnDropHandle::new(task).await.map_err(|problem| ended(&problem))
}

/// Why a stop is asked for, in words for people.
fn reason(origin: &Origin) -> String {
    let shown = |text: &str| -> String {
        let plain = text.trim().chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        plain.take(NAME_CHARACTERS).collect()
    };
    let name = match shown(&origin.client) {
        name if name.is_empty() => "somebody".to_owned(),
        name => name,
    };
    match origin.channel.as_str() {
        "web" => format!("STOP by {name} on the page"),
        channel => format!("STOP by {name} by way of {}", shown(channel)),
    }
}

/// The runtime of Cortex ended before the task did, or the task failed.
fn ended(problem: &JoinError) -> CommandError {
    let reason = if problem.is_panic() {
        "Cortex failed to carry this out, which is a flaw of Cortex; its log says more."
    } else {
        "Cortex is shutting down."
    };
    CommandError::new(CommandErrorKind::Unavailable, reason)
}

fn unlisted(problem: &TapeError) -> CommandError {
    match problem {
        TapeError::Missing { prefix, .. } => unknown(&prefix.as_str().into()),
        problem => {
            tracing::warn!("the recorded missions can't be listed: {problem}");
            let reason = "the folder of the tapes can't be read; the log of Cortex says why.";
            CommandError::new(CommandErrorKind::Unavailable, reason)
        }
    }
}

/// There is no tape of that mission. What is no id is not repeated: it may be anything.
fn unknown(mission: &MissionId) -> CommandError {
    let is_short =
        mission.as_str().len() <= NAME_CHARACTERS && mission.as_str().chars().all(|it| it.is_ascii_graphic());
    let named = if is_short { mission.as_str() } else { "of that name" };
    let reason = format!("there is no tape of a mission {named}; the list of recorded missions has them all.");
    CommandError::new(CommandErrorKind::NotFound, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_says_who_asked_for_it_whatever_they_call_themselves() {
        assert_eq!(reason(&Origin::new("web", "a tablet")), "STOP by a tablet on the page");
        assert_eq!(reason(&Origin::new("fleet", "depot 7")), "STOP by depot 7 by way of fleet");
        assert_eq!(reason(&Origin::new("web", " \n")), "STOP by somebody on the page");
        let hostile = reason(&Origin::new("web", format!("a\n\u{1b}[31m{}", "b".repeat(10_000))));
        assert!(hostile.len() < 100 && !hostile.contains(char::is_control), "{hostile:?}");
    }

    #[test]
    fn what_is_no_mission_is_not_repeated() {
        let reason = |name: &str| unknown(&name.into()).reason;
        assert!(reason("0199c3f0").contains("a mission 0199c3f0;"));
        for hostile in ["a b", "\u{202e}x", &"x".repeat(1_000), "a\nb"] {
            assert!(!reason(hostile).contains(hostile), "{hostile:?}");
        }
    }

    #[tokio::test]
    async fn a_slow_reader_gets_the_latest_overview_and_hears_the_end() {
        let overview = |at_ms: u64| -> Arc<Overview> {
            let overview = serde_json::json!({
                "version": 1, "at_ms": at_ms, "started_ms": 0, "robot": "r", "node": "/cortex", "tools": 0,
                "stop": {"stopped": false, "stops": 0, "why": "", "not_stopped": []},
                "model": {"name": "", "requests": 0, "errors": 0, "prompt_tokens": 0, "completion_tokens": 0},
                "components": [], "missions": [], "calls": [], "budget": [],
            });
            Arc::new(serde_json::from_value(overview).unwrap())
        };
        let sender = watch::Sender::new(overview(1));
        let mut overviews = Overviews(sender.subscribe());
        assert_eq!(overviews.latest().at_ms, 1);
        for at_ms in 2..100 {
            sender.send_replace(overview(at_ms));
        }
        assert_eq!(overviews.next().await.map(|it| it.at_ms), Some(99));
        drop(sender);
        assert_eq!(overviews.next().await, None);
        assert_eq!(overviews.latest().at_ms, 99, "the last one is still there to be shown");
    }
}
