//! The log of the robot's nodes, within bounds: what `/rosout` says is the robot's, and may be anything and without end.

mod clean;
mod kept;
mod thinning;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cortex_core::log_port::{LogPort, LogStream};
use cortex_interfaces::Interfaces;
use cortex_protocol::{LogLevel, LogLine};
use cortex_ros_client::rosout::{Rosout, RosoutLine, RosoutListener};
use cortex_ros_client::{GraphWatch, Names, RosError};
use tokio::sync::broadcast::{self, error::RecvError};

use clean::{cleaned, stamped};
use kept::Kept;
use thinning::Thinning;

/// Lines that wait for a slow reader of the stream.
const WAITING: usize = 1024;

/// The log of the robot's nodes.
pub struct NodeLog {
    shared: Arc<Shared>,
    reading: Rosout,
}

struct Shared {
    lines: Mutex<Kept>,
    newest: broadcast::Sender<Arc<LogLine>>,
}

impl NodeLog {
    /// Begins to read `/rosout`. Blocks for some milliseconds. Lines of the node `own` that come from the function `feedback`
    /// are left out: clients have them as events.
    ///
    /// # Errors
    /// When ROS refuses, or no thread can be had.
    pub fn start(
        graph: &GraphWatch,
        interfaces: &Interfaces,
        own: &str,
        feedback: &'static str,
    ) -> Result<Self, RosError> {
        let shared = Arc::new(Shared { lines: Mutex::default(), newest: broadcast::Sender::new(WAITING) });
        let listener = Listener {
            shared: Arc::clone(&shared),
            thinning: Thinning::new(Instant::now()),
            own: own.trim_start_matches('/').replace('/', "."),
            feedback,
        };
        let reading = Rosout::start(graph, &Names::of_process(own), interfaces, listener)?;
        Ok(Self { shared, reading })
    }

    /// Ends to read. Blocks for some milliseconds.
    pub fn shut_down(&self) {
        self.reading.shut_down();
    }
}

impl LogPort for NodeLog {
    fn latest(&self, most: usize) -> Vec<Arc<LogLine>> {
        self.shared.lines().latest(most)
    }

    fn follow(&self, most: usize) -> (Vec<Arc<LogLine>>, Box<dyn LogStream>) {
        let lines = self.shared.lines();
        // Under the lock: no line is in neither or in both.
        let stream = Following { lines: self.shared.newest.subscribe(), missed: 0 };
        (lines.latest(most), Box::new(stream))
    }
}

impl Shared {
    fn lines(&self) -> MutexGuard<'_, Kept> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, line: LogLine) {
        let line = Arc::new(line);
        let mut lines = self.lines();
        lines.add(Arc::clone(&line));
        // Nobody may be listening.
        let _ = self.newest.send(line);
    }
}

/// On the thread that reads.
struct Listener {
    shared: Arc<Shared>,
    thinning: Thinning,
    own: String,
    feedback: &'static str,
}

impl RosoutListener for Listener {
    fn line(&mut self, line: &RosoutLine<'_>) {
        if line.logger == self.own && line.function == self.feedback {
            return;
        }
        let (node, level) = (clean::name(line.logger), level(line.level));
        if self.thinning.shows(&node, level) {
            let at_ms = stamped(line.stamp_ns, now_ms());
            self.shared.add(LogLine { at_ms, level, node, text: cleaned(line.text), count: 1 });
        }
    }

    fn pause(&mut self) {
        for line in self.thinning.left_out(Instant::now(), now_ms()) {
            self.shared.add(line);
        }
    }
}

struct Following {
    lines: broadcast::Receiver<Arc<LogLine>>,
    missed: u64,
}

#[async_trait]
impl LogStream for Following {
    async fn next(&mut self) -> Option<Arc<LogLine>> {
        loop {
            match self.lines.recv().await {
                Ok(line) => return Some(line),
                Err(RecvError::Lagged(count)) => self.missed = self.missed.saturating_add(count),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn missed(&self) -> u64 {
        self.missed
    }
}

/// What is between the levels that there are counts as the next higher one.
fn level(level: u8) -> LogLevel {
    match level {
        0..=10 => LogLevel::Debug,
        11..=20 => LogLevel::Info,
        21..=30 => LogLevel::Warn,
        31..=40 => LogLevel::Error,
        41.. => LogLevel::Fatal,
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
