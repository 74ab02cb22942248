//! Whatever is said, and whatever the tools look like, the reader answers, quickly and without a panic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::time::{Duration, Instant};

use cortex_core::{CallArguments, ChatModel as _, ChatReply, ChatRequest, Fragment, Message, Purpose, ToolDefinition};
use cortex_model::Reflex;
use cortex_protocol::ToolPhase;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Against hangs only.
const AT_MOST: Duration = Duration::from_secs(240);

fn tools() -> Vec<ToolDefinition> {
    let tool = |name: &str, phase: ToolPhase, properties: Value, phrase: &str| ToolDefinition {
        name: name.to_owned(),
        description: "Does what its name says, for example in the kitchen.".to_owned(),
        parameters: json!({"type": "object", "properties": properties, "required": properties.as_object().unwrap().keys().collect::<Vec<_>>()}),
        phase,
        phrases: vec![phrase.to_owned()],
        kind: cortex_core::ToolKind::Act,
    };
    vec![
        tool(
            "base-go_to",
            ToolPhase::Execution,
            json!({"place": {"enum": ["kitchen", "living_room"]}}),
            "go to {place}",
        ),
        tool("speaker-say", ToolPhase::Execution, json!({"text": {"type": "string"}}), "say {text}"),
        tool("camera-look", ToolPhase::Execution, json!({}), "look around"),
        tool("battery-level", ToolPhase::Planning, json!({}), "how full is the battery"),
        tool("arm-grasp", ToolPhase::Execution, json!({"object": {"type": "string"}}), "put {object} into {object}"),
        tool(
            "belt-set_speed",
            ToolPhase::Execution,
            json!({"speed_mps": {"type": "number", "maximum": 2}}),
            "set the speed to {speed_mps}",
        ),
    ]
}

