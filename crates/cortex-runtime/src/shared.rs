//! The state that all missions and all calls of one runtime share.

use std::sync::Arc;

use cortex_core::{Availability, ChatModel};
use cortex_protocol::overview::LostTask;
use tokio::sync::{broadcast, watch};
use tokio_util::task::TaskTracker;

use crate::config::RuntimeConfig;
use crate::ended_missions::EndedMissions;
use crate::event_log::EventLog;
use crate::journal::Journal;
use crate::providers::Providers;
use crate::questions::Questions;
use crate::resource_locks::ResourceLocks;
use crate::robot_state::StateWatch;
use crate::spoken::SpokenText;
use crate::tool_registry::ToolRegistry;
use crate::unconfirmed_halts::UnconfirmedHalts;

/// A mission keeps the one with which it began; [`Settings`](crate::Settings) make another one for those after it.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) config: RuntimeConfig,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) providers: Arc<Providers>,
    pub(crate) events: Arc<EventLog>,
    pub(crate) outputs: broadcast::Sender<SpokenText>,
    pub(crate) registry: watch::Receiver<Arc<ToolRegistry>>,
    pub(crate) availability: watch::Receiver<Availability>,
    pub(crate) tracker: TaskTracker,
    pub(crate) resource_locks: Arc<ResourceLocks>,
    pub(crate) unconfirmed_halts: Arc<UnconfirmedHalts>,
    pub(crate) journal: Journal,
    pub(crate) questions: Arc<Questions>,
    pub(crate) ended: Arc<EndedMissions>,
    pub(crate) robot_state: Arc<StateWatch>,
    pub(crate) lost_tasks: watch::Sender<Arc<Vec<LostTask>>>,
}
