//! The tables of a memory, how a file is recognised, and how one of an earlier format is taken over.

use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours: "CrtM".
const APPLICATION: i64 = 0x4372_744d;
/// The format of the tables: the number of steps that made them.
const FORMAT: i64 = 5;
/// Bytes of a page.
pub(super) const PAGE_BYTES: u64 = 4_096;
/// Memory for pages of each connection, in KiB. Two connections: 16 MB.
const CACHE_KIB: i64 = 8_192;
/// The log of writes is cut to so many bytes when it was taken over.
const LOG_BYTES: i64 = 4 << 20;

/// What a file is.
pub(super) enum Kind {
    /// Ours, with the tables made.
    Ready,
    /// Something else.
    Foreign,
    /// Ours, of a newer format.
    Newer(i64),
}

/// Each text is kept once, in `terms`: names under their key, what must be exact (maps, frames, sources) as it is. Only names
/// are indexed by their words. `secure-delete` and `secure_delete` leave nothing of what was removed in the file.
const FIRST: &str = "
    CREATE TABLE numbers (name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE terms (
        number INTEGER PRIMARY KEY,
        exact INTEGER NOT NULL,
        key TEXT NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (exact, key)
    ) STRICT;
    CREATE VIEW names AS SELECT number, text FROM terms WHERE exact = 0;
    CREATE VIRTUAL TABLE words USING fts5 (
        text, content = 'names', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2'
    );
    INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER terms_added AFTER INSERT ON terms WHEN new.exact = 0 BEGIN
        INSERT INTO words (rowid, text) VALUES (new.number, new.text);
    END;
    CREATE TRIGGER terms_removed AFTER DELETE ON terms WHEN old.exact = 0 BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.number, old.text);
    END;
    CREATE TABLE facts (
        number INTEGER PRIMARY KEY,
        subject INTEGER NOT NULL, relation INTEGER NOT NULL,
        value_kind INTEGER NOT NULL, value INTEGER, amount REAL,
        layer INTEGER NOT NULL, source INTEGER NOT NULL, source_kind INTEGER NOT NULL, confidence REAL,
        x REAL, y REAL, yaw REAL, frame INTEGER, map INTEGER, map_version INTEGER,
        from_ms INTEGER NOT NULL, from_sequence INTEGER NOT NULL,
        seen_ms INTEGER NOT NULL, seen_sequence INTEGER NOT NULL,
        observations INTEGER NOT NULL,
        end_ms INTEGER, end_sequence INTEGER, end_reason INTEGER, end_source INTEGER, end_kind INTEGER
    ) STRICT;
    CREATE INDEX facts_by_subject ON facts (subject, relation, seen_sequence);
    CREATE INDEX facts_open ON facts (subject, relation) WHERE end_sequence IS NULL;
    CREATE INDEX facts_open_by_layer ON facts (layer, seen_sequence) WHERE end_sequence IS NULL;
    CREATE INDEX facts_by_value ON facts (value, seen_sequence) WHERE value IS NOT NULL;
    CREATE INDEX facts_by_relation ON facts (relation, seen_sequence) WHERE end_sequence IS NULL;
    CREATE INDEX facts_by_place ON facts (map, map_version, x) WHERE x IS NOT NULL;
    CREATE TABLE observations (
        number INTEGER PRIMARY KEY,
        subject INTEGER NOT NULL, relation INTEGER NOT NULL, claim INTEGER NOT NULL,
        value_kind INTEGER NOT NULL, value INTEGER, amount REAL, reason INTEGER,
        layer INTEGER NOT NULL, source INTEGER NOT NULL, source_kind INTEGER NOT NULL, confidence REAL,
        sensor INTEGER, picture INTEGER,
        x REAL, y REAL, yaw REAL, radius REAL, frame INTEGER, map INTEGER, map_version INTEGER,
        first_ms INTEGER NOT NULL, first_sequence INTEGER NOT NULL,
        last_ms INTEGER NOT NULL, last_sequence INTEGER NOT NULL,
        count INTEGER NOT NULL,
        fact INTEGER
    ) STRICT;
    CREATE INDEX observations_by_source ON observations (subject, relation, source, source_kind, last_sequence);
    CREATE INDEX observations_by_value ON observations (subject, claim, value, last_sequence) WHERE claim <> 0;
    CREATE INDEX observations_by_fact ON observations (fact, last_sequence);
    CREATE INDEX observations_by_layer ON observations (layer, source_kind, last_sequence);
    CREATE INDEX observations_by_time ON observations (first_ms);
    CREATE INDEX observations_that_last ON observations (last_ms) WHERE last_ms - first_ms > 3600000;";

