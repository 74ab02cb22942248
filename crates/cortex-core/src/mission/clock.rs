//! The times of the mission. The machine reads no clock: each input brings its time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Times since any fixed moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Clock {
    /// The latest time seen.
    now: Duration,
    started: Duration,
    /// When something happened last.
    progress_at: Duration,
}

impl Clock {
    /// Takes the time of an input. It never goes back.
    pub(super) fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    pub(super) fn now(&self) -> Duration {
        self.now
    }

    /// The mission starts now.
    pub(super) fn start(&mut self) {
        self.started = self.now;
    }

    pub(super) fn started(&self) -> Duration {
        self.started
    }

    /// How long the mission has taken so far.
    pub(super) fn elapsed(&self) -> Duration {
        self.now.saturating_sub(self.started)
    }

    /// Something has happened: a step ended, a goal gave feedback, the model answered.
    pub(super) fn note_progress(&mut self) {
        self.progress_at = self.now;
    }

    pub(super) fn progress_at(&self) -> Duration {
        self.progress_at
    }
}
