//! The memory of the running robot: it is fed from topics, follows the map in use, and keeps an episode of each task that acts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_config::{MapChoice, MemorySettings};
use cortex_core::fragment::one_line;
use cortex_core::{ContextSource, ConversationPort, Embedder, EventStream as _, MemoryPort, RobotPort as _};
use cortex_memory::{
    Arrival, Conversations, EpisodeId, InteractionReader, MapInUse, MapRef, Memory, MemoryError, MemoryForPeople,
    MemorySource, MemoryTools, NamedRegion, Observation, Outcome, SpokenTasks, Standing, TopicReading, WaitingTasks,
    is_person, person, utc_offset_min,
};
use cortex_protocol::robot_view::{GridMap, RobotSight};
use cortex_protocol::{CloudEvent, MissionEvent, MissionId, MissionResult, MissionStatus, Origin};
use cortex_robot::Robot;
use cortex_ros::{HeardMessage, RobotViews, TopicFeed};
use cortex_runtime::{Events, Runtime};
use sha2::{Digest as _, Sha256};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

/// How long the file may take to be opened: one of an older format is taken over then.
const OPEN_LIMIT: Duration = Duration::from_secs(60);
/// How long the end of the last episodes may take.
const END_LIMIT: Duration = Duration::from_secs(3);
/// Messages that are written at a time: each time waits for the disk.
const BATCH: usize = 256;
/// Characters of a task or of a result that are kept of an episode.
const EPISODE_CHARACTERS: usize = 500;
/// Bytes of a map's version.
const VERSION_BYTES: usize = 8;
/// Most different problems of messages that are told.
const MOST_PROBLEMS: usize = 100;

/// A memory that is open.
pub struct OpenMemory {
    memory: Memory,
    map: Arc<Map>,
    conversations: Conversations,
    spoken: SpokenTasks,
    waiting: WaitingTasks,
    settings: MemorySettings,
}

/// The map in use.
#[derive(Default)]
struct Map {
    known: Mutex<Option<KnownMap>>,
    /// Held while a map is looked at: what was observed meanwhile waits until it is known in which map it holds.
    turn: tokio::sync::Mutex<()>,
}

/// A map, and since when it is in use, by the wall clock in milliseconds since 1970. What was observed before holds in another
/// one, perhaps.
#[derive(Clone, PartialEq, Eq)]
struct KnownMap {
    map: MapRef,
    since_ms: u64,
}

impl Map {
    fn known(&self) -> Option<KnownMap> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, known: Option<KnownMap>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// The map in which what was observed then holds.
    fn at(&self, wall_ms: u64) -> Option<MapRef> {
        self.known().filter(|known| known.since_ms <= wall_ms).map(|known| known.map)
    }
}

impl OpenMemory {
    /// Opens the memory, and finds what it holds by its meaning, too, where there is an embedder. Where it can't be had, the robot
    /// works without it, and it is said why.
    pub async fn open(settings: Option<MemorySettings>, embedder: Option<Arc<dyn Embedder>>) -> Option<Self> {
        let settings = settings?;
        let opening = Memory::open(&settings.file, settings.rules.clone());
        let Ok(opened) = tokio::time::timeout(OPEN_LIMIT, opening).await else {
            let (file, seconds) = (settings.file.display(), OPEN_LIMIT.as_secs());
            tracing::error!(
                "the robot remembers nothing: {file} could not be opened within {seconds} s; does the disk hang?"
            );
            return None;
        };
        match opened {
            Ok(memory) => {
                let memory = match embedder {
                    Some(embedder) => memory.with_embedder(embedder),
                    None => memory,
                };
                memory.catch_up();
                let map = Map::default();
                if let MapChoice::Fixed(fixed) = &settings.map {
                    map.set(Some(KnownMap { map: fixed.clone(), since_ms: 0 }));
                }
                let (spoken, waiting) = (SpokenTasks::default(), WaitingTasks::default());
                let conversations = Conversations::new(memory.clone());
                Some(Self { memory, map: Arc::new(map), conversations, spoken, waiting, settings })
            }
            Err(problem) => {
                tracing::error!("the robot remembers nothing: {problem}");
                None
            }
        }
    }

