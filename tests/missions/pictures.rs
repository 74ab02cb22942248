//! What a camera shows, in the request to a model that sees, on real ROS 2.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cortex_stories::{TestRobot, calls, model, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// The simulated robot, and a Cortex whose model is said to see.
async fn robot_that_sees(model: &OpenAiServer) -> TestRobot {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let name = format!("openai:scripted@{}", model.url());
    let sees = format!("endpoint.sees_pictures:=['{name}']");
    test_robot.start_cortex(&["--model", &name, "--ros-args", "-p", &sees]).await;
    test_robot
}

/// The files of the pictures that a request shows, each with its kind.
fn pictures(request: &Value) -> Vec<(String, Vec<u8>)> {
    let parts = request["messages"].as_array().into_iter().flatten();
    let parts = parts.filter_map(|message| message["content"].as_array()).flatten();
    let urls = parts.filter_map(|part| part.pointer("/image_url/url")?.as_str());
    urls.map(|url| {
        let (kind, data) = url.split_once(";base64,").expect("a data URL");
        (kind.to_owned(), STANDARD.decode(data).expect("base64"))
    })
    .collect()
}

fn offers_pictures(request: &Value) -> bool {
    request["tools"]
        .as_array()
        .is_some_and(|tools| tools.iter().any(|tool| tool.pointer("/function/name") == Some(&json!("pictures-take"))))
}

#[tokio::test]
async fn a_picture_of_the_camera_reaches_a_model_that_sees() {
    let server = model([calls([("pictures-take", json!({}))]), says("I see a table and a lamp.")]).await;
    let test_robot = robot_that_sees(&server).await;
    let sent = test_robot.send("look around you and tell me what is there").await;
    assert!(sent.words().contains("I see a table and a lamp."), "{sent:#?}");
    assert!(sent.started().is_empty(), "nothing moved: {sent:#?}");
    let requests = server.requests();
    let [first, second] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    assert!(offers_pictures(first) && pictures(first).is_empty());
    let shown = pictures(second);
    let [(kind, file)] = shown.as_slice() else { panic!("{} pictures", shown.len()) };
    assert!(kind == "data:image/jpeg" && file.starts_with(&[0xff, 0xd8, 0xff]), "{kind}, {} bytes", file.len());
    assert!(file.len() > 1_000, "a picture of a room, not of one colour: {} bytes", file.len());
    let told = serde_json::to_string(&sent.events).expect("JSON");
    assert!(!told.contains("base64"), "no pixels in what is recorded and told");
    assert!(told.contains("/camera/image"), "but which picture it was: {told}");
}

#[tokio::test]
async fn a_model_that_is_not_said_to_see_is_offered_no_pictures() {
    let server = model([says("I can't see.")]).await;
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex_with(&server).await;
    test_robot.send("look around you and tell me what is there").await;
    let requests = server.requests();
    assert!(!requests.is_empty() && requests.iter().all(|request| !offers_pictures(request)));
}

#[tokio::test]
async fn an_endpoint_that_refuses_pictures_is_asked_without_and_told_that_it_sees_nothing() {
    let refusal = r#"{"error":{"message":"image input is not supported - hint: you may need to provide the mmproj"}}"#;
    let server = OpenAiServer::answering(move |request| {
        if !pictures(request).is_empty() {
            return Served::Raw(500, refusal.to_owned());
        }
        let text = request["messages"].to_string();
        if text.contains("You can't see this picture") {
            says("I can't see what my camera shows.")
        } else {
            calls([("pictures-take", json!({}))])
        }
    })
    .await
    .expect("a free port");
    let test_robot = robot_that_sees(&server).await;
    let sent = test_robot.send("look around you and tell me what is there").await;
    assert!(sent.words().contains("I can't see what my camera shows."), "{sent:#?}");
    let refused = server.requests().iter().filter(|request| !pictures(request).is_empty()).count();
    assert_eq!(refused, 1, "asked with pictures once");
}
