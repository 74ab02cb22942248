//! Any OpenAI-compatible endpoint, through async-openai.
//!
//! What this module adds to that client: bounds of time and size for every request, retries on a fixed schedule that
//! honour `Retry-After`, replies read as tolerantly as real servers need it, and errors that keep the HTTP status
//! whatever the body looks like.
//!
//! - `request`: from our messages to the body that is sent; `pictures`: what of it a model sees;
//! - `exchange`: one HTTP exchange, beneath async-openai;
//! - `events`, `assembly`: a reply that comes in pieces;
//! - `reply`: from the body that came back to a [`ChatReply`];
//! - `failure`: what went wrong, and whether asking again can help.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use async_openai::Client;
use async_trait::async_trait;
use cortex_core::fragment::one_line;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, NoListener, Purpose, ReplyListener};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use crate::settings::{ApiKey, BuildError, ModelSettings, Structured};

mod assembly;
mod events;
mod exchange;
mod failure;
#[cfg(test)]
mod fuzzed;
mod pictures;
mod reply;
mod request;

use exchange::Endpoint;
use failure::Failure;
use pictures::Sight;
use request::Dialect;

/// Longest wait between two attempts that the endpoint did not ask for.
const MAX_BACKOFF: Duration = Duration::from_secs(8);

/// Most models of an endpoint that are listed, and most characters of the name of one.
const MOST_LISTED: usize = 1_000;
const NAME_CHARACTERS: usize = 200;

/// The meaning of the first words of a model's replies. Templates of prompts may begin a thought, and then only its end is
/// marked in the reply: too late for words that were published while they arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstWords {
    /// No reply has shown it yet. They are not published early.
    Unknown,
    /// The answer.
    Answer,
    /// A thought, in some reply. They are never published early again.
    Thought,
}

/// A model behind an OpenAI-compatible endpoint.
///
/// Dropping the future of [`chat`](ChatModel::chat) closes the connection of the request; nothing goes on.
pub struct OpenAiModel {
    label: String,
    name: String,
    http: reqwest::Client,
    endpoint: Endpoint,
    key: Option<ApiKey>,
    settings: ModelSettings,
    dialect: Dialect,
    sight: Sight,
    /// Whether the log says that tokens are estimated.
    told_no_usage: AtomicBool,
    /// Whether its first words are its answer, as far as its replies have shown.
    first_words: AtomicU8,
}

impl OpenAiModel {
    /// The model `name` at the endpoint `base_url`, for example `http://localhost:11434/v1`. Nothing is sent yet.
    ///
    /// # Errors
    /// When the HTTP client can't be set up.
    pub fn new(name: &str, base_url: &str, settings: ModelSettings) -> Result<Self, BuildError> {
        let http = exchange::http_client(base_url, &settings)?;
        let endpoint = Endpoint::new(base_url, settings.api_key.as_ref())?;
        let choice = crate::ModelChoice::OpenAi { name: name.to_owned(), base_url: base_url.to_owned() };
        let dialect = Dialect::for_endpoint(base_url, settings.structured_output, settings.streaming);
        Ok(Self {
            label: choice.to_string(),
            name: name.to_owned(),
            http,
            endpoint,
            key: settings.api_key.clone(),
            sight: Sight::new(settings.pictures.clone()),
            settings,
            dialect,
            told_no_usage: AtomicBool::new(false),
            first_words: AtomicU8::new(FirstWords::Unknown as u8),
        })
    }

    /// The client of one exchange with its listener.
    fn client(&self, listener: Arc<dyn ReplyListener>) -> Client<Endpoint> {
        let http = self.http.clone();
        let service = tower::service_fn(move |factory| {
            let (http, listener) = (http.clone(), Arc::clone(&listener));
            async move { exchange::carry(http, factory, listener.as_ref()).await }
        });
        Client::build(self.http.clone(), self.endpoint.clone()).with_http_service(service)
    }

