//! `cargo xtask bench`: what Cortex adds on top of the model and the middleware. Real processes, real ROS 2, a model
//! that answers at once. Prints one table; judges nothing.

mod cancel;
mod missions;
mod table;

use std::process::ExitCode;

use cortex_stories::House;
use cortex_testkit::Domain;
use table::Table;

/// Tells the second run of this program that it has a ROS domain of its own.
const INNER: &str = "--inner";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == INNER) {
        return measure();
    }
    // ROS reads its domain from the environment when it is first used, so the measuring is done by a child.
    let Some(domain) = Domain::claim() else {
        eprintln!("no ROS domain from 1 to 100 is free on this machine");
        return ExitCode::FAILURE;
    };
    let child = std::env::current_exe().and_then(|program| {
        std::process::Command::new(program)
            .arg(INNER)
            .args(std::env::args().skip(1))
            .env("ROS_DOMAIN_ID", domain.id())
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .status()
    });
    match child {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("the benchmark could not be started: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> ExitCode {
    let measured = tokio::runtime::Runtime::new().map_err(anyhow::Error::from).and_then(|runtime| {
        runtime.block_on(async {
            let mut table = Table::default();
            for components in [1, 10, 50] {
                missions::measure(&mut House::shared(), components, &mut table).await?;
            }
            cancel::measure(&mut House::shared(), &mut table).await?;
            anyhow::Ok(table)
        })
    });
    match measured {
        Ok(table) => {
            println!("{table}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("the benchmark failed: {problem:#}");
            ExitCode::FAILURE
        }
    }
}
