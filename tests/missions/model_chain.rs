//! Several models in a row, on real ROS 2: one dies, one is too slow, and reflex does what it can answer for. Beside another
//! model it reads each task.

use std::time::Duration;

use cortex_stories::{Sent, TestRobot, finish_send, wait_until_under_way};
use cortex_stories::{calls, model, prompts, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};
use tokio::time::Instant;

/// How long a model that is back may take until it is asked again.
const BACK_AT_MOST: Duration = Duration::from_secs(60);

/// The simulated robot, which drives slowly, and a Cortex that asks these models, and then reflex.
async fn robot_with(first: &OpenAiServer, second: &OpenAiServer) -> TestRobot {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &["--ros-args", "-p", "speed_mps:=0.5"]).await;
    let named = |name: &str, server: &OpenAiServer| format!("openai:{name}@{}", server.url());
    let others = format!("chain.models:=['{}', 'reflex']", named("second", second));
    let parameters = [&others, "chain.answer_timeout_s:=3.0", "chain.pause_s:=0.2", "endpoint.retries:=0"];
    let mut arguments = vec!["--model".to_owned(), named("first", first), "--ros-args".to_owned()];
    arguments.extend(parameters.iter().flat_map(|parameter| ["-p".to_owned(), (*parameter).to_owned()]));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    test_robot.start_cortex(&arguments).await;
    test_robot
}

/// Which models answered instead of which, in order, each change once.
fn changes(sent: &Sent) -> Vec<(&str, &str)> {
    let changes = sent.events.iter().filter(|event| event["type"] == "cortex.model.changed");
    changes
        .filter_map(|event| {
            let payload = event.pointer("/data/payload")?;
            let short = |key: &str| payload[key].as_str()?.split('@').next();
            Some((short("model")?, short("wanted")?))
        })
        .collect()
}

#[tokio::test]
async fn a_mission_survives_its_models_and_the_first_one_comes_back() {
    let plan = calls([
        ("base-go_to", json!({"place": "kitchen"})),
        ("speaker-say", json!({"text": "Dinner is ready, and you all look wonderful!"})),
        ("speaker-say", json!({"text": "Why did the robot cross the road?"})),
    ]);
    let first = model([plan, says("EXECUTE")]).await;
    let second = model(vec![Served::Hang; 20]).await;
    let test_robot = robot_with(&first, &second).await;

    let task = "go to the kitchen and say \"dinner is ready\", then cheer everybody up with a joke";
    let mut sending = test_robot.begin_send(task);
    wait_until_under_way(&mut sending).await;
    let address = first.address();
    drop(first);
    let sent = finish_send(sending).await;

    assert_eq!(sent.started(), ["base.go_to", "speaker.say"], "{sent:#?}");
    let spoken = sent.events.iter().rfind(|event| event["type"] == "cortex.step.started");
    let text = spoken.and_then(|event| event.pointer("/data/payload/arguments/text")).and_then(Value::as_str);
    assert_eq!(text, Some("dinner is ready"), "what the person wrote, not what the dead model made of it");
    assert_eq!(sent.status(), "failed", "a part of the task is not done: {sent:#?}");
    assert!(sent.output().contains("I left this: \"cheer everybody up with a joke\""), "{}", sent.output());
    assert_eq!(changes(&sent), [("reflex", "openai:first")]);
    assert!(!second.requests().is_empty(), "the second was asked, and given up");

    let _first = OpenAiServer::start_again(address, vec![says("I am back."); 200]).await.expect("the same port");
    let deadline = Instant::now() + BACK_AT_MOST;
    loop {
        let sent = test_robot.send("how are you?").await;
        if sent.output().contains("I am back.") {
            break;
        }
        assert!(Instant::now() < deadline, "the first model was not asked again: {sent:#?}");
    }
}

/// The process of a model on the robot dies within its first answer; so does each one that is started for it.
#[tokio::test]
async fn a_mission_survives_the_death_of_the_local_models_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("dies.gguf");
    std::fs::write(&file, "GGUF").expect("a file for the script to be told by");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cortex-model/tests/local/scripted.sh");
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let file = format!("local_model.file:={}", file.display());
    let program = format!("local_model.program:={script}");
    let arguments = ["--model", "local", "--ros-args", "-p", &file, "-p", &program, "-p", "chain.models:=['reflex']"];
    test_robot.start_cortex(&arguments).await;
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{sent:#?}");
    assert_eq!(changes(&sent), [("reflex", "local")]);
}

#[tokio::test]
async fn what_reflex_does_not_understand_as_a_whole_is_not_gone_on_with() {
    let drive = calls([("base-go_to", json!({"place": "kitchen"})), ("base-go_to", json!({"place": "bedroom"}))]);
    let first = model([drive, says("EXECUTE")]).await;
    let second = model(vec![Served::Hang; 20]).await;
    let test_robot = robot_with(&first, &second).await;
    let mut sending =
        test_robot.begin_send("see whether granny is in the kitchen, otherwise look for her in the bedroom");
    wait_until_under_way(&mut sending).await;
    drop(first);
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.started()), ("failed", vec!["base.go_to"]), "{sent:#?}");
    assert!(sent.output().contains("I can't tell what is left of it"), "{}", sent.output());
    assert!(sent.output().contains("It had still planned: \"base go to (bedroom)\""), "{}", sent.output());
}

#[tokio::test]
async fn a_plan_that_acts_otherwise_than_the_task_says_waits_for_a_person() {
    let to = |place: &str| calls([("base-go_to", json!({"place": place}))]);
    let instead = json!({"instead_of": [{"step": 1, "steps": ["1.1"]}]});
    let rightly = calls([("base-go_to", json!({"place": "kitchen"})), ("arrange_plan", instead)]);
    let misread = model([to("bedroom"), rightly, says("EXECUTE"), says("I am in the kitchen.")]).await;
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex_with(&misread).await;
    let mut sending = test_robot.begin_send("go to the kitchen");
    let asked = sending.wait_for_json("a question", |event| event["type"] == "cortex.question.asked").await;
    let text = asked["data"]["text"].as_str().unwrap();
    let doubt = "reflex reads the task otherwise: base go to (kitchen); the plan has: base go to (bedroom).";
    assert!(text.contains(doubt), "{text}");
    let (code, told, complained) = test_robot.run("cortex", &["deny", "the kitchen, I said"]).await;
    assert_eq!(code, Some(0), "{told}{complained}");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{sent:#?}");
    let driven = sent.events.iter().find(|event| event["type"] == "cortex.step.started");
    let place = driven.and_then(|event| event.pointer("/data/payload/arguments/place"));
    assert_eq!(place, Some(&json!("kitchen")), "the drive that nobody doubts");
    assert!(prompts(&misread)[1].contains("the kitchen, I said"), "the model has learnt why");
}
