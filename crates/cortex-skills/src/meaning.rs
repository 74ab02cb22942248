//! What texts mean, as the vectors of a model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cortex_core::{EmbedError, Embedder};
use tokio::sync::Mutex;

/// Vectors by their text.
pub(crate) type Vectors = Arc<BTreeMap<String, Vec<f32>>>;

/// The vectors of a model. Clones share those of the skills.
#[derive(Clone)]
pub(crate) struct Meaning {
    embedder: Arc<dyn Embedder>,
    /// Of the texts of skills. A skill that is edited has others.
    known: Arc<Mutex<Vectors>>,
}

impl std::fmt::Debug for Meaning {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Meaning").field(&self.embedder.model()).finish()
    }
}

impl Meaning {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, known: Arc::default() }
    }

    /// The vectors of these texts of skills. What is computed is kept, also where this is dropped.
    pub(crate) async fn of_skills(&self, texts: BTreeSet<String>) -> Result<Vectors, EmbedError> {
        let meaning = self.clone();
        let learnt = tokio::spawn(async move { meaning.learn(texts).await }).await;
        learnt.map_err(|problem| EmbedError(problem.to_string()))?
    }

    /// The vectors of what was said, in its order.
    pub(crate) async fn of_said(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embedder.embed(texts).await
    }

    /// Computes the vectors of these texts that are not known, and forgets all others. One at a time.
    async fn learn(&self, texts: BTreeSet<String>) -> Result<Vectors, EmbedError> {
        let mut known = self.known.lock().await;
        let new: Vec<String> = texts.iter().filter(|text| !known.contains_key(*text)).cloned().collect();
        if !new.is_empty() || known.len() > texts.len() {
            let vectors = if new.is_empty() { Vec::new() } else { self.embedder.embed(new.clone()).await? };
            let kept = known.iter().filter(|(text, _)| texts.contains(*text));
            let kept: BTreeMap<_, _> = kept.map(|(text, vector)| (text.clone(), vector.clone())).collect();
            *known = Arc::new(kept.into_iter().chain(new.into_iter().zip(vectors)).collect());
        }
        Ok(Arc::clone(&known))
    }
}
