//! A robot whose interfaces Cortex has never seen: the package `greenhouse_msgs` is built here, after Cortex was, and
//! served by rclpy. Its services and actions are tools all the same.

use cortex_stories::{BuiltInterfaces, TestRobot, calls, finish_send, model, prompts, says};
use serde_json::{Value, json};

const WATER: &str = "send_request_to_greenhouse-water_beds";
const HARVEST: &str = "send_goal_to_greenhouse-harvest";
const LAMP: &str = "send_request_to_greenhouse-lamp";
/// More seconds than a story lasts.
const LONG: &str = "3600.0";

/// Its parameters may be changed.
const SETS_PARAMETERS: &str = "[[policy.rules]]\nthen = \"allow\"\ntools = [\"update_parameter\"]\n\
                               arguments = { component = { one_of = [\"greenhouse\"] } }\n";

/// What the greenhouse can do beside itself: without that, whatever may move holds the node that offers it.
const HOLDS_NOTHING: &str = "[discovery.resources]\n\"/greenhouse/**\" = []\n";

/// A test robot with the greenhouse in it, in which a harvest takes so many seconds for each plant.
async fn greenhouse(cut_seconds: &str) -> TestRobot {
    let mut test_robot = TestRobot::empty();
    test_robot.set_environment(BuiltInterfaces::greenhouse().await.environment());
    test_robot.allow_undeclared();
    let setting = format!("cut_seconds:={cut_seconds}");
    test_robot.start_python("greenhouse", "greenhouse.py", &["--ros-args", "-p", &setting]).await;
    test_robot
}

fn harvest_of(bed: &str, count: u32) -> Value {
    json!({"bed": bed, "count": count, "basket": {"pose": {"position": {"x": 0, "y": 0}}}})
}

/// What the greenhouse was asked for, or how it ended.
async fn told(test_robot: &mut TestRobot, event: &str) -> Value {
    test_robot.process("greenhouse").wait_for_json(event, |line| line["event"] == event).await
}

