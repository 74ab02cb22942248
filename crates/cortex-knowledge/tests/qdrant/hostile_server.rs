//! What a server sends is not what was written.

use cortex_knowledge::{Document, DocumentStore as _, MetadataFilter, QdrantStore};
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{ListValue, Value};

use crate::store_of;
use cortex_testkit::qdrant::{Point, Server};

fn cup(number: usize) -> Document {
    let mut document = Document::of_text(format!("{number}"), format!("The cup {number} is red."));
    document.metadata.insert("floor".to_owned(), "1".to_owned());
    document
}

async fn found(store: &QdrantStore) -> Vec<String> {
    let found = store.search("cup", 9, &MetadataFilter::new()).await.expect("a search");
    let mut found: Vec<String> = found.into_iter().map(|found| found.document).collect();
    found.sort();
    found
}

/// Values that are none of a text, a number or metadata.
fn wrong_values() -> Vec<Value> {
    let nested = ListValue { values: vec![Value::from("The cup is red."), Value::from(1_i64)] };
    let long = Value::from("cup ".repeat(5_000));
    let kinds = [Kind::NullValue(0), Kind::BoolValue(true), Kind::DoubleValue(f64::NAN), Kind::IntegerValue(-1)];
    let kinds = kinds.into_iter().chain([Kind::ListValue(nested)]);
    kinds.map(|kind| Value { kind: Some(kind) }).chain([long, Value { kind: None }]).collect()
}

#[tokio::test]
async fn a_passage_that_is_not_as_it_was_written_is_left_out_and_the_others_are_found() {
    for field in ["robot", "kind", "document", "added_ms", "number", "place", "text", "metadata"] {
        let server = Server::start(None).await.expect("a server");
        let store = store_of(&server, "robbie");
        store.add(vec![cup(0), cup(1)]).await.expect("added");
        let vectors = store.unembedded("m", 9).await.expect("a look").into_iter().map(|it| (it, vec![1.0])).collect();
        store.keep_vectors("m", vectors).await.expect("kept");
        for value in wrong_values() {
            let spoil = |point: &mut Point| {
                // What finds it stays in its field, beside what is wrong.
                let right = point.payload[field].clone();
                let both = ListValue { values: vec![right, value.clone()] };
                let is_found_by = matches!(field, "robot" | "kind");
                let value = if is_found_by { Value { kind: Some(Kind::ListValue(both)) } } else { value.clone() };
                point.payload.insert(field.to_owned(), value);
            };
            let passage = server.state.spoil("house", "text", "The cup 0 is red.", spoil);
            let passage = passage + usize::from(field == "text");
            assert!(passage > 0, "{field}");
            assert_eq!(found(&store).await, ["1"], "{field} {value:?}");
            let near = store.nearest("m", &[1.0], 9, &MetadataFilter::new()).await.expect("a search");
            assert_eq!(near.len(), 1, "{field} {value:?}");
            assert!(store.unembedded("other", 9).await.expect("a look").len() == 1, "{field}");
        }
        server.state.kept(|collections| {
            let points = collections.get_mut("house").expect("it").points.values_mut();
            points.for_each(|point| drop(point.payload.remove(field)));
        });
        assert!(found(&store).await.is_empty(), "without {field}");
        assert!(store.list().await.is_ok());
    }
}

#[tokio::test]
async fn a_document_that_is_not_as_it_was_written_is_left_out_and_replaced_when_it_is_added() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    store.add(vec![cup(0), cup(1)]).await.expect("added");
    for field in ["digest", "passages", "added_ms", "metadata"] {
        for value in wrong_values() {
            let spoilt = server.state.kept(|collections| {
                let points = collections.get_mut("house").expect("it").points.values_mut();
                let is_document = |point: &&mut Point| point.payload.contains_key("digest");
                let first = points.filter(is_document).find(|point| point.payload["document"] == Value::from("0"));
                first.map(|point| point.payload.insert(field.to_owned(), value.clone()))
            });
            assert!(spoilt.is_some(), "{field}");
            let listed: Vec<String> = store.list().await.expect("a list").into_iter().map(|entry| entry.id).collect();
            assert_eq!(listed, ["1"], "{field} {value:?}");
            store.add(vec![cup(0)]).await.expect("added anew");
            assert_eq!(store.list().await.expect("a list").len(), 2, "{field}");
            assert_eq!(found(&store).await, ["0", "1"], "each once");
        }
    }
}

#[tokio::test]
async fn an_id_that_would_move_a_cursor_is_not_shown() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    store.add(vec![cup(0), cup(1)]).await.expect("added");
    for id in ["\u{1b}[2J", "", "two\nlines"] {
        let spoilt = server.state.spoil("house", "robot", "robbie", |point| {
            if point.payload["document"] != Value::from("1") {
                point.payload.insert("document".to_owned(), Value::from(id));
            }
        });
        assert_eq!(spoilt, 4);
        assert_eq!(found(&store).await, ["1"], "{id:?}");
        assert_eq!(store.list().await.expect("a list").len(), 1, "{id:?}");
    }
}

#[tokio::test]
async fn a_reply_that_is_too_long_is_refused_before_it_is_read() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    store.add(vec![cup(0)]).await.expect("added");
    server.state.spoil("house", "text", "The cup 0 is red.", |point| {
        point.payload.insert("text".to_owned(), Value::from("x".repeat(17 << 20)));
    });
    let error = store.search("cup", 9, &MetadataFilter::new()).await.expect_err("it is too long").to_string();
    assert!(error.contains("refused a request") && error.contains("16777216"), "{error}");
    assert_eq!(store.list().await.expect("a list").len(), 1, "the connection is good for the next request");
}

#[tokio::test]
async fn what_a_server_could_not_give_back_is_not_sent() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    let mut document = cup(0);
    document.metadata.insert("all".to_owned(), "x".repeat(5 << 10));
    let error = store.add(vec![cup(1), document]).await.expect_err("it is too long").to_string();
    assert!(error.contains("the metadata of '0' are longer than 4096 bytes; shorten them"), "{error}");
    let mut document = cup(0);
    document.sections[0].place = "x".repeat(5 << 10);
    let error = store.add(vec![cup(1), document]).await.expect_err("it is too long").to_string();
    assert!(error.contains("the headings of '0' are longer than 4096 bytes"), "{error}");
    assert_eq!((server.state.called("upsert"), server.state.called("create_collection")), (0, 0));
}
