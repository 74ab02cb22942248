//! "That was not it": a person reopens a mission that has ended.

use cortex_protocol::question::MAX_REASON_BYTES;
use cortex_protocol::{MissionId, Origin};
use thiserror::Error;

use crate::{Rejection, Runtime};

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
    #[error("the mission {mission} has not ended; correct it with `cortex correct`, or cancel it")]
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

pub(crate) async fn dispute(
    _runtime: &Runtime,
    mission: MissionId,
    reason: String,
    _origin: Origin,
) -> Result<MissionId, DisputeRefusal> {
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(DisputeRefusal::Empty);
    }
    if reason.len() > MAX_REASON_BYTES {
        return Err(DisputeRefusal::TooLong { bytes: reason.len() });
    }
    Err(DisputeRefusal::Unknown { mission })
}