    /// What planning is told of it. `identity`: who the robot is, in a sentence, whenever it is asked.
    #[must_use]
    pub fn context_source(&self, identity: impl Fn() -> String + Send + Sync + 'static) -> Arc<dyn ContextSource> {
        let waiting = self.waiting.clone();
        let standing = Arc::new(move || Standing { identity: identity(), waiting: waiting.texts() });
        Arc::new(MemorySource::new(self.memory.clone(), self.map_in_use()).with_standing(standing))
    }

    /// What was asked in conversations: they go on after a restart.
    #[must_use]
    pub fn conversations(&self) -> Arc<dyn ConversationPort> {
        Arc::new(self.conversations.clone())
    }

    /// The memory as tools.
    #[must_use]
    pub fn tools(&self) -> MemoryTools {
        let map_frame = self.settings.map_frame.clone();
        MemoryTools::new(self.memory.clone(), self.map_in_use(), map_frame, self.spoken.clone())
            .with_conversations(self.conversations.clone())
    }

    /// The memory for people.
    #[must_use]
    pub fn for_people(&self) -> Arc<dyn MemoryPort> {
        Arc::new(MemoryForPeople::new(self.memory.clone(), self.map_in_use()))
    }

    fn map_in_use(&self) -> MapInUse {
        let map = Arc::clone(&self.map);
        Arc::new(move || map.known().map(|known| known.map))
    }

    /// Begins to remember what the robot observes, and the tasks of this runtime; none, where nothing really happens.
    #[must_use]
    pub fn remember(self, robot: &Robot, runtime: Option<&Runtime>) -> Remembering {
        let Self { memory, map, conversations, spoken, waiting, settings } = self;
        let topics: BTreeSet<String> = settings.readings.iter().map(|reading| reading.topic.clone()).collect();
        let feed = TopicFeed::start(&robot.graph, &robot.endpoints, &robot.discovery, topics);
        let mut tasks = JoinSet::new();
        if let MapChoice::Topic { topic, id } = settings.map.clone() {
            let views = RobotViews::new(&robot.graph, &robot.endpoints, &robot.discovery);
            tasks.spawn(follow_map(views, topic, id, Arc::clone(&map)));
        }
        let intake = Intake {
            memory: memory.clone(),
            readings: settings.readings,
            places: settings.places,
            map_frame: settings.map_frame,
            map,
            told: BTreeSet::new(),
            failing: None,
        };
        tasks.spawn(intake.run(feed));
        let ending = CancellationToken::new();
        let episodes = runtime.map(|runtime| {
            // Apart from the episodes, which wait for the disk: what a person said must be known when it is to be noted.
            tasks.spawn(listen(runtime.events(), spoken));
            let episodes = Episodes { memory, open: BTreeMap::new(), people: InteractionReader::new(waiting) };
            tokio::spawn(episodes.run(runtime.events(), ending.clone()))
        });
        Remembering { _tasks: tasks, episodes, conversations, ending }
    }
}

/// A memory that is fed. Dropping it ends that.
pub struct Remembering {
    _tasks: JoinSet<()>,
    episodes: Option<JoinHandle<()>>,
    conversations: Conversations,
    ending: CancellationToken,
}

impl Remembering {
    /// Ends what has begun, after the missions: their episodes are ended first.
    pub async fn end(self) {
        self.ending.cancel();
        match tokio::time::timeout(END_LIMIT, self.conversations.settle()).await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => {
                tracing::error!("what came of the last tasks is not kept in their conversations: {problem}");
            }
            Err(_) => tracing::error!(
                "what came of the last tasks was not kept in their conversations within {} s; does the disk hang?",
                END_LIMIT.as_secs()
            ),
        }
        let Some(episodes) = self.episodes else { return };
        // A disk that hangs must not keep the robot from being brought down.
        match tokio::time::timeout(END_LIMIT, episodes).await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => tracing::error!("the episodes of the last tasks were not ended: {problem}"),
            Err(_) => tracing::error!(
                "the episodes of the last tasks were not ended within {} s; does the disk hang?",
                END_LIMIT.as_secs()
            ),
        }
    }
}

