//! What the embedded reader makes of sentences, on a home robot and on one that it has never seen.

use cortex_core::{
    CallArguments, ChatModel as _, ChatReply, ChatRequest, Fragment, Message, ModelCall, Purpose, ToolDefinition,
};
use cortex_model::Reflex;
use cortex_protocol::{FailureKind, StepNumber, StepReport, StepStatus, ToolOutcome};
use serde_json::{Value, json};

/// In which phase a tool may be called, as the core shows it in a definition.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Planning,
    Execution,
    Both,
}

fn tool(name: &str, phase: Phase, description: &str, properties: Value, phrases: &[&str]) -> ToolDefinition {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let mut parameters = json!({"type": "object", "properties": properties, "required": required});
    if phase != Phase::Planning {
        parameters["properties"]["after"] = json!({"type": "array", "items": {"type": "integer", "minimum": 1}});
    }
    ToolDefinition {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        acts: phase == Phase::Execution,
        phrases: phrases.iter().map(|phrase| (*phrase).to_owned()).collect(),
    }
}

fn home_robot() -> Vec<ToolDefinition> {
    let place = json!({"place": {"type": "string", "enum": ["kitchen", "living_room", "bedroom", "bathroom", "hallway", "charging_dock"]}});
    let text = json!({"text": {"type": "string", "maxLength": 500}});
    vec![
        tool("base-go_to", Phase::Execution, "Drives to a named place.", place, &["go to {place}", "drive to {place}"]),
        tool("base-stop", Phase::Execution, "Stops driving at once.", json!({}), &["stop"]),
        tool("base-where_am_i", Phase::Both, "Tells in which room the robot is.", json!({}), &["where are you"]),
        tool("battery-level", Phase::Planning, "How full the battery is.", json!({}), &["how full is the battery"]),
        tool("camera-look", Phase::Execution, "Looks at the surroundings and describes what is visible.", json!({}), &["look around"]),
        tool("light-turn_off", Phase::Execution, "Turns the light off.", json!({}), &["turn off the light"]),
        tool("light-turn_on", Phase::Execution, "Turns the light on.", json!({}), &["turn on the light"]),
        tool("speaker-say", Phase::Execution, "Says a text aloud.", text, &["say {text}"]),
        tool(
            "inspect_component",
            Phase::Planning,
            "Tells what a component does, its parameters and its health.",
            json!({"component": {"type": "string"}}),
            &[],
        ),
        tool("decline_task", Phase::Planning, "Say that the task can't be done.", json!({"reason": {"type": "string"}}), &[]),
    ]
}

/// A robot without a single sentence pattern.
fn factory_robot() -> Vec<ToolDefinition> {
    vec![
        tool("arm-grasp", Phase::Execution, "Grasps an object.", json!({"object": {"type": "string"}}), &[]),
        tool("conveyor-set_speed", Phase::Execution, "Sets the speed of the belt.", json!({"speed_mps": {"type": "number", "minimum": 0, "maximum": 2}}), &[]),
        tool("gripper-close", Phase::Execution, "Closes the gripper.", json!({}), &[]),
        tool("gripper-open", Phase::Execution, "Opens the gripper.", json!({}), &[]),
        tool("lamp-set", Phase::Execution, "Switches the lamp on or off.", json!({"on": {"type": "boolean"}}), &[]),
        tool("send_request_to_reset_odometry", Phase::Execution, "Calls the service reset_odometry.", json!({}), &[]),
        tool("turntable-rotate", Phase::Execution, "Rotates the table.", json!({"angle_deg": {"type": "number", "minimum": -180, "maximum": 180}}), &[]),
        tool("belt-state", Phase::Planning, "The state of the conveyor belt: speed and load.", json!({}), &[]),
    ]
}

fn request(task: &str, tools: Vec<ToolDefinition>, conversation: Vec<Message>) -> ChatRequest {
    let mut messages = vec![
        Message::System { fragments: vec![Fragment::Rules { text: "Rules.".to_owned() }] },
        Message::User { fragments: vec![Fragment::Task { text: task.to_owned() }] },
    ];
    messages.extend(conversation);
    ChatRequest { purpose: Purpose::Plan, messages, tools, temperature: 0.2, max_tokens: 4_096 }
}

