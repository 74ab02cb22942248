//! The wheels: drives from room to room at a finite speed and publishes its odometry and the room that it is in.
//!
//! Its parameter `commands` says whose commands it obeys: calls of `go_to`, or, under a navigation stack, velocities on the
//! topic `cmd_vel` (`wheels`).

mod wheels;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_component::messages::builtin_interfaces::msg::Time;
use cortex_component::messages::geometry_msgs::msg::{PoseWithCovariance, TwistWithCovariance};
use cortex_component::messages::nav_msgs::msg::Odometry;
use cortex_component::messages::sensor_msgs::msg::BatteryState;
use cortex_component::messages::std_msgs::msg::{Header, String as Text};
use cortex_component::{
    CallContext, Component, ComponentContext, Failure, Latest, Method, NoArguments, Parameter, Publisher, QosProfile,
    Slot,
};
use serde_json::Value;
use tokio::sync::watch;

use super::driving::{self, GoTo, GoToPoint};
use super::geometry::{pose_message, position, twist};
use super::place::{room_at, where_at};
use super::{BATTERY_TOPIC, FIRST_MESSAGE_PATIENCE, ODOMETRY_TOPIC, REQUIRE_BATTERY, SILENCE, TIME_SCALE, time_scale};
use crate::motion::{DriveEnd, Motion};
use crate::pursuit::Pose;
use crate::route::{route, route_to_point};
use crate::velocity::{COMMAND_MAX_AGE, Limits, Velocity};
use crate::world::{Destinations, Position, World};
use wheels::{Commands, Wheels};

/// How often the wheels turn on and the odometry is published.
const TICK: Duration = Duration::from_millis(50);

/// The topic with the room that the robot is in, below the node.
const PLACE_TOPIC: &str = "~/place";

/// How fast it turns about itself, in radians per second.
pub(super) const TURN_RADPS: f64 = 2.0;

/// What the robot's body is, for whoever asks: the topic that `robot_state_publisher` has, and the URDF.
const DESCRIPTION_TOPIC: &str = "robot_description";
const DESCRIPTION: &str = include_str!("base/home_robot.urdf");

const SPEED: &str = "speed_mps";

#[derive(Clone)]
struct Base {
    world: Arc<World>,
    motion: Arc<watch::Sender<Motion>>,
    /// Counts the published odometry messages.
    published: Arc<watch::Sender<u64>>,
    odometry: Slot<Publisher<Odometry>>,
    place: Slot<Publisher<Text>>,
    description: Slot<Publisher<Text>>,
    battery: Slot<Latest<BatteryState>>,
    wheels: Wheels,
    context: Slot<ComponentContext>,
}

pub(super) fn component(world: Arc<World>) -> Component {
    let start = world.room(&world.start).map(|room| room.position()).unwrap_or_default();
    let base = Base {
        motion: Arc::new(watch::Sender::new(Motion::at(start))),
        published: Arc::new(watch::Sender::new(0)),
        odometry: Slot::default(),
        place: Slot::default(),
        description: Slot::default(),
        battery: Slot::default(),
        wheels: Wheels::default(),
        context: Slot::default(),
        world,
    };
    let (configured, activated) = (base.clone(), base.clone());
    let component = Component::new("base")
        .summary("The robot's wheels. It drives between the rooms of the home.")
        .parameter(
            Parameter::double_within(SPEED, base.world.base.speed_mps, 0.05..=10.0)
                .describe("How fast the robot drives, in metres per second."),
        )
        .parameter(time_scale(&base.world))
        .parameter(
            Parameter::boolean(REQUIRE_BATTERY, true)
                .describe("Whether it drives only while a battery reports that it is not empty."),
        )
        .parameter(wheels::parameter())
        .method(go_to(&base))
        .method(where_am_i(&base))
        .method(halt(&base))
        .on_configure(move |context| {
            let base = configured.clone();
            async move { base.configure(context).await }
        })
        .on_activate(move |context| {
            let base = activated.clone();
            async move {
                let (odometry, place) = (base.odometry.get()?, base.place.get()?);
                context.spawn_while_active("driving", base.drive(context.clone(), odometry, place));
                Ok(())
            }
        });
    match base.world.base.destinations {
        Destinations::Rooms => component,
        Destinations::Points => component.method(go_to_point(&base)),
    }
}

