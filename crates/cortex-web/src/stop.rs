//! STOP. It waits for no queue, no rate, no body and no other request, and goes on when its client is gone.

use std::future::Future;
use std::sync::Arc;

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use cortex_protocol::{Command, CommandOutcome};

use crate::access::Caller;
use crate::connection::Connection;
use crate::error::{ApiError, ErrorKind};
use crate::headers::wants_json;
use crate::site::Site;
use crate::{audit, pages};

/// Begins a stop, which goes on whatever becomes of the future that waits for its outcome.
pub(crate) fn begin(
    site: &Arc<Site>,
    caller: &Caller,
) -> impl Future<Output = Result<CommandOutcome, ApiError>> + Send + 'static {
    let (port, caller) = (Arc::clone(&site.port), caller.clone());
    let stopping = site.tasks.spawn(async move {
        let result = port.execute(Command::Stop, caller.principal()).await.map_err(ApiError::from);
        audit::command(&caller, &Command::Stop, &result);
        result
    });
    async move {
        let failed = "The stop has failed within Cortex. Use the emergency stop of the robot itself.";
        stopping.await.unwrap_or_else(|_| Err(ApiError::new(ErrorKind::Unavailable, failed)))
    }
}

/// `POST /stop`, from a form or a program. The body is not read.
pub(crate) async fn stop(
    State(site): State<Arc<Site>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
) -> Response {
    let result = stop_for(&site, &connection, &headers).await;
    match (wants_json(&headers), result) {
        (true, Ok(outcome)) => Json(outcome).into_response(),
        (true, Err(error)) => error.into_response(),
        (false, result) => pages::stopped(&site, result),
    }
}

async fn stop_for(site: &Arc<Site>, connection: &Connection, headers: &HeaderMap) -> Result<CommandOutcome, ApiError> {
    let caller = site.access.identify(connection, headers)?;
    caller.check_origin(headers).inspect_err(|error| audit::refused(&caller, "stop", error))?;
    begin(site, &caller).await
}
