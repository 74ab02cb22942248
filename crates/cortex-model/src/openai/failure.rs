//! What went wrong, in words for a person, and whether asking again can help.

use std::time::Duration;

use async_openai::error::OpenAIError;
use cortex_core::fragment::capped;
use cortex_core::{ModelError, ModelErrorKind};
use reqwest::StatusCode;
use serde_json::Value;

use super::exchange::{Fault, chain_text};
use crate::settings::ApiKey;

/// Most characters of what is told of a failure, an endpoint's own words among them.
const TOLD_CHARACTERS: usize = 350;
/// What servers name when they refuse a schema.
const SCHEMA_WORDS: [&str; 4] = ["response_format", "json_schema", "grammar", "structured"];

/// What servers name when they don't know streams, or the question for the usage of one.
const STREAM_PARAMETERS: [&str; 2] = ["stream_options", "stream"];

/// What servers name when they refuse pictures.
const PICTURE_WORDS: [&str; 5] = ["image", "vision", "multimodal", "multi-modal", "mmproj"];

/// One failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    /// Whether it may pass by itself.
    pub(super) may_pass: bool,
    /// The parameter of our request that the endpoint refuses, where it names one.
    pub(super) parameter: Option<String>,
    /// The parameter of a stream that the endpoint names in its words, if it does.
    pub(super) names_stream: Option<&'static str>,
    /// Whether it may be the schema of the answer that the endpoint refuses. It need not be.
    pub(super) may_be_schema: bool,
    /// Whether it may be a picture that the endpoint refuses: it names pictures.
    pub(super) may_be_pictures: bool,
}

impl Failure {
    fn new(kind: ModelErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let error = ModelError { kind, message: message.into(), hint: hint.into(), retry_after: None };
        Self {
            error,
            may_pass: false,
            parameter: None,
            names_stream: None,
            may_be_schema: false,
            may_be_pictures: false,
        }
    }

    fn passing(mut self) -> Self {
        self.may_pass = true;
        self
    }

    /// What is told of it: without the key, which endpoints have been seen to repeat, and cut. In this order, since half a
    /// key is not found any more.
    pub(super) fn told(&self, key: Option<&ApiKey>) -> String {
        let message = &self.error.message;
        capped(&key.map_or_else(|| message.clone(), |key| key.scrub(message)), TOLD_CHARACTERS)
    }

    /// The reply came, but there is no sense in it.
    pub(super) fn bad_reply(message: impl Into<String>, hint: &str) -> Self {
        Self::new(ModelErrorKind::BadReply, message, hint)
    }

    pub(super) fn of_timeout(allowed: Duration) -> Self {
        let message = format!("the model gave no answer within {:.1} s", allowed.as_secs_f64());
        Self::new(ModelErrorKind::Timeout, message, "Use a faster model, or allow it more time.").passing()
    }

    pub(super) fn of_error(error: OpenAIError) -> Self {
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<Fault>() {
                Ok(fault) => Self::of_fault(*fault),
                Err(other) => Self::of_client(&other.to_string()),
            },
            other => Self::of_client(&other.to_string()),
        }
    }

    /// A failure of the client library itself.
    fn of_client(problem: &str) -> Self {
        Self::new(ModelErrorKind::BadReply, format!("the exchange failed: {}", shown(problem)), "")
    }

    pub(super) fn of_fault(fault: Fault) -> Self {
        match fault {
            Fault::Status { status, retry_after, body } => Self::of_status(status, retry_after, &body),
            Fault::TooLarge | Fault::NotJson { .. } => {
                let told = match &fault {
                    Fault::NotJson { beginning, .. } => format!("{fault}; it begins with: {}", shown(beginning)),
                    _ => fault.to_string(),
                };
                Self::bad_reply(told, "Check that the URL is the base of an OpenAI-compatible endpoint.")
            }
            Fault::Connect(error) => {
                let kind = if error.is_timeout() { ModelErrorKind::Timeout } else { ModelErrorKind::Unreachable };
                let message = format!("the endpoint can't be reached: {}", shown(&chain_text(&error)));
                Self::new(kind, message, "Check that it is running, and its URL.").passing()
            }
            Fault::Unfinished => {
                Self::new(ModelErrorKind::ServerFailed, "the connection ended within the answer", "").passing()
            }
            Fault::Cut(error) => {
                let message = format!("the connection broke within the answer: {}", shown(&chain_text(&error)));
                Self::new(ModelErrorKind::ServerFailed, message, "").passing()
            }
        }
    }

    /// An HTTP status that is no success, with whatever came with it.
    pub(super) fn of_status(status: StatusCode, retry_after: Option<Duration>, body: &str) -> Self {
        let told = Told::read(body);
        let words = if told.message.is_empty() { String::new() } else { format!(": {}", told.message) };
        let message = format!("the endpoint answered {status}{words}");
        let mut failure = match status.as_u16() {
            401 | 403 => Self::new(ModelErrorKind::Unauthorized, message, ""),
            404 => Self::new(
                ModelErrorKind::Refused,
                message,
                "Check the model's name, and that the URL is the endpoint's base, for example http://localhost:11434/v1.",
            ),
            408 => Self::new(ModelErrorKind::Timeout, message, "").passing(),
            // The account is used up: waiting does not help.
            429 if told.code == "insufficient_quota" => {
                Self::new(ModelErrorKind::Refused, message, "Check the account's plan and billing.")
            }
            429 => Self::new(ModelErrorKind::RateLimited, message, "Wait, or use another model.").passing(),
            500..=599 => Self::new(ModelErrorKind::ServerFailed, message, "").passing(),
            300..=399 => Self::new(
                ModelErrorKind::Refused,
                message,
                "The endpoint points elsewhere; write its final URL, for example with https.",
            ),
            _ => Self::new(ModelErrorKind::Refused, message, ""),
        };
        failure.error.retry_after = retry_after;
        failure.parameter = (status == StatusCode::BAD_REQUEST).then_some(told.parameter).flatten();
        failure.names_stream = matches!(status.as_u16(), 400 | 422).then(|| named_of_stream(&told.message)).flatten();
        // Many do not name what they refuse, and some answer 5xx.
        let message = failure.error.message.to_lowercase();
        let names_it = || SCHEMA_WORDS.iter().any(|word| message.contains(word));
        let refuses = matches!(status.as_u16(), 400 | 404 | 415 | 422 | 500 | 501);
        failure.may_be_pictures = refuses && PICTURE_WORDS.iter().any(|word| message.contains(word));
        failure.may_be_schema = match status.as_u16() {
            400 | 422 | 501 => {
                failure.parameter.as_deref().is_none_or(|parameter| parameter.starts_with("response_format"))
            }
            500..=599 => names_it(),
            _ => false,
        };
        failure
    }
}

