//! Runs one program of tests, and ends it where it hangs: the other programs are still tested, and it is told which hung.

use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;

use crate::cargo::exit_code;
use crate::progress::print_line;

/// The name of the command, which Cargo is told to run test programs by.
pub(crate) const COMMAND: &str = "bounded";
/// Several times what the longest program of the tree takes on a loaded machine.
const MOST_TIME: Duration = Duration::from_mins(20);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A program and its arguments.
#[derive(Debug, Args)]
pub(crate) struct Bounded {
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Exited(ExitStatus),
    /// It did not, and was killed.
    Killed,
}

/// The setting of Cargo that lets this process' program run each program of tests. Not by its path: the build that precedes
/// the tests may have put another program there.
pub(crate) fn as_runner() -> String {
    format!("target.'cfg(all())'.runner = ['/proc/{}/exe', '{COMMAND}']", std::process::id())
}

/// Runs it, and hands on how it ended.
pub(crate) fn run(bounded: &Bounded) -> Result<ExitCode> {
    let (program, arguments) = bounded.program.split_first().context("no program is named")?;
    match run_within(Command::new(program).args(arguments), MOST_TIME)? {
        Ending::Exited(status) => Ok(exit_code(status)),
        Ending::Killed => {
            let minutes = MOST_TIME.as_secs() / 60;
            print_line(&format!(
                "error: {} was killed: it had not ended after {minutes} minutes. The tests above that are said to have been \
                 running for over 60 seconds, and have no result, are the ones that hang",
                program.display()
            ));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn run_within(command: &mut Command, most_time: Duration) -> Result<Ending> {
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the tests")? {
            return Ok(Ending::Exited(status));
        }
        if started.elapsed() >= most_time {
            child.kill().context("cannot kill the tests")?;
            child.wait().context("cannot wait for the tests")?;
            return Ok(Ending::Killed);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_one_test_that_hung_kept_all_others_from_being_run() {
        let ending = run_within(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap();
        assert_eq!(ending, Ending::Killed);
    }

    #[test]
    fn who_ends_in_time_is_told_as_it_ended() {
        let ending = run_within(Command::new("sh").args(["-c", "exit 3"]), MOST_TIME).unwrap();
        assert!(matches!(ending, Ending::Exited(status) if status.code() == Some(3)), "{ending:?}");
    }
}
