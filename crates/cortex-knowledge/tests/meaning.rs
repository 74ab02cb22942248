//! Documents found by their meaning, with embedders that behave and that don't.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{ContextQuery, ContextSource as _, EmbedError, Embedder};
use cortex_knowledge::{Document, DocumentStore as _, Knowledge, SqliteStore};
use cortex_protocol::TaskClass;

/// What an embedder does when it is asked.
#[derive(Clone, Copy)]
enum Habit {
    /// Takes heat and fire for the same, and all else for another thing.
    Knows,
    NeverAnswers,
    Fails,
}

struct Model(&'static str, Habit);

#[async_trait]
impl Embedder for Model {
    fn model(&self) -> &str {
        self.0
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let is_hot = |text: &String| ["fire", "flames"].iter().any(|word| text.contains(word));
        match self.1 {
            Habit::Knows => {
                Ok(texts.iter().map(|text| if is_hot(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] }).collect())
            }
            Habit::NeverAnswers => std::future::pending().await,
            Habit::Fails => Err(EmbedError("it is broken".to_owned())),
        }
    }
}

async fn store(folder: &Path) -> Arc<SqliteStore> {
    let store = Arc::new(SqliteStore::at(&folder.join("knowledge.sqlite")));
    let documents = [("alarm", "In case of fire, use the stairs."), ("kettle", "The kettle is in the kitchen.")];
    let documents = documents.map(|(id, text)| Document::of_text(id, text));
    store.add(documents.into()).await.expect("added");
    store
}

fn knowledge(store: &Arc<SqliteStore>, name: &'static str, habit: Habit) -> Knowledge {
    Knowledge::new(Arc::clone(store) as _, 5, false).with_embedder(Arc::new(Model(name, habit)))
}

async fn told(knowledge: &Knowledge, task: &str) -> Vec<String> {
    let query = ContextQuery::new(task, TaskClass::KnowledgeQuestion);
    let passages = knowledge.gather(&query).await.expect("passages");
    passages.into_iter().map(|passage| passage.place).collect()
}

#[tokio::test]
async fn a_task_in_other_words_is_told_what_means_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(folder.path()).await;
    let knowledge = knowledge(&store, "m", Habit::Knows);
    let mut so_far = Vec::new();
    knowledge.embed_missing(|done| so_far.push(done)).await.expect("the vectors");
    assert_eq!(so_far, [2]);
    assert_eq!(told(&knowledge, "flames in the corridor").await, ["alarm"]);
    assert_eq!(knowledge.search("flames", 5).await.expect("a search").len(), 2, "to people, all is shown");
}

#[tokio::test(start_paused = true)]
async fn regression_a_model_that_does_not_answer_took_the_words_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(folder.path()).await;
    for habit in [Habit::NeverAnswers, Habit::Fails] {
        let knowledge = knowledge(&store, "m", habit);
        assert_eq!(told(&knowledge, "where is the kettle in the kitchen?").await, ["kettle"]);
    }
}

#[tokio::test]
async fn a_store_that_two_models_share_is_computed_by_one_after_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(folder.path()).await;
    for name in ["one", "other", "one"] {
        let knowledge = knowledge(&store, name, Habit::Knows);
        knowledge.embed_missing(|_| ()).await.expect("the vectors");
        // Not `gather`: it lets this model catch up on a task of its own, which may come after the next model's turn.
        let found = knowledge.search("flames in the corridor", 5).await.expect("a search");
        assert_eq!(found[0].document, "alarm");
        assert!(found[0].likeness > 0.9, "{found:?}");
    }
}
