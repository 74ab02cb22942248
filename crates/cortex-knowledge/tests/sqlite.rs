//! The embedded store, on real files.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod conformance;

use std::path::Path;
use std::process::{Command, Stdio};

use cortex_knowledge::{Document, DocumentStore, MetadataFilter, SqliteStore, StoreError};

/// Runs a test of the suite on a new store.
macro_rules! conforms {
    ($($name:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            let folder = tempfile::tempdir().expect("a folder");
            conformance::$name(&open(&folder.path().join("knowledge.sqlite"))).await;
        }
    )*};
}

conforms!(
    finds_the_passage_that_answers,
    says_how_little_a_passage_fits,
    adding_is_idempotent_by_content,
    what_is_removed_is_not_found,
    only_documents_with_the_wanted_metadata_are_found,
    all_of_a_batch_is_kept_or_nothing,
    hostile_texts_are_texts,
    as_many_are_found_as_are_wanted,
    what_has_vectors_is_found_by_them,
    vectors_of_two_models_are_not_mixed,
    a_vector_stays_with_the_words_it_was_computed_of,
    a_long_document_is_kept_whole,
    of_two_with_one_id_the_last_one_counts,
    words_and_meaning_find_together,
);

fn open(file: &Path) -> SqliteStore {
    SqliteStore::at(file)
}

#[tokio::test]
async fn a_store_without_a_file_is_empty_and_stays_without_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("knowledge.sqlite"));
    assert!(store.list().await.expect("a list").is_empty());
    assert!(store.search("cup", 1, &MetadataFilter::new()).await.expect("a search").is_empty());
    assert!(!store.remove("a").await.expect("nothing to remove"));
    assert!(!store.is_there());
}

#[tokio::test]
async fn a_file_that_is_moved_away_is_not_read_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("knowledge.sqlite");
    let store = open(&file);
    store.add(vec![Document::of_text("old", "The cup is red.")]).await.expect("added");
    assert_eq!(store.list().await.expect("a list").len(), 1);
    for name in ["knowledge.sqlite", "knowledge.sqlite-wal", "knowledge.sqlite-shm"] {
        let _ = std::fs::rename(folder.path().join(name), folder.path().join(format!("aside-{name}")));
    }
    assert!(store.list().await.expect("a list").is_empty());
    store.add(vec![Document::of_text("new", "The cup is blue.")]).await.expect("added");
    let found = store.search("cup", 5, &MetadataFilter::new()).await.expect("a search");
    assert_eq!(found.iter().map(|found| found.document.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[tokio::test]
async fn two_processes_see_the_same_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("new/knowledge.sqlite");
    let (one, other) = (open(&file), open(&file));
    one.add(vec![Document::of_text("a", "The cup is red.")]).await.expect("added");
    let found = other.search("cup", 1, &MetadataFilter::new()).await.expect("a search");
    assert_eq!(found[0].document, "a");
}

#[tokio::test]
async fn nothing_of_a_removed_document_stays_in_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("knowledge.sqlite");
    let store = open(&file);
    let secret = "xylophonic";
    let text = format!("The code of the {secret} safe. ").repeat(500);
    store.add(vec![Document::of_text("safe", text), Document::of_text("b", "The cup is red.")]).await.expect("added");
    store.remove("safe").await.expect("removed");
    for entry in std::fs::read_dir(folder.path()).expect("the folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("its bytes");
        let is_there = bytes.windows(secret.len()).any(|window| window.eq_ignore_ascii_case(secret.as_bytes()));
        assert!(!is_there, "{} still has it", path.display());
    }
}

#[tokio::test]
async fn a_file_of_something_else_is_left_alone_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text"), "This is no database, but long enough to be taken for one.\n".repeat(50)).expect("it");
    let foreign = rusqlite::Connection::open(at("foreign")).expect("a database");
    foreign.execute_batch("CREATE TABLE games (name TEXT)").expect("a table");
    for name in ["text", "foreign"] {
        let before = std::fs::read(at(name)).expect("its bytes");
        let error = open(&at(name)).list().await.expect_err("it is none of ours");
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(name) && error.to_string().contains("Move it away"), "{error}");
        assert_eq!(std::fs::read(at(name)).expect("its bytes"), before);
    }
}

#[tokio::test]
async fn a_newer_file_and_a_path_that_cannot_be_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("knowledge.sqlite");
    open(&file).add(vec![Document::of_text("a", "The cup is red.")]).await.expect("added");
    rusqlite::Connection::open(&file).expect("it").pragma_update(None, "user_version", 99).expect("a newer format");
    let error = open(&file).list().await.expect_err("it is newer");
    assert!(error.to_string().contains("newer Cortex (format 99)"), "{error}");
    std::fs::write(folder.path().join("file"), "").expect("a file");
    let impossible = open(&folder.path().join("file/knowledge.sqlite"));
    let error = impossible.add(vec![Document::of_text("a", "text")]).await.expect_err("no such folder");
    assert!(matches!(error, StoreError::Unopened { .. }), "{error}");
}

