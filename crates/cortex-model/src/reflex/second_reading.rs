//! What reflex reads in a task that another model plans: where it understands the whole task, and the plan acts otherwise,
//! somebody has misread it, and a person should say who.
//!
//! Otherwise means an act that the task does not ask for: another tool, another value, or once more than was said. Looks are
//! free, so is the order, and so is what is only spoken. A plan that leaves open what the task says is otherwise, too: whatever
//! is filled in later is not read again. Where a skill without steps that can be read fits the task by itself, it may ask for
//! more than the words of the task, and nothing is said.

use cortex_core::fragment::capped;
use cortex_core::mission::FIND_TOOLS;
use cortex_core::{CallArguments, ChatRequest, ModelCall, PassageKind, ToolDefinition, ToolKind};
use cortex_language::{Part, Understanding, name_words};
use cortex_protocol::TaskClass;
use serde_json::{Map, Value};

use super::conversation::Conversation;
use super::procedure::{self, Procedure};
use super::schema::{self, Kind};
use super::toolbox::{Toolbox, is_name_of};
use super::{answers, word_for_word};

/// Most characters of what is told.
const TOLD_CHARACTERS: usize = 500;

/// An act that a task asks for. What it leaves open is not in the arguments.
struct Act<'r> {
    tool: &'r ToolDefinition,
    arguments: Map<String, Value>,
}

/// What speaks against these calls, in words for a person. None: nothing, or the task is not understood as a whole.
pub(crate) fn doubt(request: &ChatRequest, calls: &[ModelCall]) -> Option<String> {
    // Of what is not told of, another tool may fit the words better.
    if request.tools.iter().any(|tool| tool.name == FIND_TOOLS) {
        return None;
    }
    let conversation = Conversation::read(request);
    let toolbox = conversation.toolbox(request);
    let acting = |call: &&ModelCall| toolbox.named(&call.name).is_some_and(|tool| moves(&toolbox, tool));
    let planned: Vec<&ModelCall> = calls.iter().filter(acting).collect();
    if planned.is_empty() {
        return None;
    }
    let asked = asked_for(&toolbox, &conversation)?;
    let mut open: Vec<&Act<'_>> = asked.iter().collect();
    // What is done was asked for once, but for an order that goes on in rounds.
    if conversation.class != Some(TaskClass::StandingOrder) {
        for report in conversation.done() {
            take(&mut open, |act| is_name_of(&act.tool.name, report.tool.as_str()) && is_asked(&report.arguments, act));
        }
    }
    // Done for each of a list, with all acts that stand between.
    let repeats = calls.iter().any(|call| given(call).is_some_and(|given| given.values().any(names_each)));
    let is_otherwise = |call: &&&ModelCall| {
        let Some(given) = given(call) else { return false };
        repeats || !take(&mut open, |act| is_name_of(&act.tool.name, &call.name) && is_asked(given, act))
    };
    let otherwise: Vec<String> = planned.iter().filter(is_otherwise).map(|call| planned_words(call)).collect();
    if otherwise.is_empty() {
        return None;
    }
    let asked: Vec<String> = asked.iter().map(|act| answers::call(&act.tool.name, &act.arguments, &[])).collect();
    let asked = if asked.is_empty() { "nothing that moves".to_owned() } else { asked.join("; ") };
    let text = format!("reflex reads the task otherwise: {asked}; the plan has: {}", otherwise.join("; "));
    Some(capped(&text, TOLD_CHARACTERS))
}

/// Takes the first that fits; says whether there was one.
fn take(open: &mut Vec<&Act<'_>>, fits: impl Fn(&Act<'_>) -> bool) -> bool {
    let found = open.iter().position(|act| fits(act));
    found.map(|at| open.remove(at)).is_some()
}

/// Those calls that do more to the world than to look and to speak, in their order.
pub(crate) fn moving<'c>(request: &ChatRequest, calls: &'c [ModelCall]) -> Vec<&'c ModelCall> {
    let conversation = Conversation::read(request);
    let toolbox = conversation.toolbox(request);
    calls.iter().filter(|call| toolbox.named(&call.name).is_some_and(|tool| moves(&toolbox, tool))).collect()
}

/// A call in words for a person.
pub(crate) fn in_words(call: &ModelCall) -> String {
    planned_words(call)
}

/// Whether a tool does more to the world than to speak.
fn moves(toolbox: &Toolbox<'_>, tool: &ToolDefinition) -> bool {
    matches!(tool.kind, ToolKind::Act | ToolKind::ActInBackground) && !toolbox.speaks(tool)
}

