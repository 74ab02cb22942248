//! Reads what the bulletin is made of, all from one state of the file.

use rusqlite::Connection;
use rusqlite::types::Value as Parameter;

use super::query::{limit, whole};
use super::{Store, current, episodes, interactions, rows};
use crate::bulletin::{DECISIONS_MS, HABITS_MS, MOST_ROWS, Material, TASKS_MS, ToldFact};
use crate::error::MemoryError;
use crate::fact::{Fact, Now};
use crate::observation::Source;
use crate::time::CLOCK_TOLERANCE_MS;

/// Most facts of people.
const MOST_TOLD: usize = 100;
/// Most sources of a fact.
const MOST_SOURCES: i64 = 3;

impl Store {
    /// What the bulletin of this moment is made of.
    pub(crate) fn bulletin(&self, now: &Now) -> Result<Material, MemoryError> {
        self.read(|connection| {
            // What the clock says is still to come was noted by one that was wrong.
            let to_ms = now.wall_ms.saturating_add(CLOCK_TOLERANCE_MS);
            let from = |age_ms: u64| now.wall_ms.saturating_sub(age_ms);
            let tasks = "WHERE ended_ms BETWEEN ?1 AND ?2 ORDER BY number DESC LIMIT ?3";
            let of_last_days = [whole(from(TASKS_MS)), whole(to_ms), limit(MOST_ROWS)];
            let interactions =
                |are_asked, age_ms| interactions::since(connection, are_asked, from(age_ms), to_ms, MOST_ROWS);
            Ok(Material {
                body: current::body(connection, self.rules(), now)?,
                told: told(connection)?,
                tasks: episodes::episodes(connection, tasks, &of_last_days)?,
                asked: interactions(true, HABITS_MS)?,
                decided: interactions(false, DECISIONS_MS)?,
            })
        })
    }
}

fn told(connection: &Connection) -> rusqlite::Result<Vec<ToldFact>> {
    let told = current::told_by_people(connection, MOST_TOLD)?.into_iter().map(|fact| {
        let sources = sources(connection, &fact)?;
        Ok(ToldFact { fact, sources })
    });
    told.collect()
}

/// Who says so, the last first.
fn sources(connection: &Connection, fact: &Fact) -> rusqlite::Result<Vec<Source>> {
    let mut statement = connection.prepare_cached(
        "SELECT source_kind, source FROM observations WHERE fact = ?1 AND claim = 0 GROUP BY source_kind, source
         ORDER BY max(last_sequence) DESC LIMIT ?2",
    )?;
    let sources = statement.query_map([whole(fact.id.0), Parameter::Integer(MOST_SOURCES)], |row| {
        rows::source(connection, row.get(0)?, row.get(1)?)
    })?;
    sources.collect()
}
