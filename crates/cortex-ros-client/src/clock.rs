//! The clock of a node: the system's, or the simulation's where `use_sim_time` is set.
//!
//! It is for what is about the robot's own time: the stamps of messages. How long something may take, and whether
//! something is silent, follows the machine's steady clock, simulation or not: a simulation that stands still, or a
//! `/clock` that nobody publishes, must not keep a stop or a time-out from coming.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use r2r::builtin_interfaces::msg::Time;
use tokio::sync::watch;

/// Tells the time. Clones share it.
///
/// The client library has a clock, but whether its simulated time is compiled in depends on the state of its build
/// cache.
#[derive(Debug, Clone)]
pub enum RosClock {
    /// The clock of the machine.
    System,
    /// The last time on `/clock`; zero before the first.
    Simulated(Arc<watch::Sender<Time>>),
}

impl RosClock {
    /// A clock that stands at zero until it is [`set`](Self::set).
    pub fn simulated() -> Self {
        Self::Simulated(Arc::default())
    }

    /// Sets a simulated clock. It may be set back: simulations begin anew.
    pub fn set(&self, now: Time) {
        if let Self::Simulated(time) = self {
            time.send_replace(now);
        }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            Self::System => to_time(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
            Self::Simulated(time) => time.borrow().clone(),
        }
    }

    /// Waits until a simulated clock has a time: what is stamped before has none. For ever, where nobody publishes
    /// `/clock`; the caller bounds the wait.
    pub async fn started(&self) {
        if let Self::Simulated(time) = self {
            // The sender is this clock's own, so the wait ends with a time.
            let _ = time.subscribe().wait_for(|time| *time != Time::default()).await;
        }
    }

    /// Now, in nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        nanoseconds(&self.now())
    }
}

/// ROS counts seconds in 32 bits.
fn to_time(since_epoch: Duration) -> Time {
    Time { sec: i32::try_from(since_epoch.as_secs()).unwrap_or(i32::MAX), nanosec: since_epoch.subsec_nanos() }
}

/// A time as nanoseconds.
fn nanoseconds(time: &Time) -> u64 {
    u64::try_from(time.sec).unwrap_or_default() * 1_000_000_000 + u64::from(time.nanosec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_split_as_ros_wants_it() {
        let time = to_time(Duration::new(1_700_000_000, 250_000_000));
        assert_eq!(time, Time { sec: 1_700_000_000, nanosec: 250_000_000 });
        assert_eq!(nanoseconds(&time), 1_700_000_000_250_000_000);
    }
}
