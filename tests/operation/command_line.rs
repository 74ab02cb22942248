//! The command line as a newcomer meets it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, also where it shares its helpers"
)]

use cortex_core::{ToolDefinition, ToolKind};
use cortex_stories::TestRobot;
use cortex_testkit::{OpenAiServer, Served};
use reading::Table;
use serde_json::{Value, json};

#[path = "../../crates/cortex-model/tests/support/offers.rs"]
mod offers;
#[path = "../../crates/cortex-model/tests/support/reading.rs"]
mod reading;

#[tokio::test]
async fn help_names_every_command_and_shows_examples() {
    let test_robot = TestRobot::empty();
    let (code, help, _) = test_robot.run("cortex", &["--help"]).await;
    assert_eq!(code, Some(0));
    for word in [
        "run",
        "send",
        "stop",
        "resume",
        "tools",
        "models",
        "tape",
        "recipe",
        "inspect",
        "doctor",
        "completion",
        "Examples:",
        "--ros-args",
    ] {
        assert!(help.contains(word), "{word} is missing in:\n{help}");
    }
    let (code, script, _) = test_robot.run("cortex", &["completion", "bash"]).await;
    assert_eq!(code, Some(0));
    assert!(script.contains("_cortex()"), "{script}");
}

#[tokio::test]
async fn what_can_not_be_tried_says_what_to_do() {
    let test_robot = TestRobot::empty();
    for (arguments, expected) in [
        (vec!["send", "hello", "--wait", "0.5"], "Start one with `cortex run`"),
        (
            vec!["run", "--model", "gpt"],
            "'gpt' names no model; write 'reflex', 'local', 'local:FILE' or 'openai:NAME@URL'",
        ),
        (vec!["run", "--config", "/nowhere.toml"], "there is no file /nowhere.toml"),
        (vec!["run", "--ros-args", "-p", "mission.max_replan:=1"], "max_replan"),
        (vec!["run", "--ros-args", "-r", "nonsense"], "the ROS arguments can't be used"),
        (vec!["inspect", "nobody"], "there is no node 'nobody'"),
        (vec!["run", "--ros-args", "-p", "queue.polcy:=reject"], "did you mean"),
        (vec!["fly"], "unrecognized subcommand"),
        (vec!["send"], "required arguments"),
    ] {
        let (code, _, complained) = test_robot.run("cortex", &arguments).await;
        assert_eq!(code, Some(2), "{arguments:?}: {complained}");
        assert!(complained.contains(expected), "{arguments:?}: {complained}");
        assert!(!complained.contains("panicked"), "{arguments:?}: {complained}");
    }
}

#[tokio::test]
async fn without_a_sourced_ros_everything_starts_and_says_what_to_source() {
    let test_robot = TestRobot::empty();
    let recipe = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../recipes/agent.toml");
    let recipe = recipe.to_string_lossy();
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    // The library path of a ROS without that of the interfaces of Cortex, as before its workspace is sourced.
    let libraries = variable("LD_LIBRARY_PATH");
    let without_ours: Vec<&str> = libraries.split(':').filter(|path| !has_interfaces(path)).collect();
    let half = vec![("ROS_DISTRO", variable("ROS_DISTRO")), ("LD_LIBRARY_PATH", without_ours.join(":"))];
    for (environment, expected) in [(vec![], "no ROS 2 is sourced"), (half, "libcortex_msgs")] {
        for (arguments, word) in [
            (vec!["--help"], "--ros-args"),
            (vec!["completion", "zsh"], "_cortex"),
            (vec!["tape", "list"], "There are no tapes"),
            (vec!["wordings", "list"], "Nothing was learnt yet"),
            (vec!["recipe", "check", &*recipe], ": right; "),
        ] {
            let (code, told, complained) = test_robot.run_bare("cortex", &arguments, &environment).await;
            assert_eq!(code, Some(0), "{arguments:?}: {complained}");
            assert!(told.contains(word), "{arguments:?}: {told}");
        }
        let (code, told, _) = test_robot.run_bare("cortex", &["doctor"], &environment).await;
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("FAIL  ROS libraries: ") && told.contains(expected), "{told}");
        for arguments in [vec!["run"], vec!["tools"], vec!["send", "hello"], vec!["stop"], vec!["status"]] {
            let (code, _, complained) = test_robot.run_bare("cortex", &arguments, &environment).await;
            assert_eq!(code, Some(2), "{arguments:?}: {complained}");
            assert!(complained.contains(expected) && complained.contains("source "), "{arguments:?}: {complained}");
        }
    }
}

