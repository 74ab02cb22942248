//! `[embedding]`: the model that turns texts into vectors, so that documents, skills and what is remembered are found by what
//! they mean.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use cortex_model::ChoiceError;
use serde::{Deserialize, Serialize};

use crate::chain::{self, KeyConfig};
use crate::seconds;
use crate::secret_place::SecretPlace;

/// Most numbers of a vector.
const MOST_DIMENSIONS: usize = 4_096;

/// Where the model is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmbeddingConfig {
    /// Empty: there is none in a folder.
    pub(crate) folder: String,
    /// Empty: there is none behind an endpoint.
    pub(crate) endpoint: String,
    pub(crate) model: String,
    pub(crate) dimension: usize,
    pub(crate) timeout_s: f64,
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self { folder: String::new(), endpoint: String::new(), model: String::new(), dimension: 0, timeout_s: 30.0 }
    }
}

/// The model that turns texts into vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingSettings {
    /// In a folder of this machine.
    Folder(PathBuf),
    /// Behind an OpenAI-compatible endpoint, which is sent the texts.
    Endpoint {
        /// Its base, without a slash at the end.
        base_url: String,
        /// The model's name there.
        model: String,
        /// Numbers of its vectors, from 1 to 4,096.
        dimension: usize,
        /// Where the key of the endpoint is.
        key: Option<SecretPlace>,
        /// For one request.
        timeout: Duration,
    },
}

/// The model. None: texts are found by their words alone.
pub(super) fn settings(
    embedding: &EmbeddingConfig,
    keys: &BTreeMap<String, KeyConfig>,
) -> anyhow::Result<Option<EmbeddingSettings>> {
    match (embedding.folder.trim(), embedding.endpoint.trim()) {
        ("", "") => Ok(None),
        (folder, "") => {
            let path = PathBuf::from(folder);
            anyhow::ensure!(path.is_absolute(), "configuration: embedding.folder is '{folder}'; give a full path");
            Ok(Some(EmbeddingSettings::Folder(path)))
        }
        ("", url) => endpoint(url, embedding, keys).map(Some),
        _ => anyhow::bail!(
            "configuration: embedding.folder and embedding.endpoint are both given; vectors of two models can't be compared, so \
             leave one empty"
        ),
    }
}

fn endpoint(
    url: &str,
    embedding: &EmbeddingConfig,
    keys: &BTreeMap<String, KeyConfig>,
) -> anyhow::Result<EmbeddingSettings> {
    let base_url = chain::endpoint(url).map_err(|error| {
        // Its own words have the example of a model.
        let problem = match error {
            ChoiceError::BadUrl { url, problem } => format!("'{url}' can't be used: {problem}"),
            error => error.to_string(),
        };
        anyhow::anyhow!(
            "configuration: embedding.endpoint: {problem}; write its base, such as http://localhost:11434/v1"
        )
    })?;
    anyhow::ensure!(
        !base_url.ends_with("/embeddings"),
        "configuration: embedding.endpoint is '{base_url}'; /embeddings is added by itself, so leave it out"
    );
    let EmbeddingConfig { model, dimension, timeout_s, .. } = embedding;
    let model = model.trim();
    anyhow::ensure!(
        !model.is_empty() && !model.contains(char::is_control),
        "configuration: embedding.endpoint needs embedding.model, the model's name there"
    );
    anyhow::ensure!(
        (1..=MOST_DIMENSIONS).contains(dimension),
        "configuration: embedding.dimension is {dimension}; write how many numbers a vector of '{model}' has, from 1 to \
         {MOST_DIMENSIONS}"
    );
    let timeout = seconds("embedding.timeout_s", *timeout_s)?;
    let key = chain::keys(keys)?.remove(&base_url);
    Ok(EmbeddingSettings::Endpoint { base_url, model: model.to_owned(), dimension: *dimension, key, timeout })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(embedding: EmbeddingConfig) -> anyhow::Result<Option<EmbeddingSettings>> {
        let key = KeyConfig { key_file: None, key_env: Some("BOX_KEY".to_owned()) };
        settings(&embedding, &[("http://BOX:8000/v1/".to_owned(), key)].into())
    }

    fn behind(endpoint: &str) -> EmbeddingConfig {
        let (endpoint, model) = (endpoint.to_owned(), "nomic-embed-text".to_owned());
        EmbeddingConfig { endpoint, model, dimension: 768, ..EmbeddingConfig::default() }
    }

    #[test]
    fn a_folder_is_a_full_path_or_none() {
        let found = |text: &str| set(EmbeddingConfig { folder: text.to_owned(), ..EmbeddingConfig::default() });
        assert_eq!(found(" ").unwrap(), None);
        assert_eq!(found("/opt/minilm").unwrap(), Some(EmbeddingSettings::Folder(PathBuf::from("/opt/minilm"))));
        assert!(found("minilm").unwrap_err().to_string().contains("give a full path"));
    }

    #[test]
    fn a_model_behind_an_endpoint_has_the_key_of_that_endpoint_and_of_no_other() {
        let key = |endpoint: &str| match set(behind(endpoint)).unwrap() {
            Some(EmbeddingSettings::Endpoint { base_url, key, dimension: 768, .. }) => (base_url, key),
            other => panic!("{other:?}"),
        };
        let of_box = Some(SecretPlace::Variable("BOX_KEY".to_owned()));
        assert_eq!(key("http://box:8000/v1"), ("http://box:8000/v1".to_owned(), of_box));
        assert_eq!(key("https://other/v1/"), ("https://other/v1".to_owned(), None));
    }

    #[test]
    fn what_could_not_work_is_refused_with_what_would() {
        let folder = "/opt/minilm".to_owned();
        for (embedding, says) in [
            (EmbeddingConfig { folder, ..behind("http://box/v1") }, "leave one empty"),
            (behind("box:8000"), "embedding.endpoint: 'box:8000' can't be used"),
            (behind("http://box/v1/embeddings"), "/embeddings is added by itself"),
            (EmbeddingConfig { model: " ".to_owned(), ..behind("http://box/v1") }, "needs embedding.model"),
            (EmbeddingConfig { dimension: 0, ..behind("http://box/v1") }, "embedding.dimension is 0; write how many"),
            (EmbeddingConfig { dimension: 5_000, ..behind("http://box/v1") }, "from 1 to 4096"),
            (EmbeddingConfig { timeout_s: 0.0, ..behind("http://box/v1") }, "embedding.timeout_s"),
        ] {
            let error = set(embedding).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let error = set(behind("http://me:hunter2@box/v1")).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
