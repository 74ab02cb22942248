//! What this process holds.

use std::fmt;
use std::time::{Duration, Instant};

use cortex_stories::Held;

/// How long the last tasks may take to end after the last goal has: a server that was killed stays on the graph for 20 s,
/// and so long the end of its goals is waited for.
const SETTLING: Duration = Duration::from_secs(40);

/// What this process holds at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Vitals {
    /// Tasks of tokio.
    pub(crate) tasks: usize,
    held: Held,
}

impl Vitals {
    pub(crate) fn now() -> anyhow::Result<Self> {
        Ok(Self { tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(), held: Held::by("self")? })
    }

    /// What it holds once no more tasks run than that, or after a bounded time.
    pub(crate) async fn settled(tasks: usize) -> anyhow::Result<Self> {
        let deadline = Instant::now() + SETTLING;
        loop {
            let now = Self::now()?;
            if now.tasks <= tasks || Instant::now() > deadline {
                return Ok(now);
            }
            // Tasks tell nobody of their end.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// What has grown more than it may.
    pub(crate) fn growth_since(&self, earlier: &Self) -> Option<String> {
        self.held.growth_since(&earlier.held)
    }
}

impl fmt::Display for Vitals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} tasks, {}", self.tasks, self.held)
    }
}
