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
    /// Since when no time of the mission runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suspended_at: Option<Duration>,
    /// How long none ran before.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    suspended: Duration,
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

    /// From now on no time of the mission runs, until [`resume`](Self::resume).
    pub(super) fn suspend(&mut self) {
        self.suspended_at.get_or_insert(self.now);
    }

    /// The time of the mission runs again.
    pub(super) fn resume(&mut self) {
        if let Some(at) = self.suspended_at.take() {
            self.suspended = self.suspended.saturating_add(self.now.saturating_sub(at));
        }
    }

    /// How much of the time of the mission has run: what bounds of its duration are about.
    pub(super) fn spent(&self) -> Duration {
        let until = self.suspended_at.unwrap_or(self.now);
        until.saturating_sub(self.started).saturating_sub(self.suspended)
    }

    /// When so much of the time of the mission has run, if it goes on running.
    pub(super) fn when_spent(&self, duration: Duration) -> Duration {
        self.started.saturating_add(self.suspended).saturating_add(duration)
    }

    /// Something has happened: a step ended, a goal gave feedback, the model answered.
    pub(super) fn note_progress(&mut self) {
        self.progress_at = self.now;
    }

    pub(super) fn progress_at(&self) -> Duration {
        self.progress_at
    }
}
