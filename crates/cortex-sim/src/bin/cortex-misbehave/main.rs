//! `cortex-misbehave`: components that break the contract on purpose, for tests of what Cortex does then; and one that
//! keeps it, for benchmarks.

mod echo;
mod kinds;
mod raw;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use cortex_component::ros_arguments;
use tokio::signal::unix::{SignalKind, signal};

use kinds::Kind;

/// A component that misbehaves in one way. A test aid.
///
/// It prints a line that starts with "ready" when it can be called, and runs until Ctrl-C. Unless its kind says
/// otherwise it offers `go` (may move, halted by `halt`) and `halt`.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// How it misbehaves.
    kind: Kind,
    /// The name of its node. Default: the kind, with underscores.
    #[arg(long)]
    name: Option<String>,
    /// answers-late: how many seconds it takes to answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = seconds)]
    after: f64,
    /// How many seconds it says that a call takes at most.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    timeout: f64,
    /// echo: how many components this process hosts.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=200))]
    count: u16,
    /// echo: what the names of several components begin with; they are numbered from 1.
    #[arg(long, default_value = "echo")]
    prefix: String,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("give a number of seconds from 0.001 to 86400".to_owned()),
    }
}

fn main() -> ExitCode {
    cortex_component::announce_often();
    let arguments = Arguments::parse_from(ros_arguments::split(std::env::args()).own);
    cortex_component::log("misbehave");
    let result = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(run(arguments)));
    let code = match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem:#}");
            ExitCode::FAILURE
        }
    };
    cortex_component::flush_log();
    cortex_component::exit_process(code)
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    if arguments.kind == Kind::Echo {
        let single = arguments.name.unwrap_or_else(|| arguments.prefix.clone());
        let names = match arguments.count {
            1 => vec![single],
            count => (1..=count).map(|number| format!("{}{number}", arguments.prefix)).collect(),
        };
        return echo::host(names, stop).await;
    }
    let name = arguments.name.unwrap_or_else(|| arguments.kind.node_name());
    let after = Duration::from_secs_f64(arguments.after);
    let component =
        raw::start(&name, arguments.kind.description(arguments.timeout), arguments.kind.position(), move |method| {
            arguments.kind.reaction(method, after)
        })
        .await?;
    tell_ready(&[component.name()]);
    stop.await;
    component.stop().await;
    Ok(())
}

/// Tells whoever started the process that its nodes can be called.
fn tell_ready(names: &[&str]) {
    // A closed output is nobody's loss.
    let _ = writeln!(std::io::stdout(), "ready: {}", names.join(" "));
}
