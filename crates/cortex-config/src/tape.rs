//! `[tape]`: where and how missions are recorded.

use std::path::PathBuf;

use cortex_runtime::TapeSettings;
use cortex_runtime::tape::Flush;
use serde::{Deserialize, Serialize};

use super::at_least_one;

/// Bytes of a megabyte.
const MEGABYTE: u64 = 1_000_000;

/// Where and how missions are recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TapeConfig {
    /// Empty: the user's state folder.
    pub(crate) directory: String,
    pub(crate) required: bool,
    pub(crate) flush: Flush,
    pub(crate) max_mission_mb: u32,
    pub(crate) max_folder_mb: u32,
}

impl Default for TapeConfig {
    fn default() -> Self {
        let settings = TapeSettings::at("");
        let megabytes = |bytes: u64| u32::try_from(bytes / MEGABYTE).unwrap_or(u32::MAX);
        Self {
            directory: String::new(),
            required: settings.required,
            flush: settings.flush,
            max_mission_mb: megabytes(settings.max_mission_bytes),
            max_folder_mb: megabytes(settings.max_folder_bytes),
        }
    }
}

pub(super) fn settings(tape: &TapeConfig) -> anyhow::Result<TapeSettings> {
    at_least_one("tape.max_mission_mb", tape.max_mission_mb)?;
    anyhow::ensure!(
        tape.max_folder_mb >= tape.max_mission_mb,
        "configuration: tape.max_folder_mb is {}; it must be at least tape.max_mission_mb, which is {}",
        tape.max_folder_mb,
        tape.max_mission_mb
    );
    Ok(TapeSettings {
        directory: directory(&tape.directory)?,
        required: tape.required,
        flush: tape.flush,
        max_mission_bytes: u64::from(tape.max_mission_mb) * MEGABYTE,
        max_folder_bytes: u64::from(tape.max_folder_mb) * MEGABYTE,
        // Known when Cortex is started.
        dry_run: false,
    })
}

/// The folder: as configured, or `cortex/tape` in the user's state folder (XDG base directories).
fn directory(configured: &str) -> anyhow::Result<PathBuf> {
    if !configured.is_empty() {
        let directory = PathBuf::from(configured);
        // A relative one would be another for each folder that Cortex is started from.
        anyhow::ensure!(
            directory.is_absolute(),
            "configuration: tape.directory is '{configured}'; it must be a full path, beginning with /"
        );
        return Ok(directory);
    }
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")));
    match state {
        Some(state) => Ok(state.join("cortex/tape")),
        None => anyhow::bail!(
            "configuration: there is no HOME to keep the tape in; set tape.directory to the full path of a folder"
        ),
    }
}
