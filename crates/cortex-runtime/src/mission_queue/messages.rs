//! Messages to the mission queue.

use cortex_protocol::{MissionId, MissionResult, StopOutcome, Submission, ToolSpec};
use tokio::sync::oneshot;

use super::clients::CallPermitReply;
use crate::event_log::Events;
use crate::mission_request::{Revision, Work};
use crate::providers::ProviderId;
use crate::readiness::Rejection;
use crate::risk_class::RiskClass;
use crate::tool_registry::Audience;

/// When a task begins that comes while others run or wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// After those that wait.
    #[default]
    Last,
    /// After the one that runs, before those that wait; the length of the queue does not keep it out.
    Next,
    /// As [`Place::Next`], and the one that runs is ended.
    Now,
}

/// A task that was taken.
#[derive(Debug)]
pub struct MissionTicket {
    /// Its id.
    pub id: MissionId,
    /// What happens, in order. Closes after the last event. A client that lags far behind loses events, never the
    /// result.
    pub events: Events,
    /// The one result.
    pub result: oneshot::Receiver<MissionResult>,
}

/// A message to the mission queue.
pub(crate) enum QueueMessage {
    Submit {
        submission: Submission,
        place: Place,
        work: Work,
        reply: oneshot::Sender<Result<MissionTicket, Rejection>>,
    },
    /// Whether the mission runs or waits.
    IsOpen {
        mission: MissionId,
        reply: oneshot::Sender<bool>,
    },
    Cancel {
        mission: MissionId,
        reply: oneshot::Sender<bool>,
    },
    Revise {
        mission: Option<MissionId>,
        revision: Revision,
    },
    Stop {
        reply: oneshot::Sender<StopOutcome>,
    },
    /// Ends everything and takes no tasks, until [`Work`](Self::Work).
    Rest {
        because: String,
        reply: oneshot::Sender<StopOutcome>,
    },
    Work,
    /// What an earlier life left was ended, as far as it could be.
    Recovered,
    Resume {
        reply: oneshot::Sender<bool>,
    },
    /// A client wants to make a call.
    Call {
        risk_class: RiskClass,
        reply: CallPermitReply,
    },
    /// What a client has called did not confirm that it is at rest.
    Left,
    OfferTools {
        provider: ProviderId,
        audience: Audience,
        tools: Vec<ToolSpec>,
    },
    ShutDown,
}