#[tokio::test]
async fn a_model_uses_a_service_and_an_action_that_cortex_has_never_seen() {
    let mut test_robot = greenhouse(LONG).await;
    test_robot.configure(HOLDS_NOTHING);
    test_robot.start_python("slow", "bad_services.py", &["answers_late"]).await;
    let pose = json!({"header": {"frame_id": "map"},
        "pose": {"position": {"x": 1.5, "y": -2.0}, "orientation": {"yaw_deg": 90}}});
    let model = model([
        calls([
            (WATER, json!({"portions": [{"bed": "tomatoes", "litres": 2.5}, {"bed": "basil"}]})),
            (HARVEST, json!({"bed": "tomatoes", "count": 2, "basket": pose})),
            ("send_request_to_answers_late", json!({"data": true})),
            (LAMP, json!({"data": true})),
        ]),
        says("EXECUTE"),
        says("EXECUTE"),
        says("EXECUTE"),
        says("CONTINUE"),
        says("EXECUTE"),
        says("Two tomatoes are in the basket, and the lamp is on."),
    ])
    .await;
    test_robot.start_cortex_with(&model).await;
    let mut sending = test_robot.begin_send("water the beds, harvest two tomatoes, and switch the lamp on afterwards");
    // The harvest goes on until the model waits for it.
    sending.wait_for_json("CONTINUE", |event| event["data"]["payload"]["decision"] == "CONTINUE").await;
    let at_once = r#"{"component": "greenhouse", "param_name": "cut_seconds", "new_value": 0.0}"#;
    let (code, answer, problem) = test_robot.run("cortex", &["call", "update_parameter", at_once]).await;
    assert_eq!(code, Some(0), "{answer}{problem}");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.code), ("succeeded", Some(0)), "{sent:#?}");

    // What arrived: what was given, and defaults for what was not.
    let watered = told(&mut test_robot, "watered").await;
    assert_eq!(watered["portions"], json!([{"bed": "tomatoes", "litres": 2.5}, {"bed": "basil", "litres": 0.5}]));
    assert_eq!((&watered["mode"], &watered["pressure"]), (&json!(0), &json!(1.5)));
    let harvesting = told(&mut test_robot, "harvesting").await;
    assert_eq!((&harvesting["bed"], &harvesting["count"]), (&json!("tomatoes"), &json!(2)));
    let basket = &harvesting["basket"];
    assert_eq!(basket["header"]["frame_id"], "map");
    assert!(basket["header"]["stamp"]["sec"].as_i64().unwrap() > 1_600_000_000, "the time is filled in: {basket}");
    assert_eq!((&basket["pose"]["position"]["x"], &basket["pose"]["position"]["y"]), (&json!(1.5), &json!(-2.0)));
    let half = std::f64::consts::FRAC_1_SQRT_2;
    for axis in ["z", "w"] {
        let given = basket["pose"]["orientation"][axis].as_f64().unwrap();
        assert!((given - half).abs() < 1e-9, "90 degrees to the left: {basket}");
    }

    // What came back, without loss.
    assert_eq!(sent.step(1)["outcome"]["value"]["ticket"], json!(9_007_199_254_740_993_u64), "{}", sent.step(1));
    assert_eq!(sent.step(1)["outcome"]["value"]["moisture"], json!([42.5, 40.5]));
    let result = &sent.step(2)["outcome"]["value"];
    assert_eq!((&result["weight"], result["harvested"].as_array().map(Vec::len)), (&json!(0.5), Some(2)), "{result}");

    // The next step ran while the goal was going on.
    let finished = sent.events.iter().filter_map(|event| event.pointer("/data/payload/report/number")?.as_u64());
    assert_eq!(finished.collect::<Vec<_>>(), [1, 3, 2, 4], "the harvest ends after the slow service");

    // What the model was told while the goal was going on, and after it.
    let prompts = prompts(&model);
    assert_eq!(prompts.len(), 7);
    let (during, after, last) = (&prompts[4], &prompts[5], &prompts[6]);
    let age = during.split_once("In flight (called, not ended):\n- 1.2 send_goal_to_greenhouse-harvest, running for ");
    let seconds = age.and_then(|(_, rest)| rest.split_once(" s")?.0.parse::<u32>().ok());
    assert!(seconds.is_some_and(|seconds| seconds >= 2), "as long as the slow service takes: {during}");
    assert!(during.contains("latest feedback: ") && during.contains("tomatoes"), "{during}");
    assert!(during.contains("9007199254740993"), "{during}");
    assert!(after.contains("Nothing is in flight."), "{after}");
    for prompt in [after, last] {
        assert!(prompt.contains("send_goal_to_greenhouse-harvest {") && prompt.contains("\"weight\":0.5"), "{prompt}");
    }
    assert!(last.contains("the lamp is on"), "{last}");
}

#[tokio::test]
async fn a_cancelled_task_stops_all_its_goals() {
    let mut test_robot = greenhouse(LONG).await;
    test_robot.configure(HOLDS_NOTHING);
    let model = model([
        calls([(HARVEST, harvest_of("tomatoes", 1)), (HARVEST, harvest_of("basil", 1))]),
        says("EXECUTE"),
        says("EXECUTE"),
    ])
    .await;
    test_robot.start_cortex_with(&model).await;
    let mut sending = test_robot.begin_send("harvest tomatoes and basil");
    for bed in ["tomatoes", "basil"] {
        let of_bed = |line: &Value| line["event"] == "harvesting" && line["bed"] == bed;
        test_robot.process("greenhouse").wait_for_json(bed, of_bed).await;
    }
    // The second one's acceptance may still be on its way.
    sending
        .wait_for_json("both", |line| line["data"]["payload"]["in_flight"].as_array().is_some_and(|all| all.len() == 2))
        .await;
    sending.signal("INT");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.code), ("cancelled", Some(130)), "{sent:#?}");
    assert!(!sent.output().contains("WARNING"), "{}", sent.output());
    for bed in ["tomatoes", "basil"] {
        let of_bed = |line: &Value| line["event"] == "harvest" && line["bed"] == bed;
        let end = test_robot.process("greenhouse").wait_for_json(bed, of_bed).await;
        assert_eq!(end["end"], "canceled");
    }
    assert_eq!(sent.step(1)["outcome"]["halt"], "halted", "{}", sent.step(1));
    assert_eq!(sent.step(2)["outcome"]["halt"], "halted", "{}", sent.step(2));
}