/// The wall clock, in milliseconds since 1970.
fn wall_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Takes in what comes.
struct Intake {
    memory: Memory,
    readings: Vec<TopicReading>,
    places: Vec<NamedRegion>,
    map_frame: String,
    map: Arc<Map>,
    /// What was said to be wrong with messages. Each is said once.
    told: BTreeSet<String>,
    /// Why nothing could be written last.
    failing: Option<String>,
}

impl Intake {
    async fn run(mut self, mut feed: TopicFeed) {
        loop {
            let heard = feed.next(BATCH).await;
            if heard.is_empty() {
                return;
            }
            let map = Arc::clone(&self.map);
            // A map that is being looked at is waited for.
            let turn = map.turn.lock().await;
            let observations: Vec<Observation> =
                heard.iter().flat_map(|message| self.observations(message, map.at(message.wall_ms).as_ref())).collect();
            drop(turn);
            if !observations.is_empty() {
                let written = self.memory.add(observations).await;
                self.note(written.err());
            }
        }
    }

    fn observations(&mut self, heard: &HeardMessage, map: Option<&MapRef>) -> Vec<Observation> {
        let arrival = Arrival {
            wall_ms: heard.wall_ms,
            is_of_unknown_age: heard.is_of_unknown_age,
            map,
            map_frame: &self.map_frame,
            places: &self.places,
        };
        let mut observations = Vec::new();
        for reading in self.readings.iter().filter(|reading| reading.topic == heard.topic) {
            let Some(layer) = self.memory.rules().layers.get(&reading.layer) else { continue };
            let taken = reading.read(&heard.message, layer.kind, &arrival);
            observations.extend(taken.observations);
            let Some(problem) = taken.problem else { continue };
            let problem =
                format!("a message of {} is not remembered in the layer {}: {problem}", heard.topic, reading.layer);
            if self.told.len() < MOST_PROBLEMS && self.told.insert(problem.clone()) {
                tracing::warn!("{problem}");
            }
        }
        observations
    }

    /// Says that nothing can be written, and that it can again.
    fn note(&mut self, problem: Option<MemoryError>) {
        let problem = problem.map(|problem| problem.to_string());
        match &problem {
            Some(why) if self.failing != problem => tracing::error!("nothing new is remembered: {why}"),
            None if self.failing.is_some() => tracing::info!("what is new is remembered again"),
            Some(_) | None => {}
        }
        self.failing = problem;
    }
}

/// Keeps the map in use: its version is what it looks like, so that the same map after a restart is the same. Where there is
/// none, or one that can't be read, none is in use: nobody is sent to a pose by mistake.
async fn follow_map(views: RobotViews, topic: String, id: String, map: Arc<Map>) {
    let mut sights = views.watch(&topic, None, None);
    let (mut last, mut told): (Option<KnownMap>, Option<String>) = (None, None);
    while let Some(sight) = sights.next().await {
        let came_ms = wall_ms();
        let _turn = map.turn.lock().await;
        map.set(None);
        let grid = match sight {
            RobotSight::Map(grid) => grid,
            RobotSight::Absent { reason } | RobotSight::Unusable { reason } => {
                if told.as_ref() != Some(&reason) {
                    tracing::info!("no map is in use, so poses are not remembered: {reason}");
                    told = Some(reason);
                }
                last = None;
                continue;
            }
            _ => continue,
        };
        // Of a large map, some hundred milliseconds of work.
        let Ok(version) = tokio::task::spawn_blocking(move || version(&grid)).await else { continue };
        let in_use = MapRef { id: id.clone(), version };
        let known = match last.take().filter(|last| last.map == in_use) {
            Some(same) => same,
            None => {
                tracing::info!("the map in use is {} {}", in_use.id, in_use.version);
                KnownMap { map: in_use, since_ms: came_ms }
            }
        };
        map.set(Some(known.clone()));
        (last, told) = (Some(known), None);
    }
}

