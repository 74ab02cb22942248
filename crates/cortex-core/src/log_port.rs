//! The port for the log of the robot's nodes.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_protocol::LogLine;

/// The log of the robot's nodes, Cortex' own lines among them. Of a node that logs without end, what is left out is counted
/// (see [`LogLine::count`]).
pub trait LogPort: Send + Sync + 'static {
    /// The newest lines, the oldest of them first; at most `most`, and as many as are kept. Answers at once.
    fn latest(&self, most: usize) -> Vec<Arc<LogLine>>;

    /// The newest lines, as [`latest`](Self::latest) gives them, and all that come after them.
    fn follow(&self, most: usize) -> (Vec<Arc<LogLine>>, Box<dyn LogStream>);
}

/// Lines, in the order in which they came.
#[async_trait]
pub trait LogStream: Send {
    /// The next one; `None` when no more will come. Dropping the future loses nothing.
    async fn next(&mut self) -> Option<Arc<LogLine>>;

    /// How many lines before the last one were lost, because the reader was too slow.
    fn missed(&self) -> u64;
}
