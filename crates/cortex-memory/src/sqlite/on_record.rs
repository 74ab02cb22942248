//! Reads what is on record where an observation arrives.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::rows;
use super::terms::{find_name, text};
use crate::consolidate::{Ended, OnRecord, OpenFact, Run, RunFact};
use crate::observation::{Claim, Coverage, IS_AT, IS_PART_OF, Observation, SourceKind, Value};
use crate::rules::{Cardinality, RelationRule};
use crate::words::key;

/// The columns of an observation, as numbers of terms.
pub(super) struct Columns {
    pub(super) subject: i64,
    pub(super) relation: i64,
    pub(super) source: i64,
    pub(super) source_kind: i64,
    pub(super) claim: i64,
    pub(super) value: rows::ValueColumns,
}

/// The run and the facts that matter to it.
pub(super) fn on_record(
    connection: &Connection,
    observation: &Observation,
    columns: &Columns,
    rule: RelationRule,
) -> rusqlite::Result<OnRecord> {
    Ok(OnRecord {
        run: last_run(connection, columns, rule)?,
        open: open_facts(connection, columns, observation, rule)?,
        covered: covered(connection, &observation.claim)?,
        has_evidence: has_evidence(connection, columns, rule)?,
    })
}

/// The last run of the same source. Where a relation has many values, runs of other values say nothing of this one.
fn last_run(connection: &Connection, columns: &Columns, rule: RelationRule) -> rusqlite::Result<Option<Run>> {
    let of_value = match (rule.cardinality, columns.claim) {
        (Cardinality::Many, rows::IS | rows::IS_NOT) => " AND value_kind = ?5 AND value IS ?6 AND amount IS ?7",
        _ => " AND ?5 = ?5 AND ?6 IS ?6 AND ?7 IS ?7",
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT * FROM observations WHERE subject = ?1 AND relation = ?2 AND source = ?3 AND source_kind = ?4{of_value}
         ORDER BY last_sequence DESC LIMIT 1"
    ))?;
    let (kind, value, amount) = columns.value;
    let parameters =
        params![columns.subject, columns.relation, columns.source, columns.source_kind, kind, value, amount];
    statement.query_row(parameters, |row| run(connection, row)).optional()
}

fn run(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Run> {
    let fact = row.get::<_, Option<i64>>("fact")?.map(|number| run_fact(connection, number)).transpose()?.flatten();
    Ok(Run {
        id: row.get("number")?,
        claim: rows::claim(connection, row)?,
        location: rows::location(connection, row)?,
        picture: rows::picture(row)?,
        last_ms: row.get("last_ms")?,
        fact,
    })
}

fn run_fact(connection: &Connection, number: i64) -> rusqlite::Result<Option<RunFact>> {
    let mut statement = connection.prepare_cached("SELECT end_ms, end_kind FROM facts WHERE number = ?1")?;
    let fact = |row: &Row<'_>| {
        let at_ms: Option<u64> = row.get(0)?;
        let by: Option<i64> = row.get(1)?;
        let ended = at_ms.zip(by).map(|(at_ms, by)| Ended { by: rows::source_kind(by), at_ms });
        Ok(RunFact { id: number, ended })
    };
    statement.query_row([number], fact).optional()
}

/// The facts that have not ended. Of a relation with many values only that of the value matters, unless a look covered more.
fn open_facts(
    connection: &Connection,
    columns: &Columns,
    observation: &Observation,
    rule: RelationRule,
) -> rusqlite::Result<Vec<OpenFact>> {
    let is_narrow = rule.cardinality == Cardinality::Many
        && matches!(
            &observation.claim,
            Claim::Is { value: Value::Text(_), .. } | Claim::IsNot { value: Value::Text(_), .. }
        )
        && key(observation.claim.relation()) != IS_AT;
    let of_value = if is_narrow { " AND value IS ?3" } else { " AND ?3 IS ?3" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT * FROM facts WHERE subject = ?1 AND relation = ?2 AND end_sequence IS NULL{of_value}"
    ))?;
    let facts = statement.query_map(params![columns.subject, columns.relation, columns.value.1], |row| {
        Ok(OpenFact {
            id: row.get("number")?,
            value: rows::value(connection, row)?,
            location: rows::location(connection, row)?,
            source: rows::source_kind(row.get("source_kind")?),
            seen_ms: row.get("seen_ms")?,
        })
    })?;
    facts.collect()
}

/// Whether a sensor or a person ever spoke of the subject and relation; where it has many values, of this value.
fn has_evidence(connection: &Connection, columns: &Columns, rule: RelationRule) -> rusqlite::Result<bool> {
    if rows::source_kind(columns.source_kind) != SourceKind::Model {
        return Ok(true);
    }
    let of_value = match (rule.cardinality, columns.claim) {
        (Cardinality::Many, rows::IS) => " AND value_kind = ?4 AND value IS ?5 AND amount IS ?6",
        _ => " AND ?4 = ?4 AND ?5 IS ?5 AND ?6 IS ?6",
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT 1 FROM observations WHERE subject = ?1 AND relation = ?2 AND source_kind <> ?3{of_value} LIMIT 1"
    ))?;
    let (kind, value, amount) = columns.value;
    statement.exists(params![columns.subject, columns.relation, columns.source_kind, kind, value, amount])
}

/// The keys of the places that a claim is about.
fn covered(connection: &Connection, claim: &Claim) -> rusqlite::Result<BTreeSet<String>> {
    match claim {
        Claim::NotThere { covered: Coverage::Place(place) } => parts(connection, place),
        Claim::IsNot { relation, value: Value::Text(place) } if key(relation) == IS_AT => parts(connection, place),
        _ => Ok(BTreeSet::new()),
    }
}

/// The key of a place and of all that is part of it, as far as facts say so.
fn parts(connection: &Connection, place: &str) -> rusqlite::Result<BTreeSet<String>> {
    let mut all: BTreeSet<String> = [key(place)].into();
    for number in part_numbers(connection, place, Within::Parts)? {
        all.insert(key(&text(connection, number)?));
    }
    Ok(all)
}

/// In which direction places are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// To what is part of the place.
    Parts,
    /// To what the place is part of.
    Wholes,
}

/// The numbers of a place and of its parts, or of what it is part of.
pub(super) fn part_numbers(connection: &Connection, place: &str, within: Within) -> rusqlite::Result<Vec<i64>> {
    let (Some(place), part_of) = (find_name(connection, place)?, find_name(connection, IS_PART_OF)?) else {
        return Ok(Vec::new());
    };
    let (from, to) = match within {
        Within::Parts => ("value", "subject"),
        Within::Wholes => ("subject", "value"),
    };
    // UNION keeps each place once, so that a circle of parts ends.
    let mut statement = connection.prepare_cached(&format!(
        "WITH RECURSIVE places (number) AS (
            SELECT ?1
            UNION
            SELECT facts.{to} FROM facts JOIN places ON facts.{from} = places.number
            WHERE facts.relation = ?2 AND facts.value IS NOT NULL AND facts.end_sequence IS NULL
            LIMIT 1000
         ) SELECT number FROM places"
    ))?;
    let places = statement.query_map(params![place, part_of.unwrap_or(-1)], |row| row.get(0))?;
    places.collect()
}
