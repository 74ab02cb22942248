//! The time that counts: that in which this process could have noticed something.
//!
//! A laptop that was closed, or a machine that was too busy to let this process run, has not heard the others for a
//! while. That is not their silence. So when the clock is looked at much later than wanted, the time beyond is left out.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How late a look may be and still count as in time.
const TOLERANCE: Duration = Duration::from_millis(250);

/// How many late looks in a row are taken for pauses. A machine that is always late must not stop the time for ever.
const MAX_PAUSES: u32 = 3;

/// Outer time comes in, the time that counts goes out. It never goes back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    outer: Duration,
    now: Duration,
    pauses: u32,
}

impl Clock {
    /// The time that counts.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Goes on to `outer`. `wake` is when the next look was wanted, in the time that counts.
    pub fn advance(&mut self, outer: Duration, wake: Option<Duration>) {
        let passed = outer.saturating_sub(self.outer);
        self.outer = self.outer.max(outer);
        let aim = self.now.saturating_add(passed);
        let latest = wake.map(|wake| wake.max(self.now).saturating_add(TOLERANCE));
        match (wake, latest) {
            (Some(wake), Some(latest)) if aim > latest && self.pauses < MAX_PAUSES => {
                self.pauses += 1;
                // Just before what was to come, so that messages that waited meanwhile are heard first.
                self.now = self.now.max(wake.saturating_sub(TOLERANCE));
            }
            _ => {
                self.pauses = 0;
                self.now = aim;
            }
        }
    }

    /// A time that counts as outer time, if nothing pauses until then.
    #[must_use]
    pub fn outer(&self, time: Duration) -> Duration {
        self.outer.saturating_add(time.saturating_sub(self.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn a_closed_laptop_does_not_make_everybody_silent() {
        let mut clock = Clock::default();
        clock.advance(seconds(10.0), None);
        assert_eq!(clock.now(), seconds(10.0));
        clock.advance(seconds(3600.0), Some(seconds(11.0)));
        assert_eq!(clock.now(), seconds(10.75), "there is still time to hear those who spoke meanwhile");
        assert_eq!(clock.outer(seconds(11.0)), seconds(3600.25));
        clock.advance(seconds(3600.25), Some(seconds(11.0)));
        assert_eq!(clock.now(), seconds(11.0));
    }

    #[test]
    fn a_machine_that_is_always_late_still_gets_on() {
        let mut clock = Clock::default();
        for second in 1..=8_u32 {
            clock.advance(Duration::from_secs(second.into()), Some(clock.now() + seconds(0.1)));
        }
        assert!(clock.now() >= seconds(2.0), "{:?}", clock.now());
    }

    #[test]
    fn time_never_goes_back() {
        let mut clock = Clock::default();
        clock.advance(seconds(5.0), None);
        clock.advance(seconds(1.0), Some(seconds(2.0)));
        assert_eq!(clock.now(), seconds(5.0));
    }
}
