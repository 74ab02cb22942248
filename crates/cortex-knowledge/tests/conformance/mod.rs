//! What every store of documents must do. Call each of these with an empty store.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{EmbedError, Embedder};
use cortex_knowledge::{Added, Document, DocumentStore, Found, Knowledge, MetadataFilter, Section};

/// A household of documents.
fn household() -> Vec<Document> {
    let sections = [
        ("Kettle", "The kettle K2 stands beside the sink. It holds two litres."),
        ("Kettle, Descaling", "Fill the kettle with vinegar and water, boil it once, and wait for an hour."),
        ("Kettle, Faults", "When the lamp blinks twice, the kettle is empty."),
    ];
    let sections = sections.map(|(place, text)| Section { place: place.to_owned(), text: text.to_owned() });
    let manual = Document { id: "kettle.md".to_owned(), metadata: BTreeMap::new(), sections: sections.to_vec() };
    let rules = "Nobody may enter the bedroom between nine and seven.\n\nThe kitchen is cleaned on Sundays.";
    vec![manual, Document::of_text("rules.txt", rules)]
}

async fn search(store: &dyn DocumentStore, text: &str) -> Vec<Found> {
    store.search(text, 5, &MetadataFilter::new()).await.expect("a search")
}

async fn ids(store: &dyn DocumentStore) -> Vec<String> {
    store.list().await.expect("a list").into_iter().map(|entry| entry.id).collect()
}

pub(crate) async fn finds_the_passage_that_answers(store: &dyn DocumentStore) {
    store.add(household()).await.expect("they are added");
    let found = search(store, "How do I descale the kettle?").await;
    assert_eq!(found[0].document, "kettle.md");
    assert_eq!(found[0].passage.place, "Kettle, Descaling");
    assert!(found[0].relevance > 0.9, "{found:#?}");
    assert!(found.iter().skip(1).all(|other| other.relevance < found[0].relevance), "{found:#?}");
    assert!(
        search(store, "when is it forbidden to enter the bedroom").await[0].passage.text.contains("nine and seven")
    );
}

pub(crate) async fn says_how_little_a_passage_fits(store: &dyn DocumentStore) {
    store.add(household()).await.expect("they are added");
    let found = search(store, "drive the forklift to the loading dock of the kitchen").await;
    assert!(found.iter().all(|found| found.relevance < 0.4), "{found:#?}");
    assert!(search(store, "quantum chromodynamics").await.is_empty());
    assert!(search(store, "").await.is_empty());
    assert!(search(store, "is it what?").await.is_empty());
}

pub(crate) async fn adding_is_idempotent_by_content(store: &dyn DocumentStore) {
    let first = store.add(household()).await.expect("they are added");
    assert!(matches!(first[..], [Added::New { passages: 3 }, Added::New { passages: 1 }]), "{first:?}");
    assert_eq!(store.add(household()).await.expect("again"), [Added::Unchanged, Added::Unchanged]);
    let changed = Document::of_text("rules.txt", "The bedroom is always open.");
    assert_eq!(store.add(vec![changed]).await.expect("changed"), [Added::Replaced { passages: 1 }]);
    assert_eq!(search(store, "bedroom").await[0].passage.text, "The bedroom is always open.");
    assert_eq!(search(store, "bedroom").await.len(), 1, "what was replaced is not found");
    assert_eq!(ids(store).await, ["kettle.md", "rules.txt"]);
}

pub(crate) async fn what_is_removed_is_not_found(store: &dyn DocumentStore) {
    store.add(household()).await.expect("they are added");
    assert!(store.remove("kettle.md").await.expect("removed"));
    assert!(!store.remove("kettle.md").await.expect("there is none"));
    assert_eq!(ids(store).await, ["rules.txt"]);
    assert!(search(store, "descale the kettle").await.is_empty());
}

