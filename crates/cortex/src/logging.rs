//! Logs go to standard error; results go to standard output. `RUST_LOG` chooses what is logged.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// The node logs what happens; the other commands only what went wrong.
pub(crate) fn start(is_node: bool) {
    let default = if is_node { "info" } else { "error" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    // A second subscriber can't be set; the first stays.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .try_init();
}
