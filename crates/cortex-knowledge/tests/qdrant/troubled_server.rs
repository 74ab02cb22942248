//! Servers that are away, slow, or let nobody in; and what planning makes of it.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{Context, ContextQuery};
use cortex_knowledge::{
    Document, DocumentStore as _, Knowledge, MetadataFilter, QdrantSettings, QdrantStore, QdrantTimeouts, StoreError,
};
use cortex_protocol::TaskClass;
use cortex_runtime::ContextSources;
use qdrant_client::qdrant::Value;
use secrecy::SecretString;

use crate::{settings, store_of};
use cortex_testkit::qdrant::{Habit, Server};

const KEY: &str = "hunter2-hunter2";

/// Against hangs only.
const PATIENT: Duration = Duration::from_secs(30);

/// What a planner is told with the task, by a runtime that waits as long as it takes.
async fn told(store: &QdrantStore) -> Context {
    asked(store, |sources| sources.with_patience(PATIENT)).await
}

/// The same as the runtime asks for it.
async fn told_in_time(store: &QdrantStore) -> Context {
    asked(store, |sources| sources).await
}

async fn asked(store: &QdrantStore, patience: impl FnOnce(ContextSources) -> ContextSources) -> Context {
    let knowledge = Knowledge::new(Arc::new(store.clone()), 5, false);
    let task = "which colour has the cup".to_owned();
    let query = ContextQuery::new(task, TaskClass::KnowledgeQuestion);
    patience(ContextSources::new(vec![Arc::new(knowledge)])).gather(&query).await
}

/// Why it was told nothing.
fn missing(context: &Context) -> &str {
    assert!(context.passages.is_empty(), "{context:?}");
    assert_eq!(context.missing[0].source, "knowledge");
    &context.missing[0].because
}

async fn add_cup(store: &QdrantStore) -> Result<(), StoreError> {
    store.add(vec![Document::of_text("cup", "The colour of the cup is red.")]).await.map(|_| ())
}

#[tokio::test]
async fn a_server_that_is_away_is_named_and_asked_again_when_it_is_back() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    add_cup(&store).await.expect("added");
    assert_eq!(told(&store).await.passages.len(), 1);
    let url = server.url();
    let (state, address) = server.stop().await;
    let context = told(&store).await;
    assert!(missing(&context).starts_with(&format!("{url} can't be reached")), "{context:?}");
    assert!(add_cup(&store).await.expect_err("it is away").to_string().contains("Start the server"));
    let _server = Server::resume(state, address).await.expect("the same port");
    assert_eq!(told(&store).await.passages.len(), 1, "the same store, without a restart");
}

#[tokio::test]
async fn a_server_that_was_never_there_is_used_when_it_comes() {
    let (state, address) = Server::start(None).await.expect("a server").stop().await;
    let store = QdrantStore::open(settings(&format!("http://{address}"), "house", "robbie")).expect("a client");
    assert!(missing(&told(&store).await).contains("can't be reached"));
    let _server = Server::resume(state, address).await.expect("the same port");
    add_cup(&store).await.expect("added");
    assert_eq!(told(&store).await.passages.len(), 1);
}

#[tokio::test]
async fn a_server_that_does_not_answer_holds_no_plan_up_and_each_request_ends() {
    let server = Server::start(None).await.expect("a server");
    let short = Duration::from_millis(500);
    let settings = settings(&server.url(), "house", "robbie");
    let store = QdrantStore::open(settings.clone()).expect("a client");
    let timeouts = QdrantTimeouts { read: short, write: short };
    let impatient = QdrantStore::open(QdrantSettings { timeouts, ..settings }).expect("a client");
    add_cup(&store).await.expect("added");
    server.state.set(Habit::NeverAnswers);
    assert_eq!(missing(&told_in_time(&store).await), "it did not answer within 500 ms");
    let errors = [
        impatient.list().await.map(|_| ()),
        impatient.search("cup", 1, &MetadataFilter::new()).await.map(|_| ()),
        impatient.nearest("m", &[1.0], 1, &MetadataFilter::new()).await.map(|_| ()),
        impatient.remove("cup").await.map(|_| ()),
        add_cup(&impatient).await,
    ];
    for error in errors {
        let error = error.expect_err("it does not answer");
        assert!(matches!(error, StoreError::Late { .. }), "{error}");
        assert!(error.to_string().contains("did not answer within 0.5 s"), "{error}");
    }
    assert!(missing(&told(&impatient).await).contains("did not answer within 0.5 s"));
    server.state.set(Habit::Answers);
    assert_eq!(told(&store).await.passages.len(), 1);
}

