//! The navigator: goes to places, by the other parts of the navigation stack. It asks the planner for paths, hands them to
//! the controller, and watches whether the robot gets on (`progress`).

mod progress;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cortex_component::messages::geometry_msgs::msg::{PoseStamped, PoseWithCovarianceStamped};
use cortex_component::messages::nav_msgs::msg::{Odometry, Path};
use cortex_component::messages::nav_msgs::srv::GetPlan;
use cortex_component::messages::std_msgs::msg::{Float64, Header};
use cortex_component::{
    CallContext, Component, ComponentContext, Failure, Latest, Method, NoArguments, Parameter, Publisher, QosProfile,
    ServiceClient, Slot,
};

use super::controller::REMAINING_TOPIC;
use super::driving::{self, GoTo};
use super::geometry::{MAP_FRAME, path, pose, pose_message};
use super::place::where_at;
use super::planner::GET_PLAN;
use super::{FIRST_MESSAGE_PATIENCE, ODOMETRY_TOPIC, PLAN_TOPIC, POSE_TOPIC, REQUIRE_BATTERY, SILENCE, time_scale};
use crate::pursuit::Pose;
use crate::world::{Position, World};
use progress::Progress;

/// How often the path is handed to the controller and the drive is looked after.
const TICK: Duration = Duration::from_millis(100);
/// How long after one path the next is asked for: from where the robot is by then.
const REPLAN_AFTER: Duration = Duration::from_secs(1);
/// How long one answer of the planner is waited for, and how often it is asked. A planner that has just come back may not
/// hear the first time.
const PLAN_TIMEOUT: Duration = Duration::from_millis(750);
const PLAN_ATTEMPTS: usize = 4;
/// It has arrived when it stands this near to the goal, in metres.
const ARRIVED_M: f64 = 0.2;
/// Slower than this, in metres or radians per second, the robot stands.
const STANDING: f64 = 1e-3;
/// How long it may take until the robot is seen to stand.
const REST_PATIENCE: Duration = Duration::from_millis(800);
/// The topic with the room that the robot is in, as the localization knows it.
const PLACE_TOPIC: &str = "localization/place";

#[derive(Clone)]
struct Navigator {
    world: Arc<World>,
    pose: Slot<Latest<PoseWithCovarianceStamped>>,
    odometry: Slot<Latest<Odometry>>,
    remaining: Slot<Latest<Float64>>,
    plan: Slot<Publisher<Path>>,
    planner: Slot<Arc<ServiceClient<GetPlan::Service>>>,
    context: Slot<ComponentContext>,
    /// Where it drives.
    drive: Arc<Mutex<Option<String>>>,
}

pub(super) fn component(world: Arc<World>) -> Component {
    let navigator = Navigator {
        world,
        pose: Slot::default(),
        odometry: Slot::default(),
        remaining: Slot::default(),
        plan: Slot::default(),
        planner: Slot::default(),
        context: Slot::default(),
        drive: Arc::default(),
    };
    Component::new("navigator")
        .summary("Brings the robot to the rooms of the home.")
        .parameter(time_scale(&navigator.world))
        .parameter(
            Parameter::boolean(REQUIRE_BATTERY, true)
                .describe("Whether it drives only while a battery reports that it is not empty."),
        )
        .method(go_to(&navigator))
        .method(where_am_i(&navigator))
        .method(halt(&navigator))
        .on_configure(move |context| {
            let navigator = navigator.clone();
            async move { navigator.configure(context).await }
        })
}

fn go_to(navigator: &Navigator) -> Method {
    let navigator = navigator.clone();
    driving::go_to(&navigator.world, PLACE_TOPIC).phrase("navigate to {place}").run(move |arguments, call| {
        let navigator = navigator.clone();
        async move { navigator.go_to(arguments, call).await }
    })
}

fn where_am_i(navigator: &Navigator) -> Method {
    let navigator = navigator.clone();
    driving::where_am_i().run(move |_: NoArguments, call| {
        let navigator = navigator.clone();
        async move {
            let here = call.or_cancelled(navigator.first_pose()).await??;
            where_at(&navigator.world, here.position)
        }
    })
}

fn halt(navigator: &Navigator) -> Method {
    let navigator = navigator.clone();
    driving::halt().run(move |_: NoArguments, _| {
        let navigator = navigator.clone();
        async move {
            navigator.let_go();
            navigator.come_to_rest().await.map(|()| "the robot stands")
        }
    })
}

impl Navigator {
    async fn configure(&self, context: ComponentContext) -> Result<(), Failure> {
        self.pose.put(context.latest(POSE_TOPIC, QosProfile::default()).await?);
        self.odometry.put(context.latest(ODOMETRY_TOPIC, QosProfile::default()).await?);
        let remaining = format!("controller/{REMAINING_TOPIC}");
        self.remaining.put(context.latest(&remaining, QosProfile::default()).await?);
        self.plan.put(context.publisher(PLAN_TOPIC, QosProfile::default()).await?);
        if self.planner.get().is_err() {
            self.planner.put(Arc::new(context.client(&format!("planner/{GET_PLAN}")).await?));
        }
        self.context.put(context);
        Ok(())
    }