/// The acts that the task asks for, whatever its conditions bring. None where it is not understood as a whole.
fn asked_for<'r>(toolbox: &Toolbox<'r>, conversation: &Conversation<'_>) -> Option<Vec<Act<'r>>> {
    let task = conversation.task.filter(|_| !conversation.is_revised)?;
    let tells_more = |kind: &PassageKind| matches!(kind, PassageKind::Skill { procedure } if procedure.is_empty());
    if conversation.on_record.iter().any(|passage| tells_more(&passage.kind)) {
        return None;
    }
    let parts = match procedure::read(toolbox, conversation) {
        Some(Procedure::Parts(parts)) => parts,
        Some(Procedure::NotUnderstood(_)) => return None,
        None => match toolbox.understand_after(conversation.before, task) {
            Understanding::Understood(parts) => parts,
            _ => word_for_word::read(toolbox, task)?,
        },
    };
    let mut asked = Vec::new();
    add_acts(toolbox, &parts, &mut asked).then_some(asked)
}

/// Returns false if something is said to which a model may find an answer of its own.
fn add_acts<'r>(toolbox: &Toolbox<'r>, parts: &[Part], asked: &mut Vec<Act<'r>>) -> bool {
    parts.iter().all(|part| match part {
        Part::Talk(_) => false,
        Part::If { then, otherwise, .. } => add_acts(toolbox, then, asked) && add_acts(toolbox, otherwise, asked),
        Part::Call { call, .. } => {
            let tool = toolbox.tool_of(part).filter(|tool| moves(toolbox, tool));
            asked.extend(tool.map(|tool| Act { tool, arguments: call.arguments.clone() }));
            true
        }
        Part::Tell { .. } => true,
    })
}

/// Whether these arguments are what the act asks for, as far as the act says it.
fn is_asked(given: &Map<String, Value>, act: &Act<'_>) -> bool {
    schema::parameters(&act.tool.parameters).iter().all(|parameter| {
        let Some(asked) = act.arguments.get(&parameter.name) else { return true };
        let by_default = || act.tool.parameters.get("properties")?.get(&parameter.name)?.get("default");
        let Some(given) = given.get(&parameter.name).or_else(by_default) else { return false };
        match (&parameter.kind, given.as_str(), asked.as_str()) {
            (Kind::Text(_), Some(given), Some(asked)) => is_worded_alike(given, asked),
            _ => schema::is_same(given, asked),
        }
    })
}

/// Whether two texts say the same, but for articles, case and marks. What is still to be filled in says nothing yet.
fn is_worded_alike(given: &str, asked: &str) -> bool {
    const ARTICLES: [&str; 12] = ["the", "a", "an", "my", "your", "der", "die", "das", "den", "dem", "ein", "eine"];
    let is_open = given.contains(['<', '>', '[', ']', '{', '}']);
    let words = |text: &str| -> Vec<String> {
        name_words(text).into_iter().filter(|word| !ARTICLES.contains(&word.as_str())).collect()
    };
    !is_open && words(given) == words(asked)
}

/// Whether something is to be filled in with each of a list.
fn names_each(value: &Value) -> bool {
    value.to_string().to_lowercase().contains("<each")
}

fn given(call: &ModelCall) -> Option<&Map<String, Value>> {
    match &call.arguments {
        CallArguments::Object(arguments) => Some(arguments),
        CallArguments::Malformed { .. } => None,
    }
}

fn planned_words(call: &ModelCall) -> String {
    given(call).map_or_else(|| name_words(&call.name).join(" "), |given| answers::call(&call.name, given, &[]))
}

#[cfg(test)]
mod tests {
    use cortex_core::{Context, ContextPassage, Fragment, Message, Purpose, ToolDefinition};
    use serde_json::json;

    use super::*;

    fn tool(name: &str, kind: ToolKind, parameters: &Value, phrase: &str) -> ToolDefinition {
        let required: Vec<&String> = parameters.as_object().unwrap().keys().collect();
        ToolDefinition {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({"type": "object", "properties": parameters, "required": required}),
            phase: if kind == ToolKind::Look {
                cortex_protocol::ToolPhase::Both
            } else {
                cortex_protocol::ToolPhase::Execution
            },
            phrases: vec![phrase.to_owned()],
            kind,
        }
    }

