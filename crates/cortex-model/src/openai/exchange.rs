//! One HTTP exchange, beneath async-openai: the place where the status, `Retry-After` and the size of the body are
//! still to be had. Only a whole, successful JSON body of bounded size goes up, one that was put together from a stream
//! included; everything else is a [`Fault`].

use std::time::{Duration, SystemTime};

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use cortex_core::ReplyListener;
use cortex_protocol::strict_json;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url, redirect};
use secrecy::SecretString;
use serde_json::Value;
use thiserror::Error;

use super::assembly::{Assembly, Taken};
use super::events::Events;
use crate::settings::{ApiKey, BuildError, ModelSettings};

/// The content type of an answer that comes in pieces.
const EVENT_STREAM: &[u8] = b"text/event-stream";
/// Largest body of an answer, in bytes. A plan is a few kilobytes; what is larger is a fault or an attack.
pub(super) const MAX_REPLY_BYTES: usize = 8 << 20;
/// How much of an error's body is read, in bytes. It is only shown to a person.
const MAX_ERROR_BYTES: usize = 16 << 10;

/// Why an exchange gave no usable body.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error("the endpoint answered {status}")]
    Status { status: StatusCode, retry_after: Option<Duration>, body: String },
    #[error("the answer is larger than {MAX_REPLY_BYTES} bytes")]
    TooLarge,
    #[error("the answer is not JSON: {problem}")]
    NotJson { problem: String, beginning: String },
    #[error("no connection: {0}")]
    Connect(reqwest::Error),
    #[error("the connection broke: {0}")]
    Cut(reqwest::Error),
    #[error("the answer ended before it was whole")]
    Unfinished,
}

impl From<Fault> for OpenAIError {
    fn from(fault: Fault) -> Self {
        Self::Boxed(Box::new(fault))
    }
}

/// Where requests go, and with which key. Our own, because the client's own configuration reads the environment and
/// panics on a key that no header can carry.
#[derive(Clone)]
pub(super) struct Endpoint {
    base_url: String,
    headers: HeaderMap,
    // Asked for by the trait, never used: the key is in the headers.
    no_key: SecretString,
}

impl Endpoint {
    pub(super) fn new(base_url: &str, key: Option<&ApiKey>) -> Result<Self, BuildError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| BuildError::UnusableKey)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(Self {
            base_url: base_url.trim_end_matches('/').to_owned(),
            headers,
            no_key: SecretString::from(String::new()),
        })
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.no_key
    }
}

/// The HTTP client of one endpoint.
pub(super) fn http_client(base_url: &str, settings: &ModelSettings) -> Result<reqwest::Client, BuildError> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(settings.connect_timeout)
        // A redirected POST becomes a GET, and its answer would be misread; the person shall write the right URL.
        .redirect(redirect::Policy::none());
    let url = Url::parse(base_url).ok();
    if url.as_ref().is_some_and(is_this_machine) {
        // A proxy of the machine can't reach a server on the machine.
        builder = builder.no_proxy();
    }
    if url.is_some_and(|url| url.scheme() == "http") {
        // Without TLS no certificates are needed, and a bare machine may have none to load.
        builder = builder.tls_certs_only(Vec::new());
    }
    builder.build().map_err(|error| BuildError::HttpClient { problem: chain_text(&error) })
}

fn is_this_machine(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        bare.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
    })
}

/// Sends one request and takes its answer, whole or as a stream, as the endpoint sends it. The `listener` gets the words of a
/// stream while they arrive.
pub(super) async fn carry(
    client: reqwest::Client,
    factory: HttpRequestFactory,
    listener: &dyn ReplyListener,
) -> Result<Response, OpenAIError> {
    let request = factory.build().await?;
    let response = client
        .execute(request)
        .await
        .map_err(|error| if error.is_connect() { Fault::Connect(error) } else { Fault::Cut(error) })?;
    let status = response.status();
    if !status.is_success() {
        let retry_after = retry_after(response.headers(), SystemTime::now());
        return Err(Fault::Status { status, retry_after, body: beginning_of(response).await }.into());
    }
    let body = if is_stream(response.headers()) {
        streamed_body(response, listener).await?
    } else {
        let body = whole_body(response).await?;
        // Some servers stream under another name.
        if body.starts_with(b"data:") { body_of_stream(&body)? } else { body }
    };
    check_json(&body)?;
    let mut checked = http::Response::new(body);
    *checked.status_mut() = status;
    Ok(checked.into())
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).and_then(|kind| kind.get(..EVENT_STREAM.len()));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(EVENT_STREAM))
}

/// Puts the body together from a stream. No more than is wanted is read: the connection is closed with the response, so that
/// the endpoint stops writing, too.
async fn streamed_body(mut response: Response, listener: &dyn ReplyListener) -> Result<Vec<u8>, Fault> {
    let (mut events, mut reply) = (Events::default(), Streamed::default());
    let (mut length, mut known) = (0, 0);
    while let Some(chunk) = response.chunk().await.map_err(Fault::Cut)? {
        length += chunk.len();
        if length > MAX_REPLY_BYTES {
            return Err(Fault::TooLarge);
        }
        events.take(&chunk, |data| reply.take(data));
        if reply.end.is_some() {
            return reply.into_body();
        }
        let so_far = reply.assembly.words();
        if so_far.len() != known {
            known = so_far.len();
            listener.on_text(so_far);
        }
    }
    reply.take_rest(events)
}