    async fn go_to(&self, GoTo { place }: GoTo, call: CallContext) -> Result<String, Failure> {
        let goal = self.world.room(&place).ok_or_else(|| format!("there is no '{place}'"))?.position();
        let drive = self.begin(&place)?;
        let driven = call.or_cancelled(self.drive(goal)).await;
        drop(drive);
        let rests = self.come_to_rest().await;
        driven?.map_err(|reason| format!("{reason}; stopped on the way to the {place}"))?;
        rests.map(|()| format!("arrived in the {place}"))
    }

    fn begin(&self, place: &str) -> Result<LetGoOnDrop<'_>, Failure> {
        let mut drive = self.drive.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = &*drive {
            return Err(format!("already driving to the {other}").into());
        }
        *drive = Some(place.to_owned());
        Ok(LetGoOnDrop(self))
    }

    /// Drives until the robot stands at the goal, or until something is wrong.
    async fn drive(&self, goal: Position) -> Result<(), String> {
        let said = |problem: Failure| problem.to_string();
        let plan = self.plan.get().map_err(said)?;
        let mut path = self.path_to(goal).await?;
        let mut progress = Progress::begin(self)?;
        let mut ticks = tokio::time::interval(TICK);
        let next_path = || async {
            tokio::time::sleep(REPLAN_AFTER).await;
            self.path_to(goal).await
        };
        let mut replanning = Box::pin(next_path());
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    plan.publish(&path);
                    let here = progress.look()?;
                    if here.position.distance_m(goal) <= ARRIVED_M && self.stands_since(Instant::now() - TICK) {
                        return Ok(());
                    }
                }
                planned = &mut replanning => {
                    path = planned?;
                    replanning = Box::pin(next_path());
                }
            }
        }
    }

    /// The path from where the robot is.
    async fn path_to(&self, goal: Position) -> Result<Path, String> {
        let said = |problem: Failure| problem.to_string();
        let here = self.first_pose().await.map_err(said)?;
        let planner = self.planner.get().map_err(said)?;
        let stamp = self.context.get().map_err(said)?.now();
        let stamped = |pose: Pose| PoseStamped {
            header: Header { stamp: stamp.clone(), frame_id: MAP_FRAME.to_owned() },
            pose: pose_message(pose),
        };
        let request = GetPlan::Request {
            start: stamped(here),
            goal: stamped(Pose { position: goal, heading_rad: 0.0 }),
            tolerance: 0.0,
        };
        for _ in 0..PLAN_ATTEMPTS {
            let asked = async {
                planner.wait_for_server(PLAN_TIMEOUT).await?;
                planner.call(&request, PLAN_TIMEOUT).await
            };
            match asked.await {
                Ok(answer) if answer.plan.poses.is_empty() => return Err("the planner finds no way".to_owned()),
                Ok(answer) => return Ok(answer.plan),
                Err(problem) => tracing::debug!("the planner does not answer: {problem}"),
            }
        }
        Err("the planner does not answer".to_owned())
    }

    /// Where the robot is; waits for the first pose after the start.
    async fn first_pose(&self) -> Result<Pose, Failure> {
        let latest = self.pose.get()?.within(SILENCE, FIRST_MESSAGE_PATIENCE).await;
        let here = latest.and_then(|message| pose(&message.pose.pose));
        here.ok_or_else(|| {
            let seconds = SILENCE.as_secs();
            Failure::Reason(format!("no pose for more than {seconds} s, so it is not known where the robot is"))
        })
    }

    /// Takes the path back from the controller.
    fn let_go(&self) {
        if let (Ok(plan), Ok(context)) = (self.plan.get(), self.context.get()) {
            plan.publish(&path(&[], &context.now()));
        }
    }

    /// Waits until the robot is seen to stand.
    async fn come_to_rest(&self) -> Result<(), Failure> {
        let since = Instant::now();
        let mut odometry = self.odometry.get()?;
        let resting = async {
            while odometry.next().await.is_some() {
                if self.stands_since(since) {
                    return true;
                }
            }
            false
        };
        match tokio::time::timeout(REST_PATIENCE, resting).await {
            Ok(true) => Ok(()),
            _ if self.odometry.get()?.fresh(REST_PATIENCE).is_some() => Err("the robot still moves".into()),
            _ => Err("there is no odometry, so it is not known whether the robot stands".into()),
        }
    }

    /// Whether odometry that came since then says that the robot stands.
    fn stands_since(&self, since: Instant) -> bool {
        let last = self.odometry.get().ok().and_then(|odometry| odometry.last());
        last.is_some_and(|received| {
            let twist = &received.message.twist.twist;
            received.at >= since && twist.linear.x.abs() < STANDING && twist.angular.z.abs() < STANDING
        })
    }
}

/// However a call ends, its drive does not outlive it.
struct LetGoOnDrop<'n>(&'n Navigator);

impl Drop for LetGoOnDrop<'_> {
    fn drop(&mut self) {
        self.0.let_go();
        *self.0.drive.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
