//! A file of the first format, as the first version of this crate wrote it, is taken over.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;

use cortex_memory::{Change, Interaction, InteractionKind, MemoryError, Outcome, Presence, Standing, Whereabouts};
use house::*;

/// The tables of the first format. They never change again.
const FIRST_FORMAT: &str = "
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
    CREATE INDEX observations_that_last ON observations (last_ms) WHERE last_ms - first_ms > 3600000;
    PRAGMA application_id = 0x4372744d;
    PRAGMA user_version = 1;";

/// A red cup in the kitchen, seen twice at minutes 0 and 5.
const HOUSEHOLD: &str = "
    INSERT INTO terms (number, exact, key, text) VALUES
        (1, 0, 'red cup', 'Red cup'), (2, 0, 'is at', 'is at'), (3, 0, 'kitchen', 'kitchen'), (4, 1, 'things', 'things'),
        (5, 1, '/camera', '/camera');
    INSERT INTO facts (number, subject, relation, value_kind, value, layer, source, source_kind, from_ms, from_sequence,
        seen_ms, seen_sequence, observations)
        VALUES (1, 1, 2, 0, 3, 4, 5, 0, 1700000000000, 1, 1700000300000, 2, 2);
    INSERT INTO observations (number, subject, relation, claim, value_kind, value, layer, source, source_kind, first_ms,
        first_sequence, last_ms, last_sequence, count, fact)
        VALUES (1, 1, 2, 0, 0, 3, 4, 5, 0, 1700000000000, 1, 1700000300000, 2, 2, 1);
    INSERT INTO numbers (name, number) VALUES ('sequence', 2), ('last_ms', 1700000300000);";

#[tokio::test]
async fn a_file_of_the_first_format_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("memory.sqlite");
    let old = rusqlite::Connection::open(&file).expect("a file");
    old.execute_batch(FIRST_FORMAT).expect("its tables");
    old.execute_batch(HOUSEHOLD).expect("its rows");
    drop(old);

    let memory = open(folder.path()).await;
    let located = memory.locate("red cup", &now(6)).await.unwrap().expect("it is known");
    let Whereabouts::At(answer) = &located.whereabouts else { panic!("{located:?}") };
    assert_eq!((&answer.fact.value, answer.fact.seen_at.wall_ms), (&text("kitchen"), START + 5 * MINUTE));
    assert_eq!(
        memory.recall("where is the red cup", 5, &now(6)).await.unwrap().named,
        ["Red cup"],
        "its index is there"
    );

    let noted = memory.add(vec![camera("red cup", is_at("kitchen"), 7)]).await.expect("it goes on").remove(0);
    assert_eq!((noted.sequence, noted.change), (3, Change::Confirmed(answer.fact.id)));
    assert_eq!(memory.size().await.unwrap().observations, 1, "the run goes on, too");
    let episode = memory.begin_episode("patrol", START + 8 * MINUTE).await.expect("what is new works");
    memory.add(vec![camera("red cup", not_there("kitchen"), 9)]).await.unwrap();
    memory.end_episode(episode, Outcome::Succeeded, "", START + 10 * MINUTE).await.expect("ended");
    assert_eq!(memory.search_gists("red cup", 5).await.unwrap().len(), 1);
    let presence = memory.presence("red cup", "kitchen", &now(11)).await.unwrap().presence;
    assert_eq!(presence, Presence::NotThere);
    drop(memory);
    open(folder.path()).await;
}

/// The second format had neither what people do with tasks, nor vectors, nor conversations.
#[tokio::test]
async fn a_file_of_the_second_format_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(vec![camera("red cup", is_at("kitchen"), 0)]).await.expect("kept");
    drop(memory);
    let file = rusqlite::Connection::open(folder.path().join("memory.sqlite")).expect("it opens");
    file.execute_batch(
        "DROP TRIGGER facts_added; DROP INDEX facts_by_statement; DROP TABLE meanings; DROP TABLE meaning_model;
         DROP TABLE interactions; DROP TABLE exchanges; PRAGMA user_version = 2;",
    )
    .expect("as it was");
    drop(file);
    let memory = open(folder.path()).await;
    assert!(memory.locate("red cup", &now(1)).await.unwrap().is_some());
    let asked = Interaction {
        kind: InteractionKind::Denied,
        subject: "arm.throw".to_owned(),
        detail: String::new(),
        person: "anna".to_owned(),
        wall_ms: START + MINUTE,
        utc_offset_min: 0,
    };
    memory.note_interaction(asked).await.expect("what is new works");
    assert!(memory.bulletin(&Standing::default(), &now(2)).await.unwrap().contains("'anna' denied 'arm.throw'"));
}

/// The fourth format had no conversations.
#[tokio::test]
async fn a_file_of_the_fourth_format_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path()).await;
    memory.add(vec![camera("red cup", is_at("kitchen"), 0)]).await.expect("kept");
    drop(memory);
    let file = rusqlite::Connection::open(folder.path().join("memory.sqlite")).expect("it opens");
    file.execute_batch("DROP TABLE exchanges; PRAGMA user_version = 4;").expect("as it was");
    drop(file);
    let memory = open(folder.path()).await;
    assert!(memory.locate("red cup", &now(1)).await.unwrap().is_some());
    let query = cortex_memory::ExchangeQuery::default();
    assert_eq!(memory.exchanges(query, 5).await.expect("what is new works"), []);
    drop(memory);
    open(folder.path()).await;
}

#[tokio::test]
async fn a_file_that_breaks_off_while_it_is_taken_over_stays_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("memory.sqlite");
    let old = rusqlite::Connection::open(&file).expect("a file");
    old.execute_batch(FIRST_FORMAT).expect("its tables");
    // Something stands in the way of the new tables.
    old.execute_batch("CREATE TABLE gists (other TEXT)").expect("a table");
    let error = cortex_memory::Memory::open(&file, rules()).await.err().expect("it can't be taken over");
    assert!(matches!(error, MemoryError::Failed { .. }), "{error}");
    let format: i64 = old.pragma_query_value(None, "user_version", |row| row.get(0)).expect("its format");
    let episodes: i64 = old
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'episodes'", [], |row| row.get(0))
        .expect("its tables");
    assert_eq!((format, episodes), (1, 0));
}
