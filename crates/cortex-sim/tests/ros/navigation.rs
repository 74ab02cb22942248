//! The navigation stack over real ROS: each part alone, and all together.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test that can't go on fails the test"
)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::{Caller, Messages, Process, namespace, repeat, within};
use cortex_ros_client::r2r::cortex_msgs::msg::ComponentStatus;
use cortex_ros_client::r2r::geometry_msgs::msg::{PoseStamped, PoseWithCovarianceStamped, Twist};
use cortex_ros_client::r2r::nav_msgs::msg::{OccupancyGrid, Odometry};
use cortex_ros_client::r2r::nav_msgs::srv::{GetMap, GetPlan};
use cortex_ros_client::r2r::{Publisher, QosProfile};
use rustix::process::Signal;
use serde_json::json;

/// The base under a navigation stack, which then needs no battery.
const BASE: [&str; 4] = ["-p", "commands:=velocity", "-p", "require_battery:=false"];
/// How long a command counts, as the base promises it.
const COMMAND_MAX_AGE: Duration = Duration::from_millis(300);
/// What the last command may take on its way, on a busy machine.
const WAY: Duration = Duration::from_millis(250);

/// Messages that a subscription keeps, at most.
const QUEUED: usize = 12;

fn at(odometry: &Odometry) -> (f64, f64) {
    (odometry.pose.pose.position.x, odometry.pose.pose.position.y)
}

fn moves(odometry: &Odometry) -> bool {
    odometry.twist.twist.linear.x != 0.0 || odometry.twist.twist.angular.z != 0.0
}

fn command(forward_mps: f64, turn_radps: f64) -> Twist {
    let mut twist = Twist::default();
    twist.linear.x = forward_mps;
    twist.angular.z = turn_radps;
    twist
}

/// Commands over and over until that has happened.
async fn commanded<T>(
    driver: &Publisher<Twist>,
    forward_mps: f64,
    turn_radps: f64,
    event: impl Future<Output = T>,
) -> T {
    tokio::select! {
        happened = event => happened,
        never = repeat(driver, command(forward_mps, turn_radps)) => match never {},
    }
}

/// When the base sent it, by its clock.
fn sent_at(odometry: &Odometry) -> SystemTime {
    let stamp = &odometry.header.stamp;
    UNIX_EPOCH + Duration::new(stamp.sec.try_into().unwrap(), stamp.nanosec)
}

/// Waits until the robot stands. For how long it still moved, by the clock of the base: whoever looks may be late.
async fn comes_to_rest(odometry: &mut Messages<Odometry>, since: SystemTime) -> (Duration, Odometry) {
    within("that the robot stands", async {
        let mut moved = Duration::ZERO;
        loop {
            let now = odometry.next().await;
            if sent_at(&now) > since && !moves(&now) {
                return (moved, now);
            }
            moved = sent_at(&now).duration_since(since).unwrap_or_default();
        }
    })
    .await
}

/// The parts of the stack, each a process of its own. The last one that is started ends first.
struct Stack {
    parts: Vec<(&'static str, Process)>,
}

impl Stack {
    fn start(space: &str) -> Self {
        Self::start_with(space, &[])
    }

    /// One that is still on its way when something happens.
    fn start_slow(space: &str) -> Self {
        Self::start_with(space, &["-p", "speed_mps:=0.2"])
    }

    fn start_with(space: &str, controller: &[&str]) -> Self {
        let own = ["-p", "require_battery:=false"];
        let start = |part: &'static str, arguments: &[&str]| (part, Process::part(part, space, arguments));
        Self {
            parts: vec![
                start("base", &BASE),
                start("map_server", &[]),
                start("localization", &[]),
                start("planner", &[]),
                start("controller", controller),
                start("navigator", &own),
            ],
        }
    }

