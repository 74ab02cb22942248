//! All recordings, asked anew of one candidate.

use std::sync::atomic::{AtomicU32, Ordering};

use cortex_core::{ChatReply, ModelError, ModelErrorKind};
use cortex_runtime::tape::Reader;
use futures::StreamExt as _;

use crate::candidate::Candidate;
use crate::mission_score::{MissionScore, score};
use crate::model_score::ModelScore;
use crate::tapes::{Recording, TapesError};

/// After so many failures in a row that the next question would meet, too, a model is not asked any further.
const MOST_FAILURES: u32 = 3;

/// Asks the candidate the questions of all recordings, of so many (`parallel`) at a time, and those of one in their order.
/// `progressed` is told how many are done. What can't be read is told beside the score.
pub async fn evaluate(
    recordings: &[Recording],
    candidate: &Candidate,
    parallel: usize,
    mut progressed: impl FnMut(usize),
) -> (ModelScore, Vec<(Recording, TapesError)>) {
    let failures = AtomicU32::new(0);
    let missions = recordings.iter().map(|recording| one(recording, candidate, &failures));
    let mut missions = futures::stream::iter(missions).buffered(parallel.max(1));
    let (mut each, mut unread) = (Vec::new(), Vec::new());
    let mut done = 0;
    while let Some(scored) = missions.next().await {
        match scored {
            Ok(score) => each.push(score),
            Err((recording, problem)) => unread.push((recording, problem)),
        }
        done += 1;
        progressed(done);
    }
    (ModelScore::of(candidate.name.clone(), each), unread)
}

async fn one(
    recording: &Recording,
    candidate: &Candidate,
    failures: &AtomicU32,
) -> Result<MissionScore, (Recording, TapesError)> {
    let told = |problem| (recording.clone(), TapesError::Tape { path: recording.path.clone(), problem });
    let mut reader = Reader::open(&recording.path).map_err(told)?;
    let asked = |reply: &Result<ChatReply, ModelError>| {
        match reply {
            Err(error) if meets_all(error) => failures.fetch_add(1, Ordering::Relaxed),
            _ => failures.swap(0, Ordering::Relaxed),
        };
        failures.load(Ordering::Relaxed) < MOST_FAILURES
    };
    if failures.load(Ordering::Relaxed) >= MOST_FAILURES {
        return Ok(MissionScore::not_asked(recording.mission.clone()));
    }
    score(recording.mission.clone(), &mut reader, candidate, asked).await.map_err(told)
}

/// Whether the next question would fail in the same way.
fn meets_all(error: &ModelError) -> bool {
    matches!(error.kind, ModelErrorKind::Unreachable | ModelErrorKind::Unauthorized | ModelErrorKind::Timeout)
}
