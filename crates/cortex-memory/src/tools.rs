//! The memory as tools of the robot. The names follow `seeds/0`.
//!
//! What a planner adds is the word of the person whose task says it ([`SpokenTasks`]), or else an opinion, which changes
//! nothing that a sensor or a person said.

mod asked;
mod specs;

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{FailureKind, HaltState, MissionId, ToolOutcome, ToolSpec};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use crate::conversations::Conversations;
use crate::episode::{Episode, EpisodeId};
use crate::error::MemoryError;
use crate::exchange::Exchange;
use crate::fact::{FactAnswer, ObservationRun};
use crate::memory::Memory;
use crate::observation::{IS_AT, Observation, Source, SourceKind};
use crate::place::{PoseUse, Region};
use crate::source::{MapInUse, now};
use crate::spoken::SpokenTasks;
use crate::sqlite::{Forget, Span, SpatialQuery};
use crate::time::{from_rfc3339, utc_offset_min};
use crate::words::key;
use crate::{render, source};

/// The tool that forgets: what it did can't be undone.
pub const FORGET: &str = "memory.forget";

/// The names of the tools begin with it.
const COMPONENT: &str = "memory";
/// Entries of an answer where nobody says how many.
const ENTRIES: usize = 10;
/// Most entries of an answer: more would crowd out the task.
const MOST_ENTRIES: usize = 50;
/// Who adds what a model adds.
const PLANNER: &str = "planner";

/// Offers the memory of a robot to whoever plans.
#[derive(Clone)]
pub struct MemoryTools {
    memory: Memory,
    map: MapInUse,
    /// The frame of the map.
    map_frame: String,
    spoken: SpokenTasks,
    conversations: Option<Conversations>,
}

impl MemoryTools {
    /// The tools of this memory. `map_frame`: the frame of the map. `spoken`: what people said in the tasks under way.
    #[must_use]
    pub fn new(memory: Memory, map: MapInUse, map_frame: String, spoken: SpokenTasks) -> Self {
        Self { memory, map, map_frame, spoken, conversations: None }
    }

    /// The same, and what was asked in the conversation of a task can be asked for in it.
    #[must_use]
    pub fn with_conversations(self, conversations: Conversations) -> Self {
        Self { conversations: Some(conversations), ..self }
    }

