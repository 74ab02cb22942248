//! The process of a local model, and the task that talks with it.
//!
//! The task owns the process from its start to its end. Nothing that the process says is believed: a line that is too long,
//! makes no sense or belongs to no request ends it. So does a request that was cancelled and goes on. Where the process ends,
//! all who wait for it hear so at once.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::{ModelError, ModelErrorKind};
use cortex_local_model::protocol::{
    Ask, Cancel, Done, FromModel, Load, MAX_REPLY_BYTES, Problem, Ready, Template, ToModel, VERSION,
};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::environment;
use super::lines::{Lines, NoLine};
use super::restarts::Restarts;
use super::{failure, shown};
use crate::local_settings::LocalSettings;

/// Most bytes of a reply.
const MOST_TEXT_BYTES: usize = 1024 * 1024;
/// Pieces that may come beside those of the tokens: letters that were held back.
const FURTHER_PIECES: u32 = 16;
/// Pieces that wait for their reader.
const WAITING_PIECES: usize = 64;
/// Questions that wait to be taken, and lines that wait for a process that does not read.
const WAITING_QUESTIONS: usize = 16;
const WAITING_LINES: usize = 4;
/// Most tools of which the log says that their calls may not fit.
const MOST_LOOSENED: usize = 256;
/// For a process that has closed its output to end by itself, and for its last words.
const END_TIMEOUT: Duration = Duration::from_millis(200);
/// Lines of its standard error that are kept, and most bytes of one.
const LAST_LINES: usize = 3;
const ERROR_LINE_BYTES: usize = 4_096;

/// One request to the process.
pub(super) struct Question {
    /// Its number is given by the task. None: only whether the model is loaded.
    pub(super) ask: Option<Ask>,
    pub(super) events: mpsc::Sender<Event>,
}

/// What comes of it, in this order: pieces, and an end. Without an end, the process has ended.
pub(super) enum Event {
    Piece(String),
    /// The model is loaded; the only one to a question that asks nothing else.
    Loaded,
    Ended(Result<Done, ModelError>),
}

/// Where the events of a question go, and come from.
pub(super) fn events() -> (mpsc::Sender<Event>, mpsc::Receiver<Event>) {
    mpsc::channel(WAITING_PIECES)
}

/// Starts a process and its task. It ends when the sender is dropped.
pub(super) fn start(
    program: &Path,
    file: &Path,
    settings: &LocalSettings,
    restarts: Arc<Mutex<Restarts>>,
) -> Result<mpsc::Sender<Question>, ModelError> {
    let mut child = Command::new(program)
        .env_clear()
        .envs(environment::inherited())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for Cortex, which ends this process when nobody asks it any more.
        .process_group(0)
        .kill_on_drop(true)
        // Threads that wait for each other sleep instead of spinning: on two cores that others use, too, a token takes 20 ms
        // instead of 200.
        .env("OMP_WAIT_POLICY", "passive")
        .spawn()
        .map_err(|problem| {
            let message = format!("{} can't be started: {problem}", program.display());
            failure(ModelErrorKind::Unreachable, message, "Install it anew, or set local_model.program.")
        })?;
    let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failure(ModelErrorKind::Unreachable, "its standard streams are missing", ""));
    };
    let last_words = LastWords::default();
    let process = Process {
        child,
        input: written_in_background(input),
        output: Lines::new(output, MAX_REPLY_BYTES),
        errors: tokio::spawn(read_errors(errors, last_words.clone())),
        last_words,
        settings: settings.clone(),
        asked: 0,
        loosened: BTreeSet::new(),
    };
    let load = Load {
        version: VERSION,
        file: file.to_owned(),
        context_tokens: settings.context_tokens,
        threads: settings.threads,
        gpu_layers: settings.gpu_layers,
        seed: settings.seed,
    };
    let (sender, receiver) = mpsc::channel(WAITING_QUESTIONS);
    let questions = Questions { receiver, waiting: VecDeque::new() };
    tokio::spawn(supervise(process, load, questions, restarts));
    Ok(sender)
}

/// The questions, in their order.
struct Questions {
    receiver: mpsc::Receiver<Question>,
    waiting: VecDeque<Question>,
}

impl Questions {
    /// The next one. None: nobody can ask any more.
    async fn next(&mut self) -> Option<Question> {
        match self.waiting.pop_front() {
            Some(question) => Some(question),
            None => self.receiver.recv().await,
        }
    }

    /// Lets questions wait until nobody can ask any more.
    async fn let_wait(&mut self) {
        while let Some(question) = self.receiver.recv().await {
            self.waiting.retain(|question| !question.events.is_closed());
            self.waiting.push_back(question);
        }
    }
}

