//! A child process whose lines are kept, and that ends with its value.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::PATIENCE;

/// How long a process may take to end after SIGTERM when its story is over.
const LAST_GRACE: Duration = Duration::from_secs(5);
/// Lines of each stream that a failing story shows: the last ones.
const SHOWN_LINES: usize = 40;
/// Characters that it shows of each.
const SHOWN_CHARACTERS: usize = 400;

/// A child process.
pub struct Process {
    /// The program and its arguments.
    name: String,
    child: Child,
    stdout: Lines,
    stderr: Lines,
    /// Whether a failing story has shown it.
    is_shown: bool,
}

/// The lines of one stream, and a sign of each new one.
struct Lines {
    kept: Arc<Mutex<Vec<(Instant, String)>>>,
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
                kept.push((Instant::now(), line));
                counter.send_replace(kept.len());
            }
        });
        Self { kept, count, reader }
    }

    fn all(&self) -> Vec<String> {
        self.after(0).into_iter().map(|(_, line)| line).collect()
    }

    /// The lines but for the first ones, each with the moment when it was read.
    fn after(&self, first: usize) -> Vec<(Instant, String)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().skip(first).cloned().collect()
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
        let program = program.file_name().unwrap_or_default().to_string_lossy();
        let name = std::iter::once(program.as_ref()).chain(arguments.iter().copied()).collect::<Vec<_>>().join(" ");
        Self { name, child, stdout, stderr, is_shown: false }
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
            Ok(None) => panic!("{} has closed its output and never printed {what}", self.name),
            Err(_) => panic!("{} never printed {what}", self.name),
        }
    }

    /// Waits for the end and returns the exit status; `None` if a signal ended it.
    pub async fn wait(&mut self) -> Option<i32> {
        self.wait_at_most(PATIENCE).await
    }

    /// As [`wait`](Self::wait), for what takes longer than others.
    ///
    /// # Panics
    /// When it does not end in that time.
    pub async fn wait_at_most(&mut self, limit: Duration) -> Option<i32> {
        let Ok(status) = tokio::time::timeout(limit, self.child.wait()).await else {
            panic!("{} did not end", self.name);
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
        self.write(&format!("{line}\n")).await;
    }

    /// Writes to its standard input.
    pub async fn write(&mut self, text: &str) {
        let Some(stdin) = &mut self.child.stdin else { panic!("{} reads no more", self.name) };
        let written = stdin.write_all(text.as_bytes()).await;
        assert!(written.is_ok(), "{} does not read", self.name);
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

    /// The lines of standard error but for the first ones, each with the moment when it was read.
    #[must_use]
    pub fn log_after(&self, first: usize) -> Vec<(Instant, String)> {
        self.stderr.after(first)
    }

    /// Waits until these words were in the log (standard error) so often.
    ///
    /// # Panics
    /// When they were not in time, or it has ended without them.
    pub async fn wait_for_log(&self, words: &str, times: usize) {
        let told = async {
            loop {
                let known = self.stderr();
                if known.iter().filter(|line| line.contains(words)).count() >= times {
                    return true;
                }
                if !self.log_grows(known.len()).await {
                    return false;
                }
            }
        };
        let told = tokio::time::timeout(PATIENCE, told).await;
        assert_eq!(told.ok(), Some(true), "'{words}' was not told {times} times");
    }

    /// Waits until there are more lines of standard error than that; false when there will be none.
    pub async fn log_grows(&self, known: usize) -> bool {
        self.stderr.count.clone().wait_for(|count| *count > known).await.is_ok()
    }

    /// Shows, once, whether it runs or how it has ended, and what it said last. For a failing story.
    pub(crate) fn show(&mut self, title: &str) {
        if std::mem::replace(&mut self.is_shown, true) {
            return;
        }
        let state = match self.child.try_wait() {
            Ok(None) => self.child.id().map_or_else(|| "runs".to_owned(), |id| format!("runs as {id}")),
            // "exit status: 1" or "signal: 9 (SIGKILL)"
            Ok(Some(status)) => format!("has ended, {status}"),
            Err(problem) => format!("can't be asked for its state: {problem}"),
        };
        let (stdout, stderr) = (last_of(&self.stdout()), last_of(&self.stderr()));
        eprintln!("--- {title}{}\n{state}\nstdout:\n{stdout}\nstderr:\n{stderr}\n---", self.name);
    }
}

/// The last of these lines, each cut where it is long.
fn last_of(lines: &[String]) -> String {
    let left_out = lines.len().saturating_sub(SHOWN_LINES);
    let mut shown = if left_out > 0 { vec![format!("[{left_out} lines before]")] } else { Vec::new() };
    for line in lines.iter().skip(left_out) {
        let cut: String = line.chars().take(SHOWN_CHARACTERS).collect();
        shown.push(if cut.len() < line.len() { format!("{cut} [...]") } else { cut });
    }
    shown.join("\n")
}

impl Drop for Process {
    /// Ends the process with its story: politely, so that its own children end too, and then for good.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.show("");
        }
        let Some(id) = self.child.id() else { return };
        // It may have ended by itself in this moment.
        let _ = std::process::Command::new("kill").arg("-TERM").arg(id.to_string()).status();
        let deadline = Instant::now() + LAST_GRACE;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.start_kill();
        // It is gone a moment later, unless the kernel holds it; whatever it was in is given to others then.
        let deadline = Instant::now() + LAST_GRACE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        if std::thread::panicking() {
            eprintln!("{} did not end when it was told to, and had to be killed", self.name);
        }
    }
}
