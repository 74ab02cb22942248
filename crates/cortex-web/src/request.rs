//! What is read of a request, within bounds.

use axum::body::{Body, to_bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use cortex_protocol::{EventId, strict_json};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::error::{ApiError, ErrorKind};
use crate::headers;
use crate::site::Site;

/// Most bytes of a body.
const BODY_BYTES: usize = 64 << 10;
/// Longest id of an event that a client names, in bytes.
const ID_BYTES: usize = 128;

/// The event that a client has seen last.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct After {
    after: Option<String>,
}

impl After {
    pub(crate) fn event(self) -> Result<Option<EventId>, ApiError> {
        self.after.filter(|id| !id.is_empty()).map(|id| event_id(&id)).transpose()
    }
}

/// The id of an event, as a client gives it.
pub(crate) fn event_id(id: &str) -> Result<EventId, ApiError> {
    if id.len() > ID_BYTES || !id.chars().all(|letter| letter.is_ascii_graphic()) {
        return Err(ApiError::invalid("That is no id of an event. Give the 'id' of the last one that you have."));
    }
    Ok(EventId::new(id))
}

/// The body, if it is JSON of this form.
pub(crate) async fn json_body<T: DeserializeOwned>(
    site: &Site,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, ApiError> {
    if headers::media_type(headers).as_deref() != Some("application/json") {
        let reason = "The body must be JSON, and say so: 'Content-Type: application/json'.";
        return Err(ApiError::new(ErrorKind::UnsupportedType, reason));
    }
    let bytes = whole_body(site, headers, body).await?;
    strict_json::read_bytes(&bytes).map_err(|error| ApiError::invalid(format!("The body can't be read: {error}.")))
}

/// The body, within bounds of size and time.
pub(crate) async fn whole_body(site: &Site, headers: &HeaderMap, body: Body) -> Result<axum::body::Bytes, ApiError> {
    let too_large =
        || ApiError::new(ErrorKind::TooLarge, format!("The body is larger than {BODY_BYTES} bytes. Send less."));
    let announced = headers::one(headers, CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > BODY_BYTES) {
        return Err(too_large());
    }
    match timeout(site.settings.limits.read_timeout, to_bytes(body, BODY_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            use std::error::Error as _;
            let is_limit = error.source().is_some_and(|source| source.is::<http_body_util::LengthLimitError>());
            Err(if is_limit { too_large() } else { ApiError::invalid("The body broke off. Send it again.") })
        }
        Err(_) => Err(ApiError::invalid("The body did not come in time. Send it again.")),
    }
}
