//! The log of the robot's nodes for programs: the newest lines as JSON, or all from now on as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use cortex_core::LogStream;
use futures::stream;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::callers::Reading;
use crate::error::{ApiError, ErrorKind};
use crate::hub::json;
use crate::site::Site;

/// Most lines that are given at once.
const MOST: usize = 2_000;
/// How often a stream without lines shows that it lives.
const PULSE: Duration = Duration::from_secs(15);

/// Which lines are wanted.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    /// None: those from now on.
    most: Option<usize>,
}

struct Following {
    site: Arc<Site>,
    lines: Box<dyn LogStream>,
    /// How many missing lines the client knows of.
    missed: u64,
    session: CancellationToken,
}

/// `GET /api/v1/logs`.
pub(crate) async fn logs(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, ApiError> {
    let most = wanted?.0.most;
    let Some(log) = site.port.node_log() else {
        let reason = "This Cortex does not read the log of the robot's nodes; its own log says why.";
        return Err(ApiError::new(ErrorKind::Unavailable, reason));
    };
    if let Some(most) = most {
        if !(1..=MOST).contains(&most) {
            return Err(ApiError::invalid(format!("Give 'most' as a number from 1 to {MOST}.")));
        }
        let lines = log.latest(most);
        return Ok(Json(lines.iter().map(AsRef::as_ref).collect::<Vec<_>>()).into_response());
    }
    let (_, lines) = log.follow(0);
    let following = Following { site, lines, missed: 0, session: caller.ended() };
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
        let line = tokio::select! {
            biased;
            () = self.session.cancelled() => return None,
            () = self.site.ended.cancelled() => return None,
            line = self.lines.next() => line?,
            () = tokio::time::sleep(PULSE) => return Some(Bytes::from_static(b":\n\n")),
        };
        let missed = self.lines.missed();
        let gap = match missed.saturating_sub(std::mem::replace(&mut self.missed, missed)) {
            0 => String::new(),
            missed => format!("event: missed\ndata: {{\"missed\":{missed}}}\n\n"),
        };
        // JSON is one line.
        Some(format!("{gap}data: {}\n\n", json(&*line)).into())
    }
}
