//! A local model whose process is scripted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ChatRequest, Fragment, Message, Purpose, ReplyListener, ToolDefinition, ToolKind};
use cortex_model::{LocalModel, LocalSettings, ModelSettings};
use cortex_protocol::ToolPhase;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Against hangs only.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// What a process does, by the name of its model's file.
pub(crate) struct Scripted {
    folder: TempDir,
    file: PathBuf,
}

impl Scripted {
    pub(crate) fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(format!("{name}.gguf"));
        std::fs::write(&file, "GGUF").unwrap();
        Self { folder, file }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn path(&self, end: &str) -> PathBuf {
        self.folder.path().join(format!("{}{end}", self.file.file_name().unwrap().to_string_lossy()))
    }

    pub(crate) fn settings(&self) -> ModelSettings {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/local/scripted.sh");
        let local = LocalSettings {
            file: Some(self.file.clone()),
            program: Some(program),
            restart_pause: Duration::from_millis(1),
            ..LocalSettings::default()
        };
        ModelSettings { local, ..ModelSettings::default() }
    }

    pub(crate) fn model(&self) -> LocalModel {
        LocalModel::new(None, &self.settings()).unwrap()
    }

    /// The lines that the processes have left behind.
    pub(crate) fn lines(&self, end: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(end)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The processes that were started, by their ids.
    pub(crate) fn started(&self) -> Vec<i32> {
        self.lines(".started").iter().map(|line| line.parse().unwrap()).collect()
    }
}

/// A process, whose end can be waited for.
pub(crate) struct Watched(rustix::fd::OwnedFd);

impl Watched {
    /// None: it is there no more.
    pub(crate) fn if_there(process: i32) -> Option<Self> {
        pidfd_open(Pid::from_raw(process).unwrap(), PidfdFlags::empty()).ok().map(Self)
    }

    /// Fails if it does not end.
    pub(crate) async fn ended(self) {
        let ended = tokio::task::spawn_blocking(move || {
            let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
            poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit)).unwrap()
        });
        assert_eq!(ended.await.unwrap(), 1, "the process goes on");
    }
}

/// Most words that a test hears.
const WORDS: usize = 1_000;

/// Hears the words of an answer.
pub(crate) struct Heard(mpsc::Sender<String>);

impl Heard {
    pub(crate) fn new() -> (Arc<Self>, mpsc::Receiver<String>) {
        let (sender, receiver) = mpsc::channel(WORDS);
        (Arc::new(Self(sender)), receiver)
    }
}

impl ReplyListener for Heard {
    fn on_text(&self, so_far: &str) {
        self.0.try_send(so_far.to_owned()).expect("no answer of these tests has so many words");
    }
}

pub(crate) fn request(task: &str) -> ChatRequest {
    let go = ToolDefinition {
        name: "go".to_owned(),
        description: "[act] Drives to a room.".to_owned(),
        parameters: json!({"type": "object", "properties": {"to": {"enum": ["kitchen", "office"]}}, "required": ["to"]}),
        phase: ToolPhase::Execution,
        phrases: vec!["go to the {to}".to_owned()],
        kind: ToolKind::Act,
    };
    let messages = vec![
        Message::System { fragments: vec![Fragment::Rules { text: "Be careful.".to_owned() }] },
        Message::User { fragments: vec![Fragment::Task { text: task.to_owned() }] },
    ];
    ChatRequest { purpose: Purpose::Plan, messages, tools: vec![go], temperature: 0.0, max_tokens: 500 }
}
