//! The program, talked with as Cortex does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use cortex_local_model::protocol::{
    Ask, Cancel, Done, FromModel, Load, Message, Problem, Ready, Role, ToModel, Tool, VERSION,
};
use serde_json::Value;

/// Against hangs only.
const LIMIT: Duration = Duration::from_secs(600);

/// Lines that wait for a test.
const WAITING_LINES: usize = 4_096;

/// Where the real model lies.
pub(crate) fn real_model() -> PathBuf {
    std::env::var_os("CORTEX_LOCAL_MODEL_FILE").map(PathBuf::from).expect("`cargo xtask local-model` runs these tests")
}

/// A running program.
pub(crate) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<FromModel>,
    asked: u64,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) done: Done,
}

impl Program {
    /// With a model that can be loaded.
    pub(crate) fn with(file: &Path) -> (Self, Ready) {
        Self::load(file, 2_048).unwrap_or_else(|problem| panic!("{problem:?}"))
    }

    /// With any file.
    pub(crate) fn load(file: &Path, context_tokens: u32) -> Result<(Self, Ready), Problem> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cortex-local-model"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env("OMP_WAIT_POLICY", "passive")
            .spawn()
            .unwrap();
        let (sender, output) = mpsc::sync_channel(WAITING_LINES);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|problem| panic!("{problem}: {line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut program = Self { child, input, output, asked: 0 };
        program.write(&ToModel::Load(Load {
            version: VERSION,
            file: file.to_owned(),
            context_tokens,
            threads: 1,
            gpu_layers: 0,
            seed: 1,
        }));
        match program.read() {
            FromModel::Ready(ready) => Ok((program, ready)),
            FromModel::Refused(problem) => {
                assert!(!program.ended().success());
                Err(problem)
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn write(&mut self, line: &ToModel) {
        let text = serde_json::to_string(line).unwrap();
        writeln!(self.input.as_mut().unwrap(), "{text}").unwrap();
    }

    fn read(&self) -> FromModel {
        self.output.recv_timeout(LIMIT).expect("it says something")
    }

    /// Sends a request. Returns its number.
    pub(crate) fn begin(&mut self, ask: Ask) -> u64 {
        self.asked += 1;
        self.write(&ToModel::Ask(Ask { id: self.asked, ..ask }));
        self.asked
    }

    /// The first piece of the answer.
    pub(crate) fn first_piece(&self) -> String {
        match self.read() {
            FromModel::Piece(piece) => piece.text,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.write(&ToModel::Cancel(Cancel { id }));
    }

    /// The rest of the answer.
    pub(crate) fn finish(&self) -> Result<Reply, Problem> {
        let mut text = String::new();
        loop {
            match self.read() {
                FromModel::Piece(piece) => {
                    assert!(piece.id == self.asked && !piece.text.is_empty(), "{piece:?}");
                    text.push_str(&piece.text);
                }
                FromModel::Done(done) => return Ok(Reply { text, done }),
                FromModel::Failed(failed) => return Err(failed.problem),
                other => panic!("{other:?}"),
            }
        }
    }

    pub(crate) fn answer(&mut self, ask: Ask) -> Reply {
        self.begin(ask);
        self.finish().unwrap_or_else(|problem| panic!("{problem:?}"))
    }

    /// Nobody asks any more.
    pub(crate) fn close(mut self) -> ExitStatus {
        drop(self.input.take());
        self.ended()
    }

    fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request in words.
pub(crate) fn words(said: &[(Role, &str)], max_tokens: u32) -> Ask {
    let messages = said.iter().map(|(role, text)| Message { role: *role, text: (*text).to_owned() }).collect();
    Ask { id: 0, messages, tools: Vec::new(), answer: None, temperature: 0.0, max_tokens }
}

/// A tool with arguments.
pub(crate) fn tool(name: &str, parameters: Value) -> Tool {
    Tool { name: name.to_owned(), parameters }
}
