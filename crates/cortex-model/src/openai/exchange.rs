//! One HTTP exchange, beneath async-openai: the place where the status, `Retry-After` and the size of the body are
//! still to be had. Only a whole, successful JSON body of bounded size goes up; everything else is a [`Fault`].

use std::time::{Duration, SystemTime};

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use cortex_protocol::strict_json;
use reqwest::header::{AUTHORIZATION, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url, redirect};
use secrecy::SecretString;
use thiserror::Error;

use crate::settings::{ApiKey, BuildError, ModelSettings};

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
}

impl From<Fault> for OpenAIError {
    fn from(fault: Fault) -> Self {
        Self::Boxed(Box::new(fault))
    }
}

/// Where requests go, and with which key. Our own, because the client's own configuration reads the environment and
/// panics on a key that no header can carry.
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

/// Sends one request and takes its answer.
pub(super) async fn carry(client: reqwest::Client, factory: HttpRequestFactory) -> Result<Response, OpenAIError> {
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
    let body = whole_body(response).await?;
    check_json(&body)?;
    let mut checked = http::Response::new(body);
    *checked.status_mut() = status;
    Ok(checked.into())
}

/// Whether a body is JSON of one meaning.
pub(super) fn check_json(body: &[u8]) -> Result<(), Fault> {
    strict_json::read_bytes::<serde::de::IgnoredAny>(body).map(drop).map_err(|problem| {
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
