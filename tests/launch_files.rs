//! The launch files: what they offer, and that what they would start is taken by the programs that they start.

#![expect(clippy::panic, reason = "a story that can't be told ends here, and says why")]

use std::path::Path;

use cortex_stories::House;
use serde_json::{Value, json};

/// What a launch file says: its arguments, and the nodes that it would start.
async fn read(house: &House, file: &str, arguments: &[&str]) -> Result<(Vec<Value>, Vec<Value>), String> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = tree.join("launch").join(file);
    let (path, prefix) = (path.to_string_lossy(), tree.join("nowhere"));
    let prefix = prefix.to_string_lossy();
    let arguments = [&[path.as_ref(), prefix.as_ref()], arguments].concat();
    let mut reader = house.spawn_python("launch_files.py", &arguments);
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

/// The command line that launch makes of a node.
fn command_line(node: &Value) -> Vec<String> {
    let texts = |key: &str| -> Vec<String> {
        node[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut line = texts("arguments");
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
    let house = House::empty();
    for (file, names) in [
        (
            "cortex.launch.py",
            "recipe model config namespace use_sim_time log_level params_file autostart respawn".to_owned(),
        ),
        ("sim_robot.launch.py", "world namespace use_sim_time".to_owned()),
    ] {
        let (arguments, _) = read(&house, file, &[]).await.unwrap();
        let told: Vec<&str> = arguments.iter().filter_map(|argument| argument["argument"].as_str()).collect();
        assert_eq!(told.join(" "), names);
        for argument in arguments {
            assert!(argument["description"].as_str().is_some_and(|words| words.len() > 20), "{argument}");
        }
    }
}

#[tokio::test]
async fn the_arguments_reach_the_node() {
    let house = House::empty();
    let (_, nodes) = read(&house, "cortex.launch.py", &[]).await.unwrap();
    assert_eq!((&nodes[0]["arguments"], &nodes[0]["respawn"]), (&json!(["run"]), &json!(false)));
    assert_eq!((&nodes[0]["parameters"], &nodes[0]["ros_arguments"]), (&json!([]), &json!([])));
    let given = ["recipe:=patrol", "model:=openai:m@http://localhost:1/v1", "use_sim_time:=True", "respawn:=true"];
    let (_, nodes) = read(&house, "cortex.launch.py", &given).await.unwrap();
    let arguments: Vec<&str> = nodes[0]["arguments"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(arguments[0], "run");
    assert!(arguments[1].ends_with("nowhere/share/cortex/recipes/patrol.toml"), "{arguments:?}");
    assert_eq!(arguments[2..], ["--model", "openai:m@http://localhost:1/v1"]);
    assert_eq!(nodes[0]["parameters"], json!([{"use_sim_time": true}]));
    assert_eq!(nodes[0]["respawn"], true);
    let given = ["params_file:=/robot.yaml", "autostart:=false", "log_level:=debug"];
    let (_, nodes) = read(&house, "cortex.launch.py", &given).await.unwrap();
    assert_eq!(
        nodes[0]["parameters"],
        json!(["/robot.yaml", {"autostart": false}]),
        "what is given goes over the file"
    );
    assert_eq!(nodes[0]["ros_arguments"], json!(["--log-level", "cortex:=debug"]));
    let (_, nodes) = read(&house, "cortex.launch.py", &["recipe:=./mine.toml"]).await.unwrap();
    let own = nodes[0]["arguments"][1].as_str().unwrap();
    assert!(Path::new(own).is_absolute() && own.ends_with("/mine.toml"), "{own}");
    let problem = read(&house, "cortex.launch.py", &["respawn:=perhaps"]).await.unwrap_err();
    assert!(problem.contains("'perhaps' is neither true nor false"), "{problem}");
}

#[tokio::test]
async fn what_the_files_start_works_together() {
    let mut house = House::empty();
    let (_, robot) = read(&house, "sim_robot.launch.py", &["namespace:=home"]).await.unwrap();
    // A file of the whole robot: what others need, and a section for Cortex in any namespace.
    let parameters = house.file(
        "parameters.yaml",
        "/**:\n  ros__parameters:\n    robot_description: <robot/>\n    qos_overrides./clock.subscription.depth: 1\n\
         /*/cortex:\n  ros__parameters:\n    robot: tidy\n    log_level: debug\n",
    );
    let file = format!("params_file:={parameters}");
    let given = ["namespace:=home", "model:=reflex", file.as_str()];
    let (_, cortex) = read(&house, "cortex.launch.py", &given).await.unwrap();
    for node in robot.iter().chain(&cortex) {
        let line = command_line(node);
        let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
        let program = node["executable"].as_str().unwrap();
        house.start(program, program, &arguments).await;
    }
    let (code, said, problem) =
        house.run("cortex", &["send", "--json", "--server", "/home/cortex", "--wait", "20", "say hello"]).await;
    assert_eq!(code, Some(0), "{said}\n{problem}");
    assert!(said.contains("/tidy/cortex"), "the parameters file was read: {said}");
}

#[tokio::test]
async fn a_slip_in_a_table_of_the_configuration_keeps_cortex_from_starting_and_one_elsewhere_is_told() {
    let mut house = House::empty();
    let (code, _, told) = house.run("cortex", &["run", "--ros-args", "-p", "discovery.den:=['/base/**']"]).await;
    assert_eq!(code, Some(2), "what was to be forbidden must not be allowed: {told}");
    assert!(told.contains("den") && told.contains("in ROS parameters"), "{told}");
    let slip = ["run", "--model", "reflex", "--ros-args", "-p", "modle:=reflex", "-p", "robot_description:=x"];
    house.start("cortex", "cortex", &slip).await;
    // Before it ends, the log is written to its end.
    let cortex = house.process("cortex");
    cortex.signal("TERM");
    assert_eq!(cortex.wait().await, Some(0));
    let log = cortex.stderr().join("\n");
    assert!(log.contains("'modle' is none of Cortex, and is left out; did you mean 'model'?"), "{log}");
    assert!(log.contains("'robot_description' is none of Cortex, and is left out"), "{log}");
}
