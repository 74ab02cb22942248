//! What keeps all ladders together from doing harm: when everything fails at once, actions come one after the other.
//!
//! A bucket of tokens. Actions that find it empty wait; none is lost.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How many actions may come at once.
pub const BURST: u32 = 20;

/// How long it takes until one more may come.
pub const REFILL: Duration = Duration::from_millis(500);

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartRateLimiter {
    tokens: u32,
    /// When the last token was added.
    filled: Duration,
    is_limiting: bool,
}

/// What has changed about the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimitChange {
    /// An action had to wait.
    Began,
    /// Half of the tokens are back.
    Ended,
}

impl Default for RestartRateLimiter {
    fn default() -> Self {
        Self { tokens: BURST, filled: Duration::ZERO, is_limiting: false }
    }
}

impl RestartRateLimiter {
    /// Adds the tokens that time has brought.
    pub fn refill(&mut self, now: Duration) -> Option<RateLimitChange> {
        while self.tokens < BURST && now >= self.filled.saturating_add(REFILL) {
            self.tokens += 1;
            self.filled = self.filled.saturating_add(REFILL);
        }
        let ends = self.is_limiting && self.tokens >= BURST / 2;
        self.is_limiting &= !ends;
        ends.then_some(RateLimitChange::Ended)
    }

    /// Takes a token.
    ///
    /// # Errors
    /// When there is none: until when to wait, and whether that is new.
    pub fn take(&mut self, now: Duration) -> Result<(), (Duration, Option<RateLimitChange>)> {
        if self.tokens == BURST {
            self.filled = now;
        }
        match self.tokens.checked_sub(1) {
            Some(left) => {
                self.tokens = left;
                Ok(())
            }
            None => {
                let is_new = !self.is_limiting;
                self.is_limiting = true;
                Err((self.filled.saturating_add(REFILL), is_new.then_some(RateLimitChange::Began)))
            }
        }
    }

    /// When the limit changes by itself.
    #[must_use]
    pub fn next_look(&self) -> Option<Duration> {
        self.is_limiting.then(|| self.filled.saturating_add(REFILL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_slowed_down_told_once_and_ends() {
        let mut restart_limiter = RestartRateLimiter::default();
        let start = Duration::from_secs(100);
        for _ in 0..BURST {
            assert_eq!(restart_limiter.take(start), Ok(()));
        }
        assert_eq!(restart_limiter.take(start), Err((start + REFILL, Some(RateLimitChange::Began))));
        assert_eq!(restart_limiter.take(start), Err((start + REFILL, None)), "told once");
        assert_eq!(restart_limiter.refill(start + REFILL), None);
        assert_eq!(restart_limiter.take(start + REFILL), Ok(()));
        assert_eq!(restart_limiter.refill(start + REFILL * (BURST / 2)), None);
        assert_eq!(restart_limiter.refill(start + REFILL * (BURST / 2 + 1)), Some(RateLimitChange::Ended));
        assert_eq!(restart_limiter.next_look(), None);
    }
}
