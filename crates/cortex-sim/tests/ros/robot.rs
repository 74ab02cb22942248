//! The parts of the robot over real ROS.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test that can't go on fails the test"
)]

use std::os::unix::fs::PermissionsExt;

use crate::support::{self, Caller, Process, SIM, namespace};
use cortex_protocol::ComponentDescription;
use cortex_ros_client::r2r::builtin_interfaces::msg::Time;
use cortex_ros_client::r2r::cortex_msgs::msg::ComponentStatus;
use cortex_ros_client::r2r::nav_msgs::msg::Odometry;
use cortex_ros_client::r2r::rcl_interfaces::msg::{Parameter, ParameterType, ParameterValue};
use cortex_ros_client::r2r::rcl_interfaces::srv::SetParameters;
use cortex_ros_client::r2r::rosgraph_msgs::msg::Clock;
use cortex_ros_client::r2r::sensor_msgs::msg::BatteryState;
use cortex_ros_client::r2r::{QosProfile, std_msgs};
use rustix::process::Signal;
use serde_json::{Value, json};

/// The base alone, which then needs no battery, ten times as fast as the world.
const BASE_ALONE: [&str; 4] = ["-p", "require_battery:=false", "-p", "time_scale:=10.0"];
/// The base alone, at the world's own speed: a drive takes seconds, so that something can happen on the way.
const SLOW_BASE_ALONE: [&str; 2] = ["-p", "require_battery:=false"];

