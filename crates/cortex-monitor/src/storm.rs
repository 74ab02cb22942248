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
pub struct Storm {
    tokens: u32,
    /// When the last token was added.
    filled: Duration,
    rages: bool,
}

/// What has changed in the weather.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// An action had to wait.
    Began,
    /// Half of the tokens are back.
    Ended,
}

impl Default for Storm {
    fn default() -> Self {
        Self { tokens: BURST, filled: Duration::ZERO, rages: false }
    }
}

impl Storm {
    /// Adds the tokens that time has brought.
    pub fn refill(&mut self, now: Duration) -> Option<Weather> {
        while self.tokens < BURST && now >= self.filled.saturating_add(REFILL) {
            self.tokens += 1;
            self.filled = self.filled.saturating_add(REFILL);
        }
        let ends = self.rages && self.tokens >= BURST / 2;
        self.rages &= !ends;
        ends.then_some(Weather::Ended)
    }

    /// Takes a token.
    ///
    /// # Errors
    /// When there is none: until when to wait, and whether that is new.
    pub fn take(&mut self, now: Duration) -> Result<(), (Duration, Option<Weather>)> {
        if self.tokens == BURST {
            self.filled = now;
        }
        match self.tokens.checked_sub(1) {
            Some(left) => {
                self.tokens = left;
                Ok(())
            }
            None => {
                let is_new = !self.rages;
                self.rages = true;
                Err((self.filled.saturating_add(REFILL), is_new.then_some(Weather::Began)))
            }
        }
    }

    /// When the weather changes by itself.
    #[must_use]
    pub fn next_look(&self) -> Option<Duration> {
        self.rages.then(|| self.filled.saturating_add(REFILL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_slowed_down_told_once_and_ends() {
        let mut storm = Storm::default();
        let start = Duration::from_secs(100);
        for _ in 0..BURST {
            assert_eq!(storm.take(start), Ok(()));
        }
        assert_eq!(storm.take(start), Err((start + REFILL, Some(Weather::Began))));
        assert_eq!(storm.take(start), Err((start + REFILL, None)), "told once");
        assert_eq!(storm.refill(start + REFILL), None);
        assert_eq!(storm.take(start + REFILL), Ok(()));
        assert_eq!(storm.refill(start + REFILL * (BURST / 2)), None);
        assert_eq!(storm.refill(start + REFILL * (BURST / 2 + 1)), Some(Weather::Ended));
        assert_eq!(storm.next_look(), None);
    }
}
