//! Calls that people are asked about, on real ROS 2: a gate of which nobody has declared what its services do.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test whose set-up fails ends here, and says why")]

use cortex_stories::{Process, Sent, TestRobot, calls, finish_send, model as model_of, prompts, says};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

const OPEN: &str = "send_request_to_gate-open";
const PAINT: &str = "send_request_to_gate-paint";
const RESET: &str = "send_request_to_gate-estop_reset";

/// A test robot with the gate.
async fn gate() -> TestRobot {
    let mut test_robot = TestRobot::empty();
    test_robot.start_python("gate", "gate.py", &[]).await;
    test_robot
}

/// A model that calls this, confirms it, and says so at the end, or as often as it is asked anything else.
async fn caller(tool: &'static str, arguments: Value) -> OpenAiServer {
    let confirms = move |request: &Value| {
        let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        // A confirmation carries the step's tool alone.
        tools.len() == 1 && tools[0].pointer("/function/name") == Some(&tool.into())
    };
    let asked = std::sync::atomic::AtomicUsize::new(0);
    OpenAiServer::answering(move |request| {
        let first = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        match (first, confirms(request)) {
            (true, _) => Served::Calls(vec![(tool.to_owned(), arguments.clone())]),
            (false, true) => Served::Text("EXECUTE".to_owned()),
            (false, false) => Served::Text("That is all that I can do.".to_owned()),
        }
    })
    .await
    .unwrap()
}

