//! A model in a file on the robot, computed in a process of its own: `cortex-local-model`, with llama.cpp.
//!
//! - `place`: where the file is, and the program that computes it;
//! - `environment`: the variables that the process inherits;
//! - `prompt`: from our messages to those of the process;
//! - `process`: the process, and the task that talks with it;
//! - `lines`: what it says, line by line;
//! - `restarts`: when one that ended is started again;
//! - `reply`: from the text that it wrote to a reply.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::fragment::one_line;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, Purpose, ReplyListener};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use crate::local_settings::LocalSettings;
use crate::repetition_loop::Text;
use crate::settings::{BuildError, ModelSettings};

mod environment;
mod lines;
mod place;
mod process;
mod prompt;
mod reply;
mod restarts;

use process::{Event, Question};
use restarts::Restarts;

/// What a model is told of a picture that it is not shown, so that it does not act on invented sight.
pub(crate) const NOT_SEEN: &str = "You can't see this picture; say so, and don't guess what it shows.";

/// Longest pause before a restart that a request waits for.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Most characters of what the process says that are told.
const TOLD_CHARACTERS: usize = 300;
/// Bytes of a token, about.
const TOKEN_BYTES: usize = 4;

/// A model in a file. Its process is started by [`prepare`](ChatModel::prepare) or the first request, and ends with this value.
///
/// Dropping the future of [`chat`](ChatModel::chat) cancels the request; a process that does not stop at once is killed.
pub struct LocalModel {
    label: String,
    file: PathBuf,
    program: PathBuf,
    settings: LocalSettings,
    request_timeout: Duration,
    process: Mutex<Option<mpsc::Sender<Question>>>,
    restarts: Arc<Mutex<Restarts>>,
}

impl LocalModel {
    /// The model in a file of its own, or in that of the settings. Nothing is started yet.
    ///
    /// # Errors
    /// When the file or the program is not there.
    pub fn new(file: Option<&Path>, settings: &ModelSettings) -> Result<Self, BuildError> {
        let choice = crate::ModelChoice::Local { file: file.map(Path::to_owned) };
        let local = settings.local.clone();
        Ok(Self {
            label: choice.to_string(),
            file: place::file(&local, file)?,
            program: place::program(&local)?,
            request_timeout: settings.request_timeout,
            process: Mutex::new(None),
            restarts: Arc::new(Mutex::new(Restarts::new(local.restart_pause))),
            settings: local,
        })
    }

    /// Has a request sent to the process, which is started if there is none.
    async fn question(&self, request: &ChatRequest) -> Result<mpsc::Receiver<Event>, ModelError> {
        loop {
            let pause = self.pause()?;
            if pause > Duration::ZERO {
                sleep(pause).await;
            }
            let process = self.running()?;
            let (events, receiver) = process::events();
            if process.send(Question { ask: Some(prompt::ask(0, request)), events }).await.is_ok() {
                return Ok(receiver);
            }
            // It has ended between the two: from now on there is a pause.
        }
    }

    /// How long the process is still to be left alone, if that is worth waiting for.
    fn pause(&self) -> Result<Duration, ModelError> {
        let restarts = self.restarts.lock().unwrap_or_else(PoisonError::into_inner);
        match restarts.pause(Instant::now()) {
            None => Ok(Duration::ZERO),
            Some((left, _)) if left <= LONGEST_WAIT => Ok(left),
            Some((left, because)) => {
                let message = format!("it is started again in {:.0} s: {}", left.as_secs_f64().ceil(), because.message);
                Err(ModelError { message, retry_after: Some(left), ..because.clone() })
            }
        }
    }

    fn running(&self) -> Result<mpsc::Sender<Question>, ModelError> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = process.as_ref().filter(|running| !running.is_closed()) {
            return Ok(running.clone());
        }
        let started = process::start(&self.program, &self.file, &self.settings, Arc::clone(&self.restarts));
        let started = started.inspect_err(|error| {
            self.restarts.lock().unwrap_or_else(PoisonError::into_inner).ended(Instant::now(), error.clone());
        })?;
        Ok(process.insert(started).clone())
    }

    async fn answer(&self, request: &ChatRequest, listener: &dyn ReplyListener) -> Result<ChatReply, ModelError> {
        let mut events = self.question(request).await?;
        let mut text = String::new();
        while let Some(event) = events.recv().await {
            match event {
                Event::Piece(piece) => {
                    text.push_str(&piece);
                    let kind = if reply::is_calls(&text) { Text::Arguments } else { Text::Words };
                    if kind.ends_in_loop(&text) {
                        // With the events goes the request.
                        return Ok(repeated(request, text));
                    }
                    if request.purpose == Purpose::Plan && reply::is_words(&text) {
                        listener.on_text(text.trim_end());
                    }
                }
                Event::Loaded => {}
                Event::Ended(done) => {
                    let read = reply::read(&text, &done?, request);
                    return read.map_err(|reply::Unreadable(problem)| failure(ModelErrorKind::BadReply, problem, ""));
                }
            }
        }
        Err(failure(ModelErrorKind::ServerFailed, "the process of the local model has ended within its answer", ""))
    }
}

#[async_trait]
impl ChatModel for LocalModel {
    fn label(&self) -> String {
        self.label.clone()
    }

    /// Starts the process, and waits until the model is loaded.
    async fn prepare(&self) -> Result<(), ModelError> {
        let ended =
            || failure(ModelErrorKind::ServerFailed, "the process of the local model has ended while it loaded", "");
        let (events, mut receiver) = process::events();
        self.running()?.send(Question { ask: None, events }).await.map_err(|_| ended())?;
        match receiver.recv().await {
            Some(Event::Loaded) => Ok(()),
            Some(Event::Ended(Err(error))) => Err(error),
            Some(Event::Piece(_) | Event::Ended(Ok(_))) | None => Err(ended()),
        }
    }

    async fn chat_streaming(
        &self,
        request: &ChatRequest,
        listener: Arc<dyn ReplyListener>,
    ) -> Result<ChatReply, ModelError> {
        let limit = self.request_timeout;
        timeout(limit, self.answer(request, listener.as_ref())).await.unwrap_or_else(|_| {
            let message = format!("the local model gave no answer within {:.1} s", limit.as_secs_f64());
            let hint = "Use a smaller model, more local_model.threads, or a longer endpoint.request_timeout_s.";
            Err(failure(ModelErrorKind::Timeout, message, hint))
        })
    }
}

/// A reply that was given up, since it would have gone on like this.
fn repeated(request: &ChatRequest, text: String) -> ChatReply {
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(TOKEN_BYTES)).unwrap_or(u64::MAX);
    let asked: usize = prompt::ask(0, request).messages.iter().map(|message| message.text.len()).sum();
    let completion_tokens = tokens(text.len());
    ChatReply {
        text: if reply::is_calls(&text) { String::new() } else { text },
        cut: Some("it repeated itself without end".to_owned()),
        prompt_tokens: tokens(asked),
        completion_tokens,
        tokens_estimated: true,
        ..ChatReply::default()
    }
}

fn failure(kind: ModelErrorKind, message: impl Into<String>, hint: &str) -> ModelError {
    ModelError { kind, message: message.into(), hint: hint.to_owned(), retry_after: None }
}

/// Words of the process for a person: on one line, and not too many.
fn shown(text: &str) -> String {
    one_line(text, TOLD_CHARACTERS)
}
