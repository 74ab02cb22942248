//! What a process holds.

use std::fmt;

use anyhow::Context as _;

/// Memory that allocators and the middleware may keep for themselves, in kilobytes.
const SLACK_KILOBYTES: u64 = 16 * 1024;
/// Threads that tokio may add for blocking work, and drops later.
const SLACK_THREADS: u64 = 8;
/// Open files that the middleware may keep for peers that were killed, until it gives them up.
const SLACK_FILES: u64 = 32;

/// What a process holds at one moment.
#[derive(Debug, Clone)]
pub struct Held {
    /// Threads.
    pub threads: u64,
    /// Open files.
    pub files: u64,
    /// Resident memory.
    pub kilobytes: u64,
}

impl Held {
    /// By the process with this id, or `self`.
    ///
    /// # Errors
    /// When it has ended.
    pub fn by(process: &str) -> anyhow::Result<Self> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let value = |name: &str| -> anyhow::Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such line")?;
            Ok(line.split_whitespace().next().context("no value")?.parse()?)
        };
        Ok(Self {
            threads: value("Threads:")?,
            files: u64::try_from(std::fs::read_dir(format!("/proc/{process}/fd"))?.count())?,
            kilobytes: value("VmRSS:")?,
        })
    }

    /// What has grown more than it may.
    #[must_use]
    pub fn growth_since(&self, earlier: &Self) -> Option<String> {
        let held = [
            ("threads", self.threads, earlier.threads + SLACK_THREADS),
            ("open files", self.files, earlier.files + SLACK_FILES),
            ("kilobytes", self.kilobytes, earlier.kilobytes + SLACK_KILOBYTES),
        ];
        let grown = held.iter().find(|(_, now, most)| now > most);
        grown.map(|(what, now, most)| format!("{what}: {now}, at most {most}"))
    }
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, files, kilobytes } = self;
        write!(formatter, "{threads} threads, {files} files, {:.1} MB", *kilobytes as f64 / 1024.0)
    }
}