pub(crate) async fn only_documents_with_the_wanted_metadata_are_found(store: &dyn DocumentStore) {
    let floor = |id: &str, floor: &str| {
        let mut document = Document::of_text(id, format!("Floor {floor} has a kitchen."));
        document.metadata.insert("floor".to_owned(), floor.to_owned());
        document.metadata.insert("a \"quoted\" key".to_owned(), "it's".to_owned());
        document
    };
    store.add(vec![floor("one", "1"), floor("two", "2")]).await.expect("they are added");
    let filter = |pairs: &[(&str, &str)]| -> MetadataFilter {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let found = async |pairs: &[(&str, &str)]| -> Vec<String> {
        let found = store.search("kitchen", 5, &filter(pairs)).await.expect("a search");
        found.into_iter().map(|found| found.document).collect()
    };
    assert_eq!(found(&[("floor", "2")]).await, ["two"]);
    assert_eq!(found(&[("floor", "1"), ("a \"quoted\" key", "it's")]).await, ["one"]);
    assert_eq!(found(&[]).await, ["one", "two"], "of equal ones, the earlier first");
    assert!(found(&[("floor", "3")]).await.is_empty());
    assert_eq!(store.list().await.expect("a list")[1].metadata["floor"], "2");
}

pub(crate) async fn all_of_a_batch_is_kept_or_nothing(store: &dyn DocumentStore) {
    for bad in ["", "two\nlines", &"x".repeat(600)] {
        let mut documents = household();
        documents.push(Document::of_text(bad, "text"));
        let error = store.add(documents).await.expect_err("the last is bad").to_string();
        assert!(error.contains("needs an id"), "{error}");
        assert!(ids(store).await.is_empty());
        assert!(search(store, "kettle").await.is_empty());
    }
}

pub(crate) async fn hostile_texts_are_texts(store: &dyn DocumentStore) {
    let texts = [
        "'; DROP TABLE documents; --",
        "\" OR words MATCH \"* NEAR(a b) AND NOT {x}: ^y",
        "\u{202e}reversed\u{0} null \u{feff}",
        "𝕶ettle 🫖 Wasserkocher für Tee",
    ];
    let documents = texts.iter().enumerate().map(|(number, text)| Document::of_text(format!("h{number}"), *text));
    store.add(documents.collect()).await.expect("they are added");
    for text in texts {
        // It is enough that each can be asked for, whatever is found.
        search(store, text).await;
        search(store, &text.repeat(2_000)).await;
    }
    assert_eq!(ids(store).await, ["h0", "h1", "h2", "h3"]);
    assert_eq!(search(store, "wasserkocher").await[0].document, "h3");
    assert_eq!(search(store, "DROP TABLE").await[0].document, "h0");
}

pub(crate) async fn as_many_are_found_as_are_wanted(store: &dyn DocumentStore) {
    let documents = (0..50).map(|number| Document::of_text(format!("{number:02}"), "The cup is red."));
    store.add(documents.collect()).await.expect("they are added");
    for most in [0, 1, 7, 100] {
        let found = store.search("red cup", most, &MetadataFilter::new()).await.expect("a search");
        assert_eq!(found.len(), most.min(50));
    }
}

/// The places of all passages without a vector, by their first line.
async fn without_vector(store: &dyn DocumentStore, model: &str) -> Vec<String> {
    let passages = store.unembedded(model, 100).await.expect("a look");
    passages.into_iter().map(|passage| passage.text.lines().next().unwrap_or_default().to_owned()).collect()
}

pub(crate) async fn what_has_vectors_is_found_by_them(store: &dyn DocumentStore) {
    store.add(household()).await.expect("they are added");
    assert!(store.nearest("m", &[1.0, 0.0], 5, &MetadataFilter::new()).await.expect("a search").is_empty());
    let passages = store.unembedded("m", 100).await.expect("a look");
    assert_eq!(passages[1].text.lines().next(), Some("Kettle, Descaling"), "the headings count");
    assert_eq!(store.unembedded("m", 2).await.expect("a look").len(), 2);
    let vectors = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]];
    let kept = passages.iter().zip(vectors).map(|(passage, vector)| (passage.clone(), vector.to_vec())).collect();
    store.keep_vectors("m", kept).await.expect("they are kept");
    assert_eq!(without_vector(store, "m").await, ["Nobody may enter the bedroom between nine and seven."]);

    let found = store.nearest("m", &[0.0, 1.0], 5, &MetadataFilter::new()).await.expect("a search");
    let places: Vec<&str> = found.iter().map(|found| found.passage.place.as_str()).collect();
    assert_eq!(places, ["Kettle, Faults", "Kettle, Descaling", "Kettle"]);
    assert!((found[1].likeness - 0.8).abs() < 0.01 && found[2].likeness.abs() < 0.01, "{found:#?}");
    assert_eq!(store.nearest("m", &[0.0, 1.0], 1, &MetadataFilter::new()).await.expect("a search").len(), 1);
    let nowhere: MetadataFilter = [("floor".to_owned(), "3".to_owned())].into();
    assert!(store.nearest("m", &[0.0, 1.0], 5, &nowhere).await.expect("a search").is_empty());

    store.remove("kettle.md").await.expect("removed");
    assert!(store.nearest("m", &[0.0, 1.0], 5, &MetadataFilter::new()).await.expect("a search").is_empty());
    let gone = vec![(passages[0].clone(), vec![1.0, 0.0])];
    store.keep_vectors("m", gone).await.expect("a passage that is gone is left out");
    assert!(store.nearest("m", &[1.0, 0.0], 5, &MetadataFilter::new()).await.expect("a search").is_empty());
}