    /// What is offered.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        specs::of(self.memory.rules(), self.conversations.is_some())
    }

    async fn answer(&self, mission: &MissionId, tool: &str, arguments: Map<String, Json>) -> Result<Json, ToolProblem> {
        let now = now(&self.map);
        let memory = &self.memory;
        Ok(match tool {
            "locate" => {
                let Thing { thing } = read(arguments)?;
                match memory.locate(&thing, &now).await? {
                    Some(located) => told(vec![render::located(&located)], pose_of_whereabouts(&located.whereabouts)),
                    None => nothing(&thing),
                }
            }
            "recall" => {
                let Text { text, .. } = read(arguments)?;
                let recalled = memory.recall(&text, ENTRIES, &now).await?;
                told(source::passages(&recalled).into_iter().map(|passage| passage.text).collect(), None)
            }
            "semantic_search" => {
                let Text { text, most } = read(arguments)?;
                let found = memory.semantic_search(&text, entries(most), &now).await?;
                told(found.iter().map(|found| render::fact(&found.answer)).collect(), None)
            }
            "spatial_query" => {
                let Around { x_m, y_m, radius_m, most } = read(arguments)?;
                let map = now.map.clone().ok_or(ToolProblem::NoMap)?;
                let region = Region { x_m, y_m, radius_m, frame: self.map_frame.clone(), map };
                let found = memory.spatial_query(SpatialQuery { region, past: false }, entries(most), &now).await?;
                told(sentences(&found), None)
            }
            "temporal_query" => {
                let Between { from, to, thing, most } = read(arguments)?;
                let ms = |text: &str| from_rfc3339(text).ok_or_else(|| ToolProblem::NoTime(text.to_owned()));
                let span = Span { from_ms: ms(&from)?, to_ms: ms(&to)?, subject: thing, layer: None };
                let runs = memory.temporal_query(span, entries(most)).await?;
                told(runs.iter().map(observed).collect(), None)
            }
            "entity_query" => {
                let Named { name, most } = read(arguments)?;
                match memory.entity_query(&name, entries(most), &now).await? {
                    Some(entity) => {
                        let all: Vec<String> =
                            sentences(&entity.facts).into_iter().chain(sentences(&entity.named_by)).collect();
                        told(all, None)
                    }
                    None => nothing(&name),
                }
            }
            "body_status" => told(sentences(&memory.body_status(&now).await?), None),
            "get_current_context" => {
                let Most { most } = read(arguments)?;
                let context = memory.get_current_context(entries(most), &now).await?;
                let gists = context.episodes.iter().map(gist);
                told(gists.chain(sentences(&context.body)).chain(sentences(&context.seen_last)).collect(), None)
            }
            "episode_summary" => {
                let Numbered { episode } = read(arguments)?;
                match memory.episode_summary(EpisodeId(episode)).await? {
                    Some(episode) => told(vec![gist(&episode)], None),
                    None => nothing(&format!("episode {episode}")),
                }
            }
            "search_gists" => {
                let Text { text, most } = read(arguments)?;
                told(memory.search_gists(&text, entries(most)).await?.iter().map(gist).collect(), None)
            }
            "conversation" => {
                let Asked { when, most } = read(arguments)?;
                let times = asked::times(&when.unwrap_or_default(), now.wall_ms, utc_offset_min())?;
                self.asked_before(mission, times, entries(most)).await?
            }
            "add" => self.add(mission, read(arguments)?, now.wall_ms).await?,
            "forget" => {
                let Thing { thing } = read(arguments)?;
                let forgotten = memory.forget(Forget::Subject(thing)).await?;
                let (facts, observations) = (forgotten.facts, forgotten.observations);
                told(vec![format!("Forgotten: {facts} facts and {observations} observations.")], None)
            }
            _ => return Err(ToolProblem::Unknown),
        })
    }

    /// What was asked before in the conversation of this task: nobody sees that of another client.
    async fn asked_before(
        &self,
        mission: &MissionId,
        times: (u64, Option<u64>),
        most: usize,
    ) -> Result<Json, ToolProblem> {
        let Some(conversations) = &self.conversations else { return Err(ToolProblem::Unknown) };
        let Some(asked) = conversations.before(mission, times, most).await? else {
            return Ok(json!({"text": "No conversation is known of this task."}));
        };
        if asked.is_empty() {
            return Ok(json!({"text": "Nothing was asked then in this conversation."}));
        }
        Ok(told(asked.iter().rev().map(Exchange::line).collect(), None))
    }

    async fn add(&self, mission: &MissionId, said: Said, wall_ms: u64) -> Result<Json, ToolProblem> {
        let Said { thing, relation, value } = said;
        let is_place = relation.as_deref().is_none_or(|relation| relation.trim().is_empty() || key(relation) == IS_AT);
        let person = self.spoken.who_said(mission, &thing, &value).filter(|_| is_place);
        let (source, noted) = match person {
            Some(person) => {
                let noted = format!("Noted: {thing} is at {value}, says {person}.");
                (Source { kind: SourceKind::Person, name: person }, noted)
            }
            None => (Source { kind: SourceKind::Model, name: PLANNER.to_owned() }, "Noted, as an opinion.".to_owned()),
        };
        let observation = Observation::note(thing, relation, value, source, wall_ms);
        self.memory.add(vec![observation]).await?;
        Ok(told(vec![noted], None))
    }
}