/// The parameter of a stream that an endpoint names in its words, where it has no field for that.
fn named_of_stream(message: &str) -> Option<&'static str> {
    let mut words = message.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.find_map(|word| STREAM_PARAMETERS.into_iter().find(|parameter| *parameter == word))
}

/// What an endpoint says about an error, in any of the forms in use.
#[derive(Debug, Default, PartialEq)]
struct Told {
    message: String,
    code: String,
    parameter: Option<String>,
}

impl Told {
    fn read(body: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(body) else {
            return Self { message: shown(body), ..Self::default() };
        };
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(&value);
        let text = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
        let message = error
            .as_str()
            .map(str::to_owned)
            .or_else(|| text("message"))
            .or_else(|| text("detail"))
            .unwrap_or_else(|| error.to_string());
        Self {
            message: shown(&message),
            code: text("code").or_else(|| text("type")).unwrap_or_default(),
            parameter: text("param"),
        }
    }
}

/// Words from outside on one line, without control characters. They are cut when they are [told](Failure::told).
fn shown(text: &str) -> String {
    let line: Vec<&str> = text.split(|next: char| next.is_whitespace() || next.is_control()).collect();
    let line: Vec<&str> = line.into_iter().filter(|word| !word.is_empty()).collect();
    line.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_in_the_endpoints_words_whatever_their_form() {
        for (body, message) in [
            (r#"{"error":{"message":"no such model","type":"invalid"}}"#, "no such model"),
            (r#"{"error":"model not loaded"}"#, "model not loaded"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"message":"slow down"}"#, "slow down"),
            ("<html>\n<b>Bad\tGateway</b>\u{7}</html>", "<html> <b>Bad Gateway</b> </html>"),
            ("", ""),
        ] {
            assert_eq!(Told::read(body).message, message, "{body}");
        }
        let long = Failure::of_status(StatusCode::BAD_GATEWAY, None, &"x".repeat(100_000));
        assert!(long.told(None).len() < 400);
    }

    /// The words were cut first, and the beginning of the key stayed.
    #[test]
    fn regression_a_key_that_was_cut_in_two_was_told() {
        let key = ApiKey::new("sk-very-secret-0123456789").unwrap();
        for before in (0..400).step_by(5) {
            let body = format!("{{\"error\": \"{} wrong key: {}\"}}", "x".repeat(before), key.expose());
            let told = Failure::of_status(StatusCode::UNAUTHORIZED, None, &body).told(Some(&key));
            assert!(!told.contains("sk-"), "{told}");
        }
    }

    #[test]
    fn each_status_has_its_kind_and_only_passing_ones_are_tried_again() {
        for (status, body, kind, may_pass) in [
            (400, "", ModelErrorKind::Refused, false),
            (401, "", ModelErrorKind::Unauthorized, false),
            (403, "", ModelErrorKind::Unauthorized, false),
            (404, "", ModelErrorKind::Refused, false),
            (308, "", ModelErrorKind::Refused, false),
            (408, "", ModelErrorKind::Timeout, true),
            (429, "", ModelErrorKind::RateLimited, true),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, ModelErrorKind::Refused, false),
            (500, "", ModelErrorKind::ServerFailed, true),
            (503, "", ModelErrorKind::ServerFailed, true),
        ] {
            let failure = Failure::of_status(StatusCode::from_u16(status).unwrap(), None, body);
            assert_eq!((failure.error.kind, failure.may_pass), (kind, may_pass), "{status} {body}");
            assert!(failure.error.message.contains(&status.to_string()), "{failure:?}");
        }
    }
}
