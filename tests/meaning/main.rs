//! What is found by its meaning, with a real model: all-MiniLM-L6-v2, which `cargo xtask test` brings and names in
//! `CORTEX_EMBEDDING_MODEL`. The questions and the tasks that are measured on were written without knowing the rules.

#![expect(clippy::expect_used, clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

mod documents;
mod memory;
mod model;
mod robot;
mod skills;

use std::path::{Path, PathBuf};

use cortex_embedding::LocalEmbedder;

/// Where the model is.
fn folder() -> PathBuf {
    std::env::var_os("CORTEX_EMBEDDING_MODEL")
        .expect("run these tests with `cargo xtask test`, which brings the model")
        .into()
}

/// The model, which is read anew for each test: a moment.
fn embedder() -> LocalEmbedder {
    LocalEmbedder::open(&folder()).expect("the model")
}

/// A file or folder of the sets.
fn set(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("meaning").join(name)
}

/// The lines of a table, cut at tabs.
fn table(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(set(name)).expect("the table");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}
