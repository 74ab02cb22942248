//! What holds now: of the body, of the world, and how much there is.

use std::collections::BTreeSet;

use rusqlite::Connection;
use rusqlite::types::Value as Parameter;

use super::query::{answers, facts_of, limit, runs, whole};
use super::{Store, rows, terms};
use crate::answers::{LookedAt, MemorySize};
use crate::error::MemoryError;
use crate::fact::{Fact, FactAnswer, Now};
use crate::observation::{Claim, Coverage, NOTES, SourceKind};
use crate::rules::{LayerKind, MemoryRules};
use crate::words::key;

/// Most readings of the body in one answer.
const MOST_READINGS: usize = 100;
/// Rows of a layer that are looked through for looks, the last first.
const MOST_LOOKS: usize = 1_000;
/// Of the notes, so many are looked through for each that a person made: models note things, too.
const OPINIONS_BETWEEN: usize = 10;

impl Store {
    /// The last readings of the body, by subject and relation.
    pub(crate) fn body(&self, now: &Now) -> Result<Vec<FactAnswer>, MemoryError> {
        self.read(|connection| Ok(body(connection, self.rules(), now)?))
    }

    /// What was seen last, the last first.
    pub(crate) fn seen_last(&self, most: usize, now: &Now) -> Result<Vec<FactAnswer>, MemoryError> {
        self.read(|connection| {
            let mut facts = latest(connection, self.rules().of_kind(LayerKind::Perception), most)?;
            facts.sort_by_key(|fact| std::cmp::Reverse(fact.seen_at.sequence));
            facts.truncate(most);
            Ok(answers(facts, now))
        })
    }

    /// The places that a sensor looked at lately, each once, the last first: all of them was in sight. What merely was seen
    /// there, and a look that could see nothing, is no such look.
    pub(crate) fn looked_at(&self, now: &Now) -> Result<Vec<LookedAt>, MemoryError> {
        let from_ms = now.wall_ms.saturating_sub(self.rules().fresh_look_ms);
        // Of each place the last look: few rows are read as a whole.
        let sql = "SELECT *, max(last_sequence) FROM (
                       SELECT * FROM observations WHERE layer = ?1 AND source_kind = ?2
                       ORDER BY last_sequence DESC LIMIT ?3
                   ) WHERE claim = ?4 AND last_ms BETWEEN ?5 AND ?6 GROUP BY value";
        self.read(|connection| {
            let mut looks = Vec::new();
            for layer in self.rules().of_kind(LayerKind::Perception) {
                let Some(number) = terms::find_exact(connection, layer)? else { continue };
                let parameters = [
                    Parameter::Integer(number),
                    Parameter::Integer(rows::source_code(SourceKind::Sensor)),
                    limit(MOST_LOOKS),
                    Parameter::Integer(rows::NOT_THERE),
                    whole(from_ms),
                    whole(now.wall_ms),
                ];
                for run in runs(connection, sql, &parameters)? {
                    if let Claim::NotThere { covered: Coverage::Place(place) } = run.claim {
                        looks.push(LookedAt { place, source: run.source, at: run.last });
                    }
                }
            }
            looks.sort_by_key(|look| std::cmp::Reverse(look.at.sequence));
            let mut known = BTreeSet::new();
            looks.retain(|look| known.insert(key(&look.place)));
            Ok(looks)
        })
    }

    pub(crate) fn size(&self) -> Result<MemorySize, MemoryError> {
        self.read(|connection| {
            let count = |what: &str| {
                connection.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get::<_, u64>(0))
            };
            let pages: u64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let page: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            Ok(MemorySize {
                observations: count("observations")?,
                open_facts: count("facts WHERE end_sequence IS NULL")?,
                ended_facts: count("facts WHERE end_sequence IS NOT NULL")?,
                bytes: pages * page,
            })
        })
    }
}

/// The last readings of the body, by subject and relation.
pub(super) fn body(connection: &Connection, rules: &MemoryRules, now: &Now) -> rusqlite::Result<Vec<FactAnswer>> {
    let mut readings = latest(connection, rules.of_kind(LayerKind::Interoception), MOST_READINGS)?;
    readings.sort_by(|one, other| (&one.subject, &one.relation).cmp(&(&other.subject, &other.relation)));
    Ok(answers(readings, now))
}

/// What people said and nothing contradicts, the last first.
pub(super) fn told_by_people(connection: &Connection, most: usize) -> rusqlite::Result<Vec<Fact>> {
    let notes = latest(connection, std::iter::once(NOTES), most.saturating_mul(OPINIONS_BETWEEN))?;
    Ok(notes.into_iter().filter(|fact| fact.source.kind == SourceKind::Person).take(most).collect())
}

/// The open facts of layers that were seen last.
fn latest<'a>(
    connection: &Connection,
    layers: impl Iterator<Item = &'a str>,
    most: usize,
) -> rusqlite::Result<Vec<Fact>> {
    let sql = "SELECT * FROM facts WHERE layer = ?1 AND end_sequence IS NULL ORDER BY seen_sequence DESC LIMIT ?2";
    let mut facts = Vec::new();
    for layer in layers {
        if let Some(number) = terms::find_exact(connection, layer)? {
            facts.extend(facts_of(connection, sql, &[Parameter::Integer(number), limit(most)])?);
        }
    }
    Ok(facts)
}
