//! The part of `cortex` that links ROS: the node, and every command that needs it. `cortex` becomes this program where ROS can
//! be loaded: parse, resolve the configuration, wire, run. No logic.

mod context;
mod end_signal;
#[cfg(debug_assertions)]
mod faults;
mod launcher;
mod memory;
mod page;
mod run;

use std::process::ExitCode;

use clap::Parser as _;
use cortex_command_line::{Arguments, Command, eprintln, guard, ros_program};
use cortex_node::logging;

fn main() -> ExitCode {
    if let Err(problem) = ros_program::check_version() {
        eprintln!("cortex: {problem}");
        return problem.exit_code();
    }
    cortex_ros_client::announce_often();
    // ROS reads its own arguments from the process; the rest is ours.
    let split = cortex_ros_client::arguments::split(std::env::args());
    let arguments = Arguments::parse_from(split.own);
    logging::start(matches!(arguments.command, Command::Run(_)), &split.ros);
    let code = work(arguments);
    logging::flush();
    cortex_ros_client::exit_process(code)
}

fn work(arguments: Arguments) -> ExitCode {
    if let Command::Guard { mark } = &arguments.command {
        return match guard(mark) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cortex: {error:#}");
                ExitCode::from(2)
            }
        };
    }
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(dispatch(arguments.command)));
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cortex: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Exit status: 0 success, 1 the task or a check failed, 2 it could not be tried, 130 cancelled.
async fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(arguments) => Box::pin(run::run(arguments)).await,
        Command::Send(arguments) => cortex_commands::send(arguments).await,
        Command::Revise(arguments) => cortex_commands::revise(&arguments).await,
        Command::Pending(arguments) => cortex_commands::pending(&arguments).await,
        Command::Approve(arguments) => cortex_commands::approve(&arguments).await,
        Command::Deny(arguments) => cortex_commands::deny(&arguments).await,
        Command::Answer(arguments) => cortex_commands::answer(&arguments).await,
        Command::Dispute(arguments) => cortex_commands::dispute(&arguments).await,
        Command::Stop(server) => cortex_commands::stop(&server).await,
        Command::Resume(server) => cortex_commands::resume(&server).await,
        Command::Status(arguments) => cortex_commands::status(&arguments).await,
        Command::Models(arguments) => cortex_commands::models(arguments).await,
        Command::Plan(arguments) => cortex_commands::plan(arguments).await,
        Command::Call(arguments) => cortex_commands::call(arguments).await,
        Command::Tools(arguments) => cortex_commands::tools(arguments).await,
        Command::Recipe { command } => cortex_commands::recipe(command).await,
        Command::Inspect { name, json } => cortex_commands::inspect(&name, json).await,
        Command::Doctor(arguments) => cortex_commands::doctor(arguments).await,
        Command::Guard { .. } => Ok(ExitCode::SUCCESS),
        Command::Tape(_)
        | Command::Eval(_)
        | Command::ReadPdf { .. }
        | Command::Wordings(_)
        | Command::Knowledge(_)
        | Command::Memory(_)
        | Command::Skill(_)
        | Command::Watch(_)
        | Command::Incident(_)
        | Command::Completion { .. } => {
            anyhow::bail!("`cortex` does this, without ROS; start that program")
        }
    }
}