/// A digest of a map: of its cells, and of where they lie.
fn version(grid: &GridMap) -> String {
    let mut digest = Sha256::new();
    digest.update(grid.width.to_le_bytes());
    digest.update(grid.height.to_le_bytes());
    for number in [grid.resolution_m, grid.origin.x, grid.origin.y, grid.origin.heading] {
        digest.update(number.to_le_bytes());
    }
    digest.update(grid.origin.frame.as_bytes());
    let cells: Vec<u8> = grid.cells.iter().map(|cell| cell.cast_unsigned()).collect();
    digest.update(&cells);
    digest.finalize().iter().take(VERSION_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Hears what people say in their tasks. A person's own words count as such; those of events and of other systems do not.
async fn listen(mut events: Events, spoken: SpokenTasks) {
    let hear = |mission: &MissionId, origin: &Origin, words: &str| {
        if is_person(origin) {
            spoken.hear(mission, &person(origin), words);
        }
    };
    while let Some(event) = events.next().await {
        match &event.data.payload {
            MissionEvent::Accepted { task, .. } => hear(&event.subject, &event.data.origin, task),
            MissionEvent::TaskRevised { text, origin } => hear(&event.subject, origin, text),
            MissionEvent::Finished { .. } => spoken.end(&event.subject),
            _ => {}
        }
    }
}

/// Keeps an episode of each task that acts, from when it is known to be one, and what people do with tasks.
struct Episodes {
    memory: Memory,
    open: BTreeMap<MissionId, Task>,
    people: InteractionReader,
}

/// A task that has not ended.
struct Task {
    text: String,
    episode: Option<EpisodeId>,
}

impl Episodes {
    async fn run(mut self, mut events: Events, ending: CancellationToken) {
        loop {
            // What has happened is taken in before the end.
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => self.note(&event).await,
                    None => return,
                },
                () = ending.cancelled() => return,
            }
        }
    }

    async fn note(&mut self, event: &CloudEvent) {
        let mission = &event.subject;
        for interaction in self.people.read(event, wall_ms(), utc_offset_min()) {
            if let Err(problem) = self.memory.note_interaction(interaction).await {
                tracing::warn!("what a person did in {mission} is not kept: {problem}");
            }
        }
        match &event.data.payload {
            MissionEvent::Accepted { task, .. } => {
                let text = one_line(task, EPISODE_CHARACTERS);
                self.open.insert(mission.clone(), Task { text, episode: None });
            }
            MissionEvent::Classified { class } if !class.is_answered_by_words() => {
                let Some(task) = self.open.get_mut(mission).filter(|task| task.episode.is_none()) else { return };
                match self.memory.begin_episode(&task.text, wall_ms()).await {
                    Ok(episode) => task.episode = Some(episode),
                    Err(problem) => tracing::warn!("the episode of {mission} is not kept: {problem}"),
                }
            }
            MissionEvent::Finished { result } => {
                let Some(episode) = self.open.remove(mission).and_then(|task| task.episode) else { return };
                let (outcome, detail) = (outcome(result), one_line(result.words(), EPISODE_CHARACTERS));
                if let Err(problem) = self.memory.end_episode(episode, outcome, &detail, wall_ms()).await {
                    tracing::warn!("the episode of {mission} is not ended: {problem}");
                }
            }
            _ => {}
        }
    }
}

/// Words alone do not fulfil a task that acts.
fn outcome(result: &MissionResult) -> Outcome {
    match result.status {
        MissionStatus::Succeeded => Outcome::Succeeded,
        MissionStatus::Answered if !result.words_alone => Outcome::Succeeded,
        MissionStatus::Answered | MissionStatus::Failed => Outcome::Failed,
        MissionStatus::Cancelled => Outcome::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use cortex_protocol::robot_view::FloorPose;

    use super::*;

    fn map(cells: &[i8], x: f64) -> GridMap {
        let origin = FloorPose { frame: "map".to_owned(), x, y: 0.0, heading: 0.0 };
        GridMap { width: 2, height: 1, resolution_m: 0.05, origin, cells: cells.to_vec() }
    }

    #[test]
    fn a_map_is_the_same_only_with_the_same_cells_at_the_same_place() {
        let one = version(&map(&[0, -1], 0.0));
        assert_eq!(one, version(&map(&[0, -1], 0.0)));
        assert_ne!(one, version(&map(&[0, 100], 0.0)));
        assert_ne!(one, version(&map(&[0, -1], 0.5)), "its poses mean other places");
        assert_eq!(one.len(), 16);
    }
}
