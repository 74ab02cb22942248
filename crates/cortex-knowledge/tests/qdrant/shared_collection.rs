//! A collection that robots share, and one that somebody else has made.

use std::collections::HashMap;

use cortex_knowledge::{Document, DocumentStore as _, MetadataFilter, QdrantStore, StoreError};
use qdrant_client::qdrant::{Distance, VectorParams};

use crate::store_of;
use cortex_testkit::qdrant::{Collection, Server};

async fn texts(store: &QdrantStore, text: &str) -> Vec<String> {
    let found = store.search(text, 9, &MetadataFilter::new()).await.expect("a search");
    found.into_iter().map(|found| found.passage.text).collect()
}

/// Computes the same vector for all that has none.
async fn embed(store: &QdrantStore, model: &str, vector: &[f32]) -> Result<(), StoreError> {
    let missing = store.unembedded(model, 99).await?;
    store.keep_vectors(model, missing.into_iter().map(|passage| (passage, vector.to_vec())).collect()).await
}

async fn near(store: &QdrantStore, model: &str, vector: &[f32]) -> Result<usize, StoreError> {
    Ok(store.nearest(model, vector, 9, &MetadataFilter::new()).await?.len())
}

#[tokio::test]
async fn each_robot_sees_its_own_documents_only() {
    let server = Server::start(None).await.expect("a server");
    let (one, other) = (store_of(&server, "one"), store_of(&server, "other"));
    one.add(vec![Document::of_text("cup", "The cup is red.")]).await.expect("added");
    let alone = one.search("red cup in the kitchen", 9, &MetadataFilter::new()).await.expect("a search");
    assert!(texts(&other, "cup").await.is_empty());
    let kitchens = (0..20).map(|number| Document::of_text(format!("{number}"), "The cup is in the kitchen."));
    other.add(kitchens.collect()).await.expect("added");
    other.add(vec![Document::of_text("cup", "The cup is blue.")]).await.expect("the same id");
    let beside = one.search("red cup in the kitchen", 9, &MetadataFilter::new()).await.expect("a search");
    assert_eq!(alone, beside, "what the other robot knows changes nothing, not even how much fits");
    assert_eq!(texts(&other, "blue cup").await[0], "The cup is blue.");
    assert_eq!((one.list().await.expect("a list").len(), other.list().await.expect("a list").len()), (1, 21));

    embed(&one, "m", &[1.0, 0.0]).await.expect("vectors");
    assert_eq!(near(&other, "m", &[1.0, 0.0]).await.expect("a search"), 0);
    assert_eq!(other.unembedded("m", 99).await.expect("a look").len(), 21);
    assert!(one.remove("cup").await.expect("removed"));
    assert!(!one.remove("3").await.expect("it is not this robot's"));
    assert_eq!(texts(&other, "blue cup").await[0], "The cup is blue.");
}

#[tokio::test]
async fn robots_with_different_models_share_a_collection() {
    let server = Server::start(None).await.expect("a server");
    let (one, other) = (store_of(&server, "one"), store_of(&server, "other"));
    for store in [&one, &other] {
        store.add(vec![Document::of_text("cup", "The cup is red.")]).await.expect("added");
    }
    embed(&one, "small", &[1.0, 0.0]).await.expect("vectors");
    embed(&other, "large", &[1.0, 0.0, 0.0]).await.expect("vectors");
    assert_eq!(near(&one, "small", &[1.0, 0.0]).await.expect("a search"), 1, "the other's model took nothing away");
    assert_eq!(near(&other, "large", &[1.0, 0.0, 0.0]).await.expect("a search"), 1);
    embed(&one, "large", &[0.0, 1.0, 0.0]).await.expect("another model");
    assert_eq!(near(&one, "small", &[1.0, 0.0]).await.expect("a search"), 0, "one robot has vectors of one model");
}

#[tokio::test]
async fn a_vector_of_another_dimension_is_refused_with_both_and_nothing_is_written() {
    let server = Server::start(None).await.expect("a server");
    let (one, other) = (store_of(&server, "one"), store_of(&server, "other"));
    for store in [&one, &other] {
        store.add(vec![Document::of_text("cup", "The cup is red.")]).await.expect("added");
    }
    embed(&one, "m", &[1.0, 0.0]).await.expect("vectors");
    for wrong in [embed(&other, "m", &[1.0, 0.0, 0.0]).await, near(&other, "m", &[1.0, 0.0, 0.0]).await.map(|_| ())] {
        let error = wrong.expect_err("it does not fit").to_string();
        assert!(error.contains("a vector of 3 numbers does not fit the others of m, which have 2"), "{error}");
        assert!(error.contains("use the model that they were computed with, or another collection"), "{error}");
    }
    assert_eq!(other.unembedded("m", 9).await.expect("a look").len(), 1);
    let with_vectors = |collection: &Collection| collection.points.values().filter(|it| !it.dense.is_empty()).count();
    assert_eq!(server.state.kept(|collections| with_vectors(&collections["house"])), 1);
}

#[tokio::test]
async fn a_collection_that_somebody_else_made_is_left_as_it_is_and_named() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    let dense = |name: &str, distance: Distance| {
        let params = VectorParams { size: 2, distance: distance.into(), ..VectorParams::default() };
        HashMap::from([(name.to_owned(), params)])
    };
    let words = || ["words".to_owned()].into();
    let ours = "meaning-62c66a7a5dd7";
    for (dense, sparse, says) in [
        (dense("", Distance::Cosine), [].into(), "it has no sparse vector 'words'"),
        (dense(ours, Distance::Euclid), words(), "is compared by something else than the cosine"),
    ] {
        let collection = Collection { dense, sparse, ..Collection::default() };
        server.state.kept(|collections| collections.insert("house".to_owned(), collection));
        let adding = store.add(vec![Document::of_text("cup", "The cup is red.")]).await.map(|_| ());
        for tried in [adding, near(&store, "m", &[1.0, 0.0]).await.map(|_| ())] {
            let error = tried.expect_err("it is none of ours").to_string();
            assert!(error.contains("the collection 'house'") && error.contains(says), "{error}");
            assert!(error.contains("another collection_name"), "{error}");
        }
        let is_as_it_was = |kept: &Collection| kept.points.is_empty() && kept.indexed.is_empty();
        assert!(server.state.kept(|collections| is_as_it_was(&collections["house"])));
    }
}

#[tokio::test]
async fn a_collection_that_is_not_there_yet_is_empty_and_one_that_is_gone_is_missed() {
    let server = Server::start(None).await.expect("a server");
    let store = store_of(&server, "robbie");
    assert!(texts(&store, "cup").await.is_empty());
    assert!(store.list().await.expect("a list").is_empty());
    assert!(!store.remove("cup").await.expect("nothing to remove"));
    assert!(store.unembedded("m", 9).await.expect("a look").is_empty());
    assert_eq!(near(&store, "m", &[1.0]).await.expect("a search"), 0);
    assert_eq!(server.state.called("create_collection"), 0, "looking makes nothing");

    store.add(vec![Document::of_text("cup", "The cup is red.")]).await.expect("added");
    server.state.kept(|collections| collections.clear());
    let error = store.search("cup", 9, &MetadataFilter::new()).await.expect_err("it is gone").to_string();
    assert!(error.contains("has no collection 'house'; `cortex knowledge add` makes it"), "{error}");
    store.add(vec![Document::of_text("cup", "The cup is red.")]).await.expect("added anew");
    assert_eq!(texts(&store, "cup").await, ["The cup is red."]);
}
