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

/// Which passage of a store, for as long as it is there. Of one that was replaced, another may have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PassageId(pub u64);

/// A passage of which a model has computed no vector yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// Which.
    pub id: PassageId,
    /// Its words, with the headings above them.
    pub text: String,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Which.
    pub id: PassageId,
    /// The id of its document.
    pub document: String,
    /// The passage.
    pub passage: Passage,
    /// What is known of its document.
    pub metadata: BTreeMap<String, String>,
    /// How much of what was asked for it holds, from 0 to 1: the share of the telling words, rare ones counting more. 0 where it
    /// was found by its meaning alone.
    pub relevance: f64,
    /// How much it means what was asked for, from 0 to 1: the cosine of both vectors. 0 where it was found by its words alone.
    pub likeness: f64,
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
    /// A vector does not fit those that are kept.
    #[error(
        "a vector of {found} numbers does not fit the others of {model}, which have {kept}; use the model that they were \
         computed with, or another collection"
    )]
    Dimension {
        /// The model.
        model: String,
        /// Numbers of those that are kept.
        kept: usize,
        /// Numbers of the one that is not.
        found: usize,
    },
    /// No vectors of the texts can be had.
    #[error("the texts of the documents could not be turned into vectors: {problem}")]
    NotEmbedded {
        /// Why.
        problem: String,
    },
    /// The address of a server, or its key, can't be used.
    #[error("{server} can't be used: {problem}. Check knowledge.store, and the key of the server in [keys]")]
    BadServer {
        /// Its address.
        server: String,
        /// Why.
        problem: String,
    },
    /// There is no connection to a server.
    #[error("{server} can't be reached: {problem}. Start the server, or check knowledge.store")]
    Unreachable {
        /// Its address.
        server: String,
        /// Why.
        problem: String,
    },
    /// A server takes too long. What it was to write may be there or not.
    #[error("{server} did not answer within {seconds} s; look how busy it is, and try again")]
    Late {
        /// Its address.
        server: String,
        /// How long it was waited for.
        seconds: f64,
    },
    /// A server does not let us in.
    #[error(
        "{server} {what}",
        what = if *has_key {
            "refuses the key; check the one that [keys] names for it"
        } else {
            "wants a key; say in [keys] where it is"
        }
    )]
    KeyRefused {
        /// Its address.
        server: String,
        /// Whether it was given a key.
        has_key: bool,
    },
    /// There is no such collection on a server.
    #[error(
        "{server} has no collection '{collection}'; `cortex knowledge add` makes it, or check knowledge.collection_name"
    )]
    NoCollection {
        /// Its address.
        server: String,
        /// Which.
        collection: String,
    },
    /// A collection is there, but can't be used for documents.
    #[error(
        "the collection '{collection}' of {server} was not made by Cortex: {problem}. Give another collection_name"
    )]
    ForeignCollection {
        /// The address of the server.
        server: String,
        /// Which.
        collection: String,
        /// Why.
        problem: String,
    },
    /// A server refuses a request.
    #[error("{server} refused a request: {problem}")]
    ServerRefused {
        /// Its address.
        server: String,
        /// What it says.
        problem: String,
    },
    /// A document holds more than a server is given.
    #[error("the {what} of '{id}' are longer than {most} bytes; shorten them")]
    TooLong {
        /// Which document.
        id: String,
        /// What of it.
        what: &'static str,
        /// Most bytes.
        most: usize,
    },
    /// This program has no client for a server.
    #[error(
        "{server} can't be used: this Cortex was built without servers of documents; build it with the feature `qdrant`, or set \
         knowledge.store to \"embedded\""
    )]
    LeftOut {
        /// The address of the server.
        server: String,
    },
    /// Something else went wrong.
    #[error("the store of documents failed: {problem}")]
    Failed {
        /// What.
        problem: String,
    },
}

/// Most bytes of an id of a document.
pub(crate) const ID_BYTES: usize = 512;

/// Whether a document may be kept under this id.
///
/// # Errors
/// When it may not.
pub(crate) fn check_id(id: &str) -> Result<(), StoreError> {
    if id.is_empty() || id.len() > ID_BYTES || id.contains(char::is_control) {
        return Err(StoreError::BadId { id: id.chars().take(80).collect(), most: ID_BYTES });
    }
    Ok(())
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

    /// The passages whose words fit a text best, at most `most`, the best first.
    ///
    /// # Errors
    /// When the store can't be read.
    async fn search(&self, text: &str, most: usize, filter: &MetadataFilter) -> Result<Vec<Found>, StoreError>;

    /// Passages of which this model has computed no vector yet, at most `most`.
    ///
    /// # Errors
    /// When the store can't be read.
    async fn unembedded(&self, model: &str, most: usize) -> Result<Vec<Unembedded>, StoreError>;

    /// Keeps vectors of length 1 that this model has computed, all or none; those of passages that are gone, or have other words
    /// by now, are left out. A store keeps the vectors of one model: the first of another one take the place of all.
    ///
    /// # Errors
    /// When nothing of it is kept: also where one has another dimension than those that are kept.
    async fn keep_vectors(&self, model: &str, vectors: Vec<(Unembedded, Vec<f32>)>) -> Result<(), StoreError>;

    /// The passages whose vectors, as this model has computed them, lie nearest to this one, at most `most`, the nearest first.
    ///
    /// # Errors
    /// When the store can't be read: also where its vectors have another dimension.
    async fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        most: usize,
        filter: &MetadataFilter,
    ) -> Result<Vec<Found>, StoreError>;
}
