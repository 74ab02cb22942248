//! `cargo xtask`: the developers' commands. Each one brings what it needs along, so that a new machine needs only Rust, a
//! C and C++ compiler and Python.

mod accessibility;
mod audit;
mod bounded;
mod browser;
mod cache;
mod cargo;
mod check;
mod clean;
mod demo;
mod embedding_model;
mod features;
mod guard;
mod keys;
mod leftovers;
mod local_model;
mod log;
mod model_package;
mod prerequisites;
mod progress;
mod repository;
mod ros;
mod supervised;
mod wordnet;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use cargo::Profile;
use ros::Purpose;
use ros::environment::Shell;

/// The developers' commands of Cortex.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Make ROS 2 and the project's interfaces available, and say which ROS 2 is used
    Setup,
    /// Print the ROS 2 environment for a shell: eval "$(cargo xtask env)"
    Env {
        /// The shell's syntax
        #[arg(long, value_enum, default_value = "posix", default_missing_value = "posix", num_args = 0..=1)]
        shell: Shell,
    },
    /// Build every crate, those that need ROS 2 too
    Build {
        /// Build for speed
        #[arg(long)]
        release: bool,
        /// More arguments for `cargo build`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build and run `cortex` with the arguments after `--`
    Run {
        /// Build for speed
        #[arg(long)]
        release: bool,
        /// Arguments of `cortex`
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run all tests of all crates, on real ROS 2
    Test {
        /// More arguments for `cargo test`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Check format, lints, crate boundaries, manifests and file lengths
    Check,
    /// Compile Cortex with each combination of what can be left out of it
    Features,
    /// Build the program of local models with llama.cpp, and test it with a real model; at first for a quarter of an hour
    LocalModel(local_model::Arguments),
    /// Build the documentation of all crates; fails where a link leads nowhere
    Doc {
        /// More arguments for `cargo doc`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Check licences, advisories, duplicate versions and sources of all dependencies, and spelling; builds cargo-deny and
    /// typos at first use
    Audit(audit::Arguments),
    /// Give a simulated robot a task; at a terminal, further ones after it
    Demo {
        /// What the robot shall do; without it, something that shows what the robot can do
        task: Option<String>,
        /// Let Cortex bring the robot up from a recipe: a name in `recipes/`, or a file
        #[arg(long)]
        recipe: Option<String>,
        /// The model that `cortex run` shall use; `local` is a very small one that comes along
        #[arg(long)]
        model: Option<String>,
        /// Show a recorded mission on the page instead: needs no ROS 2 and no robot
        #[arg(long, conflicts_with_all = ["task", "recipe", "model"])]
        recorded: bool,
        /// Start the programs of this folder, in this environment, instead of building them. For tests
        #[arg(long, hide = true, value_name = "FOLDER", conflicts_with = "recorded")]
        binaries: Option<PathBuf>,
    },
    /// Build for speed and run the benchmark
    Bench {
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build for speed and send goals to bad servers for two minutes; see `--seconds` and `--seed`
    Soak {
        /// Arguments of the soak
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build for speed and let everything fail, 500 times, while a robot runs tasks; see `--faults` and `--seed`
    Campaign {
        /// Arguments of the campaign
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Compile WordNet's dict files to the table of words in `crates/cortex-language/data`
    Wordnet {
        /// The folder with WordNet's files `index.*`, `data.*`, `*.exc` and `cntlist.rev`
        folder: PathBuf,
        /// Compare with the table in the tree, and write nothing
        #[arg(long)]
        check: bool,
    },
    /// Remove the private ROS 2 and the built interfaces of all clones on this machine
    Clean,
    /// End what the process that has started this one leaves behind
    #[command(name = guard::COMMAND, hide = true)]
    Guard(guard::Guarded),
    /// Run a program of tests, and end it where it hangs
    #[command(name = bounded::COMMAND, hide = true)]
    Bounded(bounded::Bounded),
}

fn main() -> ExitCode {
    progress::start_clock();
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            progress::print_line(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Task) -> Result<ExitCode> {
    let repository = repository::root()?;
    match command {
        Task::Setup => println!("{}", ros::set_up(&repository, Purpose::Build)?.description()),
        Task::Env { shell } => {
            let ros = work::prepare_silently(&repository, Purpose::Build)?;
            print!("{}", ros.environment().lines(shell));
        }
        Task::Build { release, arguments } => return work::build(&repository, profile(release), &arguments),
        Task::Run { release, arguments } => return work::run(&repository, profile(release), &arguments),
        Task::Test { arguments } => return work::test(&repository, &arguments),
        Task::Check => return check::run(&repository),
        Task::Features => return features::run(&repository),
        Task::LocalModel(arguments) => return local_model::test(&repository, &arguments),
        Task::Doc { arguments } => return work::doc(&repository, &arguments),
        Task::Audit(arguments) => return audit::run(&repository, &arguments),
        Task::Demo { recorded: true, .. } => return work::show_recorded(&repository),
        Task::Demo { task, recipe, model, binaries, recorded: false } => {
            let wanted = demo::Wanted { task: task.as_deref(), recipe: recipe.as_deref(), model: model.as_deref() };
            return demo::run(&repository, &wanted, binaries);
        }
        Task::Bench { arguments } => return work::bench(&repository, &arguments),
        Task::Soak { arguments } => return work::soak(&repository, &arguments),
        Task::Campaign { arguments } => return work::campaign(&repository, &arguments),
        Task::Wordnet { folder, check } => wordnet::run(&repository, &folder, check)?,
        Task::Clean => clean::run()?,
        Task::Guard(guarded) => guard::run(&guarded)?,
        Task::Bounded(bounded) => return bounded::run(&bounded),
    }
    Ok(ExitCode::SUCCESS)
}

fn profile(release: bool) -> Profile {
    if release { Profile::Release } else { Profile::Debug }
}
