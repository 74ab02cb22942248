//! The port of stores: where documents are kept and found again. Every store passes the same suite,
//! `tests/conformance/`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::document::{Document, Passage};

/// What was done with a document that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Added {
    /// It is new.
    New {
        /// Its passages.
        passages: usize,
    },
    /// It takes the place of an earlier one with the same id.
    Replaced {
        /// Its passages.
        passages: usize,
    },
    /// The same content is there under this id already: nothing was done.
    Unchanged,
}

/// A document that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentEntry {
    /// By what it is cited.
    pub id: String,
    /// How many passages it has.
    pub passages: u64,
    /// When it was added, in milliseconds since 1970.
    pub added_ms: u64,
    /// What is known of it.
    pub metadata: BTreeMap<String, String>,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The id of its document.
    pub document: String,
    /// The passage.
    pub passage: Passage,
    /// What is known of its document.
    pub metadata: BTreeMap<String, String>,
    /// How much of what was asked for it holds, from 0 to 1: the share of the telling words, rare ones counting more.
    pub relevance: f64,
}

/// Which documents may be found: those whose metadata have these values.
pub type MetadataFilter = BTreeMap<String, String>;

/// Why a store does not do what it was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file can't be made or opened.
    #[error("{file} can't be opened: {problem}. Check the path and its permissions", file = file.display())]
    Unopened {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: String,
    },
    /// The file is no store, or is damaged.
    #[error(
        "{file} is damaged or is no store of documents: {problem}. Move it away, and add the documents again",
        file = file.display()
    )]
    Damaged {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A newer Cortex has written it.
    #[error("{file} was written by a newer Cortex (format {format}); use that one, or another file", file = file.display())]
    Newer {
        /// Which.
        file: PathBuf,
        /// Its format.
        format: i64,
    },
    /// There is no more room for it.
    #[error("{file} can't be written: there is no room left on its disk", file = file.display())]
    Full {
        /// Which.
        file: PathBuf,
    },
    /// A document can't be kept.
    #[error("a document needs an id of 1 to {most} bytes without line breaks; '{id}' is none")]
    BadId {
        /// What it was given.
        id: String,
        /// Most bytes.
        most: usize,
    },
    /// Something else went wrong.
    #[error("the store of documents failed: {problem}")]
    Failed {
        /// What.
        problem: String,
    },
}

/// Keeps documents and finds passages of them.
#[async_trait]
pub trait DocumentStore: Send + Sync + 'static {
    /// Whether there may be anything in it. Answers at once, so that a robot without documents pays nothing for them.
    fn is_there(&self) -> bool {
        true
    }

    /// Keeps documents, each in the place of any with the same id: all of them, or none. What was acknowledged survives the
    /// death of the process. Says of each what was done, in their order.
    ///
    /// # Errors
    /// When nothing of it is kept.
    async fn add(&self, documents: Vec<Document>) -> Result<Vec<Added>, StoreError>;

    /// Forgets a document; says whether there was one.
    ///
    /// # Errors
    /// When it may still be there.
    async fn remove(&self, id: &str) -> Result<bool, StoreError>;

    /// What is kept, by id.
    ///
    /// # Errors
    /// When the store can't be read.
    async fn list(&self) -> Result<Vec<DocumentEntry>, StoreError>;

    /// The passages that fit a text best, at most `most`, the best first.
    ///
    /// # Errors
    /// When the store can't be read.
    async fn search(&self, text: &str, most: usize, filter: &MetadataFilter) -> Result<Vec<Found>, StoreError>;
}
