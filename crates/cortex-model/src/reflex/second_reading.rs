//! What reflex reads in a task that another model plans: where it understands the whole task, and the plan acts otherwise,
//! somebody has misread it, and a person should say who.
//!
//! Otherwise means an act that the task does not ask for, such as another tool, another place or once more. Looks are free, so
//! is the order, and texts that are to be spoken or written are for the model to word; where the task asks for a look, what it
//! brings may be spoken, too ("tell me what you see"). What a skill tells without steps that
//! can be read may ask for more than the task's words, so nothing is said against a plan that was made with one.

use cortex_core::context::READ_SKILL;
use cortex_core::fragment::capped;
use cortex_core::{CallArguments, ChatRequest, ModelCall, PassageKind, ToolKind};
use cortex_language::{Part, Understanding, name_words};
use serde_json::{Map, Value};

use super::conversation::Conversation;
use super::procedure::{self, Procedure};
use super::schema::{self, Kind};
use super::toolbox::Toolbox;
use super::{answers, word_for_word};

/// Most characters of what is told.
const TOLD_CHARACTERS: usize = 500;
/// Two numbers are the same if they differ by less than this share.
const SAME: f64 = 1e-6;

/// An act that a task asks for. What it leaves open is not in the arguments.
struct Act {
    tool: String,
    arguments: Map<String, Value>,
}

/// What a task asks for.
#[derive(Default)]
struct Asked {
    acts: Vec<Act>,
    /// Whether it asks for a look, too.
    looks: bool,
}

/// What speaks against these calls, in words for a person. None: nothing, or the task is not understood as a whole.
pub(crate) fn doubt(request: &ChatRequest, calls: &[ModelCall]) -> Option<String> {
    let acts = |call: &&ModelCall| request.tools.iter().any(|tool| tool.name == call.name && acts(tool.kind));
    let planned: Vec<&ModelCall> = calls.iter().filter(acts).collect();
    if planned.is_empty() {
        return None;
    }
    let conversation = Conversation::read(request);
    let toolbox = Toolbox::new(&request.tools);
    let Asked { acts: asked, looks } = asked_for(&toolbox, &conversation)?;
    let mut open: Vec<&Act> = asked.iter().collect();
    let is_otherwise = |call: &&&ModelCall| {
        let found = open.iter().position(|act| is_asked(request, call, act));
        found.map(|at| open.remove(at)).is_none() && !(looks && tells_findings(request, call))
    };
    let otherwise: Vec<String> = planned.iter().filter(is_otherwise).map(|call| planned_words(call)).collect();
    if otherwise.is_empty() {
        return None;
    }
    let asked: Vec<String> = asked.iter().map(|act| words(&act.tool, &act.arguments)).collect();
    let asked = if asked.is_empty() { "nothing that acts".to_owned() } else { asked.join("; ") };
    let text = format!("reflex reads the task otherwise: {asked}; the plan has: {}", otherwise.join("; "));
    Some(capped(&text, TOLD_CHARACTERS))
}

fn acts(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Act | ToolKind::ActInBackground)
}

/// The acts that the task asks for, whatever its conditions bring. None where it is not understood as a whole.
fn asked_for(toolbox: &Toolbox<'_>, conversation: &Conversation<'_>) -> Option<Asked> {
    let task = conversation.task?;
    let tells_more = |kind: &PassageKind| matches!(kind, PassageKind::Skill { procedure } if procedure.is_empty());
    let read_one = conversation.research.iter().any(|asked| asked.name == READ_SKILL.replace('.', "-"));
    if read_one || conversation.on_record.iter().any(|passage| tells_more(&passage.kind)) {
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
    let mut asked = Asked::default();
    add_acts(toolbox, &parts, &mut asked).then_some(asked)
}

/// Returns false if something is said to which a model may find an answer of its own.
fn add_acts(toolbox: &Toolbox<'_>, parts: &[Part], asked: &mut Asked) -> bool {
    parts.iter().all(|part| match part {
        Part::Talk(_) => false,
        Part::If { then, otherwise, .. } => add_acts(toolbox, then, asked) && add_acts(toolbox, otherwise, asked),
        Part::Call { call, .. } => {
            match toolbox.tool_of(part) {
                Some(tool) if acts(tool.kind) => {
                    asked.acts.push(Act { tool: tool.name.clone(), arguments: call.arguments.clone() });
                }
                _ => asked.looks = true,
            }
            true
        }
        Part::Tell { .. } => {
            asked.acts.extend(toolbox.tool_of(part).map(|tool| Act { tool: tool.name.clone(), arguments: Map::new() }));
            true
        }
    })
}

/// Whether a call does what the act asks for, as far as the act says it.
fn is_asked(request: &ChatRequest, call: &ModelCall, act: &Act) -> bool {
    let CallArguments::Object(given) = &call.arguments else { return true };
    let Some(tool) = request.tools.iter().find(|tool| tool.name == call.name) else { return true };
    call.name == act.tool
        && schema::parameters(&tool.parameters).iter().all(|parameter| {
            let Some(asked) = act.arguments.get(&parameter.name) else { return true };
            match given.get(&parameter.name) {
                _ if matches!(parameter.kind, Kind::Text(_)) => true,
                Some(given) => is_open(given) || is_same(given, asked),
                None => false,
            }
        })
}

/// Whether a call takes nothing but texts, and one of them tells what a look brings.
fn tells_findings(request: &ChatRequest, call: &ModelCall) -> bool {
    let CallArguments::Object(given) = &call.arguments else { return false };
    let Some(tool) = request.tools.iter().find(|tool| tool.name == call.name) else { return false };
    let parameters = schema::parameters(&tool.parameters);
    let is_text = |name: &String| {
        parameters.iter().any(|parameter| parameter.name == *name && matches!(parameter.kind, Kind::Text(_)))
    };
    given.keys().all(is_text) && given.values().any(is_open)
}

/// What is filled in later, by what an earlier step brings.
fn is_open(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains('<') && text.contains('>'))
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64(), one.as_str(), other.as_str()) {
        (Some(one), Some(other), ..) => (one - other).abs() <= SAME * one.abs().max(other.abs()),
        (.., Some(one), Some(other)) => one.trim().to_lowercase() == other.trim().to_lowercase(),
        _ => one == other,
    }
}

