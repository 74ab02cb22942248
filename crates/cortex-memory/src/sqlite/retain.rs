//! Keeps a memory within its bounds. Forgotten first is what tells least: of rows that are too many, the oldest that are not
//! the last word on an open fact; then the oldest of sensors and models; last what people said. Age alone never takes what
//! people said.

use std::collections::HashSet;

use rusqlite::{Transaction, params};

use super::numbers::{self, Numbers};
use super::{episodes, exchanges, interactions, meaning, rows, terms};
use crate::observation::SourceKind;
use crate::rules::{Layer, MemoryRules};

/// Rows above the bound before some are forgotten, as a part of it, so that this happens seldom.
const SLACK: u64 = 20;
/// How often old rows are looked for, in milliseconds.
const AGING_MS: u64 = 24 * 3_600_000;
/// Most rows of a layer that are forgotten for their age at a time, so that nobody waits long; the rest goes the next day.
const MOST_AGED: u64 = 200_000;

/// Where texts are named: the tables and their columns.
pub(super) const REFERENCES: [(&str, &[&str]); 2] = [
    ("facts", &["subject", "relation", "value", "layer", "source", "frame", "map", "map_version", "end_source"]),
    (
        "observations",
        &["subject", "relation", "value", "reason", "layer", "source", "sensor", "frame", "map", "map_version"],
    ),
];

/// Forgets what is above the bounds of its layer.
pub(super) fn enforce(transaction: &Transaction<'_>, rules: &MemoryRules, state: &Numbers) -> rusqlite::Result<()> {
    let now = state.clock.trusted_now();
    let is_due = now.filter(|now| state.aged_ms.is_none_or(|aged| now.abs_diff(aged) >= AGING_MS));
    let mut forgotten = 0;
    for (name, layer) in &rules.layers {
        let Some(number) = terms::find_exact(transaction, name)? else { continue };
        if let Some(now) = is_due {
            forgotten += forget_old(transaction, number, now.saturating_sub(layer.max_age_ms))?;
        }
        forgotten += forget_surplus(transaction, number, layer, state.sequence)?;
    }
    if let Some(now) = is_due {
        let longest = rules.layers.values().map(|layer| layer.max_age_ms).max().unwrap_or_default();
        let old = now.saturating_sub(longest);
        episodes::remove(transaction, "ended_ms < ?1", params![old])?;
        interactions::remove(transaction, "at_ms < ?1", params![old])?;
        exchanges::remove(transaction, "began_ms < ?1 AND outcome IS NOT NULL", params![old])?;
        numbers::write(transaction, &Numbers { aged_ms: Some(now), ..*state })?;
    }
    if forgotten > 0 {
        sweep(transaction)?;
    }
    Ok(())
}

fn forget_old(transaction: &Transaction<'_>, layer: i64, before_ms: u64) -> rusqlite::Result<usize> {
    let mut forgotten = 0;
    for kind in [SourceKind::Sensor, SourceKind::Model] {
        forgotten += transaction.execute(
            "DELETE FROM observations WHERE number IN (
                SELECT number FROM (
                    SELECT number, last_ms FROM observations WHERE layer = ?1 AND source_kind = ?2
                    ORDER BY last_sequence LIMIT ?4
                ) WHERE last_ms < ?3)",
            params![layer, rows::source_code(kind), before_ms, MOST_AGED],
        )?;
    }
    Ok(forgotten)
}

fn forget_surplus(transaction: &Transaction<'_>, number: i64, layer: &Layer, sequence: u64) -> rusqlite::Result<usize> {
    // Counting takes long; an observation is at most one row, so that the next count can wait for so many of them.
    let due = format!("count of layer {number}");
    if sequence < numbers::one(transaction, &due)?.unwrap_or_default() {
        return Ok(0);
    }
    let rows: u64 = transaction
        .prepare_cached("SELECT count(*) FROM observations WHERE layer = ?1")?
        .query_row([number], |row| row.get(0))?;
    let most = layer.max_rows + layer.max_rows / SLACK;
    numbers::set(transaction, &due, Some(sequence + most.saturating_sub(rows).max(1)))?;
    if rows <= most {
        return Ok(0);
    }
    let mut surplus = rows - layer.max_rows;
    let mut forgotten = 0;
    let person = rows::source_code(SourceKind::Person);
    let is_last_word = "EXISTS (SELECT 1 FROM facts WHERE facts.number = observations.fact
        AND facts.end_sequence IS NULL AND facts.seen_sequence = observations.last_sequence)";
    let ranks =
        [format!("source_kind <> {person} AND NOT {is_last_word}"), format!("source_kind <> {person}"), "1".to_owned()];
    for rank in ranks {
        let deleted = transaction.execute(
            &format!(
                "DELETE FROM observations WHERE number IN (
                    SELECT number FROM observations WHERE layer = ?1 AND {rank} ORDER BY last_sequence LIMIT ?2)"
            ),
            params![number, surplus],
        )?;
        forgotten += deleted;
        surplus = surplus.saturating_sub(u64::try_from(deleted).unwrap_or(u64::MAX));
        if surplus == 0 {
            break;
        }
    }
    Ok(forgotten)
}

/// Removes the facts that no observation is left of, and the texts and vectors that nothing needs any more.
pub(super) fn sweep(transaction: &Transaction<'_>) -> rusqlite::Result<usize> {
    let facts = transaction.execute(
        "DELETE FROM facts WHERE NOT EXISTS (SELECT 1 FROM observations WHERE observations.fact = facts.number)",
        [],
    )?;
    meaning::sweep(transaction)?;
    // One pass over each table: they may have a million rows.
    let mut used: HashSet<i64> = HashSet::new();
    for (table, columns) in REFERENCES {
        let mut statement = transaction.prepare(&format!("SELECT {} FROM {table}", columns.join(", ")))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns.len() {
                used.extend(row.get::<_, Option<i64>>(column)?);
            }
        }
    }
    let mut all = transaction.prepare("SELECT number FROM terms")?;
    let all = all.query_map([], |row| row.get::<_, i64>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut delete = transaction.prepare("DELETE FROM terms WHERE number = ?1")?;
    for number in all.into_iter().filter(|number| !used.contains(number)) {
        delete.execute([number])?;
    }
    Ok(facts)
}
