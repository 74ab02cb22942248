//! Clients that have things done without a mission: whether they may, and what ends what they have begun.

use thiserror::Error;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{Desk, Door};
use crate::calls::Weight;

/// Calls of clients that may be under way. An event makes one at a time.
const MOST_CALLS: usize = 256;

/// Whether clients may have things done now.
#[derive(Debug, Clone)]
pub struct Duty {
    is_on: bool,
    unwanted: CancellationToken,
}

impl Duty {
    /// Whether they may: the robot is not stopped, and Cortex is active.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Ends what is begun now, as soon as they may not any more.
    #[must_use]
    pub fn unwanted(&self) -> CancellationToken {
        self.unwanted.clone()
    }
}

impl Default for Duty {
    fn default() -> Self {
        Self { is_on: true, unwanted: CancellationToken::new() }
    }
}

/// Leave to make a call. The robot counts as busy until it is dropped.
pub(crate) struct Leave {
    pub(crate) unwanted: CancellationToken,
    _open: TaskTrackerToken,
}

/// Why a client's call is not made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum CallRefusal {
    #[error("the robot is stopped")]
    Stopped,
    #[error("Cortex is not active: {0}")]
    Inactive(String),
    #[error("{MOST_CALLS} calls are under way already, the most that may")]
    TooMany,
    #[error("Cortex is shutting down")]
    ShuttingDown,
}

pub(crate) type LeaveReply = oneshot::Sender<Result<Leave, CallRefusal>>;

/// What the desk keeps of them.
pub(super) struct Clients {
    duty: watch::Sender<Duty>,
    /// The calls of this time on duty.
    open: TaskTracker,
    /// Those that came before what an earlier life left was at rest.
    early: Vec<LeaveReply>,
}

impl Clients {
    pub(super) fn new(duty: watch::Sender<Duty>) -> Self {
        Self { duty, open: TaskTracker::new(), early: Vec::new() }
    }

    /// Their calls. Closed as soon as they may not make any.
    pub(super) fn open(&self) -> TaskTracker {
        self.open.clone()
    }

    fn leave(&self) -> Result<Leave, CallRefusal> {
        if self.open.len() >= MOST_CALLS {
            return Err(CallRefusal::TooMany);
        }
        Ok(Leave { unwanted: self.duty.borrow().unwanted.clone(), _open: self.open.token() })
    }
}

impl Desk {
    /// Answers a client that wants to make a call.
    pub(super) fn on_call(&mut self, weight: Weight, reply: LeaveReply) {
        let leave = match &self.door {
            Door::Stopped => Err(CallRefusal::Stopped),
            Door::ShuttingDown => Err(CallRefusal::ShuttingDown),
            Door::Open => match &self.off_duty {
                Some(because) => Err(CallRefusal::Inactive(because.clone())),
                None if self.is_recovering && weight == Weight::Full && self.clients.early.len() < MOST_CALLS => {
                    return self.clients.early.push(reply);
                }
                None if self.is_recovering && weight == Weight::Full => Err(CallRefusal::TooMany),
                None => self.clients.leave(),
            },
        };
        // Who asked may have left.
        let _ = reply.send(leave);
    }

    /// Answers those that have waited, as it is now.
    pub(super) fn answer_early_calls(&mut self) {
        for reply in std::mem::take(&mut self.clients.early) {
            self.on_call(Weight::Full, reply);
        }
    }

    /// Tells clients whether they may have things done, where that has changed. What they have begun ends when they may
    /// not.
    pub(super) fn note_duty(&mut self) {
        let is_on = self.door == Door::Open && self.off_duty.is_none();
        self.shared.leftovers.hurry(!is_on);
        if is_on == self.clients.duty.borrow().is_on {
            return;
        }
        if is_on {
            self.clients.open = TaskTracker::new();
            self.clients.duty.send_replace(Duty::default());
        } else {
            self.clients.open.close();
            self.clients.duty.send_modify(|duty| {
                duty.is_on = false;
                duty.unwanted.cancel();
            });
            self.answer_early_calls();
        }
    }
}
