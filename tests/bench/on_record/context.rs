//! What one planning call is told of all that is on record: how long it takes to gather, and how long it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, Fragment, PassageKind};
use cortex_knowledge::{Document, DocumentStore as _, Knowledge, SqliteStore};
use cortex_memory::{
    Claim, IS_AT, Interaction, InteractionKind, Layer, LayerKind, Memory, MemoryRules, MemorySource, Observation,
    Outcome, Source, SourceKind, Standing, Value,
};
use cortex_protocol::TaskClass;
use cortex_runtime::ContextSources;
use cortex_skills::{SkillFolders, SkillSource};

use super::numbers::{GivenVectors, Random};
use super::skills;
use crate::table::Table;

const DOCUMENTS: usize = 10_000;
const OBSERVATIONS: u64 = 50_000;
const THINGS: u64 = 200;
const SKILLS: usize = 50;
const TASKS: u64 = 500;
/// The caps of skills, of their list and of records together, in characters; each passage has some bytes around it.
const CAP_CHARACTERS: usize = 24_000 + 6_000 + 8_000;

pub(crate) async fn measure(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let sources = sources(folder.path()).await?;
    let mut random = Random(6);
    let (mut times, mut most, mut sum, mut late) = (Vec::new(), 0, 0, 0);
    for number in 0..TASKS {
        let task = match number % 4 {
            0 => format!("bring thing {} from place {}", random.below(THINGS), random.below(20)),
            1 => format!("do round {:03} in the hall", random.below(SKILLS as u64)),
            2 => format!("look after part {} of the house and {}", random.below(50), random.words(3)),
            _ => random.words(5),
        };
        let begun = Instant::now();
        let context = sources.gather(&ContextQuery::new(task, TaskClass::Action)).await;
        let told = Fragment::Context { context: context.clone() }.render();
        // The first call opens the files.
        if number > 0 {
            times.push(begun.elapsed());
        }
        late += context.missing.len();
        most = most.max(told.len());
        sum += told.len();
    }
    table.add_times("context of one planning call, all sources", "p99 10 ms", &times);
    table.add(
        "bytes of it, the longest",
        format!("{CAP_CHARACTERS}").as_str(),
        most.to_string(),
        format!(
            "{} in the middle, {late} sources late; {DOCUMENTS} documents, {OBSERVATIONS} observations, {SKILLS} skills",
            sum / times.len()
        ),
    );
    Ok(())
}

/// All that a robot has on record, as `cortex run` puts it together.
pub(crate) async fn sources(folder: &Path) -> anyhow::Result<ContextSources> {
    let store = Arc::new(SqliteStore::at(&folder.join("knowledge.sqlite")));
    let mut random = Random(7);
    let documents = (0..DOCUMENTS).map(|number| Document::of_text(format!("paper {number}"), random.words(60)));
    store.add(documents.collect()).await?;
    let knowledge = Knowledge::new(store, 5, true).with_embedder(Arc::new(GivenVectors));
    knowledge.embed_missing(|_| ()).await?;

    let memory = remembered(&folder.join("memory.sqlite")).await?.with_embedder(Arc::new(GivenVectors));
    memory.embed_missing().await?;
    let standing = || Standing { identity: "Ada, a robot of the house.".to_owned(), waiting: Vec::new() };
    let memory = MemorySource::new(memory, Arc::new(|| None)).with_standing(Arc::new(standing));

    let shelf = folder.join("skills");
    skills::write_all(&shelf, SKILLS)?;
    let skills = SkillSource::new(Arc::new(SkillFolders::new(vec![shelf]))).with_list();
    Ok(ContextSources::new(vec![
        Arc::new(Identity),
        Arc::new(skills.with_embedder(Arc::new(GivenVectors))),
        Arc::new(memory),
        Arc::new(knowledge),
    ]))
}

/// A memory with things, episodes, and what people decided.
async fn remembered(file: &Path) -> anyhow::Result<Memory> {
    let mut rules = MemoryRules::default();
    rules.layers.insert("things".to_owned(), Layer::new(LayerKind::Perception));
    let memory = Memory::open(file, rules).await?;
    let now = u64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis())?;
    let mut random = Random(8);
    for first in (0..OBSERVATIONS).step_by(500) {
        let seen = (first..first + 500).map(|number| Observation {
            subject: format!("thing {}", random.below(THINGS)),
            claim: Claim::Is { relation: IS_AT.to_owned(), value: Value::Text(format!("place {}", random.below(20))) },
            wall_ms: now - (OBSERVATIONS - number) * 10_000,
            location: None,
            layer: "things".to_owned(),
            view: None,
            source: Source { kind: SourceKind::Sensor, name: "/detections".to_owned() },
            confidence: Some(0.9),
        });
        memory.add(seen.collect()).await?;
    }
    for number in 0..100_u64 {
        let task = format!("bring thing {}", random.below(THINGS));
        let at_ms = now - (100 - number) * 3_600_000;
        let episode = memory.begin_episode(&task, at_ms).await?;
        memory.end_episode(episode, Outcome::Succeeded, "It is done.", at_ms + 60_000).await?;
        let interaction = Interaction {
            kind: InteractionKind::Asked,
            subject: task,
            detail: String::new(),
            person: "anna".to_owned(),
            wall_ms: at_ms,
            utc_offset_min: 0,
        };
        memory.note_interaction(interaction).await?;
    }
    Ok(memory)
}

/// Who the robot is. The real source knows it from the graph of ROS, and has it ready.
struct Identity;

#[async_trait]
impl ContextSource for Identity {
    fn name(&self) -> &str {
        "identity"
    }

    async fn gather(&self, _: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError> {
        let text = "Ada, a robot of the house, with a base, an arm and a camera; it knows 20 places.".to_owned();
        let (source, place) = ("identity".to_owned(), "robot".to_owned());
        Ok(vec![ContextPassage { source, place, as_of: None, text, relevance: 1.0, kind: PassageKind::Record }])
    }
}
