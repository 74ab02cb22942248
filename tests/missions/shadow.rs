//! A second model beside the planner, on real ROS 2: where it would act otherwise, a person is asked before anything moves; one
//! that is dead or slow changes nothing.

use cortex_stories::{Sent, TestRobot, calls, finish_send, model, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// What reflex does not understand, so that no doubt is its own.
const TASK: &str = "bring yourself to where we cook";

fn to(place: &str) -> Served {
    calls([("base-go_to", json!({"place": place}))])
}

/// Seconds for a second model that answers, however busy the machine is.
const PATIENT: &str = "10.0";

/// The simulated robot, and a Cortex with these two models, which waits so many seconds for the second one.
async fn robot_with(planner: &OpenAiServer, second: &str, wait_s: &str) -> TestRobot {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let (planner, second) = (format!("openai:planner@{}", planner.url()), format!("shadow.model:={second}"));
    let wait = format!("shadow.wait_s:={wait_s}");
    let parameters = ["--ros-args", "-p", &second, "-p", "shadow.doubts:=true", "-p", &wait];
    test_robot.start_cortex(&[["--model", &planner].as_slice(), &parameters].concat()).await;
    test_robot
}

/// What was told of the second model.
fn told(sent: &Sent) -> Vec<String> {
    let compared = sent.events.iter().filter(|event| event["type"] == "cortex.plan.compared");
    let text = |event: &Value| event.pointer("/data/text").and_then(Value::as_str).unwrap_or_default().to_owned();
    compared.map(text).collect()
}

#[tokio::test]
async fn a_plan_that_a_second_model_would_not_have_made_waits_for_a_person() {
    let planner = model([to("bedroom"), says("I leave it.")]).await;
    let second = model([to("kitchen"), says("Nothing to do.")]).await;
    let test_robot = robot_with(&planner, &format!("openai:second@{}", second.url()), PATIENT).await;
    let mut sending = test_robot.begin_send(TASK);
    let asked = sending.wait_for_json("a question", |event| event["type"] == "cortex.question.asked").await;
    let text = asked["data"]["text"].as_str().unwrap();
    let doubt = "plans otherwise: it would do base go to (kitchen); only the plan has: base go to (bedroom).";
    assert!(text.contains("openai:second@") && text.contains(doubt), "{text}");
    let (code, told_then, complained) = test_robot.run("cortex", &["deny", "that is the wrong room"]).await;
    assert_eq!(code, Some(0), "{told_then}{complained}");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.started()), ("failed", Vec::new()), "nothing moved: {sent:#?}");
    assert!(told(&sent)[0].contains("plans otherwise"), "{sent:#?}");
}

#[tokio::test]
async fn a_second_model_that_agrees_is_told_of_and_one_that_is_dead_or_slow_changes_nothing() {
    let script = || [to("kitchen"), says("EXECUTE"), says("I am in the kitchen.")];
    let agrees = model([to("kitchen"), says("I am in the kitchen.")]).await;
    let hangs = model(vec![Served::Hang; 4]).await;
    let cases = [(agrees.url(), PATIENT, "plans the same"), (hangs.url(), "0.5", "does not plan along")];
    for (second, wait_s, says) in cases {
        let planner = model(script()).await;
        let test_robot = robot_with(&planner, &format!("openai:second@{second}"), wait_s).await;
        let sent = test_robot.send(TASK).await;
        assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{sent:#?}");
        assert!(told(&sent)[0].contains(says), "{:?}", told(&sent));
    }
    let planner = model(script()).await;
    let test_robot = robot_with(&planner, "openai:second@http://127.0.0.1:9/v1", PATIENT).await;
    let sent = test_robot.send(TASK).await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{sent:#?}");
    assert!(told(&sent)[0].contains("does not plan along"), "{:?}", told(&sent));
}
