//! Vectors of passages, and those nearest to another. All are looked at, one after another, in a block of memory: for as many as
//! a robot has documents that is a matter of milliseconds, and it is exact.

use cortex_core::RoundedVector;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params, params_from_iter};

use super::vector_block::KnownState;
use super::{StoreProblem, search};
use crate::store::{Found, MetadataFilter, PassageId, StoreError, Unembedded};

/// Which model, and how many numbers its vectors have.
fn kept_model(connection: &Connection) -> rusqlite::Result<Option<(String, usize)>> {
    let row =
        connection.query_row("SELECT name, dimension FROM vector_model", [], |row| Ok((row.get(0)?, row.get(1)?)));
    row.optional()
}

pub(super) fn unembedded(
    connection: &Connection,
    known: &mut KnownState,
    model: &str,
    most: usize,
) -> rusqlite::Result<Vec<Unembedded>> {
    if known.is_complete(model) {
        return Ok(Vec::new());
    }
    let has_vectors = kept_model(connection)?.is_some_and(|(kept, _)| kept == model);
    if !has_vectors {
        return passages_where(connection, "true", most);
    }
    // Most that are missing were added last. To look at all of them each time would take longer with each.
    let added_since = passages_where(connection, "number > (SELECT max(passage) FROM vectors)", most)?;
    if !added_since.is_empty() {
        return Ok(added_since);
    }
    let missing = passages_where(connection, "number NOT IN (SELECT passage FROM vectors)", most)?;
    if missing.is_empty() {
        known.set_complete(model);
    }
    Ok(missing)
}

fn passages_where(connection: &Connection, condition: &str, most: usize) -> rusqlite::Result<Vec<Unembedded>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT number, place, text FROM passages WHERE {condition} ORDER BY number LIMIT ?"
    ))?;
    let rows = statement.query_map([i64::try_from(most).unwrap_or(i64::MAX)], |row| {
        let (place, text): (String, String) = (row.get(1)?, row.get(2)?);
        let text = if place.is_empty() { text } else { format!("{place}\n{text}") };
        Ok(Unembedded { id: PassageId(row.get(0)?), text })
    })?;
    rows.collect()
}

pub(super) fn keep(
    transaction: &Transaction<'_>,
    model: &str,
    vectors: &[(Unembedded, Vec<f32>)],
) -> Result<(), StoreProblem> {
    let Some((_, first)) = vectors.first() else { return Ok(()) };
    let dimension = match kept_model(transaction)? {
        Some((kept, dimension)) if kept == model => dimension,
        _ => {
            transaction.execute("DELETE FROM vectors", [])?;
            let replace = "INSERT OR REPLACE INTO vector_model (only, name, dimension) VALUES (1, ?1, ?2)";
            transaction.execute(replace, params![model, first.len()])?;
            first.len()
        }
    };
    // The number of a passage that was replaced meanwhile may be that of another one.
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO vectors (passage, numbers) SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM passages
         WHERE number = ?1 AND ?3 = CASE place WHEN '' THEN text ELSE place || char(10) || text END)",
    )?;
    for (passage, vector) in vectors {
        fits(model, dimension, vector)?;
        insert.execute(params![passage.id.0, RoundedVector::of(vector).bytes(), passage.text])?;
    }
    Ok(())
}

fn fits(model: &str, kept: usize, vector: &[f32]) -> Result<(), StoreProblem> {
    if vector.len() == kept {
        return Ok(());
    }
    Err(StoreProblem::Told(StoreError::Dimension { model: model.to_owned(), kept, found: vector.len() }))
}

pub(super) fn nearest(
    connection: &Connection,
    known: &mut KnownState,
    model: &str,
    vector: &[f32],
    most: usize,
    filter: &MetadataFilter,
) -> Result<Vec<Found>, StoreProblem> {
    match kept_model(connection)? {
        Some((kept, dimension)) if kept == model => fits(model, dimension, vector)?,
        _ => return Ok(Vec::new()),
    }
    let wanted = RoundedVector::of(vector);
    let block = if filter.is_empty() { known.vectors(connection, wanted.bytes().len())? } else { None };
    let near = match block {
        Some(block) => block.likeness(&wanted),
        None => likeness_in_file(connection, &wanted, filter)?,
    };
    let mut passage = connection.prepare_cached(
        "SELECT passages.number, documents.id, passages.place, passages.text, documents.metadata
         FROM passages JOIN documents ON documents.number = passages.document WHERE passages.number = ?",
    )?;
    let found = first(near, most).into_iter().map(|(likeness, number)| {
        let found = passage.query_row([Value::Integer(number)], search::found)?;
        Ok(Found { likeness: likeness.clamp(0.0, 1.0), ..found })
    });
    found.collect()
}

/// How near each passage is to a vector, of the documents with this metadata.
fn likeness_in_file(
    connection: &Connection,
    wanted: &RoundedVector,
    filter: &MetadataFilter,
) -> rusqlite::Result<Vec<(f64, i64)>> {
    let filtered = format!(
        "SELECT passage, numbers FROM vectors JOIN passages ON passages.number = vectors.passage
         JOIN documents ON documents.number = passages.document WHERE true{}",
        search::HAS_METADATA.repeat(filter.len())
    );
    let all = "SELECT passage, numbers FROM vectors";
    let mut statement = connection.prepare_cached(if filter.is_empty() { all } else { &filtered })?;
    let mut rows = statement.query(params_from_iter(search::wanted_metadata(filter)))?;
    let mut near = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        near.push((wanted.likeness(bytes), row.get(0)?));
    }
    Ok(near)
}

/// The nearest, in order. Only they are sorted: there may be very many.
fn first(mut near: Vec<(f64, i64)>, most: usize) -> Vec<(f64, i64)> {
    let order = |one: &(f64, i64), other: &(f64, i64)| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1));
    if near.len() > most {
        near.select_nth_unstable_by(most, order);
        near.truncate(most);
    }
    near.sort_unstable_by(order);
    near
}
