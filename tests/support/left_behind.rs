//! What must not be left of a test robot: processes, those that nobody knows of included.

use std::fs;
use std::time::{Duration, Instant};

use crate::TestRobot;

/// How long a process that was ended may take to be gone.
const GONE_LIMIT: Duration = Duration::from_secs(5);
/// Processes of others tell nobody of their end.
const LOOK: Duration = Duration::from_millis(20);

impl TestRobot {
    /// The processes of the test robot, and those that they have started, whoever their parents are now. Empty when they are
    /// all gone, or as soon as they are.
    pub async fn left_behind(&self) -> Vec<String> {
        let deadline = Instant::now() + GONE_LIMIT;
        loop {
            let left = self.living();
            if left.is_empty() || Instant::now() > deadline {
                return left;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn living(&self) -> Vec<String> {
        // Inherited by all, and of no other house.
        let mark = format!("XDG_STATE_HOME={}", self.state.path().display());
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let ids = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let read = |id: &str, file: &str| fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        let is_ours = |id: &String| {
            let environment = read(id, "environ");
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
            .filter(is_ours)
            .map(|id| format!("{id} {}", String::from_utf8_lossy(&read(&id, "cmdline")).replace('\0', " ")))
            .collect()
    }
}