async fn ask(request: &ChatRequest) -> ChatReply {
    Reflex.chat(request).await.unwrap()
}

/// The reply in one line: the calls, `!` and the refusal, or the words.
fn shown(reply: &ChatReply) -> String {
    if let Some(refusal) = &reply.refusal {
        assert!(reply.calls.is_empty() && reply.text.is_empty(), "a refusal does nothing else: {reply:?}");
        return format!("! {refusal}");
    }
    if reply.calls.is_empty() {
        return reply.text.clone();
    }
    assert!(reply.text.is_empty(), "{reply:?}");
    let calls: Vec<String> = reply
        .calls
        .iter()
        .map(|call| match &call.arguments {
            CallArguments::Object(arguments) if arguments.is_empty() => call.name.clone(),
            CallArguments::Object(arguments) => format!("{} {}", call.name, Value::Object(arguments.clone())),
            CallArguments::Malformed { .. } => panic!("{call:?}"),
        })
        .collect();
    calls.join(" | ")
}

/// Collects what does not come out as expected, so that one run shows every sentence that fails.
#[derive(Default)]
struct Table(Vec<String>);

impl Table {
    fn row(&mut self, task: &str, reply: &str, expected: &str) {
        if reply != expected {
            self.0.push(format!("{task}\n    expected: {expected}\n    reply:    {reply}"));
        }
    }

    /// A refusal that says this.
    fn refused(&mut self, task: &str, reply: &str, says: &str) {
        if !(reply.starts_with("! ") && reply.contains(says)) {
            self.0.push(format!("{task}\n    should refuse and say: {says}\n    reply: {reply}"));
        }
    }

    fn check(self) {
        assert!(self.0.is_empty(), "{} sentences:\n{}", self.0.len(), self.0.join("\n"));
    }
}

async fn planned(task: &str, tools: Vec<ToolDefinition>) -> String {
    shown(&ask(&request(task, tools, Vec::new())).await)
}