/// A folder with an `espeak-ng` that does what the script says, with its input on the standard input.
fn speech_program(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("espeak-ng");
    std::fs::write(&program, format!("#!/bin/sh\ncd {}\n{script}\n", folder.path().display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn speed_mps(odometry: &Odometry) -> f64 {
    odometry.twist.twist.linear.x
}

fn at(odometry: &Odometry) -> (f64, f64) {
    (odometry.pose.pose.position.x, odometry.pose.pose.position.y)
}

async fn set(caller: &Caller, component: &str, name: &str, value: f64) -> Result<(), String> {
    let value = ParameterValue {
        type_: ParameterType::PARAMETER_DOUBLE as u8,
        double_value: value,
        ..ParameterValue::default()
    };
    let request = SetParameters::Request { parameters: vec![Parameter { name: name.to_owned(), value }] };
    let response = caller.call::<SetParameters::Service>(&format!("{component}/set_parameters"), request).await;
    let result = response.results.first().unwrap();
    if result.successful { Ok(()) } else { Err(result.reason.clone()) }
}

cortex_ros_client::ros_tests! {
    async fn the_whole_robot_drives_looks_speaks_and_drains() {
        let space = namespace("whole");
        let robot = Process::start(SIM, &space, &[], &["-p", "time_scale:=10.0"]);
        assert_eq!(robot.line("ready"), "ready: base camera speaker light battery");
        let caller = Caller::start(&space);
        let mut odometry = caller.subscribe::<Odometry>("odom", QosProfile::default()).await;
        let mut battery = caller.subscribe::<BatteryState>("battery_state", QosProfile::default()).await;
        assert_eq!(at(&odometry.next().await), (0.0, 0.0));
        let before = battery.next().await.percentage;

        let (arrived, moving) = tokio::join!(
            caller.execute("base", "go_to", json!({"place": "kitchen"})),
            odometry.until(|odometry| speed_mps(odometry) > 1.0)
        );
        assert_eq!(arrived, Ok(json!("arrived in the kitchen")));
        assert_eq!((moving.header.frame_id.as_str(), moving.child_frame_id.as_str()), ("odom", "base_link"));
        odometry.until(|odometry| at(odometry) == (3.0, 1.5)).await;

        assert_eq!(
            caller.execute("base", "where_am_i", json!({})).await,
            Ok(json!({"place": "kitchen", "x": 3.0, "y": 1.5, "text": "I am in the kitchen."}))
        );
        // The camera learns of the arrival from the odometry, a moment later.
        let view = json!({
            "place": "kitchen",
            "sees": ["a kettle", "a table", "a red cup"],
            "text": "I see a kettle, a table and a red cup.",
        });
        while caller.execute("camera", "look", json!({})).await.unwrap()["place"] != "kitchen" {}
        assert_eq!(caller.execute("camera", "look", json!({})).await, Ok(view));
        battery.until(|state| state.percentage < before - 0.005).await;
        let level = caller.execute("battery", "level", json!({})).await.unwrap();
        assert_eq!(level["charging"], json!(false), "{level}");
        assert_eq!(
            caller.execute("speaker", "say", json!({"text": "-f /etc/passwd; $(reboot)"})).await,
            Ok(json!("said: -f /etc/passwd; $(reboot)"))
        );
        assert_eq!(
            caller.execute("light", "turn_on", json!({})).await,
            Ok(json!("The light in the kitchen is on")),
            "the room where the robot is"
        );
    }

    async fn every_part_describes_itself_so_that_nothing_is_left_out() {
        let space = namespace("describe");
        for (part, methods) in [
            ("base", vec!["go_to", "where_am_i", "halt"]),
            ("camera", vec!["look"]),
            ("speaker", vec!["say", "quiet"]),
            ("light", vec!["turn_on", "turn_off", "is_on"]),
            ("battery", vec!["level"]),
            ("vision", vec!["answer", "is_there", "count"]),
            ("navigator", vec!["go_to", "where_am_i", "halt"]),
            ("map_server", vec![]),
        ] {
            let _process = Process::part(part, &space, &[]);
            let caller = Caller::start(&space);
            let (description, problems) = ComponentDescription::parse(&caller.describe(part).await).unwrap();
            assert_eq!(problems, vec![]);
            assert_eq!(description.methods.iter().map(|method| method.name.as_str()).collect::<Vec<_>>(), methods);
        }
    }

    async fn halt_in_the_middle_of_a_drive_ends_at_rest() {
        let space = namespace("halt");
        let _base = Process::part("base", &space, &SLOW_BASE_ALONE);
        let caller = Caller::start(&space);
        let mut odometry = caller.subscribe::<Odometry>("odom", QosProfile::default()).await;
        let drive = caller.begin("base", "go_to", r#"{"place":"bedroom"}"#).await;
        odometry.until(|odometry| speed_mps(odometry) > 0.5 && at(odometry).0 > 0.1).await;

        let second = caller.execute("base", "go_to", json!({"place": "kitchen"})).await;
        assert_eq!(second, Err("already driving to the bedroom".to_owned()));

        assert_eq!(caller.execute("base", "halt", json!({})).await, Ok(json!("the robot stands")));
        let driven = support::within("the drive's answer", drive).await;
        assert_eq!((driven.success, driven.error_msg.as_str()), (false, "cancelled"));
        let stopped = odometry.until(|odometry| speed_mps(odometry) == 0.0).await;
        assert!(at(&stopped).0 < 2.0, "before the hallway: {:?}", at(&stopped));
        for _ in 0..5 {
            let later = odometry.next().await;
            assert_eq!((at(&later), speed_mps(&later)), (at(&stopped), 0.0));
        }
        // From between the rooms it goes on.
        assert_eq!(set(&caller, "base", "time_scale", 50.0).await, Ok(()));
        let arrived = caller.execute("base", "go_to", json!({"place": "kitchen"})).await;
        assert_eq!(arrived, Ok(json!("arrived in the kitchen")));
    }

    async fn a_component_that_is_not_active_refuses_and_the_standard_services_walk_it() {
        let space = namespace("lifecycle");
        let ros_arguments = [&BASE_ALONE[..], &["-p", "autostart:=false"]].concat();
        let _base = Process::part("base", &space, &ros_arguments);
        let caller = Caller::start(&space);
        let status = QosProfile::default().keep_last(1).transient_local();
        let mut status = caller.subscribe::<ComponentStatus>("base/status", status).await;
        assert_eq!(status.next().await.message, "the component is unconfigured");

        let go = json!({"place": "kitchen"});
        let refused = |state: &str| Err(format!("the component is {state}"));
        assert_eq!(caller.execute("base", "go_to", go.clone()).await, refused("unconfigured"));
        assert!(!caller.change("base", "activate").await, "not before it is configured");
        assert!(caller.change("base", "configure").await);
        assert_eq!(caller.execute("base", "go_to", go.clone()).await, refused("inactive"));
        assert_eq!(caller.execute("base", "halt", json!({})).await, Ok(Value::Null), "a halt is always served");
        assert!(caller.change("base", "activate").await);
        assert_eq!(caller.state("base").await, "active");
        status.until(|status| status.message.is_empty()).await;
        assert_eq!(caller.execute("base", "go_to", go.clone()).await, Ok(json!("arrived in the kitchen")));
        assert!(caller.change("base", "deactivate").await);
        assert!(caller.change("base", "cleanup").await);
        assert_eq!(caller.state("base").await, "unconfigured");

        assert!(caller.change("base", "configure").await, "a second life");
        assert!(caller.change("base", "activate").await);
        let mut odometry = caller.subscribe::<Odometry>("odom", QosProfile::default()).await;
        assert_eq!(at(&odometry.next().await), (3.0, 1.5));
        assert!(caller.change("base", "shutdown").await);
        assert_eq!(caller.state("base").await, "finalized");
        assert!(!caller.change("base", "configure").await, "the end is the end");
    }

    async fn deactivating_in_the_middle_of_a_drive_cancels_it() {
        let space = namespace("deactivate");
        let _base = Process::part("base", &space, &SLOW_BASE_ALONE);
        let caller = Caller::start(&space);
        let mut odometry = caller.subscribe::<Odometry>("odom", QosProfile::default()).await;
        let drive = caller.begin("base", "go_to", r#"{"place":"bedroom"}"#).await;
        odometry.until(|odometry| speed_mps(odometry) > 0.5).await;
        assert!(caller.change("base", "deactivate").await);
        let driven = support::within("the drive's answer", drive).await;
        assert_eq!((driven.success, driven.error_msg.as_str()), (false, "cancelled"));
    }

    async fn a_component_that_is_stopped_in_the_middle_of_a_drive_still_answers() {
        let space = namespace("stopped");
        let mut base = Process::part("base", &space, &SLOW_BASE_ALONE);
        let caller = Caller::start(&space);
        let mut odometry = caller.subscribe::<Odometry>("odom", QosProfile::default()).await;
        let drive = caller.begin("base", "go_to", r#"{"place":"bedroom"}"#).await;
        odometry.until(|odometry| speed_mps(odometry) > 0.5).await;
        base.signal(Signal::TERM);
        let driven = support::within("the drive's answer", drive).await;
        assert_eq!((driven.success, driven.error_msg.as_str()), (false, "cancelled"));
        assert!(base.wait().success());
    }

    async fn garbage_over_the_wire_is_answered_with_what_is_wrong() {
        let space = namespace("garbage");
        let _base = Process::part("base", &space, &BASE_ALONE);
        let caller = Caller::start(&space);
        let table = [
            ("go_to", "{\"place\":", "the arguments are not JSON"),
            ("go_to", "{\"place\":\"cellar\"}", "the arguments do not fit: place: \"cellar\" is not one of"),
            ("go_to", "{\"place\":7}", "the arguments do not fit"),
            ("go_to", "", "\"place\" is a required property"),
            ("fly", "{}", "there is no method 'fly'; there are: go_to, halt, where_am_i"),
            ("", "", "there is no method ''"),
        ];
        for (method, arguments, problem) in table {
            let answer = support::within(method, caller.begin("base", method, arguments).await).await;
            assert!(!answer.success && answer.error_msg.contains(problem), "{method} {arguments}: {answer:?}");
        }
    }

    async fn parameters_are_typed_and_bounded() {
        let space = namespace("parameters");
        let _base = Process::part("base", &space, &BASE_ALONE);
        let caller = Caller::start(&space);
        assert_eq!(set(&caller, "base", "speed_mps", 2.5).await, Ok(()));
        assert_eq!(
            set(&caller, "base", "speed_mps", 250.0).await,
            Err("'speed_mps': it must be from 0.05 to 10".to_owned())
        );
        assert_eq!(set(&caller, "base", "autostart", 1.0).await, Err("'autostart' can only be given at start: --ros-args -p NAME:=VALUE".to_owned()));
        assert_eq!(
            set(&caller, "base", "sped_mps", 1.0).await,
            Err("there is no parameter 'sped_mps'; there are: autostart, commands, require_battery, speed_mps, \
                 time_scale, use_sim_time"
                .to_owned())
        );
    }

    async fn simulated_time_stamps_the_messages() {
        let space = namespace("clock");
        let ros_arguments = [&BASE_ALONE[..], &["-p", "use_sim_time:=true"]].concat();
        let _base = Process::part("base", &space, &ros_arguments);
        let caller = Caller::start(&space);
        let mut odometry = caller.subscribe::<Odometry>("odom", QosProfile::default()).await;
        assert_eq!(odometry.next().await.header.stamp, Time { sec: 0, nanosec: 0 }, "no time yet");
        let time = Time { sec: 42, nanosec: 7 };
        let ticking = caller.publish("/clock", Clock { clock: time.clone() });
        let told = odometry.until(|odometry| odometry.header.stamp.sec > 0);
        tokio::select! {
            () = ticking => {}
            told = told => assert_eq!(told.header.stamp, time),
        }
    }

    async fn an_empty_battery_stops_the_robot() {
        let space = namespace("empty");
        let _base = Process::part("base", &space, &["-p", "speed_mps:=0.1"]);
        let caller = Caller::start(&space);
        let go = json!({"place": "kitchen"});
        assert_eq!(
            caller.execute("base", "go_to", go.clone()).await,
            Err("the battery does not report, so the base does not drive; is the battery running?".to_owned())
        );
        let _battery = Process::part("battery", &space, &[]);
        let mut battery = caller.subscribe::<BatteryState>("battery_state", QosProfile::default()).await;
        let state = battery.next().await;
        assert!((0.8..0.9).contains(&state.percentage), "{}", state.percentage);

        let mut odometry = caller.subscribe::<Odometry>("odom", QosProfile::default()).await;
        let drive = caller.begin("base", "go_to", r#"{"place":"kitchen"}"#).await;
        odometry.until(|odometry| speed_mps(odometry) > 0.0).await;
        assert_eq!(set(&caller, "battery", "percent", 0.0).await, Ok(()));
        let driven = support::within("the drive's answer", drive).await;
        assert_eq!(
            (driven.success, driven.error_msg.as_str()),
            (false, "the battery is empty; stopped on the way to the kitchen")
        );
        assert_eq!(caller.execute("base", "go_to", go).await, Err("the battery is empty".to_owned()));
    }

    async fn the_camera_says_so_when_nobody_tells_it_where_the_robot_is() {
        let space = namespace("blind");
        let _camera = Process::part("camera", &space, &[]);
        let caller = Caller::start(&space);
        assert_eq!(
            caller.execute("camera", "look", json!({})).await,
            Err("no odometry for more than 2 s, so it is not known where the robot is; is the base running?".to_owned())
        );
        let base = Process::part("base", &space, &[]);
        assert_eq!(caller.execute("camera", "look", json!({})).await.unwrap()["place"], "living room");
        drop(base);
        // Its last message ages.
        while caller.execute("camera", "look", json!({})).await.is_ok() {}
    }

    async fn the_vision_answers_from_what_the_camera_shows_now_and_says_what_it_can_t_tell() {
        let space = namespace("vision");
        let _vision = Process::part("vision", &space, &[]);
        let caller = Caller::start(&space);
        let is_there = async |thing: &str| caller.execute("vision", "is_there", json!({ "thing": thing })).await;
        assert_eq!(
            is_there("cat").await,
            Err("the camera shows nothing, so there is nothing to answer from; is it running?".to_owned())
        );
        let _base = Process::part("base", &space, &BASE_ALONE);
        let camera = Process::part("camera", &space, &[]);
        let no = json!({"known": true, "text": "No, I see no cat in the living room."});
        assert_eq!(is_there("a cat").await, Ok(no));
        assert_eq!(caller.execute("base", "go_to", json!({"place": "bedroom"})).await, Ok(json!("arrived in the bedroom")));
        let yes = json!({"known": true, "text": "Yes, I see a sleeping cat."});
        // The camera learns of the arrival from the odometry, a moment later.
        support::within("the cat", async { while is_there("a cat").await != Ok(yes.clone()) {} }).await;
        let answer = caller.execute("vision", "answer", json!({"question": "Is the cat hungry?"})).await.unwrap();
        assert_eq!(answer["known"], json!(false), "{answer}");
        let count = caller.execute("vision", "count", json!({"things": "lamps"})).await.unwrap();
        assert_eq!(count["text"], "I see one: a lamp.");
        camera.signal(Signal::KILL);
        assert!(is_there("a cat").await.unwrap_err().starts_with("the camera shows nothing"), "what it showed is old");
    }

    async fn lights_are_switched_by_room_and_their_state_is_published() {
        let space = namespace("light");
        let _light = Process::part("light", &space, &[]);
        let caller = Caller::start(&space);
        let latched = QosProfile::default().keep_last(1).transient_local();
        let mut state = caller.subscribe::<std_msgs::msg::String>("light/state", latched).await;
        let lights = |message: std_msgs::msg::String| serde_json::from_str::<Value>(&message.data).unwrap();
        assert_eq!(
            lights(state.next().await),
            json!({"bathroom": false, "bedroom": false, "hallway": false, "kitchen": false, "living room": true})
        );
        assert_eq!(
            caller.execute("light", "turn_on", json!({"room": "bedroom"})).await,
            Ok(json!("The light in the bedroom is on"))
        );
        assert_eq!(lights(state.next().await)["bedroom"], json!(true));
        assert_eq!(
            caller.execute("light", "is_on", json!({"room": "everywhere"})).await.unwrap()["on"],
            json!(["bedroom", "living room"])
        );
        caller.execute("light", "turn_off", json!({"room": "everywhere"})).await.unwrap();
        assert_eq!(
            caller.execute("light", "is_on", json!({"room": "bedroom"})).await,
            Ok(json!({"on": [], "off": ["bedroom"], "text": "The light in the bedroom is off."}))
        );
        let no_light = caller.execute("light", "turn_on", json!({"room": "office"})).await.unwrap_err();
        assert!(no_light.contains("room: \"office\" is not one of"), "{no_light}");
    }

    async fn the_speech_program_gets_the_text_as_its_input_only() {
        let space = namespace("aloud");
        let folder = speech_program("echo \"$@\" > arguments; cat > spoken");
        let _speaker = Process::part_with_program("speaker", &space, folder.path());
        let caller = Caller::start(&space);
        let text = "--help; $(touch broken) `reboot` \"ü\"";
        assert_eq!(caller.execute("speaker", "say", json!({"text": text})).await, Ok(json!(format!("said: {text}"))));
        let written = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
        assert_eq!(written("spoken").as_deref(), Some(text));
        assert_eq!(written("arguments").as_deref(), Some("--stdin\n"));
        assert_eq!(written("broken"), None);
    }

    async fn quiet_kills_the_speech_program() {
        let space = namespace("killed");
        let folder = speech_program("echo $$ > pid.new; mv pid.new pid; exec sleep 1000");
        let _speaker = Process::part_with_program("speaker", &space, folder.path());
        let caller = Caller::start(&space);
        let speech = caller.begin("speaker", "say", r#"{"text":"once upon a time"}"#).await;
        let pid = folder.path().join("pid");
        support::wait_until("the speech", || pid.exists());
        let pid: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
        assert_eq!(caller.execute("speaker", "quiet", json!({})).await, Ok(json!("quiet")));
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "it is gone when quiet answers");
        assert_eq!(support::within("the answer", speech).await.error_msg, "cancelled");
    }

    async fn a_speech_program_that_fails_is_a_problem_outside_of_the_speaker() {
        let space = namespace("mute");
        let folder = speech_program("exit 3");
        let _speaker = Process::part_with_program("speaker", &space, folder.path());
        let caller = Caller::start(&space);
        let latched = QosProfile::default().keep_last(1).transient_local();
        let mut status = caller.subscribe::<ComponentStatus>("speaker/status", latched).await;
        assert_eq!(caller.execute("speaker", "say", json!({"text": "hi"})).await, Ok(json!("said: hi")));
        let told = status.until(|status| status.status != ComponentStatus::HEALTHY as u8).await;
        assert_eq!(
            (told.status, told.message.as_str()),
            (ComponentStatus::SYSTEM as u8, "espeak-ng does not speak: exit status: 3")
        );
    }

    async fn quiet_ends_what_is_being_said() {
        let space = namespace("quiet");
        // A hundred times as slow, so that what is said lasts.
        let _speaker = Process::part("speaker", &space, &["-p", "time_scale:=0.01"]);
        let caller = Caller::start(&space);
        let speech = caller.begin("speaker", "say", &json!({"text": "blah ".repeat(80)}).to_string()).await;
        assert_eq!(caller.execute("speaker", "quiet", json!({})).await, Ok(json!("quiet")));
        let said = support::within("the answer", speech).await;
        assert_eq!((said.success, said.error_msg.as_str()), (false, "cancelled"));
        let too_long = caller.execute("speaker", "say", json!({"text": "x".repeat(501)})).await.unwrap_err();
        assert!(too_long.contains("longer than 500 characters"), "{too_long}");
    }
}
