//! Where the file of a model is, and the program that computes it.

use std::path::{Path, PathBuf};

use cortex_local_model::protocol::PROGRAM;

use crate::local_settings::LocalSettings;
use crate::settings::BuildError;

/// Where an installation has programs that people do not start, seen from the folder of those that they do.
const IN_PREFIX: &str = "../lib/cortex";

/// The file of a choice, which may name one of its own. Only whether it is there is looked at; the process looks at the rest.
pub(super) fn file(settings: &LocalSettings, own: Option<&Path>) -> Result<PathBuf, BuildError> {
    let Some(file) = own.or(settings.file.as_deref()) else { return Err(BuildError::NoLocalFile) };
    if file.is_file() { Ok(file.to_owned()) } else { Err(BuildError::LocalFileMissing { file: file.to_owned() }) }
}

/// The program, which is there.
pub(super) fn program(settings: &LocalSettings) -> Result<PathBuf, BuildError> {
    let places: Vec<PathBuf> = match &settings.program {
        Some(program) => vec![program.clone()],
        None => {
            let own = std::env::current_exe().unwrap_or_default();
            let folder = own.parent().unwrap_or(Path::new("."));
            vec![folder.join(PROGRAM), folder.join(IN_PREFIX).join(PROGRAM)]
        }
    };
    match places.iter().find(|place| place.is_file()) {
        Some(program) => Ok(program.clone()),
        None => Err(BuildError::LocalProgramMissing { places }),
    }
}
