//! Messages that `rclpy` reads and writes: field by field the same as here.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cortex_interfaces::{Interfaces, Message, ReadOptions};
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::{Value, json};

use crate::properties::valid;
use crate::support::{all_names, difference, interfaces, load_from, with_wide_floats, written_as_numbers};

/// How many random messages of each type are compared.
const ROUNDS: u8 = 4;

/// A Python process that reads and writes messages.
pub(crate) struct Python {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Python {
    pub(crate) fn start(libraries: &[&Path]) -> Self {
        let python = std::env::var_os("CORTEX_ROS_PYTHON").unwrap_or_else(|| "python3".into());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/messages.py");
        let present = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let added = libraries.iter().map(|path| path.to_path_buf());
        let path = std::env::join_paths(added.chain(std::env::split_paths(&present))).unwrap();
        let mut child = Command::new(python)
            .arg(script)
            .env("LD_LIBRARY_PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python with rclpy is needed");
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn ask(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        match reply.get("ok") {
            Some(answer) => answer.clone(),
            None => panic!("{request}: {reply}"),
        }
    }

    /// The message as `rclpy` reads it.
    pub(crate) fn reads(&mut self, name: &str, bytes: &[u8]) -> Value {
        self.ask(&json!({"type": name, "bytes": STANDARD.encode(bytes)}))
    }

    /// The message as `rclpy` writes it.
    pub(crate) fn writes(&mut self, name: &str, value: &Value) -> Vec<u8> {
        STANDARD.decode(self.ask(&json!({"type": name, "json": value})).as_str().unwrap()).unwrap()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compares random messages of these types both ways. `rclpy` also finds libraries in `libraries`.
pub(crate) fn compare(interfaces: &Interfaces, names: &[String], libraries: &[&Path]) {
    let mut python = Python::start(libraries);
    for name in names {
        let interface = load_from(interfaces, name);
        for round in 0..ROUNDS {
            let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[round; 32]);
            let value = valid(interface.message_type(), &mut rng);
            let message = Message::from_json(&interface, &value, &ReadOptions::exact())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let bytes = message.to_serialized().unwrap();
            let wide = with_wide_floats(&value, interface.message_type());
            assert_eq!(difference(&python.reads(name, &bytes), &wide), None, "{name}, as rclpy reads it");
            let theirs = python.writes(name, &value);
            let message =
                Message::from_serialized(&interface, &theirs).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(difference(&written_as_numbers(&message), &value), None, "{name}, as rclpy wrote it");
            assert!(Arc::ptr_eq(message.interface(), &interface));
        }
    }
}

#[test]
fn rclpy_reads_and_writes_the_same_messages_of_every_installed_type() {
    compare(interfaces(), &all_names(interfaces().index()), &[]);
}
