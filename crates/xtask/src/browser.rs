//! What the tests of the page run in: Debian's Chromium, driven through its WebDriver, Node.js for the page's own modules, and
//! axe-core, which looks at the pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::accessibility;
use crate::cargo;
use crate::prerequisites::{Missing, find_any, find_program, require_all};
use crate::progress;

/// The package of the tests that open the page.
const TESTS: &str = "cortex-stories";
/// The names of the browser on different systems.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER: &str = "chromedriver";
const NODE: &str = "node";
const PACKAGES: [&str; 3] = ["chromium", "chromium-driver", "nodejs"];
/// The tests of the page's modules.
const MODULE_TESTS: &str = "crates/cortex-web/assets-tests";

/// Whether a test run with these arguments opens the page.
pub(crate) fn is_needed(packages: &[&str]) -> bool {
    packages.is_empty() || packages.contains(&TESTS)
}

/// Makes the browser available, and what looks at its pages. Root on a Debian machine, as in CI, gets it installed; everybody
/// else is told how. Returns where the script lies that looks at pages.
pub(crate) fn ensure() -> Result<PathBuf> {
    let lacks = missing();
    if !lacks.is_empty()
        && rustix::process::geteuid().is_root()
        && let Some(apt_get) = find_program("apt-get")
    {
        install(&apt_get, &lacks)?;
    }
    require_all(&missing())?;
    accessibility::ensure()
}

fn missing() -> Vec<Missing> {
    let mut missing = Vec::new();
    if find_any(&BROWSERS).is_none() {
        missing.push(Missing::new("Chromium, for the tests of the page", &PACKAGES, "install Chromium or Chrome"));
    }
    if find_program(DRIVER).is_none() {
        missing.push(Missing::new(
            "chromedriver, for the same",
            &PACKAGES,
            "install the one of your browser's version",
        ));
    }
    if find_program(NODE).is_none() {
        missing.push(Missing::new(
            "Node.js, for the tests of the page's modules",
            &PACKAGES,
            "install Node.js 18 or newer",
        ));
    }
    // It is needed once on a machine.
    if !accessibility::is_there() && find_program(accessibility::NPM).is_none() {
        missing.push(Missing::new(
            "npm, which brings axe-core for the tests of the page",
            &[accessibility::NPM],
            "install npm, for this one download",
        ));
    }
    missing
}

/// Runs the tests of the page's modules.
pub(crate) fn test_modules(repository: &Path) -> Result<()> {
    // Versions of Node.js disagree on what a folder means here.
    let mut files = Vec::new();
    for entry in fs::read_dir(repository.join(MODULE_TESTS)).context("the tests of the page's modules")? {
        files.push(entry.context("the tests of the page's modules")?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "mjs"));
    files.sort();
    let mut node = Command::new(NODE);
    node.current_dir(repository).arg("--test").args(files);
    cargo::run("testing the page's modules", &mut node)
}

fn install(apt_get: &Path, lacks: &[Missing]) -> Result<()> {
    let run = |arguments: &[&str]| -> Result<()> {
        let mut command = Command::new(apt_get);
        command.args(["--quiet", "--yes", "--no-install-recommends"]).args(arguments);
        let output = command.env("DEBIAN_FRONTEND", "noninteractive").output()?;
        if !output.status.success() {
            let problem = String::from_utf8_lossy(&output.stderr);
            bail!("apt-get {} failed: {}", arguments.join(" "), problem.trim());
        }
        Ok(())
    };
    progress::step("installing Chromium for the tests of the page", || {
        run(&["update"])?;
        let mut packages: Vec<&str> = lacks.iter().flat_map(|one| &one.packages).map(String::as_str).collect();
        packages.sort_unstable();
        packages.dedup();
        run(&[&["install"], packages.as_slice()].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_opens_the_page_needs_the_browser() {
        assert!(is_needed(&[]), "everything is tested");
        assert!(is_needed(&["cortex-core", "cortex-stories"]));
        assert!(!is_needed(&["cortex-core"]));
    }
}
