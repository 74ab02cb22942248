//! `cortex-sim`: the simulated home robot.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use cortex_component::ros_arguments;
use cortex_sim::child::{self, StartedBy};
use cortex_sim::components::Part;
use cortex_sim::launch::{self, LaunchOptions};
use cortex_sim::world::{Destinations, World};

/// A simulated home robot made of real ROS 2 processes.
///
/// Without a command it starts every part of the robot, prints a line that starts with "ready", and runs until Ctrl-C.
/// ROS arguments (--ros-args ...) come last and reach every part.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The home, as a TOML file. Default: a small home that is built in.
    #[arg(long, global = true, value_name = "FILE")]
    world: Option<PathBuf>,
    /// The base can be sent to points of the map, too.
    #[arg(long, global = true)]
    points: bool,
    /// Starts this part, too; may be given several times.
    #[arg(long, value_name = "PART")]
    with: Vec<Part>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Runs one part of the robot in this process.
    Component {
        /// Which part.
        part: Part,
        /// Ends when the standard input does; this is how the parent holds its parts.
        #[arg(long, hide = true)]
        supervised: bool,
    },
    /// Lists the parts of the robot and what they can do.
    Components,
}

fn main() -> ExitCode {
    cortex_component::announce_often();
    let ros_arguments::SplitArguments { own, ros } = ros_arguments::split(std::env::args());
    let arguments = Arguments::parse_from(own);
    if let Some(Command::Component { part, .. }) = &arguments.command {
        cortex_component::log(part.name());
    }
    let code = match run(arguments, ros) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("error: {problem:#}");
            ExitCode::FAILURE
        }
    };
    cortex_component::flush_log();
    cortex_component::exit_process(code)
}

fn run(arguments: Arguments, ros_arguments: Vec<String>) -> anyhow::Result<ExitCode> {
    // Read here also when only the parts use it: a mistake in the file is told once, before anything is started.
    let mut world = World::load(arguments.world.as_deref())?;
    if arguments.points {
        world.base.destinations = Destinations::Points;
    }
    match arguments.command {
        None => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(launch::run(LaunchOptions {
                world: arguments.world,
                with: arguments.with,
                destinations: world.base.destinations,
                ros_arguments,
            }))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Component { part, supervised }) => {
            let started_by = if supervised { StartedBy::Parent } else { StartedBy::Hand };
            Ok(child::run(part, world, started_by)?)
        }
        Some(Command::Components) => {
            print!("{}", list(world)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn list(world: World) -> anyhow::Result<String> {
    let world = Arc::new(world);
    let mut text = String::new();
    for part in Part::ALL {
        let description: cortex_protocol::ComponentDescription =
            serde_json::from_str(&part.component(Arc::clone(&world)).description()?)?;
        text.push_str(&format!("{}: {}\n", part.name(), description.summary));
        for method in description.methods {
            text.push_str(&format!("  {}.{}: {}\n", part.name(), method.name, method.description));
        }
    }
    Ok(text)
}
