//! axe-core, which looks for what keeps people from using a page. Tests alone use it: nothing of it is in the tree or in a
//! program. npm brings it, from wherever npm is set up to get packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};

use crate::cache::{Cache, Kind};
use crate::keys::KeyBuilder;
use crate::log::Log;

/// Which one, and the SHA-256 of its package. `npm pack axe-core@VERSION` makes the file.
const VERSION: &str = "4.10.3";
const PACKAGE: &str = "0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292";
/// The script within the package.
const SCRIPT: &str = "package/axe.min.js";

/// Tells tests where the script lies.
pub(crate) const VARIABLE: &str = "CORTEX_AXE";
/// The program that brings it.
pub(crate) const NPM: &str = "npm";

/// Whether it is there already, so that nothing has to be brought.
pub(crate) fn is_there() -> bool {
    Cache::locate().is_ok_and(|cache| cache.entry(Kind::Axe, &key()).is_complete())
}

/// Brings the script, once on a machine, and says where it lies.
pub(crate) fn ensure() -> Result<PathBuf> {
    let entry = Cache::locate()?.entry(Kind::Axe, &key());
    entry.ensure(bring)?;
    Ok(entry.directory().join(SCRIPT))
}

fn key() -> String {
    KeyBuilder::default().part("axe-core").part(VERSION).part(PACKAGE).finish()
}

fn bring(folder: &Path, log: &Log) -> Result<()> {
    let mut pack = Command::new(NPM);
    pack.current_dir(folder).args(["pack", "--ignore-scripts", "--no-audit"]).arg(format!("axe-core@{VERSION}"));
    log.run("downloading axe-core for the tests of the page", &mut pack)?;
    let package = folder.join(format!("axe-core-{VERSION}.tgz"));
    let bytes = fs::read(&package).with_context(|| format!("npm has not made {}", package.display()))?;
    check(&bytes)?;
    let mut unpack = Command::new("tar");
    unpack.current_dir(folder).arg("-xzf").arg(&package).arg(SCRIPT);
    log.run("unpacking axe-core", &mut unpack)
}

/// What is not the package that was chosen is not run in a browser.
fn check(package: &[u8]) -> Result<()> {
    let found: String = Sha256::digest(package).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(
        found == PACKAGE,
        "the package axe-core {VERSION} is not the one that was chosen: its SHA-256 is {found} instead of {PACKAGE}. Look \
         where npm gets it from (`npm config get registry`)"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_package_is_refused() {
        let problem = check(b"another one").unwrap_err().to_string();
        assert!(problem.contains("is not the one that was chosen") && problem.contains(PACKAGE), "{problem}");
    }
}
