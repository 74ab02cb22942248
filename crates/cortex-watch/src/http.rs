//! The small HTTP client of the view. Answers are bounded in size and time.

use std::time::Duration;

use cortex_protocol::overview::Overview;
use cortex_protocol::{CommandOutcome, MissionId, strict_json};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use crate::address::Address;
use crate::error::WatchError;
use crate::wire::{ApiError, CommandRequest, ReceivedEvent, RequestError};

/// Holds the token of a session. It is no argument: arguments are seen by everybody on the machine.
const TOKEN: &str = "CORTEX_WATCH_TOKEN";
const CONNECT: Duration = Duration::from_secs(3);
/// So long an answer may take. A stop waits until what moves is at rest.
const ANSWER: Duration = Duration::from_secs(60);
const READ: Duration = Duration::from_secs(10);
/// Longest answer, in bytes. The events of a long mission are the longest.
const MOST_BYTES: usize = 64 << 20;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ANYTHING: HeaderValue = HeaderValue::from_static("*/*");

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client,
    address: Address,
}

impl Http {
    pub(crate) fn new(address: Address, token: Option<&str>) -> Result<Self, WatchError> {
        let mut headers = HeaderMap::from_iter([(ACCEPT, JSON)]);
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, bearer(token)?);
        }
        // No proxy stands between a person and STOP; and whoever redirects is no Cortex.
        let client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .default_headers(headers)
            .build()
            .map_err(|error| WatchError::Start(std::io::Error::other(error)))?;
        Ok(Self { client, address })
    }

    pub(crate) async fn overview(&self) -> Result<Overview, RequestError> {
        answer(self.client.get(self.address.http("/api/v1/overview")).timeout(READ)).await
    }

    /// The events of a mission so far.
    pub(crate) async fn events_of(&self, mission: &MissionId) -> Result<Vec<ReceivedEvent>, RequestError> {
        let url = self.of_mission(mission, "events")?;
        let events: Vec<Value> = answer(self.client.get(url).timeout(READ)).await?;
        Ok(events.into_iter().map(ReceivedEvent::from).collect())
    }

    /// The archive of a mission, whose chunks are to be read. It may take as long as they come.
    pub(crate) async fn incident(&self, mission: &MissionId) -> Result<Response, RequestError> {
        let url = self.of_mission(mission, "incident")?;
        let request = self.client.get(url).header(ACCEPT, ANYTHING).send();
        let response = timeout(ANSWER, request).await;
        let response =
            response.map_err(|_| RequestError::Failed(format!("no answer within {} s", ANSWER.as_secs())))?;
        let response = response.map_err(failed)?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(refused(response).await)
    }

    fn of_mission(&self, mission: &MissionId, what: &str) -> Result<Url, RequestError> {
        let mut url = Url::parse(&self.address.http("/api/v1/missions")).map_err(failed)?;
        // The id is one part of the path, whatever is in it.
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(mission.as_str()).push(what);
        }
        Ok(url)
    }

    pub(crate) async fn command(&self, request: &CommandRequest) -> Result<CommandOutcome, RequestError> {
        let body = serde_json::to_string(request).map_err(failed)?;
        let request = self.client.post(self.address.http("/api/v1/commands")).header(CONTENT_TYPE, JSON).body(body);
        answer(request.timeout(ANSWER)).await
    }

    /// STOP, on a connection that nothing else uses.
    pub(crate) async fn stop(&self) -> Result<CommandOutcome, RequestError> {
        answer(self.client.post(self.address.http("/stop")).timeout(ANSWER)).await
    }
}

/// The token of a session, from the environment.
pub(crate) fn token() -> Option<String> {
    std::env::var(TOKEN).ok().filter(|value| !value.is_empty())
}

pub(crate) fn bearer(token: &str) -> Result<HeaderValue, WatchError> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| WatchError::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, RequestError> {
    let response = request.send().await.map_err(failed)?;
    if response.status().is_success() {
        let unreadable = |error| RequestError::Failed(format!("the answer can't be read: {error}"));
        return strict_json::read_bytes(&body_of(response).await?).map_err(unreadable);
    }
    Err(refused(response).await)
}

/// What an answer says that is no success.
async fn refused(response: Response) -> RequestError {
    let status = response.status();
    match body_of(response).await {
        Ok(body) => refusal(status, &body),
        Err(error) => error,
    }
}

async fn body_of(mut response: Response) -> Result<Vec<u8>, RequestError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(RequestError::Failed(format!("the answer is longer than {MOST_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What an answer says that is no success.
pub(crate) fn refusal(status: StatusCode, body: &[u8]) -> RequestError {
    match strict_json::read_bytes::<ApiError>(body) {
        Ok(error) => RequestError::Refused(error),
        Err(_) => RequestError::Failed(format!("the answer was {status}; is that a Cortex?")),
    }
}

/// The error and what is behind it: what people need to know is at the end.
pub(crate) fn failed(error: impl std::error::Error) -> RequestError {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(behind) = source {
        let more = behind.to_string();
        // Some errors say what is behind them by themselves.
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = behind.source();
    }
    RequestError::Failed(text)
}
