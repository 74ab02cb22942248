//! How far a method of a component is, seen in the mission while it runs.

use cortex_stories::{TestRobot, finish_send};
use serde_json::Value;

fn feedback(event: &Value) -> &str {
    event.pointer("/data/payload/in_flight/0/feedback").and_then(Value::as_str).unwrap_or_default()
}

/// The contract had no way for it, and what a component told on a topic of its own was not heard.
#[tokio::test]
async fn regression_a_method_tells_how_far_it_is() {
    let mut test_robot = TestRobot::empty();
    test_robot.start_python("press", "press.py", &["text"]).await;
    test_robot.start_cortex(&[]).await;
    let mut sending = test_robot.begin_send("squeeze it");
    sending.wait_for_json("how far it is", |event| feedback(event).ends_with(" of 3.0 mm")).await;
    let sent = finish_send(sending).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let (_, told, _) = test_robot.run("cortex", &["inspect", "press"]).await;
    assert!(told.contains("tells its progress on /press/squeeze/progress"), "{told}");
}

#[tokio::test]
async fn progress_that_is_a_flood_or_nonsense_or_none_harms_no_call() {
    for kind in ["flood", "nan", "silent"] {
        let mut test_robot = TestRobot::empty();
        test_robot.start_python("press", "press.py", &[kind]).await;
        test_robot.start_cortex(&[]).await;
        let sent = test_robot.send("squeeze it").await;
        assert_eq!(sent.status(), "succeeded", "{kind}: {sent:#?}");
        let longest = sent.events.iter().map(|event| feedback(event).chars().count()).max().unwrap_or_default();
        assert!(longest <= 400, "{kind}: {longest} characters");
        let lines = sent.events.iter().filter(|event| event["type"] == "cortex.tool.progressed").count();
        assert!(lines < 100, "{kind}: {lines} lines in three seconds");
    }
}