pub(crate) async fn a_vector_stays_with_the_words_it_was_computed_of(store: &dyn DocumentStore) {
    store.add(vec![Document::of_text("rules", "The bedroom is closed.")]).await.expect("added");
    let before = store.unembedded("m", 9).await.expect("a look");
    // While it is computed, the document is replaced; the new passage may have the number of the old one.
    store.add(vec![Document::of_text("rules", "The bedroom is open.")]).await.expect("replaced");
    store.keep_vectors("m", vec![(before[0].clone(), vec![1.0])]).await.expect("left out");
    assert_eq!(without_vector(store, "m").await, ["The bedroom is open."]);
    assert!(store.nearest("m", &[1.0], 9, &MetadataFilter::new()).await.expect("a search").is_empty());
}

pub(crate) async fn vectors_of_two_models_are_not_mixed(store: &dyn DocumentStore) {
    store.add(household()).await.expect("they are added");
    let passages = store.unembedded("m", 100).await.expect("a look");
    let of = |vector: &[f32]| passages.iter().map(|passage| (passage.clone(), vector.to_vec())).collect::<Vec<_>>();
    store.keep_vectors("m", of(&[1.0, 0.0])).await.expect("kept");
    let mut uneven = of(&[0.0, 1.0]);
    uneven[2].1.push(0.0);
    let error = store.keep_vectors("m", uneven).await.expect_err("the third is longer").to_string();
    assert!(error.contains("a vector of 3 numbers does not fit the others of m, which have 2"), "{error}");
    let near = store.nearest("m", &[1.0, 0.0], 1, &MetadataFilter::new()).await.expect("a search");
    assert!(near[0].likeness > 0.99, "nothing of it was kept");
    let error = store.nearest("m", &[1.0], 1, &MetadataFilter::new()).await.expect_err("it is shorter").to_string();
    assert!(error.contains("a vector of 1 numbers"), "{error}");

    assert_eq!(without_vector(store, "other").await.len(), 4);
    assert!(store.nearest("other", &[1.0], 1, &MetadataFilter::new()).await.expect("a search").is_empty());
    store.keep_vectors("other", of(&[1.0])).await.expect("another model, another dimension");
    assert_eq!(store.nearest("other", &[1.0], 9, &MetadataFilter::new()).await.expect("a search").len(), 4);
    assert_eq!(without_vector(store, "m").await.len(), 4, "those of the first are gone");
}

