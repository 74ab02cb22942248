//! Finding passages: the best by BM25, and how much of what was asked for each of them holds.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::document::Passage;
use crate::store::{Found, MetadataFilter, PassageId};

/// A heading tells more than a word of the text; the id of a document is seldom words at all.
const WEIGHTS: &str = "1.0, 2.0, 0.5";
/// The condition for each pair of a filter.
pub(super) const HAS_METADATA: &str =
    " AND EXISTS (SELECT 1 FROM json_each(documents.metadata) WHERE key = ? AND value = ?)";

pub(super) fn search(
    connection: &Connection,
    words: &[String],
    most: usize,
    filter: &MetadataFilter,
) -> rusqlite::Result<Vec<Found>> {
    if words.is_empty() || most == 0 {
        return Ok(Vec::new());
    }
    let candidates = best(connection, words, most, filter)?;
    let ids: Vec<PassageId> = candidates.iter().map(|found| found.id).collect();
    let shares = shares(connection, words, &ids)?;
    let found = candidates.into_iter().map(|found| {
        let relevance = shares.get(&found.id).copied().unwrap_or_default();
        Found { relevance, ..found }
    });
    Ok(found.collect())
}

/// The best passages, best first.
fn best(
    connection: &Connection,
    words: &[String],
    most: usize,
    filter: &MetadataFilter,
) -> rusqlite::Result<Vec<Found>> {
    let wanted = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" OR ");
    let columns = "passages.number, documents.id, passages.place, passages.text, documents.metadata";
    let documents = "JOIN documents ON documents.number = passages.document";
    let statement = if filter.is_empty() {
        // Ranked in the index alone: a frequent word is in very many passages, and only the best of them are read.
        format!(
            "SELECT {columns} FROM (
                SELECT rowid AS number, bm25(words, {WEIGHTS}) AS score FROM words WHERE words MATCH ?
                ORDER BY score, number LIMIT ?
             ) AS best JOIN passages ON passages.number = best.number {documents} ORDER BY best.score, best.number"
        )
    } else {
        format!(
            "SELECT {columns} FROM words JOIN passages ON passages.number = words.rowid {documents}
             WHERE words MATCH ?{} ORDER BY bm25(words, {WEIGHTS}), passages.number LIMIT ?",
            HAS_METADATA.repeat(filter.len())
        )
    };
    let mut parameters = vec![Value::Text(wanted)];
    parameters.extend(wanted_metadata(filter));
    parameters.push(Value::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
    let mut statement = connection.prepare_cached(&statement)?;
    let rows = statement.query_map(params_from_iter(parameters), found)?;
    rows.collect()
}

/// A passage in a row with its number, its document, its place, its text and the metadata of its document. How well it fits is
/// still to be said.
pub(super) fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let passage = Passage { place: row.get(2)?, text: row.get(3)? };
    Ok(Found {
        id: PassageId(row.get(0)?),
        document: row.get(1)?,
        passage,
        metadata: metadata(row, 4)?,
        relevance: 0.0,
        likeness: 0.0,
    })
}

/// What the filter sets for the marks of its conditions.
pub(super) fn wanted_metadata(filter: &MetadataFilter) -> impl Iterator<Item = Value> {
    filter.iter().flat_map(|(key, value)| [key, value]).cloned().map(Value::Text)
}

/// For each of these passages, the share of the words that it holds. A word that few passages hold counts more, and one that
/// none holds most: what is asked for is then something else.
fn shares(connection: &Connection, words: &[String], ids: &[PassageId]) -> rusqlite::Result<BTreeMap<PassageId, f64>> {
    let numbers: Vec<i64> = ids.iter().map(|id| i64::try_from(id.0).unwrap_or(i64::MAX)).collect();
    let all: f64 = connection.query_row("SELECT count(*) FROM passages", [], |row| row.get(0))?;
    let marks = vec!["?"; numbers.len()].join(", ");
    let mut having =
        connection.prepare_cached(&format!("SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({marks})"))?;
    let mut counting = connection.prepare_cached("SELECT count(*) FROM words WHERE words MATCH ?")?;
    let (mut shares, mut sum) = (BTreeMap::new(), 0.0);
    for word in words {
        let word = quoted(word);
        let with_it: f64 = counting.query_row([&word], |row| row.get(0))?;
        let weight = (1.0 + (all - with_it + 0.5) / (with_it + 0.5)).ln();
        sum += weight;
        let parameters = [Value::Text(word)].into_iter().chain(numbers.iter().map(|number| Value::Integer(*number)));
        let holding = having.query_map(params_from_iter(parameters), |row| row.get(0).map(PassageId))?;
        for number in holding.collect::<rusqlite::Result<BTreeSet<_>>>()? {
            *shares.entry(number).or_insert(0.0) += weight;
        }
    }
    shares.values_mut().for_each(|share| *share /= sum);
    Ok(shares)
}

/// A word as the index takes it, whatever it holds.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}

/// The metadata in a column.
pub(super) fn metadata(row: &Row<'_>, column: usize) -> rusqlite::Result<BTreeMap<String, String>> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|problem| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(problem))
    })
}
