//! What this process holds.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Context as _;

/// How long the last tasks may take to end after the last goal has: a server that was killed stays on the graph for 20 s,
/// and so long the end of its goals is waited for.
const SETTLING: Duration = Duration::from_secs(40);
/// Memory that allocators and the middleware may keep for themselves, in kilobytes.
const SLACK_KILOBYTES: u64 = 16 * 1024;
/// Threads that tokio may add for blocking work, and drops later.
const SLACK_THREADS: u64 = 8;
/// Open files that the middleware may keep for peers that were killed, until it gives them up.
const SLACK_FILES: u64 = 32;

/// What this process holds at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Vitals {
    /// Tasks of tokio.
    pub(crate) tasks: usize,
    threads: u64,
    files: u64,
    kilobytes: u64,
}

impl Vitals {
    pub(crate) fn now() -> anyhow::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let value = |name: &str| -> anyhow::Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such line")?;
            Ok(line.split_whitespace().next().context("no value")?.parse()?)
        };
        Ok(Self {
            tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
            threads: value("Threads:")?,
            files: u64::try_from(std::fs::read_dir("/proc/self/fd")?.count())?,
            kilobytes: value("VmRSS:")?,
        })
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
        let held = [
            ("threads", self.threads, earlier.threads + SLACK_THREADS),
            ("open files", self.files, earlier.files + SLACK_FILES),
            ("kilobytes", self.kilobytes, earlier.kilobytes + SLACK_KILOBYTES),
        ];
        let grown = held.iter().find(|(_, now, most)| now > most);
        grown.map(|(what, now, most)| format!("{what}: {now}, at most {most}"))
    }
}

impl fmt::Display for Vitals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, threads, files, kilobytes } = self;
        write!(formatter, "{tasks} tasks, {threads} threads, {files} files, {:.1} MB", *kilobytes as f64 / 1024.0)
    }
}
