//! What is needed to look into a mission elsewhere, in one archive: its tape, its report, how the robot is now, how it was set
//! up, and the latest messages of chosen topics.

mod archive;
mod bag;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use cortex_core::{LogPort, TopicSlice};
use cortex_protocol::Role;
use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::duplex;
use tokio_util::io::{ReaderStream, SyncIoBridge};

use crate::audit;
use crate::callers::Reading;
use crate::error::{ApiError, ErrorKind};
use crate::missions::{mission_id, report_of};
use crate::site::Site;

use archive::Contents;

/// Archives that are written at a time. Each keeps the messages of its slice in memory until its client has them.
pub(crate) const AT_A_TIME: usize = 2;
/// How much of the archive waits for a client that reads slowly.
const WAITING_BYTES: usize = 64 << 10;
/// Lines of the log of the robot's nodes: as many as are kept.
const LOG_LINES: usize = 2_000;

/// Bytes of a mission's id in the name of the archive's folder.
const ID_BYTES: usize = 60;

/// `GET /api/v1/missions/ID/incident`.
pub(crate) async fn incident(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
    Path(mission): Path<String>,
) -> Result<Response, ApiError> {
    caller.require(Role::Operate)?;
    let mission = mission_id(&mission)?;
    let turn = Arc::clone(&site.incidents).try_acquire_owned().map_err(|_| {
        let reason = "Other incidents are being saved. Try again when one of them is there.";
        ApiError::new(ErrorKind::Busy, reason)
    })?;
    let kept = site.port.incident();
    // First: messages go on coming while the rest is gathered.
    let slice = kept.as_ref().map(|kept| kept.topics()).unwrap_or_default();
    let saved_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let report = report_of(&site, &mission).await?;
    let tape = site.port.tape(&mission).ok();
    let versions = json!({
        "cortex": env!("CARGO_PKG_VERSION"), "robot": site.settings.robot, "mission": mission,
        "kept_ms": u64::try_from(saved_ns / 1_000_000).unwrap_or(u64::MAX),
    });
    let texts = vec![
        ("README.txt", archive::READ_ME.to_owned()),
        ("versions.json", pretty(&versions)),
        ("overview.json", pretty(&*site.port.overviews().latest())),
        ("questions.json", pretty(&site.port.questions())),
        ("tools.json", pretty(&site.port.tools())),
        ("topics.json", pretty(&topics(&slice))),
        ("log.jsonl", site.port.node_log().map(|log| lines(&*log)).unwrap_or_default()),
        ("report.md", report),
    ];
    // Longer ids than those that Cortex makes would not fit into the archive.
    let folder = format!("incident-{}", mission.as_str().get(..ID_BYTES).unwrap_or(mission.as_str()));
    let name = format!("{folder}.tar.gz");
    let saved_ns = u64::try_from(saved_ns).unwrap_or(u64::MAX);
    let contents = Contents { folder, texts, kept, slice, saved_ns, tape };
    let (near, far) = duplex(WAITING_BYTES);
    let writer = SyncIoBridge::new(near);
    // It ends when the client leaves: then there is nobody to write to.
    site.tasks.spawn_blocking(move || {
        let _turn = turn;
        let written = contents.write(writer);
        if let Err(error) = written.and_then(|mut writer| writer.shutdown()) {
            tracing::warn!(%error, "an incident's archive was not written to its end");
        }
    });
    audit::acted(&caller, "incident", mission.as_str());
    let chunks = ReaderStream::new(far).take_until(caller.ended().cancelled_owned());
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    let disposition = Bytes::from(format!("attachment; filename=\"{name}\""));
    if let Ok(disposition) = HeaderValue::from_maybe_shared(disposition) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

/// What there is of topics, and what there is not, with the reason.
fn topics(slice: &TopicSlice) -> Value {
    let recorded = slice.topics.iter().map(|topic| {
        json!({
            "topic": topic.topic, "type": topic.type_name, "messages": topic.messages.len(), "dropped": topic.dropped,
        })
    });
    let left_out = slice.left_out.iter().map(|topic| json!({ "topic": topic.topic, "reason": topic.reason }));
    json!({
        "reach_s": slice.reach.as_secs_f64(), "recorded": recorded.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

fn lines(log: &dyn LogPort) -> String {
    let line = |line| serde_json::to_string(&line).unwrap_or_default() + "\n";
    log.latest(LOG_LINES).into_iter().map(line).collect()
}

fn pretty(value: &impl serde::Serialize) -> String {
    // Only maps with other keys than texts can't be written, and there are none.
    serde_json::to_string_pretty(value).unwrap_or_default()
}
