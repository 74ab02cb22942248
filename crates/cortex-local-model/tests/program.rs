//! The program as it is usually built: without an engine. It says so, and bears what it is not made for.

#![cfg(not(feature = "llama"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use cortex_local_model::protocol::{FromModel, Load, Problem, ToModel, VERSION};

/// Runs the program with this input to its end.
fn run(input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cortex-local-model"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn load(version: u32) -> String {
    let file = "/models/tiny.gguf".into();
    let load = Load { version, file, context_tokens: 0, threads: 0, gpu_layers: 0, seed: 0 };
    serde_json::to_string(&ToModel::Load(load)).unwrap() + "\n"
}

/// The problem that one line tells, before the process ends.
fn refused(version: u32) -> Problem {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cortex-local-model"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The input stays open until the program has answered: at its end the program ends at once.
    let mut input = child.stdin.take().unwrap();
    input.write_all(load(version).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert!(!output.status.success());
    match serde_json::from_slice(&output.stdout).unwrap() {
        FromModel::Refused(problem) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_an_engine_it_says_how_to_get_one() {
    let problem = refused(VERSION);
    assert!(problem.problem.contains("built without an engine"), "{problem:?}");
    assert!(problem.fix.contains("--features llama"), "{problem:?}");
    let other = refused(VERSION + 1);
    assert!(other.problem.contains("speaks version 2") && other.fix.contains("same build"), "{other:?}");
}

#[test]
fn it_ends_with_its_input_and_at_what_it_can_not_read() {
    assert!(run("").status.success(), "nobody wants anything");
    for input in ["hello\n", "{\"load\":{}}\n", "{\"load\":"] {
        let output = run(input);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{input}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("a line"), "{told}");
    }
    let help = Command::new(env!("CARGO_BIN_EXE_cortex-local-model")).arg("--help").output().unwrap();
    let told = String::from_utf8_lossy(&help.stderr).into_owned();
    assert!(help.status.code() == Some(2) && told.contains("built without the feature `llama`"), "{told}");
}

#[test]
fn regression_it_bears_that_nobody_reads_its_standard_error() {
    let unread = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    let program = || Command::new(env!("CARGO_BIN_EXE_cortex-local-model"));
    let help = program().arg("--help").stderr(unread()).status().unwrap();
    assert_eq!(help.code(), Some(2));
    let mut child = program().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(unread()).spawn().unwrap();
    // The input stays open until the program has answered.
    let mut input = child.stdin.take().unwrap();
    input.write_all(load(VERSION).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(1));
    assert!(matches!(serde_json::from_slice(&output.stdout).unwrap(), FromModel::Refused(_)));
}
