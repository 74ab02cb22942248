//! `docs/prompts.md`: each kind of request to a model in full, from a mission of the real machine, so that it can be read.
//! `CORTEX_RECORD=1 cargo test -p cortex-core --test prompts_page` writes it anew.

#![expect(clippy::unwrap_used, reason = "a page that can't be made ends here, and says why")]

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use cortex_core::mission::{MissionSetup, PolicySetup};
use cortex_core::{
    CallArguments, ChatReply, ChatRequest, Containment, Departed, Effect, Fragment, Input, Message, Mission,
    MissionLimits, ModelCall, ToolSet,
};
use cortex_protocol::{
    CancelMode, Conditions, Dispatch, Effect as ToolEffect, EffectSource, FailureKind, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};

const ABOUT: &str = "\
# What the model is told

The kinds of requests, in full, as a model gets it. This page is made by a test from missions of the real machine \
(`crates/cortex-core/tests/prompts_page.rs`), so it is what is sent.
The tools that go with a request are listed below its messages, each as its JSON. What stands above word for word is not \
repeated.

Some rules hold for all of them:

- What comes from the world (outputs, feedback, errors, names) is quoted and on one line, so that it can't pass for a line \
of the record, a person's words or an instruction.
- A step is named `PLAN.STEP` everywhere: `2.3` is step 3 of plan 2.
- What decides success is told: after each plan, the list of what is not done is the list by which the mission is judged.
- The newest exchange and the record of every step are always there. What is cut is older, is marked, and can be asked \
for (`recall_step`).
- The beginning of every planning request is the same for the whole mission, so that providers can cache it; the tools, \
too, unless the robot changes.
- Before a step the model gets a few words for each step, and the latest outputs in full: at most 76 bytes for each \
further step done, whatever it returned.
";

fn tool(name: &str, description: &str, effect: ToolEffect, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: description.to_owned(),
        parameters,
        phase: if effect == ToolEffect::Observe { ToolPhase::Both } else { ToolPhase::Execution },
        effect,
        effect_source: EffectSource::Declared,
        resources: Vec::new(),
        timeout: Duration::from_secs(60),
        dispatch: Dispatch::Wait,
        cancel: CancelMode::Halt,
        component: None,
        phrases: Vec::new(),
        conditions: Conditions::default(),
        serves: None,
        outlives_process: false,
    }
}

fn robot() -> ToolSet {
    let no_arguments = || json!({"type": "object", "properties": {}});
    let place = json!({
        "type": "object", "properties": {"place": {"enum": ["kitchen", "office"]}}, "required": ["place"]
    });
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    ToolSet::new([
        tool("base.go_to", "Drives to a room.", ToolEffect::Move, place),
        ToolSpec {
            dispatch: Dispatch::Background,
            ..tool("base.dock", "Drives to the dock.", ToolEffect::Move, no_arguments())
        },
        tool("speaker.say", "Says a text aloud.", ToolEffect::Act, text),
        tool("camera.look", "Tells what the camera sees.", ToolEffect::Observe, no_arguments()),
    ])
    .0
}

