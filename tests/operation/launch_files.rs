//! The launch files: what they offer, and that what they would start is taken by the programs that they start.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test whose set-up fails ends here, and says why")]

use std::path::Path;

use cortex_stories::{Monitored, TestRobot, finish_send};
use serde_json::{Value, json};

/// What a launch file says: its arguments, and the nodes that it would start.
async fn read(test_robot: &TestRobot, file: &str, arguments: &[&str]) -> Result<(Vec<Value>, Vec<Value>), String> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = tree.join("launch").join(file);
    // Installed as it is in the tree.
    let prefix = test_robot.state().join("installed");
    if !prefix.exists() {
        std::fs::create_dir_all(prefix.join("share")).unwrap();
        std::os::unix::fs::symlink(&tree, prefix.join("share/cortex")).unwrap();
    }
    let (path, prefix) = (path.to_string_lossy(), prefix.to_string_lossy());
    let arguments = [&[path.as_ref(), prefix.as_ref()], arguments].concat();
    let mut reader = test_robot.spawn_python("launch_files.py", &arguments);
    let code = reader.wait().await;
    if code != Some(0) {
        return Err(reader.stderr().join("\n"));
    }
    let lines = reader.stdout().into_iter();
    let lines: Vec<Value> =
        lines.map(|line| serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))).collect();
    let of = |kind: &str| -> Vec<Value> { lines.iter().filter(|line| line.get(kind).is_some()).cloned().collect() };
    Ok((of("argument"), of("node").iter().filter_map(|line| line.get("node").cloned()).collect()))
}