    fn kill(&self, part: &str) -> SystemTime {
        let (_, process) = self.parts.iter().find(|(name, _)| *name == part).unwrap();
        process.signal(Signal::KILL);
        SystemTime::now()
    }
}

async fn odometry(caller: &Caller) -> Messages<Odometry> {
    caller.subscribe("odom", QosProfile::default()).await
}

/// Where the robot is now: what came before may have waited.
async fn now(odometry: &mut Messages<Odometry>) -> Odometry {
    for _ in 0..QUEUED {
        odometry.next().await;
    }
    odometry.next().await
}

cortex_ros_client::ros_tests! {
    async fn a_base_obeys_velocities_within_its_limits_and_stands_when_nobody_commands_any_more() {
        let space = namespace("velocity");
        let _base = Process::part("base", &space, &BASE);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        let refused = caller.execute("base", "go_to", json!({"place": "kitchen"})).await.unwrap_err();
        assert!(refused.starts_with("the base obeys velocities"), "{refused}");

        let driver = caller.publisher("cmd_vel").await;
        let half_a_metre = odometry.until(|odometry| at(odometry).0 > 0.5);
        let moving = commanded(&driver, 99.0, 0.0, half_a_metre).await;
        let silent = SystemTime::now();
        assert_eq!((moving.twist.twist.linear.x, at(&moving).1), (1.2, 0.0), "no faster than it can");
        let (moved, stands) = comes_to_rest(&mut odometry, silent).await;
        assert!(moved < COMMAND_MAX_AGE + WAY, "{moved:?}");
        let took = sent_at(&stands).duration_since(sent_at(&moving)).unwrap();
        assert!(at(&stands).0 - at(&moving).0 < 1.2 * (took + WAY).as_secs_f64(), "{:?} after {took:?}", at(&stands));

        for nonsense in [f64::NAN, f64::INFINITY] {
            for (forward_mps, turn_radps) in [(nonsense, 0.0), (0.0, nonsense)] {
                let still = commanded(&driver, forward_mps, turn_radps, now(&mut odometry)).await;
                assert_eq!((at(&still), moves(&still)), (at(&stands), false), "{forward_mps} {turn_radps}");
            }
        }
        let turns = odometry.until(|odometry| odometry.twist.twist.angular.z != 0.0);
        let turning = commanded(&driver, 0.0, -0.5, turns).await;
        assert_eq!((turning.twist.twist.angular.z, at(&turning)), (-0.5, at(&stands)), "it is whole, and turns on the spot");
    }

    async fn a_base_that_is_halted_stands_until_its_driver_lets_go() {
        let space = namespace("held");
        let _base = Process::part("base", &space, &BASE);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        let driver = caller.publisher("cmd_vel").await;
        let halted = async {
            odometry.until(moves).await;
            assert_eq!(caller.execute("base", "halt", json!({})).await, Ok(json!("the robot stands")));
            let stopped = odometry.until(|odometry| !moves(odometry)).await;
            for _ in 0..20 {
                let later = odometry.next().await;
                assert_eq!((at(&later), moves(&later)), (at(&stopped), false), "although it is commanded");
            }
        };
        commanded(&driver, 0.5, 0.0, halted).await;
        let forgotten = SystemTime::now() + COMMAND_MAX_AGE + WAY;
        odometry.until(|odometry| sent_at(odometry) > forgotten).await;
        commanded(&driver, 0.5, 0.0, odometry.until(moves)).await;
    }

    async fn the_map_is_told_to_whoever_comes_late_and_to_whoever_asks() {
        let space = namespace("map");
        let _server = Process::part("map_server", &space, &[]);
        let caller = Caller::start(&space);
        let latched = QosProfile::default().keep_last(1).transient_local();
        let told = caller.subscribe::<OccupancyGrid>("map", latched).await.next().await;
        assert_eq!(told.header.frame_id, "map");
        assert_eq!(told.data.len() as u64, u64::from(told.info.width) * u64::from(told.info.height));
        assert!(told.data.contains(&0) && told.data.contains(&100));
        let asked = caller.call::<GetMap::Service>("map_server/map", GetMap::Request {}).await.map;
        assert_eq!((asked.info.width, &asked.data), (told.info.width, &told.data));
        assert!(caller.change("map_server", "deactivate").await);
        let refused = caller.call::<GetMap::Service>("map_server/map", GetMap::Request {}).await.map;
        assert!(refused.data.is_empty(), "it does not serve");

        for transition in ["cleanup", "configure", "activate"] {
            assert!(caller.change("map_server", transition).await, "{transition}");
        }
        let again = caller.call::<GetMap::Service>("map_server/map", GetMap::Request {}).await.map;
        assert_eq!(again.data, told.data, "a second life");
    }

    async fn the_localization_says_so_when_the_odometry_is_silent() {
        let space = namespace("lost");
        let base = Process::part("base", &space, &BASE);
        let _localization = Process::part("localization", &space, &[]);
        let caller = Caller::start(&space);
        let mut pose = caller.subscribe::<PoseWithCovarianceStamped>("pose", QosProfile::default()).await;
        assert_eq!(pose.next().await.header.frame_id, "map");
        let latched = QosProfile::default().keep_last(1).transient_local();
        let mut status = caller.subscribe::<ComponentStatus>("localization/status", latched).await;
        drop(base);
        let told = status.until(|status| status.status != ComponentStatus::HEALTHY as u8).await;
        assert_eq!(told.status, ComponentStatus::SYSTEM as u8);
        assert_eq!(told.message, "no odometry for 2 s, so it is not known where the robot is");
        let _base = Process::part("base", &space, &BASE);
        status.until(|status| status.status == ComponentStatus::HEALTHY as u8).await;
        pose.next().await;
    }

    async fn the_planner_has_paths_only_where_the_map_has_room() {
        let space = namespace("plan");
        let _planner = Process::part("planner", &space, &[]);
        let caller = Caller::start(&space);
        let stamped = |x: f64, y: f64| {
            let mut pose = PoseStamped::default();
            pose.header.frame_id = "map".to_owned();
            (pose.pose.position.x, pose.pose.position.y) = (x, y);
            pose
        };
        let request = |goal: (f64, f64)| GetPlan::Request {
            start: stamped(0.0, 0.0),
            goal: stamped(goal.0, goal.1),
            ..GetPlan::Request::default()
        };
        let without_map = caller.call::<GetPlan::Service>("planner/get_plan", request((3.0, 1.5))).await.plan;
        assert!(without_map.poses.is_empty());
        let _server = Process::part("map_server", &space, &[]);
        within("a path", async {
            while caller.call::<GetPlan::Service>("planner/get_plan", request((3.0, 1.5))).await.plan.poses.len() != 3 {}
        }).await;
        for nowhere in [(9.0, 9.0), (f64::NAN, 0.0), (1e300, 1e300)] {
            let plan = caller.call::<GetPlan::Service>("planner/get_plan", request(nowhere)).await.plan;
            assert!(plan.poses.is_empty(), "{nowhere:?}");
        }
    }

    async fn the_stack_goes_to_places_and_halts_on_the_way() {
        let space = namespace("stack");
        let _stack = Stack::start(&space);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        assert_eq!(
            caller.execute("navigator", "go_to", json!({"place": "kitchen"})).await,
            Ok(json!("arrived in the kitchen"))
        );
        let here = caller.execute("navigator", "where_am_i", json!({})).await.unwrap();
        assert_eq!(here["place"], "kitchen", "{here}");
        let stands = now(&mut odometry).await;
        assert!((at(&stands).0 - 3.0).hypot(at(&stands).1 - 1.5) < 0.2, "{:?}", at(&stands));

        let drive = caller.begin("navigator", "go_to", r#"{"place":"bathroom"}"#).await;
        odometry.until(|odometry| odometry.twist.twist.linear.x > 0.5).await;
        let second = caller.execute("navigator", "go_to", json!({"place": "kitchen"})).await;
        assert_eq!(second, Err("already driving to the bathroom".to_owned()));
        assert_eq!(caller.execute("navigator", "halt", json!({})).await, Ok(json!("the robot stands")));
        let driven = within("the drive's answer", drive).await;
        assert_eq!((driven.success, driven.error_msg.as_str()), (false, "cancelled"));
        let stopped = odometry.until(|odometry| !moves(odometry)).await;
        for _ in 0..20 {
            assert_eq!(at(&odometry.next().await), at(&stopped));
        }
        // From between the rooms it goes on.
        assert_eq!(
            caller.execute("navigator", "go_to", json!({"place": "hallway"})).await,
            Ok(json!("arrived in the hallway"))
        );
    }

    async fn a_base_whose_controller_is_killed_stands_at_once_and_the_drive_says_why() {
        let space = namespace("driverless");
        let stack = Stack::start(&space);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        let drive = caller.begin("navigator", "go_to", r#"{"place":"bathroom"}"#).await;
        odometry.until(|odometry| odometry.twist.twist.linear.x > 0.5).await;
        let killed = stack.kill("controller");
        let (moved, _) = comes_to_rest(&mut odometry, killed).await;
        assert!(moved < COMMAND_MAX_AGE + WAY, "{moved:?}");
        let driven = within("the drive's answer", drive).await;
        assert_eq!(
            (driven.success, driven.error_msg.as_str()),
            (false, "the controller does not follow the path; stopped on the way to the bathroom")
        );
    }

    async fn a_drive_whose_planner_is_killed_ends_with_that_reason_and_the_robot_stands() {
        let space = namespace("planless");
        let stack = Stack::start_slow(&space);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        let mut drive = std::pin::pin!(caller.begin("navigator", "go_to", r#"{"place":"bathroom"}"#).await);
        tokio::select! {
            ended = &mut drive => panic!("the drive has ended before the planner was killed: {ended:?}"),
            _ = odometry.until(|odometry| odometry.twist.twist.linear.x > 0.1) => {}
        }
        stack.kill("planner");
        let driven = within("the drive's answer", drive).await;
        assert_eq!(
            (driven.success, driven.error_msg.as_str()),
            (false, "the planner does not answer; stopped on the way to the bathroom")
        );
        odometry.until(|odometry| !moves(odometry)).await;
    }

    async fn a_robot_whose_navigator_is_killed_stands() {
        let space = namespace("abandoned");
        let stack = Stack::start_slow(&space);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        let _drive = caller.begin("navigator", "go_to", r#"{"place":"bathroom"}"#).await;
        odometry.until(|odometry| odometry.twist.twist.linear.x > 0.1).await;
        let killed = stack.kill("navigator");
        let (moved, _) = comes_to_rest(&mut odometry, killed).await;
        // The controller counts a path for as long as the base counts a command, and says when it stands.
        assert!(moved < COMMAND_MAX_AGE + 2 * WAY, "{moved:?}");
    }
}
