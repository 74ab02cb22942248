//! `docs/prompts.md`: each kind of request to a model in full, from a mission of the real machine, so that it can be read.
//! `CORTEX_RECORD=1 cargo test -p cortex-core --test prompts_page` writes it anew.

#![expect(clippy::unwrap_used, reason = "a page that can't be made ends here, and says why")]

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use cortex_core::mission::{MissionSetup, PolicySetup};
use cortex_core::{
    Availability, CallArguments, ChatReply, ChatRequest, Effect, Fragment, Input, Message, Mission, MissionLimits,
    ModelCall, Purpose, RemovedTools, ToolSet,
};
use cortex_language::task_class;
use cortex_protocol::{
    CancelMode, Dispatch, Effect as ToolEffect, EffectSource, FailureKind, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};

const ABOUT: &str = "\
# What the model is told

The kinds of requests, in full, as a model gets it. This page is made by a test from missions of the real machine \
(`crates/cortex-core/tests/prompts_page.rs`), so it is what is sent.
The tools that go with a request are listed below its messages, each as its JSON. What stands above word for word is not \
repeated: a system text has a name where it stands first (`[system: decision rules]`), and a tool is named alone.

Some rules hold for all of them:

- What comes from the world (outputs, feedback, errors, names) and what people say is quoted and on one line, so that \
it can't pass for a line of the record or an instruction. A line that begins with `From Cortex:` is Cortex's own.
- A step is named `PLAN.STEP` everywhere: `2.3` is step 3 of plan 2. Within the plan that is being written it has its \
number.
- A tool has one name, the one that it is offered by. People read the robot's own name in feedback, results and tapes.
- The description of each tool begins with what a call of it is: a look or an act.
- What decides success is told: after each plan, the list of what is not done is the list by which the mission is judged.
- The newest exchange and the record of every step are always there. What is cut is older, is marked, and can be asked \
for (`recall_step`).
- The beginning of every planning request is the same for the whole mission, so that providers can cache it; the tools, \
too, unless the robot changes.
- Before a step the model gets a few words for each step, and the latest outputs in full. So a request before step 30 \
is hardly longer than one before step 3: a further step adds at most 76 bytes, whatever it returned.
";

fn tool(name: &str, description: &str, effect: ToolEffect, parameters: Value) -> ToolSpec {
    ToolSpec::new(name.into(), description.to_owned())
        .with_parameters(parameters)
        .with_phase(if effect == ToolEffect::Observe { ToolPhase::Both } else { ToolPhase::Execution })
        .with_effect(effect)
        .with_effect_source(EffectSource::Declared)
        .with_timeout(Duration::from_secs(60))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
}

fn robot() -> ToolSet {
    let no_arguments = || json!({"type": "object", "properties": {}});
    let place = json!({
        "type": "object", "properties": {"place": {"enum": ["kitchen", "office"]}}, "required": ["place"]
    });
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    ToolSet::new([
        tool("base.go_to", "Drives to a room.", ToolEffect::Move, place),
        tool("base.dock", "Drives to the dock.", ToolEffect::Move, no_arguments()).with_dispatch(Dispatch::Background),
        tool("speaker.say", "Says a text aloud.", ToolEffect::Act, text),
        tool(
            "camera.look",
            "Tells what the camera sees from where the robot stands.",
            ToolEffect::Observe,
            no_arguments(),
        ),
    ])
    .0
}

