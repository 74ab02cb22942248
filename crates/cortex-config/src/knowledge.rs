//! `[knowledge]`: the documents that the robot knows. The names of the keys are those of `seeds/0`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file_name;

/// The folder of the documents, in the folder of the tapes.
const FOLDER: &str = "knowledge";
/// Most passages for one task: more would crowd out the task.
const MOST_RESULTS: usize = 20;

/// The documents that the robot knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnowledgeConfig {
    pub(crate) enable_rag: bool,
    /// Empty: the robot's name.
    pub(crate) collection_name: String,
    pub(crate) n_results: usize,
    pub(crate) add_metadata: bool,
}

impl Default for KnowledgeConfig {
    fn default() -> Self {
        Self { enable_rag: true, collection_name: String::new(), n_results: 5, add_metadata: false }
    }
}

/// Where the documents are, and how they are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeSettings {
    /// The file of the store.
    pub file: PathBuf,
    /// Most passages for one task.
    pub results: usize,
    /// Whether passages are shown with the metadata of their documents.
    pub with_metadata: bool,
    /// Whether planning uses them.
    pub is_enabled: bool,
}

pub(super) fn settings(knowledge: &KnowledgeConfig, robot: &str, tapes: &Path) -> anyhow::Result<KnowledgeSettings> {
    let results = knowledge.n_results;
    anyhow::ensure!(
        (1..=MOST_RESULTS).contains(&results),
        "configuration: knowledge.n_results is {results}; it must be from 1 to {MOST_RESULTS}"
    );
    let name = match knowledge.collection_name.trim() {
        "" => robot,
        name => name,
    };
    Ok(KnowledgeSettings {
        file: tapes.join(FOLDER).join(format!("{}.sqlite", file_name(name))),
        results,
        with_metadata: knowledge.add_metadata,
        is_enabled: knowledge.enable_rag,
    })
}
