//! The documents of a robot, as planning uses them.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, PassageKind};

use crate::store::{DocumentStore, Found, MetadataFilter, StoreError};

/// The name under which passages are cited.
pub(crate) const SOURCE: &str = "knowledge";
/// Least share of the telling words of a task that a passage must hold to be shown to the planner unasked. A passage that
/// shares only a common word with the task would be noise.
const LEAST_RELEVANCE: f64 = 0.4;

/// Documents behind a store. Clones share it.
#[derive(Clone)]
pub struct Knowledge {
    store: Arc<dyn DocumentStore>,
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
        Self { store, results, with_metadata }
    }

    /// The passages that fit best, however little.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn search(&self, text: &str, most: usize) -> Result<Vec<Found>, StoreError> {
        self.store.search(text, most, &MetadataFilter::new()).await
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
        let found = self.search(&text, self.results).await.map_err(|error| ContextError(error.to_string()))?;
        let fitting = found.into_iter().filter(|found| found.relevance >= LEAST_RELEVANCE);
        Ok(fitting.map(|found| self.passage(found)).collect())
    }
}
