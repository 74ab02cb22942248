//! What the processes of a demonstration need: programs, an environment, logs, and a ROS domain of their own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::domain::Domain;
use crate::cargo::{self, Metadata, Profile};
use crate::leftovers::Traces;
use crate::progress;
use crate::ros::{Purpose, Ros};
use crate::work;

/// The folder of the logs, beside that of the programs.
const LOGS: &str = "demo";

/// What the processes need.
#[derive(Debug)]
pub(super) struct Stage {
    /// None: this process already has the environment of the ROS that the programs are for.
    ros: Option<Ros>,
    repository: PathBuf,
    binaries: PathBuf,
    logs: PathBuf,
    pub(super) domain: Domain,
}

impl Stage {
    /// Makes ROS 2 available and builds the programs.
    pub(super) fn build(repository: &Path) -> Result<Self> {
        let ros = work::prepare(repository, Purpose::Build)?;
        progress::say("Building cortex and the simulated home");
        let mut build = cargo::command_with_ros(repository, &ros);
        build.args(["build", "--package", "cortex", "--package", "cortex-sim", "--bins"]);
        cargo::run("building cortex and the simulated home", &mut build)?;
        let binaries = Metadata::read(repository)?.target_directory()?.join(Profile::Debug.folder());
        Self::of(repository, Some(ros), binaries)
    }

    /// Takes programs that are there, in the environment of this process.
    pub(super) fn built(repository: &Path, binaries: PathBuf) -> Result<Self> {
        Self::of(repository, None, binaries)
    }

    fn of(repository: &Path, ros: Option<Ros>, binaries: PathBuf) -> Result<Self> {
        let logs = binaries.with_file_name(LOGS);
        std::fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
        Ok(Self { ros, repository: repository.to_owned(), binaries, logs, domain: Domain::claim()? })
    }

    /// One of the programs, in the domain and with the mark of this run.
    pub(super) fn command(&self, program: &str, traces: &Traces) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        if let Some(ros) = &self.ros {
            ros.environment().apply(&mut command);
            cargo::keep_local(&mut command, &self.repository, ros);
        }
        command.current_dir(&self.repository).envs([traces.variable()]);
        command.env("ROS_DOMAIN_ID", self.domain.number().to_string());
        command
    }

    /// Where programs are looked up: those that were built first.
    pub(super) fn path(&self) -> Result<OsString> {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.binaries.clone()).chain(std::env::split_paths(&others));
        std::env::join_paths(folders).context("PATH can't be extended")
    }

    /// The log of a process.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}-{}.log", self.domain.number()))
    }
}
