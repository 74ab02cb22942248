//! Where the robot is by its transforms alone.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::RobotSightStream;
use cortex_protocol::robot_view::RobotSight;
use cortex_ros_client::RosError;
use tokio::time::{MissedTickBehavior, interval};

use super::RobotViews;
use super::frames::Frames;

/// How often it is looked: ten times a second.
const LOOK: Duration = Duration::from_millis(100);

/// The robot's own frame, in the frame that is asked for, or else in the one at the root of its tree.
pub(super) struct BaseWatch {
    views: RobotViews,
    frame: Option<String>,
    frames: Option<Arc<Frames>>,
    looks: tokio::time::Interval,
    /// Why there is nothing, as it was told last.
    problem: Option<String>,
}

impl BaseWatch {
    pub(super) fn new(views: RobotViews, frame: Option<&str>) -> Self {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { views, frame: frame.map(str::to_owned), frames: None, looks, problem: None }
    }

    async fn look(&mut self) -> Result<RobotSight, RosError> {
        let frames = match &self.frames {
            Some(frames) => Arc::clone(frames),
            None => Arc::clone(self.frames.insert(self.views.frames().await?)),
        };
        let transforms = frames.transforms();
        let Some((base, root)) = transforms.base() else {
            let reason = "no transform of base_link or base_footprint has come on /tf".to_owned();
            return Ok(RobotSight::Unusable { reason });
        };
        let wanted = self.frame.as_deref().unwrap_or(root);
        Ok(match transforms.lies(base, wanted, std::time::Instant::now()) {
            Ok(lies) => RobotSight::Pose(lies.on_floor(wanted)),
            Err(missing) => RobotSight::Unusable { reason: missing.to_string() },
        })
    }
}

#[async_trait]
impl RobotSightStream for BaseWatch {
    async fn next(&mut self) -> Option<RobotSight> {
        loop {
            self.looks.tick().await;
            let sight = match self.look().await {
                Ok(sight) => sight,
                Err(RosError::ShutDown) => return None,
                Err(problem) => RobotSight::Unusable { reason: problem.to_string() },
            };
            let problem = match &sight {
                RobotSight::Unusable { reason } => Some(reason.clone()),
                _ => None,
            };
            if problem.is_some() && problem == self.problem {
                continue;
            }
            self.problem = problem;
            return Some(sight);
        }
    }
}
