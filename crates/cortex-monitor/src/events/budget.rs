//! What all events together may do: so many things in a while, and what is more waits.

use std::collections::VecDeque;
use std::time::Duration;

use cortex_recipe::event::MAX_EVENT_ACTIONS;
use serde::{Deserialize, Serialize};

/// Most things that all events together do within [`WINDOW`].
pub const MAX_ACTIONS: usize = 60;

/// See [`MAX_ACTIONS`].
pub const WINDOW: Duration = Duration::from_secs(60);

// The largest event, with what it does on failure, must fit: it would wait for ever otherwise.
const _: () = assert!(2 * MAX_EVENT_ACTIONS <= MAX_ACTIONS);

/// What was done lately: at most [`MAX_ACTIONS`] entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Budget {
    taken: VecDeque<(Duration, usize)>,
    is_limiting: bool,
}

impl Budget {
    /// When there is room for so much, if nothing else takes it; `now` where there is.
    pub(super) fn room_at(&self, now: Duration, cost: usize) -> Duration {
        let mut used: usize = self.used(now);
        for (at, taken) in self.taken.iter().filter(|(at, _)| *at + WINDOW > now) {
            if used + cost <= MAX_ACTIONS {
                break;
            }
            used -= taken;
            if used + cost <= MAX_ACTIONS {
                return *at + WINDOW;
            }
        }
        now
    }

    fn used(&self, now: Duration) -> usize {
        self.taken.iter().filter(|(at, _)| *at + WINDOW > now).map(|(_, taken)| taken).sum()
    }

    /// Notes what is done now.
    pub(super) fn take(&mut self, now: Duration, cost: usize) {
        while self.taken.front().is_some_and(|(at, _)| *at + WINDOW <= now) {
            self.taken.pop_front();
        }
        self.taken.push_back((now, cost));
    }

    /// Somebody has to wait; whether that is new.
    pub(super) fn rage(&mut self) -> bool {
        !std::mem::replace(&mut self.is_limiting, true)
    }

    /// Whether nobody has to wait any more, and that is new.
    pub(super) fn calms(&mut self, now: Duration) -> bool {
        let calms = self.is_limiting && self.used(now) <= MAX_ACTIONS / 2;
        self.is_limiting &= !calms;
        calms
    }

    /// When it calms by itself.
    pub(super) fn calm_at(&self) -> Option<Duration> {
        let mut used: usize = self.taken.iter().map(|(_, taken)| taken).sum();
        let mut ends = self.taken.iter().filter_map(|(at, taken)| {
            used -= taken;
            (used <= MAX_ACTIONS / 2).then(|| *at + WINDOW)
        });
        self.is_limiting.then(|| ends.next()).flatten()
    }
}
