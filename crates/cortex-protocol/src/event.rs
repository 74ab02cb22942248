//! The envelope of everything that leaves Cortex: CloudEvents 1.0 in JSON, with the routing fields of the
//! signal-driven seed (`provider`, `event`, `action`, `actor`, `origin`) as extension attributes and data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EventId, MissionEvent, MissionId, Origin};

/// The version of CloudEvents that the envelope follows.
pub const SPEC_VERSION: &str = "1.0";

/// One event in its envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CloudEvent {
    /// [`SPEC_VERSION`].
    pub specversion: String,
    /// Unique without coordination.
    pub id: EventId,
    /// The robot and node that it comes from: `/{robot}/cortex`.
    pub source: String,
    /// `cortex.{event}.{action}`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The mission.
    pub subject: MissionId,
    /// RFC 3339, UTC.
    pub time: String,
    /// `application/json`.
    pub datacontenttype: String,
    /// The subsystem that produced it: `agent`, `tool`, `system`, `ui`.
    pub provider: String,
    /// The domain: `mission`, `plan`, `step`, `model`.
    pub event: String,
    /// What happened to it: `accepted`, `started`, `finished`.
    pub action: String,
    /// Who caused it: `user`, `model`, `component`, `cortex`.
    pub actor: String,
    /// Counts the events of the mission from 1.
    pub sequence: u64,
    /// The body.
    pub data: EventData,
}

/// The body of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventData {
    /// Where the mission came from.
    pub origin: Origin,
    /// One readable line.
    pub text: String,
    /// What happened, in full.
    pub payload: MissionEvent,
}

impl MissionEvent {
    /// The routing fields `(provider, event, action, actor)` of this kind of event.
    #[must_use]
    pub fn routing(&self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Accepted { .. } => ("agent", "mission", "accepted", "user"),
            Self::Queued { .. } => ("agent", "mission", "queued", "cortex"),
            Self::Classified { .. } => ("agent", "mission", "classified", "cortex"),
            Self::Planning { .. } => ("agent", "plan", "requested", "cortex"),
            Self::ContextGathered { .. } => ("agent", "context", "gathered", "cortex"),
            Self::ToolsOffered { .. } => ("agent", "tools", "offered", "cortex"),
            Self::Compacted { .. } => ("agent", "model", "compacted", "cortex"),
            Self::Researching { .. } => ("tool", "research", "started", "model"),
            Self::Researched { .. } => ("tool", "research", "finished", "component"),
            Self::ModelMistake { .. } => ("agent", "model", "refused", "model"),
            Self::Answering { .. } => ("agent", "answer", "progressed", "model"),
            Self::ModelChanged { .. } => ("agent", "model", "changed", "cortex"),
            Self::PlanDoubted { .. } => ("agent", "plan", "doubted", "cortex"),
            Self::PlanCompared { .. } => ("agent", "plan", "compared", "model"),
            Self::Planned { .. } => ("agent", "plan", "committed", "model"),
            Self::Decided { .. } => ("agent", "step", "decided", "model"),
            Self::Asked { .. } => ("agent", "question", "asked", "cortex"),
            Self::QuestionEnded { .. } => ("agent", "question", "ended", "user"),
            Self::PolicyDenied { .. } => ("agent", "step", "denied", "cortex"),
            Self::Disputed { .. } => ("agent", "mission", "disputed", "user"),
            Self::Correcting { .. } => ("agent", "step", "corrected", "cortex"),
            Self::Retrying { .. } => ("tool", "step", "retried", "cortex"),
            Self::BudgetWarning { .. } => ("system", "budget", "warned", "cortex"),
            Self::MeterSilent { .. } => ("system", "budget", "unmetered", "cortex"),
            Self::Conflict { .. } => ("agent", "step", "blocked", "cortex"),
            Self::StepStarted { .. } => ("tool", "step", "started", "cortex"),
            Self::Progress { .. } => ("tool", "step", "progressed", "component"),
            Self::StepFinished { .. } => ("tool", "step", "finished", "component"),
            Self::Replanning { .. } => ("agent", "plan", "revised", "cortex"),
            Self::ComponentMissing { .. } => ("system", "component", "lost", "component"),
            Self::ComponentReturned { .. } => ("system", "component", "returned", "component"),
            Self::Quarantined { .. } => ("system", "component", "quarantined", "cortex"),
            Self::Released { .. } => ("system", "component", "released", "cortex"),
            Self::FailedOver { .. } => ("system", "component", "substituted", "cortex"),
            Self::Paused { .. } => ("system", "mission", "paused", "cortex"),
            Self::Unpaused => ("system", "mission", "unpaused", "cortex"),
            Self::ControlChanged { .. } => ("system", "mission", "control_changed", "user"),
            Self::TaskRevised { .. } => ("agent", "mission", "revised", "user"),
            Self::Stopping { .. } => ("system", "mission", "stopping", "cortex"),
            Self::Halted { .. } => ("tool", "call", "halted", "component"),
            Self::Finished { .. } => ("agent", "mission", "finished", "cortex"),
        }
    }
}
