//! `cortex-player FILE`: the page over a recorded mission. Links no ROS.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use cortex_player::{PlayArguments, play};
use cortex_runtime::tape::Folder;

/// Shows a recorded mission on the page, again and again, without a robot and without ROS.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    play: PlayArguments,
    /// The folder of the tapes: a mission may be named by the beginning of its id.
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let warnings = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(std::io::stderr);
    warnings.init();
    let arguments = Arguments::parse();
    let folder = arguments.directory.map(Folder::new);
    match play(arguments.play, folder.as_ref()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cortex-player: {problem}");
            ExitCode::FAILURE
        }
    }
}
