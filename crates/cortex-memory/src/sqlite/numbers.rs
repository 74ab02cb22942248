//! The few numbers that a memory goes on from: the order of arrival, and what the clock has done.

use rusqlite::{Connection, OptionalExtension as _};

use crate::time::Clock;

/// From where a memory goes on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbers {
    /// The number of the last observation in the order of arrival.
    pub(super) sequence: u64,
    /// What the clock has done.
    pub(super) clock: Clock,
    /// When old rows were last looked for, in milliseconds since 1970.
    pub(super) aged_ms: Option<u64>,
}

pub(super) fn read(connection: &Connection) -> rusqlite::Result<Numbers> {
    let number = |name: &str| one(connection, name);
    Ok(Numbers {
        sequence: number("sequence")?.unwrap_or_default(),
        clock: Clock { last_ms: number("last_ms")?, doubted_ms: number("doubted_ms")? },
        aged_ms: number("aged_ms")?,
    })
}

pub(super) fn write(connection: &Connection, numbers: &Numbers) -> rusqlite::Result<()> {
    set(connection, "sequence", Some(numbers.sequence))?;
    set(connection, "last_ms", numbers.clock.last_ms)?;
    set(connection, "doubted_ms", numbers.clock.doubted_ms)?;
    set(connection, "aged_ms", numbers.aged_ms)
}

/// One of the numbers.
pub(super) fn one(connection: &Connection, name: &str) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT number FROM numbers WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// Keeps one of the numbers, or forgets it.
pub(super) fn set(connection: &Connection, name: &str, number: Option<u64>) -> rusqlite::Result<()> {
    match number {
        Some(number) => connection
            .prepare_cached("INSERT OR REPLACE INTO numbers (name, number) VALUES (?1, ?2)")?
            .execute((name, number))?,
        None => connection.prepare_cached("DELETE FROM numbers WHERE name = ?1")?.execute([name])?,
    };
    Ok(())
}