enum Reply {
    Says(&'static str),
    Calls(Vec<(&'static str, Value)>),
}

/// One mission: what the model replies and what the calls come to, in order. Returns its requests.
fn requests(task: &str, replies: Vec<Reply>, outcomes: Vec<ToolOutcome>) -> Vec<ChatRequest> {
    requests_of(task, replies, outcomes.into_iter().map(Some).collect(), None)
}

/// The same, where calls without an outcome go on, and a person corrects the task in the end.
fn requests_of(
    task: &str,
    replies: Vec<Reply>,
    outcomes: Vec<Option<ToolOutcome>>,
    correction: Option<&str>,
) -> Vec<ChatRequest> {
    let mut mission = Mission::new(MissionSetup {
        task: task.to_owned(),
        session: None,
        earlier: Vec::new(),
        identity: "A service robot of the ground floor: a base with a camera and a speaker.".to_owned(),
        tools: robot(),
        containment: Containment::default(),
        departed: Departed::default(),
        limits: MissionLimits { max_corrections: 1, ..MissionLimits::default() },
        policy: PolicySetup::default(),
        reopens: None,
    });
    let (mut replies, mut outcomes) = (VecDeque::from(replies), VecDeque::from(outcomes));
    let mut correction = correction
        .map(|text| Input::Correct { text: text.to_owned(), origin: cortex_protocol::Origin::new("cli", "page") });
    let (mut inputs, mut asked) = (VecDeque::from([Input::Start]), Vec::new());
    while let Some(input) = inputs.pop_front().or_else(|| correction.take()) {
        for effect in mission.handle(Duration::ZERO, input) {
            match effect {
                Effect::AskModel { request, chat } => {
                    asked.push(chat);
                    let reply = match replies.pop_front() {
                        Some(Reply::Says(text)) => ChatReply { text: text.to_owned(), ..ChatReply::default() },
                        Some(Reply::Calls(calls)) => ChatReply {
                            calls: calls.iter().map(|(name, arguments)| call(name, arguments)).collect(),
                            ..ChatReply::default()
                        },
                        None => continue,
                    };
                    inputs.push_back(Input::ModelReplied { request, reply: Ok(reply) });
                }
                Effect::Invoke { call, .. } => {
                    match outcomes.pop_front().unwrap_or_else(|| Some(ToolOutcome::success(Value::Null))) {
                        Some(outcome) => inputs.push_back(Input::CallEnded { call, outcome }),
                        None => {
                            inputs.push_back(Input::CallAccepted { call });
                            inputs.push_back(Input::CallProgressed { call, feedback: "half way".to_owned() });
                        }
                    }
                }
                Effect::CancelCall { call } => {
                    let outcome = ToolOutcome::cancelled(cortex_protocol::HaltState::Halted, "halted");
                    inputs.push_back(Input::CallEnded { call, outcome });
                }
                _ => {}
            }
        }
    }
    asked
}

fn call(name: &str, arguments: &Value) -> ModelCall {
    ModelCall { id: "x".to_owned(), name: name.to_owned(), arguments: CallArguments::read(&arguments.to_string()) }
}

fn text(fragments: &[Fragment]) -> String {
    fragments.iter().map(Fragment::render).collect::<Vec<_>>().join("\n\n")
}

/// The request, less what one on the page before has word for word.
fn shown(chat: &ChatRequest, seen: &mut BTreeSet<String>) -> String {
    let mut page = String::new();
    for message in &chat.messages {
        let (role, text) = match message {
            Message::System { fragments } => ("system", text(fragments)),
            Message::User { fragments } => ("user", text(fragments)),
            Message::Assistant { text, calls } => {
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| match &call.arguments {
                        CallArguments::Object(arguments) => {
                            format!("call {} {}", call.name, Value::Object(arguments.clone()))
                        }
                        CallArguments::Malformed { text, .. } => format!("call {} {text}", call.name),
                    })
                    .collect();
                (
                    "assistant",
                    [text.clone()]
                        .into_iter()
                        .filter(|text| !text.is_empty())
                        .chain(calls)
                        .collect::<Vec<_>>()
                        .join("\n"),
                )
            }
            Message::Tool { name, content, .. } => ("tool", format!("{name}: {}", content.render())),
        };
        let text = if role == "system" && !seen.insert(text.clone()) { "(as above)".to_owned() } else { text };
        writeln!(page, "[{role}]\n{text}\n").unwrap();
    }
    page.push_str("[tools]\n");
    for tool in &chat.tools {
        let written = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        let written = written.to_string();
        let shown = if seen.insert(written.clone()) { written } else { format!("{} (as above)", tool.name) };
        writeln!(page, "{shown}").unwrap();
    }
    page
}

fn page() -> String {
    let go = |place: &str| ("base-go_to", json!({"place": place}));
    let say = |text: &str| ("speaker-say", json!({"text": text}));
    let look = || ("camera-look", json!({}));
    let task = "Look whether the kitchen is free. If it is, go there and say what you see.";
    let free = || ToolOutcome::success(json!({"text": "a table, nobody"}));
    let blocked = ToolOutcome::failure(FailureKind::Reported, "the path to the kitchen is blocked");
    let errand = requests(
        task,
        vec![
            Reply::Calls(vec![look()]),
            Reply::Calls(vec![go("kitchen"), say("<what was seen>")]),
            Reply::Says("The way is free, so EXECUTE."),
            Reply::Says("EXECUTE"),
            Reply::Calls(vec![go("kitchen"), say("<what was seen>")]),
            Reply::Says("EXECUTE"),
            Reply::Calls(vec![say("I see a table.")]),
            Reply::Calls(vec![say("A table, nobody.")]),
        ],
        vec![
            free(),
            blocked,
            ToolOutcome::success(json!("arrived")),
            ToolOutcome::failure(FailureKind::Reported, "the speaker is muted"),
        ],
    );
    let patrol = requests(
        "Patrol until you see a person.",
        vec![Reply::Calls(vec![go("kitchen"), look()]), Reply::Says("EXECUTE"), Reply::Says("EXECUTE")],
        vec![ToolOutcome::success(json!("arrived")), free()],
    );
    let delivery = requests_of(
        "Dock, and say hello on the way.",
        vec![Reply::Calls(vec![("base-dock", json!({})), say("hello")]), Reply::Says("EXECUTE")],
        vec![None],
        Some("do not say anything"),
    );
    let greeting = requests("Hello", vec![], vec![]);
    let question = requests("What do you see?", vec![], vec![]);
    let mut seen = BTreeSet::new();
    let mut at = |requests: &[ChatRequest], index: usize| shown(requests.get(index).unwrap(), &mut seen);
    let sections = [
        ("The first request of an errand", at(&errand, 0)),
        ("After research", at(&errand, 1)),
        ("A step to decide upon", at(&errand, 2)),
        ("Once more, because words stood beside the yes", at(&errand, 3)),
        ("After a plan that ended early", at(&errand, 4)),
        ("A step of the second plan", at(&errand, 5)),
        ("A step whose call failed", at(&errand, 7)),
        ("After a plan that was carried out", at(&errand, 8)),
        ("After a round of an order that goes on", at(&patrol, 3)),
        ("A step while something is in flight", at(&delivery, 2)),
        ("After a person has corrected the task", at(&delivery, 3)),
        ("A greeting", at(&greeting, 0)),
        ("A question", at(&question, 0)),
    ];
    let mut page = ABOUT.to_owned();
    for (title, shown) in sections {
        write!(page, "\n## {title}\n\n```text\n{shown}```\n").unwrap();
    }
    page
}

#[test]
fn the_page_of_prompts_is_what_is_sent() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompts.md");
    let page = page();
    if std::env::var_os("CORTEX_RECORD").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/prompts.md is not what is sent; write it anew with CORTEX_RECORD=1 and read it");
}
