use cortex_protocol::TaskClass::{
    self, Action, Conversation, EndlessOrder, KnowledgeQuestion, QuestionAboutSelf, QuestionAboutWorld, SearchOrPatrol,
    StandingOrder,
};

use super::*;

const TABLE: &[(TaskClass, &[&str])] = &[
    (
        Conversation,
        &[
            "Hello",
            "hi there!",
            "Good morning, robot.",
            "Hello, who are you?",
            "Hello?",
            "Thank you very much!",
            "Thanks.",
            "How are you?",
            "What is your name?",
            "what can you do?",
            "Hi, what can you do?",
            "help",
            "Guten Tag",
            "Danke!",
            "Was kannst du?",
            "Bonjour",
            "¡Hola!",
            "привет",
            "你好",
            "こんにちは。",
            "नमस्ते",
            "مرحبا",
            "안녕하세요",
            "Don't go to the kitchen.",
            "Please don't move!",
            "never touch the cup",
        ],
    ),
    (KnowledgeQuestion, &["What is the capital of France?", "Why is the sky blue?", "¿Quién pintó Las Meninas?"]),
    (
        QuestionAboutSelf,
        &[
            "How full is your battery?",
            "how full is the battery",
            "battery",
            "battery level",
            "Battery level?",
            "Check the battery.",
            "tell me how full the battery is",
            "Could you tell me the battery level",
            "Is your battery charged?",
            "Are you charging?",
            "Where are you?",
            "tell me where you are",
            "Do you know which room you are in?",
            "Are you in the kitchen?",
            "Are you stuck?",
            "status",
            "What's your status?",
            "Hello. How full is your battery?",
            "get the battery level",
            "Show me the status, please.",
            "How full is your battery and what is your status?",
            "Which sensors do you have?",
            "Wie voll ist dein Akku?",
            "Wo bist du?",
            "¿Dónde estás?",
            "где ты?",
            "电池电量多少？",
            "バッテリーはどのくらいですか？",
        ],
    ),
    (
        QuestionAboutWorld,
        &[
            "What do you see?",
            "tell me what you see in the kitchen",
            "Is there a cup on the table?",
            "is the door open",
            "Where is the red cup?",
            "How many people are in the hall?",
            "And the other room?",
            "Can you see the cup?",
            "Could you tell me what is on the shelf?",
            "Do you know where my keys are?",
            "Is there a battery on the table?",
            "What does the sign say?",
            "Read the sign.",
            "Look.",
            "look around",
            "Look and tell me what you see.",
            "Describe the surroundings.",
            "Take a look at the table.",
            "See who is at the door",
            "Tell me how long until the train leaves",
            "list all rooms",
            "How many rooms are there, and what is in them?",
            "Why is it dark here?",
            "inspect the camera",
            "answer what is on the table",
            "Answer the question whether the door is open.",
            "How full is your battery, and what do you see?",
            "Don't go anywhere. What do you see?",
            "Was siehst du?",
            "Où est la tasse ?",
            "¿Qué ves?",
            "Что ты видишь?",
            "هل الباب مفتوح؟",
            "你看到什么？",
            "何が見えますか？",
            "Πού είναι το φλιτζάνι\u{37e}",
        ],
    ),
    (
        Action,
        &[
            "answer the door",
            "Go to the kitchen.",
            "go to the kitchen",
            "Can you go to the kitchen?",
            "Could you please bring me the cup?",
            "Would you mind opening the door?",
            "Why don't you go to the kitchen?",
            "How about going home?",
            "Is it possible to dock now?",
            "I want you to wave",
            "Hello, go to the kitchen",
            "Hello! Please wave.",
            "Go to the kitchen. Is there a cup?",
            "go to the kitchen and tell me what you see",
            "What a mess, clean up",
            "tell the guest hello",
            "Tell everyone that dinner is ready.",
            "say what you see",
            "say hello",
            "say how are you?",
            "say \"what can you do?\"",
            "say \"wait until I come\"",
            "tell the guest to wait until I come",
            "announce that all rooms are closed",
            "Find the cup.",
            "search the kitchen for the cup",
            "look for the blue cup and tell me where it is",
            "run diagnostics",
            "Find the cup and bring it.",
            "Read the sign aloud, then wave",
            "Look, then go to the kitchen.",
            "Look twice and say it.",
            "Drive.",
            "Wave, once you can.",
            "Wait.",
            "stop",
            "do it",
            "Don't go to the kitchen, go to the hall.",
            "Don't leave the light on",
            "Don't stop",
            "Set the lamp to 0.5.",
            "Keep the door open",
            "make me happy",
            "Fly to the moon.",
            "You are now called 7, or true.",
            "the red one",
            "Hello, jeď do kuchyně",
            "take the cup",
            "give me the cup",
            "Yes.",
            "drive if you can",
            "\"go to the kitchen\"",
            "Fahr in die Küche",
            "Kannst du in die Küche fahren?",
            "Fahr bis zur Küche",
            "Peux-tu aller à la cuisine ?",
            "¿Puedes ir a la cocina?",
            "Ve hasta la cocina",
            "Можешь поехать на кухню?",
            "去厨房",
            "你能去厨房吗？",
            "厨房に行ってくれますか？",
            "厨房に行って、こんにちはと言って 🤖",
            "Jeď do kuchyně",
        ],
    ),
    (
        SearchOrPatrol,
        &[
            "Patrol.",
            "patrol all rooms",
            "Please patrol the house",
            "look for the cup in every room",
            "check each room and tell me what you see",
            "Can you check all the rooms?",
            "Visit every room.",
            "Go everywhere.",
            "go to every room and say hello",
            "Search the house.",
            "explore the building",
            "close all doors, room by room",
            "Schau in jedes Zimmer",
        ],
    ),
    (
        StandingOrder,
        &[
            "Patrol until you see a person",
            "patrol the rooms until you see a person, then say hello",
            "Wait until the door opens.",
            "Look for the cup until you find it",
            "Tell me when the door opens",
            "Let me know as soon as somebody comes",
            "Look at the door till it opens",
            "Drive around till the battery is low",
            "Keep going until you find the cup.",
            "Can you wait here until somebody comes?",
            "Fahr herum, bis du jemanden siehst",
            "Patrouille jusqu'à ce que tu voies quelqu'un",
            "巡逻直到你看到一个人",
        ],
    ),
    (
        EndlessOrder,
        &[
            "Patrol until I say stop",
            "patrol until I tell you to stop",
            "keep patrolling",
            "Drive around forever.",
            "Whenever you see a person, say hello",
            "From now on, greet everyone who comes in",
            "Guard the door until further notice",
        ],
    ),
];

