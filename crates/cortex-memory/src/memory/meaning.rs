//! Facts found by what they mean. With an [`Embedder`], each statement that facts make (`red cup is at kitchen`) gets a vector,
//! and what is searched for is found near it, too: a mug where a cup was seen. Both rankings become one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cortex_core::{Embedder, Ranked, fused};
use tokio::time::timeout;

use super::Memory;
use crate::answers::{Change, FoundFact, Noted};
use crate::error::MemoryError;
use crate::fact::{FactId, Now};

/// Statements whose vectors are computed at a time.
const BATCH: usize = 64;
/// How long the meaning of a text may take where somebody waits for the answer and for nothing else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long after a failure the missing vectors are computed again at the earliest.
const AFTER_FAILURE: Duration = Duration::from_secs(60);
/// How many times as many facts as are wanted are taken from each ranking: one that is low in both may be better than the last
/// of either.
const CANDIDATES: usize = 4;

/// What finds facts by their meaning. Clones share it.
#[derive(Clone)]
pub(crate) struct Meaning {
    embedder: Arc<dyn Embedder>,
    is_catching_up: Arc<AtomicBool>,
}

impl Ranked for FoundFact {
    type Key = FactId;

    fn key(&self) -> FactId {
        self.answer.fact.id
    }

    fn relevance(&self) -> f64 {
        self.relevance
    }

    fn likeness(&self) -> f64 {
        self.likeness
    }

    fn set_likeness(&mut self, likeness: f64) {
        self.likeness = likeness;
    }
}

impl Memory {
    /// The same, and facts are also found by their meaning, as far as [their vectors are there](Self::embed_missing). To be
    /// called before the memory is cloned.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.meaning = Some(Meaning { embedder, is_catching_up: Arc::default() });
        self
    }

    /// Computes the vectors that are missing, on a task of its own. One at a time; does nothing without an embedder. To be
    /// called within a tokio runtime.
    pub fn catch_up(&self) {
        let Some(meaning) = &self.meaning else { return };
        if meaning.is_catching_up.swap(true, Ordering::AcqRel) {
            return;
        }
        let (memory, is_catching_up) = (self.clone(), Arc::clone(&meaning.is_catching_up));
        tokio::spawn(async move {
            let caught_up = memory.embed_missing().await;
            // Whoever closes the memory meanwhile does not wait for this.
            drop(memory);
            if let Err(problem) = caught_up {
                tracing::warn!("some of what is remembered is found by its words alone: {problem}");
                // A full disk is not emptied by trying at each observation.
                tokio::time::sleep(AFTER_FAILURE).await;
            }
            is_catching_up.store(false, Ordering::Release);
        });
    }

    /// The vectors of what is new come on their own.
    pub(crate) fn catch_up_with(&self, noted: &[Noted]) {
        if noted.iter().any(|noted| matches!(noted.change, Change::New(_))) {
            self.catch_up();
        }
    }

    /// Computes the vectors that are missing, and says how many statements have got one. Nothing without an embedder. Dropping the
    /// future keeps what is done.
    ///
    /// # Errors
    /// When the rest stays without.
    pub async fn embed_missing(&self) -> Result<usize, MemoryError> {
        let Some(Meaning { embedder, .. }) = &self.meaning else { return Ok(0) };
        let mut done = 0;
        let mut last = Vec::new();
        loop {
            let model = embedder.model().to_owned();
            let missing = self.ask(move |store| store.unembedded(&model, BATCH)).await?;
            if missing.is_empty() {
                return Ok(done);
            }
            if missing == last {
                let problem = "the model gave no vectors for some of it".to_owned();
                return Err(MemoryError::NotEmbedded { problem });
            }
            let texts = missing.iter().map(|statement| statement.text.clone()).collect();
            let vectors = embedder.embed(texts).await;
            let vectors = vectors.map_err(|problem| MemoryError::NotEmbedded { problem: problem.to_string() })?;
            let (model, embedded) = (embedder.model().to_owned(), missing.iter().cloned().zip(vectors).collect());
            done += self.ask(move |store| store.keep_vectors(&model, embedded)).await?;
            last = missing;
        }
    }

    /// How many facts are to be found by their words where so many are wanted.
    pub(crate) fn candidates(&self, most: usize) -> usize {
        if self.meaning.is_some() { most.saturating_mul(CANDIDATES) } else { most }
    }

    /// Makes one ranking of what was found by its words and of what is found by its meaning, the best first, at most so many; what
    /// is known of the meaning by then counts.
    pub(crate) async fn add_by_meaning(
        &self,
        found: Vec<FoundFact>,
        patience: Duration,
        text: &str,
        most: usize,
        now: &Now,
    ) -> Vec<FoundFact> {
        let Some(Meaning { embedder, .. }) = &self.meaning else { return found };
        let by_meaning = async {
            let vectors = embedder.embed(vec![text.to_owned()]).await;
            let vectors = vectors.map_err(|problem| MemoryError::NotEmbedded { problem: problem.to_string() })?;
            let vector = vectors.into_iter().next().unwrap_or_default();
            let (model, now, most) = (embedder.model().to_owned(), now.clone(), self.candidates(most));
            self.ask(move |store| store.nearest(&model, &vector, most, &now)).await
        };
        let late = |_| MemoryError::NotEmbedded { problem: "it took too long".to_owned() };
        let by_meaning = timeout(patience, by_meaning).await.map_err(late).and_then(|found| found);
        let by_meaning = by_meaning.unwrap_or_else(|problem| {
            tracing::warn!("what is remembered is found by its words alone: {problem}");
            Vec::new()
        });
        let mut found = fused(found, by_meaning);
        found.truncate(most);
        found
    }
}
