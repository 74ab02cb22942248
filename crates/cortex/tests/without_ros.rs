//! `cortex` on a machine where no ROS is sourced, and how it becomes the program that links ROS. That program is a small one
//! in C here, and its library is one that may be taken away.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Prints what it is given, and ends with a status of its own.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int distribution(void);
int main(int count, char **arguments) {
    printf("pid=%d group=%d", getpid(), getpgrp());
    for (int at = 0; at < count; at++) printf(" [%s]", arguments[at]);
    printf(" ours=%s\n", getenv("OURS"));
    return distribution();
}
"#;

/// An installation in a folder of its own: `cortex` in `bin`, and what the test puts beside it.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("bin")).unwrap();
        let installed = Self { folder };
        // By a process of its own: a file that this one has open for writing is, for a moment, open in whatever a test
        // beside starts, and nobody may execute it then (ETXTBSY).
        let copied =
            Command::new("cp").arg(env!("CARGO_BIN_EXE_cortex")).arg(installed.bin("cortex")).status().unwrap();
        assert!(copied.success());
        installed
    }

    fn bin(&self, name: &str) -> PathBuf {
        self.folder.path().join("bin").join(name)
    }

    /// Puts a program that links a library to `place`, and gives the folder of the library.
    fn add_program(&self, place: &Path) -> PathBuf {
        let libraries = self.folder.path().join("libraries");
        std::fs::create_dir_all(&libraries).unwrap();
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let (library, program) = (libraries.join("library.c"), libraries.join("program.c"));
        std::fs::write(&library, "int distribution(void) { return 7; }\n").unwrap();
        std::fs::write(&program, PROGRAM).unwrap();
        let compile = |arguments: &[&std::ffi::OsStr]| {
            assert!(Command::new("cc").args(arguments).status().unwrap().success(), "{arguments:?}");
        };
        let shared = libraries.join("libdistribution.so");
        compile(&["-shared".as_ref(), "-fPIC".as_ref(), "-o".as_ref(), shared.as_ref(), library.as_ref()]);
        let folder = format!("-L{}", libraries.display());
        compile(&["-o".as_ref(), place.as_ref(), program.as_ref(), folder.as_ref(), "-ldistribution".as_ref()]);
        libraries
    }

    /// `cortex` with nothing in its environment but these.
    fn command(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
        let mut command = Command::new(self.bin("cortex"));
        command.args(arguments).env_clear().env("HOME", self.folder.path()).stdin(Stdio::null());
        command.envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String, String) {
        let Output { status, stdout, stderr } = self.command(arguments, environment).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }
}

#[test]
fn what_needs_no_ros_is_done_without_it() {
    let installed = Installed::new();
    let tapes = installed.folder.path().join("tapes");
    let tapes = tapes.to_str().unwrap();
    let recipe = installed.folder.path().join("robot.toml");
    std::fs::write(&recipe, "recipe = 1\n[components.base]\nstart = { program = \"sh\" }\n").unwrap();
    let recipe = recipe.to_str().unwrap();
    for (arguments, code, expected) in [
        (vec!["--help"], 0, "--ros-args"),
        (vec!["--version"], 0, env!("CARGO_PKG_VERSION")),
        (vec!["completion", "bash"], 0, "_cortex()"),
        (vec!["tape", "list", "--directory", tapes], 0, "There are no tapes in"),
        (vec!["wordings", "list"], 0, "Nothing was learnt yet"),
        (vec!["recipe", "schema"], 0, "\"$schema\""),
        (vec!["recipe", "check", recipe], 0, "right; 1 component, 0 actions"),
    ] {
        let (found, told, complained) = installed.run(&arguments, &[]);
        assert_eq!(found, Some(code), "{arguments:?}: {told}{complained}");
        assert!(told.contains(expected), "{arguments:?}: {told}{complained}");
    }
    std::fs::write(installed.folder.path().join("robot.toml"), "recipe = 1\nworld = \"flat.toml\"\n").unwrap();
    let (code, _, complained) = installed.run(&["recipe", "check", recipe], &[]);
    assert_eq!(code, Some(1), "{complained}");
    assert!(complained.contains("robot.toml:2:9") && complained.contains("was not checked"), "{complained}");
    // It asks over HTTP, and nobody answers there.
    let (code, _, complained) = installed.run(&["watch", "--json", "http://127.0.0.1:9"], &[]);
    assert!(code.is_some_and(|code| code != 127) && complained.contains("127.0.0.1:9"), "{code:?}: {complained}");
}

#[test]
fn what_needs_ros_says_what_is_missing_and_what_to_source() {
    let installed = Installed::new();
    let (code, _, complained) = installed.run(&["send", "hello"], &[]);
    assert_eq!(code, Some(2), "{complained}");
    assert!(complained.contains("the program cortex-on-ros") && complained.contains("fix: install it"), "{complained}");

    let libraries = installed.add_program(&installed.bin("cortex-on-ros"));
    for (environment, expected) in [
        (
            vec![],
            "no ROS 2 is sourced (its libraries libdistribution.so are not found); fix: run `source /opt/ros/jazzy/",
        ),
        (
            vec![("ROS_DISTRO", "kilted"), ("LD_LIBRARY_PATH", "/nowhere")],
            "ROS_DISTRO is kilted, and the libraries libdistribution.so",
        ),
    ] {
        for arguments in [vec!["run"], vec!["stop"], vec!["recipe", "check", "--live", "robot.toml"]] {
            let (code, told, complained) = installed.run(&arguments, &environment);
            assert_eq!((code, told.as_str()), (Some(2), ""), "{arguments:?}: {complained}");
            assert!(complained.contains(expected), "{arguments:?}: {complained}");
        }
        let (code, told, _) = installed.run(&["doctor"], &environment);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("FAIL  ROS libraries: ") && told.contains("libdistribution.so"), "{told}");
        assert!(told.contains("ok    configuration: the model is reflex"), "{told}");
    }
    // The program was there all the time.
    let path = libraries.to_str().unwrap();
    let (code, told, _) = installed.run(&["doctor"], &[("LD_LIBRARY_PATH", path)]);
    assert_eq!(code, Some(7), "{told}");
}

#[test]
fn the_process_stays_with_its_group_its_arguments_and_its_environment() {
    use std::os::unix::process::CommandExt as _;
    let installed = Installed::new();
    // As an installation has it: not beside `bin/cortex`.
    let libraries = installed.add_program(&installed.folder.path().join("lib/cortex/cortex-on-ros"));
    let environment = [("LD_LIBRARY_PATH", libraries.to_str().unwrap()), ("OURS", "kept")];
    let arguments = ["run", "--exit-with-pid", "1", "--ros-args", "-r", "__ns:=/robot1"];
    let child = installed.command(&arguments, &environment).process_group(0).spawn().unwrap();
    let process = child.id();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let program = installed.bin("cortex");
    let expected = format!(
        "pid={process} group={process} [{}] [run] [--exit-with-pid] [1] [--ros-args] [-r] [__ns:=/robot1] ours=kept\n",
        program.display()
    );
    assert_eq!((output.status.code(), told), (Some(7), expected));
    // A mistake on the command line is told before anything is started.
    let (code, _, complained) = installed.run(&["fly"], &environment);
    assert!(code == Some(2) && complained.contains("unrecognized subcommand"), "{complained}");
}