#[test]
fn a_task_is_what_its_words_ask_for() {
    let wrong: Vec<String> = TABLE
        .iter()
        .flat_map(|(class, tasks)| tasks.iter().map(move |task| (*class, *task, classify(task))))
        .filter(|(expected, _, found)| expected != found)
        .map(|(expected, task, found)| format!("{task:?} is {found:?} rather than {expected:?}"))
        .collect();
    assert!(TABLE.iter().map(|(_, tasks)| tasks.len()).sum::<usize>() >= 100);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The sentences of which the tables were made, and more that were written afterwards, in two goes: language, what it is,
/// sentence. Of the latter, when they were first read, 9 of 146 orders passed for questions, 2 of 98 questions and 6 of 26
/// courtesies for orders; the tables know them now.
const CORPUS: [&str; 2] = [
    include_str!("../../corpus/classes/earlier-tuned.tsv"),
    include_str!("../../corpus/classes/earlier-written-after.tsv"),
];

fn corpus() -> Vec<(&'static str, &'static str, &'static str)> {
    let lines = CORPUS.iter().flat_map(|file| file.lines());
    lines
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [language, kind, sentence] => (language, kind, sentence),
            _ => panic!("{line}"),
        })
        .collect()
}

#[test]
fn regression_an_order_never_passes_for_a_question_in_whatever_language_and_form() {
    let all = corpus();
    let languages: std::collections::BTreeSet<&str> = all.iter().map(|(language, ..)| *language).collect();
    let orders: Vec<_> = all.iter().filter(|(_, kind, _)| *kind == "order").collect();
    assert!(all.len() >= 300 && languages.len() >= 9 && orders.len() * 3 >= all.len());
    let wrong: Vec<_> = orders.iter().filter(|(.., sentence)| classify(sentence).is_answered_by_words()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn questions_and_courtesies_are_seldom_taken_for_orders() {
    let wrong = |kind: &str, is_wrong: fn(TaskClass) -> bool| -> Vec<&str> {
        let of_kind = corpus().into_iter().filter(|(_, of, _)| *of == kind);
        of_kind.map(|(.., sentence)| sentence).filter(|sentence| is_wrong(classify(sentence))).collect()
    };
    let questions = wrong("question", |class| !class.is_answered_by_words());
    assert!(questions.len() <= 2, "{questions:#?}");
    let mistaken = wrong("question", |class| class == Conversation);
    assert!(mistaken.is_empty(), "words alone would be enough: {mistaken:#?}");
    let chat = wrong("chat", |class| class != Conversation);
    assert!(chat.len() <= 2, "{chat:#?}");
}

#[test]
fn a_search_is_an_order_that_a_look_carries_out_and_no_other_order_is() {
    for task in ["Find the cup.", "Could you find the cup?", "look for the blue cup and tell me where it is"] {
        assert_eq!((classify(task), read(task, []).is_search), (Action, true), "{task}");
    }
    for task in ["Find the cup and bring it.", "Go to the kitchen.", "Look for the cup in every room", "hello", "look"]
    {
        assert!(!read(task, []).is_search, "{task}");
    }
}

#[test]
fn hostile_tasks_are_actions_or_whatever_but_never_a_panic() {
    for task in [
        "",
        " ",
        "\0\u{1b}[2J",
        "\u{202e}\u{200d}",
        "\"",
        "\"\"",
        "«»",
        "?",
        "???",
        "''",
        "\u{301}\u{301}",
        ", . ; and then",
        "🤖🤖🤖",
    ] {
        let _ = classify(task);
    }
    assert_eq!(classify(&"what ".repeat(100_000)), Action);
    assert_eq!(classify(&format!("{} go to the kitchen", "what is it? ".repeat(150))), Action);
    assert_eq!(classify(&"\"".repeat(3_999)), classify(&"\"".repeat(3_999)));
}

fn tool(name: &str, effect: Effect, phrase: &str) -> ToolSpec {
    let spec = serde_json::json!({
        "name": name, "description": "", "parameters": {}, "phase": "both", "effect": effect, "resources": [],
        "timeout": {"secs": 1, "nanos": 0}, "dispatch": "wait", "cancel": "halt", "component": null,
        "phrases": [phrase],
    });
    serde_json::from_value(spec).unwrap()
}

/// The tools that declare every clause of the task.
fn declared(task: &str, phrase: &str) -> Vec<Vec<String>> {
    let tool = tool("tags.scan", Effect::Observe, phrase);
    let names = |tools: &BTreeSet<ToolName>| tools.iter().map(ToString::to_string).collect();
    read(task, [&tool]).declared_by.iter().map(names).collect()
}

#[test]
fn a_clause_is_the_sentence_of_a_tool_with_values_in_place_of_parameters() {
    for (task, phrase) in [
        ("scan the tag", "scan the tag"),
        ("Please scan tag!", "scan the tag"),
        ("please wait", "please wait"),
        ("read the topic /odom", "read the topic {topic}"),
        ("is the door of the big hall open", "is {door} open"),
        ("scan the tag and scan the tag", "scan the tag"),
        ("echo \"still here\"", "echo {text}"),
        ("count the cups in the kitchen", "count the {things} in the {place}"),
    ] {
        let declared = declared(task, phrase);
        assert!(!declared.is_empty() && declared.iter().all(|tools| tools == &["tags.scan"]), "{task}: {phrase}");
    }
    for (task, phrase) in [
        ("scan the tag and open the door", "scan the tag"),
        ("scan the tag on the shelf", "scan the tag"),
        ("do not scan the tag", "scan the tag"),
        ("read the topic", "read the topic {topic}"),
        ("anything", "{thing}"),
        ("anything", "{thing"),
        ("", "scan the tag"),
        ("scan", ""),
    ] {
        assert!(declared(task, phrase).is_empty(), "{task}: {phrase}");
    }
}

#[test]
fn a_sentence_that_a_tool_which_acts_declares_is_an_order_whatever_else_its_words_mean() {
    let names = ["answers late", "dies in step", "fails", "garbage response", "ignores halt", "lies", "never answers"];
    for name in names.iter().chain(&["unicode flood", "answers twice", "holds goals"]) {
        let task = format!("go {name}");
        let acts = tool("component.go", Effect::Act, &task);
        assert_eq!((read(&task, [&acts]).class, classify(&task)), (Action, Action), "{task}");
    }
    for (task, phrase) in [
        ("good morning", "good morning"),
        ("Thanks!", "thanks"),
        ("is everybody happy?", "is {whom} happy"),
        ("Please, how are you", "how are {whom}"),
        ("hello, it is cold in here", "it is cold in here"),
    ] {
        let acts = tool("component.go", Effect::Act, phrase);
        assert!(classify(task).is_answered_by_words(), "{task}");
        assert_eq!(read(task, [&acts]).class, Action, "{task}");
        let looks = tool("component.look", Effect::Observe, phrase);
        assert_eq!(read(task, [&looks]).class, classify(task), "{task}: it only looks");
    }
}

#[test]
fn tasks_of_stories_are_what_they_are_without_the_tools_of_the_robot() {
    for task in [
        "echo \"still here\"",
        "shake the tray for visitors",
        "shake the tray for guests with force 2",
        "go to the kitchen and say hello",
        "go to the bedroom",
    ] {
        assert_eq!(classify(task), Action, "{task}");
    }
}

#[test]
fn an_order_made_of_words_of_small_talk_is_an_order() {
    for task in ["Langsamer bitte.", "¡Silencio!", "Zeg oma welterusten van me", "今天音乐听够了", "Sessiz ol!"]
    {
        assert_eq!(classify(task), Action, "{task}");
    }
    for task in ["Next, the upstairs bathroom.", "So, the other shelf."] {
        assert_eq!(classify(task), Action, "{task}: what comes before it tells nothing");
    }
    for task in ["What a gorgeous sunset!", "Vilken vacker solnedgång!"] {
        assert_eq!(classify(task), Conversation, "{task}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_has_a_class_and_an_order_in_it_is_never_taken_for_a_question(text in "\\PC{0,80}") {
        let _ = classify(&text);
        let words: String = text.chars().filter(|next| !"\"“”„«」「".contains(*next)).collect();
        let class = classify(&format!("{words}. Go to the kitchen."));
        proptest::prop_assert!(class.may_act() && !class.is_answered_by_words(), "{class:?}");
    }
}
