//! A node that begins anew while nothing is done about its component.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ladder;

/// How a component's node came back by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Returns {
    /// Whether it has, and is not brought up yet.
    is_waiting: bool,
    /// How often it did so since the component worked last, or since its ladder began.
    count: u32,
}

impl Returns {
    /// How long a component that comes back so often waits before it is brought up.
    pub(super) fn backoff(&self) -> Duration {
        ladder::backoff(self.count)
    }

    /// It has come back.
    pub(super) fn count(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// It waits to be brought up.
    pub(super) fn wait(&mut self) {
        self.is_waiting = true;
    }

    /// Whether it waits to be brought up.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// It is seen to.
    pub(super) fn wait_no_more(&mut self) {
        self.is_waiting = false;
    }

    /// The ladder begins anew.
    pub(super) fn forget_count(&mut self) {
        self.count = 0;
    }
}
