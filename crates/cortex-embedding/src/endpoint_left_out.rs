//! What stands in for models behind endpoints where Cortex is built without the feature `openai`: none can be asked.

use async_trait::async_trait;
use cortex_core::{EmbedError, Embedder};

use crate::endpoint_settings::{EndpointError, EndpointSettings};

/// A model that nobody has.
#[derive(Clone)]
pub enum EndpointEmbedder {}

impl EndpointEmbedder {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn new(settings: EndpointSettings) -> Result<Self, EndpointError> {
        Err(EndpointError::LeftOut { base_url: settings.base_url })
    }
}

#[async_trait]
impl Embedder for EndpointEmbedder {
    fn model(&self) -> &str {
        match *self {}
    }

    async fn embed(&self, _texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        match *self {}
    }
}
