//! The events of all missions for programs: server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use cortex_core::EventStream;
use cortex_protocol::CloudEvent;
use futures::stream;
use tokio_util::sync::CancellationToken;

use crate::callers::Reading;
use crate::error::ApiError;
use crate::headers;
use crate::hub::json;
use crate::request::{After, event_id};
use crate::site::Site;

/// How often a stream without events shows that it lives.
const PULSE: Duration = Duration::from_secs(15);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

struct Following {
    site: Arc<Site>,
    events: Box<dyn EventStream>,
    /// How many missing events the client knows of.
    missed: u64,
    session: CancellationToken,
}

/// `GET /api/v1/events`.
pub(crate) async fn events(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
    headers: HeaderMap,
    after: Result<Query<After>, QueryRejection>,
) -> Result<Response, ApiError> {
    // A browser that returns by itself says what it has had last; the address still says where it began.
    let last = headers::one(&headers, LAST_EVENT_ID).filter(|id| !id.is_empty()).map(event_id).transpose()?;
    let after = match last {
        Some(last) => Some(last),
        None => after?.0.event()?,
    };
    let events = site.port.events(after);
    let following = Following { site, events, missed: 0, session: caller.ended() };
    let chunks = stream::unfold(following, |mut following| async move {
        let chunk = following.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), following))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

impl Following {
    /// What is sent next; none at the end of the session or the server.
    async fn next(&mut self) -> Option<Bytes> {
        let event = tokio::select! {
            biased;
            () = self.session.cancelled() => return None,
            () = self.site.ended.cancelled() => return None,
            event = self.events.next() => event?,
            () = tokio::time::sleep(PULSE) => return Some(Bytes::from_static(b":\n\n")),
        };
        let missed = self.events.missed();
        let newly_missed = missed.saturating_sub(self.missed);
        self.missed = missed.max(self.missed);
        Some(written(&event, newly_missed).into())
    }
}

fn written(event: &CloudEvent, missed: u64) -> String {
    let gap = match missed {
        0 => String::new(),
        missed => format!("event: missed\ndata: {{\"missed\":{missed}}}\n\n"),
    };
    // JSON is one line. An id with a line break is none that a client could name again.
    let id = Some(event.id.as_str()).filter(|id| !id.contains(['\n', '\r', '\0']));
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{gap}{id}data: {}\n\n", json(event))
}
