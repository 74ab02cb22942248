//! The clock that stamps messages: the system's, or the simulation's where `use_sim_time` is set.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::StreamExt;
use r2r::{Node, QosProfile, builtin_interfaces::msg::Time, rosgraph_msgs::msg};

use crate::RosError;
use crate::serving::Serving;

/// Tells the time. Clones share it.
///
/// The client library has a clock, but whether its simulated time is compiled in depends on the state of its build
/// cache.
#[derive(Debug, Clone)]
pub enum RosClock {
    /// The clock of the machine.
    System,
    /// The last time on `/clock`; zero before the first.
    Simulated(Arc<Mutex<Time>>),
}

impl RosClock {
    /// A clock that follows `/clock`.
    ///
    /// # Errors
    /// When the subscription can't be created.
    pub fn simulated(node: &mut Node, serving: &Serving) -> Result<Self, RosError> {
        let mut clock = node.subscribe::<msg::Clock>("/clock", QosProfile::default().keep_last(1).best_effort())?;
        let time = Arc::new(Mutex::new(Time::default()));
        let last = Arc::clone(&time);
        serving.spawn(async move {
            while let Some(message) = clock.next().await {
                *last.lock().unwrap_or_else(PoisonError::into_inner) = message.clock;
            }
        });
        Ok(Self::Simulated(time))
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            Self::System => to_time(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
            Self::Simulated(time) => time.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// ROS counts seconds in 32 bits.
fn to_time(since_epoch: Duration) -> Time {
    Time { sec: i32::try_from(since_epoch.as_secs()).unwrap_or(i32::MAX), nanosec: since_epoch.subsec_nanos() }
}

/// A time as nanoseconds.
#[must_use]
pub fn nanoseconds(time: &Time) -> u64 {
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
