//! The Cortex node and its command line: parse, resolve the configuration, wire, run. No logic.

// First: its macros take the place of the standard library's in every module after it.
#[macro_use]
mod printing;

mod agent;
mod arguments;
mod command_runner;
mod commands;
mod config;
mod connection;
mod custom_actions;
mod end_signal;
mod events;
#[cfg(debug_assertions)]
mod faults;
mod launcher;
mod logging;
mod management;
mod metrics;
mod robot;
mod self_watch;
mod status;
mod supervision;
mod watchdog;
mod watched_model;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::arguments::{Arguments, Command};

fn main() -> ExitCode {
    cortex_ros_client::announce_often();
    // ROS reads its own arguments from the process; the rest is ours.
    let split = cortex_ros_client::arguments::split(std::env::args());
    let arguments = Arguments::parse_from(split.own);
    logging::start(matches!(arguments.command, Command::Run(_)), &split.ros);
    let code = work(arguments);
    logging::flush();
    cortex_ros_client::leave(code)
}

fn work(arguments: Arguments) -> ExitCode {
    if let Command::Completion { shell } = arguments.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "cortex", &mut script);
        print!("{}", String::from_utf8_lossy(&script));
        return ExitCode::SUCCESS;
    }
    if let Command::Guard { mark } = &arguments.command {
        return match supervision::guard(mark) {
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
        Command::Run(arguments) => commands::run::run(arguments).await,
        Command::Send(arguments) => commands::send::send(arguments).await,
        Command::Correct(arguments) => commands::correct::correct(&arguments).await,
        Command::Pending(arguments) => commands::questions::pending(&arguments).await,
        Command::Approve(arguments) => commands::questions::approve(&arguments).await,
        Command::Deny(arguments) => commands::questions::deny(&arguments).await,
        Command::Answer(arguments) => commands::questions::answer(&arguments).await,
        Command::Dispute(arguments) => commands::questions::dispute(&arguments).await,
        Command::Stop(server) => commands::stop::stop(&server).await,
        Command::Resume(server) => commands::stop::resume(&server).await,
        Command::Status(arguments) => commands::status::status(&arguments).await,
        Command::Plan(arguments) => commands::plan::plan(arguments).await,
        Command::Call(arguments) => commands::call::call(arguments).await,
        Command::Tools(arguments) => commands::tools::tools(arguments).await,
        Command::Tape(arguments) => commands::tape::tape(arguments).await,
        Command::Wordings(arguments) => commands::wordings::wordings(&arguments),
        Command::Recipe { command } => commands::recipe::recipe(command).await,
        Command::Inspect { name } => commands::inspect::inspect(&name).await,
        Command::Doctor(arguments) => commands::doctor::doctor(arguments).await,
        Command::Guard { .. } | Command::Completion { .. } => Ok(ExitCode::SUCCESS),
    }
}
