//! What must not be left when everything has ended: processes, and shared memory that they held.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Notes what processes of the robot hold, and tells what is left of it.
#[derive(Debug)]
pub(crate) struct Remains {
    /// A text that stands in the environment of every process of this campaign, and of no other.
    mark: String,
    segments: BTreeSet<String>,
}

impl Remains {
    pub(crate) fn new(mark: String) -> Self {
        Self { mark, segments: BTreeSet::new() }
    }

    /// Notes the shared memory of a process, before it is killed.
    pub(crate) fn note(&mut self, process: u32) {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let held = maps.lines().filter_map(|line| line.split_once("/dev/shm/")).map(|(_, name)| name.trim().to_owned());
        self.segments.extend(held);
    }

    /// The living processes of the campaign, but for this one.
    pub(crate) fn processes(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let own = std::process::id().to_string();
        let ids = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let ids = ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()) && *id != own);
        let read = |id: &str, file: &str| fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        ids.filter(|id| String::from_utf8_lossy(&read(id, "environ")).contains(&self.mark))
            .map(|id| format!("{id} {}", String::from_utf8_lossy(&read(&id, "cmdline")).replace('\0', " ")))
            .collect()
    }

    /// The shared memory that is still there.
    pub(crate) fn shared_memory(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).filter(|name| Path::new("/dev/shm").join(name).exists()).collect()
    }
}
