//! Who has the controls: asked of the runtime by people, kept by the gate in front of all calls.
//!
//! None of it waits. When a method here comes back, no call of a mission or an event gets through the gate any more, or of
//! the person who had the controls; what got through before is being halted.

use std::time::{SystemTime, UNIX_EPOCH};

use cortex_core::control;
use cortex_core::{Availability, ControlLoss, ControlRefusal};
use cortex_protocol::{Command, ConnectionId, Control, Principal};
use tokio::sync::watch;

use crate::Runtime;

impl Runtime {
    /// Who has the controls now. [`Control::is_held_by`] says whether a principal holds them.
    #[must_use]
    pub fn control(&self) -> Control {
        self.gate.availability().borrow().control().clone()
    }

    /// Everything that is kept from the missions, with who has the controls, now and later.
    #[must_use]
    pub fn watch_availability(&self) -> watch::Receiver<Availability> {
        self.gate.availability()
    }

    /// What a person has in mission and events pause, go on, or hand over.
    ///
    /// # Errors
    /// When somebody else has the controls, or the command is none of those. Nothing has changed then.
    pub(crate) fn change_control(&self, command: &Command, by: &Principal) -> Result<Control, ControlRefusal> {
        let decide = match command {
            Command::Pause => control::pause,
            Command::Unpause => control::unpause,
            Command::TakeOver => control::take_over,
            _ => control::hand_back,
        };
        let changed = self.gate.decide_control(|now| decide(now, by, now_ms()));
        if let Ok(control) = &changed {
            tracing::info!("controls: {control}");
        }
        changed
    }

    /// The holder of the controls is heard over its connection: they stay its for another [`cortex_core::CONTROL_LEASE`].
    pub fn keep_controls(&self, connection: &ConnectionId) {
        self.gate.keep_controls(connection);
    }

    /// This connection is lost. Where it holds the controls, everything in motion is halted, and the robot stays paused.
    pub fn lose_controls(&self, connection: &ConnectionId, loss: ControlLoss) {
        self.gate.lose_controls(connection, loss);
    }
}

/// Milliseconds since 1970, for people. No bound is judged by it.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
