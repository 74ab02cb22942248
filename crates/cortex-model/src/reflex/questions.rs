//! Questions that a planning tool answers: "how full is the battery?".
//!
//! The tools that answer change nothing, so the words of their descriptions may help to find the right one. Still every
//! word of the question must be accounted for, or a question about the car's battery would be answered with the
//! robot's.

use serde_json::Map;

use super::lexicon;
use super::matching::Call;
use super::problem::Problem;
use super::slots::{self, ParameterKind};
use super::tokens::{Kind, Token};
use super::toolbox::{Tool, Toolbox, Usage};

/// Words that only make a question of the others.
const ASKING: [&str; 32] = [
    "what",
    "which",
    "how",
    "is",
    "are",
    "was",
    "were",
    "am",
    "do",
    "does",
    "did",
    "can",
    "could",
    "will",
    "much",
    "you",
    "we",
    "i",
    "me",
    "us",
    "right",
    "currently",
    "still",
    "left",
    "remaining",
    "have",
    "has",
    "got",
    "be",
    "know",
    "about",
    "there",
];

/// Words with which a question begins.
const BEGINNINGS: [&str; 14] =
    ["what", "which", "where", "how", "who", "whose", "is", "are", "do", "does", "did", "am", "have", "has"];

/// How sure it is that some tokens are a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It is asked.
    Asked,
    /// It may be: a thing is named and nothing is said of it.
    Named,
}

/// Whether the tokens begin like a question.
pub(super) fn begins(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|first| first.kind == Kind::Word && BEGINNINGS.contains(&first.word.as_str()))
}

/// The call that answers the question.
///
/// # Errors
/// When none does, or several do.
pub(super) fn question(toolbox: &Toolbox<'_>, tokens: &[Token], manner: Manner) -> Result<Call, Problem> {
    let content: Vec<&Token> = tokens
        .iter()
        .filter(|token| !token.is_filler() && token.kind != Kind::Mark && !ASKING.contains(&token.word.as_str()))
        .collect();
    // "Check the battery" asks for it.
    let content = match content.split_first() {
        Some((first, rest)) if first.canon == "read" && !rest.is_empty() => rest.to_vec(),
        _ => content,
    };
    // "The battery is full" says something and asks for nothing.
    let states = manner == Manner::Named && tokens.iter().any(|token| ASKING.contains(&token.word.as_str()));
    // "What does the camera do?" asks for no reading of it.
    let asks_for_deeds = tokens.last().is_some_and(|last| last.is("do"));
    if states || asks_for_deeds || content.is_empty() || content.iter().any(|token| token.kind == Kind::Quoted) {
        return Err(Problem::Unanswerable);
    }
    let mut answers: Vec<(Rank, Call)> = toolbox
        .tools
        .iter()
        .enumerate()
        .filter(|(_, tool)| tool.usage != Usage::Step)
        .filter_map(|(index, tool)| answer(index, tool, &content, manner))
        .collect();
    let best = answers.iter().map(|(rank, _)| *rank).max();
    answers.retain(|(rank, _)| Some(*rank) == best);
    match answers.as_slice() {
        [] => Err(Problem::Unanswerable),
        [(_, only)] => Ok(only.clone()),
        several => Err(Problem::Several { tools: several.iter().map(|(_, call)| call.tool).collect() }),
    }
}

/// How many words the tool's name accounts for, and how many its description does.
type Rank = (usize, usize);

fn answer(index: usize, tool: &Tool<'_>, content: &[&Token], manner: Manner) -> Option<(Rank, Call)> {
    let mut arguments = Map::new();
    let (mut named, mut methods, mut described, mut polar) = (0, 0, 0, 0);
    let owned: Vec<Token> = content.iter().map(|token| (*token).clone()).collect();
    let mut at = 0;
    while let Some(token) = owned.get(at) {
        let rest = owned.get(at..)?;
        let choice = tool.parameters.iter().find_map(|parameter| match &parameter.kind {
            ParameterKind::Choice(values) if !arguments.contains_key(&parameter.name) => {
                slots::read_choice(values, rest).map(|(value, length)| (parameter.name.clone(), value.clone(), length))
            }
            _ => None,
        });
        if let Some((name, value, length)) = choice {
            arguments.insert(name, value);
            at += length;
            continue;
        }
        let is_method = tool.method.contains(&token.canon);
        if is_method || tool.component.contains(&token.canon) {
            named += 1;
            methods += usize::from(is_method);
        } else if tool.parameters.iter().any(|parameter| parameter.words.contains(&token.canon)) {
            // The name of a value says nothing of what is asked.
        } else if tool.described.contains(&token.canon) || tool.verb.as_ref() == Some(&token.canon) {
            described += 1;
        } else if lexicon::is_polarity(&token.word) {
            polar += 1;
        } else {
            return None;
        }
        at += 1;
    }
    let is_about_it = match manner {
        Manner::Asked => named + described > 0,
        // "Charge the battery" is no question: the thing comes first.
        Manner::Named => {
            let begins = owned.first().is_some_and(|first| tool.component.contains(&first.canon));
            let says_more = owned.iter().any(|token| lexicon::is_polarity(&token.word)) || described + polar > 0;
            begins && !says_more && (methods > 0 || owned.len() == 1)
        }
    };
    let complete = tool
        .parameters
        .iter()
        .all(|parameter| !parameter.required || parameter.default.is_some() || arguments.contains_key(&parameter.name));
    if !is_about_it || !complete {
        return None;
    }
    for parameter in tool.parameters.iter().filter(|parameter| parameter.required) {
        if let Some(default) = &parameter.default {
            arguments.entry(parameter.name.clone()).or_insert_with(|| default.clone());
        }
    }
    Some(((named, described), Call::research(index, arguments)))
}