/// Episodes and their gists came later, and so did the indices of what is where now, and of who looked where.
const SECOND: &str = "
    CREATE INDEX facts_open_by_value ON facts (value, seen_sequence) WHERE end_sequence IS NULL AND value IS NOT NULL;
    DROP INDEX observations_by_value;
    CREATE INDEX observations_of_places ON observations (value, subject, claim, last_sequence) WHERE claim <> 0;
    CREATE INDEX observations_of_absence ON observations (subject, relation, last_sequence) WHERE claim IN (1, 2);
    CREATE TABLE episodes (
        number INTEGER PRIMARY KEY,
        task TEXT NOT NULL,
        began_ms INTEGER NOT NULL, began_sequence INTEGER NOT NULL,
        ended_ms INTEGER, ended_sequence INTEGER, outcome INTEGER,
        detail TEXT NOT NULL DEFAULT '',
        gist TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE INDEX episodes_open ON episodes (number) WHERE ended_sequence IS NULL;
    CREATE VIRTUAL TABLE gists USING fts5 (
        task, detail, gist,
        content = 'episodes', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2'
    );
    INSERT INTO gists (gists, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER episodes_added AFTER INSERT ON episodes BEGIN
        INSERT INTO gists (rowid, task, detail, gist) VALUES (new.number, new.task, new.detail, new.gist);
    END;
    CREATE TRIGGER episodes_removed AFTER DELETE ON episodes BEGIN
        INSERT INTO gists (gists, rowid, task, detail, gist)
        VALUES ('delete', old.number, old.task, old.detail, old.gist);
    END;
    CREATE TRIGGER episodes_changed AFTER UPDATE OF task, detail, gist ON episodes BEGIN
        INSERT INTO gists (gists, rowid, task, detail, gist)
        VALUES ('delete', old.number, old.task, old.detail, old.gist);
        INSERT INTO gists (rowid, task, detail, gist) VALUES (new.number, new.task, new.detail, new.gist);
    END;";

/// What people did with tasks came later still.
const THIRD: &str = "
    CREATE TABLE interactions (
        number INTEGER PRIMARY KEY,
        kind INTEGER NOT NULL,
        subject TEXT NOT NULL,
        detail TEXT NOT NULL,
        person TEXT NOT NULL,
        at_ms INTEGER NOT NULL, at_sequence INTEGER NOT NULL,
        offset_min INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX interactions_by_time ON interactions (at_ms);";

/// What facts say, for vectors of one model (`meaning.rs`). Each statement that a fact makes waits for its vector from the
/// beginning; -1 stands for a value that is no text.
const FOURTH: &str = "
    CREATE TABLE meanings (
        number INTEGER PRIMARY KEY,
        subject INTEGER NOT NULL, relation INTEGER NOT NULL, value INTEGER NOT NULL,
        vector BLOB,
        UNIQUE (subject, relation, value)
    ) STRICT;
    CREATE INDEX meanings_without ON meanings (number) WHERE vector IS NULL;
    CREATE TABLE meaning_model (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        name TEXT NOT NULL,
        dimension INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX facts_by_statement ON facts (subject, relation, value, seen_sequence);
    INSERT OR IGNORE INTO meanings (subject, relation, value)
        SELECT subject, relation, coalesce(value, -1) FROM facts ORDER BY number;
    CREATE TRIGGER facts_added AFTER INSERT ON facts BEGIN
        INSERT OR IGNORE INTO meanings (subject, relation, value)
        VALUES (new.subject, new.relation, coalesce(new.value, -1));
    END;";

/// What people asked in conversations. The outcome is null as long as the task goes on.
const FIFTH: &str = "
    CREATE TABLE exchanges (
        number INTEGER PRIMARY KEY,
        channel TEXT NOT NULL, client TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL,
        task TEXT NOT NULL,
        is_cut INTEGER NOT NULL,
        output TEXT NOT NULL DEFAULT '',
        outcome INTEGER,
        began_ms INTEGER NOT NULL, began_sequence INTEGER NOT NULL,
        ended_ms INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX exchanges_by_sequence ON exchanges (began_sequence);
    CREATE INDEX exchanges_by_conversation ON exchanges (session, channel, client, user, began_sequence);
    CREATE INDEX exchanges_by_time ON exchanges (began_ms);
    CREATE INDEX exchanges_open ON exchanges (number) WHERE outcome IS NULL;";

/// Sets up a connection to a file of ours.
pub(super) fn configure(connection: &Connection, most_bytes: u64) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(128);
    // Plans do not depend on the values that are asked for: otherwise most statements, those of the index of words among them,
    // are planned anew for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    let most_pages = i64::try_from(most_bytes / PAGE_BYTES).unwrap_or(i64::MAX).clamp(1, i64::from(u32::MAX - 1));
    connection.pragma_update_and_check(None, "max_page_count", most_pages, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
}

/// Says what the file is, makes the tables of a new one, and takes over one of an earlier format, in one transaction. A file
/// of another program stays as it is.
pub(super) fn prepare(connection: &mut Connection) -> rusqlite::Result<Kind> {
    connection.busy_timeout(Duration::from_secs(5))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let format = match (number("application_id")?, number("user_version")?) {
        (APPLICATION, newer) if newer > FORMAT => return Ok(Kind::Newer(newer)),
        (APPLICATION, format) if format > 0 => format,
        (0, 0) if tables == 0 => 0,
        _ => return Ok(Kind::Foreign),
    };
    if format < 1 {
        transaction.execute_batch(FIRST)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    if format < 2 {
        transaction.execute_batch(SECOND)?;
    }
    if format < 3 {
        transaction.execute_batch(THIRD)?;
    }
    if format < 4 {
        transaction.execute_batch(FOURTH)?;
    }
    if format < 5 {
        transaction.execute_batch(FIFTH)?;
    }
    if format < FORMAT {
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()?;
    Ok(Kind::Ready)
}
