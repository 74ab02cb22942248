//! A component that comes and goes is not trusted as soon as one that fails for once: the more often it failed lately,
//! the longer it has to be good before it counts as good.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long a component that failed once has to be good before it counts as good.
pub const HOLD: Duration = Duration::from_millis(500);

/// How often the hold is doubled at most: 32 s.
pub const MAX_DOUBLINGS: u32 = 6;

/// What is known about one component's ups and downs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlapDamping {
    bad: bool,
    /// Since when it has been good without a break.
    good_since: Option<Duration>,
    /// Failures that are not forgotten.
    failures: u32,
    forgotten_at: Duration,
    forget_after: Duration,
}

impl FlapDamping {
    /// Of a new one: bad until it was good for the hold. After `forget_after` of good health one failure is forgotten, and
    /// so on.
    #[must_use]
    pub fn new(forget_after: Duration) -> Self {
        Self { bad: true, good_since: None, failures: 0, forgotten_at: Duration::ZERO, forget_after }
    }

    /// Takes what is seen now.
    pub fn judge(&mut self, now: Duration, fails: bool) {
        if fails {
            if !self.bad {
                self.failures = self.failures.saturating_add(1).min(MAX_DOUBLINGS + 1);
            }
            self.bad = true;
            self.good_since = None;
            return;
        }
        let since = *self.good_since.get_or_insert(now);
        if self.bad && now >= since.saturating_add(self.hold()) {
            self.bad = false;
            self.forgotten_at = now;
        }
        while !self.bad && self.failures > 0 && now >= self.forgotten_at.saturating_add(self.forget_after) {
            self.failures -= 1;
            self.forgotten_at = self.forgotten_at.saturating_add(self.forget_after);
        }
    }

    /// It was brought to its beginning on purpose: bad until it was good for the hold, and no failure.
    pub fn begin_anew(&mut self) {
        self.bad = true;
        self.good_since = None;
    }

    /// Whether it counts as bad.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.bad
    }

    /// How long it has to be good.
    #[must_use]
    pub fn hold(&self) -> Duration {
        HOLD.saturating_mul(1 << self.failures.saturating_sub(1).min(MAX_DOUBLINGS))
    }

    /// When time alone makes it good, if nothing fails until then.
    #[must_use]
    pub fn good_at(&self) -> Option<Duration> {
        self.good_since.filter(|_| self.bad).map(|since| since.saturating_add(self.hold()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn who_failed_once_is_trusted_soon_and_who_flaps_is_not() {
        let mut damping = FlapDamping::new(seconds(60));
        let mut holds = Vec::new();
        let mut now = Duration::ZERO;
        for _ in 0..9 {
            damping.judge(now, true);
            damping.judge(now, false);
            holds.push(damping.hold().as_millis());
            now += damping.hold() - Duration::from_millis(1);
            damping.judge(now, false);
            assert!(damping.is_bad(), "not before the hold is over");
            now += Duration::from_millis(1);
            damping.judge(now, false);
            assert!(!damping.is_bad());
        }
        assert_eq!(holds, [500, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 32_000]);
    }

    #[test]
    fn failures_are_forgotten_in_good_times() {
        let mut damping = FlapDamping::new(seconds(60));
        for second in 0..100 {
            damping.judge(seconds(second * 50), true);
            damping.judge(seconds(second * 50), false);
            damping.judge(seconds(second * 50 + 40), false);
        }
        assert_eq!(damping.hold(), seconds(32));
        damping.judge(seconds(5000 + 600), false);
        assert_eq!(damping.hold(), HOLD);
    }
}
