//! A robot that remembers, over a restart: what it saw and where, that it looked and found nothing, and what its body reads.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here")]

use cortex_stories::{Monitored, Sent, TestRobot, calls, model, prompts, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::json;

const COMPONENTS: [&str; 4] = ["base", "battery", "camera", "speaker"];

fn recipe() -> String {
    format!("{}/../recipes/memory.toml", env!("CARGO_MANIFEST_DIR"))
}

async fn keeper(test_robot: &TestRobot, arguments: &[&str]) -> Monitored {
    let mut robot = Monitored::start(test_robot, &recipe(), arguments);
    robot.wait_until_all_work(&COMPONENTS).await;
    let ready = robot.process().wait_for_line("ready").await;
    assert!(ready.ends_with("the robot is up"), "{ready}");
    robot
}

async fn end(mut robot: Monitored) {
    robot.process().signal("INT");
    assert_eq!(robot.process().wait().await, Some(0), "{}", robot.process().stderr().join("\n"));
}

/// Asks until the answer holds these words, at most thirty times: the camera looks once a second.
async fn ask_until(test_robot: &TestRobot, question: &str, wanted: &str) -> Sent {
    let mut sent = test_robot.send(question).await;
    for _ in 1..30 {
        if sent.output().contains(wanted) {
            break;
        }
        sent = test_robot.send(question).await;
    }
    assert!(sent.output().contains(wanted), "'{question}' was never answered with '{wanted}': {}", sent.output());
    sent
}

async fn go(test_robot: &TestRobot, task: &str) {
    let sent = test_robot.send(task).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
}

#[tokio::test]
async fn what_was_seen_is_remembered_over_a_restart_and_follows_what_is_moved() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    test_robot.start_python("somebody", "moved_things.py", &[]).await;
    let robot = keeper(&test_robot, &[]).await;
    let sent = test_robot.send("where did you last see the red cup?").await;
    assert!(!sent.output().contains("kitchen"), "it has not been there: {}", sent.output());
    go(&test_robot, "go to the kitchen").await;
    ask_until(&test_robot, "where did you last see the red cup?", "red cup is at kitchen, as of ").await;
    end(robot).await;

    let robot = keeper(&test_robot, &[]).await;
    let sent = test_robot.send("where did you last see the red cup?").await;
    assert!(sent.output().contains("red cup is at kitchen, as of "), "{}", sent.output());
    assert!(sent.output().contains("says /camera/observations"), "{}", sent.output());
    test_robot.process("somebody").write_line(r#"{"a red cup": "office"}"#).await;
    test_robot.process("somebody").wait_for_line("moved").await;
    go(&test_robot, "go to the office").await;
    ask_until(&test_robot, "where did you last see the red cup?", "red cup is at office, as of ").await;
    go(&test_robot, "go to the kitchen").await;
    let wanted = "Is red cup at kitchen? No: looked at kitchen at ";
    let sent = ask_until(&test_robot, "is the red cup in the kitchen?", wanted).await;
    assert!(sent.output().contains("red cup is at office"), "it says where it is instead: {}", sent.output());

    go(&test_robot, "remember that the spare key is in the bathroom").await;
    let sent = test_robot.send("what do you know about the spare key?").await;
    assert!(sent.output().contains("pare key is at bathroom"), "{}", sent.output());
    assert!(sent.output().contains("(a person)"), "it was said, and not thought: {}", sent.output());

    let (code, told, _) = test_robot.run("cortex", &["memory", "size", "--recipe", &recipe()]).await;
    assert_eq!(code, Some(2), "{told}");
    let change = r#"{"component": "battery", "param_name": "percent", "new_value": 12.0}"#;
    let (code, told, problem) = test_robot.run("cortex", &["call", "update_parameter", change]).await;
    assert_eq!(code, Some(0), "{told}{problem}");
    let sent = test_robot.send("go to the bedroom").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert!(
        sent.output().contains("/battery_state percentage is at least 0.2, seen within 3 s (it is 0.1"),
        "{}",
        sent.output()
    );
    end(robot).await;

    let ask = async |arguments: &[&str]| {
        let recipe = recipe();
        let arguments = [&["memory"], arguments, &["--recipe", &recipe]].concat();
        test_robot.run("cortex", &arguments).await
    };
    let (code, told, problem) = ask(&["tasks", "bedroom"]).await;
    assert_eq!(code, Some(0), "{problem}");
    assert!(told.contains("go to the bedroom: failed at "), "{told}");
    let (_, told, _) = ask(&["tasks", "office"]).await;
    assert!(told.contains("go to the office: succeeded at "), "{told}");
    let (_, told, _) = ask(&["bulletin"]).await;
    assert!(told.starts_with("Health: robot battery 0.1"), "{told}");
    assert!(told.contains("Goals: 'go to the bedroom' failed, "), "it is still to be done: {told}");
    assert!(told.contains("People said: spare key is at bathroom"), "{told}");
    let (code, told, problem) = ask(&["tell", "red cup", "bathroom", "--by", "operator"]).await;
    assert_eq!(code, Some(0), "{told}{problem}");
    let (_, told, _) = ask(&["recall", "where is the red cup?"]).await;
    assert!(told.contains("red cup is at bathroom") && told.contains("operator (a person)"), "{told}");
    let (code, told, _) = ask(&["forget", "red cup"]).await;
    assert_eq!(code, Some(0), "{told}");
    let (code, told, _) = ask(&["about", "red cup"]).await;
    assert_eq!((code, told.trim()), (Some(1), "Nothing is known of that."));
}

#[tokio::test]
async fn a_model_is_told_what_is_known_and_offered_the_memory() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    // The robot makes its memory when it runs for the first time.
    end(keeper(&test_robot, &[]).await).await;
    let tell = ["memory", "tell", "red cup", "kitchen", "--by", "operator", "--recipe", &recipe()];
    let (code, _, problem) = test_robot.run("cortex", &tell).await;
    assert_eq!(code, Some(0), "{problem}");
    let model = model([says("In the kitchen, as somebody told me.")]).await;
    let robot = keeper(&test_robot, &["--model", &format!("openai:scripted@{}", model.url())]).await;
    let sent = test_robot.send("where did you last see the red cup?").await;
    assert!(sent.output().contains("In the kitchen"), "{sent:#?}");
    let told = prompts(&model);
    let first = told.first().map(String::as_str).unwrap_or_default();
    assert!(first.contains("red cup is at kitchen, as of ") && first.contains("operator (a person)"), "{first}");
    let offered = model.requests().first().map(|request| request["tools"].to_string()).unwrap_or_default();
    assert!(offered.contains("memory-locate") && offered.contains("things"), "the layers are known: {offered}");
    end(robot).await;
}

