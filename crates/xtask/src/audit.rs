//! What looks at the tree and its dependencies from outside: licences, advisories, duplicate versions and sources with
//! cargo-deny, spelling with typos.
//!
//! Both are built from source at first use, which takes minutes, and the advisories come from the network: so they are
//! run by hand and by the hosted CI, and are no part of `cargo xtask check`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use clap::Args;

use crate::cache::{Cache, Kind};
use crate::cargo;
use crate::keys::KeyBuilder;
use crate::progress;

/// A program from the registry of Rust's crates, in one version.
#[derive(Debug, Clone, Copy)]
struct Tool {
    package: &'static str,
    version: &'static str,
    program: &'static str,
}

const CARGO_DENY: Tool = Tool { package: "cargo-deny", version: "0.20.2", program: "cargo-deny" };
const TYPOS: Tool = Tool { package: "typos-cli", version: "1.42.3", program: "typos" };

/// What is looked at.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Leave out the advisories, whose database comes from the network
    #[arg(long)]
    offline: bool,
}

/// Runs all of it; fails if one of them finds something.
pub(crate) fn run(repository: &Path, arguments: &Arguments) -> Result<ExitCode> {
    let mut deny = Command::new(installed(repository, CARGO_DENY)?);
    deny.current_dir(repository);
    if arguments.offline {
        deny.args(["--offline", "check", "bans", "licenses", "sources"]);
    } else {
        deny.arg("check");
    }
    let mut typos = Command::new(installed(repository, TYPOS)?);
    typos.current_dir(repository);
    let mut is_clean = true;
    for (what, command) in [("dependencies (deny.toml)", &mut deny), ("spelling (_typos.toml)", &mut typos)] {
        progress::say(&format!("Checking {what}"));
        let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
        is_clean &= status.success();
    }
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program of a tool, which is built at first use.
fn installed(repository: &Path, tool: Tool) -> Result<PathBuf> {
    let Tool { package, version, program } = tool;
    let entry = Cache::locate()?.entry(Kind::Tools, &KeyBuilder::default().part(package).part(version).finish());
    entry.ensure(|folder, log| {
        let mut install = cargo::command(repository);
        install.args(["install", "--locked", "--version", version, package, "--root"]).arg(folder);
        log.run(&format!("building {package} {version} (once per machine)"), &mut install)
    })?;
    Ok(entry.directory().join("bin").join(program))
}
