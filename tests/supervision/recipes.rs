//! Robots that Cortex itself brings up from recipes: the real program, real processes, really killed.

use std::fs;
use std::time::{Duration, Instant};

use cortex_protocol::overview::{ComponentHealth, ComponentOverview};
use cortex_stories::{Event, Monitored, PATIENCE, Sent, TestRobot, finish_send, python};
use serde_json::Value;

/// What may pass from a kill until it is told, on a machine that does other things as well.
const NOTICED_WITHIN: Duration = Duration::from_millis(500);

const AGENT: [&str; 6] = ["base", "camera", "vision", "speaker", "light", "battery"];
const NAVIGATION: [&str; 9] =
    ["base", "battery", "map_server", "localization", "planner", "controller", "navigator", "camera", "speaker"];

fn recipe(name: &str) -> String {
    format!("{}/../recipes/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// A test robot whose robot comes from a recipe of the tree, and is up.
async fn house_of(name: &str, components: &[&str]) -> (TestRobot, Monitored) {
    house_with(&recipe(name), components).await
}

async fn house_with(recipe: &str, components: &[&str]) -> (TestRobot, Monitored) {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let mut robot = Monitored::start(&test_robot, recipe, &["--model", "reflex"]);
    robot.wait_until_all_work(components).await;
    let ready = robot.process().wait_for_line("ready").await;
    assert!(ready.ends_with("the robot is up"), "{ready}");
    (test_robot, robot)
}

/// The process ids of everything that lives in the test robot.
fn alive(test_robot: &TestRobot) -> Vec<String> {
    let state = test_robot.state().to_string_lossy().into_owned();
    let processes =
        fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_of_house = |process: &String| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let is_zombie = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default().is_empty();
        !is_zombie && String::from_utf8_lossy(&environment).contains(&state)
    };
    processes.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(is_of_house).collect()
}

/// Whether an event tells that a call has gone on for a while: it was sent, and the robot does it.
fn is_under_way(event: &Value) -> bool {
    event.pointer("/data/text").and_then(Value::as_str).is_some_and(|text| text.starts_with("in flight"))
}

/// What the first step came to.
fn step_of(sent: &Sent) -> &Value {
    let finished = sent.events.iter().find(|event| event["type"] == "cortex.step.finished");
    finished.and_then(|event| event.pointer("/data/payload/report/outcome")).unwrap_or(&Value::Null)
}

/// What a recipe of the tree is shown by.
struct Shown {
    recipe: &'static str,
    components: &'static [&'static str],
    task: &'static str,
    tools: &'static [&'static str],
    /// A part of what is told in the end.
    told: &'static str,
}

#[tokio::test]
async fn each_recipe_of_the_tree_brings_a_robot_up_that_does_what_it_is_told() {
    let all = [
        Shown {
            recipe: "agent",
            components: &AGENT,
            task: "go to the bedroom and look around. Is there a cat? Say the answer, then greet everyone",
            tools: &["base.go_to", "camera.look", "vision.is_there", "speaker.say", "greet"],
            told: "speaker say (\"Yes, I see a sleeping cat.\")",
        },
        Shown {
            recipe: "hotel",
            components: &["base", "battery", "camera", "speaker"],
            task: "go to the kitchen and look around, then welcome Ada",
            tools: &["base.go_to", "camera.look", "welcome"],
            told: "I see a kettle, a table and a red cup.",
        },
        Shown {
            recipe: "memory",
            components: &["base", "battery", "camera", "speaker"],
            task: "go to the kitchen and look around",
            tools: &["base.go_to", "camera.look"],
            told: "I see a kettle, a table and a red cup.",
        },
        Shown {
            recipe: "navigation",
            components: &NAVIGATION,
            task: "go to the kitchen, look around, then say \"here is the kitchen\"",
            tools: &["navigator.go_to", "camera.look", "speaker.say"],
            told: "I see a kettle, a table and a red cup.",
        },
        Shown {
            recipe: "patrol",
            components: &["base", "battery", "camera"],
            task: "go to the hallway, look around, go to the kitchen and look around",
            tools: &["base.go_to", "camera.look", "base.go_to", "camera.look"],
            told: "I see a coat rack and a pair of shoes.",
        },
    ];
    for Shown { recipe: name, components, task, tools, told } in all {
        let (test_robot, mut robot) = house_of(name, components).await;
        let sent = test_robot.send(task).await;
        assert_eq!((sent.status(), sent.code), ("succeeded", Some(0)), "{name}: {}", sent.output());
        assert_eq!(sent.started(), tools, "{name}");
        assert!(sent.output().contains(told), "{name}: {}", sent.output());
        if name == "hotel" {
            let file = recipe(name);
            let (code, _, errors) = test_robot.run("cortex", &["recipe", "check", "--live", &file]).await;
            assert_eq!((code, errors.as_str()), (Some(0), ""), "the robot is as its recipe says");
        }
        if name == "patrol" {
            // The battery gets low, and before anything else the robot goes to its dock.
            robot.process().wait_for_log("task accepted: go to the living room", 1).await;
            let place = test_robot.send("where are you?").await;
            assert_eq!(place.words(), "I am in the living room.");
            let level = test_robot.send("how full is the battery?").await;
            assert!(level.output().contains("and charging"), "{}", level.output());
        }
        assert_eq!(robot.stop().await, Some(0), "{name}");
        assert_eq!(alive(&test_robot), Vec::<String>::new(), "{name} left something behind");
    }
}