/// Each of them waited for as long as discovery may take; a running Cortex knows the robot.
#[tokio::test]
async fn with_a_running_cortex_the_robot_is_known_and_what_is_not_there_is_said() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start("cortex", "cortex", &["run"]).await;
    test_robot.status_until("the components", |overview| overview.components.len() >= 4).await;
    let (code, listed, complained) = test_robot.run("cortex", &["tools"]).await;
    assert_eq!((code, complained.as_str()), (Some(0), ""));
    for tool in ["base.go_to", "speaker.say", "inspect_component"] {
        assert!(listed.contains(tool), "{tool} is missing in:\n{listed}");
    }
    let (code, told, complained) = test_robot.run("cortex", &["doctor"]).await;
    assert_eq!(code, Some(0), "{told}{complained}");
    assert!(told.contains("ok    tasks: /cortex takes tasks") && told.contains("base offers 3 methods"), "{told}");
    let (code, _, complained) = test_robot.run("cortex", &["call", "base.fly"]).await;
    assert_eq!(code, Some(2));
    assert!(complained.contains("there is no tool 'base.fly' on the robot"), "{complained}");
    // Nobody has said how long to wait for one of another name.
    for command in [vec!["status"], vec!["send", "hello"], vec!["stop"]] {
        let (code, _, complained) = test_robot.run("cortex", &[&command[..], &["--server", "/nobody"]].concat()).await;
        assert_eq!(code, Some(2), "{command:?}");
        assert!(complained.contains("/nobody. Start one with `cortex run`"), "{command:?}: {complained}");
    }
}

fn has_interfaces(folder: &str) -> bool {
    let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.any(|file| file.file_name().to_string_lossy().starts_with("libcortex_msgs"))
}

#[tokio::test]
async fn tools_inspect_and_doctor_tell_of_the_robot() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let (code, listed, _) = test_robot.run("cortex", &["tools"]).await;
    assert_eq!(code, Some(0));
    assert!(listed.contains("base.go_to") && listed.contains("place: living room | hallway"), "{listed}");
    let (_, listed, _) = test_robot.run("cortex", &["tools", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let go_to = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "base.go_to").unwrap();
    assert_eq!((&go_to["wire_name"], &go_to["effect"]), (&"base-go_to".into(), &"move".into()));
    assert_eq!(go_to["parameters"]["type"], "object");

    let (code, report, complained) = test_robot.run("cortex", &["inspect", "base"]).await;
    assert_eq!(code, Some(0), "{complained}");
    for known in ["/odom", "nav_msgs/msg/Odometry", "speed_mps", "active", "base.go_to"] {
        assert!(report.contains(known), "{known} is missing in:\n{report}");
    }

    // It was raw JSON, without the conditions.
    assert!(
        report.starts_with("base\n") && report.contains("done when ") && report.contains("only while "),
        "{report}"
    );
    let (_, report, _) = test_robot.run("cortex", &["inspect", "base", "--json"]).await;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["tools"].as_array().unwrap().iter().any(|tool| !tool["conditions"].is_null()), "{report}");
    // Names that are nearly right are told.
    for (arguments, meant) in [(["inspect", "bse"], "'base'"), (["call", "base.goto"], "'base.go_to'")] {
        let (code, _, complained) = test_robot.run("cortex", &arguments).await;
        assert!(code == Some(2) && complained.contains(&format!("(did you mean {meant}?)")), "{complained}");
    }

    let (code, told, _) = test_robot.run("cortex", &["doctor"]).await;
    assert_eq!(code, Some(0), "{told}");
    for words in
        ["component: battery offers 1 method\n", "1 tool names what must hold", "the model is reflex (the default)"]
    {
        assert!(told.contains(words), "{words} is missing in:\n{told}");
    }
    assert!(
        told.contains("ok    component: base offers 3 methods") && told.contains("note  tasks: no Cortex runs here"),
        "{told}"
    );
    assert!(!told.contains("shared memory"), "the stories run without it: {told}");
    let (code, told, _) = test_robot.run("cortex", &["doctor", "--model", "openai:m@http://127.0.0.1:9/v1"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("FAIL  model:") && told.contains("->"), "{told}");
}

