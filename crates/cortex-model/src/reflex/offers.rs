//! The sentences that the reader offers. Each was read by the reader itself, with a value in every place, and asks for
//! the tool that it is offered for: what is offered is understood.

use cortex_core::fragment::capped;
use serde_json::{Map, Value, json};

use super::matching::listed;
use super::reader::{self, Intent};
use super::slots::{self, Parameter, ParameterKind};
use super::toolbox::{Tool, Toolbox};

/// Most abilities that are listed.
const ABILITIES_LISTED: usize = 12;
/// Most tools that are looked at for those.
const TOOLS_TRIED: usize = 60;
/// Of a robot with more tools than this, no sentence is tried: each would be held against all of them.
const TOOLS_READ: usize = 1_000;
/// Most characters of an offer.
const OFFER_CHARACTERS: usize = 200;
/// A text that is the name of nothing.
const SAMPLE: &str = "xylo";

/// What can be done with the tools there are, in plain words.
pub(super) fn abilities(toolbox: &Toolbox<'_>) -> String {
    let mut offers = Vec::new();
    let mut tried = 0;
    for index in 0..toolbox.tools.len().min(TOOLS_TRIED) {
        if offers.len() == ABILITIES_LISTED {
            break;
        }
        tried += 1;
        offers.extend(ability(toolbox, index));
    }
    let rest = toolbox.tools.iter().skip(tried).filter(|tool| tool.is_sayable()).count();
    let more = if rest > 0 { format!("; and {rest} more things") } else { String::new() };
    if offers.is_empty() {
        return "I know no sentence for what the robot offers.".to_owned();
    }
    format!("I can do: {}{more}.", offers.join("; "))
}

/// One tool as something to say, `go to PLACE (kitchen, bedroom)`. None where no sentence that is known asks for it.
pub(super) fn ability(toolbox: &Toolbox<'_>, index: usize) -> Option<String> {
    let tool = toolbox.get(index).filter(|tool| tool.is_sayable())?;
    let by_name = || {
        let needed = tool.parameters.iter().filter(|it| it.required && it.default.is_none());
        let slots = needed.map(|it| format!("{{{}}}", it.name));
        std::iter::once(tool.plain_name()).chain(slots).collect::<Vec<_>>().join(" ")
    };
    let declared = tool.definition.phrases.iter().take(tool.phrases_read()).cloned();
    let mut sentences = declared.chain(std::iter::once_with(by_name));
    if toolbox.tools.len() > TOOLS_READ {
        return sentences.next().map(|sentence| shown(tool, &sentence, Quotes::None));
    }
    sentences.find_map(|sentence| {
        [Quotes::None, Quotes::AroundTexts]
            .into_iter()
            .find(|quotes| is_understood(toolbox, index, tool, &sentence, *quotes))
            .map(|quotes| shown(tool, &sentence, quotes))
    })
}

/// Where quotation marks are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    AroundTexts,
}

impl Quotes {
    fn around(self, text: &str, parameter: &Parameter) -> String {
        let is_text = matches!(parameter.kind, ParameterKind::Text(_) | ParameterKind::Any);
        if is_text && self == Self::AroundTexts { format!("\"{text}\"") } else { text.to_owned() }
    }
}

/// Whether the sentence asks for exactly this tool, with the values that are said in it.
fn is_understood(toolbox: &Toolbox<'_>, index: usize, tool: &Tool<'_>, sentence: &str, quotes: Quotes) -> bool {
    let mut said = sentence.to_owned();
    let mut expected = Map::new();
    for parameter in &tool.parameters {
        let slot = format!("{{{}}}", parameter.name);
        if !said.contains(&slot) {
            continue;
        }
        let Some((word, value)) = sample(parameter) else { return false };
        said = said.replace(&slot, &quotes.around(&word, parameter));
        expected.insert(parameter.name.clone(), value);
    }
    let is_call = |intent: &Intent| match intent {
        Intent::Call { tool, arguments, .. } => {
            *tool == index && expected.iter().all(|(name, value)| arguments.get(name) == Some(value))
        }
        Intent::Tell { .. } | Intent::Help => false,
    };
    matches!(reader::read(toolbox, &said).as_deref(), Ok([only]) if is_call(only))
}

/// A value that a parameter takes: as it is said, and as it is meant.
fn sample(parameter: &Parameter) -> Option<(String, Value)> {
    Some(match &parameter.kind {
        ParameterKind::Choice(values) => values.first().map(|value| (slots::spoken(value), value.clone()))?,
        ParameterKind::Flag => ("on".to_owned(), json!(true)),
        ParameterKind::Number(kind) => {
            let middle = match (kind.minimum, kind.maximum) {
                (Some(least), Some(most)) => f64::midpoint(least, most),
                (Some(least), None) => least + 1.0,
                (None, Some(most)) => most - 1.0,
                (None, None) => 1.0,
            };
            let number = if kind.whole { middle.round() } else { (middle * 100.0).round() / 100.0 };
            let said = number.to_string();
            let value = kind.take(&super::numbers::read(&super::tokens::tokens(&said).ok()?)?).ok()?;
            (said, value)
        }
        ParameterKind::Text(_) | ParameterKind::Any => (SAMPLE.to_owned(), json!(SAMPLE)),
        ParameterKind::Other => return None,
    })
}

/// The sentence with the names of its parameters, and what they take.
fn shown(tool: &Tool<'_>, sentence: &str, quotes: Quotes) -> String {
    let mut text = sentence.to_owned();
    for parameter in &tool.parameters {
        let slot = format!("{{{}}}", parameter.name);
        let name = parameter.label.to_uppercase();
        let shown = match &parameter.kind {
            ParameterKind::Choice(values) => {
                format!("{name} ({})", listed(&values.iter().map(slots::spoken).collect::<Vec<_>>()))
            }
            ParameterKind::Number(kind) => format!("{name} ({})", kind.bounds()),
            ParameterKind::Flag => format!("{name} (on or off)"),
            ParameterKind::Text(_) | ParameterKind::Any | ParameterKind::Other => quotes.around(&name, parameter),
        };
        text = text.replace(&slot, &shown);
    }
    capped(&text, OFFER_CHARACTERS)
}
