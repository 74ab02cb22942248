//! The sentences that the reader offers. Each was read by the reader itself, with a value in every place, and asks for
//! the tool that it is offered for: what is offered is understood.

use std::collections::BTreeSet;

use cortex_core::ToolDefinition;
use cortex_core::fragment::capped;
use cortex_language::{Call, listed, name_words};
use serde_json::{Map, Value, json};

use super::schema::{self, Kind, Parameter};
use super::toolbox::{Toolbox, plain_name};

/// Most abilities that are listed.
const ABILITIES_LISTED: usize = 12;
/// Most abilities that are named beside what was refused.
const NEAREST_LISTED: usize = 4;
/// Most tools that are looked at for those.
const TOOLS_TRIED: usize = 60;
/// Of a robot with more tools than this, no sentence is tried: each would be held against all of them.
const TOOLS_READ: usize = 1_000;
/// Most sentence patterns of a tool that are tried.
const PHRASES_TRIED: usize = 32;
/// Most characters of an offer.
const OFFER_CHARACTERS: usize = 200;
/// Words that tell no tools apart.
const COMMON: [&str; 24] = [
    "the", "to", "is", "it", "me", "my", "of", "in", "on", "at", "and", "you", "your", "for", "with", "can", "are",
    "do", "an", "be", "or", "if", "this", "that",
];
/// A text that is the name of nothing.
const SAMPLE: &str = "xylo";

/// What can be done with the tools there are, in plain words.
pub(super) fn abilities(toolbox: &Toolbox<'_>) -> String {
    let mut offers = Vec::new();
    let mut tried = 0;
    for index in 0..toolbox.len().min(TOOLS_TRIED) {
        if offers.len() == ABILITIES_LISTED {
            break;
        }
        tried += 1;
        offers.extend(ability(toolbox, index));
    }
    let rest = (tried..toolbox.len()).filter(|index| toolbox.get(*index).is_some_and(is_sayable)).count();
    let more = match rest {
        0 => String::new(),
        1 => "; and 1 more thing".to_owned(),
        _ => format!("; and {rest} more things"),
    };
    if offers.is_empty() {
        return "I know no sentence for what the robot offers.".to_owned();
    }
    format!("I can do: {}{more}.", offers.join("; "))
}

/// What comes nearest to these words of what can be done; all of it where nothing is near.
pub(super) fn nearest(toolbox: &Toolbox<'_>, said: &str) -> String {
    let said = telling_words(said);
    let mut near: Vec<(usize, usize)> = (0..toolbox.len())
        .filter_map(|index| Some((nearness(toolbox.get(index)?, &said), index)))
        .filter(|(nearness, _)| *nearness > 0)
        .collect();
    near.sort_by_key(|(nearness, index)| (std::cmp::Reverse(*nearness), *index));
    let tried = near.into_iter().take(TOOLS_TRIED).filter_map(|(_, index)| ability(toolbox, index));
    let offers: Vec<String> = tried.take(NEAREST_LISTED).collect();
    if offers.is_empty() { abilities(toolbox) } else { format!("The nearest that I can do: {}.", offers.join("; ")) }
}

/// How many of the words are the tool's: of its sentences, its name and its values.
fn nearness(tool: &ToolDefinition, said: &BTreeSet<String>) -> usize {
    let mut own = telling_words(&name_words(&tool.name).join(" "));
    for phrase in &tool.phrases {
        own.extend(telling_words(phrase));
    }
    for parameter in schema::parameters(&tool.parameters) {
        if let Kind::Choice(values) = &parameter.kind {
            values.iter().for_each(|value| own.extend(telling_words(&schema::spoken(value))));
        }
    }
    own.intersection(said).count()
}

fn telling_words(text: &str) -> BTreeSet<String> {
    let singular = |word: String| match word.strip_suffix('s') {
        Some(begin) if begin.len() > 2 => begin.to_owned(),
        _ => word,
    };
    let words = name_words(text).into_iter().filter(|word| word.len() > 1 && !COMMON.contains(&word.as_str()));
    words.map(singular).collect()
}

/// Returns true if a sentence can say everything that the tool must be given.
fn is_sayable(tool: &ToolDefinition) -> bool {
    schema::parameters(&tool.parameters).iter().all(|it| !it.is_needed || it.kind != Kind::Other)
}

/// One tool as something to say, `go to PLACE (kitchen, bedroom)`. None where no sentence that is known asks for it.
pub(super) fn ability(toolbox: &Toolbox<'_>, index: usize) -> Option<String> {
    let tool = toolbox.get(index).filter(|tool| is_sayable(tool))?;
    let parameters = schema::parameters(&tool.parameters);
    if toolbox.len() > TOOLS_READ {
        return patterns(tool, &parameters).next().map(|pattern| shown(&parameters, &pattern, Quotes::None));
    }
    patterns(tool, &parameters).find_map(|pattern| {
        [Quotes::None, Quotes::AroundTexts]
            .into_iter()
            .find(|quotes| is_understood(toolbox, index, &parameters, &pattern, *quotes))
            .map(|quotes| shown(&parameters, &pattern, quotes))
    })
}

