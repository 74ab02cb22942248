//! What the memory is compared with: each observation as a line of a plain log, of which the line that fits a question best is
//! the answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cortex_core::{Embedder, likeness};
use cortex_memory::{Claim, Coverage, Observation, Value};

/// Lines whose vectors are computed at a time.
const BATCH: usize = 64;

/// A log that is ranked by BM25.
pub(crate) struct WordLog(rusqlite::Connection);

impl WordLog {
    pub(crate) fn new(file: &Path) -> Self {
        let log = rusqlite::Connection::open(file).expect("a log");
        log.execute_batch(
            "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE log USING fts5 (line, tokenize = 'porter unicode61')",
        )
        .expect("a table");
        Self(log)
    }

    pub(crate) fn write(&self, seen: &[Observation]) {
        self.0.execute_batch("BEGIN").expect("begun");
        let mut insert = self.0.prepare_cached("INSERT INTO log (line) VALUES (?1)").expect("ready");
        for observation in seen {
            insert.execute([line(observation)]).expect("written");
        }
        drop(insert);
        self.0.execute_batch("COMMIT").expect("done");
    }

    /// The line that fits a text best; of equal ones, the last.
    pub(crate) fn first(&self, text: &str) -> String {
        let words: Vec<String> = text
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| format!("\"{word}\""))
            .collect();
        let best = "SELECT line FROM log WHERE log MATCH ?1 ORDER BY rank, rowid DESC LIMIT 1";
        self.0.query_row(best, [words.join(" OR ")], |row| row.get(0)).unwrap_or_default()
    }
}

/// A log that is ranked by the likeness of vectors. Equal lines have one vector, and are one line.
pub(crate) struct VectorLog {
    embedder: Arc<dyn Embedder>,
    /// None: not yet computed.
    lines: BTreeMap<String, Option<Vec<f32>>>,
}

impl VectorLog {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, lines: BTreeMap::new() }
    }

    pub(crate) fn write(&mut self, seen: &[Observation]) {
        for observation in seen {
            self.lines.entry(line(observation)).or_default();
        }
    }

    /// The line that is nearest to a text.
    pub(crate) async fn first(&mut self, text: &str) -> String {
        let missing: Vec<String> =
            self.lines.iter().filter(|(_, vector)| vector.is_none()).map(|(line, _)| line.clone()).collect();
        for lines in missing.chunks(BATCH) {
            let vectors = self.embedder.embed(lines.to_vec()).await.expect("vectors");
            self.lines.extend(lines.iter().cloned().zip(vectors.into_iter().map(Some)));
        }
        let wanted = self.embedder.embed(vec![text.to_owned()]).await.expect("a vector").remove(0);
        let near = |vector: &Option<Vec<f32>>| vector.as_ref().map_or(-1.0, |vector| likeness(vector, &wanted));
        let best = self.lines.iter().max_by(|(_, one), (_, other)| near(one).total_cmp(&near(other)));
        best.map(|(line, _)| line.clone()).unwrap_or_default()
    }
}

fn line(observation: &Observation) -> String {
    let subject = &observation.subject;
    match &observation.claim {
        Claim::Is { relation, value: Value::Text(value) } => format!("{subject} {relation} {value}"),
        Claim::Is { relation, value: Value::Number(value) } => format!("{subject} {relation} {value}"),
        Claim::NotThere { covered: Coverage::Place(place) } => format!("{subject} was not at {place}"),
        Claim::CouldNotSee { covered: Coverage::Place(place), .. } => format!("could not see {subject} at {place}"),
        other => panic!("{other:?}"),
    }
}
