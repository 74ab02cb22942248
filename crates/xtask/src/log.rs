//! Runs the noisy outside programs (pip, cmake) with their output in a log file, shown only when they fail.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::progress;

/// How much of a log is shown with an error: enough for the cause, short enough to be read.
const LAST_LINES: usize = 25;

/// A log file, and the lock that the programs writing to it hold.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    /// Handed to each program as its stdin. The lock then lives as long as the longest-lived of them: if this process
    /// is killed, a program that it left behind keeps others from building in the same folder until it has ended.
    lock: File,
}

impl Log {
    /// Starts an empty log.
    pub(crate) fn create(path: &Path, lock: &File) -> Result<Self> {
        File::create(path).with_context(|| format!("cannot write the log {}", path.display()))?;
        let lock = lock.try_clone().context("cannot share the lock file with child processes")?;
        Ok(Self { path: path.to_owned(), lock })
    }

    /// Runs a program to its end; fails, with the end of the log, when the program fails.
    pub(crate) fn run(&self, what: &str, command: &mut Command) -> Result<()> {
        let mut file = OpenOptions::new()
            .append(true)
            .open(&self.path)
            .with_context(|| format!("cannot write the log {}", self.path.display()))?;
        writeln!(file, "\n==> {what}: {command:?}").context("cannot write the log")?;
        let status = progress::step(what, || -> Result<_> {
            command
                .stdin(Stdio::from(self.lock.try_clone()?))
                .stdout(Stdio::from(file.try_clone()?))
                .stderr(Stdio::from(file.try_clone()?))
                .status()
                .with_context(|| format!("cannot start {}", command.get_program().display()))
        })?;
        if !status.success() {
            bail!(
                "{what} failed ({status}).\nThe whole output is in {}; its last lines:\n{}",
                self.path.display(),
                last_lines(&self.path)
            );
        }
        Ok(())
    }
}

/// The end of a log file, indented; a note instead if it cannot be read.
pub(crate) fn last_lines(path: &Path) -> String {
    match fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let lines: Vec<&str> = text.lines().collect();
            let skipped = lines.len().saturating_sub(LAST_LINES);
            lines.iter().skip(skipped).map(|line| format!("    {line}\n")).collect()
        }
        Err(error) => format!("    (the log cannot be read: {error})\n"),
    }
}
