//! The stop on real ROS 2: everything in flight is told to end, whatever else hangs, and what did not is named.

use std::time::{Duration, Instant};

use cortex_stories::{Process, TestRobot, calls, model, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// The action of these stories, on a server of its own.
const ACTION: &str = "go";
const TOOL: &str = "send_goal_to_go";

/// A test robot with a server of goals, and with a mission that has so many of them in flight.
async fn with_goals(goals: usize, configuration: &str, fault: Option<&str>) -> (TestRobot, Process, OpenAiServer) {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.configure(&format!(
        "[mission]\nmax_parallel_steps = {goals}\nmax_execution_steps = {goals}\n[discovery.resources]\n\"/**\" = \
         []\n{configuration}"
    ));
    if let Some(fault) = fault {
        test_robot.add_environment(
            "CORTEX_TEST_FAULT_HANG",
            format!("{fault}:{}", test_robot.state().join("hang").display()),
        );
    }
    test_robot.start_python("server", "many_goals.py", &[ACTION]).await;
    let calls: Vec<(String, Value)> = (1..=goals).map(|order| (TOOL.to_owned(), json!({"order": order}))).collect();
    let replies = std::iter::once(Served::Calls(calls)).chain((0..goals).map(|_| says("EXECUTE")));
    let model = model(replies).await;
    test_robot.start_cortex_with(&model).await;
    let sending = test_robot.begin_send("do all of it");
    let begun = |lines: &[String]| (count(lines, "begun") == goals).then_some(());
    test_robot.process("server").wait_for("every goal begun", begun).await;
    (test_robot, sending, model)
}

/// How many goals something happened to.
fn count(lines: &[String], event: &str) -> usize {
    let told: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut orders: Vec<i64> =
        told.iter().filter(|line| line["event"] == event).filter_map(|line| line["order"].as_i64()).collect();
    orders.sort_unstable();
    orders.dedup();
    orders.len()
}

/// Has the loop hang that was armed.
fn hang(test_robot: &TestRobot) {
    let written = std::fs::write(test_robot.state().join("hang"), "");
    assert!(written.is_ok(), "the house has a folder: {written:?}");
}

#[tokio::test]
async fn fifty_goals_of_one_server_are_all_cancelled_and_confirm() {
    const GOALS: usize = 50;
    let (mut test_robot, mut sending, _model) = with_goals(GOALS, "", None).await;
    let (code, told, complained) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told} {complained}");
    assert!(told.contains("One task was ended. Everything that Cortex began is at rest."), "{told}");
    let lines = test_robot.process("server").stdout();
    assert_eq!((count(&lines, "asked to cancel"), count(&lines, "canceled")), (GOALS, GOALS));
    assert_eq!(sending.wait().await, Some(130), "the task was ended");
    let refused = test_robot.send("do it again").await;
    assert!(refused.output().contains("run `cortex resume`"), "{}", refused.output());
    let (code, told, _) = test_robot.run("cortex", &["resume"]).await;
    assert_eq!((code, told.as_str()), (Some(0), "Tasks are taken again."));
}

#[tokio::test]
async fn several_stops_at_once_are_all_answered() {
    let (mut test_robot, _sending, _model) = with_goals(3, "", None).await;
    let stops: Vec<Process> = (0..4).map(|_| test_robot.spawn("cortex", &["stop"])).collect();
    for mut stop in stops {
        assert_eq!(stop.wait().await, Some(0), "{:?}", stop.stdout());
        assert!(stop.stdout().join(" ").contains("is at rest"), "{:?}", stop.stdout());
    }
    assert_eq!(count(&test_robot.process("server").stdout(), "canceled"), 3);
}

#[tokio::test]
async fn a_server_that_is_dead_is_named() {
    let (mut test_robot, _sending, _model) = with_goals(2, "[calls]\nhalt_timeout_s = 2.0\n", None).await;
    test_robot.process("server").signal("KILL");
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains(&format!("did not confirm that they are at rest: {TOOL}.")), "{told}");
}

#[tokio::test]
async fn a_stop_is_carried_out_and_answered_although_the_runtime_hangs_and_then_cortex_ends() {
    let (mut test_robot, _sending, _model) = with_goals(5, "", Some("runtime")).await;
    let mut stop = test_robot.spawn("cortex", &["stop", "--wait", "20"]);
    hang(&test_robot);
    let code = stop.wait().await;
    let told = stop.stdout().join(" ");
    // It may have come before the hang; then it is an ordinary stop.
    assert!(told.contains("Cortex itself hangs") && code == Some(1) || code == Some(0), "{code:?} {told}");
    let ended = |lines: &[String]| (count(lines, "canceled") == 5).then_some(());
    test_robot.process("server").wait_for("the end of every goal", ended).await;
    assert_eq!(test_robot.process("cortex").wait().await, Some(70));
}

