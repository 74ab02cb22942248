//! Answers from the tables.

use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};
use serde::{Deserialize, Serialize};

use super::on_record::{Within, part_numbers};
use super::{Store, rows, terms};
use crate::answers::{Dispute, Entity, Located, PresenceAnswer, Whereabouts};
use crate::error::MemoryError;
use crate::fact::{Fact, FactAnswer, FactId, Now, ObservationRun};
use crate::observation::{Claim, IS_AT, name};
use crate::place::Region;
use crate::rules::Cardinality;
use crate::time::Stamp;

/// Most facts of the past that come with an answer unasked.
const MOST_BEFORE: usize = 5;

/// Which observations a question about a time is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// From when, in milliseconds since 1970.
    pub from_ms: u64,
    /// Until when, in milliseconds since 1970.
    pub to_ms: u64,
    /// Of this thing only.
    pub subject: Option<String>,
    /// Of this layer only.
    pub layer: Option<String>,
}

/// Which facts a question about a part of the map is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpatialQuery {
    /// The part of the map.
    pub region: Region,
    /// Whether facts that ended are wanted, too.
    pub past: bool,
}

impl Store {
    pub(crate) fn locate(&self, subject: &str, now: &Now) -> Result<Option<Located>, MemoryError> {
        name("subject", subject)?;
        self.read(|connection| Ok(locate(connection, self.rules(), subject, now)?))
    }

    pub(crate) fn presence(&self, subject: &str, place: &str, now: &Now) -> Result<PresenceAnswer, MemoryError> {
        name("subject", subject)?;
        name("place", place)?;
        self.read(|connection| Ok(presence(connection, subject, place, now)?))
    }

    pub(crate) fn history(&self, subject: &str, relation: &str, most: usize) -> Result<Vec<Fact>, MemoryError> {
        self.read(|connection| Ok(history(connection, subject, relation, most)?))
    }

    /// The observations that a fact rests on, the last first.
    pub(crate) fn trail(&self, fact: FactId, most: usize) -> Result<Vec<ObservationRun>, MemoryError> {
        let sql = "SELECT * FROM observations WHERE fact = ?1 ORDER BY last_sequence DESC LIMIT ?2";
        self.read(|connection| Ok(runs(connection, sql, &[whole(fact.0), limit(most)])?))
    }

    pub(crate) fn spatial(&self, query: &SpatialQuery, most: usize, now: &Now) -> Result<Vec<FactAnswer>, MemoryError> {
        let region = &query.region;
        let claim = crate::observation::Coverage::Region(region.clone());
        crate::observation::check_coverage(&claim)?;
        self.read(|connection| {
            let Some((map, version)) = rows::find_map(connection, &region.map)? else { return Ok(Vec::new()) };
            let past = if query.past { "" } else { " AND end_sequence IS NULL" };
            let sql = format!(
                "SELECT * FROM facts WHERE map = ? AND map_version = ? AND x BETWEEN ? AND ? AND y BETWEEN ? AND ?{past}
                 ORDER BY seen_sequence DESC"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let (x, y, radius) = (region.x_m, region.y_m, region.radius_m);
            let parameters = params![map, version, x - radius, x + radius, y - radius, y + radius];
            let found = statement.query_map(parameters, |row| rows::fact(connection, row))?;
            let is_within = |fact: &rusqlite::Result<Fact>| match fact {
                Ok(fact) => fact.location.as_ref().is_some_and(|location| region.holds(location)),
                Err(_) => true,
            };
            let within = found.filter(is_within).take(most);
            Ok(answers(within.collect::<rusqlite::Result<_>>()?, now))
        })
    }

    /// The observations of a time, in the order of arrival.
    pub(crate) fn temporal(&self, span: &Span, most: usize) -> Result<Vec<ObservationRun>, MemoryError> {
        self.read(|connection| {
            let (mut filter, mut parameters) = (String::new(), vec![whole(span.from_ms), whole(span.to_ms)]);
            if let Some(subject) = &span.subject {
                filter.push_str(" AND subject = ?3");
                parameters.push(Parameter::Integer(rows::known(connection, subject)?));
            }
            if let Some(layer) = &span.layer {
                // Not by its index (`+`): most rows may be of one layer.
                filter.push_str(if parameters.len() == 2 { " AND +layer = ?3" } else { " AND +layer = ?4" });
                let number = terms::find_exact(connection, layer)?.unwrap_or(-1);
                parameters.push(Parameter::Integer(number));
            }
            parameters.push(limit(most));
            let first = format!("ORDER BY first_sequence LIMIT ?{}", parameters.len());
            // Rows of up to an hour are found by their beginning, those that last longer by their end. Of each, only the first
            // are read in full.
            let sql = format!(
                "SELECT * FROM observations WHERE number IN (
                    SELECT number FROM (SELECT number FROM observations
                        WHERE first_ms BETWEEN ?1 - 3600000 AND ?2 AND last_ms >= ?1{filter} {first})
                    UNION
                    SELECT number FROM (SELECT number FROM observations
                        WHERE last_ms - first_ms > 3600000 AND last_ms >= ?1 AND first_ms <= ?2{filter} {first})
                 ) {first}"
            );
            Ok(runs(connection, &sql, &parameters)?)
        })
    }

