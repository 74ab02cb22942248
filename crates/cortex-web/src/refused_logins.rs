//! Which of many refused logins are logged: whoever tries for ever fills no disk.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Refusals that are logged within [`WINDOW`].
const LOGGED: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);

/// The refusals of the last minute.
#[derive(Default)]
pub(crate) struct RefusedLogins(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    since: Option<Instant>,
    logged: u32,
    left_out: u64,
}

impl RefusedLogins {
    /// Counts a refusal. If it is to be logged: how many before it were not.
    pub(crate) fn note(&self, now: Instant) -> Option<u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.since.is_none_or(|since| now.saturating_duration_since(since) >= WINDOW) {
            counted.since = Some(now);
            counted.logged = 0;
        }
        if counted.logged >= LOGGED {
            counted.left_out += 1;
            return None;
        }
        counted.logged += 1;
        Some(std::mem::take(&mut counted.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_a_minute_are_logged_and_the_others_are_counted() {
        let (refused, now) = (RefusedLogins::default(), Instant::now());
        let logged = (0..1_000).filter(|_| refused.note(now).is_some()).count();
        assert_eq!(logged, 10);
        assert_eq!(refused.note(now + WINDOW), Some(990));
        assert_eq!(refused.note(now + WINDOW), Some(0));
    }
}
