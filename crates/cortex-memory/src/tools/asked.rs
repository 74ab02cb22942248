//! Of which time people want to know what they asked.

use super::ToolProblem;

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// Between which times, in milliseconds since 1970, what was asked is wanted: a day as it is where the robot is, or all.
pub(super) fn times(when: &str, now_ms: u64, utc_offset_min: i32) -> Result<(u64, Option<u64>), ToolProblem> {
    let day = |days_ago: i64| {
        let ahead_ms = i64::from(utc_offset_min) * MINUTE_MS;
        let local_ms = i64::try_from(now_ms).unwrap_or(i64::MAX).saturating_add(ahead_ms);
        let begins_ms = local_ms.div_euclid(DAY_MS).saturating_sub(days_ago).saturating_mul(DAY_MS);
        let of = |local_ms: i64| u64::try_from(local_ms.saturating_sub(ahead_ms)).unwrap_or_default();
        (of(begins_ms), Some(of(begins_ms.saturating_add(DAY_MS))))
    };
    match when.trim().trim_end_matches(['?', '.', '!']).to_lowercase().as_str() {
        "today" | "so far today" => Ok(day(0)),
        "yesterday" => Ok(day(1)),
        "" | "before" | "earlier" | "last" | "just now" | "so far" => Ok((0, None)),
        _ => Err(ToolProblem::NoDay(crate::phrases::line(when))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: u64 = 3_600_000;
    /// 2023-11-14T22:13:20Z.
    const NOW: u64 = 1_700_000_000_000;
    /// The beginning of that day in UTC.
    const MIDNIGHT: u64 = 1_699_920_000_000;

    #[test]
    fn a_day_is_one_where_the_robot_is() {
        let of = |when: &str, offset| times(when, NOW, offset).unwrap();
        assert_eq!(of("today", 0), (MIDNIGHT, Some(MIDNIGHT + 24 * HOUR_MS)));
        assert_eq!(of("Yesterday?", 0), (MIDNIGHT - 24 * HOUR_MS, Some(MIDNIGHT)));
        // Two hours ahead, a new day has begun.
        assert_eq!(of("today", 120).0, MIDNIGHT + 22 * HOUR_MS);
        assert_eq!(of("today", -60).0, MIDNIGHT + HOUR_MS);
        assert_eq!(of("before", 0), (0, None));
        assert_eq!(times("yesterday", 0, 0).unwrap(), (0, Some(0)), "a clock that was never set");
    }

    #[test]
    fn a_time_that_is_none_is_refused_with_those_that_are() {
        let problem = times("on the day of the flood", NOW, 0).expect_err("it is none").to_string();
        assert!(problem.contains("today, yesterday, or before"), "{problem}");
    }
}
