//! Facts found by their meaning, with embedders that behave and that don't.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use cortex_core::{ContextQuery, ContextSource as _, EmbedError, Embedder, RoundedVector};
use cortex_memory::{Forget, Memory, MemorySource};
use cortex_protocol::TaskClass;
use house::*;

/// What an embedder does when it is asked.
enum Habit {
    /// Takes cups and mugs for the same, xylophones for something of their own, and all else for another thing.
    Knows,
    NeverAnswers,
    Fails,
    /// Gives fewer vectors than it was given texts.
    LosesOne,
    /// Meanwhile the thing that is embedded is forgotten, and another one gets its numbers in the file.
    Dawdles(Arc<OnceLock<Memory>>),
}

struct Model(&'static str, Habit);

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 8];
    let kind = match text {
        text if text.contains("cup") || text.contains("mug") => 0,
        text if text.contains("xylophone") => 1,
        _ => 2,
    };
    vector[kind] = 1.0;
    // The marks of a vector that is looked for in the file.
    vector[7] = if kind == 1 { 0.5 } else { 0.0 };
    vector
}

#[async_trait]
impl Embedder for Model {
    fn model(&self) -> &str {
        self.0
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let known = || Ok(texts.iter().map(|text| vector(text)).collect());
        match &self.1 {
            Habit::Knows => known(),
            Habit::NeverAnswers => std::future::pending().await,
            Habit::Fails => Err(EmbedError("it is broken".to_owned())),
            Habit::LosesOne => Ok(texts.iter().skip(1).map(|text| vector(text)).collect()),
            Habit::Dawdles(memory) => {
                let memory = memory.get().expect("it is open");
                memory.forget(Forget::Everything).await.expect("forgotten");
                memory.add(vec![camera("plate", is_at("hall"), 9)]).await.expect("kept");
                known()
            }
        }
    }
}

async fn opened(folder: &Path, name: &'static str, habit: Habit) -> Memory {
    open(folder).await.with_embedder(Arc::new(Model(name, habit)))
}

async fn household(memory: &Memory) {
    let seen = vec![
        camera("red cup", is_at("kitchen"), 0),
        camera("plate", is_at("hall"), 1),
        camera("red cup", is_at("bedroom"), 30),
        battery(0.42, 32),
    ];
    memory.add(seen).await.expect("kept");
}

async fn subjects(memory: &Memory, text: &str) -> Vec<String> {
    let found = memory.semantic_search(text, 2, &now(60)).await.expect("a search");
    found.into_iter().map(|found| found.answer.fact.subject).collect()
}

fn holds(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).expect("the folder").any(|entry| {
        let file = std::fs::read(entry.expect("an entry").path()).expect("its bytes");
        file.windows(bytes.len()).any(|window| window == bytes)
    })
}

#[tokio::test]
async fn a_thing_is_found_by_another_word_for_it_and_what_holds_comes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    household(&open(folder.path()).await).await;
    let memory = opened(folder.path(), "m", Habit::Knows).await;
    memory.embed_missing().await.expect("the vectors");
    let found = memory.semantic_search("mug", 2, &now(60)).await.expect("a search");
    assert_eq!((found[0].answer.fact.subject.as_str(), &found[0].answer.fact.value), ("red cup", &text("bedroom")));
    assert!(found[0].likeness > 0.9 && found[0].relevance.abs() < f64::EPSILON, "{found:?}");
    assert_eq!(memory.embed_missing().await.expect("nothing"), 0, "each statement has its vector by now");
    drop(memory);
    let memory = open(folder.path()).await;
    assert!(memory.semantic_search("mug", 2, &now(60)).await.unwrap().is_empty(), "without a model, by words alone");
    assert_eq!(subjects(&memory, "cup").await[0], "red cup");
}

#[tokio::test(start_paused = true)]
async fn the_planner_is_told_what_means_what_the_task_names() {
    let folder = tempfile::tempdir().expect("a folder");
    household(&open(folder.path()).await).await;
    let memory = opened(folder.path(), "m", Habit::Knows).await;
    memory.embed_missing().await.expect("the vectors");
    let source = MemorySource::new(memory, Arc::new(|| None));
    let query = ContextQuery::new("fetch my mug", TaskClass::Action);
    let passages = source.gather(&query).await.expect("passages");
    let told = passages.iter().find(|passage| passage.place == "red cup").expect("it is told");
    assert!(told.text.starts_with("red cup is at bedroom, as of ") && told.relevance.abs() < f64::EPSILON, "{told:?}");
    assert!(!passages.iter().any(|passage| passage.place == "plate"), "{passages:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_answer_takes_no_words_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    household(&open(folder.path()).await).await;
    for habit in [Habit::NeverAnswers, Habit::Fails, Habit::LosesOne] {
        let memory = opened(folder.path(), "m", habit).await;
        assert_eq!(subjects(&memory, "where is the plate?").await[0], "plate");
        let recalled = memory.recall("where is the plate?", 2, &now(60)).await.expect("a recollection");
        assert_eq!((recalled.located.len(), recalled.facts.len()), (1, 1));
    }
}

#[tokio::test]
async fn a_model_that_loses_vectors_is_named_instead_of_asked_for_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    open(folder.path()).await.add(vec![camera("red cup", is_at("kitchen"), 0)]).await.expect("kept");
    let memory = opened(folder.path(), "m", Habit::LosesOne).await;
    let problem = memory.embed_missing().await.expect_err("one has none");
    assert!(problem.to_string().contains("gave no vectors for some of it"), "{problem}");
}

