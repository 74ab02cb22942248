//! A STOP from the key to its answer. It is sent on the open live stream; where nothing comes of that in time, once more as
//! a request of its own.

use std::time::Duration;

use cortex_protocol::StopOutcome;

use crate::wire::RequestError;

/// So long the live stream has to show that the STOP has arrived.
const PROMPT: Duration = Duration::from_secs(1);

/// How a STOP is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopWay {
    /// On the live stream.
    Socket,
    /// With `POST /stop`, on a connection of its own.
    Request,
}

/// What came of STOP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum StopState {
    /// Nobody said STOP in this view, or the robot was resumed since.
    #[default]
    None,
    /// It was sent.
    Sent {
        /// How, the last time.
        way: StopWay,
        /// When.
        at: Duration,
        /// How often the robot had been stopped before.
        stops: u64,
        /// Whether the robot says that it is stopped.
        is_stopped: bool,
    },
    /// It was carried out.
    Done(StopOutcome),
    /// It was not, as far as is known.
    Failed(String),
}

impl StopState {
    pub(super) fn begin(&mut self, way: StopWay, stops: u64, at: Duration) {
        *self = Self::Sent { way, at, stops, is_stopped: false };
    }

    pub(super) fn answered(&mut self, answer: Result<StopOutcome, RequestError>) {
        // One that has worked is not undone by another way that has failed.
        *self = match (answer, std::mem::take(self)) {
            (Ok(outcome), Self::Done(earlier)) => Self::Done(both(earlier, outcome)),
            (Ok(outcome), _) => Self::Done(outcome),
            (Err(_), done @ (Self::Done(_) | Self::Sent { is_stopped: true, .. })) => done,
            (Err(error), _) => {
                Self::Failed(format!("{} Use the emergency stop of the robot itself.", sentence(&error)))
            }
        };
    }

    pub(super) fn robot_is(&mut self, stopped: bool, stops: u64) {
        match self {
            Self::Sent { stops: before, is_stopped, .. } => *is_stopped |= stopped && stops > *before,
            Self::Done(_) | Self::Failed(_) if !stopped => *self = Self::None,
            _ => {}
        }
    }

    pub(super) fn must_repeat(&mut self, is_frozen: bool, now: Duration) -> bool {
        let Self::Sent { way, at, is_stopped: false, .. } = self else { return false };
        if *way != StopWay::Socket || !(is_frozen || now.saturating_sub(*at) >= PROMPT) {
            return false;
        }
        (*way, *at) = (StopWay::Request, now);
        true
    }
}

/// What a STOP came to that was sent in two ways. What one of them does not know to be at rest may move.
fn both(mut earlier: StopOutcome, later: StopOutcome) -> StopOutcome {
    earlier.missions_ended = earlier.missions_ended.max(later.missions_ended);
    earlier.not_stopped.extend(later.not_stopped);
    earlier.not_stopped.sort();
    earlier.not_stopped.dedup();
    earlier
}

/// The error as a sentence, whether it ends with a full stop or not.
fn sentence(error: &RequestError) -> String {
    format!("{}.", error.to_string().trim_end().trim_end_matches('.'))
}
