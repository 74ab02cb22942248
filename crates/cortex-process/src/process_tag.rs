//! The tag that every process carries, and by which what it left behind is found.
//!
//! Variables of the environment are inherited by whatever a process starts, also by what leaves its process group or its
//! session. Linux only: they are read in `/proc`.
//!
//! A tag says whose it is by a process id, and those are counted in each PID namespace (`pid_namespaces(7)`) anew: on a
//! host, the processes of a container are seen with tags that name other processes here, or none. So each mark names its
//! namespace, and only those of the own one are judged.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};

/// The variable: `<PID namespace>.<process id>.<start time>.<owner>:<number>` of the one that started it.
pub(crate) const VARIABLE: &str = "CORTEX_PROCESS";

/// How long a process may be in the middle of `execve`; one that has no variables looks the same for ever.
const EXEC_LIMIT: Duration = Duration::from_millis(250);

/// The pause between two looks at such a one.
const EXEC_LOOK: Duration = Duration::from_millis(1);

/// One owner of processes in one life of one process: its id and its start time, which together are never used again in
/// their namespace, and a number within that life.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunTag {
    /// The inode of the PID namespace; 0 where that can't be read.
    namespace: u64,
    process: i32,
    /// Clock ticks from the start of the machine; 0 where that can't be read.
    started: u64,
    owner: u64,
}

/// How many owners there were in this life.
static OWNERS: AtomicU64 = AtomicU64::new(0);

impl RunTag {
    /// A new one of this process.
    pub(crate) fn of_new_owner() -> Self {
        let process = rustix::process::getpid();
        Self {
            namespace: own_namespace(),
            process: process.as_raw_nonzero().get(),
            started: start_time(process).unwrap_or_default(),
            owner: OWNERS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Reads what [`fmt::Display`] writes.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '.');
        let mut part = || parts.next();
        let (namespace, process, started, owner) = (part()?, part()?, part()?, part()?);
        let process = process.parse().ok().filter(|process| *process > 0)?;
        let (namespace, started, owner) = (namespace.parse().ok()?, started.parse().ok()?, owner.parse().ok()?);
        Some(Self { namespace, process, started, owner })
    }

    /// Whether that life is known to be over. Of one in another namespace nothing is known.
    pub(crate) fn is_over(&self) -> bool {
        let is_here = self.namespace != 0 && self.namespace == own_namespace();
        is_here && Pid::from_raw(self.process).and_then(start_time) != Some(self.started)
    }

    /// The value of the variable for process `number`.
    pub(crate) fn of(&self, number: u64) -> String {
        format!("{self}:{number}")
    }
}

impl fmt::Display for RunTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}.{}", self.namespace, self.process, self.started, self.owner)
    }
}

/// Which marks are meant.
#[derive(Debug, Clone)]
pub(crate) enum Tagged {
    /// Those of one process and what it started.
    Process(RunTag, u64),
    /// Those of one life.
    Run(RunTag),
    /// Those of every life in this namespace that is over.
    Orphans,
}

impl Tagged {
    fn fits(&self, tag: &str) -> bool {
        match self {
            Self::Process(run, number) => tag == run.of(*number),
            Self::Run(run) => tag.split_once(':').is_some_and(|(before, _)| before == run.to_string()),
            Self::Orphans => {
                let run = tag.split_once(':').and_then(|(run, _)| RunTag::read(run));
                run.is_some_and(|run| run.is_over())
            }
        }
    }

    /// The living processes that are meant, but for this one, with what they are.
    pub(crate) fn processes(&self) -> Vec<(Pid, String)> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let own = rustix::process::getpid();
        let pids = ids.filter_map(Pid::from_raw).filter(|pid| *pid != own);
        let meant = pids.filter(|pid| self.is_meant(*pid));
        meant.map(|pid| (pid, command_line(pid))).collect()
    }

    fn is_meant(&self, pid: Pid) -> bool {
        tag_of(pid).is_some_and(|tag| self.fits(&tag)) && !is_dead(pid)
    }

    /// Signals a process that is meant, and no other that may have got its id meanwhile.
    pub(crate) fn signal(&self, pid: Pid, signal: Signal) {
        let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_meant(pid) {
            // An error means that it has ended meanwhile.
            let _ = rustix::process::pidfd_send_signal(handle, signal);
        }
    }
}

/// The inode of the PID namespace that this process's own id counts in; no two that exist at a time have the same.
fn own_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map(|namespace| namespace.ino()).unwrap_or_default()
}