    fn request(task: &str, record: Vec<ContextPassage>) -> ChatRequest {
        let places = json!({"place": {"enum": ["kitchen", "bedroom", "office"]}});
        let percent = json!({"percent": {"type": "number", "default": 20}});
        let dim = tool("light-dim", ToolKind::Act, &percent, "dim the light to {percent} percent");
        let tools = vec![
            tool("base-go_to", ToolKind::Act, &places, "go to {place}"),
            tool("camera-look", ToolKind::Look, &json!({}), "look around"),
            dim,
            tool("arm-grasp", ToolKind::Act, &json!({"thing": {"type": "string"}}), "grasp the {thing}"),
            tool("speaker-say", ToolKind::Act, &json!({"text": {"type": "string"}}), "say {text}"),
        ];
        let context = Context { passages: record, ..Context::default() };
        let fragments = vec![Fragment::Task { text: task.to_owned() }, Fragment::Context { context }];
        let messages = vec![Message::User { fragments }];
        ChatRequest { purpose: Purpose::Plan, messages, tools, temperature: 0.0, max_tokens: 100 }
    }

    fn said_against(task: &str, record: Vec<ContextPassage>, calls: &[(&str, Value)]) -> Option<String> {
        doubt(&request(task, record), &calls.iter().map(call_of).collect::<Vec<_>>())
    }

    fn call_of((name, arguments): &(&str, Value)) -> ModelCall {
        let arguments = CallArguments::read(&arguments.to_string());
        ModelCall { id: String::new(), name: (*name).to_owned(), arguments }
    }

    fn go(place: &str) -> (&'static str, Value) {
        ("base-go_to", json!({"place": place}))
    }

    fn say(text: &str) -> (&'static str, Value) {
        ("speaker-say", json!({"text": text}))
    }

    fn look() -> (&'static str, Value) {
        ("camera-look", json!({}))
    }

    #[test]
    fn another_act_another_place_and_an_act_more_are_told() {
        let kitchen = "base go to (kitchen)";
        let dim = |percent: f64| ("light-dim", json!({"percent": percent}));
        let (two, cup) = ("base go to (kitchen); base go to (bedroom)", ("arm-grasp", json!({"thing": "knife"})));
        for (task, calls, asked, has) in [
            ("go to the kitchen", vec![go("bedroom")], kitchen, "base go to (bedroom)"),
            ("go to the kitchen", vec![go("kitchen"), go("kitchen")], kitchen, kitchen),
            (
                "go to the kitchen and then to the bedroom",
                vec![go("office"), go("bedroom")],
                two,
                "base go to (office)",
            ),
            ("go to the kitchen", vec![("base.go_to", json!({"place": "bedroom"}))], kitchen, "base go to (bedroom)"),
            ("go to the kitchen", vec![go("kitchen"), dim(3.0)], kitchen, "light dim (3)"),
            ("look around", vec![look(), go("kitchen")], "nothing that moves", kitchen),
            ("say hello", vec![say("Hello!"), go("kitchen")], "nothing that moves", kitchen),
            ("grasp the mug", vec![cup], "arm grasp (mug)", "arm grasp (knife)"),
            ("dim the light to 20 percent", vec![dim(80.0)], "light dim (20)", "light dim (80)"),
        ] {
            let told = said_against(task, Vec::new(), &calls);
            assert_eq!(told, Some(format!("reflex reads the task otherwise: {asked}; the plan has: {has}")), "{task}");
        }
    }

    /// What is filled in later is not read again: `<each place>` drove to all of them.
    #[test]
    fn regression_what_a_plan_left_open_was_taken_for_what_the_task_says() {
        for open in ["<each place>", "<the place that I see>", "<output of step 1>", "to <output of step 1>"] {
            assert!(said_against("go to the kitchen", Vec::new(), &[look(), go(open)]).is_some(), "{open}");
        }
        for open in ["<the mug>", "[mug]", "anything but the mug", "mug on the table"] {
            let grasp = ("arm-grasp", json!({"thing": open}));
            assert!(said_against("grasp the mug", Vec::new(), &[grasp]).is_some(), "{open}");
        }
        let block = [say("<each place>"), go("kitchen"), say("<each place>")];
        assert!(said_against("go to the kitchen", Vec::new(), &block).is_some(), "it goes there for each of a list");
    }

