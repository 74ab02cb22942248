//! Calls Cargo again, from inside Cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::ros::Ros;

/// Keeps all that runs for a test or a demonstration on this machine, by the middleware's own means and by Fast DDS's.
const DISCOVERY_RANGE: &str = "ROS_AUTOMATIC_DISCOVERY_RANGE";
const FAST_DDS_PROFILE: (&str, &str) = ("FASTRTPS_DEFAULT_PROFILES_FILE", "config/fastdds_loopback.xml");

/// What Cargo makes of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Debug,
    Release,
}

impl Profile {
    /// The folder below the target folder.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    /// What Cargo is told.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &[],
            Self::Release => &["--release"],
        }
    }
}

/// A Cargo command for this tree, without what the outer Cargo set for xtask alone.
pub(crate) fn command(repository: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository);
    // Build scripts and tests that look at these would see xtask's values, and be built anew at each turn.
    for (name, _) in std::env::vars_os() {
        let for_xtask_only = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_")
                || ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_BIN_NAME", "CARGO_CRATE_NAME"].contains(&name)
                || name == "CARGO_PRIMARY_PACKAGE"
        });
        if for_xtask_only {
            command.env_remove(name);
        }
    }
    command
}

/// A Cargo command in the environment of ROS 2.
pub(crate) fn command_with_ros(repository: &Path, ros: &Ros) -> Command {
    let mut command = command(repository);
    ros.environment().apply(&mut command);
    command
}

/// Keeps a command's ROS traffic on this machine. The profile of Fast DDS, which is the default of Jazzy, says why it does
/// not do so by the range.
pub(crate) fn keep_local<'c>(command: &'c mut Command, repository: &Path, ros: &Ros) -> &'c mut Command {
    if ros.environment().get("RMW_IMPLEMENTATION").is_some_and(|name| !name.contains("fastrtps")) {
        return command.env(DISCOVERY_RANGE, "LOCALHOST");
    }
    let (variable, file) = FAST_DDS_PROFILE;
    command.env(DISCOVERY_RANGE, "SYSTEM_DEFAULT").env(variable, repository.join(file))
}

/// Runs a command with this terminal; fails if it does.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("{what} failed ({status})");
    }
    Ok(())
}

/// Runs a command with this terminal, and hands on how it ended.
pub(crate) fn run_for_exit_code(command: &mut Command) -> Result<ExitCode> {
    status(command).map(exit_code)
}

/// The exit code that tells how a command ended.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    // A command that a signal ended has no code: like shells do, any failure will say so.
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("cannot start {}", command.get_program().display()))
}

/// What Cargo knows about the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Metadata(Value);

impl Metadata {
    /// Reads it without resolving dependencies, so that it takes no network and no time.
    pub(crate) fn read(repository: &Path) -> Result<Self> {
        let output = command(repository)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            bail!("cargo metadata failed: fix the manifest it names");
        }
        Self::parse(&output.stdout)
    }

    pub(crate) fn parse(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).map(Self).context("cargo metadata is not JSON")
    }

    /// Where Cargo builds.
    pub(crate) fn target_directory(&self) -> Result<PathBuf> {
        self.0
            .get("target_directory")
            .and_then(Value::as_str)
            .map(PathBuf::from)
            .context("cargo metadata names no target directory")
    }

    /// The members of the workspace, by name.
    pub(crate) fn packages(&self) -> Vec<Package> {
        let mut packages: Vec<Package> =
            self.0.get("packages").and_then(Value::as_array).into_iter().flatten().filter_map(Package::parse).collect();
        packages.sort_by(|one, other| one.name.cmp(&other.name));
        packages
    }
}

/// A member of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    /// What it is built with, without what only its tests need.
    pub(crate) dependencies: Vec<String>,
    /// What can be left out of it.
    pub(crate) features: Vec<String>,
}

impl Package {
    fn parse(package: &Value) -> Option<Self> {
        let needed_to_build =
            |dependency: &&Value| dependency.get("kind").and_then(Value::as_str).is_none_or(|kind| kind != "dev");
        let mut dependencies: Vec<String> = package
            .get("dependencies")
            .and_then(Value::as_array)?
            .iter()
            .filter(needed_to_build)
            .filter_map(|dependency| dependency.get("name").and_then(Value::as_str).map(str::to_owned))
            .collect();
        dependencies.sort();
        dependencies.dedup();
        let features = package.get("features").and_then(Value::as_object).into_iter().flatten();
        Some(Self {
            name: package.get("name").and_then(Value::as_str)?.to_owned(),
            manifest: package.get("manifest_path").and_then(Value::as_str)?.into(),
            dependencies,
            features: features.map(|(name, _)| name.clone()).filter(|name| name != "default").collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_come_by_name_without_dev_dependencies() {
        let metadata = Metadata::parse(
            br#"{"target_directory": "/t", "packages": [
                {"name": "b", "manifest_path": "/w/b/Cargo.toml", "dependencies": [
                    {"name": "a", "kind": null}, {"name": "testkit", "kind": "dev"}, {"name": "cc", "kind": "build"}]},
                {"name": "a", "manifest_path": "/w/a/Cargo.toml", "dependencies": [],
                    "features": {"default": ["x"], "x": []}}]}"#,
        )
        .unwrap();
        let package = |name: &str, dependencies: &[&str], features: &[&str]| Package {
            name: name.to_owned(),
            manifest: PathBuf::from(format!("/w/{name}/Cargo.toml")),
            dependencies: dependencies.iter().map(ToString::to_string).collect(),
            features: features.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(metadata.packages(), [package("a", &[], &["x"]), package("b", &["a", "cc"], &[])]);
        assert_eq!(metadata.target_directory().unwrap(), PathBuf::from("/t"));
    }

    #[test]
    fn nonsense_is_an_error() {
        assert!(Metadata::parse(b"error: no manifest").is_err());
        assert!(Metadata::parse(b"{}").unwrap().target_directory().is_err());
    }
}
