//! Cortex as a managed node: somebody else configures, activates, pauses and ends it, as Nav2's lifecycle manager does.

use cortex_protocol::overview::ReadinessState;
use cortex_stories::{Process, TestRobot, finish_send, wait_until_under_way};
use serde_json::{Value, json};

/// A Cortex that waits for a manager, and the manager.
async fn managed(test_robot: &mut TestRobot, arguments: &[&str]) -> (Process, Process) {
    let arguments = [&["run"], arguments, &["--ros-args", "-p", "autostart:=false"]].concat();
    let mut cortex = test_robot.spawn("cortex", &arguments);
    cortex.wait_for_line("waiting: /cortex is unconfigured").await;
    let mut manager = test_robot.spawn_python("lifecycle_manager.py", &["/cortex"]);
    manager.wait_for_line("ready").await;
    (cortex, manager)
}

/// The second one refused the task that the first carried out, and a stop was answered by either.
#[tokio::test]
async fn regression_two_cortexes_of_one_name_both_took_each_task() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_cortex(&[]).await;
    let first = test_robot.process("cortex").id();
    for arguments in [&["run"][..], &["run", "--ros-args", "-p", "autostart:=false"]] {
        let (code, said, problem) = test_robot.run("cortex", arguments).await;
        assert_eq!((code, said.contains("ready") || said.contains("waiting")), (Some(2), false), "{said}\n{problem}");
        let told = format!("another Cortex is /cortex already: process {first} on the machine '");
        assert!(problem.contains(&told), "{problem}");
    }
    // Another name is another Cortex.
    test_robot.start("other", "cortex", &["run", "--ros-args", "-r", "__node:=other"]).await;
    let (_, told, _) = test_robot.run("cortex", &["doctor"]).await;
    assert!(told.contains(&format!("/cortex runs: process {first} on the machine '")), "{told}");
    assert!(told.contains("/other runs: process "), "{told}");
    let sent = test_robot.send("hello").await;
    assert!(sent.output().starts_with("Nothing that could be done is discovered"), "the first one goes on: {sent:#?}");
}

#[tokio::test]
async fn of_two_cortexes_that_start_at_once_exactly_one_becomes_active() {
    let test_robot = TestRobot::empty();
    let (mut one, mut other) = (test_robot.spawn("cortex", &["run"]), test_robot.spawn("cortex", &["run"]));
    let (code, ended, mut left) = tokio::select! {
        code = one.wait() => (code, one, other),
        code = other.wait() => (code, other, one),
    };
    assert_eq!(code, Some(2), "{}", ended.stderr().join("\n"));
    assert!(ended.stderr().join("\n").contains(&format!("process {} on the machine '", left.id())));
    assert_eq!(ended.stdout(), Vec::<String>::new(), "it was never active");
    left.wait_for_line("ready: reflex takes tasks at /cortex/task").await;
}

/// The graph lists a killed process for some 20 s.
#[tokio::test]
async fn a_cortex_that_was_killed_does_not_lock_out_the_next_one() {
    let mut test_robot = announced_often();
    test_robot.start_cortex(&[]).await;
    let killed = test_robot.process("cortex");
    killed.signal("KILL");
    assert_eq!(killed.wait().await, None);
    test_robot.start("next", "cortex", &["run"]).await;
    let sent = test_robot.send("hello").await;
    assert!(sent.output().starts_with("Nothing that could be done is discovered"), "{sent:#?}");
}

/// As when a network is joined again: both serve by then.
#[tokio::test]
async fn a_cortex_that_finds_an_earlier_one_late_halts_what_it_began_and_ends() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut driving = test_robot.begin_send("go to the bathroom");
    wait_until_under_way(&mut driving).await;
    test_robot.start_python("twin", "twin.py", &["earlier"]).await;
    let halted = finish_send(driving).await;
    assert_eq!((halted.status(), halted.words()), ("cancelled", "Cortex is shutting down."), "{halted:#?}");
    assert_eq!(halted.step(1)["outcome"]["halt"], "halted", "{halted:#?}");
    let cortex = test_robot.process("cortex");
    assert_eq!(cortex.wait().await, Some(1));
    let told = "another Cortex is /cortex already: process 12345 on the machine 'elsewhere'";
    assert!(cortex.stderr().join("\n").contains(told), "{}", cortex.stderr().join("\n"));
}