#[tokio::test]
async fn a_key_lets_in_and_is_shown_nowhere() {
    let server = Server::start(Some(KEY)).await.expect("a server");
    let with = |key: Option<&str>| QdrantSettings {
        key: key.map(|key| SecretString::from(key.to_owned())),
        ..settings(&server.url(), "house", "robbie")
    };
    let open = |key| QdrantStore::open(with(key)).expect("a client");
    let right = open(Some(KEY));
    add_cup(&right).await.expect("added");
    assert_eq!(told(&right).await.passages.len(), 1);
    for (key, says) in [(Some("hunter3-hunter3"), "refuses the key; check"), (None, "wants a key; say in [keys]")] {
        let store = open(key);
        let error = add_cup(&store).await.expect_err("it is not let in");
        assert!(error.to_string().contains(says), "{error}");
        let context = told(&store).await;
        assert!(missing(&context).contains(says), "{context:?}");
        assert!(!format!("{error} {error:?} {context:?}").contains("hunter"), "{error:?}");
    }
    server.state.set(Habit::Refuses("upsert"));
    let error = right.add(vec![Document::of_text("other", "text")]).await.expect_err("the server fails");
    assert!(error.to_string().ends_with("out of memory while serving\\n[key]"), "on one line, without it: {error}");
    assert!(!format!("{error:?} {:?}", with(Some(KEY))).contains("hunter"), "{error:?}");
    for unusable in ["", "two\nlines", "f\u{fc}nf\u{0}"] {
        let error = QdrantStore::open(with(Some(unusable))).err().expect("no header can carry it").to_string();
        assert!(error.contains("its key is empty, or holds what no header can carry"), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_address_is_refused() {
    for address in ["", "box", "http://", "http://two words:6334"] {
        let error = QdrantStore::open(settings(address, "house", "robbie")).err().expect("no address");
        assert!(error.to_string().contains("Check knowledge.store"), "{error}");
    }
}

#[tokio::test]
async fn what_is_added_by_halves_is_not_found_and_is_cleared_away() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    add_cup(&store).await.expect("added");
    let blue = || vec![Document::of_text("cup", "The colour of the cup is blue."), Document::of_text("new", "A cup.")];
    let texts = async || -> Vec<String> {
        let found = store.search("cup", 9, &MetadataFilter::new()).await.expect("a search");
        found.into_iter().map(|found| found.passage.text).collect()
    };
    let points = || server.state.kept(|collections| collections["house"].points.len());
    for method in ["upsert", "update_batch"] {
        server.state.set(Habit::Refuses(method));
        store.add(blue()).await.expect_err("the server fails");
        server.state.set(Habit::Answers);
        assert_eq!(texts().await, ["The colour of the cup is red."], "{method}");
        assert_eq!(store.list().await.expect("a list").len(), 1);
    }
    assert_eq!(points(), 4, "two of them are neither shown nor taken back");
    let long_ago = server.state.spoil("house", "kind", "adding", |point| {
        point.payload.insert("added_ms".to_owned(), Value::from(1_000_i64));
    });
    assert_eq!(long_ago, 2);
    store.add(blue()).await.expect("added");
    assert_eq!(points(), 4, "two documents with a passage each");
    let mut found = texts().await;
    found.sort();
    assert_eq!(found, ["A cup.", "The colour of the cup is blue."]);
}
