//! Forgets, so that no byte of it stays in the file.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, params};
use serde::{Deserialize, Serialize};

use super::episodes::FORGOTTEN;
use super::{Store, StoreProblem, episodes, exchanges, guard, interactions, retain, terms};
use crate::answers::Forgotten;
use crate::episode::EpisodeId;
use crate::error::MemoryError;
use crate::observation::name;
use crate::rules::MemoryRules;
use crate::words::{key, mentions, named};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forget {
    /// A thing, a place or a person: all that was said of it, all facts that have it as their value, and all texts that
    /// mention it by its name. What a person of this name said of others, and did with tasks, stays, without the name; the
    /// conversations of that person go.
    Subject(String),
    /// All that was observed in a time, the episodes of it, what people did with tasks and asked in conversations, in milliseconds since 1970; what reaches into it is forgotten
    /// as a whole.
    Span {
        /// From when.
        from_ms: u64,
        /// Until when.
        to_ms: u64,
    },
    /// All that a source said.
    Source(String),
    /// An episode with its gist. What was observed meanwhile stays.
    Episode(EpisodeId),
    /// All.
    Everything,
}

impl Store {
    pub(crate) fn forget(&self, what: &Forget) -> Result<Forgotten, MemoryError> {
        if let Forget::Subject(subject) | Forget::Source(subject) = what {
            name("name", subject)?;
        }
        let mut writing = guard(&self.writing);
        if let Forget::Subject(name) | Forget::Source(name) = what {
            let goes_on = episodes::goes_on(&writing).map_err(|error| self.explained(error.into()))?;
            if goes_on {
                self.remember_forgotten(named(name));
            }
        }
        let forgotten = remove(&mut writing, self.rules(), what).map_err(|problem| self.explained(problem))?;
        // While nobody looks: a look would hold on to the state before.
        let _reading = guard(&self.reading);
        erase(&writing).map_err(|error| {
            let problem = self.explained(StoreProblem::Sqlite(error)).to_string();
            MemoryError::NotErased { file: self.file.clone(), problem }
        })?;
        Ok(forgotten)
    }
}

/// Removes the rows: from here on no answer holds any of it.
fn remove(connection: &mut Connection, rules: &MemoryRules, what: &Forget) -> Result<Forgotten, StoreProblem> {
    let transaction = connection.transaction()?;
    let mut forgotten = match what {
        Forget::Subject(subject) => forget_subject(&transaction, subject)?,
        Forget::Span { from_ms, to_ms } => {
            let condition = "first_ms <= ?2 AND last_ms >= ?1";
            forget_where(&transaction, condition, params![from_ms, to_ms])?
        }
        Forget::Source(source) => {
            let number = terms::find_exact(&transaction, source)?.unwrap_or(-1);
            forget_where(&transaction, "source = ?1", params![number])?
        }
        Forget::Episode(_) => Forgotten::default(),
        Forget::Everything => forget_where(&transaction, "1", params![])?,
    };
    match what {
        Forget::Subject(name) | Forget::Source(name) => {
            if matches!(what, Forget::Source(_)) {
                forgotten.interactions = interactions::remove(&transaction, "person = ?1", params![name])?;
            }
            let name = named(name);
            disown(&transaction, name)?;
            forgotten.redacted = episodes::redact(&transaction, rules, name)?;
            forgotten.interactions += interactions::redact(&transaction, name)?;
            forgotten.exchanges = exchanges::redact(&transaction, name)?;
        }
        Forget::Span { from_ms, to_ms } => {
            let condition = "began_ms <= ?2 AND coalesce(ended_ms, began_ms) >= ?1";
            forgotten.episodes = episodes::remove(&transaction, condition, params![from_ms, to_ms])?;
            let condition = "at_ms BETWEEN ?1 AND ?2";
            forgotten.interactions = interactions::remove(&transaction, condition, params![from_ms, to_ms])?;
            let condition = "began_ms <= ?2 AND coalesce(ended_ms, began_ms) >= ?1";
            forgotten.exchanges = exchanges::remove(&transaction, condition, params![from_ms, to_ms])?;
        }
        Forget::Episode(id) => forgotten.episodes = episodes::remove(&transaction, "number = ?1", params![id.0])?,
        Forget::Everything => {
            forgotten.episodes = episodes::remove(&transaction, "1", params![])?;
            forgotten.interactions = interactions::remove(&transaction, "1", params![])?;
            forgotten.exchanges = exchanges::remove(&transaction, "1", params![])?;
        }
    }
    forgotten.facts += u64::try_from(retain::sweep(&transaction)?).unwrap_or_default();
    transaction.commit()?;
    Ok(forgotten)
}

