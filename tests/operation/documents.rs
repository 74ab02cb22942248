//! Documents that people add: a model looks up what it was not told with the task.

use cortex_stories::{TestRobot, calls, model, prompts, says};
use serde_json::json;

#[tokio::test]
async fn a_model_searches_the_documents_in_words_of_its_own() {
    let mut test_robot = TestRobot::empty();
    let manual =
        "# Lift\n\n## Doors\n\nThe doors of the lift stay open for 12 seconds.\n\n## Keys\n\nAsk the porter.\n";
    let file = test_robot.file("lift.md", manual);
    let (code, told, complained) = test_robot.run("cortex", &["knowledge", "add", &file]).await;
    assert_eq!(code, Some(0), "{told}{complained}");
    test_robot.start("sim", "cortex-sim", &[]).await;
    let search = calls([("knowledge-search", json!({"text": "how long do the doors of the lift stay open?"}))]);
    let model = model([search, says("Twelve seconds, says lift.md.")]).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("how much time do I have at the elevator?").await;
    assert_eq!((sent.status(), sent.words()), ("succeeded", "Twelve seconds, says lift.md."), "{sent:#?}");
    let told = prompts(&model);
    assert!(!told[0].contains("12 seconds"), "it was not told with the task: {}", told[0]);
    assert!(told[1].contains("lift.md, Lift, Doors] The doors of the lift stay open for 12 seconds."), "{}", told[1]);
}

#[tokio::test]
async fn where_there_are_no_documents_nothing_is_offered_to_search_them() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let model = model([says("I am well.")]).await;
    test_robot.start_cortex_with(&model).await;
    test_robot.send("how much time do I have at the elevator?").await;
    let offered = model.requests()[0]["tools"].to_string();
    assert!(offered.contains("camera-look"), "{offered}");
    assert!(!offered.contains("knowledge-search") && !offered.contains("skills-read"), "{offered}");
}
