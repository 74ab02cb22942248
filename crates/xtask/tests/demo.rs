//! What a demonstration leaves behind, however it ends: nothing. The robot and Cortex are scripts here; `tests/operation/demo.rs` of the
//! stories has the real ones.

#![expect(clippy::unwrap_used, reason = "a test whose set-up fails ends here, and says why")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};

/// Far longer than all of it takes, for a machine that is busy.
const LIMIT: Duration = Duration::from_secs(90);

/// A part of the robot: holds the pipe open as long as it or anything that it has started lives, and ends when it is asked.
const ROBOT: &str = r#"#!/bin/sh
exec 9>"$ALIVE"
echo robot >&9
sleep 600 &
trap 'kill $!; exit 0' TERM
echo ready
wait
"#;

/// Cortex: ends when it is asked. As a client, its task is done when somebody writes into a pipe.
const CORTEX: &str = r#"#!/bin/sh
exec 9>"$ALIVE"
echo "$1" >&9
case "$1" in
run) sleep 600 & trap 'kill $!; exit 0' TERM; echo "page: http://127.0.0.1:1"; echo ready; wait ;;
send) trap 'exit 1' INT; echo "sent: $*" >&2; read -r line <"$GO" ;;
esac
"#;

/// Cortex that nothing moves but SIGKILL.
const HUNG_CORTEX: &str = r#"#!/bin/sh
exec 9>"$ALIVE"
echo "$1" >&9
trap '' TERM HUP INT
[ "$1" = run ] && { echo "page: http://127.0.0.1:1"; echo ready; }
[ "$1" = send ] && echo "sent: $*" >&2
sleep 600
sleep 600
"#;

/// Writes a program by a process of its own: a file that this one has open for writing is, for a moment, open in whatever a
/// test beside starts, and nobody may execute it then (ETXTBSY).
fn write_program(file: &Path, text: &str) {
    let mut install = Command::new("install");
    let mut child = install.args(["-m", "755", "/dev/stdin"]).arg(file).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

struct Demo {
    folder: tempfile::TempDir,
    child: Child,
    /// What the demonstration says.
    output: Option<BufReader<ChildStderr>>,
    /// The names of all that lived, once none of them does.
    ended: Receiver<String>,
}

impl Demo {
    fn start(cortex: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let binaries = folder.path().join("debug");
        fs::create_dir(&binaries).unwrap();
        for (name, text) in [("cortex-sim", ROBOT), ("cortex", cortex)] {
            write_program(&binaries.join(name), text);
        }
        let (alive, go) = (pipe(folder.path(), "alive"), pipe(folder.path(), "go"));
        let (sender, ended) = sync_channel(1);
        let reading = alive.clone();
        thread::spawn(move || {
            let mut names = String::new();
            File::open(reading).unwrap().read_to_string(&mut names).unwrap();
            let _ = sender.send(names);
        });
        let mut child = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["demo", "--binaries"])
            .arg(&binaries)
            .envs([("ALIVE", alive), ("GO", go)])
            .env_remove("CORTEX_CONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stderr.take().map(BufReader::new);
        Self { folder, child, output, ended }
    }

    /// What is said until a line with these words.
    fn wait_for(&mut self, words: &str) -> String {
        let mut said = String::new();
        while !said.lines().last().is_some_and(|line| line.contains(words)) {
            let read = self.output.as_mut().unwrap().read_line(&mut said).unwrap();
            assert!(read > 0, "'{words}' is not in:\n{said}");
        }
        said
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits until nothing of it lives any more.
    fn nothing_is_left(self) -> ExitStatus {
        let Self { mut child, ended, folder, output } = self;
        drop(output);
        let lived = ended.recv_timeout(LIMIT);
        let status = child.wait().unwrap();
        let mut lived: Vec<String> = lived.unwrap().lines().map(str::to_owned).collect();
        lived.sort();
        assert_eq!(lived, ["robot", "run", "send"]);
        drop(folder);
        status
    }
}

fn pipe(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn a_killed_demonstration_leaves_nothing() {
    let mut demo = Demo::start(HUNG_CORTEX);
    demo.wait_for("sent:");
    demo.signal(Signal::KILL);
    demo.nothing_is_left();
}

/// The reader of its output ends before it does, as `tee` in a terminal that is closed: what it says then panicked.
#[test]
fn a_demonstration_whose_terminal_and_reader_are_gone_leaves_nothing() {
    let mut demo = Demo::start(CORTEX);
    demo.wait_for("sent:");
    demo.output = None;
    // The kernel and the shell both tell of it.
    demo.signal(Signal::HUP);
    demo.signal(Signal::HUP);
    assert!(!demo.nothing_is_left().success());
}

#[test]
fn a_demonstration_whose_output_nobody_reads_goes_on_and_ends_well() {
    let mut demo = Demo::start(CORTEX);
    let said = demo.wait_for("sent:");
    assert!(said.contains("this ends after the task"), "{said}");
    assert!(said.contains("The page: http://127.0.0.1:1"), "{said}");
    demo.output = None;
    fs::write(demo.folder.path().join("go"), "go\n").unwrap();
    assert!(demo.nothing_is_left().success());
}