fn reply_to(task: &str, tools: Vec<ToolDefinition>) -> ChatReply {
    let request = ChatRequest {
        purpose: Purpose::Plan,
        messages: vec![Message::User { fragments: vec![Fragment::Task { text: task.to_owned() }] }],
        tools,
        temperature: 0.0,
        max_tokens: 100,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(Reflex::default().chat(&request)).unwrap()
}

/// Exactly one of a refusal, words, and calls of tools on offer with readable arguments.
fn is_sound(reply: &ChatReply, tools: &[ToolDefinition]) -> bool {
    let ways = [reply.refusal.is_some(), !reply.text.is_empty(), !reply.calls.is_empty()];
    let known = |name: &str| tools.iter().any(|tool| tool.name == name);
    ways.iter().filter(|way| **way).count() == 1
        && reply.calls.iter().all(|call| known(&call.name) && matches!(call.arguments, CallArguments::Object(_)))
}

/// Words that mean something to the reader, in any order.
fn sentence() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "go",
        "to",
        "the",
        "kitchen",
        "living",
        "room",
        "say",
        "hello",
        "and",
        "then",
        ",",
        ".",
        "tell",
        "me",
        "what",
        "you",
        "see",
        "how",
        "full",
        "is",
        "battery",
        "look",
        "around",
        "set",
        "speed",
        "1.5",
        "two",
        "hundred",
        "m/s",
        "put",
        "cup",
        "into",
        "not",
        "if",
        "it",
        "\"",
        "'",
        "“",
        "?",
        "!",
        "every",
        "point",
        "minus",
        "half",
        "stop",
        "-",
        "%",
        "please",
        "don't",
        "living-room",
        "what's",
        "\n",
        "🤖",
        "й",
        "that",
        ":",
        "pick",
        "up",
        "speak",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    // The tree stays as it is: a failing case is printed, and becomes a story.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_one_sound_reply(task in "\\PC{0,200}") {
        let reply = reply_to(&task, tools());
        prop_assert!(is_sound(&reply, &tools()), "{task:?}: {reply:?}");
    }

    #[test]
    fn any_bytes_that_are_text_get_one_sound_reply(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let task = String::from_utf8_lossy(&bytes);
        prop_assert!(is_sound(&reply_to(&task, tools()), &tools()), "{task:?}");
    }

    #[test]
    fn any_sentence_of_known_words_gets_one_sound_reply(task in sentence()) {
        let reply = reply_to(&task, tools());
        prop_assert!(is_sound(&reply, &tools()), "{task:?}: {reply:?}");
        prop_assert_eq!(reply_to(&task, tools()), reply, "the same request gets the same reply");
    }

    #[test]
    fn a_place_in_a_plan_is_always_one_of_the_places(task in sentence()) {
        let calls = reply_to(&task, tools()).calls;
        let said = |call: &cortex_core::ModelCall| call.name == "speaker-say";
        for call in calls.iter().filter(|call| call.name == "base-go_to") {
            let CallArguments::Object(arguments) = &call.arguments else { panic!("{call:?}") };
            let place = arguments.get("place").and_then(Value::as_str);
            prop_assert!(matches!(place, Some("kitchen" | "living_room")) && arguments.len() == 1, "{:?}", arguments);
            // Nothing of what forbids it may stand in a sentence that moves the robot, nor in the clause that names the place,
            // unless it is spoken. A remark beside it may: "my aunt is not here, and the kitchen, please".
            let spoken = calls.iter().any(said) || task.contains('"') || task.contains('“') || task.contains('\'');
            let stands = |word: &&str| task.contains(*word);
            prop_assert!(spoken || ![" if ", "don't"].iter().any(stands), "{task}");
            let separators = [" and ", " then ", ",", ".", "!", "?", ":", "\n"];
            let clauses = separators.iter().fold(task.clone(), |task, separator| task.replace(separator, "\n"));
            let moving = clauses.split('\n').filter(|clause| clause.contains("kitchen") || clause.contains("living"));
            for clause in moving {
                prop_assert!(spoken || ![" not ", " every "].iter().any(|word| clause.contains(word)), "{task}");
            }
        }
    }

    #[test]
    fn strange_tools_do_no_harm(
        name in "\\PC{0,80}",
        description in "\\PC{0,200}",
        phrase in "[a-z {}]{0,60}",
        task in sentence(),
        parameters in prop::sample::select(vec![
            json!(null), json!([]), json!("x"), json!({"properties": 3}), json!({"properties": {"x": true}, "required": ["x", 7, "y"]}),
            json!({"properties": {"": {"enum": ["", null, {}]}, "x": {"$ref": "#/properties/x"}}, "required": [""]}),
            json!({"properties": {"x": {"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": [{"type": "null"}]}]}]}]}}}),
            json!({"properties": {"x": {"type": "number", "minimum": 5, "maximum": -5}}, "required": ["x"]}),
        ]),
    ) {
        let mut tools = tools();
        let (phase, kind) = (ToolPhase::Execution, cortex_core::ToolKind::Act);
        tools.push(ToolDefinition { name, description, parameters, phase, phrases: vec![phrase], kind });
        let reply = reply_to(&task, tools.clone());
        prop_assert!(is_sound(&reply, &tools), "{task:?}: {reply:?}");
    }
}

#[test]
fn huge_tasks_are_answered_at_once() {
    let begin = Instant::now();
    for piece in [
        "go to the kitchen and ",
        "a ",
        "and ",
        "say ",
        "\"",
        "' a",
        "x",
        ", ",
        "don't ",
        "1",
        "hundred ",
        "живи ",
        "tell me what you see. ",
        "put the cup into ",
        "go ",
        "-",
        "\u{301}",
        "say \"hello\" and ",
        "set the speed to one point five five ",
        "\n",
        "living ",
    ] {
        // Far beyond what is read, and just within it.
        for length in [100_000, 3_000, 900] {
            let task = piece.repeat(length / piece.len());
            assert!(is_sound(&reply_to(&task, tools()), &tools()), "{piece:?}");
        }
    }
    let quoted = format!("say \"{}\"", "hello there ".repeat(9_000));
    assert_eq!(reply_to(&quoted, tools()).calls.len(), 1);
    assert!(begin.elapsed() < AT_MOST, "{:?}", begin.elapsed());
}

#[test]
fn a_robot_of_many_tools_is_read_at_once() {
    let many: Vec<ToolDefinition> = (0..1_000)
        .flat_map(|index| {
            tools().into_iter().map(move |tool| ToolDefinition { name: format!("robot{index}-{}", tool.name), ..tool })
        })
        .collect();
    let begin = Instant::now();
    let task = "go to the kitchen, say hello and welcome, then look around and tell me what you see. ".repeat(10);
    let refusal = reply_to(&task, many).refusal.expect("a thousand robots are meant equally well");
    assert!(refusal.contains("Nothing was done"), "{refusal}");
    assert!(begin.elapsed() < AT_MOST, "{:?}", begin.elapsed());
}
