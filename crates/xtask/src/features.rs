//! What can be left out of Cortex: each combination of the features of its program is compiled, warnings counting as errors.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cargo::{self, Metadata};
use crate::progress;
use crate::ros::Purpose;
use crate::work;

/// The program whose features people choose from.
const PROGRAM: &str = "cortex-on-ros";

/// Compiles all combinations, and names those that fail.
pub(crate) fn run(repository: &Path) -> Result<ExitCode> {
    let packages = Metadata::read(repository)?.packages();
    let program = packages.into_iter().find(|package| package.name == PROGRAM);
    let features = program.with_context(|| format!("there is no package {PROGRAM}"))?.features;
    let ros = work::prepare(repository, Purpose::Build)?;
    let mut failed = Vec::new();
    for chosen in combinations(&features) {
        let chosen = chosen.join(",");
        progress::say(&format!("Checking the features: {}", named(&chosen)));
        let mut clippy = cargo::command_with_ros(repository, &ros);
        clippy.args(["clippy", "--package", PROGRAM, "--no-default-features", "--features", &chosen]);
        clippy.args(["--", "-D", "warnings"]);
        if !clippy.status().context("cannot start cargo")?.success() {
            failed.push(chosen);
        }
    }
    for chosen in &failed {
        eprintln!("the features {}: not as it should be (see above)", named(chosen));
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn named(chosen: &str) -> &str {
    if chosen.is_empty() { "none" } else { chosen }
}

/// All choices, from none to all.
fn combinations(features: &[String]) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    for feature in features {
        let with = found.iter().map(|chosen: &Vec<String>| chosen.iter().chain([feature]).cloned().collect());
        found = found.iter().cloned().chain(with.collect::<Vec<_>>()).collect();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_comes_once() {
        let features = ["a", "b", "c"].map(str::to_owned);
        let mut found: Vec<String> = combinations(&features).iter().map(|chosen| chosen.concat()).collect();
        found.sort();
        assert_eq!(found, ["", "a", "ab", "abc", "ac", "b", "bc", "c"]);
    }
}