/// The tool's own sentences, and its name with the values that it needs.
fn patterns<'t>(tool: &'t ToolDefinition, parameters: &'t [Parameter]) -> impl Iterator<Item = String> + 't {
    let by_name = move || {
        let slots = parameters.iter().filter(|it| it.is_needed).map(|it| slot(&it.name));
        std::iter::once(plain_name(tool)).chain(slots).collect::<Vec<_>>().join(" ")
    };
    tool.phrases.iter().take(PHRASES_TRIED).cloned().chain(std::iter::once_with(by_name))
}

fn slot(name: &str) -> String {
    format!("{{{name}}}")
}

/// Where quotation marks are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    AroundTexts,
}

impl Quotes {
    fn around(self, text: &str, kind: &Kind) -> String {
        let is_text = matches!(kind, Kind::Text(_) | Kind::Any);
        if is_text && self == Self::AroundTexts { format!("\"{text}\"") } else { text.to_owned() }
    }
}

/// A sentence that asks for exactly this call, tried in every way that is known. None where there is none.
pub(super) fn sentence_for(toolbox: &Toolbox<'_>, call: &Call) -> Option<String> {
    let tool = toolbox.get(call.tool).filter(|_| toolbox.len() <= TOOLS_READ)?;
    let parameters = schema::parameters(&tool.parameters);
    let said = |pattern: &str, quotes: Quotes| -> Option<String> {
        let mut said = pattern.to_owned();
        for parameter in &parameters {
            let slot = slot(&parameter.name);
            if said.contains(&slot) {
                let value = call.arguments.get(&parameter.name)?;
                let word = match (&parameter.kind, value) {
                    (Kind::Text(_) | Kind::Any, Value::String(text)) => text.clone(),
                    _ => schema::spoken(value),
                };
                said = said.replace(&slot, &quotes.around(&word, &parameter.kind));
            }
        }
        Some(said)
    };
    let is_meant = |said: &String| toolbox.calls(said).is_some_and(|calls| calls == [call.clone()]);
    patterns(tool, &parameters).find_map(|pattern| {
        [Quotes::None, Quotes::AroundTexts].into_iter().filter_map(|quotes| said(&pattern, quotes)).find(is_meant)
    })
}

/// Returns true if the sentence asks for exactly this tool, with the values that are said in it.
fn is_understood(toolbox: &Toolbox<'_>, index: usize, parameters: &[Parameter], pattern: &str, quotes: Quotes) -> bool {
    let mut said = pattern.to_owned();
    let mut expected = Map::new();
    for parameter in parameters {
        let slot = slot(&parameter.name);
        if !said.contains(&slot) {
            continue;
        }
        let Some((word, value)) = sample(parameter) else { return false };
        said = said.replace(&slot, &quotes.around(&word, &parameter.kind));
        expected.insert(parameter.name.clone(), value);
    }
    let is_meant = |calls: Vec<Call>| match calls.as_slice() {
        [call] => {
            let same = |(name, value): (&String, &Value)| call.arguments.get(name).is_some_and(|it| is_same(it, value));
            call.tool == index && expected.iter().all(same)
        }
        _ => false,
    };
    toolbox.calls(&said).is_some_and(is_meant)
}

/// Returns true if two values are the same, whatever the form of a number.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        _ => one == other,
    }
}

/// A value that a parameter takes: as it is said, and as it is meant.
fn sample(parameter: &Parameter) -> Option<(String, Value)> {
    Some(match &parameter.kind {
        Kind::Choice(values) => values.first().map(|value| (schema::spoken(value), value.clone()))?,
        Kind::Flag => ("on".to_owned(), json!(true)),
        Kind::Number(bounds) => {
            let middle = match (bounds.minimum, bounds.maximum) {
                (Some(least), Some(most)) => f64::midpoint(least, most),
                (Some(least), None) => least + 1.0,
                (None, Some(most)) => most - 1.0,
                (None, None) => 1.0,
            };
            let number = if bounds.whole { middle.round() } else { (middle * 100.0).round() / 100.0 };
            (number.to_string(), json!(number))
        }
        Kind::Text(_) | Kind::Any => (SAMPLE.to_owned(), json!(SAMPLE)),
        Kind::Other => return None,
    })
}

/// The sentence with the names of its parameters, and what they take.
fn shown(parameters: &[Parameter], pattern: &str, quotes: Quotes) -> String {
    let mut text = pattern.to_owned();
    for parameter in parameters {
        let name = parameter.label.to_uppercase();
        let shown = match &parameter.kind {
            Kind::Choice(values) => {
                format!("{name} ({})", listed(&values.iter().map(schema::spoken).collect::<Vec<_>>()))
            }
            Kind::Number(bounds) => {
                let unit = parameter.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
                format!("{name} ({}{unit})", bounds.in_words())
            }
            Kind::Flag => format!("{name} (on or off)"),
            Kind::Text(_) | Kind::Any | Kind::Other => quotes.around(&name, &parameter.kind),
        };
        text = text.replace(&slot(&parameter.name), &shown);
    }
    capped(&text, OFFER_CHARACTERS)
}