    pub(crate) fn entity(&self, entity: &str, most: usize, now: &Now) -> Result<Option<Entity>, MemoryError> {
        name("name", entity)?;
        self.read(|connection| {
            let Some(number) = terms::find_name(connection, entity)? else { return Ok(None) };
            let facts = "SELECT * FROM facts WHERE subject = ?1
                         ORDER BY end_sequence IS NOT NULL, seen_sequence DESC LIMIT ?2";
            let named_by = "SELECT * FROM facts WHERE value = ?1 AND end_sequence IS NULL
                            ORDER BY seen_sequence DESC LIMIT ?2";
            let parameters = [Parameter::Integer(number), limit(most)];
            let runs = "SELECT count(*) FROM observations WHERE subject = ?1";
            let end = |order: &str, stamp: &str| -> rusqlite::Result<Option<Stamp>> {
                let sql = format!(
                    "SELECT {stamp}_ms, {stamp}_sequence FROM observations WHERE subject = ?1
                     ORDER BY {stamp}_sequence {order} LIMIT 1"
                );
                let stamp = |row: &rusqlite::Row<'_>| Ok(Stamp { wall_ms: row.get(0)?, sequence: row.get(1)? });
                connection.prepare_cached(&sql)?.query_row([number], stamp).optional()
            };
            Ok(Some(Entity {
                name: terms::text(connection, number)?,
                facts: answers(facts_of(connection, facts, &parameters)?, now),
                named_by: answers(facts_of(connection, named_by, &parameters)?, now),
                first: end("ASC", "first")?,
                last: end("DESC", "last")?,
                runs: connection.prepare_cached(runs)?.query_row([number], |row| row.get(0))?,
            }))
        })
    }
}

/// Where a thing is. None: nobody ever spoke of it.
pub(super) fn locate(
    connection: &Connection,
    rules: &crate::rules::MemoryRules,
    subject: &str,
    now: &Now,
) -> rusqlite::Result<Option<Located>> {
    let Some(number) = terms::find_name(connection, subject)? else { return Ok(None) };
    let spoken_of =
        connection.prepare_cached("SELECT 1 FROM observations WHERE subject = ?1 LIMIT 1")?.exists([number])?;
    if !spoken_of {
        return Ok(None);
    }
    let mut facts = history(connection, subject, IS_AT, MOST_BEFORE + 1)?;
    // What holds comes first, whenever it was seen.
    facts.sort_by_key(|fact| fact.ended.is_some());
    let before = if facts.is_empty() { Vec::new() } else { facts.split_off(1) };
    let last = facts.pop();
    let seen = last.as_ref().map(|fact| fact.seen_at.sequence);
    let is_one = last.as_ref().is_some_and(|fact| {
        let layer = rules.layers.get(&fact.layer);
        layer.is_some_and(|layer| rules.relation(IS_AT, layer).cardinality == Cardinality::One)
    });
    let disputed_by = match &last {
        Some(fact) if is_one && fact.ended.is_none() => dispute(connection, fact, &before)?,
        _ => None,
    };
    let looks = "SELECT * FROM observations WHERE subject = ?1 AND relation = ?2 AND claim IN (1, 2)
                 ORDER BY last_sequence DESC LIMIT 1";
    let relation = Parameter::Integer(rows::known(connection, IS_AT)?);
    let looked = runs(connection, looks, &[Parameter::Integer(number), relation])?.pop();
    let is_since = |look: &ObservationRun| Some(look.last.sequence) > seen;
    let whereabouts = match last {
        None => Whereabouts::NeverSeen,
        Some(fact) if fact.ended.is_none() => Whereabouts::At(fact.answer(now)),
        Some(fact) => Whereabouts::LastSeen(fact.answer(now)),
    };
    let subject = terms::text(connection, number)?;
    Ok(Some(Located { subject, whereabouts, disputed_by, before, looked: looked.filter(is_since) }))
}

