//! The wheels: drives from room to room at a finite speed and publishes its odometry and the room that it is in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_component::r2r::geometry_msgs::msg::{
    Point, Pose, PoseWithCovariance, Quaternion, Twist, TwistWithCovariance, Vector3,
};
use cortex_component::r2r::nav_msgs::msg::Odometry;
use cortex_component::r2r::sensor_msgs::msg::BatteryState;
use cortex_component::r2r::std_msgs::msg::{Header, String as Text};
use cortex_component::r2r::{QosProfile, builtin_interfaces::msg::Time};
use cortex_component::{
    CallContext, Component, ComponentContext, Condition, Effect, Failure, Latest, Method, NoArguments, Parameter,
    Publisher, Slot, Source, Test, ToolPhase,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::place::position;
use super::{BATTERY_TOPIC, FIRST_MESSAGE_PATIENCE, ODOMETRY_TOPIC, SILENCE, TIME_SCALE, time_scale};
use crate::motion::{DriveEnd, Motion};
use crate::route::route;
use crate::world::World;

/// How often the wheels turn on and the odometry is published.
const TICK: Duration = Duration::from_millis(50);
/// Longest a drive may take.
const DRIVE_TIMEOUT: Duration = Duration::from_secs(120);

/// The topic with the room that the robot is in, below the node.
const PLACE_TOPIC: &str = "~/place";
/// The robot is in a room when it is this near to its middle, in metres; else it is on the way.
const IN_ROOM_M: f64 = 0.5;
/// How long after a drive it may take until the robot is seen in the room.
const SEEN_WITHIN: Duration = Duration::from_secs(2);

const SPEED: &str = "speed_mps";
const REQUIRE_BATTERY: &str = "require_battery";

#[derive(Deserialize)]
struct GoTo {
    place: String,
}

#[derive(Clone)]
struct Base {
    world: Arc<World>,
    motion: Arc<watch::Sender<Motion>>,
    /// Counts the published odometry messages.
    published: Arc<watch::Sender<u64>>,
    odometry: Slot<Publisher<Odometry>>,
    place: Slot<Publisher<Text>>,
    battery: Slot<Latest<BatteryState>>,
    context: Slot<ComponentContext>,
}

pub(super) fn component(world: Arc<World>) -> Component {
    let start = world.room(&world.start).map(|room| room.position()).unwrap_or_default();
    let base = Base {
        motion: Arc::new(watch::Sender::new(Motion::at(start))),
        published: Arc::new(watch::Sender::new(0)),
        odometry: Slot::default(),
        place: Slot::default(),
        battery: Slot::default(),
        context: Slot::default(),
        world,
    };
    let (configured, activated) = (base.clone(), base.clone());
    Component::new("base")
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
        .method(go_to(&base))
        .method(where_am_i(&base))
        .method(halt())
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
        })
}

fn go_to(base: &Base) -> Method {
    let schema = json!({
        "type": "object",
        "properties": {"place": base.world.room_schema("The room to drive to.")},
        "required": ["place"],
        "additionalProperties": false,
    });
    let base = base.clone();
    Method::new("go_to", "Drives to a room of the home and returns when the robot has arrived there.")
        .parameters_schema::<GoTo>(schema)
        .effect(Effect::Move)
        .timeout(DRIVE_TIMEOUT)
        .cancelled_by("halt")
        .during(has_power())
        .after(Condition::that(Source::topic(PLACE_TOPIC, "data"), Test::Equal(json!("{place}"))), SEEN_WITHIN)
        .phrase("go to {place}")
        .phrase("drive to {place}")
        .phrase("move to {place}")
        .phrase("head to {place}")
        .phrase("come to {place}")
        .phrase("go into {place}")
        .run(move |arguments, call| {
            let base = base.clone();
            async move { base.go_to(arguments, call).await }
        })
}

/// That the battery is not empty, unless the base drives without one.
fn has_power() -> Condition {
    let is_not_empty = Condition::that(Source::topic(BATTERY_TOPIC, "percentage"), Test::Greater(json!(0)));
    let needs_none = Condition::that(Source::parameter(format!("~/{REQUIRE_BATTERY}")), Test::Equal(json!(false)));
    Condition::Or(vec![is_not_empty.seen_within(SILENCE), needs_none.seen_within(SILENCE)])
}