    /// `turn_off` has eight letters, as a hash has: each tool of the light was taken for it.
    #[test]
    fn regression_a_word_of_eight_letters_was_taken_for_the_hash_of_a_name() {
        let mut request = request("turn off the light", Vec::new());
        request.tools.push(tool("light-turn_off", ToolKind::Act, &json!({}), "turn off the light"));
        request.tools.push(tool("light-turn_on", ToolKind::Act, &json!({}), "turn on the light"));
        for (name, is_doubted) in [("light-turn_on", true), ("light.turn_on", true), ("light.turn_off", false)] {
            assert_eq!(doubt(&request, &[call_of(&(name, json!({})))]).is_some(), is_doubted, "{name}");
        }
    }

    #[test]
    fn what_may_do_more_than_speak_is_read_as_an_act() {
        let mut request = request("go to the kitchen", Vec::new());
        let floor = json!({"floor": {"type": "string"}});
        request.tools.push(tool("lift-call", ToolKind::Act, &floor, "call the lift to {floor}"));
        assert!(doubt(&request, &[call_of(&go("kitchen")), call_of(&("lift-call", json!({"floor": "2"})))]).is_some());
    }

    #[test]
    fn what_the_task_asks_for_is_not_doubted_in_any_order_and_with_any_words() {
        let grasp = |thing: &str| ("arm-grasp", json!({"thing": thing}));
        for (task, calls) in [
            ("go to the kitchen", vec![go("Kitchen")]),
            ("go to the kitchen", vec![look()]),
            ("go to the kitchen", vec![look(), go("kitchen"), look(), say("I am here.")]),
            ("go to the kitchen and then to the bedroom", vec![go("bedroom"), go("kitchen")]),
            ("go to the kitchen and then to the bedroom", vec![go("bedroom")]),
            ("grasp the mug", vec![grasp("the Mug")]),
            ("look around and say what you see", vec![look(), say("<what is there>")]),
            ("dim the light to 20 percent", vec![("light-dim", json!({"percent": 20}))]),
            ("dim the light to 20 percent", vec![("light-dim", json!({}))]),
        ] {
            assert_eq!(said_against(task, Vec::new(), &calls), None, "{task} {calls:?}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_not_understood_as_a_whole() {
        for task in ["go to the kitchen and cheer everybody up", "fetch my slippers", "hello", "what can you do?"] {
            assert_eq!(said_against(task, Vec::new(), &[go("bedroom")]), None, "{task}");
        }
        let mut some = request("go to the kitchen", Vec::new());
        some.tools.push(tool(FIND_TOOLS, ToolKind::BuiltIn, &json!({}), "find tools"));
        let call = call_of(&go("bedroom"));
        assert_eq!(doubt(&some, std::slice::from_ref(&call)), None, "it sees only some of the tools");
        let mut revised = request("go to the kitchen", Vec::new());
        let said = vec![Fragment::Revision { text: "and then to the office".to_owned() }];
        revised.messages.push(Message::User { fragments: said });
        assert_eq!(doubt(&revised, &[call]), None, "the rest of the task still stands");
    }

    #[test]
    fn what_is_done_was_asked_for_once() {
        let mut request = request("go to the kitchen", Vec::new());
        let report = json!({
            "plan": 1, "number": 1, "tool": "base.go_to", "arguments": {"place": "kitchen"}, "status": "SUCCESS",
            "outcome": null, "note": "", "duration": null, "instead_of": [],
        });
        let steps = vec![serde_json::from_value(report).unwrap()];
        request.messages.push(Message::User { fragments: vec![Fragment::Ledger { steps, outputs: 0 }] });
        assert!(doubt(&request, &[call_of(&go("kitchen"))]).is_some());
    }

    #[test]
    fn a_skill_that_fits_by_itself_may_ask_for_more_than_the_words_of_the_task() {
        let passage = |procedure: &[&str]| ContextPassage {
            source: "skills".to_owned(),
            place: "visiting".to_owned(),
            as_of: None,
            text: "Dim the light in each room.".to_owned(),
            relevance: 1.0,
            kind: PassageKind::Skill { procedure: procedure.iter().map(|step| (*step).to_owned()).collect() },
        };
        let plan = [go("kitchen"), ("light-dim", json!({"percent": 20}))];
        assert_eq!(said_against("go to the kitchen", vec![passage(&[])], &plan), None);
        let steps = ["go to the kitchen", "dim the light to 20 percent"];
        assert_eq!(said_against("go to the kitchen", vec![passage(&steps)], &plan), None);
        assert!(said_against("go to the kitchen", vec![passage(&steps)], &[go("office")]).is_some());
    }
}