fn go_to(base: &Base) -> Method {
    let base = base.clone();
    driving::go_to(&base.world, PLACE_TOPIC).run(move |arguments, call| {
        let base = base.clone();
        async move { base.go_to(arguments, call).await }
    })
}

fn go_to_point(base: &Base) -> Method {
    let base = base.clone();
    driving::go_to_point().run(move |GoToPoint { x, y }, call| {
        let base = base.clone();
        async move {
            let name = format!("point x {x:.2} y {y:.2}");
            let way = move |world: &World, here| route_to_point(world, here, Position { x_m: x, y_m: y });
            base.drive_to(&name, format!("arrived at the {name}"), way, call).await
        }
    })
}

fn where_am_i(base: &Base) -> Method {
    let base = base.clone();
    driving::where_am_i().run(move |_: NoArguments, _| std::future::ready(base.where_am_i()))
}

fn halt(base: &Base) -> Method {
    let base = base.clone();
    driving::halt().run(move |_: NoArguments, _| {
        let base = base.clone();
        async move {
            if base.wheels.commands() == Commands::Velocity {
                base.wheels.halt();
                base.wait_until_seen_at_rest().await;
            }
            Ok("the robot stands")
        }
    })
}

impl Base {
    async fn configure(&self, context: ComponentContext) -> Result<(), Failure> {
        self.odometry.put(context.publisher(ODOMETRY_TOPIC, QosProfile::default()).await?);
        self.place.put(context.publisher(PLACE_TOPIC, QosProfile::default()).await?);
        let description = context.publisher::<Text>(DESCRIPTION_TOPIC, QosProfile::TRANSIENT_LOCAL).await?;
        description.publish(&Text { data: DESCRIPTION.to_owned() });
        self.description.put(description);
        self.battery.put(context.latest(BATTERY_TOPIC, QosProfile::default()).await?);
        self.wheels.configure(&context).await?;
        self.context.put(context);
        Ok(())
    }

    async fn go_to(&self, GoTo { place }: GoTo, call: CallContext) -> Result<String, Failure> {
        let arrived = format!("arrived in the {place}");
        self.drive_to(&place, arrived, |world, here| route(world, here, &place), call).await
    }

    async fn drive_to(
        &self,
        place: &str,
        arrived: String,
        way: impl FnOnce(&World, Position) -> Option<Vec<Position>>,
        call: CallContext,
    ) -> Result<String, Failure> {
        if self.wheels.commands() == Commands::Velocity {
            return Err(
                "the base obeys velocities (its parameter 'commands'), not calls: let the navigator drive".into()
            );
        }
        call.or_cancelled(self.check_battery()).await??;
        let _finishes_when_dropped = self.begin(place, way)?;
        match call.or_cancelled(self.end_of_drive()).await {
            Ok(DriveEnd::Arrived) => Ok(arrived),
            Ok(DriveEnd::Stopped(reason)) => Err(format!("{reason}; stopped on the way to the {place}").into()),
            Err(cancelled) => {
                self.motion.send_modify(|motion| motion.stop("cancelled"));
                self.wait_until_seen_at_rest().await;
                Err(cancelled)
            }
        }
    }

    async fn end_of_drive(&self) -> DriveEnd {
        let mut motion = self.motion.subscribe();
        let ended = motion.wait_for(|motion| motion.end().is_some()).await;
        let end = ended.ok().and_then(|motion| motion.end().cloned());
        end.unwrap_or_else(|| DriveEnd::Stopped("the wheels are gone".to_owned()))
    }

    fn begin(
        &self,
        place: &str,
        way: impl FnOnce(&World, Position) -> Option<Vec<Position>>,
    ) -> Result<FinishOnDrop, Failure> {
        let mut begun = Ok(());
        self.motion.send_modify(|motion| {
            begun = match way(&self.world, motion.position) {
                None => Err(format!("there is no way to '{place}'")),
                Some(points) => motion.begin(place, points).map_err(|goal| format!("already driving to the {goal}")),
            };
        });
        begun?;
        Ok(FinishOnDrop(Arc::clone(&self.motion)))
    }

