//! What the log of a process has of its node: a publisher of `/rosout`, and a file.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use r2r::builtin_interfaces::msg::Time;
use r2r::rcl_interfaces::msg::Log;
use tracing::Level;

use super::line::Line;
use super::outlet;
use crate::arguments::split;
use crate::rcl::logging::LogFile;

/// As every client library has it.
const TOPIC: &str = "/rosout";
const DEPTH: usize = 1000;
const LIFESPAN: Duration = Duration::from_secs(10);

/// Where lines go while there is a node.
#[derive(Default)]
pub(super) struct Outlets {
    /// The name of the node's logger, and its publisher. None: the command line does without.
    rosout: Option<(String, r2r::Publisher<Log>)>,
    file: Option<LogFile>,
    /// Whether there was a node.
    pub(super) had_node: bool,
}

static OUTLETS: Mutex<Outlets> = Mutex::new(Outlets { rosout: None, file: None, had_node: false });

pub(super) fn outlets() -> MutexGuard<'static, Outlets> {
    OUTLETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of a node in the log of its process. Of several nodes, the first one has it.
pub(crate) struct NodeLog {
    is_it: bool,
}

impl NodeLog {
    /// Has the log of the process, if it is kept here, go out by this node.
    ///
    /// # Errors
    /// When the client library refuses the publisher.
    pub(crate) fn join(node: &mut r2r::Node) -> r2r::Result<Self> {
        let mut outlets = outlets();
        if !outlet::is_open() || outlets.had_node {
            return Ok(Self { is_it: false });
        }
        let ros = split(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned())).ros;
        let told = ros.iter().rev().find(|argument| argument.ends_with("-rosout-logs"));
        if told.is_none_or(|argument| argument != "--disable-rosout-logs") {
            let quality = r2r::QosProfile::default().reliable().transient_local().keep_last(DEPTH).lifespan(LIFESPAN);
            let publisher = node.create_publisher::<Log>(TOPIC, quality)?;
            outlets.rosout = Some((node.logger().to_owned(), publisher));
        }
        outlets.file = LogFile::of(node, &ros);
        outlets.had_node = true;
        drop(outlets);
        outlet::node_made();
        Ok(Self { is_it: true })
    }
}

impl Drop for NodeLog {
    /// What was logged until now goes out; the file stays.
    fn drop(&mut self) {
        if self.is_it {
            outlet::flush();
            outlets().rosout = None;
        }
    }
}

impl Outlets {
    /// Writes a line out. `name` is that of the process. Must not log anything: that would come back.
    pub(super) fn write(&self, name: &str, line: &Line) {
        let level = severity(line.level);
        if let Some(file) = &self.file {
            file.write(level, name, &line.printed(name));
        }
        if let Some((logger, publisher)) = self.rosout.as_ref().filter(|_| line.for_rosout) {
            let since = line.at.duration_since(UNIX_EPOCH).unwrap_or_default();
            // A line that can't be published is in the file.
            let _ = publisher.publish(&Log {
                stamp: Time { sec: i32::try_from(since.as_secs()).unwrap_or(i32::MAX), nanosec: since.subsec_nanos() },
                level,
                name: logger.clone(),
                msg: line.text.clone(),
                file: line.file.to_owned(),
                function: line.target.to_owned(),
                line: line.line,
            });
        }
    }
}

/// The level as `rcl_interfaces/msg/Log` has it.
fn severity(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG | Level::TRACE => 10,
    }
}
