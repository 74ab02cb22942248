//! Vectors of what facts say, and the facts nearest to another. A statement is a subject, a relation and a value, whatever the
//! number of facts that say so; all vectors are looked at, one after another. A row without a vector waits for one; the vector
//! goes with the last fact of its statement.

use cortex_core::RoundedVector;
use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::query::{facts_of, limit};
use super::{Store, StoreProblem};
use crate::answers::FoundFact;
use crate::error::MemoryError;
use crate::fact::Now;

/// Most statements that have a vector: looking at all of them takes some milliseconds. The oldest are found by their words.
const MOST_VECTORS: u64 = 20_000;
/// How much what has ended counts of what still holds.
const ENDED: f64 = 0.9;
/// Most numbers of a vector.
const MOST_NUMBERS: usize = 8_192;

/// A statement that has no vector yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unembedded {
    number: i64,
    pub(crate) text: String,
}

/// The words of a row of `meanings`. A value that is a number or a place says nothing by its words.
const STATEMENT: &str = "SELECT meanings.number AS number,
        subjects.text || ' ' || relations.text || coalesce(' ' || named.text, '') AS text
    FROM meanings JOIN terms AS subjects ON subjects.number = meanings.subject
    JOIN terms AS relations ON relations.number = meanings.relation
    LEFT JOIN terms AS named ON named.number = meanings.value";

impl Store {
    /// Statements of which this model has computed no vector, the newest first.
    pub(crate) fn unembedded(&self, model: &str, most: usize) -> Result<Vec<Unembedded>, MemoryError> {
        self.read(|connection| {
            let is_of_model = kept_model(connection)?.is_some_and(|(kept, _)| kept == model);
            let without = if is_of_model { "WHERE meanings.vector IS NULL" } else { "" };
            let sql = format!("{STATEMENT} {without} ORDER BY meanings.number DESC LIMIT ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows =
                statement.query_map([limit(most)], |row| Ok(Unembedded { number: row.get(0)?, text: row.get(1)? }))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Keeps the vectors of statements that are still there and say the same, and says how many. The first vectors of another
    /// model take the place of all.
    pub(crate) fn keep_vectors(&self, model: &str, vectors: Vec<(Unembedded, Vec<f32>)>) -> Result<usize, MemoryError> {
        self.write(|connection| {
            let transaction = connection.transaction()?;
            let kept = keep(&transaction, model, &vectors)?;
            transaction.commit()?;
            Ok(kept)
        })
    }

    /// The facts whose statements lie nearest, the nearest first, those that hold before those that ended: of each statement what
    /// holds, or else what was seen last.
    pub(crate) fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        most: usize,
        now: &Now,
    ) -> Result<Vec<FoundFact>, MemoryError> {
        self.read(|connection| {
            match kept_model(connection)? {
                Some((kept, dimension)) if kept == model => fits(dimension, vector)?,
                _ => return Ok(Vec::new()),
            }
            let near = near(connection, vector, most)?;
            let found = near.into_iter().map(|(likeness, number)| {
                let fact = fact_of(connection, number)?;
                Ok(fact.map(|fact| {
                    let likeness = if fact.ended.is_some() { likeness * ENDED } else { likeness };
                    FoundFact { relevance: 0.0, likeness, answer: fact.answer(now) }
                }))
            });
            let mut found: Vec<FoundFact> =
                found.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect();
            found.sort_by(|one, other| other.likeness.total_cmp(&one.likeness));
            Ok(found)
        })
    }
}

/// Removes the statements that no fact makes any more.
pub(super) fn sweep(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute(
        "DELETE FROM meanings WHERE NOT EXISTS (SELECT 1 FROM facts WHERE facts.subject = meanings.subject
         AND facts.relation = meanings.relation AND facts.value IS nullif(meanings.value, -1))",
        [],
    )?;
    Ok(())
}

/// Which model, and how many numbers its vectors have.
fn kept_model(connection: &Connection) -> rusqlite::Result<Option<(String, usize)>> {
    let row =
        connection.query_row("SELECT name, dimension FROM meaning_model", [], |row| Ok((row.get(0)?, row.get(1)?)));
    row.optional()
}

fn keep(transaction: &Transaction<'_>, model: &str, vectors: &[(Unembedded, Vec<f32>)]) -> Result<usize, StoreProblem> {
    let Some((_, first)) = vectors.first() else { return Ok(0) };
    let dimension = match kept_model(transaction)? {
        Some((kept, dimension)) if kept == model => dimension,
        _ => {
            fits(first.len(), first)?;
            transaction.execute("UPDATE meanings SET vector = NULL WHERE vector IS NOT NULL", [])?;
            let replace = "INSERT OR REPLACE INTO meaning_model (only, name, dimension) VALUES (1, ?1, ?2)";
            transaction.execute(replace, params![model, first.len()])?;
            first.len()
        }
    };
    // The number of a statement that was forgotten meanwhile may be that of another one.
    let mut update = transaction.prepare_cached(&format!(
        "UPDATE meanings SET vector = ?2 WHERE number = (SELECT number FROM ({STATEMENT} WHERE meanings.number = ?1)
         WHERE text = ?3)"
    ))?;
    let mut kept = 0;
    for (statement, vector) in vectors {
        fits(dimension, vector)?;
        kept += update.execute(params![statement.number, RoundedVector::of(vector).bytes(), statement.text])?;
    }
    // All that are older than the newest ones, whether they have a vector or wait for one: one that is empty is near to nothing,
    // and is never computed.
    transaction
        .prepare_cached(
            "UPDATE meanings SET vector = x'' WHERE length(vector) IS NOT 0
             AND number <= (SELECT number FROM meanings ORDER BY number DESC LIMIT 1 OFFSET ?1)",
        )?
        .execute([MOST_VECTORS])?;
    Ok(kept)
}

fn fits(kept: usize, vector: &[f32]) -> Result<(), StoreProblem> {
    if vector.len() == kept && (1..=MOST_NUMBERS).contains(&kept) {
        return Ok(());
    }
    let problem = format!(
        "a vector has {} numbers, where {kept} are kept and at most {MOST_NUMBERS} can be; use one model",
        vector.len()
    );
    Err(StoreProblem::Explained(MemoryError::NotEmbedded { problem }))
}

/// The statements that lie nearest, with their likeness from 0 to 1, the nearest first.
fn near(connection: &Connection, vector: &[f32], most: usize) -> rusqlite::Result<Vec<(f64, i64)>> {
    let wanted = RoundedVector::of(vector);
    let mut statement = connection.prepare_cached("SELECT number, vector FROM meanings WHERE length(vector) > 0")?;
    let mut rows = statement.query([])?;
    let mut near: Vec<(f64, i64)> = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        near.push((wanted.likeness(bytes).clamp(0.0, 1.0), row.get(0)?));
    }
    near.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
    near.truncate(most);
    Ok(near)
}