/// Without a recipe, nothing is started and everything is as it was.
#[tokio::test]
async fn without_a_recipe_cortex_starts_nothing() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    test_robot.start_cortex(&["--model", "reflex"]).await;
    let cortex = test_robot.process("cortex").id().to_string();
    assert_eq!(alive(&test_robot), [cortex]);
}

#[tokio::test]
async fn a_wrong_recipe_starts_nothing_and_says_where_it_is_wrong() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let marker = test_robot.state().join("was-started");
    let touch = format!("start = {{ program = \"touch\", arguments = [{:?}] }}", marker.to_string_lossy());
    let text = format!("recipe = 1\n[cortex]\nmodle = \"reflex\"\n[components.base]\n{touch}\n");
    let file = test_robot.file("robot.toml", &text);
    let (code, output, errors) = test_robot.run("cortex", &["run", &file]).await;
    assert_eq!((code, output.as_str()), (Some(1), ""));
    assert!(errors.contains("robot.toml:3:9: there is no key 'modle' here"), "{errors}");
    assert!(!marker.exists());
    let (code, _, errors) = test_robot.run("cortex", &["run", "/no/such/recipe.toml"]).await;
    assert_eq!(code, Some(2));
    assert!(errors.contains("/no/such/recipe.toml can't be read"), "{errors}");
}

/// `target/release/cortex run recipes/agent.toml` tried for ever to start programs that lay beside it.
#[tokio::test]
async fn programs_beside_cortex_are_found_without_a_path_at_the_start_and_again() {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("PATH", "/usr/bin:/bin".to_owned());
    let mut robot = Monitored::start(&test_robot, &recipe("agent"), &["--model", "reflex"]);
    robot.wait_until_all_work(&AGENT).await;
    let before = robot.count();
    assert!(robot.signal("light", "KILL"));
    robot.wait_for(before, "light", |event| matches!(event, Event::Fails(_))).await;
    let failed = robot.count();
    robot.wait_for(failed, "light", |event| matches!(event, Event::Works)).await;
    assert_eq!(robot.stop().await, Some(0));
}

#[tokio::test]
async fn a_program_that_is_nowhere_is_one_error_and_nothing_is_started() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let marker = test_robot.state().join("was-started");
    let touch = format!("start = {{ program = \"touch\", arguments = [{:?}] }}", marker.to_string_lossy());
    let text = format!(
        "recipe = 1\n[components.base]\n{touch}\n[components.arm]\nstart = {{ program = \"no-such-arm\" }}\n\
         [components.hand]\nstart = {{ program = \"no-such-arm\" }}\n[actions.speak]\ncommand = {{ program = \"no-such-voice\" }}\n"
    );
    let file = test_robot.file("robot.toml", &text);
    let (code, output, errors) = test_robot.run("cortex", &["run", &file]).await;
    assert_eq!((code, output.as_str()), (Some(1), ""));
    let error =
        "robot.toml:5:21: there is no program 'no-such-arm' on this machine (for arm, hand): not in PATH nor in /";
    assert!(errors.contains(error), "{errors}");
    assert!(errors.contains("robot.toml:9:23: warning: there is no program 'no-such-voice'"), "{errors}");
    assert!(!marker.exists());
    // The robot may be another machine than the one where its recipe is checked.
    let (code, output, errors) = test_robot.run("cortex", &["recipe", "check", &file]).await;
    assert_eq!(code, Some(0), "{errors}");
    assert!(output.contains("robot.toml: right; 3 components, 1 action, 0 events\n  policy: what nobody"), "{output}");
    assert!(errors.contains("robot.toml:5:21: warning: there is no program 'no-such-arm'"), "{errors}");
}

