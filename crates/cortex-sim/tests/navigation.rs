//! The navigation stack over real ROS: each part alone, and all together.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test that can't go on fails the test"
)]

mod support;

use std::time::{Duration, Instant};

use cortex_ros::r2r::QosProfile;
use cortex_ros::r2r::cortex_msgs::msg::ComponentStatus;
use cortex_ros::r2r::geometry_msgs::msg::{PoseStamped, PoseWithCovarianceStamped, Twist};
use cortex_ros::r2r::nav_msgs::msg::{OccupancyGrid, Odometry};
use cortex_ros::r2r::nav_msgs::srv::{GetMap, GetPlan};
use rustix::process::Signal;
use serde_json::json;
use support::{Caller, Messages, Process, namespace};

/// The base under a navigation stack, which then needs no battery.
const BASE: [&str; 4] = ["-p", "commands:=velocity", "-p", "require_battery:=false"];
/// How long a command counts, as the base promises it.
const COMMAND_MAX_AGE: Duration = Duration::from_millis(300);
/// What may pass on top of that until it is seen: a tick of the base, the way of the messages, a busy machine.
const SEEN_WITHIN: Duration = Duration::from_millis(250);

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

/// Publishes a command for that long, over and over.
async fn commanded(caller: &Caller, forward_mps: f64, turn_radps: f64, time: Duration) {
    let publishing = caller.publish("cmd_vel", command(forward_mps, turn_radps));
    let _ = tokio::time::timeout(time, publishing).await;
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

    fn kill(&self, part: &str) -> Instant {
        let (_, process) = self.parts.iter().find(|(name, _)| *name == part).unwrap();
        process.signal(Signal::KILL);
        Instant::now()
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

cortex_ros::ros_tests! {
    async fn a_base_obeys_velocities_within_its_limits_and_stands_when_nobody_commands_any_more() {
        let space = namespace("velocity");
        let _base = Process::part("base", &space, &BASE);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        let refused = caller.execute("base", "go_to", json!({"place": "kitchen"})).await.unwrap_err();
        assert!(refused.starts_with("the base obeys velocities"), "{refused}");

        let (moving, ()) = tokio::join!(
            odometry.until(moves),
            commanded(&caller, 99.0, 0.0, Duration::from_secs(1))
        );
        let (driven, silent) = ((moving.twist.twist.linear.x, at(&moving).1), Instant::now());
        assert_eq!(driven, (1.2, 0.0), "no faster than it can");
        odometry.until(|odometry| !moves(odometry)).await;
        // Its first messages were older.
        assert!(silent.elapsed() < COMMAND_MAX_AGE + SEEN_WITHIN, "{:?}", silent.elapsed());
        let stands = now(&mut odometry).await;
        assert!(at(&stands).0 > 0.5 && at(&stands).0 < 1.2 * 2.0, "{:?}", at(&stands));

        for nonsense in [f64::NAN, f64::INFINITY] {
            commanded(&caller, nonsense, 0.0, Duration::from_millis(300)).await;
            commanded(&caller, 0.0, nonsense, Duration::from_millis(300)).await;
        }
        let still = now(&mut odometry).await;
        assert_eq!((at(&still), moves(&still)), (at(&stands), false));
        let (turning, ()) = tokio::join!(
            odometry.until(|odometry| odometry.twist.twist.angular.z != 0.0),
            commanded(&caller, 0.0, -0.5, Duration::from_millis(500))
        );
        assert_eq!((turning.twist.twist.angular.z, at(&turning)), (-0.5, at(&stands)), "it is whole, and turns on the spot");
    }

    async fn a_base_that_is_halted_stands_until_its_driver_lets_go() {
        let space = namespace("held");
        let _base = Process::part("base", &space, &BASE);
        let caller = Caller::start(&space);
        let mut odometry = odometry(&caller).await;
        let halted = async {
            odometry.until(moves).await;
            assert_eq!(caller.execute("base", "halt", json!({})).await, Ok(json!("the robot stands")));
            let stopped = odometry.until(|odometry| !moves(odometry)).await;
            for _ in 0..20 {
                let later = odometry.next().await;
                assert_eq!((at(&later), moves(&later)), (at(&stopped), false), "although it is commanded");
            }
        };
        tokio::select! {
            () = caller.publish("cmd_vel", command(0.5, 0.0)) => {}
            () = halted => {}
        }
        tokio::time::sleep(COMMAND_MAX_AGE + SEEN_WITHIN).await;
        tokio::select! {
            () = caller.publish("cmd_vel", command(0.5, 0.0)) => {}
            _ = odometry.until(moves) => {}
        }
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
        support::within("a path", async {
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
        let driven = support::within("the drive's answer", drive).await;
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
        odometry.until(|odometry| !moves(odometry)).await;
        assert!(killed.elapsed() < COMMAND_MAX_AGE + SEEN_WITHIN, "{:?}", killed.elapsed());
        let driven = support::within("the drive's answer", drive).await;
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
        let drive = caller.begin("navigator", "go_to", r#"{"place":"bathroom"}"#).await;
        odometry.until(|odometry| odometry.twist.twist.linear.x > 0.1).await;
        stack.kill("planner");
        let driven = support::within("the drive's answer", drive).await;
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
        odometry.until(|odometry| !moves(odometry)).await;
        assert!(killed.elapsed() < COMMAND_MAX_AGE + 2 * SEEN_WITHIN, "{:?}", killed.elapsed());
    }
}
