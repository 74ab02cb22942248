//! A child process whose lines are kept, and that ends with its value.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::PATIENCE;

/// How long a process may take to end after SIGTERM when its story is over.
const LAST_GRACE: Duration = Duration::from_secs(5);

/// A child process.
pub struct Process {
    name: String,
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

/// The lines of one stream, and a sign of each new one.
struct Lines {
    kept: Arc<Mutex<Vec<String>>>,
    count: watch::Receiver<usize>,
    reader: JoinHandle<()>,
}

impl Lines {
    fn of(stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (counter, count) = watch::channel(0);
        let keep = Arc::clone(&kept);
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push(line);
                counter.send_replace(kept.len());
            }
        });
        Self { kept, count, reader }
    }

    fn all(&self) -> Vec<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Process {
    pub(crate) fn spawn(program: &Path, arguments: &[&str], environment: &[(&str, String)]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|problem| panic!("{} could not be started: {problem}", program.display()));
        let stdout = Lines::of(child.stdout.take().expect("standard output is piped"));
        let stderr = Lines::of(child.stderr.take().expect("standard error is piped"));
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, child, stdout, stderr }
    }

    /// The process id.
    ///
    /// # Panics
    /// When the process has ended.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id().unwrap_or_else(|| panic!("{} has ended", self.name))
    }

    /// Waits for a line on standard output that holds the text, and returns the first such line.
    pub async fn wait_for_line(&mut self, text: &str) -> String {
        let what = format!("'{text}'");
        self.wait_for(&what, |lines| lines.iter().find(|line| line.contains(text)).cloned()).await
    }

    /// Waits until a line of JSON on standard output satisfies the condition, and returns the first such one.
    pub async fn wait_for_json(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let read = |line: &String| serde_json::from_str(line).ok();
        self.wait_for(what, |lines| lines.iter().filter_map(read).find(|line| wanted(line))).await
    }

    /// Waits until something is found in the lines of standard output.
    pub async fn wait_for<T>(&mut self, what: &str, found: impl Fn(&[String]) -> Option<T>) -> T {
        let mut count = self.stdout.count.clone();
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some(found) = found(&self.stdout.all()) {
                    return Some(found);
                }
                if count.changed().await.is_err() {
                    return found(&self.stdout.all());
                }
            }
        })
        .await;
        match waited {
            Ok(Some(found)) => found,
            Ok(None) | Err(_) => panic!("{} never printed {what}.{}", self.name, self.told()),
        }
    }

    /// Waits for the end and returns the exit status; `None` if a signal ended it.
    pub async fn wait(&mut self) -> Option<i32> {
        let Ok(status) = tokio::time::timeout(PATIENCE, self.child.wait()).await else {
            panic!("{} did not end.{}", self.name, self.told());
        };
        // What was written before the end is still being read.
        let _ = tokio::time::timeout(LAST_GRACE, &mut self.stdout.reader).await;
        let _ = tokio::time::timeout(LAST_GRACE, &mut self.stderr.reader).await;
        status.expect("the child can be waited for").code()
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Writes a line to its standard input.
    pub async fn write_line(&mut self, line: &str) {
        let Some(stdin) = &mut self.child.stdin else { panic!("{} reads no more", self.name) };
        let written = stdin.write_all(format!("{line}\n").as_bytes()).await;
        assert!(written.is_ok(), "{} does not read.{}", self.name, self.told());
    }

    /// Sends a signal: `TERM`, `INT`, `KILL`, `STOP`.
    pub fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "SIG{name} could not be sent to {}", self.name);
    }

    /// The lines of standard output so far.
    #[must_use]
    pub fn stdout(&self) -> Vec<String> {
        self.stdout.all()
    }

    /// The lines of standard error so far.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.stderr.all()
    }

    /// Everything that it said, for a failing story.
    fn told(&self) -> String {
        format!("\nstdout:\n{}\nstderr:\n{}", self.stdout().join("\n"), self.stderr().join("\n"))
    }
}

impl Drop for Process {
    /// Ends the process with its story: politely, so that its own children end too, and then for good.
    fn drop(&mut self) {
        let Some(id) = self.child.id() else { return };
        // It may have ended by itself in this moment.
        let _ = std::process::Command::new("kill").arg("-TERM").arg(id.to_string()).status();
        let deadline = std::time::Instant::now() + LAST_GRACE;
        while std::time::Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.start_kill();
        if std::thread::panicking() {
            eprintln!("{} had to be killed.{}", self.name, self.told());
        }
    }
}
