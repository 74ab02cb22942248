//! What the robot remembers: looked at by everybody who may watch, corrected by who may operate, forgotten by who administers.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use cortex_core::MemoryPort;
use cortex_protocol::Role;
use cortex_protocol::memory_view::{MemoryAnswer, MemoryForgotten, MemoryNote, MemoryTask};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Caller;
use crate::audit;
use crate::callers::{Acting, Reading};
use crate::error::{ApiError, ErrorKind};
use crate::request::json_body;
use crate::seen::{self, Seen};
use crate::site::Site;

/// Longest question that is taken, in bytes.
const TEXT_BYTES: usize = 1_000;
/// Characters of what somebody said that are noted.
const NOTED: usize = 200;

/// What is asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    text: String,
}

/// What somebody says of a thing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Correction {
    /// What its sender was looking at.
    pub(crate) seen: Seen,
    /// What is said.
    pub(crate) note: MemoryNote,
}

/// What is to be forgotten for good.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToForget {
    /// What its sender was looking at.
    pub(crate) seen: Seen,
    /// The thing.
    pub(crate) subject: String,
}

/// `GET /api/v1/memory`.
pub(crate) async fn recall(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<MemoryAnswer>, ApiError> {
    let text = text_of(wanted?)?;
    Ok(Json(port(&site)?.recall(&text).await?))
}

/// `GET /api/v1/memory/facts/{id}`.
pub(crate) async fn trail(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    Path(fact): Path<String>,
) -> Result<Json<Vec<String>>, ApiError> {
    let fact = fact.parse().map_err(|_| ApiError::invalid("Give the number of a fact, as /api/v1/memory tells it."))?;
    Ok(Json(port(&site)?.trail(fact).await?))
}

/// `GET /api/v1/memory/tasks`.
pub(crate) async fn tasks(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Vec<MemoryTask>>, ApiError> {
    let text = text_of(wanted?)?;
    Ok(Json(port(&site)?.tasks(&text).await?))
}

/// `POST /api/v1/memory/facts`.
pub(crate) async fn tell(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let Correction { seen, note } = json_body(&site, &headers, body).await?;
    let what =
        format!("tell the memory that {:?} {:?} {:?}", cut(&note.subject), cut(&note.relation), cut(&note.value));
    // It goes on when its client is gone, so that what came of it is noted.
    let telling = {
        let site = Arc::clone(&site);
        async move {
            let told = async {
                let memory = may_change(&site, &caller, Role::Operate, &seen)?;
                Ok(memory.tell(note, caller.name()).await?)
            };
            noted(&caller, &what, told.await)
        }
    };
    site.tasks.spawn(telling).await.map_err(|_| failed())??;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/memory/forget`.
pub(crate) async fn forget(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<MemoryForgotten>, ApiError> {
    let ToForget { seen, subject } = json_body(&site, &headers, body).await?;
    let what = format!("have the memory forget {:?}", cut(&subject));
    let forgetting = {
        let site = Arc::clone(&site);
        async move {
            let forgotten = async {
                let memory = may_change(&site, &caller, Role::Administer, &seen)?;
                Ok(memory.forget(&subject).await?)
            };
            noted(&caller, &what, forgotten.await)
        }
    };
    Ok(Json(site.tasks.spawn(forgetting).await.map_err(|_| failed())??))
}

/// The memory, for who may change it and sees the robot as it is.
fn may_change(site: &Site, caller: &Caller, role: Role, seen: &Seen) -> Result<Arc<dyn MemoryPort>, ApiError> {
    caller.require(role)?;
    seen::check_fresh(seen, |frame| site.hub.age(frame))?;
    caller.check_still_valid()?;
    port(site)
}

fn noted<T>(caller: &Caller, what: &str, result: Result<T, ApiError>) -> Result<T, ApiError> {
    match &result {
        Ok(_) => audit::acted(caller, what, "done"),
        Err(error) => audit::refused(caller, what, error),
    }
    result
}

fn failed() -> ApiError {
    ApiError::new(ErrorKind::Unavailable, "Cortex has failed at it. Look whether it happened.")
}

fn cut(text: &str) -> String {
    text.chars().take(NOTED).collect()
}

fn text_of(Query(wanted): Query<Wanted>) -> Result<String, ApiError> {
    if wanted.text.len() > TEXT_BYTES {
        return Err(ApiError::invalid(format!("Ask in at most {TEXT_BYTES} bytes.")));
    }
    Ok(wanted.text)
}

fn port(site: &Site) -> Result<Arc<dyn MemoryPort>, ApiError> {
    let reason = "This robot remembers nothing. Set memory.enable_memory in its recipe or configuration; its log says why \
                  if it is set.";
    site.port.memory().ok_or_else(|| ApiError::new(ErrorKind::NotFound, reason))
}
