//! The model that turns texts into vectors, as the configuration names it.

use std::sync::Arc;

use anyhow::Context as _;
use cortex_config::{EmbeddingSettings, SecretPlace};
use cortex_core::Embedder;
use cortex_embedding::{EndpointEmbedder, EndpointSettings, LocalEmbedder};
use secrecy::SecretString;

/// Opens the model. One in a folder is read, which takes a while: not for a thread that others wait for. One behind an
/// endpoint need not be there yet.
///
/// # Errors
/// When it can't be used as the configuration names it, or its key is not where that says.
pub fn embedder(settings: &EmbeddingSettings) -> anyhow::Result<Arc<dyn Embedder>> {
    match settings {
        EmbeddingSettings::Folder(folder) => {
            let embedder = LocalEmbedder::open(folder).context("configuration: embedding.folder")?;
            Ok(Arc::new(embedder))
        }
        EmbeddingSettings::Endpoint { base_url, model, dimension, key, timeout } => {
            let key = key.as_ref().map(SecretPlace::read).transpose();
            let key = key.with_context(|| format!("configuration: keys.\"{base_url}\""))?;
            let embedder = EndpointEmbedder::new(EndpointSettings {
                base_url: base_url.clone(),
                model: model.clone(),
                dimension: *dimension,
                key: key.map(|key| SecretString::from(key.trim())),
                timeout: *timeout,
            });
            Ok(Arc::new(embedder.context("configuration: embedding.endpoint")?))
        }
    }
}