fn where_am_i(base: &Base) -> Method {
    let base = base.clone();
    Method::new("where_am_i", "Tells in which room the robot is, and its position in metres.")
        .phase(ToolPhase::Both)
        .effect(Effect::Observe)
        .phrase("where are you")
        .phrase("where am i")
        .phrase("where is the robot")
        .phrase("which room are you in")
        .run(move |_: NoArguments, _| std::future::ready(base.where_am_i()))
}

fn halt() -> Method {
    Method::new("halt", "Stops the robot where it is. Returns when it stands.")
        .effect(Effect::Act)
        .holds_nothing()
        .phrase("halt")
        .phrase("stop driving")
        .run(|_: NoArguments, _| std::future::ready(Ok("the robot stands")))
}

impl Base {
    async fn configure(&self, context: ComponentContext) -> Result<(), Failure> {
        self.odometry.put(context.publisher(ODOMETRY_TOPIC, QosProfile::default()).await?);
        self.place.put(context.publisher(PLACE_TOPIC, QosProfile::default()).await?);
        self.battery.put(context.latest(BATTERY_TOPIC, QosProfile::default()).await?);
        self.context.put(context);
        Ok(())
    }

    async fn go_to(&self, GoTo { place }: GoTo, call: CallContext) -> Result<String, Failure> {
        call.or_cancelled(self.check_battery()).await??;
        let _finishes_when_dropped = self.begin(&place)?;
        match call.or_cancelled(self.end_of_drive()).await {
            Ok(DriveEnd::Arrived) => Ok(format!("arrived in the {place}")),
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

    fn begin(&self, place: &str) -> Result<FinishOnDrop, Failure> {
        let mut begun = Ok(());
        self.motion.send_modify(|motion| {
            begun = match route(&self.world, motion.position, place) {
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
        let position = self.motion.borrow().position;
        let room = self.world.nearest(position).ok_or("the world has no rooms")?;
        Ok(json!({
            "place": room.name,
            "x": round(position.x_m),
            "y": round(position.y_m),
            "text": format!("I am in the {}.", room.name),
        }))
    }

    /// The room that the odometry says the robot is in. Empty between rooms.
    fn room_at(&self, odometry: &Odometry) -> String {
        let here = position(odometry);
        let room = self.world.nearest(here).filter(|room| room.position().distance_m(here) <= IN_ROOM_M);
        room.map(|room| room.name.clone()).unwrap_or_default()
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

            let mut driven_m = 0.0;
            self.motion.send_modify(|motion| {
                if empty {
                    motion.stop("the battery is empty");
                }
                driven_m = motion.advance(speed_mps * real_s * scale);
            });
            let driven_mps = if real_s > 0.0 { driven_m / real_s } else { 0.0 };
            let here = message(&self.motion.borrow(), driven_mps, context.now());
            odometry.publish(&here);
            place.publish(&Text { data: self.room_at(&here) });
            self.published.send_modify(|count| *count = count.wrapping_add(1));
        }
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

fn round(metres: f64) -> f64 {
    (metres * 100.0).round() / 100.0
}

fn message(motion: &Motion, forward_mps: f64, stamp: Time) -> Odometry {
    let half_rad = motion.heading_rad / 2.0;
    Odometry {
        header: Header { stamp, frame_id: "odom".to_owned() },
        child_frame_id: "base_link".to_owned(),
        pose: PoseWithCovariance {
            pose: Pose {
                position: Point { x: motion.position.x_m, y: motion.position.y_m, z: 0.0 },
                orientation: Quaternion { x: 0.0, y: 0.0, z: half_rad.sin(), w: half_rad.cos() },
            },
            ..Default::default()
        },
        twist: TwistWithCovariance {
            twist: Twist { linear: Vector3 { x: forward_mps, y: 0.0, z: 0.0 }, ..Default::default() },
            ..Default::default()
        },
    }
}