#[tokio::test]
async fn commands_become_plans_whatever_the_wording() {
    let mut table = Table::default();
    let kitchen = r#"base-go_to {"place":"kitchen"}"#;
    let bedroom = r#"base-go_to {"place":"bedroom"}"#;
    let hello = r#"speaker-say {"text":"hello"}"#;
    let seen = |step: u32| format!(r#"speaker-say {{"text":"<output of step {step}>"}}"#);
    for (task, plan) in [
        ("go to the kitchen", kitchen.to_owned()),
        ("Go to the kitchen.", kitchen.to_owned()),
        ("please go to the Kitchen!", kitchen.to_owned()),
        ("drive into the kitchen", kitchen.to_owned()),
        ("could you please head to the kitchen", kitchen.to_owned()),
        ("can you move to the kitchen?", kitchen.to_owned()),
        ("I want you to navigate to the kitchen", kitchen.to_owned()),
        ("robot, walk to the kitchen now please", kitchen.to_owned()),
        ("return to the kitchen, thanks", kitchen.to_owned()),
        ("go to the living room", r#"base-go_to {"place":"living_room"}"#.to_owned()),
        ("go to living-room", r#"base-go_to {"place":"living_room"}"#.to_owned()),
        ("go to Living_Room", r#"base-go_to {"place":"living_room"}"#.to_owned()),
        ("drive to the charging dock", r#"base-go_to {"place":"charging_dock"}"#.to_owned()),
        ("say hello", hello.to_owned()),
        ("say \"hello\"", hello.to_owned()),
        ("say: hello", hello.to_owned()),
        ("please say hello, please", hello.to_owned()),
        ("announce that dinner is ready", r#"speaker-say {"text":"dinner is ready"}"#.to_owned()),
        ("tell everyone that dinner is ready", r#"speaker-say {"text":"dinner is ready"}"#.to_owned()),
        ("say hello and welcome", r#"speaker-say {"text":"hello and welcome"}"#.to_owned()),
        ("say Hello, my dear friends", r#"speaker-say {"text":"Hello, my dear friends"}"#.to_owned()),
        ("say thank you", r#"speaker-say {"text":"thank you"}"#.to_owned()),
        ("say how are you?", r#"speaker-say {"text":"how are you?"}"#.to_owned()),
        ("say Grüß Gott", r#"speaker-say {"text":"Grüß Gott"}"#.to_owned()),
        ("say \"do not enter\"", r#"speaker-say {"text":"do not enter"}"#.to_owned()),
        ("say do not enter", r#"speaker-say {"text":"do not enter"}"#.to_owned()),
        ("say \"if you see me, go away. Then stop!\"", r#"speaker-say {"text":"if you see me, go away. Then stop!"}"#.to_owned()),
        ("stop", "base-stop".to_owned()),
        ("halt!", "base-stop".to_owned()),
        ("stop driving", "base-stop".to_owned()),
        ("stop it now!", "base-stop".to_owned()),
        ("emergency stop", "base-stop".to_owned()),
        ("let's go to the kitchen", kitchen.to_owned()),
        ("\"go to the kitchen\"", kitchen.to_owned()),
        ("look around", "camera-look".to_owned()),
        ("look", "camera-look".to_owned()),
        ("turn on the light", "light-turn_on".to_owned()),
        ("turn the light on", "light-turn_on".to_owned()),
        ("switch the light off please", "light-turn_off".to_owned()),
        ("go to the kitchen and say hello", format!("{kitchen} | {hello}")),
        ("go to the kitchen, then turn on the light and say hello", format!("{kitchen} | light-turn_on | {hello}")),
        ("Go to the kitchen. After that, say hello; then drive to the bedroom", format!("{kitchen} | {hello} | {bedroom}")),
        ("first go to the kitchen, next say hello, finally go to the bedroom", format!("{kitchen} | {hello} | {bedroom}")),
        ("go to the kitchen\ngo to the bedroom", format!("{kitchen} | {bedroom}")),
        ("say hello and go to the kitchen", format!("{hello} | {kitchen}")),
        ("say hello, then go to the bedroom", format!("{hello} | {bedroom}")),
        ("go to the kitchen, look around and tell me what you see", format!("{kitchen} | camera-look | {}", seen(2))),
        ("go to the kitchen and tell me what you see", format!("{kitchen} | camera-look | {}", seen(2))),
        ("tell me what you see", format!("camera-look | {}", seen(1))),
        ("look around and describe it", format!("camera-look | {}", seen(1))),
        ("look around, go to the kitchen and say what you saw", format!("camera-look | {kitchen} | {}", seen(1))),
        ("look around, go to the kitchen and say what you see", format!("camera-look | {kitchen} | camera-look | {}", seen(3))),
        ("look around, then read it out loud", format!("camera-look | {}", seen(1))),
        ("what do you see?", "camera-look".to_owned()),
        ("go to the kitchen. What can you see there?", format!("{kitchen} | camera-look")),
        ("describe the surroundings", "camera-look".to_owned()),
        ("go to the kitchen and tell me how full the battery is", kitchen.to_owned()),
        ("go to the kitchen and tell me where you are", format!("{kitchen} | base-where_am_i")),
        ("say hello and tell me what you see", format!("{hello} | camera-look | {}", seen(2))),
    ] {
        table.row(task, &planned(task, home_robot()).await, &plan);
    }
    table.check();
}

#[tokio::test]
async fn questions_are_asked_of_planning_tools() {
    let mut table = Table::default();
    for (task, call) in [
        ("how full is the battery?", "battery-level"),
        ("How full is the battery", "battery-level"),
        ("what is the battery level?", "battery-level"),
        ("what's the robot's battery level", "battery-level"),
        ("battery level?", "battery-level"),
        ("battery", "battery-level"),
        ("check the battery", "battery-level"),
        ("tell me how full the battery is", "battery-level"),
        ("could you tell me the battery level", "battery-level"),
        ("how much charge is left?", "battery-level"),
        ("where are you?", "base-where_am_i"),
        ("tell me where you are", "base-where_am_i"),
        ("do you know which room you are in?", "base-where_am_i"),
        ("inspect the camera", r#"inspect_component {"component":"camera"}"#),
    ] {
        table.row(task, &planned(task, home_robot()).await, call);
    }
    table.check();
}

#[tokio::test]
async fn an_unfamiliar_robot_is_commanded_by_the_names_of_its_tools() {
    let mut table = Table::default();
    for (task, plan) in [
        ("open the gripper", "gripper-open"),
        ("close the gripper", "gripper-close"),
        ("shut the gripper, please", "gripper-close"),
        ("grasp the red cup", r#"arm-grasp {"object":"red cup"}"#),
        ("pick the cup up", r#"arm-grasp {"object":"cup"}"#),
        ("pick up the cup", r#"arm-grasp {"object":"cup"}"#),
        ("grasp \"the cup and the bottle\"", r#"arm-grasp {"object":"the cup and the bottle"}"#),
        ("pick the cup from the table", r#"arm-grasp {"object":"cup from the table"}"#),
        ("set the conveyor speed to 1.5", r#"conveyor-set_speed {"speed_mps":1.5}"#),
        ("set the speed of the conveyor to one point five meters per second", r#"conveyor-set_speed {"speed_mps":1.5}"#),
        ("set the speed to 50 cm per second", r#"conveyor-set_speed {"speed_mps":0.5}"#),
        ("rotate the turntable by minus ninety degrees", r#"turntable-rotate {"angle_deg":-90.0}"#),
        ("turn the lamp on", r#"lamp-set {"on":true}"#),
        ("switch off the lamp", r#"lamp-set {"on":false}"#),
        ("reset odometry", "send_request_to_reset_odometry"),
        ("send a request to reset odometry", "send_request_to_reset_odometry"),
        ("open the gripper, grasp the cup and set the speed to 1", r#"gripper-open | arm-grasp {"object":"cup"} | conveyor-set_speed {"speed_mps":1.0}"#),
        ("what is the state of the belt?", "belt-state"),
        ("how is the load of the conveyor?", "belt-state"),
    ] {
        table.row(task, &planned(task, factory_robot()).await, plan);
    }
    table.check();
}

#[tokio::test]
async fn what_is_not_understood_is_told_and_nothing_is_done() {
    let mut table = Table::default();
    for (task, says) in [
        ("dance", "I did not understand \"dance\". Nothing was done. I can do: "),
        ("go to the kitchen and dance", "I did not understand \"dance\"."),
        ("go to the garage", "I know no place \"garage\". I know: kitchen, living room, bedroom"),
        ("go to the kitchn", "Did you mean \"kitchen\"?"),
        ("say hello and go to the garage", "I know no place \"garage\""),
        ("go to the kitchen nicely", "I did not understand \"nicely\""),
        ("go to the kitchen bedroom", "I did not understand \"bedroom\""),
        ("go", "needs a place, one of: kitchen, living room"),
        ("drive somewhere nice", "I know no place \"somewhere nice\""),
        ("say", "\"say\" needs a text. Say for example: say TEXT."),
        ("say it", "I don't know what \"say it\" refers to"),
        ("describe it", "I don't know what \"describe it\" refers to"),
        ("say \"hello", "A quotation mark in that has no partner"),
        ("turn on the oven", "I did not understand \"oven\""),
        ("turn the light purple", "did not understand"),
        ("what is the weather in Paris?", "I have no way to find out \"what is the weather in Paris\""),
        ("how full is the battery of the car?", "I did not understand \"car\""),
        ("where is my cup?", "I did not understand \"cup\""),
        ("tell me a joke", "I have no way to find out \"tell me a joke\""),
        ("going to the kitchen", "I did not understand \"going to the kitchen\""),
        ("went to the kitchen", "I did not understand \"went to the kitchen\""),
        ("turn on", "I did not understand \"turn on\""),
        ("inspect the camera and the battery", "I take one thing at a time"),
        ("charge the battery", "I did not understand \"charge the battery\""),
        ("please", "There is no command in that."),
        ("...", "There is no command in that."),
        ("go to the kitchen 🚫", "I did not understand \"🚫\""),
        ("fahre bitte in die Küche", "I understand commands in English only"),
        ("va a la cocina por favor", "I understand commands in English only"),
        ("去厨房", "I understand commands in English only"),
        ("поезжай на кухню", "configure a model"),
    ] {
        table.refused(task, &planned(task, home_robot()).await, says);
    }
    table.check();
}

#[tokio::test]
async fn what_cannot_be_honoured_is_refused_rather_than_guessed() {
    let mut table = Table::default();
    for (task, word) in [
        ("don't go to the kitchen", "don't"),
        ("do not go to the kitchen", "not"),
        ("Don’t move", "don't"),
        ("never go to the bedroom", "never"),
        ("go to the kitchen but don't turn on the light", "don't"),
        ("go to the kitchen and do not say hello", "not"),
        ("say hello and don't go to the kitchen", "don't"),
        ("go to the kitchen without stopping", "without"),
        ("turn on all lights except the kitchen", "except"),
        ("go to the kitchen if the light is on", "if"),
        ("if the battery is full, go to the kitchen", "if"),
        ("unless it is dark go to the kitchen", "unless"),
        ("when I call you, go to the kitchen", "when"),
        ("go to the kitchen until I say stop", "until"),
        ("go to the kitchen while you look around", "while"),
        ("go to the kitchen as soon as you can", "as"),
        ("before you go to the kitchen, say hello", "before"),
        ("go to the kitchen in 5 minutes", "minutes"),
        ("go to the kitchen twice", "twice"),
        ("go to the kitchen again and again", "again"),
        ("go to the kitchen every hour", "every"),
        ("go to the kitchen or the bedroom", "or"),
        ("go to the kitchen quickly", "quickly"),
        ("speak louder", "louder"),
        ("say that again", "again"),
        ("say something", "something"),
        ("go there", "there"),
        ("turn it on", "it"),
        ("go to the kitchen and turn it off", "it"),
    ] {
        let reply = planned(task, home_robot()).await;
        table.refused(task, &reply, &format!("! I can't honour \"{word}\" in "));
        table.refused(task, &reply, "Nothing was done.");
    }
    for (task, says) in [
        ("grasp the cup unless it is hot", "I can't honour \"unless\""),
        ("grasp it", "I can't honour \"it\""),
        ("grasp the cup and the bottle", "I take one thing at a time"),
        ("grasp the cup carefully", "I can't do things in a special way"),
        ("turn off", "I did not understand \"turn off\""),
        ("set the belt to 1", "I did not understand \"set the belt to 1\""),
        ("rotate the turntable left", "I did not understand \"left\""),
        ("grasp nothing", "I can't honour \"nothing\""),
        ("set the speed to 3", "3 is not possible: the speed must be a number from 0 to 2 m/s"),
        ("set the speed to -1", "-1 is not possible"),
        ("set the speed to 5 seconds", "I can't tell how 5 seconds fits the speed"),
        ("set the speed", "needs a speed, a number from 0 to 2 m/s"),
        ("open", "I did not understand \"open\""),
        ("open the window", "I did not understand \"open the window\""),
        ("gripper", "I did not understand \"gripper\""),
        ("odometry", "I did not understand \"odometry\""),
        ("do not open the gripper", "I can't honour \"not\""),
        ("go to the kitchen", "I did not understand \"go to the kitchen\""),
        ("tell me what you see", "there is no one tool to look with"),
    ] {
        table.refused(task, &planned(task, factory_robot()).await, says);
    }
    table.check();
}

#[tokio::test]
async fn two_tools_that_fit_equally_well_are_asked_about() {
    let tools = vec![
        tool("left_arm-wave", Phase::Execution, "Waves.", json!({}), &[]),
        tool("right_arm-wave", Phase::Execution, "Waves.", json!({}), &[]),
    ];
    let reply = planned("wave", tools.clone()).await;
    assert_eq!(
        reply,
        "! \"wave\" can mean several things: left arm wave, right arm wave. Say which. Nothing was done."
    );
    assert_eq!(planned("wave the left arm", tools).await, "left_arm-wave");
}

#[tokio::test]
async fn what_it_can_do_is_answered_from_the_tools() {
    for task in ["what can you do?", "help", "Help!", "please tell me what you can do"] {
        assert_eq!(
            planned(task, home_robot()).await,
            "I can do: go to PLACE (kitchen, living room, bedroom, bathroom, hallway, charging dock); stop; where are \
             you; how full is the battery; look around; turn off the light; turn on the light; say TEXT; inspect \
             component COMPONENT.",
            "{task}"
        );
    }
    let only_declining = home_robot().into_iter().filter(|tool| tool.name == "decline_task").collect();
    assert_eq!(
        planned("go to the kitchen", only_declining).await,
        "! Nothing that could be done is discovered on the robot yet. Nothing was done."
    );
}

/// Plays the core: carries out what the reader asks for, until it answers in words.
async fn told_in_the_end(task: &str, tools: Vec<ToolDefinition>, results: &[(&str, Value)]) -> (Vec<String>, String) {
    let mut conversation = Vec::new();
    let mut turns = Vec::new();
    for plan in 1..10 {
        let reply = ask(&request(task, tools.clone(), conversation.clone())).await;
        if reply.calls.is_empty() {
            return (turns, shown(&reply));
        }
        turns.push(shown(&reply));
        let calls: Vec<ModelCall> = reply.calls;
        conversation.push(Message::Assistant { text: String::new(), calls: calls.clone() });
        let acts = |name: &str| tools.iter().any(|tool| tool.name == name && tool.acts);
        let is_plan = calls.iter().any(|call| acts(&call.name));
        let mut reports: Vec<StepReport> = Vec::new();
        let mut ended = false;
        for (index, call) in calls.into_iter().enumerate() {
            let value = results.iter().find(|(name, _)| *name == call.name).map_or(json!("ok"), |(_, value)| value.clone());
            let outcome = match value.as_str().and_then(|text| text.strip_prefix("FAIL ")) {
                Some(message) => ToolOutcome::failure(FailureKind::Reported, message),
                None => ToolOutcome::success(value),
            };
            if !is_plan {
                conversation.push(Message::Tool { id: call.id, name: call.name, content: Fragment::ToolResult { outcome } });
                continue;
            }
            let noted = format!("noted as step {}; its result comes with the report", index + 1);
            conversation.push(Message::Tool { id: call.id, name: call.name.clone(), content: Fragment::Notice { text: noted } });
            let CallArguments::Object(mut arguments) = call.arguments else { panic!() };
            if let Some(text) = arguments.get("text").and_then(Value::as_str).and_then(|text| text.strip_prefix("<output of step ")) {
                let step: usize = text.trim_end_matches('>').parse().unwrap();
                let output = reports[step - 1].outcome.as_ref().map(ToolOutcome::text);
                arguments.insert("text".to_owned(), json!(output));
            }
            let status = match (ended, outcome.is_success()) {
                (true, _) => StepStatus::Blocked,
                (false, true) => StepStatus::Success,
                (false, false) => StepStatus::Failed,
            };
            reports.push(StepReport {
                plan,
                number: StepNumber(u32::try_from(index).unwrap() + 1),
                tool: call.name.replace('-', ".").as_str().into(),
                arguments,
                status,
                outcome: (!ended).then_some(outcome),
                note: if ended { "was not run, because the plan ended before it".to_owned() } else { String::new() },
                duration: None,
            });
            ended |= status == StepStatus::Failed;
        }
        if is_plan {
            let notice = Fragment::Notice { text: "The plan was carried out.".to_owned() };
            conversation.push(Message::User { fragments: vec![Fragment::Ledger { steps: reports }, notice] });
        }
    }
    panic!("it never came to an end: {turns:?}")
}

#[tokio::test]
async fn what_was_done_and_found_is_told_in_the_end() {
    let room = json!({"description": "a table and a red cup"});
    let battery = json!({"percentage": 0.82, "charging": false});
    for (task, turns, told) in [
        ("go to the kitchen", 1, "Done: went to the kitchen."),
        ("please go to the kitchen, then turn the light on and say hello", 1, "Done: went to the kitchen, turned the light on and said \"hello\"."),
        ("look around", 1, "Done: looked around. A table and a red cup."),
        ("what do you see?", 1, "Done: looked. A table and a red cup."),
        (
            "go to the kitchen, look around and tell me what you see",
            1,
            "Done: went to the kitchen, looked around and said \"a table and a red cup\".",
        ),
        ("how full is the battery?", 1, "Charging: no; percentage: 82 %."),
        ("where are you?", 1, "Hallway."),
        (
            "go to the kitchen and tell me how full the battery is",
            2,
            "Done: went to the kitchen. Charging: no; percentage: 82 %.",
        ),
        (
            "how full is the battery, then go to the kitchen and tell me where you are",
            2,
            "Done: went to the kitchen and told me where you are. Charging: no; percentage: 82 %. Hallway.",
        ),
        ("say where you are", 2, "Done: said \"hallway\"."),
        ("announce the battery level", 2, "Done: said \"charging: no; percentage: 82 %\"."),
        ("say how full the battery is", 2, "Done: said \"charging: no; percentage: 82 %\"."),
        ("how full is the battery? Where are you?", 1, "Charging: no; percentage: 82 %. Hallway."),
    ] {
        let results =
            [("camera-look", room.clone()), ("battery-level", battery.clone()), ("base-where_am_i", json!("hallway"))];
        let (made, text) = told_in_the_end(task, home_robot(), &results).await;
        assert_eq!((made.len(), text.as_str()), (turns, told), "{task}: {made:?}");
    }
}

#[tokio::test]
async fn a_question_after_a_drive_is_asked_after_the_drive() {
    let tools: Vec<ToolDefinition> = home_robot()
        .into_iter()
        .map(|it| if it.name == "camera-look" { tool("camera-look", Phase::Planning, &it.description, json!({}), &["look around"]) } else { it })
        .collect();
    let (turns, text) = told_in_the_end(
        "look around, go to the kitchen, look around and tell me what you see, then go to the bedroom",
        tools,
        &[("camera-look", json!("a cup"))],
    )
    .await;
    assert_eq!(
        turns,
        [
            "camera-look",
            r#"base-go_to {"place":"kitchen"}"#,
            "camera-look",
            r#"speaker-say {"text":"a cup"} | base-go_to {"place":"bedroom"}"#,
        ]
    );
    assert_eq!(text, "Done: went to the kitchen, said \"a cup\" and went to the bedroom. A cup.");
}

#[tokio::test]
async fn a_tool_of_both_phases_takes_its_place_among_the_steps() {
    let tools: Vec<ToolDefinition> = home_robot()
        .into_iter()
        .map(|it| if it.name == "camera-look" { tool("camera-look", Phase::Both, &it.description, json!({}), &["look around"]) } else { it })
        .collect();
    let (turns, _) =
        told_in_the_end("go to the kitchen, look around and tell me what you see", tools.clone(), &[("camera-look", json!("a cup"))]).await;
    assert_eq!(
        turns,
        [r#"base-go_to {"place":"kitchen"} | camera-look | speaker-say {"text":"<output of step 2>"}"#]
    );
    let (turns, text) = told_in_the_end("look around", tools, &[("camera-look", json!("a cup"))]).await;
    assert_eq!((turns, text.as_str()), (vec!["camera-look".to_owned()], "A cup."));
}

#[tokio::test]
async fn without_a_speaker_the_answer_carries_what_was_seen() {
    let tools: Vec<ToolDefinition> = home_robot().into_iter().filter(|tool| tool.name != "speaker-say").collect();
    let (turns, text) =
        told_in_the_end("go to the kitchen and tell me what you see", tools, &[("camera-look", json!("a red cup"))]).await;
    assert_eq!(turns, [r#"base-go_to {"place":"kitchen"} | camera-look"#]);
    assert_eq!(text, "Done: went to the kitchen and looked. A red cup.");
}

#[tokio::test]
async fn a_failed_step_is_told_with_its_reason_and_nothing_is_planned_again() {
    let (turns, text) = told_in_the_end(
        "turn on the light, go to the kitchen and say hello",
        home_robot(),
        &[("base-go_to", json!("FAIL the door is shut"))],
    )
    .await;
    assert_eq!(turns.len(), 1);
    assert_eq!(
        text,
        "I could not do \"go to the kitchen\": the door is shut. Done before: \"turn on the light\". Not done: \"say hello\"."
    );
}

#[tokio::test]
async fn a_step_that_failed_because_its_tool_is_gone_is_still_told() {
    let report = StepReport {
        plan: 1,
        number: StepNumber(1),
        tool: "base.go_to".into(),
        arguments: json!({"place": "living_room"}).as_object().cloned().unwrap(),
        status: StepStatus::Failed,
        outcome: Some(ToolOutcome::failure(FailureKind::ComponentLost, "base left the graph")),
        note: String::new(),
        duration: None,
    };
    let conversation = vec![Message::User { fragments: vec![Fragment::Ledger { steps: vec![report] }] }];
    let tools = home_robot().into_iter().filter(|tool| !tool.name.starts_with("base")).collect();
    let reply = ask(&request("go to the living room", tools, conversation)).await;
    assert_eq!(shown(&reply), "I could not do \"base go to (living room)\": base left the graph.");
}

#[tokio::test]
async fn an_unanswered_question_is_no_answer() {
    let (_, text) =
        told_in_the_end("how full is the battery?", home_robot(), &[("battery-level", json!("FAIL no reading yet"))]).await;
    assert_eq!(text, "! I could not find that out: no reading yet.");
}

#[tokio::test]
async fn a_proposal_that_was_turned_down_is_not_made_again() {
    let first = ask(&request("go to the kitchen", home_robot(), Vec::new())).await;
    let call = first.calls[0].clone();
    let told = Fragment::Notice { text: "place: \"kitchen\" is not one of []".to_owned() };
    let conversation = vec![
        Message::Assistant { text: String::new(), calls: vec![call.clone()] },
        Message::Tool { id: call.id, name: call.name, content: told },
    ];
    let reply = ask(&request("go to the kitchen", home_robot(), conversation)).await;
    assert_eq!(
        shown(&reply),
        "! What I made of the task was not accepted: place: \"kitchen\" is not one of []"
    );
}

#[tokio::test]
async fn steps_that_were_cut_are_planned_next() {
    let report = |number: u32, place: &str, status: StepStatus, note: &str| StepReport {
        plan: 1,
        number: StepNumber(number),
        tool: "base.go_to".into(),
        arguments: json!({"place": place}).as_object().cloned().unwrap(),
        status,
        outcome: (status == StepStatus::Success).then(|| ToolOutcome::success(json!("arrived"))),
        note: note.to_owned(),
        duration: None,
    };
    let steps = vec![
        report(1, "kitchen", StepStatus::Success, ""),
        report(2, "bedroom", StepStatus::Blocked, "cut: the plan was too long"),
    ];
    let conversation = vec![Message::User { fragments: vec![Fragment::Ledger { steps }] }];
    let reply = ask(&request("go to the kitchen and go to the bedroom", home_robot(), conversation)).await;
    assert_eq!(shown(&reply), r#"base-go_to {"place":"bedroom"}"#);
}

#[tokio::test]
async fn calls_are_numbered_and_carry_wire_names() {
    let reply = ask(&request("go to the kitchen and look around", home_robot(), Vec::new())).await;
    let calls: Vec<(&str, &str)> = reply.calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(calls, [("reflex-1", "base-go_to"), ("reflex-2", "camera-look")]);
}

#[tokio::test]
async fn without_a_task_nothing_is_done() {
    let empty = ChatRequest {
        purpose: Purpose::Plan,
        messages: Vec::new(),
        tools: home_robot(),
        temperature: 0.0,
        max_tokens: 1,
    };
    assert_eq!(shown(&ask(&empty).await), "! There is no task.");
    assert_eq!(Reflex.label(), "reflex");
}