    /// What watches the odometry sees the robot stand. The message after the next one was surely computed after the
    /// stop; if the odometry has ended, the component is being deactivated.
    async fn wait_until_seen_at_rest(&self) {
        let mut published = self.published.subscribe();
        for _ in 0..2 {
            let _ = tokio::time::timeout(TICK * 4, published.changed()).await;
        }
    }

    async fn check_battery(&self) -> Result<(), Failure> {
        if !self.context.get()?.parameters().boolean(REQUIRE_BATTERY)? {
            return Ok(());
        }
        match self.battery.get()?.within(SILENCE, FIRST_MESSAGE_PATIENCE).await {
            None => Err("the battery does not report, so the base does not drive; is the battery running?".into()),
            Some(state) if is_empty(&state) => Err("the battery is empty".into()),
            Some(_) => Ok(()),
        }
    }

    fn where_am_i(&self) -> Result<Value, Failure> {
        where_at(&self.world, self.motion.borrow().position)
    }

    /// Drives and publishes until it is dropped.
    async fn drive(self, context: ComponentContext, odometry: Publisher<Odometry>, place: Publisher<Text>) {
        let mut ticks = tokio::time::interval(TICK);
        // After a pause of the machine the robot goes on from where it was, not in a leap of many ticks.
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut last = Instant::now();
        loop {
            ticks.tick().await;
            let parameters = context.parameters();
            let speed_mps = parameters.double(SPEED).unwrap_or(self.world.base.speed_mps);
            let scale = parameters.double(TIME_SCALE).unwrap_or(self.world.time_scale);
            let needs_battery = parameters.boolean(REQUIRE_BATTERY).unwrap_or(true);
            let empty = needs_battery
                && self.battery.get().is_ok_and(|battery| battery.fresh(SILENCE).is_some_and(|state| is_empty(&state)));
            let real_s = last.elapsed().as_secs_f64();
            last = Instant::now();

            let velocity = match self.wheels.commands() {
                Commands::Places => self.drive_on(speed_mps * scale, real_s, empty),
                Commands::Velocity => {
                    let told = self.wheels.velocity(&Limits { speed_mps, turn_radps: TURN_RADPS });
                    self.roll(if empty { Velocity::STANDING } else { told }, real_s, scale)
                }
            };
            let here = message(&self.motion.borrow(), velocity, context.now());
            odometry.publish(&here);
            place.publish(&Text { data: room_at(&self.world, position(&here)) });
            self.published.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}

impl Base {
    /// Drives on along its route, and tells how fast it really went.
    fn drive_on(&self, speed_mps: f64, real_s: f64, is_empty: bool) -> Velocity {
        let mut driven_m = 0.0;
        self.motion.send_modify(|motion| {
            if is_empty {
                motion.stop("the battery is empty");
            }
            driven_m = motion.advance(speed_mps * real_s);
        });
        Velocity { forward_mps: if real_s > 0.0 { driven_m / real_s } else { 0.0 }, turn_radps: 0.0 }
    }

    /// Moves as it is told, in simulated time, and tells how fast that is in real time.
    fn roll(&self, velocity: Velocity, real_s: f64, scale: f64) -> Velocity {
        // After a pause of the machine nothing is made up for: no command counts for so long.
        let seconds = real_s.min(COMMAND_MAX_AGE.as_secs_f64()) * scale;
        self.motion.send_modify(|motion| {
            motion.roll(velocity, seconds);
        });
        Velocity { forward_mps: velocity.forward_mps * scale, turn_radps: velocity.turn_radps * scale }
    }
}

/// However a call ends, its drive does not outlive it.
struct FinishOnDrop(Arc<watch::Sender<Motion>>);

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        self.0.send_modify(Motion::finish);
    }
}

fn is_empty(state: &BatteryState) -> bool {
    // A percentage that is not known is none to drive on.
    state.percentage.is_nan() || state.percentage <= 0.0
}

fn message(motion: &Motion, velocity: Velocity, stamp: Time) -> Odometry {
    let pose = pose_message(Pose { position: motion.position, heading_rad: motion.heading_rad });
    Odometry {
        header: Header { stamp, frame_id: "odom".to_owned() },
        child_frame_id: "base_link".to_owned(),
        pose: PoseWithCovariance { pose, ..Default::default() },
        twist: TwistWithCovariance { twist: twist(velocity), ..Default::default() },
    }
}
