//! The documents of a robot, as planning uses them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, Embedder, PassageKind};

use tokio::time::Instant;

use crate::fusion::fused;
use crate::store::{DocumentStore, Found, MetadataFilter, StoreError, Unembedded};

/// The name under which passages are cited.
pub(crate) const SOURCE: &str = "knowledge";
/// Least share of the telling words of a task that a passage must hold to be shown to the planner unasked. A passage that
/// shares only a common word with the task would be noise.
const LEAST_RELEVANCE: f64 = 0.4;

/// Passages whose vectors are computed at a time.
const BATCH: usize = 64;
/// What is known by then of the meaning counts; a plan does not wait longer, and goes by the words. Less than a source may take
/// for all that it does.
const MEANING_PATIENCE: Duration = Duration::from_millis(400);
/// How long after a failure the missing vectors are computed again at the earliest.
const AFTER_FAILURE: Duration = Duration::from_secs(60);
/// How many times as many passages as are wanted are taken from each ranking: one that is low in both may be better than the
/// last of either.
const CANDIDATES: usize = 4;

/// Documents behind a store. Clones share it.
#[derive(Clone)]
pub struct Knowledge {
    store: Arc<dyn DocumentStore>,
    /// What finds passages by their meaning, too.
    embedder: Option<Arc<dyn Embedder>>,
    is_catching_up: Arc<AtomicBool>,
    /// Most passages for one task.
    results: usize,
    /// Whether passages are shown with what is known of their documents.
    with_metadata: bool,
}

impl Knowledge {
    /// Documents of this store: at most `results` passages for one task (`n_results`), with the metadata of their documents
    /// or without (`add_metadata`).
    #[must_use]
    pub fn new(store: Arc<dyn DocumentStore>, results: usize, with_metadata: bool) -> Self {
        Self { store, embedder: None, is_catching_up: Arc::default(), results, with_metadata }
    }

    /// The same, and passages are also found by their meaning, as far as [their vectors are there](Self::embed_missing).
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder: Some(embedder), ..self }
    }

    /// The passages that fit best, however little.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn search(&self, text: &str, most: usize) -> Result<Vec<Found>, StoreError> {
        let mut found = self.found_within(Duration::MAX, text, most).await?;
        found.truncate(most);
        Ok(found)
    }

    /// The same and more, the best first; what is known of the meaning by then counts.
    async fn found_within(&self, patience: Duration, text: &str, most: usize) -> Result<Vec<Found>, StoreError> {
        let filter = MetadataFilter::new();
        let Some(embedder) = &self.embedder else { return self.store.search(text, most, &filter).await };
        let deadline = Instant::now().checked_add(patience);
        let by_words = self.store.search(text, most.saturating_mul(CANDIDATES), &filter);
        let by_meaning = async {
            let vectors = embedder.embed(vec![text.to_owned()]).await;
            let vectors = vectors.map_err(|problem| StoreError::NotEmbedded { problem: problem.to_string() })?;
            let vector = vectors.first().map(Vec::as_slice).unwrap_or_default();
            self.store.nearest(embedder.model(), vector, most.saturating_mul(CANDIDATES), &filter).await
        };
        let late = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let by_meaning = async {
            tokio::select! {
                biased;
                found = by_meaning => found,
                () = late => {
                    Err(StoreError::NotEmbedded { problem: "the meaning of the task was not known in time".to_owned() })
                }
            }
        };
        // At the same time: a store may be on a server.
        let (by_words, by_meaning) = tokio::join!(by_words, by_meaning);
        let by_words = by_words?;
        let by_meaning = by_meaning.unwrap_or_else(|problem| {
            tracing::warn!("documents are found by their words alone: {problem}");
            Vec::new()
        });
        Ok(fused(by_words, by_meaning))
    }

    /// Computes the vectors that are missing, on a task of its own: documents may be added while Cortex runs, by whoever has no
    /// embedder. One at a time; does nothing without an embedder. To be called within a tokio runtime.
    pub fn catch_up(&self) {
        if self.embedder.is_none() || self.is_catching_up.swap(true, Ordering::AcqRel) {
            return;
        }
        let knowledge = self.clone();
        tokio::spawn(async move {
            if let Err(problem) = knowledge.embed_missing(|_| ()).await {
                tracing::warn!("some documents are found by their words alone: {problem}");
                // A full disk is not emptied by trying at each plan.
                tokio::time::sleep(AFTER_FAILURE).await;
            }
            knowledge.is_catching_up.store(false, Ordering::Release);
        });
    }

    /// Computes the vectors that are missing, and tells how many passages have got one so far. Nothing without an embedder.
    /// Dropping the future keeps what is done.
    ///
    /// # Errors
    /// When the rest stays without.
    pub async fn embed_missing(&self, mut so_far: impl FnMut(usize) + Send) -> Result<(), StoreError> {
        let Some(embedder) = &self.embedder else { return Ok(()) };
        let mut done = 0;
        let mut last: Vec<Unembedded> = Vec::new();
        loop {
            let missing = self.store.unembedded(embedder.model(), BATCH).await?;
            if missing.is_empty() {
                return Ok(());
            }
            if missing.iter().any(|passage| last.contains(passage)) {
                let problem = "another process computes them with another model; give both the same [embedding]";
                return Err(StoreError::NotEmbedded { problem: problem.to_owned() });
            }
            let texts = missing.iter().map(|passage| passage.text.clone()).collect();
            let vectors = embedder.embed(texts).await;
            let vectors = vectors.map_err(|problem| StoreError::NotEmbedded { problem: problem.to_string() })?;
            self.store.keep_vectors(embedder.model(), missing.iter().cloned().zip(vectors).collect()).await?;
            done += missing.len();
            last = missing;
            so_far(done);
        }
    }

    /// A passage as it is shown to a planner.
    pub(crate) fn passage(&self, found: Found) -> ContextPassage {
        let mut text = found.passage.text;
        if self.with_metadata && !found.metadata.is_empty() {
            let known: Vec<String> = found.metadata.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            text = format!("{text} ({})", known.join(", "));
        }
        let place = match found.passage.place.as_str() {
            "" => found.document,
            place => format!("{}, {place}", found.document),
        };
        ContextPassage {
            source: SOURCE.to_owned(),
            place,
            as_of: None,
            text,
            relevance: found.relevance,
            kind: PassageKind::Record,
        }
    }
}

#[async_trait]
impl ContextSource for Knowledge {
    fn name(&self) -> &str {
        SOURCE
    }

    fn is_empty(&self) -> bool {
        !self.store.is_there()
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError> {
        let mut text = query.task.clone();
        for revision in &query.revisions {
            text.push('\n');
            text.push_str(revision);
        }
        let found = self.found_within(MEANING_PATIENCE, &text, self.results).await;
        // Not before: it would be computed first.
        self.catch_up();
        let found = found.map_err(|error| ContextError(error.to_string()))?;
        let fitting = found.into_iter().filter(|found| found.relevance.max(found.likeness) >= LEAST_RELEVANCE);
        Ok(fitting.take(self.results).map(|found| self.passage(found)).collect())
    }
}
