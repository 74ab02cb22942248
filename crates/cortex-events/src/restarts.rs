//! Restarts that events want, by the monitor, which knows how; and what comes of them.

use std::time::Duration;

use async_trait::async_trait;
use cortex_monitor::{Input, MonitorEvent};
use cortex_protocol::ComponentName;
use cortex_recipe::{ActionName, Recipe};
use cortex_robot::supervision::Watch;
use cortex_supervisor::Handle;
use tokio::sync::broadcast::error::RecvError;

use super::action_runner::Restarts;
use super::failure::EventFailure;

/// How long a restart may take beyond what the recipe gives its parts: the monitor waits for what a component depends on,
/// and for a storm to pass.
const MARGIN: Duration = Duration::from_secs(10);
/// Transitions that a restart goes through, at most, and before them the end of what is under way, which has as long.
const TRANSITIONS: u32 = 5;

/// The monitor of a robot that Cortex brings up.
pub(super) struct ByMonitor {
    pub(super) handle: Handle,
    pub(super) watch: Watch,
    pub(super) recipe: Recipe,
}

#[async_trait]
impl Restarts for ByMonitor {
    async fn restart(&self, component: &ComponentName, action: &ActionName) -> Result<(), EventFailure> {
        let known = self.recipe.components.get(component).ok_or(EventFailure::UnknownComponent)?;
        let limit = known.stop_timeout_s.duration() * 2
            + known.start_timeout_s.duration()
            + known.transition_timeout_s.duration() * TRANSITIONS
            + MARGIN;
        // Heard from before it is told.
        let mut events = self.watch.events();
        self.handle.send(Input::Restart { component: component.clone(), action: action.clone() });
        let ended = async {
            loop {
                match events.recv().await {
                    Ok(MonitorEvent::CameUp { component: who }) if who == *component => return Ok(()),
                    Ok(MonitorEvent::GaveUp { component: who, reason, .. }) if who == *component => {
                        return Err(EventFailure::GivenUp { reason });
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Err(EventFailure::NoMonitor),
                }
            }
        };
        let late = || Err(EventFailure::NotUp { limit });
        tokio::time::timeout(limit, ended).await.unwrap_or_else(|_| late())
    }
}