#[tokio::test]
async fn a_file_of_the_first_format_gets_room_for_vectors_and_keeps_its_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("knowledge.sqlite");
    open(&file).add(vec![Document::of_text("a", "The cup is red.")]).await.expect("added");
    let first = rusqlite::Connection::open(&file).expect("it");
    first.execute_batch("DROP TABLE vectors; DROP TABLE vector_model; PRAGMA user_version = 1").expect("as it was");
    drop(first);
    let store = open(&file);
    let passages = store.unembedded("m", 5).await.expect("a look");
    store.keep_vectors("m", vec![(passages[0].clone(), vec![1.0])]).await.expect("kept");
    let found = store.nearest("m", &[1.0], 5, &MetadataFilter::new()).await.expect("a search");
    assert_eq!(found[0].passage.text, "The cup is red.");
}

#[tokio::test]
async fn a_damaged_file_is_named_whenever_that_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("knowledge.sqlite");
    let store = open(&file);
    let documents = (0..200).map(|number| Document::of_text(format!("{number}"), "The cup is red. ".repeat(50)));
    store.add(documents.collect()).await.expect("added");
    drop(store);
    let mut bytes = std::fs::read(&file).expect("its bytes");
    bytes[4096..].fill(0x5a);
    std::fs::write(&file, bytes).expect("damaged");
    let error = open(&file).search("cup", 1, &MetadataFilter::new()).await.expect_err("it is damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

/// The test runs itself as a writer, and kills it while it writes.
#[tokio::test]
async fn what_was_acknowledged_survives_the_death_of_the_process() {
    const WRITER: &str = "CORTEX_KNOWLEDGE_WRITER";
    if let Some(file) = std::env::var_os(WRITER) {
        let store = open(Path::new(&file));
        for number in 0.. {
            store.add(vec![Document::of_text(format!("{number:06}"), "The cup is red.")]).await.expect("added");
            println!("acknowledged {number}");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("knowledge.sqlite");
    for kill in 1..=10 {
        let mut writer = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "what_was_acknowledged_survives_the_death_of_the_process", "--nocapture"])
            .env(WRITER, &file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a writer");
        let lines = std::io::BufRead::lines(std::io::BufReader::new(writer.stdout.take().expect("its output")));
        let acknowledged = |line: std::io::Result<String>| -> Option<usize> {
            line.expect("a line").split_once("acknowledged ")?.1.trim().parse().ok()
        };
        let last = lines.filter_map(acknowledged).find(|number| *number >= kill * 3).expect("it writes");
        writer.kill().expect("killed");
        writer.wait().expect("its end");
        let kept = open(&file).list().await.expect("a list");
        assert!(kept.len() > last, "{} of at least {} are kept", kept.len(), last + 1);
        assert!(kept.iter().all(|entry| entry.passages == 1));
    }
}

#[tokio::test]
async fn what_another_process_changes_is_found_by_its_meaning_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("knowledge.sqlite");
    let (asking, adding) = (open(&file), open(&file));
    let keep = async |text: &str, vector: [f32; 2]| {
        adding.add(vec![Document::of_text(text, text)]).await.expect("added");
        let passages = adding.unembedded("m", 5).await.expect("a look");
        assert_eq!(passages.len(), 1, "one at a time");
        adding.keep_vectors("m", vec![(passages[0].clone(), vector.to_vec())]).await.expect("kept");
        assert!(adding.unembedded("m", 5).await.expect("a look").is_empty(), "nothing is missing any more");
    };
    let nearest = async || {
        let found = asking.nearest("m", &[1.0, 0.0], 5, &MetadataFilter::new()).await.expect("a search");
        found.into_iter().map(|found| found.document).collect::<Vec<_>>().join(", ")
    };
    keep("cup", [0.0, 1.0]).await;
    assert_eq!(nearest().await, "cup");
    keep("kettle", [1.0, 0.0]).await;
    assert_eq!(nearest().await, "kettle, cup", "what was added since is known");
    adding.remove("cup").await.expect("removed");
    assert_eq!(nearest().await, "kettle", "what was removed is not");
    assert_eq!(asking.unembedded("other", 5).await.expect("a look").len(), 1, "another model has none");
}

/// A passage whose vector is missing may lie before those that have one.
#[tokio::test]
async fn a_vector_that_is_missing_among_others_is_computed_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("knowledge.sqlite"));
    let documents = ["a", "b", "c"].map(|id| Document::of_text(id, id));
    store.add(documents.into()).await.expect("added");
    let all = store.unembedded("m", 5).await.expect("a look");
    store.keep_vectors("m", vec![(all[2].clone(), vec![1.0])]).await.expect("kept");
    let missing = store.unembedded("m", 5).await.expect("a look");
    assert_eq!(missing, all[..2], "in their order");
}
