//! 100,000 documents of one passage each, with vectors that are given: how fast they are added and found, and in how much memory.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use cortex_knowledge::{Document, DocumentStore, Knowledge, SqliteStore};
use serde_json::json;

use super::alone::{figure, figures, file, milliseconds, most_megabytes, own_megabytes, times};
use super::numbers::{GivenVectors, Random};
use crate::table::Table;

pub(crate) const ADDS: &str = "documents-add";
pub(crate) const ASKS: &str = "documents-ask";

const DOCUMENTS: usize = 100_000;
/// Documents that are added at a time.
const BATCH: usize = 256;
const WORDS: usize = 60;
const QUESTIONS: usize = 500;
const RESULTS: usize = 5;

pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("knowledge.sqlite");
    let added = figures(ADDS, &file)?;
    let asked = figures(ASKS, &file)?;
    let (adding, vectors) = (figure(&added, "adding_s"), figure(&added, "vectors_s"));
    let count = DOCUMENTS as f64;
    table.add(
        format!("{DOCUMENTS} documents added, with vectors that are given"),
        "2,000 a second",
        format!("{:.0} a second", count / (adding + vectors)),
        format!("texts {adding:.1} s, vectors {vectors:.1} s; at most {:.0} MB", figure(&added, "most_mb")),
    );
    table.add_times(
        format!("a question to {DOCUMENTS} documents, words and vectors"),
        "p99 20 ms",
        &times(&asked, "questions_ms"),
    );
    table.add_times("the first one of a process", "", &times(&asked, "first_ms"));
    table.add(
        format!("memory that questions to {DOCUMENTS} documents add (PSS)"),
        "150 MB",
        format!("{:.0} MB", figure(&asked, "grown_mb")),
        format!("at most {:.0} MB in all; the file has {:.0} MB", figure(&asked, "most_mb"), figure(&asked, "file_mb")),
    );
    Ok(())
}

/// The process that adds them.
pub(crate) async fn add() -> anyhow::Result<()> {
    let store = Arc::new(SqliteStore::at(&file()?));
    let knowledge = knowledge(Arc::clone(&store));
    let mut adding = Duration::ZERO;
    let mut random = Random(1);
    for first in (0..DOCUMENTS).step_by(BATCH) {
        let numbers = first..(first + BATCH).min(DOCUMENTS);
        let documents =
            numbers.map(|number| Document::of_text(format!("document {number:06}"), random.words(WORDS))).collect();
        let begun = Instant::now();
        store.add(documents).await?;
        adding += begun.elapsed();
    }
    let begun = Instant::now();
    let mut embedded = 0;
    knowledge.embed_missing(|so_far| embedded = so_far).await?;
    let vectors = begun.elapsed();
    ensure!(embedded == DOCUMENTS, "{embedded} have vectors");
    let (adding_s, vectors_s) = (adding.as_secs_f64(), vectors.as_secs_f64());
    println!("{}", json!({"adding_s": adding_s, "vectors_s": vectors_s, "most_mb": most_megabytes()?}));
    Ok(())
}

/// The process that asks.
pub(crate) async fn ask() -> anyhow::Result<()> {
    let file = file()?;
    let before = own_megabytes()?;
    let knowledge = knowledge(Arc::new(SqliteStore::at(&file)));
    let mut random = Random(2);
    let mut all = Vec::new();
    for number in 0..=QUESTIONS {
        let words = 3 + number % 4;
        let question = random.words(words);
        let begun = Instant::now();
        let found = knowledge.search(&question, RESULTS).await?;
        all.push(begun.elapsed());
        ensure!(found.len() == RESULTS, "{} passages for {question}", found.len());
    }
    let (first, others) = all.split_at(1);
    println!(
        "{}",
        json!({
            "first_ms": milliseconds(first), "questions_ms": milliseconds(others), "grown_mb": own_megabytes()? - before,
            "most_mb": most_megabytes()?, "file_mb": megabytes(&file)?,
        })
    );
    Ok(())
}

fn knowledge(store: Arc<SqliteStore>) -> Knowledge {
    Knowledge::new(store, RESULTS, false).with_embedder(Arc::new(GivenVectors))
}

pub(crate) fn megabytes(file: &Path) -> anyhow::Result<f64> {
    Ok(std::fs::metadata(file)?.len() as f64 / 1e6)
}