#[tokio::test]
async fn a_runtime_that_hangs_stops_the_robot_and_ends_cortex() {
    let (mut test_robot, _sending, _model) = with_goals(5, "[watchdog]\ntimeout_s = 3.0\n", Some("runtime")).await;
    let begun = Instant::now();
    hang(&test_robot);
    let ended = |lines: &[String]| (count(lines, "canceled") == 5).then_some(());
    test_robot.process("server").wait_for("the end of every goal", ended).await;
    assert!(begun.elapsed() >= Duration::from_secs(2), "it is given its time");
    assert_eq!(test_robot.process("cortex").wait().await, Some(70));
    let log = test_robot.process("cortex").stderr().join("\n");
    assert!(log.contains("hangs for 3 s: runtime."), "{log}");
    // Who starts it again does not undo that.
    test_robot.end("cortex");
    test_robot.configure("");
    test_robot.add_environment("CORTEX_TEST_FAULT_HANG", String::new());
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let refused = test_robot.send("do it again").await;
    let told =
        "the robot was stopped before it was restarted (Cortex hangs: runtime); when it is safe, run `cortex resume`";
    assert!(refused.output().contains(told), "{}", refused.output());
}

#[tokio::test]
async fn a_thread_of_ros_that_hangs_stops_the_robot_and_ends_cortex() {
    let (mut test_robot, _sending, _model) = with_goals(2, "[watchdog]\ntimeout_s = 3.0\n", Some("ros")).await;
    hang(&test_robot);
    let ended = |lines: &[String]| (count(lines, "canceled") == 2).then_some(());
    test_robot.process("server").wait_for("the end of every goal", ended).await;
    assert_eq!(test_robot.process("cortex").wait().await, Some(70));
    let log = test_robot.process("cortex").stderr().join("\n");
    assert!(log.contains("hangs for 3 s: ros."), "{log}");
}

#[tokio::test]
async fn a_pause_of_the_whole_process_is_no_hang() {
    let (mut test_robot, _sending, _model) = with_goals(1, "[watchdog]\ntimeout_s = 3.0\n", None).await;
    test_robot.process("cortex").signal("STOP");
    // Longer than a loop may hang: that it is not ended for that is the story.
    tokio::time::sleep(Duration::from_secs(5)).await;
    test_robot.process("cortex").signal("CONT");
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told}");
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(!test_robot.process("cortex").has_ended());
}

/// A stop used to be over with the process: killed and started again, Cortex took tasks without a resume.
#[tokio::test]
async fn regression_a_robot_that_was_stopped_stays_stopped_when_cortex_is_killed_and_started_again() {
    let mut test_robot = TestRobot::with_robot("reflex").await;
    let (code, told, complained) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told} {complained}");
    restart(&mut test_robot, "KILL").await;
    let told =
        "the robot was stopped before it was restarted (~/stop was called); when it is safe, run `cortex resume`";
    let refused = test_robot.send("go to the kitchen").await;
    assert!(refused.output().contains(told), "{}", refused.output());
    assert_eq!(refused.started(), Vec::<&str>::new());
    let (_, status, _) = test_robot.run("cortex", &["status"]).await;
    assert!(status.contains("STOPPED (stopped before"), "{status}");
    let (_, findings, _) = test_robot.run("cortex", &["doctor"]).await;
    assert!(findings.contains("note  stop: a robot of this machine is stopped"), "{findings}");
    // It outlives a second one, too, also where that ends in order.
    restart(&mut test_robot, "INT").await;
    assert!(test_robot.send("go to the kitchen").await.output().contains(told));
    let (code, told, _) = test_robot.run("cortex", &["resume"]).await;
    assert_eq!((code, told.as_str()), (Some(0), "Tasks are taken again."));
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    restart(&mut test_robot, "KILL").await;
    let sent = test_robot.send("go to the office").await;
    assert_eq!(sent.status(), "succeeded", "what was resumed stays resumed: {sent:#?}");
    // To end is no stop.
    restart(&mut test_robot, "INT").await;
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
}

/// Ends Cortex by this signal, and starts another one.
async fn restart(test_robot: &mut TestRobot, signal: &str) {
    test_robot.process("cortex").signal(signal);
    test_robot.process("cortex").wait().await;
    test_robot.end("cortex");
    test_robot.start_cortex(&["--model", "reflex"]).await;
}

