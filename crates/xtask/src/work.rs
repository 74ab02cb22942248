//! Build, run, test and bench: Cargo in the environment of ROS 2.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::accessibility;
use crate::bounded;
use crate::browser;
use crate::cargo::{self, Metadata, Profile};
use crate::embedding_model;
use crate::progress;
use crate::ros::{self, Purpose, Ros};
use crate::supervised;

/// Tells tests and benchmarks where the binaries lie that they start.
const BINARIES: &str = "CORTEX_BIN_DIR";

/// What Cargo builds for `cortex` and the program that it becomes where ROS is needed.
pub(crate) const CORTEX: [&str; 4] = ["--package", "cortex", "--package", "cortex-on-ros"];

/// How many tests of one program run at once, as the test harness reads it.
const TEST_THREADS: &str = "RUST_TEST_THREADS";
/// Tests that are run at once for each core.
const ROBOTS_PER_CORE: usize = 2;

/// Keeps colcon and rosdep out of the folder that it lies in.
const COLCON_IGNORE: &str = "COLCON_IGNORE";

/// Makes everything available that a command needs, and says which ROS 2 is used.
pub(crate) fn prepare(repository: &Path, purpose: Purpose) -> Result<Ros> {
    let ros = prepare_silently(repository, purpose)?;
    progress::say(&format!("Using {}", ros.description()));
    Ok(ros)
}

/// The same where stdout and stderr are read by something else than a person.
pub(crate) fn prepare_silently(repository: &Path, purpose: Purpose) -> Result<Ros> {
    let ros = ros::set_up(repository, purpose)?;
    let target = Metadata::read(repository)?.target_directory()?;
    hide_from_colcon(&target)?;
    Ok(ros)
}

/// Tests install interface packages below the target folder. In a clone inside a workspace, colcon would take them for
/// packages of the workspace, and fail.
fn hide_from_colcon(target: &Path) -> Result<()> {
    let marker = target.join(COLCON_IGNORE);
    if marker.exists() {
        return Ok(());
    }
    fs::create_dir_all(target).with_context(|| format!("cannot create {}", target.display()))?;
    fs::write(&marker, "").with_context(|| format!("cannot write {}", marker.display()))
}

/// Builds every member.
pub(crate) fn build(repository: &Path, profile: Profile, arguments: &[String]) -> Result<ExitCode> {
    let ros = prepare(repository, Purpose::Build)?;
    let mut build = cargo::command_with_ros(repository, &ros);
    build.args(["build", "--workspace"]).args(profile.arguments()).args(arguments);
    cargo::run_for_exit_code(&mut build)
}

/// Builds the documentation of every member, without that of dependencies. A warning is an error.
pub(crate) fn doc(repository: &Path, arguments: &[String]) -> Result<ExitCode> {
    let ros = prepare(repository, Purpose::Build)?;
    let mut doc = cargo::command_with_ros(repository, &ros);
    doc.args(["doc", "--workspace", "--no-deps"]).args(arguments).env("RUSTDOCFLAGS", "--deny warnings");
    cargo::run_for_exit_code(&mut doc)
}

/// Builds and becomes `cortex`, so that signals and the terminal are its own.
pub(crate) fn run(repository: &Path, profile: Profile, arguments: &[String]) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    let ros = prepare(repository, Purpose::Build)?;
    let mut build = cargo::command_with_ros(repository, &ros);
    build.arg("build").args(CORTEX).arg("--bins").args(profile.arguments());
    cargo::run("building cortex", &mut build)?;
    let program = Metadata::read(repository)?.target_directory()?.join(profile.folder()).join("cortex");
    let error = ros.environment().apply(&mut Command::new(&program)).args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

/// Builds and becomes the player of the recording that comes along. It links no ROS 2.
pub(crate) fn show_recorded(repository: &Path) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    progress::say("Building the player of recorded missions");
    let mut build = cargo::command(repository);
    cargo::run("building the player", build.args(["build", "--package", "cortex-player", "--bins"]))?;
    let program = Metadata::read(repository)?.target_directory()?.join(Profile::Debug.folder()).join("cortex-player");
    let error = Command::new(&program).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

