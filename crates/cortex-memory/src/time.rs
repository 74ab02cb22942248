//! Time: what is later, although clocks jump.
//!
//! The order of arrival (the sequence) decides what is later. The wall clock says when; where it contradicts the order, the
//! answer says so.

use serde::{Deserialize, Serialize};

/// Clocks of two sensors may differ by so much, in milliseconds, before anybody speaks of a jump.
pub(crate) const CLOCK_TOLERANCE_MS: u64 = 60_000;
/// A step forward of more than this, in milliseconds, is doubted: the clock may be wrong now, or have been wrong before.
const DOUBTED_STEP_MS: u64 = 24 * 3_600_000;
/// After a doubted step the clock must go on for so long, in milliseconds, before anything is forgotten for its age.
const TRUSTED_AFTER_MS: u64 = 3_600_000;

/// When something was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// By the clock of the robot, in milliseconds since 1970.
    pub wall_ms: u64,
    /// Its number in the order of arrival. Of two stamps, the one with the greater number is later.
    pub sequence: u64,
}

/// What is wrong with the times of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockNote {
    /// The clock says that the later one was earlier: it was set back, or the observation came late.
    WentBack,
    /// It is said to have been in the future: the clock was ahead then, or is behind now.
    InFuture,
}

/// What the clock has done so far, as far as that decides whether ages can be trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// The time of the last observation, in milliseconds since 1970.
    pub(crate) last_ms: Option<u64>,
    /// To where it last stepped so far forward that ages are in doubt.
    pub(crate) doubted_ms: Option<u64>,
}

impl Stamp {
    /// The time in RFC 3339, to the second.
    #[must_use]
    pub fn rfc3339(&self) -> String {
        rfc3339(self.wall_ms)
    }
}

impl Clock {
    /// The clock after one more observation, and what contradicts the order of arrival.
    pub(crate) fn after(self, wall_ms: u64) -> (Self, Option<ClockNote>) {
        let last_ms = self.last_ms.unwrap_or(wall_ms);
        let note = went_back(last_ms, wall_ms).then_some(ClockNote::WentBack);
        let doubted_ms = if wall_ms > last_ms.saturating_add(DOUBTED_STEP_MS) {
            Some(wall_ms)
        } else {
            // It went on from there for long enough, or it went back: then what came before holds again.
            self.doubted_ms.filter(|doubted| wall_ms >= *doubted && wall_ms < doubted.saturating_add(TRUSTED_AFTER_MS))
        };
        (Self { last_ms: Some(wall_ms), doubted_ms }, note)
    }

    /// The time by which ages are judged. None: the clock is in doubt, or nothing was observed yet.
    pub(crate) fn trusted_now(self) -> Option<u64> {
        if self.doubted_ms.is_some() { None } else { self.last_ms }
    }
}

/// Whether the clock contradicts that `later_ms` came after `earlier_ms`.
pub(crate) fn went_back(earlier_ms: u64, later_ms: u64) -> bool {
    later_ms.saturating_add(CLOCK_TOLERANCE_MS) < earlier_ms
}

/// The wall clock, in milliseconds since 1970.
#[must_use]
pub(crate) fn wall_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// How many minutes the local time of this machine is ahead of UTC now.
#[must_use]
pub fn utc_offset_min() -> i32 {
    chrono::Local::now().offset().local_minus_utc() / 60
}

/// A time in RFC 3339, to the second.
pub(crate) fn rfc3339(wall_ms: u64) -> String {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(wall_ms);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// A time that was written in RFC 3339, in milliseconds since 1970. None: it is none, or is before 1970.
pub(crate) fn from_rfc3339(text: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339_weak(text.trim()).ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn run(times: &[u64]) -> (Clock, Vec<Option<ClockNote>>) {
        let mut notes = Vec::new();
        let clock = times.iter().fold(Clock::default(), |clock, wall_ms| {
            let (clock, note) = clock.after(*wall_ms);
            notes.push(note);
            clock
        });
        (clock, notes)
    }

    #[test]
    fn a_clock_that_is_set_back_is_told_and_one_that_jitters_is_not() {
        assert_eq!(run(&[HOUR, HOUR - 30_000]).1, [None, None]);
        assert_eq!(run(&[HOUR, HOUR - 90_000, HOUR]).1, [None, Some(ClockNote::WentBack), None]);
    }

    #[test]
    fn ages_wait_for_a_clock_that_jumped_forward_to_go_on() {
        let month = 31 * 24 * HOUR;
        assert_eq!(run(&[HOUR, HOUR + 1]).0.trusted_now(), Some(HOUR + 1));
        assert_eq!(run(&[HOUR, month]).0.trusted_now(), None, "the robot may have been off, or the clock is wrong");
        assert_eq!(run(&[HOUR, month, month + HOUR / 2]).0.trusted_now(), None);
        assert_eq!(run(&[HOUR, month, month + HOUR]).0.trusted_now(), Some(month + HOUR), "it was off");
        assert_eq!(run(&[HOUR, month, 2 * HOUR]).0.trusted_now(), Some(2 * HOUR), "it was wrong, and was set right");
    }

    #[test]
    fn times_are_shown_as_people_and_models_read_them() {
        assert_eq!(rfc3339(1_700_000_000_999), "2023-11-14T22:13:20Z");
        assert_eq!(from_rfc3339("2023-11-14T22:13:20Z"), Some(1_700_000_000_000));
        assert_eq!((from_rfc3339("yesterday"), from_rfc3339("1969-01-01T00:00:00Z")), (None, None));
    }
}
