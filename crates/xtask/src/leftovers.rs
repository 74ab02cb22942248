//! What demonstrations and tests must not leave behind: processes that outlived their parents, and shared memory of Fast
//! DDS.
//!
//! Processes that end in order clean up after themselves. This is for the ones that were killed, as some tests do.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::progress;

/// Marks every process of a run, also the ones that its processes start.
const MARK: &str = "CORTEX_XTASK_RUN";

/// Where Linux keeps shared memory.
const SHARED_MEMORY: &str = "/dev/shm";

/// How long an orphan may take to stop by itself.
const ORPHAN_LIMIT: Duration = Duration::from_secs(2);

/// Orphans are nobody's children here, so their end cannot be waited for as an event.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a process may be in the middle of `execve`; one that has no variables looks the same for ever.
const EXEC_LIMIT: Duration = Duration::from_millis(250);

/// The pause between two looks at such a one.
const EXEC_LOOK: Duration = Duration::from_millis(1);

/// How much of a command line is shown.
const SHOWN_CHARACTERS: usize = 100;

/// Knows the processes of one run and what they hold.
#[derive(Debug)]
pub(crate) struct Traces {
    mark: String,
    /// Shared memory that one of them used at some time.
    segments: BTreeSet<String>,
}

impl Traces {
    pub(crate) fn new() -> Self {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self::of(&format!("{}-{}", std::process::id(), time.as_nanos()))
    }

    /// Of a run whose mark is known.
    pub(crate) fn of(mark: &str) -> Self {
        Self { mark: mark.to_owned(), segments: BTreeSet::new() }
    }

    /// What every process of the run gets into its environment.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// What marks the processes of the run.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Notes which shared memory the processes use now.
    pub(crate) fn note_shared_memory(&mut self) {
        let segments: Vec<String> =
            self.processes().into_iter().flat_map(|pid| segments_of(&process_folder(pid))).collect();
        self.segments.extend(segments);
    }

    /// Ends what is still running, and says what it was.
    pub(crate) fn end_orphans(&mut self) {
        let orphans = self.processes();
        if orphans.is_empty() {
            return;
        }
        self.note_shared_memory();
        for pid in &orphans {
            let (number, words) = (pid.as_raw_nonzero(), command_line(*pid));
            progress::print_line(&format!("ending process {number} that was left behind: {words}"));
            self.signal(*pid, Signal::TERM);
        }
        let deadline = Instant::now() + ORPHAN_LIMIT;
        while !self.processes().is_empty() && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
        }
        // One of them may start another one just before it is killed.
        let deadline = Instant::now() + ORPHAN_LIMIT;
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > deadline {
                return;
            }
            for pid in left {
                self.signal(pid, Signal::KILL);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Removes the shared memory of processes that were killed. `ports` are the ones of domains that are the run's own.
    pub(crate) fn remove_shared_memory(&self, ports: &Range<u16>) {
        let is_ours = |segment: &str| {
            let port = segment.strip_prefix("fastrtps_port").and_then(|port| port.parse::<u16>().ok());
            self.segments.contains(segment) || port.is_some_and(|port| ports.contains(&port))
        };
        let files = files_of_segments(Path::new(SHARED_MEMORY), is_ours);
        if files.is_empty() {
            return;
        }
        // A segment may be shared with a participant of another domain, which would lose it.
        let in_use: BTreeSet<String> =
            all_processes().iter().flat_map(|pid| segments_of(&process_folder(*pid))).collect();
        for (segment, file) in files {
            if !in_use.contains(&segment) {
                // Another participant may have removed it meanwhile; Fast DDS does so at its start.
                let _ = fs::remove_file(file);
            }
        }
    }

    /// The living processes that carry the mark.
    fn processes(&self) -> Vec<Pid> {
        all_processes().into_iter().filter(|pid| self.is_ours(*pid)).collect()
    }

    fn is_ours(&self, pid: Pid) -> bool {
        let wanted = format!("{MARK}={}", self.mark);
        environment_of(&process_folder(pid)).split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    }

    /// Signals a process that is no child of ours, and no other that may have got its number meanwhile.
    fn signal(&self, pid: Pid, signal: Signal) {
        let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_ours(pid) {
            let _ = rustix::process::pidfd_send_signal(handle, signal);
        }
    }
}

fn process_folder(pid: Pid) -> PathBuf {
    Path::new("/proc").join(pid.as_raw_nonzero().to_string())
}

/// The variables that a process was started with, each ended by a zero byte.
///
/// None for one that has ended or belongs to another user. In the middle of `execve` the kernel has already taken the
/// old program's memory away, and let its parent go on, but not yet noted where the new one's variables end: they read as
/// empty then, so such a process is looked at again.
fn environment_of(process: &Path) -> Vec<u8> {
    let deadline = Instant::now() + EXEC_LIMIT;
    loop {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        let runs_a_program = || fs::read_link(process.join("exe")).is_ok();
        if !environment.is_empty() || !runs_a_program() || Instant::now() > deadline {
            return environment;
        }
        std::thread::sleep(EXEC_LOOK);
    }
}

fn all_processes() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(Pid::from_raw).collect()
}