/// The fact that a statement stands for now.
fn fact_of(connection: &Connection, number: i64) -> rusqlite::Result<Option<crate::fact::Fact>> {
    for holds in ["AND facts.end_sequence IS NULL", ""] {
        let sql = format!(
            "SELECT facts.* FROM meanings JOIN facts ON facts.subject = meanings.subject
                AND facts.relation = meanings.relation AND facts.value IS nullif(meanings.value, -1) {holds}
             WHERE meanings.number = ?1 ORDER BY facts.seen_sequence DESC LIMIT 1"
        );
        if let Some(fact) = facts_of(connection, &sql, &[Parameter::Integer(number)])?.pop() {
            return Ok(Some(fact));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::MemoryRules;

    #[test]
    fn no_vector_is_computed_that_would_be_thrown_away() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("memory.sqlite"), MemoryRules::default()).unwrap();
        let add = |first: u64, last: u64| {
            store.write(|connection| {
                let transaction = connection.transaction()?;
                transaction.execute("INSERT OR REPLACE INTO terms VALUES (1, 0, 'thing', 'thing')", [])?;
                for number in first..=last {
                    let insert = "INSERT INTO meanings (number, subject, relation, value) VALUES (?1, 1, 1, ?1)";
                    transaction.execute(insert, [number])?;
                }
                Ok(transaction.commit()?)
            })
        };
        let computed = |model: &str| {
            let mut computed = 0;
            loop {
                let missing = store.unembedded(model, 1_000).unwrap();
                if missing.is_empty() {
                    return computed;
                }
                let vectors = missing.into_iter().map(|statement| (statement, vec![1.0, 0.0])).collect();
                computed += store.keep_vectors(model, vectors).unwrap() as u64;
            }
        };
        add(1, MOST_VECTORS + 2_000).unwrap();
        assert_eq!(computed("small"), MOST_VECTORS);
        add(MOST_VECTORS + 2_001, MOST_VECTORS + 2_010).unwrap();
        assert_eq!(computed("small"), 10, "as many of the oldest give theirs up");
        let with_vector = "SELECT count(*), min(number) FROM meanings WHERE length(vector) > 0";
        let counted =
            store.read(|connection| Ok(connection.query_row(with_vector, [], |row| Ok((row.get(0)?, row.get(1)?)))?));
        assert_eq!(counted.unwrap(), (MOST_VECTORS, 2_011_u64));
        assert_eq!(computed("another"), MOST_VECTORS, "of another model, too");
    }
}
