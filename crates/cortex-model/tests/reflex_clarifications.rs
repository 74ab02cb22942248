//! What the embedded reader asks where a task may mean one of a few things, what it makes of the answer, and what it says
//! where nothing is to be done.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use cortex_core::mission::ASK_PERSON;
use cortex_core::{CallArguments, Fragment, Message, ToolDefinition, ToolKind};
use cortex_protocol::{FailureKind, ToolOutcome, ToolPhase};
use reading::{ask, planned, request, shown};
use robots::{Phase, home_robot, house_robot, tool};
use serde_json::{Value, json};

#[path = "support/reading.rs"]
mod reading;
#[path = "support/robots.rs"]
mod robots;

/// The tool by which the core lets a person be asked.
fn ask_person() -> ToolDefinition {
    ToolDefinition {
        name: ASK_PERSON.to_owned(),
        description: "Asks a person which is meant, where the task leaves it open. Alone, before you plan.".to_owned(),
        parameters: json!({"type": "object", "properties": {"question": {"type": "string"}, "choices": {"type": "array"}}}),
        phase: ToolPhase::Planning,
        phrases: Vec::new(),
        kind: ToolKind::BuiltIn,
    }
}

fn two_arms() -> Vec<ToolDefinition> {
    vec![
        tool("left_arm-wave", Phase::Execution, "Waves.", json!({}), &["wave the left arm"]),
        tool("right_arm-wave", Phase::Execution, "Waves.", json!({}), &["wave the right arm"]),
        ask_person(),
    ]
}