fn folder(pid: Pid) -> PathBuf {
    Path::new("/proc").join(pid.as_raw_nonzero().to_string())
}

/// The tag that a process carries. None for one that has ended or belongs to another user.
fn tag_of(pid: Pid) -> Option<String> {
    let environment = environment_of(&folder(pid))?;
    let mut variables = environment.split(|byte| *byte == 0);
    let tag = variables.find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))?;
    std::str::from_utf8(tag).ok().map(str::to_owned)
}

/// The variables that a process was started with, each ended by a zero byte.
///
/// In the middle of `execve` the kernel has taken the old program's memory away, and let its parent go on, but not yet
/// noted where the new one's variables end: they read as empty then, so such a process is looked at again.
fn environment_of(process: &Path) -> Option<Vec<u8>> {
    let deadline = Instant::now() + EXEC_LIMIT;
    loop {
        let environment = fs::read(process.join("environ")).ok()?;
        let runs_a_program = || fs::read_link(process.join("exe")).is_ok();
        if !environment.is_empty() || !runs_a_program() || Instant::now() > deadline {
            return Some(environment);
        }
        std::thread::sleep(EXEC_LOOK);
    }
}

/// The fields of `/proc/<id>/stat` after the name, which is in parentheses and may hold anything.
fn stat(pid: Pid) -> Option<Vec<String>> {
    let text = fs::read_to_string(folder(pid).join("stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Field 22, in clock ticks from the start of the machine.
fn start_time(pid: Pid) -> Option<u64> {
    stat(pid)?.get(19)?.parse().ok()
}

/// The process that it belongs to. None for the first of a namespace, and for one that has ended.
pub(crate) fn parent(pid: Pid) -> Option<Pid> {
    stat(pid)?.get(1)?.parse().ok().and_then(Pid::from_raw)
}

/// Whether it only waits to be collected.
fn is_dead(pid: Pid) -> bool {
    stat(pid).is_none_or(|fields| fields.first().is_some_and(|state| state == "Z" || state == "X"))
}

/// The start of a process's command line: enough to know it by.
fn command_line(pid: Pid) -> String {
    const SHOWN_CHARACTERS: usize = 100;
    let bytes = fs::read(folder(pid).join("cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&bytes).replace(['\0', '\n'], " ");
    words.chars().take(SHOWN_CHARACTERS).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_known_by_its_mark() {
        let own = RunTag::of_new_owner();
        assert!(own.namespace != 0 && !own.is_over());
        assert_eq!(RunTag::read(&own.to_string()), Some(own.clone()));
        let earlier = RunTag { started: own.started + 1, ..RunTag::of_new_owner() };
        assert!(earlier.is_over(), "another process had this id");
        assert!(Tagged::Orphans.fits(&earlier.of(3)) && !Tagged::Orphans.fits(&own.of(3)));
        assert!(Tagged::Run(own.clone()).fits(&own.of(3)) && !Tagged::Run(own.clone()).fits(&earlier.of(3)));
        assert!(!Tagged::Run(own.clone()).fits(&RunTag::of_new_owner().of(3)), "owners of one process are apart");
        assert!(!Tagged::Process(own.clone(), 3).fits(&own.of(33)));
    }

    #[test]
    fn what_lives_in_a_container_is_not_ended_from_the_host_by_its_process_id_there() {
        let own = RunTag::of_new_owner();
        // Nobody on the host has that id, or another process has it.
        for there in [
            RunTag { namespace: own.namespace + 1, started: own.started + 1, ..own.clone() },
            RunTag { namespace: 0, started: own.started + 1, ..own },
        ] {
            assert!(!there.is_over() && !Tagged::Orphans.fits(&there.of(3)), "{there}");
            assert!(!Tagged::Run(own.clone()).fits(&there.of(3)) && RunTag::read(&there.to_string()) == Some(there));
        }
        let here = RunTag { started: own.started + 1, ..own };
        assert!(Tagged::Orphans.fits(&here.of(3)), "the namespace makes the difference");
    }

    #[test]
    fn strange_marks_are_nobodys() {
        let here = own_namespace();
        let strange =
            ["", "1", "x.1.1:1", "1.x.1:1", "1.1:1", "-1.1.1:1", "0.0.0:1", "99999999999999.1.1:2", "1.1.1.1:1"];
        for text in strange.into_iter().flat_map(|text| [text.to_owned(), format!("{here}.{text}")]) {
            assert!(!Tagged::Orphans.fits(&text), "{text}");
        }
    }
}
