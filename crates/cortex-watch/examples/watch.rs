//! `cortex watch` as a program of its own: `cargo run -p cortex-watch --example watch -- [ADDRESS]`.

use std::process::ExitCode;

use clap::Parser;
use cortex_watch::{WatchArguments, WatchError, run};

#[derive(Parser)]
#[command(name = "watch")]
struct Arguments {
    #[command(flatten)]
    watch: WatchArguments,
}

#[tokio::main]
async fn main() -> ExitCode {
    match watch(&Arguments::parse()).await {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn watch(arguments: &Arguments) -> Result<ExitCode, WatchError> {
    run(arguments.watch.options()?).await
}
