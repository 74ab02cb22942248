//! Limits of processes: written where the kernel reads them, and refused in words where it does not.
//!
//! The control groups are a tree of plain files, which the processes of these tests read and write in place of the
//! kernel.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cortex_process::{Cgroups, Ending, Limits, ProcessEvent, Processes, Program};

/// Longer than anything here takes; a test that waits so long has failed.
const LIMIT: Duration = Duration::from_secs(20);
const MEMORY: Limits = Limits { memory_bytes: Some(64_000_000), cpu_thousandths: None };

/// A control group with these controllers.
fn group(controllers: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cgroup.controllers"), controllers).unwrap();
    fs::write(folder.path().join("cgroup.subtree_control"), "").unwrap();
    fs::write(folder.path().join("cgroup.procs"), "").unwrap();
    folder
}

fn processes(root: &Path) -> Processes {
    Processes::with_sink(|_| {}).unwrap().limited_by(Cgroups::at(root.to_owned()))
}

fn shell(script: &str, limits: Limits) -> Program {
    let arguments = vec!["-c".into(), script.into()];
    Program { name: "left/arm".into(), program: "sh".into(), arguments, limits, ..Program::default() }
}

fn ended(processes: &mut Processes) -> Ending {
    let deadline = Instant::now() + LIMIT;
    while Instant::now() < deadline {
        if let Some(ProcessEvent::Ended { ending, .. }) = processes.wait(Some(LIMIT)).into_iter().next() {
            return ending;
        }
    }
    panic!("nothing has ended");
}

/// The one group that was made.
fn made(root: &Path) -> PathBuf {
    let made: Vec<PathBuf> =
        fs::read_dir(root).unwrap().flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let [made] = made.as_slice() else { panic!("{made:?}") };
    made.clone()
}

fn text(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_default().trim().to_owned()
}

#[test]
fn limits_are_written_and_the_process_is_in_its_group_before_it_runs() {
    let root = group("cpu memory pids");
    let mut processes = processes(root.path());
    // It ends well only if it was put into the group before: the kernel reads 0 as whoever writes it.
    let script = format!("test \"$(cat {}/component-*/cgroup.procs)\" = 0", root.path().display());
    let limits = Limits { cpu_thousandths: Some(500), ..MEMORY };
    processes.start(1, shell(&script, limits)).unwrap();
    assert_eq!(processes.unlimited(1), None);
    assert_eq!(ended(&mut processes), Ending::Exited { status: 0 });
    let made = made(root.path());
    assert!(made.file_name().unwrap().to_string_lossy().starts_with("component-left-arm-"), "{made:?}");
    assert_eq!(text(&made, "memory.max"), "64000000");
    assert_eq!(text(&made, "memory.oom.group"), "1");
    assert_eq!(text(&made, "cpu.max"), "50000 100000");
    assert_eq!(text(root.path(), "cgroup.subtree_control"), "+memory +cpu");
}

#[test]
fn a_process_that_is_killed_for_memory_is_told_apart_from_one_that_is_killed() {
    for (kills, expected) in
        [(1, Ending::OutOfMemory { limit_bytes: 64_000_000 }), (0, Ending::Signalled { signal: 9, by_us: false })]
    {
        let root = group("memory");
        let mut processes = processes(root.path());
        // As the kernel does it: it counts, and kills.
        let script = format!(
            "cd {}/component-* && printf 'oom 1\\noom_kill {kills}\\n' > memory.events; kill -9 $$",
            root.path().display()
        );
        processes.start(1, shell(&script, MEMORY)).unwrap();
        assert_eq!(ended(&mut processes), expected);
    }
}

#[test]
fn what_can_not_be_limited_runs_and_it_is_told_why() {
    let elsewhere = tempfile::tempdir().unwrap();
    for (root, why) in [(group("cpu pids"), "has no memory controller"), (elsewhere, "can't be read")] {
        let mut processes = processes(root.path());
        processes.start(1, shell("exit 0", MEMORY)).unwrap();
        let told = processes.unlimited(1).unwrap().to_string();
        assert!(told.contains(why) && told.contains("Delegate=yes"), "{told}");
        assert_eq!(ended(&mut processes), Ending::Exited { status: 0 });
        assert_eq!(processes.unlimited(1), None, "it has ended");
    }
}

/// Where the kernel of this machine keeps limits, it does; elsewhere it is told why not.
#[test]
fn on_this_machine_a_limit_is_kept_or_refused_in_words() {
    let mut processes = Processes::with_sink(|_| {}).unwrap();
    let limits = Limits { memory_bytes: Some(32 << 20), cpu_thousandths: None };
    // It takes 200 MB, if it is let.
    processes.start(1, shell("x=$(head -c 200000000 /dev/zero | tr '\\0' a); test ${#x} = 200000000", limits)).unwrap();
    let refusal = processes.unlimited(1).map(ToString::to_string);
    let ending = ended(&mut processes);
    match refusal {
        None => assert_eq!(ending, Ending::OutOfMemory { limit_bytes: 32 << 20 }),
        Some(refusal) => {
            assert_eq!(ending, Ending::Exited { status: 0 });
            assert!(refusal.contains("Fix: start Cortex in a control group that is delegated to it"), "{refusal}");
        }
    }
}
