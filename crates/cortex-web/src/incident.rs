//! What is needed to look into a mission elsewhere, in one archive: its tape, its report, and how the robot is now.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use cortex_protocol::Role;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt as _;
use serde_json::json;
use tokio::io::duplex;
use tokio_util::io::{ReaderStream, SyncIoBridge};

use crate::audit;
use crate::callers::Reading;
use crate::error::ApiError;
use crate::missions::{mission_id, report_of};
use crate::site::Site;

/// How much of the archive waits for a client that reads slowly.
const WAITING_BYTES: usize = 64 << 10;

const READ_ME: &str = "\
What happened in one mission of a robot with Cortex, kept by a person to be looked into.

tape.jsonl      The mission's tape: everything that Cortex was given and wanted done, with the prompts and the
                replies of the model. `cortex tape play tape.jsonl` shows it on the page, without a robot.
                Missing where missions are not recorded. Of a mission that goes on, what was written so far.
report.md       The same for people.
overview.json   The live status when this was kept: components with their health, missions, calls, stop, controls.
questions.json  What people were being asked then.
tools.json      What the robot could be asked to do then, with the schemas.
versions.json   Which Cortex, which robot, which mission, and when this was kept.

Not in here: the configuration, the recipe, the log of Cortex, and messages of topics.
What people said to the robot and what its tools returned is in here as it was. Hand it on accordingly.
";

/// `GET /api/v1/missions/ID/incident`.
pub(crate) async fn incident(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
    Path(mission): Path<String>,
) -> Result<Response, ApiError> {
    caller.require(Role::Operate)?;
    let mission = mission_id(&mission)?;
    let report = report_of(&site, &mission).await?;
    let tape = site.port.tape(&mission).ok();
    let kept_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let versions = json!({
        "cortex": env!("CARGO_PKG_VERSION"), "robot": site.settings.robot, "mission": mission, "kept_ms": kept_ms,
    });
    let texts = [
        ("README.txt", READ_ME.to_owned()),
        ("versions.json", pretty(&versions)),
        ("overview.json", pretty(&*site.port.overviews().latest())),
        ("questions.json", pretty(&site.port.questions())),
        ("tools.json", pretty(&site.port.tools())),
        ("report.md", report),
    ];
    let name = format!("incident-{mission}");
    let (near, far) = duplex(WAITING_BYTES);
    let writer = SyncIoBridge::new(near);
    let folder = name.clone();
    // It ends when the client leaves: then there is nobody to write to.
    site.tasks.spawn_blocking(move || {
        let written = write(writer, &folder, &texts, tape.as_deref());
        if let Err(error) = written.and_then(|mut writer| writer.shutdown()) {
            tracing::warn!(%error, "an incident's archive was not written to its end");
        }
    });
    audit::acted(&caller, "incident", mission.as_str());
    let chunks = ReaderStream::new(far).take_until(caller.ended().cancelled_owned());
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    let disposition = Bytes::from(format!("attachment; filename=\"{name}.tar.gz\""));
    if let Ok(disposition) = HeaderValue::from_maybe_shared(disposition) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

fn pretty(value: &impl serde::Serialize) -> String {
    // Only maps with other keys than texts can't be written, and there are none.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Writes the archive. Whoever reads one that breaks off is told so by its end, which is missing.
fn write<W: Write>(writer: W, folder: &str, texts: &[(&str, String)], tape: Option<&std::path::Path>) -> io::Result<W> {
    let mut archive = tar::Builder::new(GzEncoder::new(writer, Compression::fast()));
    let mut add = |name: &str, bytes: u64, content: &mut dyn io::Read| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes);
        header.set_mode(0o600);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        header.set_mtime(now.map_or(0, |now| now.as_secs()));
        archive.append_data(&mut header, format!("{folder}/{name}"), content)
    };
    for (name, text) in texts {
        add(name, text.len() as u64, &mut text.as_bytes())?;
    }
    if let Some(tape) = tape {
        let file = std::fs::File::open(tape)?;
        let bytes = file.metadata()?.len();
        // A mission that goes on writes more meanwhile.
        add("tape.jsonl", bytes, &mut io::Read::take(file, bytes))?;
    }
    archive.into_inner()?.finish()
}
