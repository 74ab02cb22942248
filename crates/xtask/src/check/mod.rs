//! The checks that every change has to pass. All of them run, so that one look shows all that is to fix.

mod arrows;
mod binary_length;
mod circles;
mod crate_table;
mod file_length;
mod manifests;
mod public_r2r;
mod retired_words;
mod string_errors;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::cargo::{self, Metadata};
use crate::progress;
use crate::ros::Purpose;
use crate::work;

/// Something that is not as it should be, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    what: String,
    fix: String,
}

impl Finding {
    fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// Runs all checks; fails if one of them finds something.
pub(crate) fn run(repository: &Path) -> Result<ExitCode> {
    let mut findings = static_findings(repository)?;
    let mut format = cargo::command(repository);
    findings.extend(tool_finding("formatting", format.args(["fmt", "--all", "--check"]), "run `cargo fmt --all`")?);
    let ros = work::prepare(repository, Purpose::Build)?;
    let mut lints = cargo::command_with_ros(repository, &ros);
    lints.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    findings.extend(tool_finding("lints", &mut lints, "fix what clippy names above")?);
    if findings.is_empty() {
        progress::say("All checks passed");
        return Ok(ExitCode::SUCCESS);
    }
    for finding in &findings {
        eprintln!("\n{}\n  to fix it: {}", finding.what, finding.fix);
    }
    eprintln!("\n{} finding(s)", findings.len());
    Ok(ExitCode::FAILURE)
}

/// What reading the tree alone shows.
fn static_findings(repository: &Path) -> Result<Vec<Finding>> {
    progress::say("Checking crates, manifests and files");
    let packages = Metadata::read(repository)?.packages();
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = arrows::check(&packages, &read(&repository.join(arrows::TABLE))?)?;
    findings.extend(crate_table::check(&names, repository)?);
    for package in &packages {
        findings.extend(manifests::inherits_lints(&package.manifest, &read(&package.manifest)?)?);
    }
    findings.extend(manifests::dependencies_say_why(&read(&repository.join("Cargo.toml"))?));
    let mut roots: Vec<PathBuf> =
        packages.iter().filter_map(|package| package.manifest.parent().map(Path::to_owned)).collect();
    roots.sort();
    findings.extend(file_length::check(repository, &roots)?);
    findings.extend(retired_words::check(repository)?);
    findings.extend(string_errors::check(repository, &packages)?);
    findings.extend(circles::check(repository, &packages)?);
    findings.extend(binary_length::check(&repository.join(binary_length::SOURCES))?);
    findings.extend(public_r2r::check(repository)?);
    Ok(findings)
}

/// Runs an outside tool that prints its own findings.
fn tool_finding(what: &str, command: &mut Command, fix: &str) -> Result<Option<Finding>> {
    progress::say(&format!("Checking {what}"));
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    Ok((!status.success()).then(|| Finding::new(format!("{what}: not as it should be (see above)"), fix)))
}

/// The files below a folder with one of these endings, in a stable order; build folders and hidden ones are left out.
fn files_below(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let cannot_read = |path: &Path| format!("cannot read {}", path.display());
        for entry in fs::read_dir(&folder).with_context(|| cannot_read(&folder))? {
            let entry = entry.with_context(|| cannot_read(&folder))?;
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type().with_context(|| cannot_read(&path))?;
            let ends = || path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending));
            if kind.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                folders.push(path);
            } else if kind.is_file() && ends() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