/// A recipe used to be able to set no limit. Whether the kernel keeps one depends on the machine; that it is told does
/// not.
#[tokio::test]
async fn a_limit_that_is_not_kept_is_told_and_holds_nothing_up() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let recipe = "recipe = 1\n[components.light]\nheartbeat_s = 1.0\n\
                  [components.light.start]\nprogram = \"cortex-sim\"\narguments = [\"component\", \"light\"]\n\
                  memory_max = \"512 MB\"\ncpu_max = 1.5\n";
    let file = test_robot.file("robot.toml", recipe);
    let mut robot = Monitored::start(&test_robot, &file, &["--model", "reflex"]);
    robot.wait_until_all_work(&["light"]).await;
    let is_healthy =
        |light: &ComponentOverview| light.name.as_str() == "light" && light.health == ComponentHealth::Healthy;
    let status = test_robot.status_until("a healthy light", |status| status.components.iter().any(is_healthy)).await;
    let symptoms = status.components.into_iter().find(is_healthy).map(|light| light.symptoms).unwrap_or_default();
    let (code, _, errors) = test_robot.run("cortex", &["recipe", "check", "--live", &file]).await;
    assert_eq!(code, Some(0), "{errors}");
    let told = symptoms.join("; ");
    if errors.is_empty() {
        assert!(!told.contains("limits"), "{told}");
    } else {
        assert!(errors.contains("robot.toml:7:14"), "{errors}");
        assert!(errors.contains("warning: started from here, the limits of 'light' would not be kept"), "{errors}");
        assert!(told.contains("its limits are not kept: the control group"), "{told}");
        robot.process().wait_for_log("its limits (memory_max, cpu_max) are not kept", 1).await;
        assert!(errors.contains("Delegate=yes"), "{errors}");
    }
    assert_eq!(robot.stop().await, Some(0));
}

/// "Scan the tag" looked, and then the mission was FAILED: "Nothing was done".
#[tokio::test]
async fn a_declared_sentence_of_a_look_is_done_by_the_look() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let part = |name: &str| {
        format!(
            "[components.{name}]\nstart = {{ program = \"cortex-sim\", arguments = [\"component\", \"{name}\"] }}\n"
        )
    };
    let scan = "[actions.scan]\nmethod = { component = \"camera\", name = \"look\" }\n\
                [actions.scan.tool]\ndescription = \"Scans the tag in front of the robot.\"\neffect = \"observe\"\n\
                phrases = [\"scan the tag\"]\n";
    let file = test_robot.file("robot.toml", &format!("recipe = 1\n{}{}{scan}", part("base"), part("camera")));
    let mut robot = Monitored::start(&test_robot, &file, &["--model", "reflex"]);
    robot.wait_until_all_work(&["base", "camera"]).await;
    robot.process().wait_for_line("ready").await;
    let sent = test_robot.send("scan the tag").await;
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    assert!(sent.output().contains("I see"), "{}", sent.output());
    assert_eq!(robot.stop().await, Some(0));
}