#[async_trait]
impl ToolProvider for MemoryTools {
    fn label(&self) -> String {
        COMPONENT.to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        observer.accepted();
        let tool = invocation.call.tool.as_str();
        let tool = tool.strip_prefix(COMPONENT).and_then(|tool| tool.strip_prefix('.')).unwrap_or_default();
        match self.answer(&invocation.mission, tool, invocation.call.arguments).await {
            Ok(answer) => ToolOutcome::success(answer),
            Err(problem) => ToolOutcome::failure(problem.kind(), problem.to_string()),
        }
    }

    async fn halt(&self, _invocation: &Invocation) -> HaltState {
        // Nothing moves.
        HaltState::AtRest
    }
}

/// Why a call comes to nothing.
#[derive(Debug, thiserror::Error)]
enum ToolProblem {
    #[error("there is no such tool any more")]
    Unknown,
    #[error("the arguments can't be read: {0}")]
    Arguments(serde_json::Error),
    #[error("'{0}' is no time; give one as 2026-11-14T22:00:00Z")]
    NoTime(String),
    #[error("'{0}' is no time that can be asked for; ask for today, yesterday, or before")]
    NoDay(String),
    #[error("no map is in use, so points mean nothing; ask by names")]
    NoMap,
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl ToolProblem {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Unknown => FailureKind::NotFound,
            Self::Arguments(_)
            | Self::NoTime(_)
            | Self::NoDay(_)
            | Self::Memory(MemoryError::BadRequest(_) | MemoryError::Refused { .. }) => FailureKind::InvalidArguments,
            Self::NoMap | Self::Memory(_) => FailureKind::Reported,
        }
    }
}

#[derive(Deserialize)]
struct Thing {
    thing: String,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    most: Option<usize>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    most: Option<usize>,
}

#[derive(Deserialize)]
struct Around {
    x_m: f64,
    y_m: f64,
    radius_m: f64,
    most: Option<usize>,
}

#[derive(Deserialize)]
struct Between {
    from: String,
    to: String,
    thing: Option<String>,
    most: Option<usize>,
}

#[derive(Deserialize)]
struct Most {
    most: Option<usize>,
}

#[derive(Deserialize)]
struct Asked {
    when: Option<String>,
    most: Option<usize>,
}

#[derive(Deserialize)]
struct Numbered {
    episode: u64,
}

#[derive(Deserialize)]
struct Said {
    thing: String,
    relation: Option<String>,
    value: String,
}

fn read<T: DeserializeOwned>(arguments: Map<String, Json>) -> Result<T, ToolProblem> {
    serde_json::from_value(Json::Object(arguments)).map_err(ToolProblem::Arguments)
}

fn entries(most: Option<usize>) -> usize {
    most.unwrap_or(ENTRIES).clamp(1, MOST_ENTRIES)
}

/// An answer, and a pose that the robot may be sent to.
fn told(sentences: Vec<String>, pose: Option<Json>) -> Json {
    let text = if sentences.is_empty() { "Nothing is known of that.".to_owned() } else { sentences.join("\n") };
    match pose {
        Some(pose) => json!({"text": text, "pose": pose}),
        None => json!({"text": text}),
    }
}

fn nothing(name: &str) -> Json {
    json!({"text": format!("{}: nobody ever spoke of it.", crate::phrases::line(name))})
}

fn sentences(answers: &[FactAnswer]) -> Vec<String> {
    answers.iter().map(render::fact).collect()
}

fn observed(run: &ObservationRun) -> String {
    format!("{} {}", run.first.rfc3339(), render::looked(run))
}

fn gist(episode: &Episode) -> String {
    format!("Episode {}: {}", episode.id.0, episode.gist)
}

/// The pose of a thing that is there, if it holds in the map that is in use.
fn pose_of_whereabouts(whereabouts: &crate::answers::Whereabouts) -> Option<Json> {
    let crate::answers::Whereabouts::At(answer) = whereabouts else { return None };
    let PoseUse::Drivable(at) = &answer.pose_use else { return None };
    Some(json!({"x_m": at.pose.x_m, "y_m": at.pose.y_m, "yaw_rad": at.pose.yaw_rad, "frame": at.frame}))
}
