//! Where a secret is. It is never part of the configuration, which is shown and recorded.

use std::path::PathBuf;

use anyhow::Context as _;

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPlace {
    /// A file that holds nothing else.
    File(PathBuf),
    /// A variable of the environment.
    Variable(String),
}

impl SecretPlace {
    /// The secret, as it stands there.
    ///
    /// # Errors
    /// When it is not there.
    pub fn read(&self) -> anyhow::Result<String> {
        match self {
            Self::File(file) => {
                std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))
            }
            Self::Variable(name) => {
                std::env::var(name).map_err(|_| anyhow::anyhow!("the variable {name} of the environment is not set"))
            }
        }
    }
}

/// The place that the keys `KIND_file` and `KIND_env` of a table name.
pub(crate) fn secret_place(
    whose: &str,
    kind: &str,
    file: Option<&PathBuf>,
    variable: Option<&String>,
) -> anyhow::Result<SecretPlace> {
    match (file, variable) {
        (Some(file), None) => {
            let shown = file.display();
            anyhow::ensure!(
                file.is_absolute(),
                "configuration: {whose}: {kind}_file is '{shown}'; it must be a full path"
            );
            Ok(SecretPlace::File(file.clone()))
        }
        (None, Some(variable)) => Ok(SecretPlace::Variable(variable.clone())),
        _ => anyhow::bail!(
            "configuration: {whose}: give either {kind}_file or {kind}_env, which say where its {kind} is"
        ),
    }
}
