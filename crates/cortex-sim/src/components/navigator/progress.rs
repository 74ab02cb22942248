//! Whether a drive gets on, and if not, why.

use std::time::{Duration, Instant};

use cortex_component::messages::geometry_msgs::msg::PoseWithCovarianceStamped;
use cortex_component::messages::nav_msgs::msg::Odometry;
use cortex_component::messages::std_msgs::msg::Float64;
use cortex_component::{Failure, Latest};

use super::Navigator;
use crate::components::geometry::pose;
use crate::components::{SILENCE, TIME_SCALE};
use crate::pursuit::{Pose, turn_rad};

/// How long the robot may stay as it is during a drive, in simulated time.
const STUCK_AFTER: Duration = Duration::from_secs(5);
/// It gets on when it has moved by that many metres, or turned by that many radians.
const ON_M: f64 = 0.05;
const ON_RAD: f64 = 0.2;

/// Whether a drive gets on.
pub(super) struct Progress {
    pose: Latest<PoseWithCovarianceStamped>,
    odometry: Latest<Odometry>,
    remaining: Latest<Float64>,
    begun: Instant,
    stuck_after: Duration,
    /// Where the robot was when it last got on, and when that was.
    mark: Option<(Pose, Instant)>,
}

impl Progress {
    pub(super) fn begin(navigator: &Navigator) -> Result<Self, String> {
        let said = |problem: Failure| problem.to_string();
        let scale = navigator.context.get().ok().and_then(|context| context.parameters().double(TIME_SCALE).ok());
        Ok(Self {
            pose: navigator.pose.get().map_err(said)?,
            odometry: navigator.odometry.get().map_err(said)?,
            remaining: navigator.remaining.get().map_err(said)?,
            begun: Instant::now(),
            // A machine under load takes its time, however fast the simulated one goes.
            stuck_after: STUCK_AFTER.div_f64(scale.unwrap_or(1.0).clamp(0.01, 1.0)),
            mark: None,
        })
    }

    /// Where the robot is, or why it does not get on.
    pub(super) fn look(&mut self) -> Result<Pose, String> {
        let Some(here) = self.pose.fresh(SILENCE).and_then(|message| pose(&message.pose.pose)) else {
            let base =
                self.odometry.fresh(SILENCE).map_or("the base reports no odometry", |_| "the localization is silent");
            return Err(base.to_owned());
        };
        if self.begun.elapsed() > SILENCE && self.remaining.fresh(SILENCE).is_none() {
            return Err("the controller does not follow the path".to_owned());
        }
        match self.mark {
            Some((then, at)) if !gets_on(then, here) => {
                if at.elapsed() > self.stuck_after {
                    return Err(format!("the robot has not got on for {} s", at.elapsed().as_secs()));
                }
            }
            _ => self.mark = Some((here, Instant::now())),
        }
        Ok(here)
    }
}

/// Whether the robot has moved or turned.
fn gets_on(then: Pose, now: Pose) -> bool {
    let turned_rad = turn_rad(now.heading_rad - then.heading_rad).abs();
    then.position.distance_m(now.position) >= ON_M || turned_rad >= ON_RAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Position;

    #[test]
    fn moving_and_turning_count_and_trembling_does_not() {
        let pose = |x_m, heading_rad| Pose { position: Position { x_m, y_m: 0.0 }, heading_rad };
        let then = pose(1.0, 3.1);
        assert!(gets_on(then, pose(1.06, 3.1)) && gets_on(then, pose(1.0, 2.8)));
        assert!(!gets_on(then, pose(1.04, 3.1)) && !gets_on(then, then));
        assert!(!gets_on(then, pose(1.0, 3.1 - std::f64::consts::TAU)), "the same way");
        assert!(gets_on(then, pose(1.0, 3.1 - std::f64::consts::PI)), "the other way");
    }
}