fn forget_subject(transaction: &Transaction<'_>, subject: &str) -> rusqlite::Result<Forgotten> {
    let mut numbers = mentioning(transaction, subject)?;
    numbers.extend(terms::find_name(transaction, subject)?);
    let list = numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let observations = transaction.execute(
        &format!("DELETE FROM observations WHERE subject IN ({list}) OR value IN ({list}) OR reason IN ({list})"),
        [],
    )?;
    let facts =
        transaction.execute(&format!("DELETE FROM facts WHERE subject IN ({list}) OR value IN ({list})"), [])?;
    let count = |number: usize| u64::try_from(number).unwrap_or_default();
    Ok(Forgotten { observations: count(observations), facts: count(facts), ..Forgotten::default() })
}

/// The texts that mention a name as whole words. Names of other things are none: the lid of a cup is not the cup.
fn mentioning(transaction: &Transaction<'_>, subject: &str) -> rusqlite::Result<BTreeSet<i64>> {
    let mut statement = transaction.prepare("SELECT number, text FROM terms WHERE exact = 0")?;
    let mut is_thing = transaction.prepare("SELECT 1 FROM observations WHERE subject = ?1 LIMIT 1")?;
    let mut rows = statement.query([])?;
    let mut numbers = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let (number, text): (i64, String) = (row.get(0)?, row.get(1)?);
        if mentions(&text, named(subject)) && !is_thing.exists([number])? {
            numbers.insert(number);
        }
    }
    Ok(numbers)
}

/// Removes rows of observations. A fact that rests on others, too, goes on with what they say.
fn forget_where(
    transaction: &Transaction<'_>,
    condition: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Forgotten> {
    transaction
        .execute_batch("CREATE TEMP TABLE IF NOT EXISTS touched (fact INTEGER PRIMARY KEY); DELETE FROM touched;")?;
    let touched = "INSERT OR IGNORE INTO touched SELECT fact FROM observations WHERE fact IS NOT NULL AND ";
    transaction.execute(&format!("{touched}{condition}"), parameters)?;
    let observations = transaction.execute(&format!("DELETE FROM observations WHERE {condition}"), parameters)?;
    // Those that nothing is left of are swept.
    transaction
        .execute("DELETE FROM touched WHERE fact NOT IN (SELECT fact FROM observations WHERE fact NOT NULL)", [])?;
    transaction.execute_batch(
        "UPDATE facts SET
            (from_ms, from_sequence) = (SELECT first_ms, first_sequence FROM observations
                WHERE fact = facts.number ORDER BY first_sequence LIMIT 1),
            (seen_ms, seen_sequence, layer, source, source_kind, confidence, x, y, yaw, frame, map, map_version) =
                (SELECT last_ms, last_sequence, layer, source, source_kind, confidence, x, y, yaw, frame, map, map_version
                FROM observations WHERE fact = facts.number ORDER BY last_sequence DESC LIMIT 1),
            observations = (SELECT sum(count) FROM observations WHERE fact = facts.number)
         WHERE number IN (SELECT fact FROM touched);
         DELETE FROM touched;",
    )?;
    Ok(Forgotten { observations: u64::try_from(observations).unwrap_or_default(), ..Forgotten::default() })
}

/// Takes a name off all that it said or ended. What was said stays.
fn disown(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<()> {
    let mut sources = transaction.prepare("SELECT number, text FROM terms WHERE exact = 1")?;
    let mut rows = sources.query([])?;
    while let Some(row) = rows.next()? {
        let (number, text): (i64, String) = (row.get(0)?, row.get(1)?);
        if key(&text) == key(name) {
            let nobody = terms::intern_exact(transaction, FORGOTTEN)?;
            for (table, column) in [("observations", "source"), ("facts", "source"), ("facts", "end_source")] {
                let sql = format!("UPDATE {table} SET {column} = ?2 WHERE {column} = ?1");
                transaction.execute(&sql, [number, nobody])?;
            }
        }
    }
    Ok(())
}

/// Writes the file anew from what is left, and empties the log of writes.
fn erase(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "INSERT INTO words (words) VALUES ('rebuild'); INSERT INTO gists (gists) VALUES ('rebuild'); VACUUM;",
    )?;
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy == 0 {
        Ok(())
    } else {
        Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None))
    }
}