/// What reached the gate.
fn reached(test_robot: &mut TestRobot) -> Vec<Value> {
    test_robot.process("gate").stdout().iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Waits for the question of a task, and gives its id.
async fn question(sending: &mut Process) -> String {
    let asked = sending.wait_for_json("a question", |event| event["type"] == "cortex.question.asked").await;
    let number = &asked["data"]["payload"]["question"]["number"];
    format!("{}/{number}", asked["subject"].as_str().unwrap())
}

fn kinds(sent: &Sent) -> Vec<&str> {
    sent.events.iter().filter_map(|event| event["type"].as_str()).collect()
}

/// An answer past the command line.
async fn service_answer(test_robot: &TestRobot, words: &[&str]) -> Value {
    let mut answering = test_robot.spawn_python("answer.py", words);
    answering.wait_for_json("an answer", |line| line["success"].is_boolean()).await
}

/// `cortex send` in a terminal of its own.
fn send_in_terminal(test_robot: &mut TestRobot, task: &str) -> Process {
    test_robot.find_programs();
    test_robot.spawn_python("terminal.py", &["cortex", "send", "--wait", "20", task])
}

/// Waits until the terminal shows this, and gives all that it shows.
async fn shows(terminal: &mut Process, text: &str) -> String {
    let has = |line: &Value| line["screen"].as_str().is_some_and(|screen| screen.contains(text));
    terminal.wait_for_json(text, has).await["screen"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_nobody_has_declared_asks_and_a_denial_reaches_the_model_and_not_the_robot() {
    let mut test_robot = gate().await;
    let model = caller(OPEN, json!({"data": true})).await;
    test_robot.start_cortex_with(&model).await;
    let (_, nothing, _) = test_robot.run("cortex", &["pending"]).await;
    assert_eq!(nothing, "Nothing is asked.");
    let mut sending = test_robot.begin_send("open the gate");
    let id = question(&mut sending).await;
    let requests = model.requests().len();
    let (code, pending, complained) = test_robot.run("cortex", &["pending"]).await;
    assert_eq!(code, Some(0), "{complained}");
    for known in
        [&id, "send_request_to_gate/open {\"data\":true}", "it moves, or may move; holds gate", "  why: Nobody"]
    {
        assert!(pending.contains(known), "{known} is missing in:\n{pending}");
    }
    sending.wait_for_log(&format!("`cortex approve {id}`"), 1).await;
    assert_eq!(model.requests().len(), requests, "the model is not asked while a person is");

    let (code, told, complained) = test_robot.run("cortex", &["deny", "a child is on the gate"]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(told.starts_with("denied: send_request_to_gate/open"), "{told}");
    let sent = finish_send(sending).await;
    assert_eq!((sent.status(), sent.code), ("failed", Some(1)), "{sent:#?}");
    assert!(sent.output().contains("a child is on the gate"), "{}", sent.output());
    assert!(prompts(&model).last().unwrap().contains("a child is on the gate"), "the model is told why");
    assert_eq!(reached(&mut test_robot), Vec::<Value>::new());
}

#[tokio::test]
async fn what_is_approved_is_called_once_to_the_byte() {
    let mut test_robot = gate().await;
    let colour = "r\u{e9}d \u{202e}neerg\n\"\u{200b}";
    let mut arguments = json!({"string_value": colour, "bool_value": true, "float32_value": 0.5, "float64_value": 0.1});
    for field in ["byte", "char", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"] {
        arguments[format!("{field}_value")] = 7.into();
    }
    let model = caller(PAINT, arguments).await;
    test_robot.start_cortex_with(&model).await;
    let mut sending = test_robot.begin_send("paint the gate");
    let id = question(&mut sending).await;
    let (_, pending, _) = test_robot.run("cortex", &["pending"]).await;
    // All of it shows, and it has the same value.
    assert!(pending.contains(r#""string_value":"réd \u202eneerg\n\"\u200b""#), "{pending}");
    let (_, listed, _) = test_robot.run("cortex", &["pending", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["id"], id.as_str(), "{listed}");

    let (code, _, complained) = test_robot.run("cortex", &["answer", "red"]).await;
    assert!(code == Some(1) && complained.contains("asks for a yes or a no"), "{complained}");
    let (code, _, complained) = test_robot.run("cortex", &["approve", "nobody/1"]).await;
    assert!(code == Some(1) && complained.contains("no open question"), "{complained}");
    let end = id.rsplit('-').next().unwrap();
    let (code, told, complained) = test_robot.run("cortex", &["approve", end]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert_eq!(told, format!("approved once: send_request_to_gate/paint ({id})"));
    let sent = finish_send(sending).await;
    assert_eq!(sent.started(), ["send_request_to_gate/paint"], "{sent:#?}");
    assert_eq!(reached(&mut test_robot), [json!({"event": "painted", "colour": colour})]);
    let (code, _, complained) = test_robot.run("cortex", &["approve"]).await;
    assert!(code == Some(1) && complained.contains("nothing is asked"), "{complained}");
}

#[tokio::test]
async fn what_nobody_answers_is_not_called() {
    let mut test_robot = gate().await;
    test_robot.configure("[approval]\ndeadline_s = 2.0\n");
    let model = caller(OPEN, json!({"data": true})).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("open the gate").await;
    assert_eq!((sent.status(), sent.code), ("failed", Some(1)), "{sent:#?}");
    let ended = sent.events.iter().find(|event| event["type"] == "cortex.question.ended").unwrap();
    assert_eq!(ended["data"]["payload"]["outcome"]["outcome"], "expired", "{ended}");
    assert_eq!(reached(&mut test_robot), Vec::<Value>::new());
}

#[tokio::test]
async fn a_parameter_asks_although_other_things_need_not_be_declared() {
    let mut test_robot = gate().await;
    test_robot.allow_undeclared();
    let change = json!({"component": "gate", "param_name": "height", "new_value": 3.5});
    let model = caller("update_parameter", change).await;
    test_robot.start_cortex_with(&model).await;
    let mut sending = test_robot.begin_send("make the gate higher");
    question(&mut sending).await;
    assert_eq!(reached(&mut test_robot), Vec::<Value>::new());
    let (code, told, complained) = test_robot.run("cortex", &["approve", "--mission"]).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(told.starts_with("approved for this mission: update_parameter"), "{told}");
    finish_send(sending).await;
    assert_eq!(reached(&mut test_robot), [json!({"event": "set", "name": "height", "value": 3.5})]);
}

#[tokio::test]
async fn what_resets_an_emergency_stop_is_denied_without_a_question() {
    let mut test_robot = gate().await;
    test_robot.allow_undeclared();
    let model = caller(RESET, json!({})).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send("reset the emergency stop").await;
    assert_eq!((sent.status(), sent.code), ("failed", Some(1)), "{sent:#?}");
    let kinds = kinds(&sent);
    assert!(kinds.contains(&"cortex.step.denied") && !kinds.contains(&"cortex.question.asked"), "{kinds:?}");
    assert_eq!(reached(&mut test_robot), Vec::<Value>::new());
}

#[tokio::test]
async fn an_answer_to_a_question_of_an_earlier_life_does_not_count() {
    let mut test_robot = gate().await;
    let model = caller(OPEN, json!({"data": true})).await;
    test_robot.start_cortex_with(&model).await;
    let mut sending = test_robot.begin_send("open the gate");
    let id = question(&mut sending).await;
    test_robot.process("cortex").signal("KILL");
    test_robot.process("cortex").wait().await;
    test_robot.end("cortex");
    let next = calls([(OPEN, json!({"data": true}))]);
    let model = model_of([next, says("EXECUTE"), says("It was not opened.")]).await;
    test_robot.start_cortex_with(&model).await;
    let mut again = test_robot.begin_send("open the gate");
    let other = question(&mut again).await;
    assert_ne!(id, other);
    let (code, _, complained) = test_robot.run("cortex", &["approve", &id]).await;
    assert!(code == Some(1) && complained.contains("no open question"), "{complained}");
    // Not even when it is sent past the command line.
    let refused = service_answer(&test_robot, &[&id, "approve"]).await;
    assert_eq!(refused["success"], false, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("there is no open question"), "{refused}");
    // Nor does a yes that is none.
    let refused = service_answer(&test_robot, &[&other, "approve", "once", "if nobody is there"]).await;
    assert!(refused["message"].as_str().unwrap().contains("a reason goes with 'deny' alone"), "{refused}");
    let refused = service_answer(&test_robot, &[&other, "yes"]).await;
    assert_eq!(refused["success"], false, "{refused}");
    let (code, _, complained) = test_robot.run("cortex", &["deny", &other]).await;
    assert_eq!(code, Some(0), "{complained}");
    finish_send(again).await;
    assert_eq!(reached(&mut test_robot), Vec::<Value>::new());
}

#[tokio::test]
async fn the_terminal_that_sent_a_task_asks_and_only_a_bare_yes_is_one() {
    let mut test_robot = gate().await;
    let model = caller(OPEN, json!({"data": true})).await;
    test_robot.start_cortex_with(&model).await;
    let mut terminal = send_in_terminal(&mut test_robot, "open the gate");
    let screen = shows(&mut terminal, "[y/N").await;
    assert!(screen.contains("send_request_to_gate/open {\"data\":true}"), "{screen}");
    assert!(!screen.contains("the task waits for a person"), "a person is at hand: {screen}");
    terminal.write_line("yes, if nobody is there").await;
    assert_eq!(terminal.wait().await, Some(1));
    assert_eq!(reached(&mut test_robot), Vec::<Value>::new());

    let model = caller(OPEN, json!({"data": true})).await;
    test_robot.end("cortex");
    test_robot.start_cortex_with(&model).await;
    let mut terminal = send_in_terminal(&mut test_robot, "open the gate");
    shows(&mut terminal, "[y/N").await;
    terminal.write_line("y").await;
    terminal.wait().await;
    assert_eq!(reached(&mut test_robot), [json!({"event": "opened", "data": true})]);
}

#[tokio::test]
async fn a_question_in_a_terminal_ends_when_it_is_answered_elsewhere_or_the_task_is_cancelled() {
    let mut test_robot = gate().await;
    let model = caller(OPEN, json!({"data": true})).await;
    test_robot.start_cortex_with(&model).await;
    let mut terminal = send_in_terminal(&mut test_robot, "open the gate");
    shows(&mut terminal, "[y/N").await;
    let (code, _, complained) = test_robot.run("cortex", &["deny", "1", "not now"]).await;
    assert_eq!(code, Some(0), "{complained}");
    shows(&mut terminal, "it was answered elsewhere").await;
    assert_eq!(terminal.wait().await, Some(1));

    let model = caller(OPEN, json!({"data": true})).await;
    test_robot.end("cortex");
    test_robot.start_cortex_with(&model).await;
    let mut terminal = send_in_terminal(&mut test_robot, "open the gate");
    shows(&mut terminal, "[y/N").await;
    // Ctrl-C.
    terminal.write("\u{3}").await;
    assert_eq!(terminal.wait().await, Some(130));
    assert_eq!(reached(&mut test_robot), Vec::<Value>::new());
}

#[tokio::test]
async fn doctor_names_what_asks_and_what_is_denied_and_a_wrong_rule_keeps_cortex_from_starting() {
    let mut test_robot = gate().await;
    test_robot.configure(
        "[discovery.effects]\n\"/gate/paint\" = \"act\"\n\
         [[policy.rules]]\nthen = \"deny\"\ntools = [\"update_*\"]\nbecause = \"It is welded.\"\n",
    );
    let (_, told, _) = test_robot.run("cortex", &["doctor"]).await;
    for known in [
        "note  policy: send_request_to_gate/estop_reset denied: ",
        "-> [[policy.rules]] then = \"allow\", tools = [\"send_request_to_gate/estop_reset\"]",
        "note  policy: send_request_to_gate/open asks: ",
        "-> [discovery.effects] \"/gate/open\" = \"act\" or \"move\" declares what it does",
        "note  policy: update_parameter denied: It is welded.",
        "-> the rules that name it: [[policy.rules]]",
    ] {
        assert!(told.contains(known), "{known} is missing in:\n{told}");
    }
    assert!(!told.contains("policy: send_request_to_gate/paint"), "it is declared: {told}");
    let wrong = test_robot.file("wrong.toml", "[[policy.rules]]\nthen = \"deny\"\nhours = \"at night\"\n");
    let (code, _, complained) = test_robot.run("cortex", &["run", "--config", &wrong]).await;
    assert_eq!(code, Some(2), "{complained}");
    assert!(
        complained.contains("policy.rules, rule 1: hours = \"at night\" is no span of the day. Fix:"),
        "{complained}"
    );
}

#[tokio::test]
async fn a_mission_that_did_not_do_it_is_reopened() {
    let test_robot = TestRobot::with_robot("reflex").await;
    let sent = test_robot.send("say hello").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    let mission = sent.result["mission"].as_str().unwrap();
    let (code, told, complained) = test_robot.run("cortex", &["dispute", mission, "nothing was heard"]).await;
    assert_eq!(code, Some(0), "{complained}");
    let reopened = told.split_whitespace().find_map(|word| word.strip_suffix(';')).unwrap().to_owned();
    let mut following = test_robot.spawn("cortex", &["tape", "follow", &reopened]);
    following.wait_for_line("nothing was heard").await;
    let (code, _, complained) = test_robot.run("cortex", &["dispute", "nobody", "it was not done"]).await;
    assert!(code == Some(1) && complained.contains("there is no mission nobody"), "{complained}");
    let (code, _, complained) = test_robot.run("cortex", &["dispute", mission, " "]).await;
    assert!(code == Some(1) && complained.contains("no reason is given"), "{complained}");
}
