//! Everyday sentences without a model, on real ROS 2: conditions that the robot looks at, wordings that it learns, and
//! what it tells of itself.

use cortex_stories::{Sent, TestRobot, finish_send};

/// A task that is done, or answered.
async fn done(test_robot: &TestRobot, task: &str) -> Sent {
    let sent = test_robot.send(task).await;
    assert_eq!(sent.code, Some(0), "{task}: {sent:#?}");
    sent
}

#[tokio::test]
async fn what_depends_on_a_condition_is_done_by_what_the_robot_finds() {
    let test_robot = TestRobot::with_robot("reflex").await;
    done(&test_robot, "turn off the light in the kitchen").await;
    let task = "if the light in the kitchen is on, turn it off";
    let off = test_robot.send(task).await;
    assert!(off.output().starts_with("The light in the kitchen is off, so I did nothing."), "{}", off.output());
    assert_eq!(off.started(), Vec::<&str>::new());
    done(&test_robot, "turn on the light in the kitchen").await;
    let on = done(&test_robot, task).await;
    assert_eq!((on.started(), on.status()), (vec!["light.turn_off"], "succeeded"), "{on:#?}");
    let task = "unless the light in the kitchen is on, turn it on, then go to the office";
    let both = test_robot.send(task).await;
    assert_eq!(both.started(), vec!["light.turn_on", "base.go_to"], "{both:#?}");
    // What nobody can look at moves nothing.
    let dark = test_robot.send("turn on the light in the kitchen if it is dark outside").await;
    assert_eq!((dark.started(), dark.code), (vec![], Some(1)), "{dark:#?}");
}

#[tokio::test]
async fn a_wording_that_a_person_has_accepted_is_asked_about_once() {
    let test_robot = TestRobot::with_robot("reflex").await;
    let task = "the kitchen light should glow";
    let mut sending = test_robot.begin_send(task);
    let asked = sending.wait_for_json("a question", |event| event["type"] == "cortex.question.asked").await;
    let choices = asked.pointer("/data/payload/question/subject/choices").unwrap();
    let (code, _, complained) = test_robot.run("cortex", &["answer", choices[0].as_str().unwrap()]).await;
    assert_eq!(code, Some(0), "{complained}");
    let sent = finish_send(sending).await;
    assert_eq!((sent.code, sent.started()), (Some(0), vec!["light.turn_on"]), "{sent:#?}");
    let learnt = done(&test_robot, task).await;
    assert_eq!(learnt.started(), vec!["light.turn_on"]);
    assert!(learnt.output().contains("As you told me on "), "{}", learnt.output());
    // What was accepted of one light says nothing of another one.
    let mut other = test_robot.begin_send("the bedroom light should glow");
    other.wait_for_json("a question", |event| event["type"] == "cortex.question.asked").await;
    other.signal("INT");
    other.wait().await;
    let (code, told, complained) = test_robot.run("cortex", &["wordings", "forget", task]).await;
    assert_eq!(code, Some(0), "{told} {complained}");
    let mut again = test_robot.begin_send(task);
    again.wait_for_json("a question", |event| event["type"] == "cortex.question.asked").await;
}

#[tokio::test]
async fn what_the_tools_name_is_told_and_is_an_answer() {
    let test_robot = TestRobot::with_robot("reflex").await;
    for (task, told) in [("which rooms do you know?", "kitchen"), ("where can you go?", "office"), ("hello", "")] {
        let sent = done(&test_robot, task).await;
        assert!(sent.output().contains(told) && sent.started().is_empty(), "{task}: {}", sent.output());
    }
}
