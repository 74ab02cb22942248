//! Takes over what can be read of a damaged file. The file itself is kept aside, as it is.

use std::path::{Path, PathBuf};

use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};

use super::lock::Lock;
use super::{Store, beside, numbers, restore, retain, unopened};
use crate::error::MemoryError;
use crate::rules::MemoryRules;

/// The tables, in the order in which they are taken over.
const TABLES: [&str; 7] = ["terms", "facts", "observations", "numbers", "episodes", "interactions", "exchanges"];
/// Most steps over rows that can't be read before a table is given up. Each is twice as wide as the one before.
const MOST_STEPS: u32 = 24;

/// What came of a rebuild.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rebuilt {
    /// Where the damaged file is now, with all that was in it: nothing is ever forgotten there.
    pub aside: PathBuf,
    /// Rows of observations that were taken over.
    pub observations: u64,
    /// Facts that were taken over or made anew.
    pub facts: u64,
    /// Facts that were made anew from their observations.
    pub restored: u64,
    /// Episodes that were taken over.
    pub episodes: u64,
    /// How many times rows could not be read.
    pub gaps: u64,
}

impl Store {
    /// Keeps the file aside, and makes a new one of what can be read of it.
    pub(crate) fn rebuild(file: &Path, rules: MemoryRules) -> Result<(Self, Rebuilt), MemoryError> {
        let lock = Lock::take(file)?;
        let aside = set_aside(file)?;
        let store = Self::with_lock(file, rules, lock)?;
        // A file without a readable header has nothing to take over.
        let old = Connection::open(&aside).map_err(|problem| unopened(&aside, &problem))?;
        let mut rebuilt = store.write(|connection| Ok(take_over(&old, connection, &store.rules)?))?;
        rebuilt.aside = aside;
        Ok((store, rebuilt))
    }
}

/// Renames the file and its log to the first name that is free.
fn set_aside(file: &Path) -> Result<PathBuf, MemoryError> {
    let free = (1..).map(|number: u32| beside(file, &format!(".damaged-{number}"))).find(|path| !path.exists());
    let aside = free.unwrap_or_else(|| beside(file, ".damaged"));
    for ending in ["", "-wal", "-shm"] {
        let part = beside(file, ending);
        if part.exists() {
            std::fs::rename(&part, beside(&aside, ending)).map_err(|problem| unopened(file, &problem))?;
        }
    }
    Ok(aside)
}

fn take_over(old: &Connection, new: &mut Connection, rules: &MemoryRules) -> rusqlite::Result<Rebuilt> {
    let transaction = new.transaction()?;
    let mut rebuilt = Rebuilt::default();
    for table in TABLES {
        rebuilt.gaps += copy(old, &transaction, table)?;
    }
    // Rows that name a text which is lost say nothing.
    for (table, columns) in retain::REFERENCES {
        for column in columns {
            transaction.execute(
                &format!(
                    "DELETE FROM {table} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT number FROM terms)"
                ),
                [],
            )?;
        }
    }
    rebuilt.restored = restore::restore(&transaction, rules)?;
    retain::sweep(&transaction)?;
    let last: u64 = transaction.query_row(
        "SELECT max(coalesce((SELECT max(last_sequence) FROM observations), 0),
                    coalesce((SELECT max(seen_sequence) FROM facts), 0),
                    coalesce((SELECT max(end_sequence) FROM facts), 0),
                    coalesce((SELECT max(max(began_sequence, coalesce(ended_sequence, 0))) FROM episodes), 0),
                    coalesce((SELECT max(at_sequence) FROM interactions), 0),
                    coalesce((SELECT max(began_sequence) FROM exchanges), 0))",
        [],
        |row| row.get(0),
    )?;
    let mut state = numbers::read(&transaction)?;
    state.sequence = state.sequence.max(last);
    numbers::write(&transaction, &state)?;
    let count = |table: &str| transaction.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
    rebuilt.observations = count("observations")?;
    rebuilt.facts = count("facts")?;
    rebuilt.episodes = count("episodes")?;
    transaction.commit()?;
    Ok(rebuilt)
}

/// Takes over the rows of a table that can be read, and says how many times some could not be.
fn copy(old: &Connection, new: &Connection, table: &str) -> rusqlite::Result<u64> {
    let columns = columns(new, table)?;
    let marks = vec!["?"; columns.len()].join(", ");
    let list = columns.join(", ");
    let mut insert = new.prepare(&format!("INSERT OR IGNORE INTO {table} ({list}) VALUES ({marks})"))?;
    if table == "numbers" {
        let copied = copy_from(old, &format!("SELECT {list} FROM {table}"), &mut insert, columns.len(), &mut 0);
        return Ok(u64::from(copied.is_err()));
    }
    let (mut gaps, mut steps, mut last) = (0, 0, 0_i64);
    loop {
        let from = last;
        let sql = format!("SELECT {list} FROM {table} NOT INDEXED WHERE number > {from} ORDER BY number");
        if copy_from(old, &sql, &mut insert, columns.len(), &mut last).is_ok() {
            return Ok(gaps);
        }
        // A page is damaged: what lies behind it may be whole.
        steps = if last > from { 0 } else { steps + 1 };
        gaps += u64::from(steps == 0 || gaps == 0);
        if steps > MOST_STEPS {
            return Ok(gaps);
        }
        last = last.saturating_add(1 << steps);
    }
}

/// Takes over rows until one can't be read. `last` is then the number of the last one that was.
fn copy_from(
    old: &Connection,
    sql: &str,
    insert: &mut rusqlite::Statement<'_>,
    columns: usize,
    last: &mut i64,
) -> rusqlite::Result<()> {
    let mut statement = old.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<Parameter>>>()?;
        if let Some(Parameter::Integer(number)) = values.first() {
            *last = *number;
        }
        // A row that breaks a rule of the tables is damaged, too.
        let _ = insert.execute(params_from_iter(values));
    }
    Ok(())
}

/// The columns of a table, in its order; the number of a row comes first.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}