#[tokio::test]
async fn regression_a_client_talked_to_either_of_two_cortexes_of_one_name() {
    let mut test_robot = announced_often();
    test_robot.start_cortex(&[]).await;
    let first = test_robot.process("cortex").id();
    // One that does not yield, such as one that is not of this version.
    test_robot.start_python("twin", "twin.py", &["later"]).await;
    let both = |told: &str| {
        told.contains("2 Cortexes are named /cortex: ")
            && told.contains(&format!("process {first} on the machine '"))
            && told.contains("process 12345 on the machine 'elsewhere'")
    };
    let (code, told, problem) = test_robot.run("cortex", &["doctor"]).await;
    assert_eq!(code, Some(1), "{told}{problem}");
    assert!(told.lines().any(|line| line.starts_with("FAIL  Cortex: ") && both(line)), "{told}");
    for command in [&["send", "hello"][..], &["resume"]] {
        let (code, told, problem) = test_robot.run("cortex", command).await;
        assert_eq!(code, Some(2), "{command:?}: {told}{problem}");
        assert!(both(&problem) && problem.contains("nothing was"), "{command:?}: {problem}");
    }
    // A stop goes to both, whatever is known of them.
    let (code, told, problem) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(1), "{told}{problem}");
    assert!(both(&problem) && problem.contains("each was told to stop"), "{problem}");
    assert!(!test_robot.process("cortex").has_ended(), "the one that was there first goes on");
}

/// A test robot in which every process announces itself each half a second, the twin too, as each Cortex does by itself. Others
/// are found only after up to 3 s, and nobody waits so long for one of whom nothing is known.
fn announced_often() -> TestRobot {
    let mut test_robot = TestRobot::empty();
    let profile = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/fastdds_loopback.xml");
    test_robot.add_environment("FASTRTPS_DEFAULT_PROFILES_FILE", profile.to_string_lossy().into_owned());
    test_robot.add_environment("ROS_AUTOMATIC_DISCOVERY_RANGE", "SYSTEM_DEFAULT".to_owned());
    test_robot
}

/// What came of a command; each is given once.
async fn command(manager: &mut Process, text: &str) -> Value {
    manager.write_line(text).await;
    let mut answer = manager.wait_for_json(text, |line| line["command"] == text).await;
    answer.as_object_mut().map(|fields| fields.remove("command"));
    answer
}

#[tokio::test]
async fn a_manager_starts_pauses_resumes_and_ends_cortex() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &["--ros-args", "-p", "speed_mps:=0.1"]).await;
    let (mut cortex, mut manager) = managed(&mut test_robot, &[]).await;
    let early = test_robot.send("go to the bathroom").await;
    assert!(early.output().contains("its lifecycle is unconfigured"), "{}", early.output());
    assert_eq!(early.started(), Vec::<&str>::new());

    assert_eq!(command(&mut manager, "startup").await, json!({"done": true, "state": "active"}));
    cortex.wait_for_line("ready: reflex takes tasks at /cortex/task").await;
    let mut driving = test_robot.begin_send("go to the bathroom");
    driving.wait_for_json("the start of a step", |line| line["type"] == "cortex.step.started").await;
    assert_eq!(command(&mut manager, "pause").await, json!({"done": true, "state": "inactive"}));
    let halted = finish_send(driving).await;
    assert_eq!((halted.status(), halted.words()), ("cancelled", "The robot was stopped."));
    let refused = test_robot.send("say hello").await;
    assert!(refused.output().contains("its lifecycle is inactive"), "{}", refused.output());

    assert_eq!(command(&mut manager, "resume").await, json!({"done": true, "state": "active"}));
    let said = test_robot.send("say hello").await;
    assert_eq!(said.status(), "succeeded", "nothing holds it back: {}", said.output());

    let told = command(&mut manager, "events").await;
    assert_eq!((&told["graph"], &told["states"]), (&json!(25), &json!(11)));
    assert_eq!(told["available"], json!(["deactivate", "shutdown"]));
    let events: Vec<&str> = told["events"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(
        events,
        [
            "unconfigured configure configuring",
            "configuring transition_success inactive",
            "inactive activate activating",
            "activating transition_success active",
            "active deactivate deactivating",
            "deactivating transition_success inactive",
            "inactive activate activating",
            "activating transition_success active",
        ]
    );
    assert_eq!(command(&mut manager, "shutdown").await, json!({"done": true}));
    assert_eq!(cortex.wait().await, Some(0), "{}", cortex.stderr().join("\n"));
}

/// Diagnostics, the status and the doctor told nothing of the lifecycle.
#[tokio::test]
async fn regression_a_cortex_that_is_not_active_is_seen_everywhere_with_what_to_do() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_python("listener", "diagnostics.py", &[]).await;
    let (_cortex, mut manager) = managed(&mut test_robot, &[]).await;
    let is_seen = async |test_robot: &mut TestRobot, state: &str, fix: &str| {
        let told = test_robot.status_until(state, |overview| overview.lifecycle == state).await;
        let is_active = state == "active";
        assert_eq!(told.readiness.state == ReadinessState::Ready, is_active, "{:?}", told.readiness);
        let entry = |message: &Value, name: &str, wanted: &str| {
            let mut entries = message["entries"].as_array().into_iter().flatten();
            let level = u8::from(!is_active);
            entries.any(|entry| entry["name"] == name && entry["level"] == level && is_in(&entry["message"], wanted))
        };
        let is_told = |message: &Value| {
            let tasks = if is_active { "takes tasks" } else { state };
            entry(message, "cortex: lifecycle", state) && entry(message, "cortex: tasks", tasks)
        };
        let what = format!("diagnostics that say {state}");
        test_robot.process("listener").wait_for_json(&what, is_told).await;
        let (_, screen, _) = test_robot.run("cortex", &["status"]).await;
        assert!(screen.contains(&format!("/cortex of robot, {state}, up ")), "{screen}");
        let (code, found, _) = test_robot.run("cortex", &["doctor"]).await;
        let line = found.lines().next().unwrap_or_default();
        assert!(
            line.starts_with(if is_active { "ok    tasks: /cortex takes tasks" } else { "FAIL  tasks: " }),
            "{found}"
        );
        assert!(is_active || (code == Some(1) && line.contains(&format!("its lifecycle is {state}"))), "{found}");
        assert!(found.contains(fix), "{found}");
    };
    is_seen(&mut test_robot, "unconfigured", "-> run `ros2 lifecycle set /cortex configure` and `ros2").await;
    assert_eq!(command(&mut manager, "startup").await["state"], "active");
    is_seen(&mut test_robot, "active", "").await;
    assert_eq!(command(&mut manager, "pause").await["state"], "inactive");
    is_seen(&mut test_robot, "inactive", "-> run `ros2 lifecycle set /cortex activate`").await;
}

