//! Clients that have things done without a mission: whether they may, and what ends what they have begun.

use thiserror::Error;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{Admission, MissionQueue};
use crate::risk_class::RiskClass;

/// Calls of clients that may be under way. An event makes one at a time.
const MOST_CALLS: usize = 256;

/// Whether clients may have things done now.
#[derive(Debug, Clone)]
pub struct CallReadiness {
    is_on: bool,
    unwanted: CancellationToken,
}

impl CallReadiness {
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

impl Default for CallReadiness {
    fn default() -> Self {
        Self { is_on: true, unwanted: CancellationToken::new() }
    }
}

/// The permit to make a call. The robot counts as busy until it is dropped.
pub(crate) struct CallPermit {
    pub(crate) unwanted: CancellationToken,
    _open: TaskTrackerToken,
}

/// Why a client's call is not made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum CallRefusal {
    #[error("the robot is stopped")]
    Stopped,
    #[error("{0}")]
    OutOfControl(String),
    #[error("Cortex is not active: {0}")]
    Inactive(String),
    #[error("{MOST_CALLS} calls are under way already, the most that may")]
    TooMany,
    #[error("Cortex is shutting down")]
    ShuttingDown,
}

pub(crate) type CallPermitReply = oneshot::Sender<Result<CallPermit, CallRefusal>>;

/// What the mission queue keeps of them.
pub(super) struct Clients {
    call_readiness: watch::Sender<CallReadiness>,
    /// The calls of this time in which calls are taken.
    open: TaskTracker,
    /// Those that came before what an earlier life left was at rest.
    early: Vec<CallPermitReply>,
    /// How often the controls had changed when clients were told last.
    control_changes: u64,
}

impl Clients {
    pub(super) fn new(call_readiness: watch::Sender<CallReadiness>) -> Self {
        Self { call_readiness, open: TaskTracker::new(), early: Vec::new(), control_changes: 0 }
    }

    /// Their calls. Closed as soon as they may not make any.
    pub(super) fn open(&self) -> TaskTracker {
        self.open.clone()
    }

    fn call_permit(&self) -> Result<CallPermit, CallRefusal> {
        let unwanted = self.call_readiness.borrow().unwanted.clone();
        if self.open.len() >= MOST_CALLS {
            return Err(CallRefusal::TooMany);
        }
        Ok(CallPermit { unwanted, _open: self.open.token() })
    }
}

impl MissionQueue {
    /// Answers a client that wants to make a call.
    pub(super) fn on_call(&mut self, risk_class: RiskClass, reply: CallPermitReply) {
        let control = self.control();
        let call_permit = match &self.admission {
            Admission::Stopped => Err(CallRefusal::Stopped),
            Admission::ShuttingDown => Err(CallRefusal::ShuttingDown),
            Admission::Open => match &self.inactive_because {
                Some(because) => Err(CallRefusal::Inactive(because.clone())),
                None if !control.is_autonomous() => Err(CallRefusal::OutOfControl(control.because)),
                None if self.is_recovering
                    && risk_class == RiskClass::Full
                    && self.clients.early.len() < MOST_CALLS =>
                {
                    return self.clients.early.push(reply);
                }
                None if self.is_recovering && risk_class == RiskClass::Full => Err(CallRefusal::TooMany),
                None => self.clients.call_permit(),
            },
        };
        // Who asked may have left.
        let _ = reply.send(call_permit);
    }

    /// Answers those that have waited, as it is now.
    pub(super) fn answer_early_calls(&mut self) {
        for reply in std::mem::take(&mut self.clients.early) {
            self.on_call(RiskClass::Full, reply);
        }
    }

    /// Tells clients whether they may have things done, where that has changed. What they have begun ends when they may
    /// not.
    pub(super) fn note_call_readiness(&mut self) {
        let is_open = self.admission == Admission::Open && self.inactive_because.is_none();
        self.shared.unconfirmed_halts.hurry(!is_open);
        let control = self.control();
        let was_taken = std::mem::replace(&mut self.clients.control_changes, control.changes) != control.changes;
        let is_on = is_open && control.is_autonomous();
        if is_on && was_taken && self.clients.call_readiness.borrow().is_on {
            // A person had the controls for a moment: what events had in motion was to be halted.
            self.end_client_calls();
        }
        if is_on == self.clients.call_readiness.borrow().is_on {
            return;
        }
        if is_on {
            self.clients.open = TaskTracker::new();
            self.clients.call_readiness.send_replace(CallReadiness::default());
        } else {
            self.end_client_calls();
        }
    }

    fn end_client_calls(&mut self) {
        self.clients.open.close();
        self.clients.call_readiness.send_modify(|call_readiness| {
            call_readiness.is_on = false;
            call_readiness.unwanted.cancel();
        });
        self.answer_early_calls();
    }
}