#[tokio::test]
async fn two_goals_of_one_node_wait_for_each_other_unless_they_hold_nothing() {
    let mut test_robot = greenhouse("0.05").await;
    let model = model([
        calls([(HARVEST, harvest_of("tomatoes", 1)), (HARVEST, harvest_of("basil", 1))]),
        says("EXECUTE"),
        says("EXECUTE"),
        says("Both are picked."),
    ])
    .await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("harvest tomatoes and basil").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let order: Vec<String> = test_robot
        .process("greenhouse")
        .stdout()
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["event"] == "harvesting" || line["event"] == "harvest")
        .map(|line| format!("{} {}", line["event"].as_str().unwrap(), line["bed"].as_str().unwrap()))
        .collect();
    assert_eq!(order, ["harvesting tomatoes", "harvest tomatoes", "harvesting basil", "harvest basil"]);
    assert!(sent.events.iter().any(|event| event.pointer("/data/payload/kind") == Some(&json!("conflict"))));
}

#[tokio::test]
async fn wrong_arguments_are_named_by_their_path_and_nothing_is_sent() {
    let mut test_robot = greenhouse("0.05").await;
    let model = model([
        calls([(WATER, json!({"portions": [{"bed": "tomatoes", "litres": "many"}], "presure": 2.0}))]),
        calls([(WATER, json!({"portions": [{"bed": "tomatoes", "litres": 2.0}]}))]),
        says("EXECUTE"),
        says("Done."),
    ])
    .await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("water the tomatoes").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let prompts = prompts(&model);
    assert!(prompts[1].contains("portions/0/litres") && prompts[1].contains("presure"), "{}", prompts[1]);
    let watered = test_robot.process("greenhouse").stdout().iter().filter(|line| line.contains("watered")).count();
    assert_eq!(watered, 1);
}

#[tokio::test]
async fn a_service_that_says_it_failed_is_believed() {
    let mut test_robot = greenhouse("0.05").await;
    let model = model([
        calls([(WATER, json!({"portions": [{"bed": "tomatoes", "litres": 50}]}))]),
        says("EXECUTE"),
        says("The tank is too small."),
    ])
    .await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("water the tomatoes").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    let outcome = &sent.step(1)["outcome"];
    assert_eq!(outcome["status"]["failed"], "reported", "{outcome}");
    assert!(outcome["message"].as_str().unwrap().contains("the tank holds 10 litres"), "{outcome}");
}

