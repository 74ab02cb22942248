//! What the robot is and has done, for those who look.

use std::collections::VecDeque;
use std::io;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use cortex_core::{EventStream, EventWindow, ProgressEvents};
use cortex_protocol::overview::Overview;
use cortex_protocol::{CloudEvent, EventId, MissionEvent, MissionId, OpenQuestion, RecordedMission, Role, ToolSpec};
use futures::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;
use tokio_util::io::ReaderStream;

use crate::callers::Reading;
use crate::error::{ApiError, ErrorKind};
use crate::hub::json;
use crate::report::Report;
use crate::site::Site;

/// Missions that are listed where the client does not say how many, and at most.
const LISTED: usize = 50;
const MOST_LISTED: usize = 500;
/// Events of one part where the client does not say how many, and at most.
const EVENTS: usize = 500;
const MOST_EVENTS: usize = 20_000;
/// Longest id of a mission or an event, in bytes.
const ID_BYTES: usize = 128;
/// A mission that goes on and whose last event is not known has nothing more now when it is silent for so long.
const SILENCE: Duration = Duration::from_secs(1);
/// Where its last event is known, that one is waited for. It does not come where it was lost.
const LAST_EVENT: Duration = Duration::from_secs(10);
/// How much of a tape is read at a time.
const TAPE_CHUNK: usize = 64 << 10;

/// `GET /api/v1/overview`.
pub(crate) async fn overview(State(site): State<Arc<Site>>, Reading(_): Reading) -> Json<Overview> {
    Json(Overview::clone(&site.port.overviews().latest()))
}

/// `GET /api/v1/questions`.
pub(crate) async fn questions(State(site): State<Arc<Site>>, Reading(_): Reading) -> Json<Vec<OpenQuestion>> {
    Json(site.port.questions())
}

/// `GET /api/v1/tools`.
pub(crate) async fn tools(State(site): State<Arc<Site>>, Reading(_): Reading) -> Json<Vec<ToolSpec>> {
    Json(site.port.tools())
}

/// Which missions are listed.
#[derive(Debug, Deserialize)]
pub(crate) struct Listed {
    before: Option<String>,
    most: Option<usize>,
}

/// `GET /api/v1/missions`.
pub(crate) async fn recorded(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    listed: Result<Query<Listed>, QueryRejection>,
) -> Result<Json<Vec<RecordedMission>>, ApiError> {
    let Listed { before, most } = listed?.0;
    let before = before.filter(|id| !id.is_empty()).map(|id| mission_id(&id)).transpose()?;
    let most = most.unwrap_or(LISTED).clamp(1, MOST_LISTED);
    Ok(Json(site.port.recorded(before, most).await?))
}

/// Which events of a mission are wanted. Nothing: all.
#[derive(Debug, Deserialize)]
pub(crate) struct WantedEvents {
    before: Option<String>,
    most: Option<usize>,
    progress: Option<ProgressEvents>,
}

impl WantedEvents {
    /// None: all events are wanted.
    fn window(self) -> Result<Option<EventWindow>, ApiError> {
        let Self { before, most, progress } = self;
        let before = before.filter(|id| !id.is_empty());
        if before.is_none() && most.is_none() && progress.is_none() {
            return Ok(None);
        }
        if before.as_ref().is_some_and(|id| id.len() > ID_BYTES) {
            return Err(ApiError::invalid("That is no id of an event."));
        }
        let most = most.unwrap_or(EVENTS).clamp(1, MOST_EVENTS);
        Ok(Some(EventWindow { before: before.map(EventId::new), most, progress: progress.unwrap_or_default() }))
    }
}

/// `GET /api/v1/missions/ID/events`.
pub(crate) async fn events(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
    Path(mission): Path<String>,
    wanted: Result<Query<WantedEvents>, QueryRejection>,
) -> Result<Response, ApiError> {
    let mission = mission_id(&mission)?;
    let events = match wanted?.0.window()? {
        Some(window) => stream::iter(part_of(&site, &mission, window).await?).left_stream(),
        None => so_far(&site, &mission).await?.right_stream(),
    };
    let events = events.take_until(caller.ended().cancelled_owned());
    let begun = events.enumerate().map(|(at, event)| format!("{}{}", if at == 0 { "" } else { ",\n" }, json(&*event)));
    let chunks = stream::once(async { "[".to_owned() }).chain(begun).chain(stream::once(async { "]".to_owned() }));
    let chunks = chunks.map(Ok::<_, std::convert::Infallible>);
    Ok(answer(Body::from_stream(chunks), "application/json", None))
}

