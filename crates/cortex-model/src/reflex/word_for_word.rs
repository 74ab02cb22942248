//! A sentence that a tool declares, said word for word: "what do you know about {text}". Only where the reader understands
//! nothing, all that is left open is free text, and nothing of the robot can act by it: what only looks, and its memory.

use cortex_core::ToolKind;
use cortex_core::said::DeclaredSentence;
use cortex_language::{Call, Part};
use serde_json::{Map, Value};

use super::schema::{self, Kind};
use super::toolbox::Toolbox;

/// Least words of the declared sentence besides what it leaves open: fewer are said by accident.
const LEAST_WORDS: usize = 3;

/// The tools that change the memory, and nothing else.
const OF_MEMORY: [&str; 2] = ["memory-add", "memory-forget"];
/// Words that stand for something that was said before.
const PRONOUNS: [&str; 14] =
    ["it", "this", "that", "these", "those", "they", "them", "he", "she", "him", "her", "there", "here", "one"];

/// The one call that the text asks for word for word.
pub(super) fn read(toolbox: &Toolbox<'_>, text: &str) -> Option<Vec<Part>> {
    let mut found: Vec<Call> = Vec::new();
    for (index, tool) in (0..toolbox.len()).filter_map(|index| Some((index, toolbox.get(index)?))) {
        let only_looks = matches!(tool.kind, ToolKind::Look | ToolKind::LookAtOnce | ToolKind::LookAsStep);
        if !only_looks && !OF_MEMORY.contains(&tool.name.as_str()) {
            continue;
        }
        let parameters = schema::parameters(&tool.parameters);
        let is_text = |name: &str| {
            parameters.iter().any(|parameter| parameter.name == name && matches!(parameter.kind, Kind::Text(_)))
        };
        for sentence in tool.phrases.iter().map(|sentence| DeclaredSentence::read(sentence)) {
            let is_open = sentence.open().next().is_some() && sentence.open().all(is_text);
            if !is_open || sentence.words() < LEAST_WORDS {
                continue;
            }
            let Some(said) = sentence.said(text) else { continue };
            if said.values().any(|said| PRONOUNS.contains(&said.to_lowercase().as_str())) {
                continue;
            }
            let arguments: Map<String, Value> = said.into_iter().map(|(name, said)| (name, said.into())).collect();
            let is_whole = parameters.iter().all(|it| !it.is_needed || arguments.contains_key(&it.name));
            let call = Call { tool: index, arguments };
            if is_whole && !found.contains(&call) {
                found.push(call);
            }
        }
    }
    // What may mean two things is no word for word.
    let Ok([call]) = <[Call; 1]>::try_from(found) else { return None };
    Some(vec![Part::Call { call, clause: text.trim().to_owned() }])
}