/// Has the model loaded, and questions answered, until nobody can ask any more or the process fails.
async fn supervise(mut process: Process, load: Load, mut questions: Questions, restarts: Arc<Mutex<Restarts>>) {
    let mut unanswered = None;
    if let Err(error) = process.serve(load, &mut questions, &restarts, &mut unanswered).await {
        tracing::warn!("the process of the local model is ended: {error}");
        restarts.lock().unwrap_or_else(PoisonError::into_inner).ended(Instant::now(), error.clone());
        questions.receiver.close();
        // Nobody waits for a place: each has a channel of its own, and who has taken no piece yet hears that it is closed.
        let tell = |events: &mpsc::Sender<Event>| drop(events.try_send(Event::Ended(Err(error.clone()))));
        if let Some(events) = unanswered {
            tell(&events);
        }
        while let Some(question) = questions.next().await {
            tell(&question.events);
        }
    }
    // It may hang, or be in the midst of a computation.
    drop(process.child.kill().await);
}

struct Process {
    child: Child,
    /// Lines for it. They are written by a task, so that one that does not read holds nothing up.
    input: mpsc::Sender<String>,
    output: Lines<ChildStdout>,
    errors: JoinHandle<()>,
    last_words: LastWords,
    settings: LocalSettings,
    /// The number of the last request.
    asked: u64,
    /// The tools of which the log says that their calls may not fit.
    loosened: BTreeSet<String>,
}

impl Process {
    /// `unanswered` is who waits for an answer when it fails.
    async fn serve(
        &mut self,
        load: Load,
        questions: &mut Questions,
        restarts: &Mutex<Restarts>,
        unanswered: &mut Option<mpsc::Sender<Event>>,
    ) -> Result<(), ModelError> {
        self.write(&ToModel::Load(load))?;
        let limit = self.settings.load_timeout;
        let loaded = tokio::select! {
            loaded = timeout(limit, self.loaded()) => loaded,
            () = questions.let_wait() => return Ok(()),
        };
        let ready = loaded.map_err(|_| {
            let message = format!("the local model was not loaded within {} s", limit.as_secs_f64());
            failure(ModelErrorKind::Timeout, message, "Use a smaller model, or raise local_model.load_timeout_s.")
        })??;
        log(&ready);
        loop {
            let question = tokio::select! {
                question = questions.next() => question,
                line = self.output.next() => return Err(self.unasked(line).await),
            };
            let Some(Question { ask, events }) = question else { return Ok(()) };
            if events.is_closed() {
                continue;
            }
            let Some(ask) = ask else {
                // Nobody may be there any more.
                drop(events.send(Event::Loaded).await);
                continue;
            };
            *unanswered = Some(events.clone());
            let answer = self.answer(ask, &events).await?;
            *unanswered = None;
            restarts.lock().unwrap_or_else(PoisonError::into_inner).answered();
            // Nobody may be there any more.
            drop(events.send(Event::Ended(answer)).await);
        }
    }

    async fn loaded(&mut self) -> Result<Ready, ModelError> {
        let line = self.output.next().await;
        match self.read(line).await? {
            FromModel::Ready(ready) if ready.version == VERSION => Ok(ready),
            FromModel::Ready(ready) => Err(failure(
                ModelErrorKind::Refused,
                format!(
                    "the local model's program speaks version {} of the protocol, and Cortex version {VERSION}",
                    ready.version
                ),
                "Install both from the same build.",
            )),
            FromModel::Refused(problem) => Err(told(problem)),
            FromModel::Piece(_) | FromModel::Done(_) | FromModel::Failed(_) => {
                Err(nonsense("it answers before it is asked"))
            }
        }
    }

    /// Has one request answered. An error is the end of the process; what it says of the request alone is in the answer.
    async fn answer(
        &mut self,
        mut ask: Ask,
        events: &mpsc::Sender<Event>,
    ) -> Result<Result<Done, ModelError>, ModelError> {
        self.asked += 1;
        let id = self.asked;
        ask.id = id;
        let mut pieces_left = ask.max_tokens.saturating_add(FURTHER_PIECES);
        let mut bytes_left = MOST_TEXT_BYTES;
        self.write(&ToModel::Ask(ask))?;
        let mut cancelled = None;
        loop {
            let line = tokio::select! {
                line = self.output.next() => line,
                () = events.closed(), if cancelled.is_none() => {
                    self.write(&ToModel::Cancel(Cancel { id }))?;
                    cancelled = Some(Instant::now() + self.settings.cancel_timeout);
                    continue;
                }
                () = sleep_until(cancelled.unwrap_or_else(Instant::now)), if cancelled.is_some() => {
                    return Err(goes_on(self.settings.cancel_timeout));
                }
            };
            match self.read(line).await? {
                FromModel::Piece(piece) if piece.id == id && !piece.text.is_empty() => {
                    let left = pieces_left.checked_sub(1).zip(bytes_left.checked_sub(piece.text.len()));
                    (pieces_left, bytes_left) = left.ok_or_else(|| nonsense("its answer has no end"))?;
                    // Nobody may be there any more: the next turn finds that.
                    drop(events.send(Event::Piece(piece.text)).await);
                }
                FromModel::Done(done) if done.id == id => {
                    self.log_loosened(&done.loosened);
                    return Ok(Ok(done));
                }
                FromModel::Failed(failed) if failed.id == id => return Ok(Err(told(failed.problem))),
                _ => return Err(nonsense("it answers what it was not asked")),
            }
        }
    }

