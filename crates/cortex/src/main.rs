//! `cortex`: reads the command line, does what needs no ROS, and goes on as `cortex-on-ros` for the rest. Links no ROS.

use std::process::ExitCode;

use clap::Parser as _;
use cortex_command_line::{Arguments, Outcome, eprintln, without_ros};
use tracing_subscriber::EnvFilter;

/// Exit status of what could not be tried.
const NOT_TRIED: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(cortex_ros_syntax::arguments::split(std::env::args()).own);
    // What went wrong, and more where a person asks for it.
    let filter = EnvFilter::builder().with_default_directive(tracing_subscriber::filter::LevelFilter::ERROR.into());
    tracing_subscriber::fmt().with_env_filter(filter.from_env_lossy()).with_writer(std::io::stderr).init();
    match without_ros(arguments.command) {
        Ok(Outcome::Ended(code)) => code,
        Ok(Outcome::ForRos(program)) => {
            let problem = program.become_it();
            eprintln!("cortex: {} can't be started: {problem}", program.path().display());
            ExitCode::from(NOT_TRIED)
        }
        Err(problem) => {
            eprintln!("cortex: {problem:#}");
            ExitCode::from(NOT_TRIED)
        }
    }
}
