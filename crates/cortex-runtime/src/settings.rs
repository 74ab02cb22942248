//! What may change while the runtime runs. A mission keeps what it began with; the next one begins with the new.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ApprovalSettings, ChatModel, MissionLimits, Policy};

use crate::config::{QueuePolicy, RuntimeConfig};
use crate::robot_state::StateWatch;
use crate::shared::Shared;

/// What [`Runtime::reconfigure`](crate::Runtime::reconfigure) changes, all of it at once.
#[derive(Clone)]
pub struct Settings {
    /// Who plans.
    pub model: Arc<dyn ChatModel>,
    /// How long a request to it may take in all.
    pub model_timeout: Duration,
    /// What the robot is, in words for the model.
    pub identity: String,
    /// The bounds of each mission.
    pub limits: MissionLimits,
    /// What is done with a second task.
    pub queue: QueuePolicy,
    /// Which calls are allowed, which ask a person, and which are denied.
    pub policy: Policy,
    /// How people are asked.
    pub approval: ApprovalSettings,
}

impl Shared {
    /// The same runtime with other settings.
    pub(crate) fn with(&self, settings: Settings) -> Self {
        let Settings { model, model_timeout, identity, limits, queue, policy, approval } = settings;
        let config = RuntimeConfig { model_timeout, identity, limits, queue, policy, approval, ..self.config.clone() };
        let robot_state = if config.policy == self.config.policy {
            Arc::clone(&self.robot_state)
        } else {
            StateWatch::begin(&config.policy, &self.providers, &self.tracker)
        };
        Self { config, model, robot_state, ..self.clone() }
    }
}