#[tokio::test]
async fn a_component_that_is_killed_in_mid_mission_ends_it_with_the_reason_and_comes_back() {
    let (test_robot, mut robot) = house_of("agent", &AGENT).await;
    let mut task = test_robot.begin_send("go to the bathroom");
    task.wait_for_json("the drive", is_under_way).await;
    let (before, killed) = (robot.count(), Instant::now());
    assert!(robot.signal("base", "KILL"));
    let noticed = robot.wait_for(before, "base", |event| matches!(event, Event::Fails(_))).await;
    let Event::Fails(why) = &noticed.event else { unreachable!("waited for") };
    assert!(why.contains("its process was killed (signal 9)"), "{why}");
    assert!(noticed.at - killed < NOTICED_WITHIN, "{:?}", noticed.at - killed);
    robot.wait_for(before, "base", |event| matches!(event, Event::Started(_))).await;
    robot.wait_for(before, "base", |event| *event == Event::Works).await;

    let sent = finish_send(task).await;
    assert_ne!(sent.status(), "", "the mission has an end: {sent:#?}");
    assert_eq!(step_of(&sent)["status"]["failed"], "component_lost", "{sent:#?}");
    assert!(sent.lines().iter().any(|line| line.contains("base")), "{:?}", sent.lines());

    // Nobody has to say that nothing moves: the base that came back was asked, and said so.
    let again = test_robot.send("go to the kitchen").await;
    assert_eq!(again.status(), "succeeded", "it serves again: {}", again.output());
    assert_eq!(robot.stop().await, Some(0));
}

