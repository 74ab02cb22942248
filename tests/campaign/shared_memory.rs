//! Shared memory of processes that were killed: they can't remove it themselves.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What the names of the middleware's shared memory hold.
const MIDDLEWARE: &str = "fastrtps";

/// What processes held when they were looked at.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory(BTreeSet<String>);

impl SharedMemory {
    /// Notes that of a process, before it is killed.
    pub(crate) fn note(&mut self, process: u32) {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let held = maps.lines().filter_map(|line| line.split_once("/dev/shm/")).map(|(_, name)| name.trim());
        // Others keep theirs for the next process on purpose, such as tracers.
        self.0.extend(held.filter(|name| name.contains(MIDDLEWARE)).map(str::to_owned));
    }

    /// What is still there.
    pub(crate) fn left(&self) -> Vec<String> {
        self.0.iter().filter(|name| Path::new("/dev/shm").join(name).exists()).cloned().collect()
    }
}
