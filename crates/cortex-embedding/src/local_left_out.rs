//! What stands in for models where Cortex is built without the feature `embeddings`: none can be opened.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use cortex_core::{EmbedError, Embedder};
use thiserror::Error;

/// No model can be used.
#[derive(Debug, Error)]
#[error(
    "{} can't be used: this Cortex was built without models for texts; build it with the feature `embeddings`, or leave the \
     key out",
    folder.display()
)]
pub struct OpenError {
    folder: PathBuf,
}

/// A model that nobody has.
#[derive(Clone)]
pub enum LocalEmbedder {}

impl LocalEmbedder {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Err(OpenError { folder: folder.to_owned() })
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn model(&self) -> &str {
        match *self {}
    }

    async fn embed(&self, _texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        match *self {}
    }
}
