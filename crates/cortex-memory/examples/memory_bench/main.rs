//! How much of what a robot saw in thirty days its memory answers rightly, how fast, and in how much room.
//!
//! `cargo run -p cortex-memory --example memory_bench [SEED [OBSERVATIONS]]`: 10 rooms, 60 things, 200,000 observations and
//! 1,000 questions, half of them in wordings that the queries were not written for. A flat log of all observations, ranked
//! by BM25, is asked every fifth question for comparison. Prints one line of figures for each kind, and the totals.
//! `cargo xtask bench --only record-memory` has the totals in its table, and a log that is ranked by vectors, too.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench ends by panicking"
)]

#[path = "bench.rs"]
mod bench;

use bench::{Figures, Score};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let seed = arguments.next().unwrap_or(1);
    let observations = arguments.next().unwrap_or(200_000);
    let folder = tempfile::tempdir().expect("a folder");
    let figures = bench::run(folder.path(), seed, observations, None).await;
    report(&figures);
    let Figures { undated, queries, adding, observations, size, forgotten, .. } = figures;
    println!("answers without \"as of\": {undated}");
    println!("query: median {:.1?}, p99 {:.1?}", queries[queries.len() / 2], queries[queries.len() * 99 / 100]);
    println!(
        "added: {observations} observations in {adding:.1?}, {:.0} a second",
        observations as f64 / adding.as_secs_f64()
    );
    println!(
        "kept: {} rows, {} open and {} ended facts, {:.1} MB; {:.0} MB of memory",
        size.observations,
        size.open_facts,
        size.ended_facts,
        size.bytes as f64 / 1e6,
        resident_mb()
    );
    let (name, rows, took, left) = forgotten;
    println!("forgot {name}: {rows} rows in {took:.1?}; the file has {:.1} MB now", left as f64 / 1e6);
}

fn report(figures: &Figures) {
    let percent = |right: usize, asked: usize| 100.0 * right as f64 / asked.max(1) as f64;
    println!("{:<10} {:>7} {:>6} {:>9} | flat log, BM25 {:>6}", "kind", "wording", "asked", "right %", "right %");
    for ((kind, is_unseen), score) in &figures.scores {
        let wording = if *is_unseen { "unseen" } else { "known" };
        let memory = percent(score.right, score.asked);
        let flat = percent(score.right_by_words, score.logs_asked);
        println!("{:<10} {wording:>7} {:>6} {memory:>9.1} | {flat:>20.1}", format!("{kind:?}"), score.asked);
    }
    let right = |score: &Score| percent(score.right, score.asked);
    let all = figures.total(None);
    println!(
        "right: {:.1} % of known wordings, {:.1} % of unseen ones; flat log {:.1} %",
        right(&figures.total(Some(false))),
        right(&figures.total(Some(true))),
        percent(all.right_by_words, all.logs_asked)
    );
}

/// The memory of this process, in MB; the cache of the flat log, 2 MB, is in it.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap_or_default() / 1_000.0
}