#[tokio::test]
async fn vectors_of_another_model_take_the_place_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    household(&open(folder.path()).await).await;
    for name in ["one", "other", "one"] {
        let memory = opened(folder.path(), name, Habit::Knows).await;
        assert!(memory.semantic_search("mug", 2, &now(60)).await.unwrap().is_empty(), "none of this model is there");
        assert_eq!(memory.embed_missing().await.expect("the vectors"), 4);
        assert_eq!(subjects(&memory, "mug").await[0], "red cup");
    }
}

#[tokio::test]
async fn what_is_forgotten_leaves_no_vector() {
    let folder = tempfile::tempdir().expect("a folder");
    household(&open(folder.path()).await).await;
    let memory = opened(folder.path(), "m", Habit::Knows).await;
    memory.add(vec![camera("xylophone", is_at("hall"), 40)]).await.expect("kept");
    // Beside what the memory does on its own.
    memory.embed_missing().await.expect("the vectors");
    let kept = RoundedVector::of(&vector("xylophone")).bytes();
    assert!(holds(folder.path(), &kept), "its vector is in the file");
    memory.forget(Forget::Subject("xylophone".to_owned())).await.expect("forgotten");
    assert!(!holds(folder.path(), &kept) && !holds(folder.path(), b"xylophone"));
    let found = memory.semantic_search("xylophone", 9, &now(60)).await.expect("a search");
    assert!(found.iter().all(|found| found.likeness < 0.5), "{found:?}");
    assert_eq!(subjects(&memory, "mug").await[0], "red cup", "the others stay");
    memory.forget(Forget::Everything).await.expect("forgotten");
    assert!(!holds(folder.path(), &RoundedVector::of(&vector("cup")).bytes()));
}

#[tokio::test]
async fn a_vector_that_comes_too_late_is_no_other_things() {
    let folder = tempfile::tempdir().expect("a folder");
    let itself = Arc::new(OnceLock::new());
    // It adds without an embedder: what is new is embedded when this test says so.
    let plain = open(folder.path()).await;
    plain.add(vec![camera("xylophone", is_at("hall"), 0)]).await.expect("kept");
    assert!(itself.set(plain.clone()).is_ok());
    let memory = plain.with_embedder(Arc::new(Model("m", Habit::Dawdles(itself))));
    // The first time it was of another thing, the second time of the same.
    assert_eq!(memory.embed_missing().await.expect("the vectors"), 1);
    assert!(!holds(folder.path(), &RoundedVector::of(&vector("xylophone")).bytes()));
}

/// The third format had no vectors; what it held gets them.
#[tokio::test]
async fn a_file_of_the_third_format_is_found_by_its_meaning() {
    let folder = tempfile::tempdir().expect("a folder");
    household(&open(folder.path()).await).await;
    let file = rusqlite::Connection::open(folder.path().join("memory.sqlite")).expect("it opens");
    file.execute_batch(
        "DROP TABLE exchanges;
         DROP TRIGGER facts_added; DROP INDEX facts_by_statement; DROP TABLE meanings; DROP TABLE meaning_model;
         PRAGMA user_version = 3;",
    )
    .expect("as it was");
    drop(file);
    let memory = opened(folder.path(), "m", Habit::Knows).await;
    assert_eq!(memory.embed_missing().await.expect("the vectors"), 4);
    assert_eq!(subjects(&memory, "mug").await[0], "red cup");
}

#[tokio::test]
async fn a_rebuilt_file_gets_its_vectors_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    household(&open(folder.path()).await).await;
    let memory = opened(folder.path(), "m", Habit::Knows).await;
    memory.embed_missing().await.expect("the vectors");
    drop(memory);
    let (memory, _) = Memory::rebuild(folder.path().join("memory.sqlite"), rules()).await.expect("rebuilt");
    let memory = memory.with_embedder(Arc::new(Model("m", Habit::Knows)));
    assert_eq!(memory.embed_missing().await.expect("the vectors"), 4);
    assert_eq!(subjects(&memory, "mug").await[0], "red cup");
}
