//! The tables of the store, and how a file is recognised.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours: "CrtK".
const APPLICATION: i64 = 0x4372_744b;
/// The format of the tables.
const FORMAT: i64 = 2;

/// What a file is.
pub(super) enum Kind {
    /// Ours, with the tables made.
    Ready,
    /// Something else.
    Foreign,
    /// Ours, of a newer format.
    Newer(i64),
}

/// The index has no texts of its own: it reads those of `passages`. `secure-delete` and `secure_delete` leave nothing of what
/// was removed in the file.
const TABLES: &str = "
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        digest BLOB NOT NULL,
        metadata TEXT NOT NULL,
        added_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE passages (
        number INTEGER PRIMARY KEY,
        document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
        id TEXT NOT NULL,
        place TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX passages_of_documents ON passages (document);
    CREATE VIRTUAL TABLE words USING fts5 (
        text, place, id,
        content = 'passages', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2'
    );
    INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN
        INSERT INTO words (rowid, text, place, id) VALUES (new.number, new.text, new.place, new.id);
    END;
    CREATE TRIGGER passages_removed AFTER DELETE ON passages BEGIN
        INSERT INTO words (words, rowid, text, place, id)
        VALUES ('delete', old.number, old.text, old.place, old.id);
    END;";

/// What format 2 adds: the vectors of one model. They are rounded to a byte for each number (`vectors.rs`).
const VECTORS: &str = "
    CREATE TABLE vectors (
        passage INTEGER PRIMARY KEY REFERENCES passages (number) ON DELETE CASCADE,
        numbers BLOB NOT NULL
    ) STRICT;
    CREATE TABLE vector_model (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        name TEXT NOT NULL,
        dimension INTEGER NOT NULL
    ) STRICT;";

/// Sets up a connection to a file of ours.
pub(super) fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
}

/// Says what the file is, and makes the tables of a new one: two processes may do so at the same time. A file of another
/// program stays as it is.
pub(super) fn prepare(connection: &mut Connection) -> rusqlite::Result<Kind> {
    // Another process, such as `cortex knowledge add`, may be writing.
    connection.busy_timeout(Duration::from_secs(5))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let kind = match (number("application_id")?, number("user_version")?) {
        (APPLICATION, FORMAT) => Kind::Ready,
        (APPLICATION, newer) if newer > FORMAT => Kind::Newer(newer),
        (APPLICATION, 1) => {
            transaction.execute_batch(VECTORS)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            Kind::Ready
        }
        (0, 0) if tables == 0 => {
            transaction.execute_batch(TABLES)?;
            transaction.execute_batch(VECTORS)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            Kind::Ready
        }
        _ => Kind::Foreign,
    };
    transaction.commit()?;
    Ok(kind)
}