/// Reflex did not understand what the robot could do a moment ago.
#[tokio::test]
async fn regression_a_task_for_a_component_that_is_coming_up_again_waits_for_it() {
    let (test_robot, mut robot) = house_of("agent", &AGENT).await;
    let before = robot.count();
    assert!(robot.signal("base", "KILL"));
    robot.wait_for(before, "base", |event| matches!(event, Event::Fails(_))).await;
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{:#?}", sent.lines());

    let before = robot.count();
    assert!(robot.signal("base", "KILL"));
    robot.wait_for(before, "base", |event| matches!(event, Event::Started(_))).await;
    let sent = test_robot.send("go to the bedroom").await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{:#?}", sent.lines());
    assert_eq!(robot.stop().await, Some(0));
}

#[tokio::test]
async fn a_component_that_hangs_is_noticed_by_its_heartbeat_and_started_anew() {
    let (test_robot, mut robot) = house_of("agent", &AGENT).await;
    let (before, stopped) = (robot.count(), Instant::now());
    assert!(robot.signal("speaker", "STOP"));
    let suspected = robot.wait_for(before, "speaker", |event| matches!(event, Event::Suspected(_))).await;
    assert!(suspected.at - stopped < Duration::from_secs_f64(1.5) + NOTICED_WITHIN, "{:?}", suspected.at - stopped);
    robot.wait_for(before, "speaker", |event| matches!(event, Event::Fails(_))).await;
    robot.wait_for(before, "speaker", |event| matches!(event, Event::Started(_))).await;
    robot.wait_for(before, "speaker", |event| *event == Event::Works).await;
    let sent = test_robot.send("say hello").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    let others = robot.told().iter().skip(before).filter(|told| told.component != "speaker" && told.event.is_failure());
    assert_eq!(others.count(), 0, "the rest of the robot goes on");
}

#[tokio::test]
async fn a_managed_node_that_comes_back_is_configured_and_activated_again_with_what_depends_on_it() {
    let (test_robot, mut robot) = house_of("navigation", &NAVIGATION).await;
    let before = robot.count();
    assert!(robot.signal("camera", "KILL"));
    robot.wait_for(before, "camera", |event| *event == Event::Works).await;
    let sent = test_robot.send("look around").await;
    assert_eq!(sent.status(), "succeeded", "it is active: {}", sent.output());

    let before = robot.count();
    assert!(robot.signal("base", "KILL"));
    robot.wait_for(before, "base", |event| *event == Event::Works).await;
    let sent = test_robot.send("go to the kitchen and look around").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    let restarted = robot.told().iter().skip(before).filter(|told| matches!(told.event, Event::Started(_)));
    assert_eq!(restarted.count(), 1, "what depends on it only pauses");
}

/// Only what needs the planner pauses; the rest of the robot goes on.
#[tokio::test]
async fn a_planner_that_is_killed_during_a_drive_ends_it_and_takes_nothing_along_that_can_do_without() {
    let (test_robot, mut robot) = house_of("navigation", &NAVIGATION).await;
    let mut task = test_robot.begin_send("go to the bathroom");
    task.wait_for_json("the drive", is_under_way).await;
    let before = robot.count();
    assert!(robot.signal("planner", "KILL"));
    robot.wait_for(before, "planner", |event| matches!(event, Event::Fails(_))).await;
    let (code, sight, _) = test_robot.run("cortex", &["call", "camera.look"]).await;
    assert_eq!(code, Some(0), "it goes on: {sight}");
    let sent = finish_send(task).await;
    assert_eq!(step_of(&sent)["status"]["failed"], "component_lost", "{sent:#?}");
    let told = sent.lines().join("\n");
    assert!(told.contains("planner") && told.contains("its process was killed (signal 9)"), "{told}");

    robot.wait_for(before, "planner", |event| *event == Event::Works).await;
    let again = test_robot.send("go to the kitchen").await;
    assert_eq!(again.status(), "succeeded", "{}", again.output());
    let others = ["base", "battery", "map_server", "localization", "controller", "camera", "speaker"];
    let disturbed = robot.told().iter().skip(before).filter(|told| others.contains(&told.component.as_str()));
    let disturbed: Vec<String> =
        disturbed.filter(|told| told.event.is_failure()).map(|told| format!("{told:?}")).collect();
    assert_eq!(disturbed, Vec::<String>::new());
    assert_eq!(robot.stop().await, Some(0));
    assert_eq!(alive(&test_robot), Vec::<String>::new());
}

#[tokio::test]
async fn the_robot_comes_down_in_reverse_order_after_its_mission() {
    let (test_robot, mut robot) = house_of("navigation", &NAVIGATION).await;
    let mut task = test_robot.begin_send("go to the bathroom");
    task.wait_for_json("the drive", is_under_way).await;
    assert_eq!(robot.stop().await, Some(0));
    let sent = finish_send(task).await;
    assert_eq!(
        step_of(&sent)["halt"],
        "halted",
        "the mission was ended first, while the robot still answered: {sent:#?}"
    );
    assert_eq!(sent.words(), "Cortex is shutting down.", "and nothing moves");
    let down = robot.told().iter().filter(|told| told.event == Event::Down).map(|told| told.component.clone());
    let down: Vec<String> = down.collect();
    let place = |component: &str| down.iter().position(|other| other == component);
    assert_eq!(down.len(), NAVIGATION.len(), "{down:?}");
    for (first, then) in [
        ("navigator", "planner"),
        ("planner", "map_server"),
        ("navigator", "controller"),
        ("controller", "localization"),
        ("localization", "base"),
        ("battery", "base"),
        ("camera", "base"),
    ] {
        assert!(place(first) < place(then), "{first} before {then}: {down:?}");
    }
    assert_eq!(alive(&test_robot), Vec::<String>::new());
}

#[tokio::test]
async fn a_cortex_that_is_killed_leaves_no_process_behind() {
    let (test_robot, mut robot) = house_of("agent", &AGENT).await;
    assert!(alive(&test_robot).len() > 7, "Cortex, its guard, and six components");
    robot.process().signal("KILL");
    robot.process().wait().await;
    let deadline = Instant::now() + PATIENCE;
    while !alive(&test_robot).is_empty() && Instant::now() < deadline {
        // Nothing tells when a process of somebody who has died ends.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(alive(&test_robot), Vec::<String>::new());
}

/// A node that knows nothing of Cortex, and the actions that may fix it.
fn thermometer(name: &str, fault: &str, fixed_by: &str) -> String {
    let script = format!("{}/python/thermometer.py", env!("CARGO_MANIFEST_DIR"));
    let (python, arguments) = (python().to_string_lossy().into_owned(), [&script, name, fault, fixed_by]);
    format!(
        "[components.{name}]\n\
         start = {{ program = {python:?}, arguments = {arguments:?} }}\n\
         progress = [{{ topic = \"/{name}/temperature\", field = \"data\", changes_by = 0.5, within_s = 1.0 }}]\n\
         stop_timeout_s = 2.0\n\
         [components.{name}.fallbacks]\n\
         on_any_fail = [\n\
             {{ do = \"turn_{name}_up\", within_s = 2.0 }},\n\
             {{ do = \"knock_at_{name}\", within_s = 2.0 }},\n\
             {{ do = \"reset_{name}\", retries = 1, within_s = 2.0 }},\n\
             {{ do = \"respawn\", retries = 3 }},\n\
         ]\n\
         [actions.turn_{name}_up]\n\
         parameters = {{ component = \"{name}\", values = {{ gain = 2.0 }} }}\n\
         [actions.knock_at_{name}]\n\
         topic = {{ name = \"/{name}/knock\", type = \"std_msgs/msg/Bool\", message = {{ data = true }} }}\n\
         [actions.reset_{name}]\n\
         service = {{ name = \"/{name}/reset\", type = \"std_srvs/srv/Trigger\" }}\n"
    )
}

/// What was done about a component since it worked first and then failed, and what it came to.
fn course(robot: &mut Monitored, component: &str) -> Vec<String> {
    let own = robot.told().iter().filter(|told| told.component == component);
    let since_up = own.skip_while(|told| told.event != Event::Works).skip(1);
    let since_failure = since_up.skip_while(|told| !matches!(told.event, Event::Fails(_)));
    let words = since_failure.filter_map(|told| match &told.event {
        Event::Attempt(what) | Event::Fails(what) => Some(what.clone()),
        Event::DidNotHelp(why) => Some(format!("no: {why}")),
        Event::Works => Some("works".to_owned()),
        _ => None,
    });
    words.collect()
}

/// One says so in `/diagnostics`, one does not get on, and one that is fixed by nothing but the last rung is respawned.
#[tokio::test]
async fn nodes_that_know_nothing_of_cortex_are_watched_and_fixed_by_whatever_helps() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let stories = [("one", "reports", "service"), ("two", "freezes", "topic"), ("three", "freezes", "parameter")];
    let components: String = stories.iter().map(|(name, fault, by)| thermometer(name, fault, by)).collect();
    let recipe = test_robot.file("robot.toml", &format!("recipe = 1\n{components}"));
    let mut robot = Monitored::start(&test_robot, &recipe, &["--model", "reflex"]);
    for (name, ..) in stories {
        // Up, failed, and up again.
        let mut since = 0;
        for works in [true, false, true] {
            let wanted = |event: &Event| if works { *event == Event::Works } else { matches!(event, Event::Fails(_)) };
            let told = robot.wait_for(since, name, wanted).await;
            since = robot.told().iter().position(|other| *other == told).unwrap();
        }
    }
    let stuck = "it does not get on: 0 of at least 1 changes of data on /two/temperature in 1 s";
    let reported = "one: sensor: no contact";
    assert_eq!(
        course(&mut robot, "one"),
        [
            reported,
            "1, turn_one_up",
            &format!("no: {reported}"),
            "2, knock_at_one",
            &format!("no: {reported}"),
            "3, reset_one",
            "no: it is still warming up",
            "4, reset_one",
            "works",
        ]
    );
    assert_eq!(
        course(&mut robot, "two"),
        [stuck, "1, turn_two_up", &format!("no: {stuck}"), "2, knock_at_two", "works"]
    );
    assert_eq!(course(&mut robot, "three")[1..], ["1, turn_three_up", "works"]);
    assert_eq!(robot.stop().await, Some(0));
    assert_eq!(alive(&test_robot), Vec::<String>::new());
}

#[tokio::test]
async fn a_standby_takes_the_place_of_what_keeps_failing() {
    let (test_robot, mut robot) = house_of("patrol", &["base", "battery", "camera"]).await;
    // Its ladder has two restarts.
    for _ in 0..2 {
        let before = robot.count();
        assert!(robot.signal("camera", "KILL"));
        robot.wait_for(before, "camera", |event| *event == Event::Works).await;
    }
    let before = robot.count();
    assert!(robot.signal("camera", "KILL"));
    robot.wait_for(before, "spare_camera", |event| *event == Event::Works).await;
    // Up is not yet known: it has to describe what it offers.
    robot.process().wait_for_log("the component 'spare_camera' was found", 1).await;
    let sent = test_robot.send("look around").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    assert!(robot.process_of("camera").is_none(), "it was the other one that looked");
    assert_eq!(robot.stop().await, Some(0));
    assert_eq!(alive(&test_robot), Vec::<String>::new());
}
