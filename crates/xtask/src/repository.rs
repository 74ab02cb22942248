//! Where the tree is.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The top folder of the tree that `cargo xtask` was called in.
pub(crate) fn root() -> Result<PathBuf> {
    // Cargo sets the variable for `cargo run`; what was compiled in may name another clone that shares the build folder.
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package
        .parent()
        .and_then(Path::parent)
        .map(Path::to_owned)
        .with_context(|| format!("{} does not lie in the tree", package.display()))
}
