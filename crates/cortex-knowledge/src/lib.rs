//! What the robot knows from documents: manuals, house rules, lists of places. Files are read ([`read`]), cut into passages
//! with the place where each stands, kept in a store ([`DocumentStore`]), and found again for a task.
//!
//! Needs no model, and with a file as the store no network: ranking is lexical (BM25). With an [`Embedder`](cortex_core::Embedder), passages are also found
//! by their meaning, and both rankings become one. Retrieval for planning follows `seeds/0` (`enable_rag`,
//! `n_results`, `add_documents`).
//!
//! There are two stores: a file of SQLite ([`SqliteStore`]), and a server of Qdrant ([`QdrantStore`]). Without the feature `qdrant`
//! nothing of the second is built, and it can't be opened.
//!
//! Texts of documents are data: a planner is shown them quoted, with their source, and nothing in them is obeyed.

mod document;
mod fusion;
mod knowledge;
mod passages;
#[cfg_attr(not(feature = "qdrant"), path = "qdrant_left_out.rs")]
mod qdrant;
mod qdrant_settings;
pub mod read;
mod sqlite;
mod store;
mod tools;
mod words;

pub use document::{Document, Passage, Section};
pub use knowledge::Knowledge;
pub use qdrant::QdrantStore;
pub use qdrant_settings::{QdrantSettings, QdrantTimeouts};
pub use sqlite::SqliteStore;
pub use store::{Added, DocumentEntry, DocumentStore, Found, MetadataFilter, PassageId, StoreError, Unembedded};
pub use tools::KnowledgeTools;
