//! How old a message is.

use std::time::Duration;

use cortex_core::condition::Age;
use cortex_interfaces::MessageView;
use cortex_ros_client::clock::RosClock;
use thiserror::Error;

/// The header whose stamp says how old a message is.
const HEADER: &str = "std_msgs/msg/Header";
/// The type of stamps.
const TIME: &str = "builtin_interfaces/msg/Time";
/// How far the clocks of two machines may differ: so far in the future a stamp still means now.
const CLOCKS_DIFFER: Duration = Duration::from_secs(1);

/// How old a message is by the stamp of its header, or its own stamp, on the clock of Cortex. One that is zero was not filled
/// in.
pub(crate) fn age_of(message: MessageView<'_>, clock: &RosClock) -> Age {
    let is = |view: &MessageView<'_>, name: &str| view.message_type().name.to_string() == name;
    let of_header = || {
        let header = message.nested("header").filter(|header| is(header, HEADER))?;
        header.nested("stamp")
    };
    let Some(stamp) = of_header().or_else(|| message.nested("stamp").filter(|stamp| is(stamp, TIME))) else {
        return Age::Arrival;
    };
    let (Some(seconds), Some(nanoseconds)) = (stamp.integer("sec"), stamp.integer("nanosec")) else {
        return Age::Arrival;
    };
    match age_at(seconds * 1_000_000_000 + nanoseconds, clock.now_ns().into()) {
        Some(Ok(age)) => Age::Stamped(age),
        Some(Err(unknown)) => Age::Unknown { reason: unknown.to_string() },
        None => Age::Arrival,
    }
}

/// Why nobody knows how old a message is.
#[derive(Debug, PartialEq, Error)]
enum UnknownAge {
    #[error("use_sim_time is set, and nothing was heard on /clock")]
    NoClock,
    #[error(
        "its stamp lies {:.1} s in the future; the clocks differ, or only one side has use_sim_time", .ahead.as_secs_f64()
    )]
    InFuture { ahead: Duration },
}

/// How old what has this stamp is, both in nanoseconds. None: it has none.
fn age_at(stamp: i128, now: i128) -> Option<Result<Duration, UnknownAge>> {
    if stamp == 0 {
        return None;
    }
    if now == 0 {
        return Some(Err(UnknownAge::NoClock));
    }
    if stamp > now {
        let ahead = Duration::from_nanos(u64::try_from(stamp - now).unwrap_or(u64::MAX));
        return Some(if ahead <= CLOCKS_DIFFER { Ok(Duration::ZERO) } else { Err(UnknownAge::InFuture { ahead }) });
    }
    Some(Ok(Duration::from_nanos(u64::try_from(now - stamp).unwrap_or(u64::MAX))))
}

#[cfg(test)]
mod tests {
    use cortex_interfaces::{Interfaces, Message, ReadOptions};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn regression_a_message_that_arrives_late_is_as_old_as_its_stamp() {
        let interfaces = Interfaces::from_environment();
        let clock = RosClock::simulated();
        let age = |type_name: &str, message: Value| {
            let interface = interfaces.message(type_name).unwrap();
            age_of(Message::from_json(&interface, &message, &ReadOptions::exact()).unwrap().view(), &clock)
        };
        let odometry = |seconds: i32| {
            age("nav_msgs/msg/Odometry", json!({"header": {"stamp": {"sec": seconds, "nanosec": 500_000_000}}}))
        };
        assert!(matches!(odometry(90), Age::Unknown { reason } if reason.contains("/clock")));
        clock.set(r2r::builtin_interfaces::msg::Time { sec: 100, nanosec: 0 });
        assert_eq!(odometry(90), Age::Stamped(Duration::from_millis(9_500)));
        assert_eq!(odometry(100), Age::Stamped(Duration::ZERO));
        assert!(matches!(odometry(130), Age::Unknown { reason } if reason.contains("30.5 s in the future")));
        assert_eq!(age("nav_msgs/msg/Odometry", json!({})), Age::Arrival, "a stamp of zero is none");
        assert_eq!(age("std_msgs/msg/String", json!({"data": "x"})), Age::Arrival);
        let seen = age("cortex_msgs/msg/Observations", json!({"stamp": {"sec": 93}}));
        assert_eq!(seen, Age::Stamped(Duration::from_secs(7)));
        assert_eq!(
            age_at(i128::from(i32::MIN) * 1_000_000_000, 1),
            Some(Ok(Duration::from_nanos(2_147_483_648_000_000_001)))
        );
    }
}
