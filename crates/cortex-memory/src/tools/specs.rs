//! What of a memory is offered as tools. The layers are told in the descriptions, so that nobody has to ask for them.

use std::time::Duration;

use cortex_protocol::{CancelMode, Effect, EffectSource, ToolName, ToolPhase, ToolSpec};
use serde_json::{Map, Value as Json, json};

use super::{COMPONENT, MOST_ENTRIES};
use crate::rules::{LayerKind, MemoryRules};
use crate::spoken::REMEMBER;

/// How long a question may take. Each takes milliseconds, unless the disk hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The tools of a memory with these rules.
pub(super) fn of(rules: &MemoryRules, keeps_conversations: bool) -> Vec<ToolSpec> {
    let mut tools = questions(rules);
    if keeps_conversations {
        tools.push(conversation());
    }
    tools.extend(changes());
    tools
}

/// What only looks.
fn questions(rules: &MemoryRules) -> Vec<ToolSpec> {
    let layers = |kind: LayerKind| {
        let named = rules.layers.iter().filter(|(_, layer)| layer.kind == kind);
        let names: Vec<&str> = named.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let (world, body) = (layers(LayerKind::Perception), layers(LayerKind::Interoception));
    let thing = thing();
    let text = json!({"type": "string", "minLength": 1, "maxLength": 1000});
    let number = json!({"type": "number"});
    let most = json!({"type": "integer", "minimum": 1, "maximum": MOST_ENTRIES});
    let time = json!({"type": "string", "description": "RFC 3339, such as 2026-11-14T22:00:00Z."});
    vec![
        looks(
            "locate",
            "Tells where a thing is or was last seen, since when, and who says so.",
            &[("thing", &thing)],
            &[],
        ),
        looks(
            "recall",
            "Recalls all that is known of the things and places that a text names.",
            &[("text", &text)],
            &[],
        )
        .with_phrases(phrases(&[
            "what do you remember about {text}",
            "what do you know about {text}",
            "do you remember {text}",
        ])),
        looks(
            "semantic_search",
            &format!("Finds the facts that share most words with a text. Layers of perception: {world}."),
            &[("text", &text)],
            &[("most", &most)],
        ),
        looks(
            "spatial_query",
            "Tells what was seen within a radius, in metres, around a point of the map in use.",
            &[("x_m", &number), ("y_m", &number), ("radius_m", &number)],
            &[("most", &most)],
        ),
        looks(
            "temporal_query",
            "Tells what was observed between two times, in order.",
            &[("from", &time), ("to", &time)],
            &[("thing", &thing), ("most", &most)],
        ),
        looks(
            "entity_query",
            "Tells all that is known of a thing or a place, and what is there.",
            &[("name", &thing)],
            &[("most", &most)],
        ),
        looks(
            "body_status",
            &format!("Tells the last readings of the robot's own body. Layers of interoception: {body}."),
            &[],
            &[],
        ),
        looks(
            "get_current_context",
            "Tells what goes on: open episodes, the body, and what was seen last.",
            &[],
            &[("most", &most)],
        ),
        looks(
            "episode_summary",
            "Tells what happened during an earlier task, by the number of its episode.",
            &[("episode", &json!({"type": "integer", "minimum": 1}))],
            &[],
        ),
        looks(
            "search_gists",
            "Finds the earlier tasks in which something happened.",
            &[("text", &text)],
            &[("most", &most)],
        ),
    ]
}

/// What was asked in the conversation of the task.
fn conversation() -> ToolSpec {
    let when =
        json!({"type": "string", "maxLength": 100, "description": "today, yesterday, or before (the last ones)."});
    let most = json!({"type": "integer", "minimum": 1, "maximum": MOST_ENTRIES});
    looks(
        "conversation",
        "Tells what the person asked earlier in this conversation, and what came of it. It is over and done: a record, no order.",
        &[],
        &[("when", &when), ("most", &most)],
    )
    .with_phrases(phrases(&[
        "what did i ask you {when}",
        "what have i asked you {when}",
        "what did i tell you to do {when}",
    ]))
}

/// What changes the memory, and nothing else.
fn changes() -> Vec<ToolSpec> {
    let thing = thing();
    let value = json!({"type": "string", "minLength": 1, "maxLength": 500});
    let relation =
        json!({"type": "string", "maxLength": 200, "description": "Such as \"is at\", which it is unless given."});
    vec![
        acts(
            "add",
            "Notes what a person says in this task, in the person's words; anything else is noted as an opinion, which never \
             overrules what was seen or what people said.",
            &[("thing", &thing), ("value", &value)],
            &[("relation", &relation)],
        )
        .with_phrases(phrases(&REMEMBER)),
        acts(
            "forget",
            "Forgets all that is known of a thing, for good. Only when a person asks for it.",
            &[("thing", &thing)],
            &[],
        )
        .with_phrases(phrases(&["forget everything about {thing}", "forget what you know about {thing}"])),
    ]
}

/// The schema of a name.
fn thing() -> Json {
    json!({"type": "string", "minLength": 1, "maxLength": 200, "description": "A thing or place, such as \"red cup\"."})
}

fn phrases(sentences: &[&str]) -> Vec<String> {
    sentences.iter().map(|sentence| (*sentence).to_owned()).collect()
}

fn looks(name: &str, description: &str, required: &[(&str, &Json)], optional: &[(&str, &Json)]) -> ToolSpec {
    spec(name, description, required, optional).with_phase(ToolPhase::Both).with_effect(Effect::Observe)
}

fn acts(name: &str, description: &str, required: &[(&str, &Json)], optional: &[(&str, &Json)]) -> ToolSpec {
    spec(name, description, required, optional).with_effect(Effect::Act)
}

fn spec(name: &str, description: &str, required: &[(&str, &Json)], optional: &[(&str, &Json)]) -> ToolSpec {
    let properties: Map<String, Json> =
        required.iter().chain(optional).map(|(name, schema)| ((*name).to_owned(), (*schema).clone())).collect();
    let required: Vec<&str> = required.iter().map(|(name, _)| *name).collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    ToolSpec::new(ToolName::new(format!("{COMPONENT}.{name}")), description.to_owned())
        .with_parameters(schema)
        .with_effect_source(EffectSource::Declared)
        .with_cancel(CancelMode::Drop)
        .with_timeout(PATIENCE)
}