#[tokio::test]
async fn a_stop_that_can_not_be_written_down_is_carried_out_and_says_so() {
    let (mut test_robot, mut sending, _model) = with_goals(2, "", None).await;
    // What is in its place is no file that could be replaced.
    let folder = test_robot.tapes().join("open-calls");
    let names =
        std::fs::read_dir(&folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>());
    let journal =
        names.unwrap_or_default().into_iter().find(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let record = journal.map(|journal| journal.with_extension("stopped"));
    let Some(record) = record else { panic!("there is no journal in {}", folder.display()) };
    let made = std::fs::create_dir_all(record.join("something"));
    assert!(made.is_ok(), "{made:?}");
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("is at rest") && told.contains("WARNING: the stop could not be written down"), "{told}");
    assert_eq!(count(&test_robot.process("server").stdout(), "canceled"), 2);
    assert_eq!(sending.wait().await, Some(130), "the task was ended");
    let (code, told, _) = test_robot.run("cortex", &["resume"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("NOT RESUMED: what says on the disk that the robot is stopped"), "{told}");
    let removed = std::fs::remove_dir_all(&record);
    assert!(removed.is_ok(), "{removed:?}");
    assert_eq!(test_robot.run("cortex", &["resume"]).await.0, Some(0));
}

/// A service that starts something answers at once, and the robot goes on: a stop used to say that everything is at rest.
#[tokio::test]
async fn regression_what_was_begun_and_can_not_be_halted_is_named_by_a_stop_until_a_person_resumes() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("server", "bad_services.py", &["works"]).await;
    let model =
        model([calls([("send_request_to_works", json!({"data": true}))]), says("EXECUTE"), says("Done.")]).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("start cleaning").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    for _ in 0..2 {
        let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("these were begun and can't be halted by Cortex: send_request_to_works ("), "{told}");
        assert!(told.contains("s ago). Look at the robot."), "{told}");
    }
    assert_eq!(test_robot.run("cortex", &["resume"]).await.0, Some(0));
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("Everything that Cortex began is at rest."), "{told}");
}

/// The same for what a recipe has done; and its commands used to find the model's key in their environment.
#[tokio::test]
async fn regression_what_a_recipe_begins_is_named_by_a_stop_and_its_commands_get_no_key() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_python("server", "bad_services.py", &["works"]).await;
    let recipe = test_robot.file(
        "robot.toml",
        r#"
        recipe = 1
        [components.server]
        start = "external"
        [actions.clean]
        service = { name = "/works", type = "std_srvs/srv/SetBool", request = { data = true } }
        tool = { description = "Starts to clean.", effect = "act" }
        [actions.own]
        command = { program = "sh", arguments = ["-c", "env | grep -c -e OPENAI_API_KEY -e CORTEX_CONFIG || true"] }
        tool = { description = "Counts variables.", effect = "act" }
        [actions.named]
        tool = { description = "Counts variables, too.", effect = "act" }
        [actions.named.command]
        program = "sh"
        arguments = ["-c", "env | grep -c -e OPENAI_API_KEY=secret -e CORTEX_CONFIG || true"]
        environment = { OPENAI_API_KEY = "{inherited}" }
        "#,
    );
    test_robot.add_environment("OPENAI_API_KEY", "secret".to_owned());
    test_robot.configure("");
    let plan = calls([("clean", json!({})), ("own", json!({})), ("named", json!({}))]);
    let model = model([plan, says("EXECUTE"), says("EXECUTE"), says("EXECUTE"), says("Done.")]).await;
    let with = format!("openai:scripted@{}", model.url());
    test_robot.start_cortex(&[&recipe, "--model", &with]).await;
    let sent = test_robot.send("do all of it").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let printed = |step| sent.step(step)["outcome"]["value"].clone();
    assert_eq!((printed(2), printed(3)), (json!("0"), json!("1")), "{sent:#?}");
    let (code, told, _) = test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(1), "{told}");
    let named = told.split_once("can't be halted by Cortex: ").map(|(_, named)| named).unwrap_or_default();
    assert!(named.contains("/works (") && named.contains("own ("), "{told}");
}

/// A person's own call went past the stop: the robot was stopped, and moved.
#[tokio::test]
async fn regression_a_call_by_hand_is_stopped_with_the_robot_and_refused_until_a_person_resumes() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("server", "many_goals.py", &[ACTION]).await;
    test_robot.start_cortex(&[]).await;
    let call = |order: &str| ["call".to_owned(), TOOL.to_owned(), format!("{{\"order\": {order}}}")];
    let first = call("1");
    let mut calling = test_robot.spawn("cortex", &first.each_ref().map(String::as_str));
    let begun = |lines: &[String]| (count(lines, "begun") == 1).then_some(());
    test_robot.process("server").wait_for("the goal begun", begun).await;
    assert_eq!(test_robot.run("cortex", &["stop"]).await.0, Some(0));
    assert_eq!(calling.wait().await, Some(130), "{:?}", calling.stdout());
    assert_eq!(count(&test_robot.process("server").stdout(), "canceled"), 1);

    let second = call("2");
    let mut second = second.each_ref().map(String::as_str).to_vec();
    let (code, _, complained) = test_robot.run("cortex", &second).await;
    assert_eq!(code, Some(2), "it was not tried: {complained}");
    assert!(complained.contains("the robot is stopped (/cortex: "), "{complained}");
    assert!(complained.contains("cortex resume") && complained.contains("--while-stopped"), "{complained}");
    assert_eq!(count(&test_robot.process("server").stdout(), "begun"), 1, "nothing was sent");

    second.push("--while-stopped");
    let mut beside = test_robot.spawn("cortex", &second);
    let begun = |lines: &[String]| (count(lines, "begun") == 2).then_some(());
    test_robot.process("server").wait_for("whoever stands beside the robot may", begun).await;
    beside.signal("INT");
    assert_eq!(beside.wait().await, Some(130));
    assert_eq!(test_robot.run("cortex", &["resume"]).await.0, Some(0));
}
