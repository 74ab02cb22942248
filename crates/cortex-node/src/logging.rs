//! Logs go to standard error; results go to standard output.
//!
//! What is logged is chosen by `RUST_LOG`, or else by the ROS argument `--log-level`, or else by `log_level` of the
//! configuration, which may be set while Cortex runs; then it counts alone.

use std::io::IsTerminal;
use std::sync::{Mutex, OnceLock, PoisonError};

use cortex_config::LogLevel;
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// What was chosen when the process started, and how to choose anew.
struct Choice {
    started: String,
    by_person: bool,
    reload: Box<dyn Fn(EnvFilter) -> bool + Send + Sync>,
}

static CHOICE: OnceLock<Choice> = OnceLock::new();

/// Its end writes what is still to be written, within a bounded time.
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Writes what is still to be written, within a bounded time. To be called before the process ends.
pub fn flush() {
    drop(WRITER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// The node logs what happens; the other commands only what went wrong. `ros` are the ROS arguments of the process.
pub fn start(is_node: bool, ros: &[String]) {
    let default = if is_node { "info" } else { "error" };
    let from_environment = std::env::var(EnvFilter::DEFAULT_ENV).ok().filter(|text| EnvFilter::try_new(text).is_ok());
    let given = from_environment.or_else(|| level_of(ros).map(str::to_owned));
    let by_person = given.is_some();
    let started = given.unwrap_or_else(|| default.to_owned());
    // A thread of its own writes, and drops what nobody takes: whoever reads the log and hangs must hold up neither a stop
    // nor the monitor.
    let (writer, guard) = NonBlocking::new(std::io::stderr());
    *WRITER.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&started))
        .with_writer(writer)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .with_filter_reloading();
    let handle = subscriber.reload_handle();
    // A second subscriber can't be set; the first stays.
    if subscriber.try_init().is_ok() {
        let _ =
            CHOICE.set(Choice { started, by_person, reload: Box::new(move |filter| handle.reload(filter).is_ok()) });
    }
}

/// Follows the configuration at start, where no person has chosen for this process.
pub fn configure(level: LogLevel) {
    if CHOICE.get().is_some_and(|choice| !choice.by_person) {
        set(level);
    }
}

/// Follows what was set while Cortex runs.
pub fn set(level: LogLevel) {
    let Some(choice) = CHOICE.get() else { return };
    if !(choice.reload)(EnvFilter::new(level.name().unwrap_or(&choice.started))) {
        tracing::warn!("the log level could not be changed");
    }
}

/// The level that ROS arguments choose for this node: `--log-level debug` or `--log-level cortex:=debug`. The levels of
/// other loggers are none of ours.
fn level_of(ros: &[String]) -> Option<&'static str> {
    let values = ros.iter().zip(ros.iter().skip(1)).filter(|(flag, _)| *flag == "--log-level").map(|(_, value)| value);
    let own = values.map(|value| value.strip_prefix("cortex:=").unwrap_or(value));
    own.rev().find_map(|value| match value.to_lowercase().as_str() {
        "debug" => Some("debug"),
        "info" => Some("info"),
        "warn" => Some("warn"),
        // There is no worse level than error here.
        "error" | "fatal" => Some("error"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_log_level_of_the_node_counts() {
        for (line, level) in [
            ("--ros-args --log-level debug", Some("debug")),
            ("--ros-args --log-level WARN --log-level rcl:=debug", Some("warn")),
            ("--ros-args --log-level info --log-level cortex:=debug", Some("debug")),
            ("--ros-args --log-level info --ros-args --log-level fatal", Some("error")),
            ("--ros-args --log-level", None),
            ("--ros-args -p log-level:=debug", None),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(level_of(&words), level, "{line}");
        }
    }
}