/// The question and its choices, and the reply to an answer.
async fn asked(task: &str, tools: &[ToolDefinition], outcome: ToolOutcome) -> (String, Vec<String>, String) {
    let first = ask(&request(task, tools.to_vec(), Vec::new())).await;
    let [call] = first.calls.as_slice() else { panic!("it asks nothing: {first:?}") };
    assert_eq!(call.name, ASK_PERSON, "{first:?}");
    let CallArguments::Object(arguments) = &call.arguments else { panic!("{call:?}") };
    let question = arguments["question"].as_str().unwrap().to_owned();
    let choices = arguments["choices"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect();
    let conversation = vec![
        Message::Assistant { text: String::new(), calls: vec![call.clone()] },
        Message::Tool { id: call.id.clone(), name: call.name.clone(), content: Fragment::ToolResult { outcome } },
    ];
    (question, choices, shown(&ask(&request(task, tools.to_vec(), conversation)).await))
}

fn answer(choice: &str) -> ToolOutcome {
    ToolOutcome::success(json!({"answer": choice}))
}

#[tokio::test]
async fn what_may_mean_two_things_is_asked_and_the_answer_is_done() {
    let (question, choices, reply) = asked("wave", &two_arms(), answer("wave the right arm")).await;
    assert_eq!(question, "Which did you mean by \"wave\"?");
    assert_eq!(choices, ["wave the left arm", "wave the right arm", "none of that, do nothing"]);
    assert_eq!(reply, "right_arm-wave");
    for (choice, plan) in [("wave the left arm", "left_arm-wave"), ("wave the right arm", "right_arm-wave")] {
        assert_eq!(planned(choice, two_arms()).await, plan, "a choice can be typed");
    }
}

#[tokio::test]
async fn any_other_answer_ends_the_task_with_nothing_done() {
    for (outcome, says) in [
        (answer("none of that, do nothing"), "! You want none of that. Nothing was done."),
        (answer("something else"), "! That answers none of it. Nothing was done."),
        (ToolOutcome::success(Value::Null), "! That answers none of it. Nothing was done."),
        (
            ToolOutcome::failure(FailureKind::Timeout, "Nobody answered within 120 s."),
            "! I asked: Which did you mean by \"wave\"? Nobody answered within 120 s. Nothing was done.",
        ),
    ] {
        assert_eq!(asked("wave", &two_arms(), outcome).await.2, says);
    }
}

#[tokio::test]
async fn an_answer_that_the_tools_no_longer_know_moves_nothing() {
    let first = ask(&request("wave", two_arms(), Vec::new())).await;
    let call = first.calls[0].clone();
    let conversation = vec![
        Message::Assistant { text: String::new(), calls: vec![call.clone()] },
        Message::Tool {
            id: call.id,
            name: call.name,
            content: Fragment::ToolResult { outcome: answer("wave the right arm") },
        },
    ];
    let mut tools = two_arms();
    tools[1] = tool("hind_arm-wave", Phase::Execution, "Waves.", json!({}), &["wave the hind arm"]);
    let reply = shown(&ask(&request("wave", tools, conversation)).await);
    assert!(reply.starts_with("! The tools changed since I asked"), "{reply}");
}

#[tokio::test]
async fn where_nobody_can_be_asked_it_declines_with_the_same_question() {
    let tools: Vec<ToolDefinition> = two_arms().into_iter().filter(|tool| tool.name != ASK_PERSON).collect();
    assert_eq!(
        planned("wave", tools).await,
        "! Which did you mean by \"wave\"? wave the left arm; wave the right arm. Nothing was done. Say it in these words."
    );
}

#[tokio::test]
async fn talk_is_answered_from_the_tools_alone() {
    for (task, says) in [
        ("hello!", "Hello."),
        ("good morning", "Hello."),
        ("thank you very much", "You are welcome."),
        ("bye", "Goodbye."),
        ("what's your name?", "I am the robot; I read plain commands without a language model."),
        ("how are you?", "without a language model"),
        ("what can you do?", "I can do: go to PLACE"),
        ("which rooms do you know?", "I know: kitchen, living room, bedroom, bathroom, hallway"),
        ("where can you go?", "I know: kitchen, living room, bedroom, bathroom, hallway"),
    ] {
        for tools in [home_robot(), house_robot()] {
            let reply = planned(task, tools).await;
            assert!(reply.contains(says) && !reply.starts_with('!'), "{task}: {reply}");
        }
    }
}

#[tokio::test]
async fn the_name_is_what_the_configuration_says() {
    let mut request = request("what is your name?", home_robot(), Vec::new());
    let identity = "Carl, a hotel robot that drives between rooms.".to_owned();
    let Message::System { fragments } = &mut request.messages[0] else { panic!() };
    fragments.push(Fragment::Identity { text: identity.clone() });
    assert_eq!(shown(&ask(&request).await), identity);
}

#[tokio::test]
async fn a_refusal_names_what_comes_nearest() {
    for (task, nearest) in [
        ("go to the garage", "The nearest that I can do: go to PLACE ("),
        ("polish the battery", "The nearest that I can do: how full is the battery."),
    ] {
        let reply = planned(task, home_robot()).await;
        assert!(reply.starts_with("! ") && reply.contains(nearest), "{task}: {reply}");
    }
    let reply = planned("xyzzy plugh", home_robot()).await;
    assert!(reply.contains("I can do: go to PLACE ("), "{reply}");
}

#[tokio::test]
async fn the_same_request_gets_the_same_question() {
    let request = request("wave", two_arms(), Vec::new());
    assert_eq!(ask(&request).await, ask(&request).await);
}

#[tokio::test]
async fn where_one_thing_may_be_meant_a_yes_does_it_and_a_no_does_nothing() {
    let bell = || {
        let phrases = ["ring the bell in the {room}"];
        let rooms = json!({"room": {"enum": ["hall", "office"]}});
        vec![tool("bell-ring", Phase::Execution, "Rings the bell.", rooms, &phrases), ask_person()]
    };
    let task = "ring the brass bell in the hall";
    let (question, choices, reply) = asked(task, &bell(), answer("yes, ring the bell in the hall")).await;
    assert_eq!(question, format!("I am not sure about \"{task}\". Did you mean: ring the bell in the hall?"));
    assert_eq!(choices, ["yes, ring the bell in the hall", "no, do nothing"]);
    assert_eq!(reply, "bell-ring {\"room\":\"hall\"}");
    assert_eq!(planned(&choices[0], bell()).await, reply, "a choice can be typed");
    let (_, _, reply) = asked(task, &bell(), answer("no, do nothing")).await;
    assert_eq!(reply, "! You want none of that. Nothing was done.");
}
