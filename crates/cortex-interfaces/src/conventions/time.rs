//! Times and durations as seconds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::position;
use crate::native::edit::{MessageMut, Target};
use crate::native::view::{MessageView, Values};
use crate::read::{Context, Found, Stop, number};

/// What stands for the time at which JSON is read.
pub(crate) const NOW: &str = "now";
const NANOSECONDS: i64 = 1_000_000_000;

/// A point in time as ROS counts it: since 1970, or since the start of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp {
    /// Whole seconds.
    pub sec: i32,
    /// And so many nanoseconds, less than 10⁹.
    pub nanosec: u32,
}

impl Timestamp {
    /// The time since the epoch of the clock, as a ROS clock tells it. Ends in 2038, as ROS does.
    #[must_use]
    pub fn since_epoch(time: Duration) -> Self {
        Self { sec: i32::try_from(time.as_secs()).unwrap_or(i32::MAX), nanosec: time.subsec_nanos() }
    }

    /// A time of the system's clock.
    #[must_use]
    pub fn of(time: SystemTime) -> Self {
        Self::since_epoch(time.duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// The time so many seconds after the start, or before it. None when ROS can't hold it.
    pub(crate) fn from_seconds(seconds: f64) -> Option<Self> {
        let whole = seconds.floor();
        if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&whole) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "in range, as was just checked")]
        let (sec, nanosec) = (whole as i64, ((seconds - whole) * 1e9).round() as i64);
        // Rounding can reach the next second.
        let sec = i32::try_from(sec + nanosec / NANOSECONDS).ok()?;
        Some(Self { sec, nanosec: u32::try_from(nanosec % NANOSECONDS).ok()? })
    }

    pub(crate) fn seconds(self) -> f64 {
        // As one number and then one division: the nearest float to what was meant.
        let nanoseconds = i64::from(self.sec) * NANOSECONDS + i64::from(self.nanosec);
        #[expect(clippy::cast_precision_loss, reason = "friendly, not exact")]
        let seconds = nanoseconds as f64 / 1e9;
        seconds
    }
}

/// Reads a point in time.
pub(super) fn read_time(found: Found<'_>, mut message: MessageMut<'_>, context: &mut Context<'_>) -> Result<(), Stop> {
    let time = match (found, context.options.now) {
        (Found::Text(NOW), Some(now)) => Some(now),
        (Found::Text(NOW), None) => return context.problem("what time it is now is not known here; give the seconds"),
        (Found::Text(_), _) => None,
        _ => number(found).and_then(Timestamp::from_seconds),
    };
    match time {
        Some(time) => set(&mut message, time),
        None => {
            return context
                .problem(format!("expected seconds since 1970 (at most {}) or \"{NOW}\", got {found}", i32::MAX));
        }
    }
    Ok(())
}

/// Reads a length of time.
pub(super) fn read_duration(
    found: Found<'_>,
    mut message: MessageMut<'_>,
    context: &mut Context<'_>,
) -> Result<(), Stop> {
    let time = if matches!(found, Found::Text(_)) { None } else { number(found).and_then(Timestamp::from_seconds) };
    match time {
        Some(time) => set(&mut message, time),
        None => return context.problem(format!("expected seconds (at most {}), got {found}", i32::MAX)),
    }
    Ok(())
}

/// Gives a message of seconds and nanoseconds its value.
pub(super) fn set(message: &mut MessageMut<'_>, time: Timestamp) {
    let message_type = message.message_type();
    if let Some(index) = position(message_type, "sec")
        && let Some(Target::Int32(mut slots)) = message.target(index)
        && let Some(place) = slots.next()
    {
        *place = time.sec;
    }
    if let Some(index) = position(message_type, "nanosec")
        && let Some(Target::Uint32(mut slots)) = message.target(index)
        && let Some(place) = slots.next()
    {
        *place = time.nanosec;
    }
}

/// The value of a message of seconds and nanoseconds.
pub(crate) fn get(message: MessageView<'_>) -> Option<Timestamp> {
    let value = |name: &str| message.values(position(message.message_type(), name)?);
    match (value("sec")?, value("nanosec")?) {
        (Values::Int32([sec]), Values::Uint32([nanosec])) => Some(Timestamp { sec: *sec, nanosec: *nanosec }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time(sec: i32, nanosec: u32) -> Timestamp {
        Timestamp { sec, nanosec }
    }

    #[test]
    fn seconds_become_whole_seconds_and_nanoseconds() {
        assert_eq!(Timestamp::from_seconds(1.5), Some(time(1, 500_000_000)));
        assert_eq!(Timestamp::from_seconds(-0.25), Some(time(-1, 750_000_000)));
        assert_eq!(Timestamp::from_seconds(0.999_999_999_9), Some(time(1, 0)));
        assert_eq!(Timestamp::from_seconds(f64::from(i32::MAX) + 0.5), Some(time(i32::MAX, 500_000_000)));
        assert_eq!(Timestamp::from_seconds(f64::from(i32::MAX) + 1.0), None);
        assert_eq!(Timestamp::from_seconds(f64::from(i32::MAX) + 0.999_999_999_9), None);
        assert_eq!(Timestamp::from_seconds(f64::NAN), None);
        assert_eq!(Timestamp::from_seconds(f64::NEG_INFINITY), None);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_to_within_a_microsecond(sec in any::<i32>(), nanosec in 0_u32..1_000_000_000) {
            let read = Timestamp::from_seconds(time(sec, nanosec).seconds()).unwrap();
            let nanoseconds = |time: Timestamp| i64::from(time.sec) * NANOSECONDS + i64::from(time.nanosec);
            prop_assert!((nanoseconds(read) - nanoseconds(time(sec, nanosec))).abs() < 1000);
        }
    }
}
