//! Programs that use ROS in their own process, on a domain of their own.

use std::process::ExitCode;

use cortex_testkit::{Domain, discovery_range};

/// Tells the second run of a program that it has a ROS domain of its own.
const INNER: &str = "--inner";

/// Runs `work` in a child process of this program, with a ROS domain that nobody else uses: ROS reads its domain from
/// the environment when it is first used.
#[must_use]
pub fn in_own_domain(work: impl AsyncFnOnce() -> anyhow::Result<()>) -> ExitCode {
    if std::env::args().any(|argument| argument == INNER) {
        let worked =
            tokio::runtime::Runtime::new().map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(work()));
        return match worked {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("failed: {problem:#}");
                ExitCode::FAILURE
            }
        };
    }
    let Some(domain) = Domain::claim() else {
        eprintln!("no ROS domain from 1 to 100 is free on this machine");
        return ExitCode::FAILURE;
    };
    let child = std::env::current_exe().and_then(|program| {
        std::process::Command::new(program)
            .arg(INNER)
            .args(std::env::args().skip(1))
            .env("ROS_DOMAIN_ID", domain.id())
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", discovery_range())
            .status()
    });
    match child {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("it could not be started: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// What follows `--{name}` on the command line of such a program.
#[must_use]
pub fn argument<T: std::str::FromStr>(name: &str) -> Option<T> {
    let named = format!("--{name}");
    std::env::args().skip_while(|argument| *argument != named).nth(1)?.parse().ok()
}