    /// One attempt, without any bound of time of its own.
    async fn attempt(
        &self,
        request: &ChatRequest,
        with_schema: bool,
        listener: &Arc<dyn ReplyListener>,
    ) -> Result<ChatReply, Failure> {
        let body = request::body(&self.name, request, &self.dialect, &self.sight, with_schema);
        let may_publish = self.first_words.load(Ordering::Relaxed) == FirstWords::Answer as u8;
        let listener = if may_publish { Arc::clone(listener) } else { Arc::new(NoListener) };
        match self.client(listener).chat().create_byot::<_, Value>(&body).await {
            Ok(value) => {
                self.learn_first_words(request, &value);
                let mut reply = reply::read(&value, request)?;
                reply::estimate_untold(&mut reply, &body, &value);
                if reply.tokens_estimated && reply.cut.is_none() && !self.told_no_usage.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        model = %self.label,
                        "the endpoint does not report usage; tokens are estimated: a quarter of the bytes of request and reply"
                    );
                }
                Ok(reply)
            }
            Err(error) => Err(Failure::of_error(error)),
        }
    }

    fn learn_first_words(&self, request: &ChatRequest, body: &Value) {
        if reply::thinks_unannounced(body) {
            self.first_words.store(FirstWords::Thought as u8, Ordering::Relaxed);
        } else if request.purpose == Purpose::Plan {
            let (unknown, answer) = (FirstWords::Unknown as u8, FirstWords::Answer as u8);
            // Another request may have shown more.
            let _ = self.first_words.compare_exchange(unknown, answer, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// The failure as the caller sees it: without the key, and with what was tried.
    fn finish(&self, failure: Failure, attempts: u32) -> ModelError {
        let message = failure.told(self.key.as_ref());
        let mut error = ModelError { message, ..failure.error };
        if attempts > 1 {
            error.message = format!("{} ({attempts} attempts)", error.message);
        }
        if failure.may_be_schema && self.settings.structured_output == Structured::On && error.hint.is_empty() {
            "If the endpoint takes no schema, set endpoint.structured_output to \"auto\".".clone_into(&mut error.hint);
        }
        if error.kind == ModelErrorKind::Unauthorized && error.hint.is_empty() {
            error.hint = match self.key {
                Some(_) => format!("Check its key: in {}, or where [keys] says.", crate::API_KEY_VARIABLE),
                None => format!("Set {} to a key of this endpoint, or name it in [keys].", crate::API_KEY_VARIABLE),
            };
        }
        error
    }
}

/// The names of the models that an endpoint offers, in their order.
///
/// # Errors
/// When it does not tell.
pub(crate) async fn offered(base_url: &str, settings: &ModelSettings) -> Result<Vec<String>, ModelError> {
    let model = OpenAiModel::new("any", base_url, settings.clone()).map_err(|problem| ModelError {
        kind: ModelErrorKind::Refused,
        message: problem.to_string(),
        hint: String::new(),
        retry_after: None,
    })?;
    let client = model.client(Arc::new(NoListener));
    let listed = timeout(settings.attempt_timeout, async { client.models().list_byot::<Value>().await }).await;
    let listed = listed.map_err(|_| model.finish(Failure::of_timeout(settings.attempt_timeout), 1))?;
    let listed = listed.map_err(|error| model.finish(Failure::of_error(error), 1))?;
    let entries = listed.get("data").and_then(Value::as_array);
    let entries = entries.ok_or_else(|| {
        let hint = "Check that the URL is the base of an OpenAI-compatible endpoint.";
        model.finish(Failure::bad_reply("the answer has no list of models", hint), 1)
    })?;
    let names = entries.iter().filter_map(|entry| entry.get("id")?.as_str());
    let mut names: Vec<String> = names.take(MOST_LISTED).map(|name| one_line(name, NAME_CHARACTERS)).collect();
    names.sort_unstable();
    Ok(names)
}

/// The wait before a retry: doubles from the first, up to a bound. `retry` counts from 0. Without jitter, so that the
/// same failures always take the same time; one robot is no herd.
fn backoff(first: Duration, retry: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(retry)).min(MAX_BACKOFF)
}

#[async_trait]
impl ChatModel for OpenAiModel {
    fn label(&self) -> String {
        self.label.clone()
    }

    async fn chat_streaming(
        &self,
        request: &ChatRequest,
        listener: Arc<dyn ReplyListener>,
    ) -> Result<ChatReply, ModelError> {
        let deadline = Instant::now() + self.settings.request_timeout;
        let mut attempts = 0;
        let mut retries = 0;
        let mut with_schema = self.dialect.asks_for_schema(request);
        // The endpoint may have refused the schema; an answer without it tells.
        let mut suspected = false;
        loop {
            let allowed = self.settings.attempt_timeout.min(deadline.saturating_duration_since(Instant::now()));
            attempts += 1;
            let mut failure = match timeout(allowed, self.attempt(request, with_schema, &listener)).await {
                Ok(Ok(reply)) => {
                    if suspected && self.dialect.give_up_schema() {
                        tracing::warn!(model = %self.label, "the endpoint takes no schema; decisions are read from text");
                    }
                    return Ok(reply);
                }
                Ok(Err(failure)) => failure,
                Err(_) => Failure::of_timeout(allowed),
            };
            failure.may_be_schema &= with_schema;
            // The endpoint names a parameter that it does not know: asked again at once, without it.
            let of_stream = failure.names_stream.filter(|_| self.dialect.streams(request));
            if let Some(parameter) = failure.parameter.as_deref().or(of_stream)
                && self.dialect.adapt(parameter)
            {
                continue;
            }
            if failure.may_be_pictures && self.sight.shows(request) && self.sight.give_up() {
                tracing::warn!(
                    model = %self.label,
                    "the endpoint takes no pictures; leave the model out of endpoint.sees_pictures: {}",
                    failure.told(self.key.as_ref())
                );
                continue;
            }
            if with_schema && failure.may_be_schema && self.settings.structured_output == Structured::Auto {
                with_schema = false;
                suspected = true;
                continue;
            }
            if !failure.may_pass || retries >= self.settings.retries {
                return Err(self.finish(failure, attempts));
            }
            let wait = backoff(self.settings.first_backoff, retries).max(failure.error.retry_after.unwrap_or_default());
            if wait >= deadline.saturating_duration_since(Instant::now()) {
                return Err(self.finish(failure, attempts));
            }
            tracing::debug!(model = %self.label, kind = ?failure.error.kind, ?wait, "the model is asked again");
            sleep(wait).await;
            retries += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound() {
        let waits: Vec<u128> = (0..6).map(|retry| backoff(Duration::from_millis(500), retry).as_millis()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000]);
        assert_eq!(backoff(Duration::from_secs(1), u32::MAX), MAX_BACKOFF);
    }
}
