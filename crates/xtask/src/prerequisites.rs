//! What a machine must bring along, and how to get what is missing.
//!
//! Everything missing is reported at once, so that one command fixes it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Room that a private prefix takes while it is being installed (wheels, unpacked files, interfaces).
const NEEDED_DISK_BYTES: u64 = 1_000_000_000;

/// Something that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    /// What it is, in words.
    pub(crate) what: String,
    /// The packages of Debian and Ubuntu that bring it.
    pub(crate) packages: Vec<String>,
    /// What to do on other systems.
    pub(crate) elsewhere: String,
}

impl Missing {
    pub(crate) fn new(what: impl Into<String>, packages: &[&str], elsewhere: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            packages: packages.iter().map(ToString::to_string).collect(),
            elsewhere: elsewhere.into(),
        }
    }
}

/// Fails if anything is missing, with one command that installs all of it.
pub(crate) fn require_all(missing: &[Missing]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    bail!("{}", describe(missing))
}

fn describe(missing: &[Missing]) -> String {
    let mut text = String::from("this machine lacks:\n");
    for one in missing {
        text.push_str(&format!("  - {} ({})\n", one.what, one.elsewhere));
    }
    let mut packages: Vec<&str> = missing.iter().flat_map(|one| &one.packages).map(String::as_str).collect();
    packages.sort_unstable();
    packages.dedup();
    if !packages.is_empty() {
        text.push_str(&format!("On Debian or Ubuntu:\n    sudo apt-get install {}\n", packages.join(" ")));
    }
    text.push_str("Then run the command again.");
    text
}

/// The compilers that the interface package needs (Rust needs `cc` to link, too).
pub(crate) fn missing_compilers() -> Vec<Missing> {
    let mut missing = Vec::new();
    if find_any(&["cc", "gcc", "clang"]).is_none() {
        missing.push(Missing::new(
            "a C compiler",
            &["build-essential"],
            "install gcc or clang, so that `cc` is on PATH",
        ));
    }
    if find_any(&["c++", "g++", "clang++"]).is_none() {
        missing.push(Missing::new(
            "a C++ compiler",
            &["build-essential"],
            "install g++ or clang++, so that `c++` is on PATH",
        ));
    }
    missing
}

/// Too little room for a private prefix under `folder`, if so.
pub(crate) fn missing_disk_space(folder: &Path) -> Result<Option<Missing>> {
    // The folder itself may not exist yet: the nearest one that does lies on the same disk.
    let existing = folder.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(Path::new("/"));
    let disk = rustix::fs::statvfs(existing)
        .with_context(|| format!("cannot read the free space of {}", existing.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    Ok((free < NEEDED_DISK_BYTES).then(|| {
        Missing::new(
            format!("disk space: {} MB free at {}, 1000 MB needed", free / 1_000_000, existing.display()),
            &[],
            "make room, or set XDG_CACHE_HOME to a folder on another disk",
        )
    }))
}

/// The first of these programs that is on PATH.
pub(crate) fn find_any(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| find_program(name))
}

/// A program on PATH.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_missing_is_named_with_one_command() {
        let missing = [
            Missing::new("a C compiler", &["build-essential"], "install gcc"),
            Missing::new("the headers of Python", &["python3-dev"], "install them"),
            Missing::new("a C++ compiler", &["build-essential"], "install g++"),
        ];
        let text = describe(&missing);
        assert!(text.contains("- a C compiler (install gcc)"), "{text}");
        assert!(text.contains("sudo apt-get install build-essential python3-dev\n"), "{text}");
        assert!(require_all(&[]).is_ok());
        assert!(require_all(&missing).is_err());
    }

    #[test]
    fn what_no_package_brings_gets_no_install_command() {
        let text = describe(&[Missing::new("disk space", &[], "make room")]);
        assert!(!text.contains("apt-get"), "{text}");
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find_program("sh").is_some());
        assert!(find_any(&["no-such-program-here", "sh"]).is_some());
        assert!(find_program("no-such-program-here").is_none());
    }
}
