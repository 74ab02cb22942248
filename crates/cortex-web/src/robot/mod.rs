//! The robot itself, for those who look: its map, where it is, what its cameras see, its numbers, its parameters.
//!
//! Everything is asked for by plain requests, one after the other for each page: a browser has only some connections to one
//! host, and STOP must always get one.

mod parameters;
mod scene;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use cortex_core::RobotPort;
use cortex_protocol::robot_view::RobotSources;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::callers::Reading;
use crate::error::{ApiError, ErrorKind};
use crate::headers::one;
use crate::hub::json;
use crate::site::Site;
use crate::views::{Content, Looked, Picture, Seen};
pub(crate) use parameters::{NewValue, parameters, set_parameter};
pub(crate) use scene::{Scene, scene};

/// How long a request waits for something new.
const NEWS: Duration = Duration::from_secs(1);
/// What a picture shows, as JSON.
const ABOUT: HeaderName = HeaderName::from_static("cortex-about");
/// How long ago it came, in milliseconds.
const AGE: HeaderName = HeaderName::from_static("cortex-age-ms");
/// Longest name of a topic, a field or a frame that is taken, in bytes.
const NAME_BYTES: usize = 256;

/// `GET /api/v1/robot`.
pub(crate) async fn robot(State(site): State<Arc<Site>>, Reading(_): Reading) -> Result<Json<RobotSources>, ApiError> {
    Ok(Json(port(&site)?.sources().await?))
}

/// Which topic is looked at.
#[derive(Debug, Deserialize)]
pub(crate) struct Topic {
    topic: String,
}

/// `GET /api/v1/robot/map`.
pub(crate) async fn map(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    topic: Result<Query<Topic>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let seen = view(&site, &topic?.0.topic, None, None)?;
    file(seen, &headers, |content| match content {
        Content::Map(map) => Some(Arc::clone(map)),
        _ => None,
    })
    .await
}

/// `GET /api/v1/robot/picture`.
pub(crate) async fn picture(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    topic: Result<Query<Topic>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let seen = view(&site, &topic?.0.topic, None, None)?;
    file(seen, &headers, |content| match content {
        Content::Camera(picture) => Some(Arc::clone(picture)),
        _ => None,
    })
    .await
}

fn port(site: &Site) -> Result<Arc<dyn RobotPort>, ApiError> {
    let none = || ApiError::new(ErrorKind::NotFound, "Here is no robot that can be looked at.");
    site.port.robot().ok_or_else(none)
}

fn view(site: &Site, topic: &str, field: Option<&str>, frame: Option<&str>) -> Result<watch::Receiver<Seen>, ApiError> {
    let is_name =
        |name: &str| !name.is_empty() && name.len() <= NAME_BYTES && name.chars().all(|it| it.is_ascii_graphic());
    if !is_name(topic) || !topic.starts_with('/') || !field.is_none_or(is_name) {
        return Err(ApiError::invalid("That is no name of a topic or a field. GET /api/v1/robot lists them."));
    }
    if frame.is_some_and(|frame| frame.is_empty() || frame.len() > NAME_BYTES) {
        return Err(ApiError::invalid("That is no name of a frame. The map says in which frame it lies."));
    }
    let own = |name: Option<&str>| name.map(str::to_owned);
    let looked = Looked { topic: topic.to_owned(), field: own(field), frame: own(frame) };
    site.views.open(&looked, &port(site)?, &site.tasks, &site.ended)
}

/// The latest picture; waits a moment for one that the client does not have.
async fn file<T: Serialize>(
    mut seen: watch::Receiver<Seen>,
    headers: &HeaderMap,
    pick: impl Fn(&Content) -> Option<Arc<Picture<T>>>,
) -> Result<Response, ApiError> {
    let known = one(headers, IF_NONE_MATCH).map(str::to_owned);
    let deadline = Instant::now() + NEWS;
    loop {
        let Seen { content, at, problem, .. } = seen.borrow_and_update().clone();
        let found = content.as_ref().and_then(&pick);
        let news = found.clone().filter(|picture| known.as_ref() != Some(&picture.tag));
        if let Some(problem) = problem {
            return Err(ApiError::new(ErrorKind::Refused, problem));
        }
        if content.is_some() && found.is_none() {
            return Err(ApiError::invalid("This topic does not show that. GET /api/v1/robot lists which do."));
        }
        let age_ms = at.map_or(0, |at| at.elapsed().as_millis());
        if let Some(picture) = news {
            return Ok(answer(&picture, age_ms, false));
        }
        let changed = timeout_at(deadline, seen.changed()).await;
        if matches!(changed, Ok(Ok(()))) {
            continue;
        }
        // That nothing has come yet is no error: its node may be quiet, or may have just been started.
        let nothing = || StatusCode::NO_CONTENT.into_response();
        return Ok(found.map_or_else(nothing, |picture| answer(&picture, age_ms, true)));
    }
}

fn answer<T: Serialize>(picture: &Picture<T>, age_ms: u128, is_known: bool) -> Response {
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Response::new(Body::from(picture.file.clone())),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(picture.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Text of the robot: what is not plain ASCII is written as JSON escapes it.
    let about: String = json(&picture.about).chars().map(escaped).collect();
    for (name, value) in [(ETAG, picture.tag.clone()), (AGE, age_ms.to_string()), (ABOUT, about)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

/// The letter, or a question mark for one that a header can't hold.
fn escaped(letter: char) -> char {
    if letter.is_ascii_graphic() || letter == ' ' { letter } else { '?' }
}