/// `cortex doctor` asks each model of the chain for what Cortex needs; `cortex models` lists what endpoints offer.
#[tokio::test]
async fn each_model_is_tried_for_what_cortex_needs_and_endpoints_list_theirs() {
    let good = OpenAiServer::answering(|request| {
        if request.get("response_format").is_some() {
            Served::Decision("EXECUTE".to_owned())
        } else if request.get("tools").is_some() {
            Served::Calls(vec![("report_number".to_owned(), json!({"number": 7}))])
        } else {
            Served::Text("OK.".to_owned())
        }
    });
    let good = good.await.unwrap();
    // As a server whose chat template knows no tools: it reads as much with them as without.
    let talker = OpenAiServer::answering(|_| Served::Text("Sure, I will report it.".to_owned())).await.unwrap();
    let dead = "openai:gone@http://127.0.0.1:9/v1";
    let test_robot = TestRobot::empty();
    let first = format!("openai:scripted@{}", good.url());
    let talks = format!("openai:talker@{}", talker.url());
    let text =
        format!("model = '{first}'\n[endpoint]\nretries = 0\n[chain]\nmodels = ['{talks}', '{dead}', 'reflex']\n");
    let file = test_robot.file("cortex.toml", &text);
    let (code, told, _) = test_robot.run("cortex", &["doctor", "--config", &file]).await;
    assert_eq!(code, Some(1), "{told}");
    for line in [
        format!("ok    model: {first} answers, a word in "),
        format!("ok    model: {first} calls tools"),
        format!("FAIL  model: {talks} is not shown the tools: it reads 10 tokens with a tool, and as many without"),
        format!("note  model: {talks}: its decision on a step can't be read"),
        format!("FAIL  model: {dead}: the endpoint can't be reached"),
        "ok    model: reflex: embedded".to_owned(),
    ] {
        assert!(told.lines().any(|found| found.starts_with(&line)), "{line} is missing in:\n{told}");
    }
    let (code, told, _) = test_robot.run("cortex", &["models", "--config", &file]).await;
    assert_eq!(code, Some(1), "one endpoint is down: {told}");
    let another = format!("openai:another@{}", good.url());
    for line in [
        format!("{}\n  {another}\n  {first}   (in use)\n", good.url()),
        "http://127.0.0.1:9/v1\n  the endpoint can't".to_owned(),
    ] {
        assert!(told.contains(&line), "{line} is missing in:\n{told}");
    }
    let (code, told, _) = test_robot.run("cortex", &["models", &talker.url()]).await;
    assert_eq!((code, told.lines().count()), (Some(0), 3), "{told}");
    let (code, _, complained) = test_robot.run("cortex", &["models", "localhost"]).await;
    assert!(code == Some(2) && complained.contains("does not start with http"), "{complained}");
}

/// What is offered to people is understood, on the simulated robot with all that Cortex finds there.
#[tokio::test]
async fn every_sentence_that_is_offered_is_understood() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let (_, listed, _) = test_robot.run("cortex", &["tools", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let definition = |tool: &Value| ToolDefinition {
        name: tool["wire_name"].as_str().unwrap().to_owned(),
        description: tool["description"].as_str().unwrap().to_owned(),
        parameters: tool["parameters"].clone(),
        phase: serde_json::from_value(tool["phase"].clone()).unwrap(),
        phrases: serde_json::from_value(tool["phrases"].clone()).unwrap(),
        kind: ToolKind::default(),
    };
    let tools: Vec<ToolDefinition> = listed["tools"].as_array().unwrap().iter().map(definition).collect();
    let mut table = Table::default();
    let typed = offers::type_each(&tools, &mut table).await;
    assert!(typed >= 10, "{typed} of {} tools are offered", tools.len());
    table.check();
    // The one that no sentence reached.
    let task = "set the parameter speed_mps of base to 0.5";
    let (code, plan, complained) = test_robot.run("cortex", &["plan", task, "--model", "reflex"]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(plan.contains("update_parameter") && plan.contains("0.5"), "{plan}");
}
