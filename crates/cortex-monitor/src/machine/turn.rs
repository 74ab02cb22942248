//! What a component sees of the others when it takes a step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_protocol::ComponentName;
use cortex_recipe::{Action, ActionName};
use serde::{Deserialize, Serialize};

use super::{AttemptId, Effect, MonitorEvent, ProcessNumber};
use crate::restart_rate_limiter::{RateLimitChange, RestartRateLimiter};

/// The numbers that were given out last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counters {
    process: u64,
    attempt: u64,
}

pub(super) struct Turn<'a> {
    pub(super) now: Duration,
    /// Whether the robot is in use.
    pub(super) running: bool,
    /// Whether it is stopped: what is asked of it is refused.
    pub(super) stopped: bool,
    /// Whether the robot is brought down.
    pub(super) ending: bool,
    /// What it depends on and what does not work.
    pub(super) missing: Vec<ComponentName>,
    /// Who takes its place when it asks for that.
    pub(super) standby: Option<ComponentName>,
    pub(super) standby_works: bool,
    /// When nothing will have been under way in it for a while. None while something is.
    pub(super) standby_quiet_at: Option<Duration>,
    pub(super) standby_is_given_up: bool,
    /// Whether another component wants it as its standby.
    pub(super) is_called: bool,
    /// Whether all that depends on it is down.
    pub(super) above_are_down: bool,
    pub(super) actions: &'a BTreeMap<ActionName, Action>,
    pub(super) counters: &'a mut Counters,
    pub(super) restart_limiter: &'a mut RestartRateLimiter,
    pub(super) effects: &'a mut Vec<Effect>,
    pub(super) not_stopped: &'a mut BTreeSet<ComponentName>,
}

impl Turn<'_> {
    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn report(&mut self, event: MonitorEvent) {
        self.effects.push(Effect::Report { event });
    }

    pub(super) fn next_process(&mut self) -> ProcessNumber {
        self.counters.process += 1;
        ProcessNumber(self.counters.process)
    }

    pub(super) fn next_attempt(&mut self) -> AttemptId {
        self.counters.attempt += 1;
        AttemptId(self.counters.attempt)
    }

    /// Whether an action may begin now; if not, when to ask again.
    pub(super) fn ask_storm(&mut self) -> Result<(), Duration> {
        self.restart_limiter.take(self.now).map_err(|(until, weather)| {
            if weather == Some(RateLimitChange::Began) {
                self.report(MonitorEvent::RateLimitReached);
            }
            until
        })
    }
}
