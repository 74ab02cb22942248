//! The log of a process: on standard error, on `/rosout`, and in a file in the folder of ROS' logs.
//!
//! Lines look as ROS prints them. What is logged is chosen by `RUST_LOG`, or else by the ROS argument `--log-level`, or else
//! by the program. The arguments that turn outlets off (`--disable-rosout-logs`, `--disable-external-lib-logs`,
//! `--disable-stdout-logs`) and those of the file (`--log-file-name`, `ROS_LOG_DIR`, `ROS_HOME`) count as for any node.
//!
//! Nobody who logs waits: threads of their own write, and drop and count what does not fit.

mod line;
mod node;
mod outlet;

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, OnceLock, PoisonError};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use line::{Fields, Line};
pub(crate) use node::NodeLog;

/// Lines that wait for whoever reads standard error. What does not fit is counted and dropped.
const PRINTED_LINES: usize = 2048;

/// What was chosen when the process started, and how to choose anew.
struct Choice {
    started: String,
    by_person: bool,
    filter: reload::Handle<EnvFilter, Registry>,
}

static CHOICE: OnceLock<Choice> = OnceLock::new();

/// Its end writes what is still to be written, within a bounded time.
static STDERR: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Who logs.
#[derive(Debug, Clone, Copy)]
pub struct Logger<'a> {
    /// The name that lines have.
    pub name: &'a str,
    /// Whether the process has a node of that name, for `/rosout` and the file.
    pub is_node: bool,
    /// What is logged where no person has chosen: `info`.
    pub default: &'a str,
    /// The ROS arguments of the process.
    pub ros: &'a [String],
}

/// Begins to log. Where the process logs in another way already, that stays.
pub fn start(logger: Logger<'_>) {
    if tracing::dispatcher::has_been_set() {
        return;
    }
    let from_environment = std::env::var(EnvFilter::DEFAULT_ENV).ok().filter(|text| EnvFilter::try_new(text).is_ok());
    let given = from_environment.or_else(|| level_of(logger.name, logger.ros).map(str::to_owned));
    let by_person = given.is_some();
    let started = given.unwrap_or_else(|| logger.default.to_owned());
    let (stderr, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(PRINTED_LINES).finish(std::io::stderr());
    let unread = stderr.error_counter();
    let (filter, handle) = reload::Layer::new(EnvFilter::new(&started));
    let is_silent = logger.is_node && logger.ros.iter().any(|argument| argument == "--disable-stdout-logs");
    let printed = Lines {
        name: logger.name.to_owned(),
        stderr: (!is_silent).then_some(stderr),
        has_colours: has_colours(),
        is_node: logger.is_node,
    };
    // A second subscriber can't be set; the first stays.
    if tracing_subscriber::registry().with(filter).with(printed).try_init().is_err() {
        return;
    }
    *STDERR.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    let _ = CHOICE.set(Choice { started, by_person, filter: handle });
    if logger.is_node && !outlet::start(logger.name, unread) {
        tracing::warn!("the log goes to standard error alone: it has no thread for /rosout and for the file");
    }
}

/// Writes what is still to be written, within a bounded time. To be called before the process ends.
pub fn flush() {
    outlet::flush();
    drop(STDERR.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Follows a configuration at start, where no person has chosen for this process. None: as it was started.
pub fn configure(level: Option<&str>) {
    if CHOICE.get().is_some_and(|choice| !choice.by_person) {
        set(level);
    }
}

/// Logs this much from now on. None: as it was started.
pub fn set(level: Option<&str>) {
    let Some(choice) = CHOICE.get() else { return };
    let filter = EnvFilter::new(level.unwrap_or(&choice.started));
    if choice.filter.reload(filter).is_err() {
        tracing::warn!("the log level could not be changed");
    }
}

/// Colours are for people at a terminal, and not for all of them (no-color.org).
fn has_colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The level that ROS arguments choose for the node of that name: `--log-level debug` or `--log-level cortex:=debug`. The
/// levels of other loggers are none of its.
fn level_of(name: &str, ros: &[String]) -> Option<&'static str> {
    let values = ros.iter().zip(ros.iter().skip(1)).filter(|(flag, _)| *flag == "--log-level").map(|(_, value)| value);
    let own = values.map(|value| value.strip_prefix(name).and_then(|rest| rest.strip_prefix(":=")).unwrap_or(value));
    own.rev().find_map(|value| match value.to_lowercase().as_str() {
        "debug" => Some("debug"),
        "info" => Some("info"),
        "warn" => Some("warn"),
        // There is no worse level than error here.
        "error" | "fatal" => Some("error"),
        _ => None,
    })
}

/// Makes lines of what is logged.
struct Lines {
    name: String,
    stderr: Option<NonBlocking>,
    has_colours: bool,
    is_node: bool,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let spans = context.event_scope(event).into_iter().flatten();
        let spans: Vec<Fields> = spans.filter_map(|span| span.extensions().get::<Fields>().cloned()).collect();
        let line = Line::new(event.metadata(), &fields, fields.text(spans.iter()));
        if let Some(stderr) = &self.stderr {
            let mut text = if self.has_colours { line.coloured(&self.name) } else { line.printed(&self.name) };
            text.push('\n');
            // It is dropped and counted where nobody takes it.
            let _ = stderr.clone().write_all(text.as_bytes());
        }
        if self.is_node {
            outlet::add(line);
        }
    }
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
            assert_eq!(level_of("cortex", &words), level, "{line}");
        }
    }
}
