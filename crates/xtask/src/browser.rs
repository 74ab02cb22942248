//! The browser in which the tests of the page run: Debian's Chromium, driven through its WebDriver.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::prerequisites::{Missing, find_any, find_program, require_all};
use crate::progress;

/// The package of the tests that open the page.
const TESTS: &str = "cortex-stories";
/// The names of the browser on different systems.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER: &str = "chromedriver";
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Whether a test run with these arguments opens the page.
pub(crate) fn is_needed(packages: &[&str]) -> bool {
    packages.is_empty() || packages.contains(&TESTS)
}

/// Makes the browser available. Root on a Debian machine, as in CI, gets it installed; everybody else is told how.
pub(crate) fn ensure() -> Result<()> {
    if missing().is_empty() {
        return Ok(());
    }
    if rustix::process::geteuid().is_root()
        && let Some(apt_get) = find_program("apt-get")
    {
        install(&apt_get)?;
    }
    require_all(&missing())
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
    missing
}

fn install(apt_get: &Path) -> Result<()> {
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
        run(&[&["install"], PACKAGES.as_slice()].concat())
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