/// Runs all tests of all members, or the ones that the arguments name.
pub(crate) fn test(repository: &Path, arguments: &[String]) -> Result<ExitCode> {
    let packages = packages(arguments);
    let mut axe = None;
    if browser::is_needed(&packages) {
        axe = Some(browser::ensure()?);
        browser::test_modules(repository)?;
    }
    let model = embedding_model::is_needed(&packages).then(embedding_model::ensure).transpose()?;
    let ros = prepare(repository, Purpose::Test)?;
    let binaries = Metadata::read(repository)?.target_directory()?.join(Profile::Debug.folder());
    // Tests start the binaries as a person would; Cargo builds a binary for the tests of its own package only.
    let mut build = cargo::command_with_ros(repository, &ros);
    build.args(["build", "--workspace", "--bins"]);
    if is_everything(arguments) {
        // Tests need some crates with more features (tokio with a clock that can be paused, for instance). Built without
        // them at first, those crates and all that stand on them, Cortex and the bindings to ROS, would be built twice.
        build.args(["--tests", "--examples"]);
    }
    cargo::run("building the binaries that tests start", &mut build)?;
    let mut test = cargo::command_with_ros(repository, &ros);
    // Without target arguments Cargo runs unit, integration and documentation tests and builds the examples.
    test.args(["test", "--no-fail-fast", "--config", &bounded::as_runner()]);
    if packages.is_empty() {
        test.arg("--workspace");
    }
    test.args(arguments).env(BINARIES, binaries);
    if let Some(axe) = axe {
        test.env(accessibility::VARIABLE, axe);
    }
    if let Some(model) = model {
        test.env(embedding_model::VARIABLE, model);
    }
    if std::env::var_os(TEST_THREADS).is_none() {
        // Tests on real robots wait for most of their time: a robot for each core leaves three quarters of it idle.
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        test.env(TEST_THREADS, (cores * ROBOTS_PER_CORE).to_string());
    }
    supervised::run(cargo::keep_local(&mut test, repository, &ros)).map(cargo::exit_code)
}

/// Whether the arguments choose neither packages nor targets: all tests are built, and some of them run, maybe.
fn is_everything(arguments: &[String]) -> bool {
    arguments.iter().take_while(|word| *word != "--").all(|word| !word.starts_with('-'))
}

/// Whether the rows that the arguments of the benchmark choose open the page.
fn measures_page(arguments: &[String]) -> bool {
    let chosen = |word: &String| word == "page" || word == "--only=page";
    !arguments.iter().any(|word| word.starts_with("--only")) || arguments.iter().any(chosen)
}

/// The packages that the arguments name.
fn packages(arguments: &[String]) -> Vec<&str> {
    let mut words = arguments.iter().map(String::as_str).take_while(|word| *word != "--");
    let mut packages = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-p" | "--package" => packages.extend(words.next()),
            _ => packages.extend(word.strip_prefix("--package=").or_else(|| word.strip_prefix("-p"))),
        }
    }
    packages
}

/// Builds for speed and runs the benchmark.
pub(crate) fn bench(repository: &Path, arguments: &[String]) -> Result<ExitCode> {
    if measures_page(arguments) {
        browser::ensure()?;
    }
    run_for_stories(repository, "cortex-bench", arguments)
}

/// Builds for speed and runs the soak.
pub(crate) fn soak(repository: &Path, arguments: &[String]) -> Result<ExitCode> {
    run_for_stories(repository, "cortex-soak", arguments)
}

/// Builds for speed and runs the fault campaign.
pub(crate) fn campaign(repository: &Path, arguments: &[String]) -> Result<ExitCode> {
    run_for_stories(repository, "cortex-campaign", arguments)
}

/// Builds for speed and runs a program of the stories.
fn run_for_stories(repository: &Path, program: &str, arguments: &[String]) -> Result<ExitCode> {
    let ros = prepare(repository, Purpose::Test)?;
    let profile = Profile::Release;
    let binaries = Metadata::read(repository)?.target_directory()?.join(profile.folder());
    let mut build = cargo::command_with_ros(repository, &ros);
    build.arg("build").args(profile.arguments()).arg("--bins");
    for package in ["cortex-sim", "cortex-stories"] {
        build.args(["--package", package]);
    }
    build.args(CORTEX);
    cargo::run(&format!("building {program} and what it starts"), &mut build)?;
    let mut command = Command::new(binaries.join(program));
    ros.environment().apply(&mut command).args(arguments).env(BINARIES, binaries);
    supervised::run(cargo::keep_local(&mut command, repository, &ros)).map(cargo::exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colcon_looks_for_no_packages_in_the_target_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("not/yet/there");
        hide_from_colcon(&target).unwrap();
        hide_from_colcon(&target).unwrap();
        assert!(target.join("COLCON_IGNORE").is_file());
    }

    #[test]
    fn regression_a_benchmark_of_the_page_began_without_a_browser() {
        let words = |words: &str| words.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
        assert!(measures_page(&[]) && measures_page(&words("--only idle --only page")));
        assert!(measures_page(&words("--only=page")) && !measures_page(&words("--only idle")));
    }

    #[test]
    fn everything_is_tested_unless_packages_or_targets_are_chosen() {
        let words = |words: &str| words.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
        assert!(is_everything(&[]) && is_everything(&words("stop -- --nocapture")));
        assert!(!is_everything(&words("-p cortex-core")) && !is_everything(&words("--test missions stop")));
    }

    #[test]
    fn packages_are_named_before_the_test_arguments_only() {
        let named = |words: &str| {
            let words: Vec<String> = words.split(' ').map(ToOwned::to_owned).collect();
            packages(&words).join(" ")
        };
        assert_eq!(named("-p cortex-core --test stop --package cortex-ros"), "cortex-core cortex-ros");
        assert_eq!(named("--package=cortex-core -pcortex-ros"), "cortex-core cortex-ros");
        assert_eq!(named("stop -- -p"), "");
    }
}
