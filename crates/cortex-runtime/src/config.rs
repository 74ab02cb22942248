//! How a runtime works, as it is started.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ApprovalSettings, ConversationPort, MissionLimits, Policy};

use crate::context::ContextSources;
use crate::dispatch::CallBounds;
use crate::gate::Gate;
use crate::journal::JournalSettings;
use crate::meters::Meter;
use crate::recent_conversations::RecentConversations;
use crate::tape::TapeSettings;

/// What is done with a task that comes while another one runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePolicy {
    /// It is refused with the reason.
    Reject,
    /// It waits, behind at most `length` - 1 others.
    Queue {
        /// Most tasks that wait.
        length: usize,
    },
}

/// How the runtime works.
#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// The `source` of its events: `/{robot}/cortex`.
    pub source: String,
    /// What the robot is, in words for the model. May be empty.
    pub identity: String,
    /// What the robot has on record, for each plan.
    pub context: ContextSources,
    /// What was asked before in the same conversation. Without a memory: of this life of Cortex alone.
    pub conversations: Arc<dyn ConversationPort>,
    /// For how long a task that has ended is what the next one of its conversation goes on with.
    pub session_timeout: Duration,
    /// The bounds of each mission.
    pub limits: MissionLimits,
    /// What is done with a second task.
    pub queue: QueuePolicy,
    /// The bounds of each call.
    pub calls: CallBounds,
    /// How long a request to the model may take in all, whatever the model's own bounds are.
    pub model_timeout: Duration,
    /// Where missions are recorded. None: nowhere.
    pub tape: Option<TapeSettings>,
    /// Where it is noted what is open, so that the next life of Cortex can end what this one leaves. None: nowhere.
    pub journal: Option<JournalSettings>,
    /// Why the robot is stopped from the beginning, in words for people: it was stopped before Cortex was started again.
    /// None: it is not.
    pub stopped: Option<String>,
    /// What measures the way and the energy that the robot spends.
    pub meters: Vec<Meter>,
    /// Which calls are allowed, which ask a person, and which are denied.
    pub policy: Policy,
    /// How people are asked.
    pub approval: ApprovalSettings,
    /// Decides which components may be called.
    pub gate: Gate,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        Self {
            source: "/robot/cortex".to_owned(),
            identity: String::new(),
            context: ContextSources::default(),
            conversations: Arc::new(RecentConversations::default()),
            session_timeout: Duration::from_secs(3_600),
            limits: MissionLimits::default(),
            queue: QueuePolicy::Queue { length: 4 },
            calls: CallBounds::default(),
            model_timeout: Duration::from_secs(300),
            tape: None,
            journal: None,
            stopped: None,
            meters: Vec::new(),
            policy: Policy::default(),
            approval: ApprovalSettings::default(),
            gate: Gate::default(),
        }
    }
}
