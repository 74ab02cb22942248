//! What the embedded reader makes of sentences, on robots that it knows only by their tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use reading::{Table, planned};
use robots::{Phase, factory_robot, home_robot, hotel_robot, house_robot, tool};
use serde_json::json;

#[path = "support/reading.rs"]
mod reading;
#[path = "support/robots.rs"]
mod robots;

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
        (
            "say \"if you see me, go away. Then stop!\"",
            r#"speaker-say {"text":"if you see me, go away. Then stop!"}"#.to_owned(),
        ),
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
        ("turn on", "light-turn_on".to_owned()),
        ("turn the light on", "light-turn_on".to_owned()),
        ("switch the light off please", "light-turn_off".to_owned()),
        ("go to the kitchen and say hello", format!("{kitchen} | {hello}")),
        ("go to the kitchen, then turn on the light and say hello", format!("{kitchen} | light-turn_on | {hello}")),
        (
            "Go to the kitchen. After that, say hello; then drive to the bedroom",
            format!("{kitchen} | {hello} | {bedroom}"),
        ),
        (
            "first go to the kitchen, next say hello, finally go to the bedroom",
            format!("{kitchen} | {hello} | {bedroom}"),
        ),
        ("go to the kitchen\ngo to the bedroom", format!("{kitchen} | {bedroom}")),
        ("say hello and go to the kitchen", format!("{hello} | {kitchen}")),
        ("say hello, then go to the bedroom", format!("{hello} | {bedroom}")),
        ("go to the kitchen, look around and tell me what you see", format!("{kitchen} | camera-look")),
        ("go to the kitchen and tell me what you see", format!("{kitchen} | camera-look")),
        ("go to the kitchen and say what you see", format!("{kitchen} | camera-look | {}", seen(2))),
        ("go to the kitchen, look around and announce what you see", format!("{kitchen} | camera-look | {}", seen(2))),
        ("tell me what you see", "camera-look".to_owned()),
        ("look around and describe it", "camera-look".to_owned()),
        ("look around, go to the kitchen and say what you saw", format!("camera-look | {kitchen} | {}", seen(1))),
        (
            "look around, go to the kitchen and say what you see",
            format!("camera-look | {kitchen} | camera-look | {}", seen(3)),
        ),
        ("look around, then read it out loud", format!("camera-look | {}", seen(1))),
        ("what do you see?", "camera-look".to_owned()),
        ("go to the kitchen. What can you see there?", format!("{kitchen} | camera-look")),
        ("describe the surroundings", "camera-look".to_owned()),
        ("go to the kitchen and tell me how full the battery is", kitchen.to_owned()),
        ("go to the kitchen and tell me where you are", format!("{kitchen} | base-where_am_i")),
        ("say hello and tell me what you see", format!("{hello} | camera-look")),
        ("go to the kitchn", kitchen.to_owned()),
        ("go to the kitchen twice", format!("{kitchen} | {kitchen}")),
        ("go to the kitchen quickly", kitchen.to_owned()),
        ("go to the kitchen as soon as you can", kitchen.to_owned()),
        ("turn it on", "light-turn_on".to_owned()),
        ("go to the kitchen and turn it off", format!("{kitchen} | light-turn_off")),
        ("before you go to the kitchen, say hello", format!("{hello} | {kitchen}")),
        ("hello! Go to the kitchen, please. Thanks!", kitchen.to_owned()),
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
        (
            "set the speed of the conveyor to one point five meters per second",
            r#"conveyor-set_speed {"speed_mps":1.5}"#,
        ),
        ("set the speed to 50 cm per second", r#"conveyor-set_speed {"speed_mps":0.5}"#),
        ("rotate the turntable by minus ninety degrees", r#"turntable-rotate {"angle_deg":-90.0}"#),
        ("turn the lamp on", r#"lamp-set {"on":true}"#),
        ("switch off the lamp", r#"lamp-set {"on":false}"#),
        ("reset odometry", "send_request_to_reset_odometry"),
        ("send a request to reset odometry", "send_request_to_reset_odometry"),
        (
            "open the gripper, grasp the cup and set the speed to 1",
            r#"gripper-open | arm-grasp {"object":"cup"} | conveyor-set_speed {"speed_mps":1.0}"#,
        ),
        ("what is the state of the belt?", "belt-state"),
        ("how is the load of the conveyor?", "belt-state"),
        ("set the belt to 1", r#"conveyor-set_speed {"speed_mps":1.0}"#),
        ("open", "gripper-open"),
    ] {
        table.row(task, &planned(task, factory_robot()).await, plan);
    }
    table.check();
}

#[tokio::test]
async fn a_home_as_it_is_simulated_is_commanded_and_asked() {
    let mut table = Table::default();
    let kitchen = r#"base-go_to {"place":"kitchen"}"#;
    for (task, plan) in [
        ("go to the kitchen, look around and tell me what you see", format!("{kitchen} | camera-look")),
        (
            "go to the kitchen, look around and say what you see",
            format!(r#"{kitchen} | camera-look | speaker-say {{"text":"<output of step 2>"}}"#),
        ),
        ("go to the kitchen and tell me how full the battery is", format!("{kitchen} | battery-level")),
        ("go to the kitchen and tell me whether the light is on", format!("{kitchen} | light-is_on")),
        ("go to the kitchen and tell me if the light is on", format!("{kitchen} | light-is_on")),
        (
            "turn the light on, look around, turn the light off",
            "light-turn_on | camera-look | light-turn_off".to_owned(),
        ),
        ("turn on the light in the kitchen", r#"light-turn_on {"room":"kitchen"}"#.to_owned()),
        ("turn the kitchen light on", r#"light-turn_on {"room":"kitchen"}"#.to_owned()),
        ("turn the light in the living room on", r#"light-turn_on {"room":"living_room"}"#.to_owned()),
        ("switch off the bedroom lights", r#"light-turn_off {"room":"bedroom"}"#.to_owned()),
        ("turn off the lights everywhere", r#"light-turn_off {"room":"everywhere"}"#.to_owned()),
        ("is the light on?", "light-is_on".to_owned()),
        ("is the kitchen light on", r#"light-is_on {"room":"kitchen"}"#.to_owned()),
        ("is the light in the bedroom off?", r#"light-is_on {"room":"bedroom"}"#.to_owned()),
        ("are the lights on?", "light-is_on".to_owned()),
        ("check the kitchen light", r#"light-is_on {"room":"kitchen"}"#.to_owned()),
        ("what do you see?", "camera-look".to_owned()),
        ("tell me what you see", "camera-look".to_owned()),
        ("what do you see and how full is the battery?", "camera-look | battery-level".to_owned()),
        ("are you charging?", "battery-level".to_owned()),
        ("how much battery is left?", "battery-level".to_owned()),
        ("what is your position?", "base-where_am_i".to_owned()),
        ("which room are you in?", "base-where_am_i".to_owned()),
        ("inspect the camera", r#"inspect_component {"component":"camera"}"#.to_owned()),
        ("stop", "base-halt".to_owned()),
        ("stop talking", "speaker-quiet".to_owned()),
        ("be quiet", "speaker-quiet".to_owned()),
        ("say the light is on", r#"speaker-say {"text":"the light is on"}"#.to_owned()),
        ("turn off all lights", r#"light-turn_off {"room":"everywhere"}"#.to_owned()),
        ("light on", "light-turn_on".to_owned()),
        ("light the kitchen", r#"light-turn_on {"room":"kitchen"}"#.to_owned()),
        ("is the battery low?", "battery-level".to_owned()),
        ("tell me if you see a cup", "camera-look".to_owned()),
        // What is done then depends on what is found.
        ("if the light is off, turn on the light", "light-is_on".to_owned()),
    ] {
        table.row(task, &planned(task, house_robot()).await, &plan);
    }
    for (task, says) in [
        ("turn on the garage light", "garage"),
        ("check the kitchen", "Nothing was done."),
        ("what does the camera do?", "Nothing was done."),
        ("what can you see in the kitchen?", "Nothing was done."),
        ("turn on the light when it is dark", "it is dark"),
    ] {
        table.refused(task, &planned(task, house_robot()).await, says);
    }
    table.check();
}

#[tokio::test]
async fn regression_words_that_nobody_handed_over_as_a_text_are_not_shown_and_no_verb_is_no_act() {
    let mut table = Table::default();
    for (task, plan) in [
        ("go to the lobby", r#"cart-go_to {"station":"lobby"}"#),
        ("open drawer 3", r#"drawers-open {"number":3}"#),
        ("call the lift to floor 2", r#"lift-call {"floor":2}"#),
        ("show \"Welcome\"", r#"display-show {"text":"Welcome"}"#),
        ("show: Welcome to our hotel", r#"display-show {"text":"Welcome to our hotel"}"#),
        ("say hello", r#"voice-announce {"text":"hello"}"#),
        ("announce that dinner is ready", r#"voice-announce {"text":"dinner is ready"}"#),
        ("tell everyone that dinner is ready", r#"voice-announce {"text":"dinner is ready"}"#),
        ("scan", "scanner-scan"),
        ("get the lift up to the third floor", r#"lift-call {"floor":3}"#),
    ] {
        table.row(task, &planned(task, hotel_robot()).await, plan);
    }
    // No verb says it, so it is asked.
    for task in ["the third floor please", "lift to the third floor"] {
        let says = "Did you mean: call the lift to floor 3?";
        table.refused(task, &planned(task, hotel_robot()).await, says);
    }
    let mut bare = hotel_robot();
    bare.iter_mut().for_each(|tool| tool.phrases.clear());
    for task in [
        "get the guest a towel",
        "show the guest to the kitchen",
        "give the guest a towel",
        "report the fire",
        "check the guest in",
        "bring the towels up to the third floor",
        "frobnicate drawer 3",
        "drawer 3",
        "send the lift up",
        "measure the hallway",
        "display the way to the lobby",
        "put the towel into drawer 2",
        "write welcome",
    ] {
        table.refused(task, &planned(task, hotel_robot()).await, "Nothing was done.");
        table.refused(task, &planned(task, bare.clone()).await, "Nothing was done.");
    }
    table.check();
}

#[tokio::test]
async fn a_tool_that_takes_any_words_does_not_catch_what_another_refuses() {
    let mut tools = house_robot();
    tools.push(tool(
        "arm-move",
        Phase::Execution,
        "Moves the arm to a named pose.",
        json!({"pose": {"type": "string"}}),
        &[],
    ));
    let reply = planned("move to the garage", tools.clone()).await;
    assert!(reply.starts_with("! I know no place \"garage\"."), "{reply}");
    assert_eq!(planned("move to the kitchen", tools).await, r#"base-go_to {"place":"kitchen"}"#);
}

#[tokio::test]
async fn a_text_in_the_middle_of_a_sentence_ends_where_the_pattern_says() {
    let place = json!({"object": {"type": "string"}, "place": {"enum": ["kitchen", "bedroom"]}});
    let tools = vec![tool("arm-bring", Phase::Execution, "Brings an object.", place, &["bring {object} to {place}"])];
    for (task, plan) in [
        ("bring the red cup to the kitchen", r#"arm-bring {"object":"red cup","place":"kitchen"}"#),
        ("bring the red cup to the garage", "! I know no place \"garage\""),
        ("bring the red cup", "! \"bring the red cup\" needs a place"),
        ("bring it to the kitchen", "! I can't honour \"it\""),
    ] {
        let reply = planned(task, tools.clone()).await;
        assert!(reply.starts_with(plan), "{task}: {reply}");
    }
}

/// "In the kitchen" was taken for where something is to be done, and the sentence that the tool declares was not understood.
#[tokio::test]
async fn regression_a_declared_sentence_was_not_understood_where_it_named_a_place() {
    let mut tools = home_robot();
    let text = json!({"type": "string"});
    let (thing, value) = (text.clone(), text.clone());
    let note = json!({"thing": thing, "value": value});
    tools.push(tool(
        "memory-add",
        Phase::Execution,
        "Notes something.",
        note,
        &["remember that {thing} is in {value}"],
    ));
    let about = json!({"text": text});
    tools.push(tool("memory-recall", Phase::Both, "Recalls.", about, &["what do you know about {text}"]));
    for (task, plan) in [
        (
            "Remember that the spare key is in the kitchen.",
            r#"memory-add {"thing":"the spare key","value":"the kitchen"}"#,
        ),
        ("please remember that Anna is in the garden", r#"memory-add {"thing":"Anna","value":"the garden"}"#),
        ("what do you know about the red cup?", r#"memory-recall {"text":"the red cup"}"#),
    ] {
        assert_eq!(planned(task, tools.clone()).await, plan, "{task}");
    }
    let place = json!({"place": {"type": "string"}});
    tools.push(tool("base-drive", Phase::Execution, "Drives.", place, &["bring the robot over to {place}"]));
    for task in ["bring the robot over to the dock in ten minutes", "bring the robot over to it"] {
        let reply = planned(task, tools.clone()).await;
        assert!(!reply.starts_with("base-drive"), "nothing moves by words that nobody has read: {reply}");
    }
    for task in [
        "remember that it is in the kitchen",
        "remember that the key is in the kitchen and go to the office",
        "remember that the key is in the kitchen if the light is on",
        "don't remember that the key is in the kitchen",
    ] {
        let reply = planned(task, tools.clone()).await;
        assert!(!reply.starts_with("memory-add"), "{task}: {reply}");
    }
}

#[tokio::test]
async fn what_is_not_understood_is_told_and_nothing_is_done() {
    let mut table = Table::default();
    for (task, says) in [
        ("dance", "I did not understand \"dance\". Nothing was done. I can do: "),
        ("go to the kitchen and dance", "dance"),
        ("go to the garage", "I know no place \"garage\". I know: kitchen, living room, bedroom"),
        ("say hello and go to the garage", "I know no place \"garage\""),
        ("go to the kitchen nicely", "nicely"),
        ("go to the kitchen bedroom", "bedroom"),
        ("go", "Which did you mean by \"go\"? go to kitchen; go to living room"),
        ("drive somewhere nice", "somewhere"),
        ("say", "\"say\" needs a text. Say for example: say TEXT."),
        ("say it", "\"say it\""),
        ("describe it", "\"describe it\""),
        ("say \"hello", "A quotation mark in that has no partner"),
        ("turn on the oven", "oven"),
        ("turn the light purple", "purple"),
        ("what is the weather in Paris?", "weather in Paris"),
        ("how full is the battery of the car?", "car"),
        ("where is my cup?", "cup"),
        ("going to the kitchen", "going to the kitchen"),
        ("went to the kitchen", "went to the kitchen"),
        ("inspect the camera and the battery", "battery"),
        ("please", "There is no command in that."),
        ("...", "There is no command in that."),
        ("go to the kitchen 🚫", "🚫"),
        ("va a la cocina por favor", "I understand commands in English and German only"),
        ("va a la cocina por favor", "I understand commands in English and German only"),
        ("去厨房", "I understand commands in English and German only"),
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
        ("don't go to the kitchen", "not"),
        ("do not go to the kitchen", "not"),
        ("Don’t move", "not"),
        ("never go to the bedroom", "never"),
        ("go to the kitchen but don't turn on the light", "not"),
        ("go to the kitchen and do not say hello", "not"),
        ("say hello and don't go to the kitchen", "not"),
        ("go to the kitchen without stopping", "without"),
        ("go to the kitchen if the light is on", "if"),
        ("if the battery is full, go to the kitchen", "if"),
        ("unless it is dark go to the kitchen", "unless"),
        ("go to the kitchen until I say stop", "until"),
        ("go to the kitchen while you look around", "while"),
    ] {
        let reply = planned(task, home_robot()).await;
        table.refused(task, &reply, &format!("! I can't honour \"{word}\" in "));
        table.refused(task, &reply, "Nothing was done.");
    }
    let either = planned("go to the kitchen or the bedroom", home_robot()).await;
    table.refused("either of two", &either, "Which did you mean by \"go to the kitchen or the bedroom\"?");
    for (task, says) in [
        ("when I call you, go to the kitchen", "I call"),
        ("go to the kitchen in 5 minutes", "5 minutes"),
        ("turn on all lights except the kitchen", "kitchen"),
        ("go to the kitchen again and again", "again and again"),
        ("go to the kitchen every hour", "every hour"),
        ("speak louder", "Nothing was done."),
        ("say that again", "Nothing was done."),
        ("say something", "Nothing was done."),
        ("go there", "there"),
    ] {
        table.refused(task, &planned(task, home_robot()).await, says);
    }
    for (task, says) in [
        ("grasp the cup unless it is hot", "I can't honour \"unless\""),
        ("grasp it", "\"it\""),
        ("grasp the cup and the bottle", "the bottle"),
        ("grasp the cup carefully", "carefully"),
        ("rotate the turntable left", "I did not understand \"left\""),
        ("grasp nothing", "I can't honour \"nothing\""),
        ("set the speed to 3", "3 is not possible: the speed must be a number from 0 to 2 m/s"),
        ("set the speed to -1", "-1 is not possible"),
        ("set the speed to 5 seconds", "I can't tell how 5 seconds fits the speed"),
        ("set the speed", "needs a speed, a number from 0 to 2 m/s"),
        ("open the window", "window"),
        ("turn off", "turn off"),
        ("gripper", "gripper"),
        ("odometry", "odometry"),
        ("do not open the gripper", "I can't honour \"not\""),
        ("go to the kitchen", "I did not understand \"go to the kitchen\""),
        ("tell me what you see", "what you see"),
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
        "! Which did you mean by \"wave\"? left arm wave; right arm wave. Nothing was done. Say it in these words."
    );
    for task in ["left arm wave", "wave the left arm"] {
        assert_eq!(planned(task, tools.clone()).await, "left_arm-wave", "{task}");
    }
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

#[tokio::test]
async fn regression_a_declared_sentence_that_began_like_a_courtesy_was_not_read_as_it_stands() {
    for name in ["answers late", "ignores halt", "fails", "answers twice", "holds goals", "never answers"] {
        let method = |method: &str| {
            let (full, phrase) = (format!("{}-{method}", name.replace(' ', "_")), format!("{method} {name}"));
            tool(&full, Phase::Execution, "Misbehaves.", json!({}), &[&phrase])
        };
        let calls = planned(&format!("go {name}"), vec![method("go"), method("halt")]).await;
        assert_eq!(calls, format!("{}-go", name.replace(' ', "_")));
    }
}
