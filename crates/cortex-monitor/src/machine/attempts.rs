//! The attempts of a component's ladder that count, and how they are forgiven while it works.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::health::FailureKind;

/// Attempts that are not forgiven, by the kind of failure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Attempts {
    /// None of them is 0.
    used: BTreeMap<FailureKind, u32>,
    /// When one was forgiven, or the component came up.
    forgiven_at: Duration,
}

impl Attempts {
    /// The attempts for this kind of failure.
    pub(super) fn of(&self, kind: FailureKind) -> u32 {
        self.used.get(&kind).copied().unwrap_or_default()
    }

    /// The attempts of the kind of failure that took the most.
    pub(super) fn most(&self) -> u32 {
        self.used.values().copied().max().unwrap_or_default()
    }

    /// Counts attempts for this kind of failure, and returns how many there are now.
    pub(super) fn add(&mut self, kind: FailureKind, attempts: u32) -> u32 {
        let used = self.of(kind).saturating_add(attempts);
        if used > 0 {
            self.used.insert(kind, used);
        }
        used
    }

    /// Does not count the last attempt for this kind of failure: it was not made.
    pub(super) fn take_back(&mut self, kind: FailureKind) {
        if let Some(used) = self.used.get_mut(&kind) {
            *used = used.saturating_sub(1);
        }
        self.used.retain(|_, used| *used > 0);
    }

    /// When the next one is forgiven, while the component works: one of each kind after each `decay`.
    pub(super) fn next_forgiven(&self, decay: Duration) -> Option<Duration> {
        (!self.used.is_empty()).then(|| self.forgiven_at.saturating_add(decay))
    }

    /// Forgives what is due. Returns the most that are left of a kind, where that is another number.
    pub(super) fn forgive(&mut self, now: Duration, decay: Duration) -> Option<u32> {
        let counted = self.most();
        while let Some(at) = self.next_forgiven(decay).filter(|at| now >= *at) {
            self.forgiven_at = at;
            self.used.retain(|_, used| {
                *used -= 1;
                *used > 0
            });
        }
        Some(self.most()).filter(|left| *left != counted)
    }

    /// The component has come up: the time until one is forgiven begins.
    pub(super) fn begin_forgiving(&mut self, now: Duration) {
        self.forgiven_at = now;
    }

    /// The ladder begins anew.
    pub(super) fn clear(&mut self) {
        self.used.clear();
    }
}
