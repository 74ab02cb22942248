//! Texts, each kept once.

use rusqlite::{Connection, OptionalExtension as _};

use crate::words::{key, named};

/// The number of a name, such as that of a thing or a place. A new one is kept as it is written,
/// without its article.
pub(super) fn intern_name(connection: &Connection, text: &str) -> rusqlite::Result<i64> {
    intern(connection, false, &key(text), named(text))
}

/// The number of a text that stands for itself only: of a map, a frame, a source.
pub(super) fn intern_exact(connection: &Connection, text: &str) -> rusqlite::Result<i64> {
    intern(connection, true, text, text)
}

fn intern(connection: &Connection, exact: bool, key: &str, text: &str) -> rusqlite::Result<i64> {
    if let Some(number) = find(connection, exact, key)? {
        return Ok(number);
    }
    connection
        .prepare_cached("INSERT INTO terms (exact, key, text) VALUES (?1, ?2, ?3)")?
        .execute((exact, key, text))?;
    Ok(connection.last_insert_rowid())
}

/// The number of a name that is known.
pub(super) fn find_name(connection: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    find(connection, false, &key(text))
}

/// The number of an exact text that is known.
pub(super) fn find_exact(connection: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    find(connection, true, text)
}

fn find(connection: &Connection, exact: bool, key: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT number FROM terms WHERE exact = ?1 AND key = ?2")?
        .query_row((exact, key), |row| row.get(0))
        .optional()
}

/// The text of a number.
pub(super) fn text(connection: &Connection, number: i64) -> rusqlite::Result<String> {
    connection.prepare_cached("SELECT text FROM terms WHERE number = ?1")?.query_row([number], |row| row.get(0))
}
