//! Thirty days of a robot in a house, and what its memory answers, beside two flat logs of all observations: one is ranked by
//! BM25, the other, where there is a model for texts, by the likeness of vectors.

mod flat_logs;
mod probes;
mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_core::Embedder;
use cortex_memory::{
    Cardinality, Forget, Layer, LayerKind, Memory, MemoryRules, MemorySize, Recollection, RelationRule, render,
};
use flat_logs::{VectorLog, WordLog};
pub(crate) use probes::Kind;
use probes::{KINDS, Probe, now};
use world::{DAY, ROOMS, START, World};

const DAYS: u64 = 30;
const PROBES: usize = 1_000;
/// Every so many questions, the flat logs are asked, too: they are slow.
const LOG_EVERY: usize = 5;

/// How many questions were asked and answered rightly.
#[derive(Default)]
pub(crate) struct Score {
    pub(crate) asked: usize,
    pub(crate) right: usize,
    pub(crate) logs_asked: usize,
    pub(crate) right_by_words: usize,
    pub(crate) right_by_vectors: usize,
}

/// What came of it.
pub(crate) struct Figures {
    /// By kind, and whether the wording is one that the queries were not written for.
    pub(crate) scores: BTreeMap<(Kind, bool), Score>,
    /// Sentences that don't say as of when they hold.
    pub(crate) undated: usize,
    /// How long each answer took, in order.
    pub(crate) queries: Vec<Duration>,
    /// How long it took to add the observations, and how many they were.
    pub(crate) adding: Duration,
    pub(crate) observations: u64,
    /// How much there was in the end.
    pub(crate) size: MemorySize,
    /// What was forgotten then: the name, the rows, how long it took, and the bytes of the file that are left.
    pub(crate) forgotten: (String, u64, Duration, u64),
}

impl Figures {
    /// Of known wordings, of unseen ones, and of all: the sums.
    pub(crate) fn total(&self, wording: Option<bool>) -> Score {
        let mut total = Score::default();
        for ((_, is_unseen), score) in &self.scores {
            if wording.is_none_or(|wanted| wanted == *is_unseen) {
                total.asked += score.asked;
                total.right += score.right;
                total.logs_asked += score.logs_asked;
                total.right_by_words += score.right_by_words;
                total.right_by_vectors += score.right_by_vectors;
            }
        }
        total
    }
}

/// Runs it in a folder of its own. Without an embedder there is no log of vectors; the memory itself uses none.
pub(crate) async fn run(folder: &Path, seed: u64, observations: u64, embedder: Option<Arc<dyn Embedder>>) -> Figures {
    let memory = Memory::open(folder.join("memory.sqlite"), rules()).await.expect("it opens");
    let by_words = WordLog::new(&folder.join("log.sqlite"));
    let mut by_vectors = embedder.map(VectorLog::new);
    let mut world = World::new(seed);
    let mut scores: BTreeMap<(Kind, bool), Score> = BTreeMap::new();
    let (mut queries, mut adding, mut kept, mut asked, mut undated) = (Vec::new(), Duration::ZERO, 0_u64, 0, 0);
    for day in 0..DAYS {
        let mut visits = 0;
        while kept < observations * (day + 1) / DAYS {
            world.now_ms = START + day * DAY + (visits * 90_000) % DAY;
            let room = world.random.below(ROOMS.len());
            let seen = world.visit(room, 60_000);
            kept += seen.len() as u64;
            visits += 1;
            by_words.write(&seen);
            if let Some(log) = &mut by_vectors {
                log.write(&seen);
            }
            let began = Instant::now();
            memory.add(seen).await.expect("they are kept");
            adding += began.elapsed();
        }
        while asked < PROBES * usize::try_from(day + 1).expect("few days") / usize::try_from(DAYS).expect("few days") {
            let (kind, is_unseen) = (KINDS[asked % KINDS.len()], asked / KINDS.len() % 2 == 1);
            let probe = Probe::draw(&mut world, kind, is_unseen);
            let began = Instant::now();
            let recalled = memory.recall(&probe.text, 5, &now(&world)).await.expect("an answer");
            queries.push(began.elapsed());
            let score = scores.entry((kind, probe.is_unseen)).or_default();
            score.asked += 1;
            let is_right = probe.is_right(&world, &recalled);
            score.right += usize::from(is_right);
            if !is_right && std::env::var_os("CORTEX_BENCH_VERBOSE").is_some() {
                eprintln!("wrong: {:?} {}", probe.kind, probe.text);
            }
            undated += without_date(&recalled);
            if asked % LOG_EVERY == 0 {
                score.logs_asked += 1;
                let line = by_words.first(&probe.text);
                score.right_by_words += usize::from(probe.is_right_in_log(&world, &line));
                if let Some(log) = &mut by_vectors {
                    let line = log.first(&probe.text).await;
                    score.right_by_vectors += usize::from(probe.is_right_in_log(&world, &line));
                }
            }
            asked += 1;
        }
    }
    queries.sort_unstable();
    let size = memory.size().await.expect("a size");
    let (began, name) = (Instant::now(), world.things[0].clone());
    let forgotten = memory.forget(Forget::Subject(name.clone())).await.expect("forgotten").observations;
    let took = began.elapsed();
    let left = memory.size().await.expect("a size").bytes;
    let forgotten = (name, forgotten, took, left);
    Figures { scores, undated, queries, adding, observations: kept, size, forgotten }
}

/// How many sentences of an answer don't say as of when they hold.
fn without_date(recalled: &Recollection) -> usize {
    let said = recalled
        .located
        .iter()
        .map(render::located)
        .chain(recalled.facts.iter().map(|found| render::fact(&found.answer)));
    said.filter(|said| !said.contains("as of ") && !said.contains("nobody has seen")).count()
}

fn rules() -> MemoryRules {
    let mut rules = MemoryRules::default();
    let things = Layer { min_confidence: 0.5, ..Layer::new(LayerKind::Perception) };
    rules.layers.insert("things".to_owned(), things);
    rules.layers.insert("body".to_owned(), Layer::new(LayerKind::Interoception));
    let reading = RelationRule { cardinality: Cardinality::One, resolution: 0.0 };
    rules.relations.insert("battery level".to_owned(), reading);
    rules
}
