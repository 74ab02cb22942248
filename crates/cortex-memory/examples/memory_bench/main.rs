//! How much of what a robot saw in thirty days its memory answers rightly, how fast, and in how much room.
//!
//! `cargo run -p cortex-memory --example memory_bench [SEED [OBSERVATIONS]]`: 10 rooms, 60 things, 200,000 observations and
//! 1,000 questions, half of them in wordings that the queries were not written for. A flat log of all observations, ranked
//! by BM25, is asked every fifth question for comparison. Prints one line of figures for each kind, and the totals.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench ends by panicking"
)]

mod probes;
mod world;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cortex_memory::{
    Cardinality, Claim, Coverage, Forget, Layer, LayerKind, Memory, MemoryRules, Observation, RelationRule, Value,
    render,
};
use probes::{KINDS, Kind, Probe, now};
use world::{DAY, ROOMS, START, World};

const DAYS: u64 = 30;
const PROBES: usize = 1_000;
/// Every so many questions, the flat log is asked, too: it is slow.
const LOG_EVERY: usize = 5;

#[derive(Default)]
struct Score {
    asked: usize,
    right: usize,
    log_asked: usize,
    log_right: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let seed = arguments.next().unwrap_or(1);
    let observations = arguments.next().unwrap_or(200_000);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("memory.sqlite");
    let memory = Memory::open(&file, rules()).await.expect("it opens");
    let log = rusqlite::Connection::open(folder.path().join("log.sqlite")).expect("a log");
    log.execute_batch(
        "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE log USING fts5 (line, tokenize = 'porter unicode61')",
    )
    .expect("a table");

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
            write_log(&log, &seen);
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
                println!("wrong: {:?} {}", probe.kind, probe.text);
            }
            let said = recalled
                .located
                .iter()
                .map(render::located)
                .chain(recalled.facts.iter().map(|found| render::fact(&found.answer)));
            undated += said.filter(|said| !said.contains("as of ") && !said.contains("nobody has seen")).count();
            if asked % LOG_EVERY == 0 {
                score.log_asked += 1;
                score.log_right += usize::from(probe.is_right_in_log(&world, &first_of_log(&log, &probe.text)));
            }
            asked += 1;
        }
    }
    report(&scores);
    queries.sort_unstable();
    let size = memory.size().await.expect("a size");
    println!("answers without \"as of\": {undated}");
    println!("query: median {:.1?}, p99 {:.1?}", queries[queries.len() / 2], queries[queries.len() * 99 / 100]);
    println!("added: {kept} observations in {adding:.1?}, {:.0} a second", kept as f64 / adding.as_secs_f64());
    println!(
        "kept: {} rows, {} open and {} ended facts, {:.1} MB; {:.0} MB of memory",
        size.observations,
        size.open_facts,
        size.ended_facts,
        size.bytes as f64 / 1e6,
        resident_mb()
    );
    let began = Instant::now();
    let forgotten = memory.forget(Forget::Subject(world.things[0].clone())).await.expect("forgotten");
    let after = memory.size().await.expect("a size");
    println!(
        "forgot {}: {} rows in {:.1?}; the file has {:.1} MB now",
        world.things[0],
        forgotten.observations,
        began.elapsed(),
        after.bytes as f64 / 1e6
    );
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

fn report(scores: &BTreeMap<(Kind, bool), Score>) {
    let percent = |right: usize, asked: usize| 100.0 * right as f64 / asked.max(1) as f64;
    println!("{:<10} {:>7} {:>6} {:>9} | flat log, BM25 {:>6}", "kind", "wording", "asked", "right %", "right %");
    let (mut totals, mut log) = ([(0, 0); 2], (0, 0));
    for ((kind, is_unseen), score) in scores {
        let wording = if *is_unseen { "unseen" } else { "known" };
        let (memory, flat) = (percent(score.right, score.asked), percent(score.log_right, score.log_asked));
        println!("{:<10} {wording:>7} {:>6} {memory:>9.1} | {flat:>20.1}", format!("{kind:?}"), score.asked);
        let total = &mut totals[usize::from(*is_unseen)];
        *total = (total.0 + score.right, total.1 + score.asked);
        log = (log.0 + score.log_right, log.1 + score.log_asked);
    }
    println!(
        "right: {:.1} % of known wordings, {:.1} % of unseen ones; flat log {:.1} %",
        percent(totals[0].0, totals[0].1),
        percent(totals[1].0, totals[1].1),
        percent(log.0, log.1)
    );
}

/// Writes each observation as a line of a plain log.
fn write_log(log: &rusqlite::Connection, seen: &[Observation]) {
    log.execute_batch("BEGIN").expect("begun");
    for observation in seen {
        let subject = &observation.subject;
        let line = match &observation.claim {
            Claim::Is { relation, value: Value::Text(value) } => format!("{subject} {relation} {value}"),
            Claim::Is { relation, value: Value::Number(value) } => format!("{subject} {relation} {value}"),
            Claim::NotThere { covered: Coverage::Place(place) } => format!("{subject} was not at {place}"),
            Claim::CouldNotSee { covered: Coverage::Place(place), .. } => format!("could not see {subject} at {place}"),
            other => panic!("{other:?}"),
        };
        log.prepare_cached("INSERT INTO log (line) VALUES (?1)").expect("ready").execute([line]).expect("written");
    }
    log.execute_batch("COMMIT").expect("done");
}

/// The line of the log that fits a text best; of equal ones, the last.
fn first_of_log(log: &rusqlite::Connection, text: &str) -> String {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{word}\""))
        .collect();
    log.query_row(
        "SELECT line FROM log WHERE log MATCH ?1 ORDER BY rank, rowid DESC LIMIT 1",
        [words.join(" OR ")],
        |row| row.get(0),
    )
    .unwrap_or_default()
}

/// The memory of this process, in MB; the cache of the flat log, 2 MB, is in it.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap_or_default() / 1_000.0
}