/// A document with many passages.
fn long(id: &str, passages: usize) -> Document {
    let section = |number| Section { place: format!("Part {number}"), text: format!("The cup {number} is red.") };
    Document { id: id.to_owned(), metadata: BTreeMap::new(), sections: (0..passages).map(section).collect() }
}

pub(crate) async fn a_long_document_is_kept_whole(store: &dyn DocumentStore) {
    let added = store.add(vec![long("long", 700), long("empty", 0)]).await.expect("they are added");
    assert_eq!(added, [Added::New { passages: 700 }, Added::New { passages: 0 }]);
    let kept = store.list().await.expect("a list");
    assert_eq!(
        kept.iter().map(|entry| (entry.id.as_str(), entry.passages)).collect::<Vec<_>>(),
        [("empty", 0), ("long", 700)]
    );
    let found = search(store, "Where is cup 699?").await;
    assert_eq!(found[0].passage.text, "The cup 699 is red.");
    assert_eq!(store.unembedded("m", usize::MAX).await.expect("a look").len(), 700);
    assert_eq!(store.add(vec![long("long", 3)]).await.expect("shorter"), [Added::Replaced { passages: 3 }]);
    assert_eq!(store.unembedded("m", usize::MAX).await.expect("a look").len(), 3, "nothing of the longer one is left");
}

pub(crate) async fn of_two_with_one_id_the_last_one_counts(store: &dyn DocumentStore) {
    let cup = |colour: &str| Document::of_text("cup", format!("The cup is {colour}."));
    let added = store.add(vec![cup("red"), cup("blue"), cup("blue")]).await.expect("they are added");
    assert_eq!(added, [Added::New { passages: 1 }, Added::Replaced { passages: 1 }, Added::Unchanged]);
    let found = search(store, "cup").await;
    assert_eq!(found.iter().map(|found| found.passage.text.as_str()).collect::<Vec<_>>(), ["The cup is blue."]);
    let added = store.add(vec![cup("green"), cup("blue")]).await.expect("they are added");
    assert_eq!(added, [Added::Replaced { passages: 1 }; 2]);
    assert_eq!(search(store, "cup").await[0].passage.text, "The cup is blue.");
}

/// Takes heat and fire for the same, and all else for another thing.
struct Heat;

#[async_trait]
impl Embedder for Heat {
    fn model(&self) -> &str {
        "heat"
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let is_hot = |text: &String| ["fire", "flames"].iter().any(|word| text.contains(word));
        Ok(texts.iter().map(|text| if is_hot(text) { vec![1.0, 0.0, 0.0] } else { vec![0.0, 1.0, 0.0] }).collect())
    }
}

pub(crate) async fn words_and_meaning_find_together<S: DocumentStore + Clone>(store: &S) {
    let texts = [("alarm", "In case of fire, use the stairs."), ("kettle", "The kettle is in the corridor.")];
    let mut documents: Vec<Document> = texts.iter().map(|(id, text)| Document::of_text(*id, *text)).collect();
    documents.push(long("long", 100));
    store.add(documents).await.expect("they are added");
    let knowledge = Knowledge::new(Arc::new(store.clone()), 5, false).with_embedder(Arc::new(Heat));
    let mut so_far = Vec::new();
    knowledge.embed_missing(|done| so_far.push(done)).await.expect("the vectors");
    assert_eq!(so_far, [64, 102], "each once");
    let found = knowledge.search("flames in the corridor", 5).await.expect("a search");
    assert_eq!(found[0].document, "alarm", "its words say nothing of flames");
    assert!(found[0].likeness > 0.99 && found[0].relevance == 0.0, "{found:#?}");
    assert_eq!(found[1].document, "kettle", "what shares a word comes before what shares nothing");
    assert!(found[1].relevance > 0.0 && found[1].likeness < 0.01, "{found:#?}");
}
