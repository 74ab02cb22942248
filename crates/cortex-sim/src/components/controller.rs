//! The controller: brings the robot along the path that it is given, by velocity commands at a fixed rate.

use std::sync::Arc;
use std::time::Duration;

use cortex_component::messages::geometry_msgs::msg::{PoseWithCovarianceStamped, Twist};
use cortex_component::messages::nav_msgs::msg::Path;
use cortex_component::messages::std_msgs::msg::Float64;
use cortex_component::{Component, ComponentContext, Failure, Health, Latest, Parameter, Publisher, QosProfile, Slot};

use super::base::TURN_RADPS;
use super::geometry::{points, pose, twist};
use super::{COMMAND_TOPIC, PLAN_TOPIC, POSE_TOPIC, SILENCE, TIME_SCALE, time_scale};
use crate::pursuit::{Pace, Pursuit, pursue};
use crate::velocity::{Limits, Velocity};
use crate::world::World;

/// How often it commands.
const TICK: Duration = Duration::from_millis(50);
/// The path and the pose that it goes by are no older than this: what has become of the robot and of whoever sent it is
/// not known any more then, and it stands. Both come at least ten times a second.
const MAX_AGE: Duration = Duration::from_millis(300);
/// In how many real seconds an error is taken back. A command shows in the pose after three ticks of the parts on the
/// way, at most.
const SETTLE_S: f64 = 0.4;

/// The topic with the way that is left, in metres, below the node. Published while a path is followed.
pub(super) const REMAINING_TOPIC: &str = "remaining";
const SPEED: &str = "speed_mps";

#[derive(Clone)]
struct Controller {
    world: Arc<World>,
    path: Slot<Latest<Path>>,
    pose: Slot<Latest<PoseWithCovarianceStamped>>,
    command: Slot<Publisher<Twist>>,
    remaining: Slot<Publisher<Float64>>,
}

pub(super) fn component(world: Arc<World>) -> Component {
    let controller = Controller {
        world,
        path: Slot::default(),
        pose: Slot::default(),
        command: Slot::default(),
        remaining: Slot::default(),
    };
    let (configured, activated) = (controller.clone(), controller.clone());
    Component::new("controller")
        .summary("Drives the robot along the navigator's path. It has nothing that could be called.")
        .parameter(
            Parameter::double_within(SPEED, controller.world.base.speed_mps, 0.05..=10.0)
                .describe("How fast it drives, in metres per second."),
        )
        .parameter(time_scale(&controller.world))
        .on_configure(move |context| {
            let controller = configured.clone();
            async move { controller.configure(&context).await }
        })
        .on_activate(move |context| {
            let controller = activated.clone();
            async move {
                let (command, remaining) = (controller.command.get()?, controller.remaining.get()?);
                let (path, pose) = (controller.path.get()?, controller.pose.get()?);
                let following = controller.follow(context.clone(), (path, pose), (command, remaining));
                context.spawn_while_active("following", following);
                Ok(())
            }
        })
        .on_deactivate({
            let command = controller.command;
            move |_| {
                // The base would notice by itself, a moment later.
                let told = command.get().map(|command| command.publish(&twist(Velocity::STANDING)));
                std::future::ready(told)
            }
        })
}

impl Controller {
    async fn configure(&self, context: &ComponentContext) -> Result<(), Failure> {
        self.path.put(context.latest(PLAN_TOPIC, QosProfile::default()).await?);
        self.pose.put(context.latest(POSE_TOPIC, QosProfile::default()).await?);
        self.command.put(context.publisher(COMMAND_TOPIC, QosProfile::default()).await?);
        self.remaining.put(context.publisher(&format!("~/{REMAINING_TOPIC}"), QosProfile::default()).await?);
        Ok(())
    }

    /// Commands until it is dropped. While there is nothing to follow, it says so once and then leaves the base alone.
    async fn follow(
        self,
        context: ComponentContext,
        (path, pose): (Latest<Path>, Latest<PoseWithCovarianceStamped>),
        (command, remaining): (Publisher<Twist>, Publisher<Float64>),
    ) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut drives = false;
        loop {
            ticks.tick().await;
            let wants = path.fresh(MAX_AGE).filter(|path| !path.poses.is_empty());
            self.report(&context, wants.as_deref(), &pose);
            match self.pursuit(&context, wants.as_deref(), &pose) {
                Some(pursuit) => {
                    drives = true;
                    command.publish(&twist(pursuit.velocity));
                    remaining.publish(&Float64 { data: pursuit.remaining_m });
                }
                None if std::mem::take(&mut drives) => command.publish(&twist(Velocity::STANDING)),
                None => {}
            }
        }
    }

    /// What to do now; none without a path to follow and a pose to begin from.
    fn pursuit(
        &self,
        context: &ComponentContext,
        path: Option<&Path>,
        here: &Latest<PoseWithCovarianceStamped>,
    ) -> Option<Pursuit> {
        let parameters = context.parameters();
        let scale = parameters.double(TIME_SCALE).unwrap_or(self.world.time_scale);
        let speed_mps = parameters.double(SPEED).unwrap_or(self.world.base.speed_mps);
        let pace = Pace { limits: Limits { speed_mps, turn_radps: TURN_RADPS }, settle_s: SETTLE_S * scale };
        let here = pose(&here.fresh(MAX_AGE)?.pose.pose)?;
        pursue(&points(path?)?, here, &pace)
    }

    /// A machine that stutters is no failure; what lasts is.
    fn report(&self, context: &ComponentContext, path: Option<&Path>, here: &Latest<PoseWithCovarianceStamped>) {
        let health = context.health();
        if path.is_some_and(|path| points(path).is_none()) {
            health.report(PLAN_TOPIC, Health::System, "the path makes no sense, so the robot stands");
        } else {
            health.clear(PLAN_TOPIC);
        }
        if path.is_some() && here.fresh(SILENCE).is_none() {
            let problem = format!("no pose for {} s, so the robot stands", SILENCE.as_secs());
            health.report(POSE_TOPIC, Health::System, problem);
        } else {
            health.clear(POSE_TOPIC);
        }
    }
}
