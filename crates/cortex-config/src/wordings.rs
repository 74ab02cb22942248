//! `[wordings]`: where the embedded command reader keeps what people have said yes to.

use std::path::{Path, PathBuf};

use cortex_model::WordingFile;
use cortex_runtime::tape::WORDINGS_FOLDER;
use serde::{Deserialize, Serialize};

use super::file_name;

/// Turns learning off.
const OFF: &str = "off";

/// Where the embedded command reader keeps what people have said yes to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordingsConfig {
    /// Empty: a file for each robot, beside the tapes.
    pub(crate) file: String,
}

/// The file of a robot; `None` if nothing is to be learnt.
pub(super) fn file(wordings: &WordingsConfig, robot: &str, tapes: &Path) -> anyhow::Result<Option<WordingFile>> {
    let path = match wordings.file.trim() {
        OFF => return Ok(None),
        "" => tapes.join(WORDINGS_FOLDER).join(format!("{}.jsonl", file_name(robot))),
        configured => PathBuf::from(configured),
    };
    // A relative one would be another for each folder that Cortex is started from.
    anyhow::ensure!(
        path.is_absolute(),
        "configuration: wordings.file is '{}'; it must be a full path, beginning with /, or \"{OFF}\"",
        path.display()
    );
    Ok(Some(WordingFile::new(path)))
}