enum Reply {
    Says(&'static str),
    Calls(Vec<(&'static str, Value)>),
    Cut,
}

/// Seconds that the model takes to reply, and a tool to do its work: ages differ.
const REPLY_TAKES: u64 = 3;
const WORK_TAKES: u64 = 7;

/// One mission: what the model replies and what comes of the calls, in order. Returns its requests.
struct Told {
    setup: MissionSetup,
    replies: VecDeque<Reply>,
    /// A call without an outcome goes on.
    outcomes: VecDeque<Option<ToolOutcome>>,
    /// What happens once nothing else does, each some seconds after what was before it.
    then: VecDeque<(u64, Input)>,
}

impl Told {
    fn of(task: &str, replies: Vec<Reply>, outcomes: Vec<ToolOutcome>) -> Self {
        Self {
            setup: MissionSetup {
                task: task.to_owned(),
                reading: task_class::read(task, robot().iter()),
                session: None,
                earlier: Vec::new(),
                context_sources: Vec::new(),
                identity: "A service robot of the ground floor: a base with a camera and a speaker.".to_owned(),
                tools: robot(),
                availability: Availability::default(),
                removed: RemovedTools::default(),
                limits: MissionLimits { max_corrections: 1, ..MissionLimits::default() },
                policy: PolicySetup::default(),
                reopens: None,
            },
            replies: replies.into(),
            outcomes: outcomes.into_iter().map(Some).collect(),
            then: VecDeque::new(),
        }
    }

    /// The first call goes on.
    fn in_flight(mut self) -> Self {
        self.outcomes.push_front(None);
        self
    }

    fn then(mut self, seconds: u64, input: Input) -> Self {
        self.then.push_back((seconds, input));
        self
    }

    fn set(mut self, change: impl FnOnce(&mut MissionSetup)) -> Self {
        change(&mut self.setup);
        self
    }

    fn requests(mut self) -> Vec<ChatRequest> {
        let mut mission = Mission::new(self.setup);
        let (mut inputs, mut asked, mut now) = (VecDeque::from([(0, Input::Start)]), Vec::new(), 0);
        while let Some((seconds, input)) = inputs.pop_front().or_else(|| self.then.pop_front()) {
            now += seconds;
            for effect in mission.handle(Duration::from_secs(now), input) {
                match effect {
                    Effect::AskModel { request, chat } => {
                        asked.push(chat);
                        let Some(reply) = self.replies.pop_front() else { continue };
                        let reply = match reply {
                            Reply::Says(text) => ChatReply { text: text.to_owned(), ..ChatReply::default() },
                            Reply::Calls(calls) => ChatReply {
                                calls: calls.iter().map(|(name, arguments)| call(name, arguments)).collect(),
                                ..ChatReply::default()
                            },
                            Reply::Cut => {
                                ChatReply { cut: Some("it was cut at 4096 tokens".to_owned()), ..ChatReply::default() }
                            }
                        };
                        inputs.push_back((REPLY_TAKES, Input::ModelReplied { request, reply: Ok(reply) }));
                    }
                    Effect::Invoke { call, .. } => {
                        match self.outcomes.pop_front().unwrap_or_else(|| Some(ToolOutcome::success(Value::Null))) {
                            Some(outcome) => inputs.push_back((WORK_TAKES, Input::CallEnded { call, outcome })),
                            None => {
                                inputs.push_back((1, Input::CallAccepted { call }));
                                let feedback = "half way".to_owned();
                                inputs.push_back((0, Input::CallProgressed { call, feedback }));
                            }
                        }
                    }
                    Effect::CancelCall { call } => {
                        let outcome = ToolOutcome::cancelled(cortex_protocol::HaltState::Halted, "halted");
                        inputs.push_back((1, Input::CallEnded { call, outcome }));
                    }
                    _ => {}
                }
            }
        }
        asked
    }
}

fn revision(text: &str) -> Input {
    let reading = task_class::read(text, robot().iter());
    Input::Revise { text: text.to_owned(), reading, origin: cortex_protocol::Origin::new("cli", "page") }
}

fn call(name: &str, arguments: &Value) -> ModelCall {
    ModelCall { id: "x".to_owned(), name: name.to_owned(), arguments: CallArguments::read(&arguments.to_string()) }
}

fn text(fragments: &[Fragment]) -> String {
    fragments.iter().map(Fragment::render).collect::<Vec<_>>().join("\n\n")
}

/// What of the page was shown before.
#[derive(Default)]
struct Seen {
    tools: BTreeSet<String>,
    /// The system texts, with their names.
    rules: Vec<(String, String)>,
    schema: BTreeSet<String>,
}

/// The name of a system text, by what the request is for.
fn rules_of(chat: &ChatRequest, text: &str) -> &'static str {
    match chat.purpose {
        Purpose::Plan if text.contains("the voice of a robot") => "conversation rules",
        Purpose::Plan if text.contains("call ask_person") => "planning rules",
        Purpose::Plan => "planning rules where nobody can be asked",
        Purpose::Confirm if text.contains("CONTINUE") => "decision rules while something is in flight",
        Purpose::Confirm => "decision rules",
        Purpose::Correct => "repair rules",
    }
}

/// The request, less what one on the page before has word for word.
fn shown(chat: &ChatRequest, seen: &mut Seen) -> String {
    let mut page = String::new();
    for message in &chat.messages {
        let (role, text) = match message {
            Message::System { fragments } => {
                let text = text(fragments);
                let name = rules_of(chat, &text);
                let known = seen.rules.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone());
                if known.is_none() {
                    seen.rules.push((name.to_owned(), text.clone()));
                }
                assert!(known.as_ref().is_none_or(|known| *known == text), "two texts are named '{name}'");
                (format!("system: {name}"), if known.is_some() { "(as above)".to_owned() } else { text })
            }
            Message::User { fragments } => ("user".to_owned(), text(fragments)),
            Message::Assistant { text, calls } => {
                let calls = calls.iter().map(|call| match &call.arguments {
                    CallArguments::Object(arguments) => {
                        format!("call {} {}", call.name, Value::Object(arguments.clone()))
                    }
                    CallArguments::Malformed { text, .. } => format!("call {} {text}", call.name),
                });
                let said = Some(text.clone()).filter(|text| !text.is_empty());
                ("assistant".to_owned(), said.into_iter().chain(calls).collect::<Vec<_>>().join("\n"))
            }
            Message::Tool { name, content, .. } => ("tool".to_owned(), format!("{name}: {}", content.render())),
        };
        writeln!(page, "[{role}]\n{text}\n").unwrap();
    }
    page.push_str("[tools]\n");
    for tool in &chat.tools {
        let written = json!({"name": tool.name, "description": tool.described(), "parameters": tool.parameters});
        let written = written.to_string();
        let is_new = seen.tools.insert(written.clone());
        writeln!(page, "{}", if is_new { written } else { format!("{} (as above)", tool.name) }).unwrap();
    }
    if let Some((name, schema)) = chat.answer_schema() {
        let schema = schema.to_string();
        let is_new = seen.schema.insert(schema.clone());
        let shown = if is_new { schema } else { "(as above)".to_owned() };
        writeln!(page, "\n[schema of the answer, where the endpoint takes one: {name}]\n{shown}").unwrap();
    }
    page
}

#[expect(clippy::too_many_lines, reason = "one mission after the other, as they stand on the page")]
fn page() -> String {
    let go = |place: &str| ("base-go_to", json!({"place": place}));
    let say = |text: &str| ("speaker-say", json!({"text": text}));
    let look = || ("camera-look", json!({}));
    let dock = || ("base-dock", json!({}));
    let task = "Look whether the kitchen is free. If it is, go there and say what you see.";
    let free = || ToolOutcome::success(json!({"text": "in the hall, door to the kitchen open: a table, nobody"}));
    let in_kitchen = || ToolOutcome::success(json!({"text": "in the kitchen: a table, nobody"}));
    let arrived = || ToolOutcome::success(json!("arrived"));
    let blocked = || ToolOutcome::failure(FailureKind::Reported, "the path to the kitchen is blocked");
    let too_long = "text is longer than 12 characters; nothing was said";
    let plan = || Reply::Calls(vec![go("kitchen"), look(), say("<what is in the kitchen>")]);
    let execute = || Reply::Says("EXECUTE");
    let errand = Told::of(
        task,
        vec![
            Reply::Calls(vec![look()]),
            plan(),
            Reply::Says("The way is free, so EXECUTE."),
            execute(),
            plan(),
            execute(),
            execute(),
            execute(),
            Reply::Calls(vec![say("I see a table.")]),
            Reply::Calls(vec![say("A table.")]),
        ],
        vec![free(), blocked(), arrived(), in_kitchen(), ToolOutcome::failure(FailureKind::Reported, too_long)],
    );
    let errand = errand.requests();
    let patrol = Told::of(
        "Patrol until you see a person.",
        vec![Reply::Calls(vec![go("<each place>"), look()]), execute(), execute(), execute(), execute()],
        vec![
            arrived(),
            in_kitchen(),
            arrived(),
            ToolOutcome::success(json!({"text": "in the office: two desks, nobody"})),
        ],
    );
    let patrol = patrol.requests();
    let endless = Told::of("Patrol until I say stop.", vec![Reply::Calls(vec![look()]), execute()], vec![free()]);
    let endless = endless.requests();
    let way = || {
        Told::of("Dock, and say hello on the way.", vec![Reply::Calls(vec![dock(), say("hello")]), execute()], vec![])
    };
    let delivery = way().in_flight().then(5, revision("do not say anything")).requests();
    let mut waits = way().in_flight().then(20, Input::Tick);
    waits.replies.push_back(Reply::Says("CONTINUE: say it there."));
    let waits = waits.requests();
    let skipped = Told::of(
        "Look, and if somebody is there, say hello. Then dock.",
        vec![
            Reply::Calls(vec![look(), say("hello"), dock()]),
            execute(),
            Reply::Says("SKIP: nobody is there."),
            execute(),
        ],
        vec![free()],
    );
    let skipped = skipped.requests();
    let open = Told::of(
        "Go to the kitchen and say hello.",
        vec![Reply::Calls(vec![go("kitchen"), say("hello")]), execute(), Reply::Calls(vec![go("kitchen")]), execute()],
        vec![blocked(), arrived()],
    );
    let open = open.requests();
    let refused = Told::of(
        "Go to the cellar.",
        vec![Reply::Calls(vec![go("cellar"), say("here")]), Reply::Says("I am in the cellar."), Reply::Cut],
        vec![],
    );
    let refused = refused.requests();
    let long = json!({"text": format!("in the hall: {}", "a chair, ".repeat(112))});
    let recalled = Told::of(
        "Look, then say hello.",
        vec![
            Reply::Calls(vec![look(), say("hello")]),
            execute(),
            execute(),
            Reply::Calls(vec![("recall_step", json!({"step": "1.1"}))]),
        ],
        vec![ToolOutcome::success(long), ToolOutcome::success(json!("said"))],
    );
    let recalled = recalled.requests();
    let found = Told::of(
        "Go to the kitchen.",
        vec![Reply::Calls(vec![("find_tools", json!({"query": "say a text aloud"}))])],
        vec![],
    );
    let found = found.set(|setup| setup.limits.max_offered_tools = 1).requests();
    let session = Told::of("And now back to the office.", vec![], vec![]).set(|setup| {
        setup.earlier = vec![cortex_protocol::Turn {
            task: "Go to the kitchen.".to_owned(),
            is_cut: false,
            output: "I am in the kitchen.".to_owned(),
            status: cortex_protocol::MissionStatus::Succeeded,
        }];
    });
    let session = session.requests();
    let away = Told::of("Go to the kitchen.", vec![], vec![]).set(|setup| {
        let of_base = |spec: &ToolSpec| spec.name.as_str().starts_with("base.");
        let component = |spec: &ToolSpec| of_base(spec).then(|| "base".into());
        let all = setup.tools.iter().map(|spec| spec.clone().with_component(component(spec)));
        let all = ToolSet::new(all.collect::<Vec<_>>()).0;
        setup.tools = ToolSet::new(all.iter().filter(|spec| !of_base(spec)).cloned()).0;
        setup.removed.note(&all, &setup.tools);
        assert!(setup.availability.quarantine("base".into(), "it died and is coming up again"));
    });
    let away = away.requests();
    let greeting = Told::of("Hello", vec![], vec![]).requests();
    let question = Told::of("What do you see?", vec![], vec![]).requests();
    let mut seen = Seen::default();
    let mut at = |requests: &[ChatRequest], index: usize| shown(requests.get(index).unwrap(), &mut seen);
    let sections = [
        ("The first request of an errand", at(&errand, 0)),
        ("After research", at(&errand, 1)),
        ("A step to decide upon", at(&errand, 2)),
        ("Once more, because words stood beside the yes", at(&errand, 3)),
        ("After a plan that ended early", at(&errand, 4)),
        ("A step of the second plan", at(&errand, 5)),
        ("Once more, because the placeholder is still open", at(&errand, 8)),
        ("A step whose call failed", at(&errand, 9)),
        ("After a plan that was carried out", at(&errand, 10)),
        ("After a plan that was carried out, with steps of an earlier one still open", at(&open, 4)),
        ("A step after one that was skipped", at(&skipped, 3)),
        ("After a call that was refused", at(&refused, 1)),
        ("After words that do nothing", at(&refused, 2)),
        ("After a reply that was cut", at(&refused, 3)),
        ("The first request of an order that goes on", at(&patrol, 0)),
        ("After a round of an order that goes on", at(&patrol, 5)),
        ("After a round of an order without an end", at(&endless, 2)),
        ("A step while something is in flight", at(&delivery, 2)),
        ("The same, once it gives no feedback any more", at(&waits, 3)),
        ("After a person has corrected the task", at(&delivery, 3)),
        ("After a step was recalled", at(&recalled, 4)),
        ("A robot with more tools than are offered", at(&found, 1)),
        ("A task that continues a conversation", at(&session, 0)),
        ("A task while a component is away", at(&away, 0)),
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
