//! `[embedding]`: the model that turns texts into vectors, so that documents and skills are found by what they mean.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the model is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmbeddingConfig {
    /// Empty: there is none.
    pub(crate) folder: String,
}

/// The folder of the model. None: texts are found by their words alone.
pub(super) fn folder(embedding: &EmbeddingConfig) -> anyhow::Result<Option<PathBuf>> {
    let folder = embedding.folder.trim();
    if folder.is_empty() {
        return Ok(None);
    }
    let path = PathBuf::from(folder);
    anyhow::ensure!(path.is_absolute(), "configuration: embedding.folder is '{folder}'; give a full path");
    Ok(Some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_full_path_or_none() {
        let found = |text: &str| folder(&EmbeddingConfig { folder: text.to_owned() });
        assert_eq!(found(" ").unwrap(), None);
        assert_eq!(found("/opt/minilm").unwrap(), Some(PathBuf::from("/opt/minilm")));
        assert!(found("minilm").unwrap_err().to_string().contains("give a full path"));
    }
}
