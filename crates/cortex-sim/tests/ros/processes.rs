//! Starting and stopping: nothing is left behind, and nothing ends in silence.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test that can't go on fails the test"
)]

use crate::support::{Caller, Process, SIM, namespace, processes_with, signal_to, wait_until};
use rustix::process::Signal;
use serde_json::json;

fn robot(test: &str) -> (Process, String) {
    let space = namespace(test);
    let robot = Process::start(SIM, &space, &[], &[]);
    robot.line("ready");
    // The robot itself and its five parts.
    assert_eq!(processes_with(&space).len(), 6);
    (robot, space)
}

cortex_ros_client::ros_tests! {
    async fn sigterm_stops_every_process_and_the_output_was_one_line() {
        for signal in [Signal::TERM, Signal::INT] {
            let (mut robot, space) = robot("sigterm");
            robot.signal(signal);
            assert!(robot.wait().success(), "{}", robot.errors());
            assert_eq!(processes_with(&space), vec![]);
            assert_eq!(robot.remaining_lines(), Vec::<String>::new());
            let log = robot.errors();
            let complaints: Vec<&str> = log.lines().filter(|line| !line.starts_with("[INFO] ")).collect();
            assert_eq!(complaints, Vec::<&str>::new());
        }
    }

    async fn a_signal_before_the_robot_is_ready_stops_it_too() {
        let space = namespace("early");
        let mut robot = Process::start(SIM, &space, &[], &[]);
        wait_until("the parts", || processes_with(&space).len() > 1);
        robot.signal(Signal::TERM);
        assert!(robot.wait().success(), "{}", robot.errors());
        assert_eq!(processes_with(&space), vec![]);
    }

    async fn a_killed_parent_leaves_no_part_behind() {
        let (mut robot, space) = robot("killed");
        robot.signal(Signal::KILL);
        robot.wait();
        wait_until("the end of the parts", || processes_with(&space).is_empty());
    }

    async fn a_part_that_hangs_is_killed() {
        let (mut robot, space) = robot("hangs");
        let (camera, _) = processes_with(&space).into_iter().find(|(_, line)| line.contains("component camera")).unwrap();
        signal_to(camera, Signal::STOP);
        robot.signal(Signal::TERM);
        assert!(robot.wait().success());
        assert!(robot.errors().contains("camera does not stop; it is killed"), "{}", robot.errors());
        assert_eq!(processes_with(&space), vec![]);
    }

    async fn a_part_that_dies_is_reported_and_the_others_live_on() {
        let (mut robot, space) = robot("dies");
        let (base, _) = processes_with(&space).into_iter().find(|(_, line)| line.contains("component base")).unwrap();
        signal_to(base, Signal::KILL);
        robot.wait_for_error("cortex-sim: base has ended (signal: 9 (SIGKILL)); it is not restarted");
        assert_eq!(processes_with(&space).len(), 5);
        robot.signal(Signal::TERM);
        assert!(robot.wait().success());
    }

    async fn a_mistake_in_the_world_is_told_once_and_nothing_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("home.toml");
        let world = cortex_sim::world::BUILT_IN.replacen("start = \"living room\"", "start = \"cellar\"", 1);
        std::fs::write(&file, world).unwrap();
        let mut robot = Process::start(SIM, &namespace("mistake"), &["--world", file.to_str().unwrap()], &[]);
        assert_eq!(robot.wait().code(), Some(1));
        assert_eq!(robot.remaining_lines(), Vec::<String>::new());
        let errors = robot.errors();
        assert!(errors.starts_with("error: ") && errors.contains("start: there is no room 'cellar'"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }

    async fn a_world_of_ones_own_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ship.toml");
        std::fs::write(
            &file,
            r#"
                start = "bridge"
                dock = "bridge"
                rooms = [{ name = "bridge", x = 0.0, y = 0.0 }, { name = "galley", x = 2.0, y = 0.0, light = "on" }]
                doors = [["bridge", "galley"]]
                base = { speed_mps = 1.0 }
                [battery]
                start_percent = 50.0
                capacity_ah = 1.0
                voltage_v = 12.0
                drain_percent_per_metre = 0.0
                drain_percent_per_second = 0.0
                charge_percent_per_second = 0.0
            "#,
        )
        .unwrap();
        let space = namespace("ship");
        let robot = Process::start(SIM, &space, &["--world", file.to_str().unwrap()], &["-p", "time_scale:=10.0"]);
        robot.line("ready");
        let arrived = Caller::start(&space).execute("base", "go_to", json!({"place": "galley"})).await;
        assert_eq!(arrived, Ok(json!("arrived in the galley")));
    }

    async fn ros_arguments_that_ros_can_not_read_are_an_error_message() {
        let mut robot = Process::start(SIM, &namespace("unreadable"), &["component", "base"], &["-r", "no:=t:=valid"]);
        assert_eq!(robot.wait().code(), Some(1));
        let errors = robot.errors();
        assert!(errors.starts_with("error: the ROS arguments can't be used") && !errors.contains("panicked"), "{errors}");
    }

    async fn a_parameter_that_does_not_fit_is_an_error_message() {
        let arguments = ["component", "base"];
        let mut base = Process::start(SIM, &namespace("unfit"), &arguments, &["-p", "speed_mps:=fast"]);
        assert_eq!(base.wait().code(), Some(1));
        let problem = "error: parameter 'speed_mps' of the component 'base': its type is double, not string";
        assert!(base.errors().contains(problem), "{}", base.errors());
    }
}
