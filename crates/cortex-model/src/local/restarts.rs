//! When a process that has ended is started again.

use std::time::Duration;

use cortex_core::ModelError;
use tokio::time::Instant;

/// Longest pause.
const MOST: Duration = Duration::from_secs(60);

/// The pauses between processes: each is twice as long as the one before, until one has answered.
#[derive(Debug)]
pub(super) struct Restarts {
    first: Duration,
    ends: u32,
    waiting: Option<(Instant, ModelError)>,
}

impl Restarts {
    pub(super) fn new(first: Duration) -> Self {
        Self { first, ends: 0, waiting: None }
    }

    /// It has answered, so it is well.
    pub(super) fn answered(&mut self) {
        (self.ends, self.waiting) = (0, None);
    }

    /// It has ended by itself, or had to be ended.
    pub(super) fn ended(&mut self, now: Instant, because: ModelError) {
        let pause = self.first.saturating_mul(2_u32.saturating_pow(self.ends)).min(MOST);
        self.ends = self.ends.saturating_add(1);
        self.waiting = Some((now + pause, because));
    }

    /// How long it is still to be left alone, and why. None: it may be started.
    pub(super) fn pause(&self, now: Instant) -> Option<(Duration, &ModelError)> {
        let (until, because) = self.waiting.as_ref()?;
        let left = until.saturating_duration_since(now);
        (left > Duration::ZERO).then_some((left, because))
    }
}

#[cfg(test)]
mod tests {
    use cortex_core::ModelErrorKind;

    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_until_a_process_answers() {
        let because = ModelError {
            kind: ModelErrorKind::ServerFailed,
            message: "it died".into(),
            hint: String::new(),
            retry_after: None,
        };
        let (mut now, mut restarts) = (Instant::now(), Restarts::new(Duration::from_secs(10)));
        assert!(restarts.pause(now).is_none());
        for seconds in [10, 20, 40, 60, 60] {
            restarts.ended(now, because.clone());
            let pause = restarts.pause(now);
            assert_eq!(pause, Some((Duration::from_secs(seconds), &because)));
            now += Duration::from_secs(seconds);
            assert!(restarts.pause(now).is_none());
        }
        restarts.answered();
        restarts.ended(now, because.clone());
        assert_eq!(restarts.pause(now), Some((Duration::from_secs(10), &because)));
    }
}
