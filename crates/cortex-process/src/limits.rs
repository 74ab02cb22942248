//! What a process may use: limits that the kernel keeps, by control groups (cgroup v2).
//!
//! A group of its own is made for each process that has limits, below the group that this process is in, which has to
//! be delegated to it (systemd: `Delegate=yes`). The process is put into it between fork and exec, so that all that it
//! ever starts is in it, too.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What a process, with all that it starts, may use together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most memory, in bytes. What needs more is killed.
    pub memory_bytes: Option<u64>,
    /// The most time on processors, in thousandths of one processor. What needs more waits.
    pub cpu_thousandths: Option<u32>,
}

impl Limits {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The controllers of the kernel that keep them.
    fn controllers(&self) -> impl Iterator<Item = &'static str> {
        let memory = self.memory_bytes.map(|_| "memory");
        memory.into_iter().chain(self.cpu_thousandths.map(|_| "cpu"))
    }
}

/// Why limits can't be kept here, with what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// Why, without what to do.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0
    }

    pub(crate) fn new(problem: &io::Error) -> Self {
        Self(format!("the control group of the process can't be used ({problem})"))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}. Fix: start Cortex in a control group that is delegated to it, by `systemd-run --user --scope -p \
             Delegate=yes cortex run RECIPE` or Delegate=yes in its unit",
            self.0
        )
    }
}

/// The period of `cpu.max`, in microseconds.
const PERIOD_US: u64 = 100_000;
/// The group that this process itself goes into: one with groups below it holds no processes.
const OWN: &str = "cortex";

/// A control group below which those of processes are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroups {
    root: PathBuf,
}

/// The control group of one process.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    limits: Limits,
    /// Where the process puts itself into.
    pub(crate) entrance: File,
}

impl Cgroups {
    /// The group that this process is in.
    ///
    /// # Errors
    /// When there is no cgroup v2.
    pub fn own() -> Result<Self, Refusal> {
        let none = || Refusal("cgroup v2 is not mounted here".to_owned());
        let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|_| none())?;
        let groups = fs::read_to_string("/proc/self/cgroup").map_err(|_| none())?;
        let path = groups.lines().find_map(|line| line.strip_prefix("0::/")).ok_or_else(none)?;
        // Fields: id, parent, device, root, mount point, options ... "-", type.
        let mount = mounts.lines().find(|line| line.split(" - ").nth(1).is_some_and(|end| end.starts_with("cgroup2 ")));
        let mount = mount.and_then(|line| line.split(' ').nth(4)).ok_or_else(none)?;
        Ok(Self::at(Path::new(mount).join(path)))
    }

    /// This group.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Whether limits can be kept here, as far as that can be seen without changing anything.
    ///
    /// # Errors
    /// Why not.
    pub fn look(&self, limits: &Limits) -> Result<(), Refusal> {
        let shown = self.root.display();
        let controllers = fs::read_to_string(self.root.join("cgroup.controllers"))
            .map_err(|problem| Refusal(format!("the control group {shown} can't be read ({problem})")))?;
        for needed in limits.controllers() {
            if !controllers.split_whitespace().any(|controller| controller == needed) {
                return Err(Refusal(format!("the control group {shown} has no {needed} controller")));
            }
        }
        for file in ["cgroup.subtree_control", "cgroup.procs"] {
            OpenOptions::new().write(true).open(self.root.join(file)).map_err(|problem| {
                Refusal(format!("the control group {shown} is not delegated ({file}: {problem})"))
            })?;
        }
        Ok(())
    }

    /// Makes a group with these limits.
    pub(crate) fn make(&self, name: &str, limits: Limits) -> Result<Group, Refusal> {
        self.look(&limits)?;
        self.hand_down(&limits)?;
        let folder = self.root.join(name);
        let group = fs::create_dir(&folder).and_then(|()| {
            if let Some(bytes) = limits.memory_bytes {
                fs::write(folder.join("memory.max"), bytes.to_string())?;
                // All of it ends, and not one process that the others then wait for; and no disk makes it last.
                let _ = fs::write(folder.join("memory.oom.group"), "1");
                let _ = fs::write(folder.join("memory.swap.max"), "0");
            }
            if let Some(thousandths) = limits.cpu_thousandths {
                let quota = u64::from(thousandths) * PERIOD_US / 1_000;
                fs::write(folder.join("cpu.max"), format!("{quota} {PERIOD_US}"))?;
            }
            // The kernel has made it; elsewhere than in its file system, in tests, nobody has.
            OpenOptions::new().write(true).create(true).truncate(false).open(folder.join("cgroup.procs"))
        });
        match group {
            Ok(entrance) => Ok(Group { folder, limits, entrance }),
            Err(problem) => {
                let _ = fs::remove_dir(&folder);
                Err(Refusal(format!("the control group {} can't be made ({problem})", folder.display())))
            }
        }
    }

    /// Lets the groups below have the controllers. For that this process has to go into one of them.
    fn hand_down(&self, limits: &Limits) -> Result<(), Refusal> {
        let control = self.root.join("cgroup.subtree_control");
        let handed = fs::read_to_string(&control).unwrap_or_default();
        let is_handed = |needed: &str| handed.split_whitespace().any(|controller| controller == needed);
        let missing: Vec<String> =
            limits.controllers().filter(|needed| !is_handed(needed)).map(|needed| format!("+{needed}")).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let write = || fs::write(&control, missing.join(" "));
        if write().is_ok() {
            return Ok(());
        }
        let own = self.root.join(OWN);
        let moved = fs::create_dir_all(&own).and_then(|()| move_own(&own));
        moved.and_then(|()| write()).map_err(|problem| {
            // As it was before.
            let _ = move_own(&self.root);
            let _ = fs::remove_dir(&own);
            Refusal(format!(
                "the control group {} hands no limits down, since there are processes of others in it ({problem})",
                self.root.display()
            ))
        })
    }
}

/// Puts this process, and those that it has started so far, into a group.
fn move_own(group: &Path) -> io::Result<()> {
    let entrance = group.join("cgroup.procs");
    let own = std::process::id();
    fs::write(&entrance, own.to_string())?;
    // Each thread has those that it has started.
    for thread in fs::read_dir("/proc/self/task")?.flatten() {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            // One that has ended meanwhile needs no place.
            let _ = fs::write(&entrance, child);
        }
    }
    Ok(())
}

impl Group {
    /// The most memory that the kernel let it have, if something of it was killed for needing more.
    pub(crate) fn killed_for_memory(&self) -> Option<u64> {
        let events = fs::read_to_string(self.folder.join("memory.events")).ok()?;
        let kills = events.lines().find_map(|line| line.strip_prefix("oom_kill "))?;
        self.limits.memory_bytes.filter(|_| kills.trim() != "0")
    }

    /// Ends all that is still in it, and removes it. False: it is not empty yet.
    pub(crate) fn remove(&self) -> bool {
        // There is no such file before Linux 5.14; then what is left was marked, and ended by that.
        let _ = OpenOptions::new().write(true).open(self.folder.join("cgroup.kill")).and_then(|mut file| {
            use io::Write as _;
            file.write_all(b"1")
        });
        match fs::remove_dir(&self.folder) {
            Ok(()) => true,
            Err(problem) => problem.kind() == io::ErrorKind::NotFound,
        }
    }
}