/// What a node of Cortex gets beyond what all get: `run`, and whom it ends with.
fn own_arguments(node: &Value) -> Vec<&str> {
    let arguments: Vec<&str> = node["arguments"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let [run, exit_with_pid, launcher, own @ ..] = arguments.as_slice() else { panic!("{arguments:?}") };
    assert_eq!(
        (*run, *exit_with_pid, launcher.parse::<u32>().is_ok()),
        ("run", "--exit-with-pid", true),
        "{arguments:?}"
    );
    own.to_vec()
}

/// The command line that launch makes of a node.
fn command_line(node: &Value) -> Vec<String> {
    let texts = |key: &str| -> Vec<String> {
        node[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut line = texts("arguments");
    // Here the story starts it.
    if let Some(launcher) =
        line.iter().position(|argument| argument == "--exit-with-pid").and_then(|at| line.get_mut(at + 1))
    {
        *launcher = std::process::id().to_string();
    }
    line.push("--ros-args".to_owned());
    line.extend(texts("ros_arguments"));
    if let Some(name) = node["name"].as_str() {
        line.extend(["-r".to_owned(), format!("__node:={name}")]);
    }
    if let Some(namespace) = node["namespace"].as_str().filter(|namespace| !namespace.is_empty()) {
        line.extend(["-r".to_owned(), format!("__ns:=/{namespace}")]);
    }
    for parameters in node["parameters"].as_array().into_iter().flatten() {
        match parameters {
            Value::String(file) => line.extend(["--params-file".to_owned(), file.clone()]),
            Value::Object(values) => {
                line.extend(values.iter().flat_map(|(name, value)| ["-p".to_owned(), format!("{name}:={value}")]));
            }
            other => panic!("{other} are no parameters"),
        }
    }
    line
}

#[tokio::test]
async fn every_argument_says_what_it_is_for() {
    let test_robot = TestRobot::empty();
    for (file, names) in [
        (
            "cortex.launch.py",
            "recipe model config namespace use_sim_time log_level params_file autostart respawn shutdown_timeout"
                .to_owned(),
        ),
        ("sim_robot.launch.py", "world namespace use_sim_time".to_owned()),
    ] {
        let (arguments, _) = read(&test_robot, file, &[]).await.unwrap();
        let told: Vec<&str> = arguments.iter().filter_map(|argument| argument["argument"].as_str()).collect();
        assert_eq!(told.join(" "), names);
        let guide = include_str!("../../docs/launch.md");
        let unexplained =
            told.iter().find(|name| file.starts_with("cortex") && !guide.contains(&format!("| `{name}` |")));
        assert_eq!(unexplained, None, "docs/launch.md has a table of them");
        for argument in arguments {
            assert!(argument["description"].as_str().is_some_and(|words| words.len() > 20), "{argument}");
        }
    }
}

#[tokio::test]
async fn the_arguments_reach_the_node() {
    let test_robot = TestRobot::empty();
    let (_, nodes) = read(&test_robot, "cortex.launch.py", &[]).await.unwrap();
    assert_eq!((own_arguments(&nodes[0]), &nodes[0]["respawn"]), (vec![], &json!(false)));
    assert_eq!((&nodes[0]["parameters"], &nodes[0]["ros_arguments"]), (&json!([]), &json!([])));
    let given = ["recipe:=patrol", "model:=openai:m@http://localhost:1/v1", "use_sim_time:=True", "respawn:=true"];
    let (_, nodes) = read(&test_robot, "cortex.launch.py", &given).await.unwrap();
    let arguments = own_arguments(&nodes[0]);
    assert!(arguments[0].ends_with("installed/share/cortex/recipes/patrol.toml"), "{arguments:?}");
    assert_eq!(arguments[1..], ["--model", "openai:m@http://localhost:1/v1"]);
    assert_eq!(nodes[0]["parameters"], json!([{"use_sim_time": true}]));
    assert_eq!(nodes[0]["respawn"], true);
    let robot = test_robot.file("robot.yaml", "/**:\n  ros__parameters: {}\n");
    let file = format!("params_file:={robot}");
    let given = [file.as_str(), "autostart:=false", "log_level:=debug"];
    let (_, nodes) = read(&test_robot, "cortex.launch.py", &given).await.unwrap();
    assert_eq!(nodes[0]["parameters"], json!([robot, {"autostart": false}]), "what is given goes over the file");
    assert_eq!(nodes[0]["ros_arguments"], json!(["--log-level", "cortex:=debug"]));
    // The launch file is read in the folder of the tests.
    let (_, nodes) = read(&test_robot, "cortex.launch.py", &["recipe:=./Cargo.toml"]).await.unwrap();
    let own = own_arguments(&nodes[0])[0];
    assert!(Path::new(own).is_absolute() && own.ends_with("/Cargo.toml"), "{own}");
    let problem = read(&test_robot, "cortex.launch.py", &["respawn:=perhaps"]).await.unwrap_err();
    assert!(problem.contains("'perhaps' is neither true nor false"), "{problem}");
}

#[tokio::test]
async fn a_slip_in_an_argument_is_told_by_launch_itself_with_what_there_is() {
    let test_robot = TestRobot::empty();
    for (file, given, told) in [
        ("cortex.launch.py", "recipe:=agnet", "there is no recipe 'agnet': give the path of a file, or one of agent, "),
        ("sim_robot.launch.py", "world:=hoem", "there is no home 'hoem': give the path of a file, or one of home"),
        ("cortex.launch.py", "shutdown_timeout:=soon", "'soon' is no number of seconds above 0, at most 86400"),
        ("cortex.launch.py", "shutdown_timeout:=nan", "'nan' is no number of seconds above 0, at most 86400"),
    ] {
        let problem = read(&test_robot, file, &[given]).await.unwrap_err();
        assert!(problem.contains(told), "{problem}");
    }
    let (arguments, _) = read(&test_robot, "cortex.launch.py", &[]).await.unwrap();
    let level = arguments.iter().find(|argument| argument["argument"] == "log_level").unwrap();
    assert_eq!(level["choices"], json!(["", "debug", "info", "warn", "error"]));
}

#[tokio::test]
async fn files_are_found_from_wherever_they_are_named() {
    let mut test_robot = TestRobot::empty();
    for name in ["c.toml", "p.yaml"] {
        let _ = test_robot.file(name, "");
    }
    let home = test_robot.state().to_string_lossy().into_owned();
    test_robot.add_environment("HOME", home.clone());
    let (_, nodes) =
        read(&test_robot, "cortex.launch.py", &["config:=~/c.toml", "params_file:=~/p.yaml"]).await.unwrap();
    assert_eq!(own_arguments(&nodes[0]), ["--config", &format!("{home}/c.toml")]);
    assert_eq!(nodes[0]["parameters"], json!([format!("{home}/p.yaml")]));
    for (world, found) in [("home", "installed/share/cortex/config/worlds/home.toml"), ("./flat.toml", "/flat.toml")] {
        let (_, nodes) = read(&test_robot, "sim_robot.launch.py", &[&format!("world:={world}")]).await.unwrap();
        let file = nodes[0]["arguments"][1].as_str().unwrap();
        assert!(Path::new(file).is_absolute() && file.ends_with(found), "{file}");
    }
}

/// Launch leaves out a parameters file that is not there, and what the file denied was allowed.
#[tokio::test]
async fn regression_a_file_that_is_not_there_was_left_out_with_what_it_forbids() {
    let test_robot = TestRobot::empty();
    for (given, told) in [
        ("params_file:=/no/such.yaml", "params_file: there is no file /no/such.yaml; nothing is started without it"),
        ("config:=/no/such.toml", "config: there is no file /no/such.toml"),
        ("recipe:=/no/such.toml", "recipe: there is no file /no/such.toml"),
        ("params_file:=/tmp", "params_file: there is no file /tmp"),
    ] {
        let problem = read(&test_robot, "cortex.launch.py", &[given]).await.unwrap_err();
        assert!(problem.contains(told), "{problem}");
    }
    let broken = test_robot.file("broken.yaml", "/**:\n  ros__parameters:\n    discovery.deny: [\"/wifi/**\"\n");
    let odd = test_robot.file("odd.yaml", "discovery:\n  deny: nothing\n");
    for (arguments, told) in [
        (&["run", "--ros-args", "--params-file", "/no/such.yaml"][..], "/no/such.yaml"),
        (&["run", "--ros-args", "--params-file", &broken], "broken.yaml"),
        (&["run", "--ros-args", "--params-file", &odd], "odd.yaml"),
        (&["run", "--config", "/no/such.toml"], "/no/such.toml"),
        (&["run", "/no/such.toml"], "/no/such.toml"),
    ] {
        let (code, said, problem) = test_robot.run("cortex", arguments).await;
        assert!(
            code.is_some_and(|code| code != 0) && !said.contains("ready"),
            "{arguments:?}: {code:?} {said}{problem}"
        );
        assert!(problem.contains(told), "{arguments:?}: {problem}");
    }
}

/// Unsecured would be worse than not at all, and looks the same to who starts it.
#[tokio::test]
async fn security_that_is_asked_for_and_can_not_be_had_keeps_cortex_from_starting() {
    let mut test_robot = TestRobot::empty();
    let keystore = test_robot.state().join("no-keystore").to_string_lossy().into_owned();
    test_robot.add_environment("ROS_SECURITY_ENABLE", "true".to_owned());
    test_robot.add_environment("ROS_SECURITY_STRATEGY", "Enforce".to_owned());
    test_robot.add_environment("ROS_SECURITY_KEYSTORE", keystore);
    let (code, said, problem) = test_robot.run("cortex", &["run", "--ros-args", "--enclave", "/cortex"]).await;
    assert_eq!((code, said.as_str()), (Some(2), ""), "{problem}");
    assert!(problem.to_lowercase().contains("security"), "it says why: {problem}");
}

#[tokio::test]
async fn it_is_killed_when_the_time_that_it_has_to_end_is_over() {
    let test_robot = TestRobot::empty();
    for (given, half) in [(&[][..], 60.0), (&["shutdown_timeout:=300"][..], 150.0)] {
        let (_, nodes) = read(&test_robot, "cortex.launch.py", given).await.unwrap();
        for step in ["sigterm_timeout", "sigkill_timeout"] {
            assert_eq!(nodes[0][step].as_str().and_then(|text| text.parse().ok()), Some(half), "{step}");
        }
    }
}

#[tokio::test]
async fn what_the_files_start_works_together() {
    let mut test_robot = TestRobot::empty();
    let (_, robot) = read(&test_robot, "sim_robot.launch.py", &["namespace:=home"]).await.unwrap();
    // A file of the whole robot: what others need, and a section for Cortex in any namespace.
    let parameters = test_robot.file(
        "parameters.yaml",
        "/**:\n  ros__parameters:\n    robot_description: <robot/>\n    qos_overrides./clock.subscription.depth: 1\n\
         /*/cortex:\n  ros__parameters:\n    robot: tidy\n    log_level: debug\n",
    );
    let file = format!("params_file:={parameters}");
    let given = ["namespace:=home", "model:=reflex", file.as_str()];
    let (_, cortex) = read(&test_robot, "cortex.launch.py", &given).await.unwrap();
    for node in robot.iter().chain(&cortex) {
        let line = command_line(node);
        let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
        let program = node["executable"].as_str().unwrap();
        test_robot.start(program, program, &arguments).await;
    }
    let (code, said, problem) =
        test_robot.run("cortex", &["send", "--json", "--server", "/home/cortex", "--wait", "20", "say hello"]).await;
    assert_eq!(code, Some(0), "{said}\n{problem}");
    assert!(said.contains("/tidy/cortex"), "the parameters file was read: {said}");
}

/// The launch file names its own process; `ros2 launch` that gets SIGTERM ends at once and leaves its children.
#[tokio::test]
async fn a_killed_launch_system_left_the_whole_robot_running() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let recipe = test_robot.file(
        "robot.toml",
        "recipe = 1\n\
         [components.base]\n\
         start = { program = \"cortex-sim\", arguments = [\"component\", \"base\"] }\n\
         parameters = { speed_mps = 0.05, require_battery = false }\n\
         [components.speaker]\n\
         start = { program = \"cortex-sim\", arguments = [\"component\", \"speaker\"] }\n",
    );
    let (_, nodes) =
        read(&test_robot, "cortex.launch.py", &[&format!("recipe:={recipe}"), "model:=reflex"]).await.unwrap();
    let arguments = own_arguments(&nodes[0]);
    let line = [&["cortex", "run", "--exit-with-pid", "{launcher}"], arguments.as_slice()].concat();
    let mut launcher = test_robot.spawn_python("launcher.py", &line);
    launcher.wait_for_line("ready").await;
    let mut task = test_robot.begin_send("go to the kitchen");
    let is_under_way = |event: &Value| event["data"]["text"].as_str().is_some_and(|text| text.starts_with("in flight"));
    task.wait_for_json("the drive", is_under_way).await;

    launcher.signal("KILL");
    assert_eq!(launcher.wait().await, None);
    let sent = finish_send(task).await;
    assert_eq!(sent.words(), "Cortex is shutting down.", "{sent:#?}");
    assert_eq!(sent.step(1)["outcome"]["halt"], "halted", "while the robot still answered: {sent:#?}");
    launcher.wait_for_log("base is down", 1).await;
    launcher.wait_for_log("which has started Cortex, is gone; shutting down", 1).await;
    assert_eq!(test_robot.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_recipe_takes_the_time_of_cortex_and_says_that_it_does_not_take_its_namespace() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let component = |name: &str, more: &str| {
        format!(
            "[components.{name}]\nstart = {{ program = \"cortex-sim\", arguments = [\"component\", \"speaker\"]{more} }}\n"
        )
    };
    let inside = component("\"home/speaker\"", ", ros_arguments = [\"-r\", \"__ns:=/home\"]");
    let own_time = format!("{inside}parameters = {{ use_sim_time = false }}\n");
    let recipe = test_robot.file("robot.toml", &format!("recipe = 1\n{}{own_time}", component("speaker", "")));
    let ros = ["--model", "reflex", "--ros-args", "-r", "__ns:=/home", "-p", "use_sim_time:=true"];
    let mut robot = Monitored::start(&test_robot, &recipe, &ros);
    robot.wait_until_all_work(&["speaker", "home/speaker"]).await;
    for (name, time) in [("speaker", "use_sim_time:=true"), ("home/speaker", "use_sim_time:=false")] {
        let process = robot.process_of(name).unwrap();
        let line = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap();
        assert_eq!(line.matches("use_sim_time").count(), 1, "{line}");
        assert!(line.split('\0').any(|argument| argument == time), "{line}");
    }
    let told = robot.process().stderr().into_iter().find(|line| line.contains("is in the namespace")).unwrap();
    assert!(told.contains("these components are not") && told.contains("gives them: speaker. Another"), "{told}");
    assert!(told.contains("[components.\"home/speaker\"]") && told.contains("\"__ns:=/home\""), "{told}");
    assert_eq!(robot.stop().await, Some(0));
}

#[tokio::test]
async fn a_terminal_that_was_closed_had_cortex_end_without_halting_anything() {
    let mut test_robot = TestRobot::with_slow_robot().await;
    let mut task = test_robot.begin_send("go to the bathroom");
    let is_under_way = |event: &Value| event["data"]["text"].as_str().is_some_and(|text| text.starts_with("in flight"));
    task.wait_for_json("the drive", is_under_way).await;
    test_robot.process("cortex").signal("HUP");
    assert_eq!(finish_send(task).await.words(), "Cortex is shutting down.");
    assert_eq!(test_robot.process("cortex").wait().await, Some(0));
    assert!(test_robot.process("cortex").stderr().join("\n").contains("SIGHUP received; shutting down"));
}

#[tokio::test]
async fn nothing_is_started_for_a_launch_system_that_is_gone() {
    let test_robot = TestRobot::empty();
    // Ids begin at 1 and end long before that.
    let (code, _, told) = test_robot.run("cortex", &["run", "--exit-with-pid", "2000000000"]).await;
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("process 2000000000 (--exit-with-pid) is gone, or did not start this one"), "{told}");
}

#[tokio::test]
async fn ros_arguments_that_are_wrong_were_taken_for_a_missing_ros() {
    let test_robot = TestRobot::empty();
    let (code, _, told) = test_robot.run("cortex", &["run", "--ros-args", "--log-level", "cortex:=verbose"]).await;
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("the ROS arguments can't be used") && !told.contains("source a ROS 2"), "{told}");
}

#[tokio::test]
async fn a_slip_in_a_table_of_the_configuration_keeps_cortex_from_starting_and_one_elsewhere_is_told() {
    let mut test_robot = TestRobot::empty();
    let (code, _, told) = test_robot.run("cortex", &["run", "--ros-args", "-p", "discovery.den:=['/base/**']"]).await;
    assert_eq!(code, Some(2), "what was to be forbidden must not be allowed: {told}");
    assert!(told.contains("den") && told.contains("in ROS parameters"), "{told}");
    let slip = ["run", "--model", "reflex", "--ros-args", "-p", "modle:=reflex", "-p", "robot_description:=x"];
    test_robot.start("cortex", "cortex", &slip).await;
    // Before it ends, the log is written to its end.
    let cortex = test_robot.process("cortex");
    cortex.signal("TERM");
    assert_eq!(cortex.wait().await, Some(0));
    let log = cortex.stderr().join("\n");
    assert!(log.contains("'modle' is none of Cortex, and is left out; did you mean 'model'?"), "{log}");
    assert!(log.contains("'robot_description' is none of Cortex, and is left out"), "{log}");
}

/// r2r's build scripts watch variables, no files: what changes in place has to change one of these.
#[tokio::test]
async fn colcon_kept_bindings_of_interfaces_that_had_changed_in_place() {
    let test_robot = TestRobot::empty();
    let (ros, own) = (test_robot.state().join("ros"), test_robot.state().join("own"));
    let message = ros.join("share/box_msgs/msg/Box.msg");
    for folder in [message.parent().unwrap(), &own] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let cargo = test_robot.file("cargo", "#!/bin/sh\necho \"$IDL_PACKAGE_FILTER\" \"$AMENT_PREFIX_PATH\"\n");
    std::fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch/cargo.cmake");
    let built = |prefixes: String| {
        let mut cmake = std::process::Command::new(cmake());
        cmake.env("AMENT_PREFIX_PATH", prefixes).args(["-D", "PACKAGES=box_msgs;other_msgs"]);
        cmake.args(["-D", &format!("CARGO={cargo}"), "-D", &format!("OWN_PREFIX={}", own.display())]);
        let output = cmake.arg("-P").arg(&script).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::write(&message, "bool a\n").unwrap();
    let first = built(ros.display().to_string());
    assert!(first.starts_with("box_msgs;other_msgs;digest_"), "{first}");
    assert!(first.trim_end().ends_with(&format!(" {}", ros.display())), "{first}");
    // The second time, the workspace is sourced.
    let sourced = format!("{}:{}:{}", own.display(), ros.display(), ros.display());
    assert_eq!(built(sourced.clone()), first, "nothing is built anew");
    std::fs::write(&message, "bool a\nbool b\n").unwrap();
    assert_ne!(built(sourced), first);
}

/// The CMake of the private ROS, or else that of the machine.
fn cmake() -> std::path::PathBuf {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&prefixes).map(|prefix| prefix.join("bin/cmake"));
    programs.find(|program| program.is_file()).unwrap_or_else(|| "cmake".into())
}