/// What another source says after the fact began, and goes on saying: the evidence of one of the facts that ended before.
fn dispute(connection: &Connection, fact: &Fact, before: &[Fact]) -> rusqlite::Result<Option<Dispute>> {
    let sql = "SELECT * FROM observations WHERE fact = ?1 ORDER BY last_sequence DESC LIMIT 1";
    let mut contrary: Option<ObservationRun> = None;
    for ended in before {
        let last = runs(connection, sql, &[whole(ended.id.0)])?.pop();
        let is_later = |run: &ObservationRun| {
            let since = contrary.as_ref().map_or(fact.valid_from, |contrary| contrary.last);
            run.last.sequence > since.sequence
        };
        if let Some(run) = last.filter(is_later) {
            contrary = Some(run);
        }
    }
    Ok(contrary.and_then(|run| match run.claim {
        Claim::Is { value, .. } => Some(Dispute { value, seen_at: run.last, source: run.source }),
        _ => None,
    }))
}

/// Whether a thing is at a place, or at a part of it.
pub(super) fn presence(
    connection: &Connection,
    subject: &str,
    place: &str,
    now: &Now,
) -> rusqlite::Result<PresenceAnswer> {
    let number = rows::known(connection, subject)?;
    let relation = rows::known(connection, IS_AT)?;
    let parts = marks(&part_numbers(connection, place, Within::Parts)?);
    let wholes = marks(&part_numbers(connection, place, Within::Wholes)?);
    let own = [Parameter::Integer(number), Parameter::Integer(relation)];
    let open = format!(
        "SELECT * FROM facts INDEXED BY facts_open WHERE subject = ?1 AND relation = ?2 AND end_sequence IS NULL
         AND value IN ({parts}) ORDER BY seen_sequence DESC LIMIT 1"
    );
    let ended = format!(
        "SELECT * FROM facts WHERE subject = ?1 AND relation = ?2 AND value IN ({parts})
         ORDER BY seen_sequence DESC LIMIT 1"
    );
    let elsewhere = format!(
        "SELECT * FROM facts INDEXED BY facts_open WHERE subject = ?1 AND relation = ?2 AND end_sequence IS NULL
         AND (value IS NULL OR value NOT IN ({parts})) ORDER BY seen_sequence DESC LIMIT 1"
    );
    let look = |claims: &str| {
        let sql = format!(
            "SELECT * FROM observations INDEXED BY observations_of_places WHERE value IN ({wholes}) AND subject = ?1
             AND claim IN ({claims}) AND claim <> 0 AND relation = ?2 ORDER BY last_sequence DESC LIMIT 1"
        );
        Ok::<_, rusqlite::Error>(runs(connection, &sql, &own)?.pop())
    };
    let one = |sql: &str| Ok::<_, rusqlite::Error>(facts_of(connection, sql, &own)?.pop().map(|fact| fact.answer(now)));
    // What holds counts more than what ended.
    let there = match one(&open)? {
        Some(there) => Some(there),
        None => one(&ended)?,
    };
    Ok(PresenceAnswer::of(there, one(&elsewhere)?, look("1, 2")?, look("3")?))
}

/// Numbers as a list of SQL. They come from the file and are whole numbers: nothing of a text gets in.
fn marks(numbers: &[i64]) -> String {
    if numbers.is_empty() {
        // No row has it; without any number an index could not be used.
        return "-1".to_owned();
    }
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// The facts of a subject and relation, the last first.
pub(super) fn history(
    connection: &Connection,
    subject: &str,
    relation: &str,
    most: usize,
) -> rusqlite::Result<Vec<Fact>> {
    let sql = "SELECT * FROM facts WHERE subject = ?1 AND relation = ?2 ORDER BY seen_sequence DESC LIMIT ?3";
    let (subject, relation) = (rows::known(connection, subject)?, rows::known(connection, relation)?);
    facts_of(connection, sql, &[Parameter::Integer(subject), Parameter::Integer(relation), limit(most)])
}

pub(super) fn facts_of(connection: &Connection, sql: &str, parameters: &[Parameter]) -> rusqlite::Result<Vec<Fact>> {
    let mut statement = connection.prepare_cached(sql)?;
    let facts = statement.query_map(params_from_iter(parameters), |row| rows::fact(connection, row))?;
    facts.collect()
}

pub(super) fn runs(
    connection: &Connection,
    sql: &str,
    parameters: &[Parameter],
) -> rusqlite::Result<Vec<ObservationRun>> {
    let mut statement = connection.prepare_cached(sql)?;
    let runs = statement.query_map(params_from_iter(parameters), |row| rows::run(connection, row))?;
    runs.collect()
}

pub(super) fn answers(facts: Vec<Fact>, now: &Now) -> Vec<FactAnswer> {
    facts.into_iter().map(|fact| fact.answer(now)).collect()
}

pub(super) fn whole(number: u64) -> Parameter {
    Parameter::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(super) fn limit(most: usize) -> Parameter {
    Parameter::Integer(i64::try_from(most).unwrap_or(i64::MAX))
}