/// A model that plans a patrol, confirms each step, and declines what could not be done; other tasks it answers in words.
async fn patrolling_model() -> OpenAiServer {
    let model = OpenAiServer::answering(|request| {
        let asked = request.to_string();
        if request.get("response_format").is_some() {
            Served::Decision("EXECUTE".to_owned())
        } else if asked.contains("words: \\\"what did you do today?") {
            says("I tried to patrol.")
        } else if asked.contains("The record") || asked.contains("not called") {
            calls([("decline_task", json!({"reason": "My battery is too low for a patrol."}))])
        } else {
            calls([("base-go_to", json!({"place": "kitchen"})), ("base-go_to", json!({"place": "office"}))])
        }
    });
    model.await.expect("a free port")
}

#[tokio::test]
async fn a_low_battery_refuses_a_patrol_and_a_model_knows_what_was_tried_today() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let model = patrolling_model().await;
    let robot = keeper(&test_robot, &["--model", &format!("openai:scripted@{}", model.url())]).await;
    let change = r#"{"component": "battery", "param_name": "percent", "new_value": 12.0}"#;
    let (code, told, problem) = test_robot.run("cortex", &["call", "update_parameter", change]).await;
    assert_eq!(code, Some(0), "{told}{problem}");
    let sent = test_robot.send("patrol the kitchen and the office").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    let reading = "/battery_state percentage is at least 0.2, seen within 3 s (it is 0.1";
    assert!(prompts(&model).iter().any(|prompt| prompt.contains(reading)), "{:#?}", prompts(&model));
    assert!(sent.output().contains("My battery is too low for a patrol."), "{}", sent.output());
    assert!(sent.account().starts_with("Nothing was completed"), "{}", sent.account());

    let sent = test_robot.send("what did you do today?").await;
    assert!(sent.output().contains("I tried to patrol."), "{sent:#?}");
    let told = prompts(&model).pop().unwrap_or_default();
    assert!(told.contains("'patrol the kitchen and the office' failed"), "{told}");
    end(robot).await;
}

/// What was asked in a session is gone on with after a restart, in that session alone; a model is told of it as of a record.
#[tokio::test]
async fn a_conversation_goes_on_over_a_restart_and_what_is_not_understood_moves_nothing() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    let robot = keeper(&test_robot, &[]).await;
    let sent = test_robot.send_in_session("home", "go to the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    end(robot).await;

    let robot = keeper(&test_robot, &[]).await;
    let nothing = Vec::<&str>::new();
    let sent = test_robot.send_in_session("office", "do that again").await;
    assert_eq!(sent.started(), nothing, "nothing was asked in this session: {sent:#?}");
    let sent = test_robot.send_in_session("home", "do that again").await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["base.go_to"]), "{sent:#?}");
    let sent = test_robot.send_in_session("home", "no, the other one").await;
    assert_eq!(sent.started(), nothing, "nobody knows which: {sent:#?}");
    let sent = test_robot.send_in_session("home", "what did I ask you before?").await;
    assert!(sent.output().contains("go to the kitchen"), "{}", sent.output());
    let sent = test_robot.send_in_session("office", "what did I ask you before?").await;
    assert!(!sent.output().contains("go to the kitchen"), "it was asked in another one: {}", sent.output());
    end(robot).await;

    let model = model([says("Hello again."), says("Hello.")]).await;
    let robot = keeper(&test_robot, &["--model", &format!("openai:scripted@{}", model.url())]).await;
    test_robot.send_in_session("home", "hello").await;
    let told = prompts(&model).first().cloned().unwrap_or_default();
    assert!(told.contains("Earlier in this conversation (over and done"), "{told}");
    assert!(told.contains("\"go to the kitchen\": SUCCEEDED"), "{told}");
    test_robot.send_in_session("garden", "hello").await;
    let told = prompts(&model).pop().unwrap_or_default();
    assert!(!told.contains("Earlier in this conversation"), "{told}");
    end(robot).await;

    let ask = async |arguments: &[&str]| {
        let recipe = recipe();
        test_robot.run("cortex", &[&["memory"], arguments, &["--recipe", &recipe]].concat()).await
    };
    let (code, told, problem) = ask(&["conversations", "home"]).await;
    assert_eq!(code, Some(0), "{problem}");
    assert!(told.contains("\"go to the kitchen\": SUCCEEDED: ") && told.contains(" by ros in home)"), "{told}");
    let (code, ..) = ask(&["forget", "kitchen"]).await;
    assert_eq!(code, Some(0));
    let (_, told, _) = ask(&["conversations"]).await;
    assert!(told.contains("\"do that again\"") && !told.contains("kitchen"), "{told}");
}