/// The start of a process's command line: enough to know it by.
fn command_line(pid: Pid) -> String {
    let bytes = fs::read(process_folder(pid).join("cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&bytes).replace(['\0', '\n'], " ");
    words.chars().take(SHOWN_CHARACTERS).collect::<String>().trim().to_owned()
}

/// The Fast DDS segments that a process has mapped or open.
fn segments_of(process: &Path) -> Vec<String> {
    let maps = fs::read_to_string(process.join("maps")).unwrap_or_default();
    let mapped = maps.lines().filter_map(|line| line.split_once('/').map(|(_, path)| format!("/{path}")));
    let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let open = open.filter_map(|entry| fs::read_link(entry.path()).ok()).map(|path| path.display().to_string());
    mapped
        .chain(open)
        .filter_map(|path| segment_of(path.strip_prefix(SHARED_MEMORY)?.strip_prefix('/')?).map(str::to_owned))
        .collect()
}

/// The segment that a file in shared memory belongs to: `fastrtps_port7411` for `sem.fastrtps_port7411_mutex`.
fn segment_of(file: &str) -> Option<&str> {
    let name = file.strip_prefix("sem.").unwrap_or(file);
    let rest = name.strip_prefix("fastrtps_")?;
    let end = name.len() - rest.len() + rest.find('_').unwrap_or(rest.len());
    name.get(..end)
}

/// All files of the wanted segments, with the segment.
fn files_of_segments(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name()).filter_map(|name: OsString| name.into_string().ok());
    let mut files: Vec<(String, PathBuf)> = names
        .filter_map(|name| Some((segment_of(&name)?.to_owned(), folder.join(&name))))
        .filter(|(segment, _)| wanted(segment))
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn files_belong_to_segments() {
        assert_eq!(segment_of("fastrtps_0026f2c35f8db739"), Some("fastrtps_0026f2c35f8db739"));
        assert_eq!(segment_of("fastrtps_0026f2c35f8db739_el"), Some("fastrtps_0026f2c35f8db739"));
        assert_eq!(segment_of("sem.fastrtps_port7411_mutex"), Some("fastrtps_port7411"));
        assert_eq!(segment_of("lttng-ust-wait-6"), None);
    }

    #[test]
    fn only_files_of_wanted_segments_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["fastrtps_port7411", "fastrtps_port7411_el", "sem.fastrtps_port7411_mutex", "fastrtps_ab", "sem.x"]
        {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let files = files_of_segments(folder.path(), |segment| segment == "fastrtps_port7411");
        assert_eq!(files.len(), 3);
        assert!(files.iter().all(|(segment, _)| segment == "fastrtps_port7411"));
    }

    #[test]
    fn a_process_that_has_only_just_been_started_is_not_overlooked() {
        let traces = Traces::new();
        let (name, value) = traces.variable();
        let own_program = fs::read_link("/proc/self/exe").unwrap();
        for _ in 0..200 {
            let mut child = Command::new("sleep").arg("600").env(name, value).stdin(Stdio::null()).spawn().unwrap();
            let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
            // Until then it has the memory of this process, and with it the variables.
            while fs::read_link(process_folder(pid).join("exe")).unwrap() == own_program {
                std::thread::yield_now();
            }
            let found = traces.is_ours(pid);
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(found, "it carries the mark from the first moment of its program");
        }
    }

    #[test]
    fn an_orphan_that_carries_the_mark_is_ended_and_a_stranger_is_not() {
        let mut traces = Traces::new();
        let (name, value) = traces.variable();
        let sleeper =
            |mark: &str| Command::new("sleep").arg("600").env(name, mark).stdin(Stdio::null()).spawn().unwrap();
        let (mut ours, mut stranger) = (sleeper(value), sleeper("another"));
        traces.end_orphans();
        assert!(traces.processes().is_empty());
        assert!(!ours.wait().unwrap().success());
        assert!(stranger.try_wait().unwrap().is_none());
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}