/// The same of a stream that has come whole.
fn body_of_stream(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let (mut events, mut reply) = (Events::default(), Streamed::default());
    events.take(bytes, |data| reply.take(data));
    reply.take_rest(events)
}

/// A streamed reply, and its end.
#[derive(Default)]
struct Streamed {
    assembly: Assembly,
    end: Option<StreamEnd>,
}

enum StreamEnd {
    /// The endpoint says that it was all.
    Done,
    /// No more of it is wanted.
    Enough,
    /// The endpoint sent this error in its place.
    Failed(Value),
    /// A part of it can't be read.
    Unreadable(Fault),
}

impl Streamed {
    fn take(&mut self, data: &[u8]) {
        if self.end.is_some() {
            return;
        }
        if data.trim_ascii() == b"[DONE]" {
            self.end = Some(StreamEnd::Done);
            return;
        }
        self.end = match read_json(data).map(|piece: Value| self.assembly.take(&piece)) {
            Ok(Taken::Continues) => None,
            Ok(Taken::Enough) => Some(StreamEnd::Enough),
            Ok(Taken::Failed(error)) => Some(StreamEnd::Failed(error)),
            Err(fault) => Some(StreamEnd::Unreadable(fault)),
        };
    }

    /// Takes an event that the end of the stream has cut, perhaps in the middle.
    fn take_rest(mut self, events: Events) -> Result<Vec<u8>, Fault> {
        events.finish(|data| self.take(data));
        match self.end {
            Some(StreamEnd::Unreadable(_)) if !self.assembly.has_ended() => Err(Fault::Unfinished),
            _ => self.into_body(),
        }
    }

    /// The body. Without a reason for the end a part may be missing, whatever else the endpoint says.
    fn into_body(self) -> Result<Vec<u8>, Fault> {
        match self.end {
            Some(StreamEnd::Failed(error)) => Ok(error.to_string().into_bytes()),
            Some(StreamEnd::Unreadable(fault)) => Err(fault),
            Some(StreamEnd::Done) | None if !self.assembly.has_ended() => Err(Fault::Unfinished),
            Some(StreamEnd::Done | StreamEnd::Enough) | None => Ok(self.assembly.into_body().to_string().into_bytes()),
        }
    }
}

/// Whether a body is JSON of one meaning.
pub(super) fn check_json(body: &[u8]) -> Result<(), Fault> {
    read_json::<serde::de::IgnoredAny>(body).map(drop)
}

fn read_json<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    strict_json::read_bytes(body).map_err(|problem| {
        let beginning = body.get(..MAX_ERROR_BYTES).unwrap_or(body);
        let beginning = String::from_utf8_lossy(beginning).into_owned();
        Fault::NotJson { problem: problem.to_string(), beginning }
    })
}

async fn whole_body(mut response: Response) -> Result<Vec<u8>, Fault> {
    if response.content_length().is_some_and(|length| length > MAX_REPLY_BYTES as u64) {
        return Err(Fault::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Fault::Cut)? {
        if body.len() + chunk.len() > MAX_REPLY_BYTES {
            return Err(Fault::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The beginning of an error's body. What can't be read is left out: the status says enough.
async fn beginning_of(mut response: Response) -> String {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(MAX_ERROR_BYTES);
    String::from_utf8_lossy(&body).into_owned()
}

/// How long the endpoint asks to wait: in seconds, or until a date. A date counts from the answer's own `Date` where
/// there is one, since a robot's clock may be wrong.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let answered = headers.get(DATE).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    Some(until.duration_since(answered.unwrap_or(now)).unwrap_or_default())
}

/// An error with its causes: the outermost text of the HTTP client alone says little.
pub(super) fn chain_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(reqwest::header::HeaderName, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now = httpdate::parse_http_date("Fri, 01 Jan 2027 00:00:00 GMT").unwrap();
        for (value, expected) in [
            ("3", Some(3.0)),
            ("0.5", Some(0.5)),
            ("Fri, 01 Jan 2027 00:00:07 GMT", Some(7.0)),
            ("Fri, 01 Jan 2021 00:00:00 GMT", Some(0.0)),
            ("soon", None),
            ("-4", None),
            ("1e300", None),
            ("NaN", None),
        ] {
            assert_eq!(
                retry_after(&headers(&[(RETRY_AFTER, value)]), now).map(|wait| wait.as_secs_f64()),
                expected,
                "{value}"
            );
        }
        let asked = headers(&[(RETRY_AFTER, "Sat, 02 Jan 2027 00:00:09 GMT"), (DATE, "Sat, 02 Jan 2027 00:00:00 GMT")]);
        assert_eq!(retry_after(&asked, now), Some(Duration::from_secs(9)), "counted from the endpoint's own clock");
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn this_machine_is_known_in_all_its_spellings() {
        for (url, expected) in [
            ("http://localhost:11434/v1", true),
            ("http://127.0.0.1/v1", true),
            ("http://[::1]:8000/v1", true),
            ("http://192.168.1.20/v1", false),
            ("https://models.example/v1", false),
        ] {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