fn is_in(text: &Value, wanted: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(wanted))
}

#[tokio::test]
async fn a_model_that_can_not_be_used_leaves_it_unconfigured_until_that_is_fixed() {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("OPENAI_API_KEY", String::new());
    let (cortex, mut manager) = managed(&mut test_robot, &["--model", "openai:gpt-4o"]).await;
    assert_eq!(command(&mut manager, "startup").await, json!({"done": false, "state": "unconfigured"}));
    for told in ["Cortex can't be configured", "set OPENAI_API_KEY"] {
        cortex.wait_for_log(told, 1).await;
    }
    let refused = command(&mut manager, "set model gpt").await;
    assert_eq!(refused["done"], false);
    assert!(refused["reason"].as_str().unwrap_or_default().contains("write 'reflex', 'local'"), "{refused}");
    assert_eq!(command(&mut manager, "set model reflex").await["done"], true);
    assert_eq!(command(&mut manager, "resume").await, json!({"done": false, "state": "unconfigured"}), "not so fast");
    manager.write_line("startup").await;
    manager.wait_for_json("a start that went well", |line| line["command"] == "startup" && line["done"] == true).await;
    let heard = test_robot.send("hello").await;
    assert!(heard.output().starts_with("Hello. Tell me what to do"), "reflex has read it: {}", heard.output());
}

#[tokio::test]
async fn parameters_that_are_set_count_from_the_next_mission_on() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut manager = test_robot.spawn_python("lifecycle_manager.py", &["/cortex"]);
    manager.wait_for_line("ready").await;
    let mut driving = test_robot.begin_send("go to the bathroom");
    driving.wait_for_json("the start of a step", |line| line["type"] == "cortex.step.started").await;
    assert_eq!(command(&mut manager, "set queue.policy reject").await["done"], true);
    assert_eq!(command(&mut manager, "set log_level debug").await["done"], true);
    let second = test_robot.send("say hello").await;
    assert!(second.output().contains("another task is running"), "{}", second.output());
    for (set, says) in [
        ("set log_level loud", "unknown variant"),
        ("set tape.flush system", "'tape.flush' is read when Cortex starts"),
        ("set mission.max_replans many", "its type is integer"),
        ("set mission.confirmation never", "confirmation"),
        ("set use_sim_time true", "can only be given at start"),
    ] {
        let refused = command(&mut manager, set).await;
        assert_eq!(refused["done"], false, "{set}");
        assert!(refused["reason"].as_str().unwrap_or_default().contains(says), "{refused}");
    }
    let (code, _, problem) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{problem}");
    assert_eq!(finish_send(driving).await.words(), "The robot was stopped.");
    let log = test_robot.process("cortex").stderr().join("\n");
    assert!(log.contains("parameter queue.policy is now \"reject\""), "{log}");
}

#[tokio::test]
async fn simulated_time_stamps_what_is_sent_and_holds_up_nothing() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_python("simulator", "simulated_time.py", &["42"]).await;
    for (use_sim_time, is_simulated) in [("use_sim_time:=true", true), ("use_sim_time:=false", false)] {
        let x = if is_simulated { 1.5 } else { 2.5 };
        let pose = json!({"header": {"frame_id": "map"}, "pose": {"position": {"x": x}}}).to_string();
        let call = ["call", "publish_to_goal_pose", &pose, "--timeout", "10"];
        let parameters = ["--ros-args", "-p", use_sim_time, "-p", "discovery.publish:=['/goal_pose']"];
        let (code, said, problem) = test_robot.run("cortex", &[&call[..], &parameters[..]].concat()).await;
        assert_eq!(code, Some(0), "{said}\n{problem}");
        let heard = test_robot.process("simulator").wait_for_json("a pose", |line| line["x"] == x).await;
        assert_eq!(heard["sec"] == 42, is_simulated, "{heard}");
    }
}