    /// Says once of each tool that its calls may not fit.
    fn log_loosened(&mut self, tools: &[String]) {
        for tool in tools.iter().take(MOST_LOOSENED) {
            let tool = shown(tool);
            if self.loosened.len() < MOST_LOOSENED && self.loosened.insert(tool.clone()) {
                tracing::warn!(
                    tool,
                    "llama.cpp can't express all of this tool's JSON Schema: the local model may call it with arguments that do \
                     not fit, which Cortex refuses; a simpler schema (shorter texts and lists, no pattern) helps"
                );
            }
        }
    }

    fn write(&self, line: &ToModel) -> Result<(), ModelError> {
        let text = serde_json::to_string(line).map_err(|problem| {
            failure(ModelErrorKind::Refused, format!("the request can't be written for the local model: {problem}"), "")
        })?;
        match self.input.try_send(text) {
            Err(mpsc::error::TrySendError::Full(_)) => Err(nonsense("it does not read what it is asked")),
            // A process that has gone is noticed by its output.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
        }
    }

    async fn read(&mut self, line: Result<Vec<u8>, NoLine>) -> Result<FromModel, ModelError> {
        let line = match line {
            Ok(line) => line,
            Err(NoLine::Ended) => return Err(self.gone().await),
            Err(NoLine::TooLong) => {
                return Err(nonsense(&format!("it writes a line of more than {MAX_REPLY_BYTES} bytes")));
            }
            Err(NoLine::Unreadable(problem)) => return Err(nonsense(&format!("its output can't be read: {problem}"))),
        };
        serde_json::from_slice(&line).map_err(|_| {
            let beginning = String::from_utf8_lossy(line.get(..200).unwrap_or(&line)).into_owned();
            nonsense(&format!("it writes what is no line of the protocol: {:?}", shown(&beginning)))
        })
    }

    async fn unasked(&mut self, line: Result<Vec<u8>, NoLine>) -> ModelError {
        match self.read(line).await {
            Ok(_) => nonsense("it answers what it was not asked"),
            Err(error) => error,
        }
    }

    /// It has closed its output: how it ended, and what it said last.
    async fn gone(&mut self) -> ModelError {
        let status = timeout(END_TIMEOUT, self.child.wait()).await;
        // What it said is read to the end where it can be.
        drop(timeout(END_TIMEOUT, &mut self.errors).await);
        let how = match status {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(problem)) => problem.to_string(),
            Err(_) => "it has closed its output".to_owned(),
        };
        let words = self.last_words.get();
        let words = if words.is_empty() { words } else { format!("; it said last: {words}") };
        let hint = "If it is killed for its memory, use a smaller model or a smaller local_model.context_tokens.";
        failure(ModelErrorKind::ServerFailed, format!("the process of the local model has ended ({how}){words}"), hint)
    }
}

fn log(ready: &Ready) {
    let Ready { architecture, parameters, context_tokens, threads, .. } = ready;
    let name = shown(&ready.name);
    tracing::info!(
        name,
        architecture = shown(architecture),
        parameters,
        context_tokens,
        threads,
        "the local model is loaded"
    );
    if ready.template == Template::Plain {
        tracing::warn!(
            "the file of the local model has no chat template that its engine knows: conversations are written as plain text, \
             and answers may be worse; use a file with a template"
        );
    }
}

/// What the process says that it can't do.
fn told(Problem { problem, fix }: Problem) -> ModelError {
    failure(ModelErrorKind::Refused, format!("the local model: {}", shown(&problem)), &shown(&fix))
}

fn nonsense(problem: &str) -> ModelError {
    let hint = "Look whether local_model.program is the program of this Cortex.";
    failure(ModelErrorKind::BadReply, format!("the process of the local model can't be relied on: {problem}"), hint)
}

/// It may be well, and slow: it looks for cancellations between parts of a conversation only.
fn goes_on(after: Duration) -> ModelError {
    let message =
        format!("the local model's process went on for {} s with a request that was cancelled", after.as_secs_f64());
    let hint = "If the model is slow, use a smaller one or more local_model.threads.";
    failure(ModelErrorKind::ServerFailed, message, hint)
}

/// Writes lines while it reads them.
fn written_in_background(mut input: ChildStdin) -> mpsc::Sender<String> {
    let (sender, mut lines) = mpsc::channel::<String>(WAITING_LINES);
    tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            let line = format!("{line}\n");
            // A process that has gone is noticed by its output.
            if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
                break;
            }
        }
    });
    sender
}

/// The last lines of standard error.
#[derive(Clone, Default)]
struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    fn add(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn get(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
    }
}

/// Reads standard error to its end, so that its writer neither waits for a reader nor lacks one. Of a line that is too long, the
/// beginning is kept.
async fn read_errors(errors: ChildStderr, last_words: LastWords) {
    let mut lines = Lines::new(errors, ERROR_LINE_BYTES);
    loop {
        let line = match lines.next().await {
            Err(NoLine::TooLong) => lines.beginning().await,
            line => line,
        };
        let Ok(line) = line else { return };
        let line = shown(&String::from_utf8_lossy(&line));
        tracing::debug!("local model: {line}");
        if !line.is_empty() {
            last_words.add(line);
        }
    }
}
