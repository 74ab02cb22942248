//! What takes the place of servers of documents where Cortex is built without the feature `qdrant`: none can be opened.

use async_trait::async_trait;

use crate::document::Document;
use crate::qdrant_settings::QdrantSettings;
use crate::store::{Added, DocumentEntry, DocumentStore, Found, MetadataFilter, StoreError, Unembedded};

/// A store that nobody has.
#[derive(Clone)]
pub enum QdrantStore {}

impl QdrantStore {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn open(settings: QdrantSettings) -> Result<Self, StoreError> {
        Err(StoreError::LeftOut { server: settings.server })
    }
}

#[async_trait]
impl DocumentStore for QdrantStore {
    async fn add(&self, _: Vec<Document>) -> Result<Vec<Added>, StoreError> {
        match *self {}
    }

    async fn remove(&self, _: &str) -> Result<bool, StoreError> {
        match *self {}
    }

    async fn list(&self) -> Result<Vec<DocumentEntry>, StoreError> {
        match *self {}
    }

    async fn search(&self, _: &str, _: usize, _: &MetadataFilter) -> Result<Vec<Found>, StoreError> {
        match *self {}
    }

    async fn unembedded(&self, _: &str, _: usize) -> Result<Vec<Unembedded>, StoreError> {
        match *self {}
    }

    async fn keep_vectors(&self, _: &str, _: Vec<(Unembedded, Vec<f32>)>) -> Result<(), StoreError> {
        match *self {}
    }

    async fn nearest(&self, _: &str, _: &[f32], _: usize, _: &MetadataFilter) -> Result<Vec<Found>, StoreError> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdrant_settings::QdrantTimeouts;

    #[test]
    fn a_server_is_refused_with_the_name_of_the_feature() {
        let (server, robot) = ("http://localhost:6334".to_owned(), "robbie".to_owned());
        let collection = robot.clone();
        let settings = QdrantSettings { server, collection, robot, key: None, timeouts: QdrantTimeouts::default() };
        let told = QdrantStore::open(settings).err().map(|error| error.to_string());
        assert!(told.is_some_and(|told| told.contains("build it with the feature `qdrant`")));
    }
}
