//! How models are reached: the key, and the bounds of time and retries.

use std::path::PathBuf;
use std::time::Duration;

use cortex_core::PictureShelf;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::local_settings::LocalSettings;
use crate::wordings::WordingFile;

/// The environment variable that holds the key of an OpenAI-compatible endpoint.
pub const API_KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// Whether a model is held to a schema where its answer has one (`response_format` with `json_schema`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// It is, until its endpoint refuses that; then never again.
    #[default]
    Auto,
    /// It is. An endpoint that refuses that can't be used.
    On,
    /// It is not.
    Off,
}

/// Whether plans and answers are asked for as a stream: their words can be told as they come, and one that repeats itself
/// is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streaming {
    /// They are, unless the endpoint says that it can't.
    #[default]
    On,
    /// They come whole.
    Off,
}

/// How a model is reached. Every bound ends something that could otherwise go on for ever.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// The key of the endpoint, where it wants one.
    pub api_key: Option<ApiKey>,
    /// For one connection to be made.
    pub connect_timeout: Duration,
    /// For one attempt, from the connection to the last byte of the answer.
    pub attempt_timeout: Duration,
    /// For one request with all its attempts and the waits between them.
    pub request_timeout: Duration,
    /// Further attempts after the first.
    pub retries: u32,
    /// Whether it is held to a schema where its answer has one.
    pub structured_output: Structured,
    /// Whether plans and answers are asked for as a stream.
    pub streaming: Streaming,
    /// Where the pictures lie that the model sees. None: it sees none.
    pub pictures: Option<PictureShelf>,
    /// The wait before the first retry; each further wait is twice as long, up to 8 s.
    pub first_backoff: Duration,
    /// Of a model in a file.
    pub local: LocalSettings,
    /// Where the embedded command reader keeps what its words were told to mean. `None`: it learns nothing.
    pub wordings: Option<WordingFile>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            api_key: None,
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(60),
            request_timeout: Duration::from_secs(120),
            retries: 2,
            structured_output: Structured::Auto,
            streaming: Streaming::On,
            pictures: None,
            first_backoff: Duration::from_millis(500),
            local: LocalSettings::default(),
            wordings: None,
        }
    }
}

/// A key. It never appears in a log, an error or a debug text.
#[derive(Clone)]
pub struct ApiKey(
    #[cfg_attr(not(feature = "openai"), expect(dead_code, reason = "only what sends the key reads it"))] SecretString,
);

impl ApiKey {
    /// Takes the key without the white space around it.
    ///
    /// # Errors
    /// When no HTTP header could carry it.
    pub fn new(text: &str) -> Result<Self, BuildError> {
        let key = text.trim();
        if key.is_empty() || !key.chars().all(|character| character.is_ascii_graphic()) {
            return Err(BuildError::UnusableKey);
        }
        Ok(Self(SecretString::from(key)))
    }
}

#[cfg(feature = "openai")]
impl ApiKey {
    /// The key itself, for the one place that sends it.
    pub(crate) fn expose(&self) -> &str {
        secrecy::ExposeSecret::expose_secret(&self.0)
    }

    /// The text without the key: endpoints have been seen to repeat it in their errors.
    pub(crate) fn scrub(&self, text: &str) -> String {
        text.replace(self.expose(), "[key]")
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ApiKey([redacted])")
    }
}

/// Why a model can't be set up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The key holds what no HTTP header can carry.
    #[error(
        "the API key is empty or holds spaces, line breaks or characters outside ASCII; set {API_KEY_VARIABLE} to the bare key"
    )]
    UnusableKey,
    /// The endpoint is known to refuse requests without a key.
    #[error(
        "{model} needs an API key; set {API_KEY_VARIABLE}, say in [keys] where it is, or name an endpoint of your own: openai:NAME@URL"
    )]
    KeyMissing {
        /// Which model.
        model: String,
    },
    /// This Cortex was built without the feature `openai`.
    #[error(
        "{model} can't be used: this Cortex was built without models behind endpoints; build it with the feature `openai`, or use the model reflex"
    )]
    LeftOut {
        /// Which model.
        model: String,
    },
    /// `local` names no file of its own, and no other place does.
    #[error(
        "the model local has no file; set local_model.file to the full path of a model in the format GGUF, or write local:FILE"
    )]
    NoLocalFile,
    /// The file of a local model is not there.
    #[error("the local model's file {} is not there; check its path, and that Cortex may read it", file.display())]
    LocalFileMissing {
        /// Which.
        file: PathBuf,
    },
    /// The program that computes a local model is not there.
    #[error(
        "the program of local models is not there: not at {}; build it, `cargo build --release --package cortex-local-model \
         --features llama`, and put it there, or set local_model.program",
        places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", nor at ")
    )]
    LocalProgramMissing {
        /// Where it was looked for.
        places: Vec<PathBuf>,
    },
    /// The HTTP client can't be made.
    #[error("the HTTP client can't be set up: {problem}")]
    HttpClient {
        /// Why.
        problem: String,
    },
}

/// The key that the environment holds, if any. The only place of this crate that reads the environment.
///
/// # Errors
/// When there is a key that can't be used.
pub fn api_key_from_environment() -> Result<Option<ApiKey>, BuildError> {
    match std::env::var(API_KEY_VARIABLE) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => ApiKey::new(&text).map(Some),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(BuildError::UnusableKey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new(" sk-very-secret\n").unwrap();
        let settings = ModelSettings { api_key: Some(key.clone()), ..ModelSettings::default() };
        assert!(!format!("{settings:?}").contains("secret"), "{settings:?}");
        assert_eq!(key.scrub("wrong key: sk-very-secret!"), "wrong key: [key]!");
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_refused() {
        for text in ["", "  ", "two words", "line\nbreak", "schlüssel"] {
            assert_eq!(ApiKey::new(text).map(|_| ()), Err(BuildError::UnusableKey), "{text:?}");
        }
    }
}
