//! Which request is answered by what, and what all of them share.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use cortex_core::OperatorPort;
use cortex_protocol::{EventId, strict_json};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::commands::KnownCommands;
use crate::error::{ApiError, ErrorKind};
use crate::live::Hub;
use crate::server::Connection;
use crate::{WebSettings, access, commands, headers, live, missions, openapi, pages, sse, stop};

/// Most bytes of a body.
const BODY_BYTES: usize = 64 << 10;
/// Longest id of an event that a client names, in bytes.
const ID_BYTES: usize = 128;
const STOP: &str = "/stop";

/// What all requests share.
pub(crate) struct Site {
    pub(crate) settings: WebSettings,
    pub(crate) port: Arc<dyn OperatorPort>,
    pub(crate) access: Access,
    pub(crate) hub: Arc<Hub>,
    pub(crate) commands: KnownCommands,
    /// What goes on when its client is gone, and connections that last.
    pub(crate) tasks: TaskTracker,
    /// Is cancelled when the server ends.
    pub(crate) ended: CancellationToken,
}

pub(crate) fn router(site: Arc<Site>) -> Router {
    let api = Router::new()
        .route("/overview", get(missions::overview))
        .route("/questions", get(missions::questions))
        .route("/tools", get(missions::tools))
        .route("/seen", get(live::seen))
        .route("/missions", get(missions::recorded))
        .route("/missions/{id}/events", get(missions::events))
        .route("/missions/{id}/tape", get(missions::tape))
        .route("/missions/{id}/report", get(missions::report))
        .route("/events", get(sse::events))
        .route("/live", get(live::live))
        .route("/commands", post(commands::command))
        .route("/pairings", get(access::pairings).post(access::make_pairing))
        .route("/pairings/{id}", delete(access::end_pairing))
        .route("/sessions", get(access::sessions))
        .route("/sessions/{id}", delete(access::end_session))
        .route("/openapi.json", get(openapi::document));
    Router::new()
        .route("/", get(pages::page))
        .route("/assets/{*path}", get(pages::asset))
        .route("/login", get(access::login_page).post(access::log_in))
        .route("/logout", post(access::log_out))
        .route(STOP, post(stop::stop))
        .nest("/api/v1", api)
        .fallback(|| async { ApiError::new(ErrorKind::NotFound, "There is nothing at this address.") })
        .method_not_allowed_fallback(|| async {
            let reason = "This address does not take this method. See /api/v1/openapi.json.";
            (axum::http::StatusCode::METHOD_NOT_ALLOWED, axum::Json(ApiError::invalid(reason)))
        })
        .layer(middleware::from_fn(keep_free_for_stop))
        .layer(middleware::map_response(headers::secure))
        .with_state(site)
}

/// On the connections that are kept free for STOP nothing else is answered.
async fn keep_free_for_stop(request: Request, next: Next) -> Response {
    let is_spare = request.extensions().get::<Connection>().is_some_and(Connection::is_spare);
    if is_spare && request.uri().path() != STOP {
        let reason = "Too many connections. Close some, or try again later. STOP is still taken.";
        return ApiError::new(ErrorKind::Busy, reason).into_response();
    }
    next.run(request).await
}

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
