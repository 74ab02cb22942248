//! "That was not it": a person reopens a mission that has ended.

use std::sync::Arc;

use cortex_core::mission::Reopened;
use cortex_protocol::question::MAX_REASON_BYTES;
use cortex_protocol::{MissionEvent, MissionId, MissionStatus, Origin, Submission};
use thiserror::Error;

use crate::Runtime;
use crate::ended_missions::EndedMission;
use crate::readiness::Rejection;
use crate::shared::Shared;
use crate::tape::{Body, Folder, TapeError};

/// Why a mission is not reopened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DisputeRefusal {
    /// Nobody knows it.
    #[error("there is no mission {mission}: neither in memory nor among the tapes. `cortex tape list` shows them all")]
    Unknown {
        /// Which.
        mission: MissionId,
    },
    /// It has not ended.
    #[error("the mission {mission} has not ended; revise it with `cortex revise`, or cancel it")]
    Running {
        /// Which.
        mission: MissionId,
    },
    /// Nothing is said.
    #[error("the reason is empty; say what was not as it should be")]
    Empty,
    /// The reason is too long.
    #[error("the reason has {bytes} bytes; at most {MAX_REASON_BYTES} are taken. Say it shorter")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The dispute can't be recorded.
    #[error("the dispute can't be recorded: {problem}")]
    Unrecorded {
        /// Why.
        problem: String,
    },
    /// The new task is not taken.
    #[error("the mission can't be reopened now: {0}")]
    Rejected(Rejection),
}

/// See [`Runtime::dispute`].
pub(crate) async fn dispute(
    runtime: &Runtime,
    mission: MissionId,
    reason: String,
    origin: Origin,
) -> Result<MissionId, DisputeRefusal> {
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(DisputeRefusal::Empty);
    }
    if reason.len() > MAX_REASON_BYTES {
        return Err(DisputeRefusal::TooLong { bytes: reason.len() });
    }
    if runtime.is_open(&mission).await {
        return Err(DisputeRefusal::Running { mission });
    }
    let shared = Arc::clone(&runtime.shared.borrow());
    let reason = reason.to_owned();
    let (known, said, by) = (mission.clone(), reason.clone(), origin.clone());
    let recorded = tokio::task::spawn_blocking(move || find_and_record(&shared, &known, &said, &by));
    let ended = recorded.await.map_err(|problem| DisputeRefusal::Unrecorded { problem: problem.to_string() })??;
    let reopens = Reopened {
        mission: ended.id,
        reason,
        origin: origin.clone(),
        output: ended.output,
        status: ended.status,
        steps: ended.steps,
    };
    let submission = Submission { task: ended.task, session: ended.session, origin };
    let ticket = runtime.submit_reopening(submission, reopens).await.map_err(DisputeRefusal::Rejected)?;
    Ok(ticket.id)
}

/// Finds a mission that has ended, and notes on its tape that it is disputed.
fn find_and_record(
    shared: &Shared,
    mission: &MissionId,
    reason: &str,
    origin: &Origin,
) -> Result<EndedMission, DisputeRefusal> {
    let unrecorded = |problem: &dyn std::fmt::Display| DisputeRefusal::Unrecorded { problem: problem.to_string() };
    let remembered = shared.ended.find(mission);
    let Some(tape) = &shared.config.tape else {
        return remembered.ok_or_else(|| DisputeRefusal::Unknown { mission: mission.clone() });
    };
    let folder = Folder::new(tape.directory.clone());
    // Only a name that stands in the folder is ever made a path of.
    let known = match (folder.missions().map_err(|problem| unrecorded(&problem))?.contains(mission), remembered) {
        (false, None) => return Err(DisputeRefusal::Unknown { mission: mission.clone() }),
        // Removed to make room, or never written. The new mission's tape says what is disputed.
        (false, Some(remembered)) => return Ok(remembered),
        (true, _) if folder.is_being_written(mission) => {
            return Err(DisputeRefusal::Running { mission: mission.clone() });
        }
        (true, Some(remembered)) => remembered,
        (true, None) => read(&folder, mission).map_err(|problem| unrecorded(&problem))?,
    };
    match folder.record_dispute(mission, reason, origin, known.status) {
        Ok(()) => {}
        Err(problem) if tape.required => return Err(unrecorded(&problem)),
        Err(problem) => tracing::warn!("the dispute of {mission} is not on its tape: {problem}"),
    }
    Ok(known)
}

/// What the tape says of a mission.
fn read(folder: &Folder, mission: &MissionId) -> Result<EndedMission, TapeError> {
    let mut ended = EndedMission {
        id: mission.clone(),
        task: String::new(),
        session: None,
        output: "The record of it breaks off.".to_owned(),
        status: MissionStatus::Failed,
        steps: Vec::new(),
    };
    let mut reader = folder.read(mission)?;
    while let Some((record, _)) = reader.next_record()? {
        // Of a line that can't be read nothing is known; the others still tell.
        match record.body() {
            Ok(Body::Published(MissionEvent::Accepted { task, session })) => {
                ended.task = task;
                ended.session = session;
            }
            Ok(Body::Published(MissionEvent::Finished { result })) => {
                ended.output = result.output;
                ended.status = result.status;
                ended.steps = result.steps;
            }
            _ => {}
        }
    }
    Ok(ended)
}