/// The last events of a mission before a place, in their order.
async fn part_of(site: &Arc<Site>, mission: &MissionId, window: EventWindow) -> Result<Vec<Arc<CloudEvent>>, ApiError> {
    // What is known to have happened must be there, or a page would miss what lies between this and its live stream.
    let last = site.hub.last_sequence(mission).filter(|_| window.before.is_none());
    if let Some(events) = site.port.window(mission, window.clone()).await?
        && last.is_none_or(|last| events.last().is_some_and(|event| event.sequence >= last))
    {
        return Ok(events.into_iter().map(Arc::new).collect());
    }
    let mut events = Box::pin(so_far(site, mission).await?);
    let mut part = VecDeque::new();
    while let Some(event) = events.next().await {
        if window.before.as_ref() == Some(&event.id) {
            return Ok(part.into());
        }
        if window.progress == ProgressEvents::Latest && is_progress(&event) && part.back().is_some_and(is_progress) {
            part.pop_back();
        }
        part.push_back(event);
        if part.len() > window.most {
            part.pop_front();
        }
    }
    match window.before {
        None => Ok(part.into()),
        Some(_) => Err(ApiError::new(ErrorKind::NotFound, "This mission has no such event.")),
    }
}

fn is_progress(event: &Arc<CloudEvent>) -> bool {
    matches!(event.data.payload, MissionEvent::Progress { .. })
}

/// `GET /api/v1/missions/ID/report`.
pub(crate) async fn report(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    Path(mission): Path<String>,
) -> Result<Response, ApiError> {
    let mission = mission_id(&mission)?;
    let report = report_of(&site, &mission).await?;
    let name = format!("mission-{mission}.md");
    Ok(answer(Body::from(report), "text/markdown; charset=utf-8", Some(&name)))
}

/// The report of a mission up to now.
pub(crate) async fn report_of(site: &Arc<Site>, mission: &MissionId) -> Result<String, ApiError> {
    let mut events = Box::pin(so_far(site, mission).await?);
    let mut report = Report::new(&site.settings.robot, mission);
    while let Some(event) = events.next().await {
        report.add(&event);
    }
    Ok(report.text())
}

/// `GET /api/v1/missions/ID/tape`. It holds the prompts and the replies of the model, and whatever tools returned.
pub(crate) async fn tape(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
    Path(mission): Path<String>,
) -> Result<Response, ApiError> {
    caller.require(Role::Operate)?;
    let mission = mission_id(&mission)?;
    let path = site.port.tape(&mission)?;
    let (file, bytes) = open(&path).await.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ApiError::new(ErrorKind::NotFound, "There is no tape of this mission."),
        _ => ApiError::failed("the tape can't be read", &error),
    })?;
    // A mission that goes on writes more meanwhile.
    let chunks = ReaderStream::with_capacity(file.take(bytes), TAPE_CHUNK);
    let chunks = chunks.take_until(caller.ended().cancelled_owned());
    let mut response =
        answer(Body::from_stream(chunks), "application/x-ndjson", Some(&format!("mission-{mission}.jsonl")));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    Ok(response)
}

async fn open(path: &FilePath) -> io::Result<(File, u64)> {
    let file = File::open(path).await?;
    let about = file.metadata().await?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no file"));
    }
    Ok((file, about.len()))
}

/// An id of a mission, as a client gives it: it is part of names of files.
pub(crate) fn mission_id(id: &str) -> Result<MissionId, ApiError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if id.is_empty() || id.len() > ID_BYTES || !id.chars().all(is_plain) {
        return Err(ApiError::invalid("That is no id of a mission. /api/v1/missions lists them."));
    }
    Ok(MissionId::new(id))
}

/// The events of a mission up to now.
async fn so_far(
    site: &Arc<Site>,
    mission: &MissionId,
) -> Result<impl Stream<Item = Arc<CloudEvent>> + use<>, ApiError> {
    // Its last event, as far as it is known: there is more to come before that one.
    let last = site.hub.last_sequence(mission);
    let mut events = site.port.follow(mission);
    let Some(first) = next_of(&mut events, last.map(|_| 0), last).await else {
        let reason = "There are no events of this mission. /api/v1/missions lists those that were recorded.";
        return Err(ApiError::new(ErrorKind::NotFound, reason));
    };
    let sequence = first.sequence;
    let rest = stream::unfold((events, sequence), move |(mut events, sequence)| async move {
        let event = next_of(&mut events, Some(sequence), last).await?;
        let sequence = event.sequence;
        Some((event, (events, sequence)))
    });
    Ok(stream::once(async { first }).chain(rest))
}

/// The next event, unless there is none now.
async fn next_of(events: &mut Box<dyn EventStream>, had: Option<u64>, last: Option<u64>) -> Option<Arc<CloudEvent>> {
    match (had, last) {
        // What is ready beyond the last one that is known is welcome.
        (Some(had), Some(last)) if had >= last => futures::FutureExt::now_or_never(events.next()).flatten(),
        (_, Some(_)) => timeout(LAST_EVENT, events.next()).await.ok().flatten(),
        (_, None) => timeout(SILENCE, events.next()).await.ok().flatten(),
    }
}

fn answer(body: Body, media_type: &'static str, file: Option<&str>) -> Response {
    let mut response = Response::new(body);
    let mut set = |name: HeaderName, value: HeaderValue| drop(response.headers_mut().insert(name, value));
    set(CONTENT_TYPE, HeaderValue::from_static(media_type));
    let disposition =
        file.map(|file| HeaderValue::from_maybe_shared(Bytes::from(format!("attachment; filename=\"{file}\""))));
    if let Some(Ok(disposition)) = disposition {
        set(CONTENT_DISPOSITION, disposition);
    }
    response
}