#[tokio::test]
async fn what_is_on_the_robot_is_listed_with_schemas_and_called_by_hand() {
    let mut test_robot = greenhouse("0.05").await;
    let (code, listed, complained) = test_robot.run("cortex", &["tools", "--json"]).await;
    assert_eq!(code, Some(0), "{complained}");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let water = listed["tools"].as_array().unwrap().iter().find(|tool| tool["wire_name"] == WATER).unwrap();
    assert!(water["description"].as_str().unwrap().contains("Waters beds of the greenhouse"), "{water}");
    let properties = &water["parameters"]["properties"];
    assert_eq!((&properties["pressure"]["default"], &properties["portions"]["maxItems"]), (&json!(1.5), &json!(4)));
    assert!(properties["pressure"]["description"].as_str().unwrap().contains("in bar"), "{properties}");

    let name = "send_request_to_greenhouse/water_beds";
    let (code, answer, complained) =
        test_robot.run("cortex", &["call", "--json", name, r#"{"portions": [{"bed": "basil", "litres": 1}]}"#]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(answer.contains("9007199254740993") && answer.contains("41.0"), "{answer}");
    let (code, _, complained) = test_robot.run("cortex", &["call", name, r#"{"portions": [{"bed": 5}]}"#]).await;
    assert_eq!(code, Some(2), "{complained}");
    assert!(complained.contains("portions/0/bed"), "{complained}");

    let (code, answer, complained) =
        test_robot.run("cortex", &["call", HARVEST, &harvest_of("basil", 3).to_string()]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(answer.contains("0.75"), "{answer}");
    assert_eq!(told(&mut test_robot, "harvest").await["picked"], 3);
}

#[tokio::test]
async fn a_call_by_hand_is_halted_by_ctrl_c() {
    let mut test_robot = greenhouse(LONG).await;
    let mut call = test_robot.spawn("cortex", &["call", HARVEST, &harvest_of("basil", 1).to_string()]);
    told(&mut test_robot, "harvesting").await;
    call.signal("INT");
    let code = call.wait().await;
    assert_eq!(code, Some(130), "{}", call.stderr().join("\n"));
    assert_eq!(told(&mut test_robot, "harvest").await["end"], "canceled");
}

#[tokio::test]
async fn what_has_types_that_are_not_installed_is_listed_with_the_reason() {
    let mut test_robot = greenhouse("0.05").await;
    test_robot.set_environment(Vec::new());
    let (code, listed, complained) = test_robot.run("cortex", &["tools", "--json"]).await;
    assert_eq!(code, Some(0), "{complained}");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["wire_name"].as_str()).collect();
    assert!(names.contains(&LAMP) && !names.contains(&WATER), "{names:?}");
    let listed = listed.to_string();
    for known in ["/greenhouse/water_beds", "/greenhouse/harvest", "greenhouse_msgs"] {
        assert!(listed.contains(known), "{known} is not mentioned: {listed}");
    }
    let (code, _, complained) = test_robot.run("cortex", &["call", WATER, "{}"]).await;
    assert_eq!(code, Some(2), "{complained}");
    assert!(complained.contains("greenhouse_msgs"), "the reason is missing: {complained}");
}

#[tokio::test]
async fn a_node_is_inspected_and_its_parameter_is_changed() {
    let mut test_robot = greenhouse(LONG).await;
    test_robot.configure(SETS_PARAMETERS);
    let change = |value: Value, instead_of: &[u32]| {
        let named = json!({
            "component": "greenhouse", "param_name": "cut_seconds", "new_value": value, "instead_of": instead_of,
        });
        calls([("update_parameter", named)])
    };
    let model = model([
        calls([("inspect_component", json!({"component": "greenhouse"}))]),
        change(json!(true), &[]),
        says("EXECUTE"),
        change(json!(0), &[1]),
        says("EXECUTE"),
        says("They are cut at once now."),
    ])
    .await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("cut faster").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let prompts = prompts(&model);
    for known in ["cut_seconds", "send_goal_to_greenhouse/harvest", "greenhouse_msgs/srv/WaterBeds"] {
        assert!(prompts[1].contains(known), "{known} is missing in:\n{}", prompts[1]);
    }
    assert!(prompts[3].contains("cut_seconds"), "why a boolean was refused: {}", prompts[3]);
    // A whole number is taken for the parameter's double, and works.
    let (code, answer, complained) =
        test_robot.run("cortex", &["call", HARVEST, &harvest_of("basil", 2).to_string()]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(answer.contains("0.5"), "{answer}");
}

#[tokio::test]
async fn of_many_tools_a_model_is_offered_what_the_task_needs_and_finds_the_rest() {
    let mut test_robot = TestRobot::empty();
    test_robot.allow_undeclared();
    test_robot.start_python("crowd", "crowd.py", &["50", "10"]).await;
    let wanted = "send_request_to_node_031-service_07";
    let model = model([
        calls([("find_tools", json!({"query": "node_031 service_07"}))]),
        calls([(wanted, json!({"data": true}))]),
        says("ABORT"),
        says("I would rather not."),
    ])
    .await;
    test_robot.start_cortex_with(&model).await;
    let count = |line: &String| line.strip_prefix("tools: ")?.split(' ').next()?.parse().ok();
    let all_there = |lines: &[String]| lines.iter().filter_map(count).find(|tools: &usize| *tools > 500);
    test_robot.process("cortex").wait_for("500 services as tools", all_there).await;
    let sent = test_robot.send("look node_012 over and see to whatever is wrong there").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    let requests = model.requests();
    let offered = |index: usize| -> Vec<&str> {
        let tools = requests[index]["tools"].as_array().unwrap();
        tools.iter().filter_map(|tool| tool.pointer("/function/name").and_then(Value::as_str)).collect()
    };
    // Besides the 40: those to arrange a plan, to ask a person, to decline, and to find more.
    assert!(offered(0).len() <= 44 && offered(0).contains(&"find_tools"), "{:?}", offered(0));
    assert!(offered(0).contains(&"send_request_to_node_012-service_00"), "{:?}", offered(0));
    assert!(!offered(0).contains(&wanted) && offered(1).contains(&wanted), "{:?}", offered(1));
    let left_out = sent.events.iter().filter_map(|event| event.pointer("/data/payload/left_out")?.as_array());
    assert!(
        left_out.max_by_key(|names| names.len()).is_some_and(|names| names.len() > 400),
        "what was left out is told"
    );
}