fn planned_words(call: &ModelCall) -> String {
    match &call.arguments {
        CallArguments::Object(arguments) => words(&call.name, arguments),
        CallArguments::Malformed { .. } => name_words(&call.name).join(" "),
    }
}

fn words(tool: &str, arguments: &Map<String, Value>) -> String {
    answers::call(tool, arguments, &[])
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
        let tools = vec![
            tool("base-go_to", ToolKind::Act, &places, "go to {place}"),
            tool("camera-look", ToolKind::Look, &json!({}), "look around"),
            tool(
                "light-dim",
                ToolKind::Act,
                &json!({"percent": {"type": "number"}}),
                "dim the light to {percent} percent",
            ),
            tool("speaker-say", ToolKind::Act, &json!({"text": {"type": "string"}}), "say {text}"),
        ];
        let context = Context { passages: record, ..Context::default() };
        let fragments = vec![Fragment::Task { text: task.to_owned() }, Fragment::Context { context }];
        let messages = vec![Message::User { fragments }];
        ChatRequest { purpose: Purpose::Plan, messages, tools, temperature: 0.0, max_tokens: 100 }
    }

    fn said_against(task: &str, record: Vec<ContextPassage>, calls: &[(&str, Value)]) -> Option<String> {
        let call = |(name, arguments): &(&str, Value)| ModelCall {
            id: String::new(),
            name: (*name).to_owned(),
            arguments: CallArguments::read(&arguments.to_string()),
        };
        doubt(&request(task, record), &calls.iter().map(call).collect::<Vec<_>>())
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
        for (task, calls, asked, has) in [
            ("go to the kitchen", vec![go("bedroom")], kitchen, "base go to (bedroom)"),
            ("go to the kitchen", vec![go("kitchen"), go("kitchen")], kitchen, kitchen),
            ("go to the kitchen", vec![go("kitchen"), say("Hi")], kitchen, "speaker say (Hi)"),
            ("look around", vec![look(), go("kitchen")], "nothing that acts", kitchen),
            ("go to the kitchen", vec![go("kitchen"), say("<what I see>")], kitchen, "speaker say (<what I see>)"),
            (
                "dim the light to 20 percent",
                vec![("light-dim", json!({"percent": 80}))],
                "light dim (20)",
                "light dim (80)",
            ),
        ] {
            let told = said_against(task, Vec::new(), &calls);
            assert_eq!(told, Some(format!("reflex reads the task otherwise: {asked}; the plan has: {has}")), "{task}");
        }
    }

    #[test]
    fn what_the_task_asks_for_is_not_doubted_in_any_order_and_wording() {
        for (task, calls) in [
            ("go to the kitchen", vec![go("Kitchen")]),
            ("go to the kitchen", vec![look()]),
            ("go to the kitchen", vec![look(), go("kitchen"), look()]),
            ("go to the kitchen and then to the bedroom", vec![go("bedroom"), go("kitchen")]),
            ("go to the kitchen and then to the bedroom", vec![go("bedroom")]),
            ("go to the kitchen", vec![go("<the place that I see>")]),
            ("say \"dinner is ready\"", vec![say("Dinner is ready!")]),
            ("look around and say what you see", vec![look(), say("<what is there>")]),
            ("go to the kitchen and look around", vec![go("kitchen"), look(), say("I see: <output of step 2>")]),
            ("dim the light to 20 percent", vec![("light-dim", json!({"percent": 20.0}))]),
        ] {
            assert_eq!(said_against(task, Vec::new(), &calls), None, "{task} {calls:?}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_not_understood_as_a_whole() {
        for task in ["go to the kitchen and cheer everybody up", "fetch my slippers", "hello", "what can you do?"] {
            assert_eq!(said_against(task, Vec::new(), &[go("bedroom"), say("Hi")]), None, "{task}");
        }
    }

    #[test]
    fn a_skill_may_ask_for_more_than_the_words_of_the_task() {
        let passage = |procedure: &[&str]| ContextPassage {
            source: "skills".to_owned(),
            place: "visiting".to_owned(),
            as_of: None,
            text: "Say hello in each room.".to_owned(),
            relevance: 1.0,
            kind: PassageKind::Skill { procedure: procedure.iter().map(|step| (*step).to_owned()).collect() },
        };
        let plan = [go("kitchen"), say("Hello!")];
        assert_eq!(said_against("go to the kitchen", vec![passage(&[])], &plan), None);
        let steps = ["go to the kitchen", "say hello"];
        assert_eq!(said_against("go to the kitchen", vec![passage(&steps)], &plan), None);
        assert!(said_against("go to the kitchen", vec![passage(&steps)], &[go("office")]).is_some());
    }
}
