//! Asking a person what is meant, where it is one of a few things: by the tool that the core offers for it.
//!
//! The answer comes back in the conversation. The question is made anew from the task each time, so that nothing needs
//! to be remembered: what was chosen is one of the same choices, or the tools have changed.

use cortex_core::fragment::capped;
use cortex_core::mission::ASK_PERSON;
use cortex_core::{CallArguments, ModelCall, ToolDefinition};
use cortex_language::{Call, Part};
use cortex_protocol::question::MAX_CHOICES;
use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use super::offers;
use super::schema;
use super::stages::{self, Next};
use super::toolbox::{Toolbox, calls_of, plain_name};

/// Most characters of one choice: the core takes no longer one.
const CHOICE_CHARACTERS: usize = 80;
/// Most characters of the words that are asked about.
const QUOTED_CHARACTERS: usize = 200;
/// The choice that drops the task, where several things are offered.
const DROP: &str = "none of that, do nothing";
/// The same where one thing is offered.
const NO: &str = "no, do nothing";
/// Before the one thing that is offered.
const YES: &str = "yes, ";

/// What is to be done about a task that may mean one of several things.
#[derive(Debug, PartialEq)]
pub(super) enum Clarified<'o> {
    /// These parts are meant.
    Parts(&'o [Part]),
    /// A person is asked.
    Ask(ModelCall),
    /// Nothing is done, and why.
    Declined(String),
}

/// Returns true if it is the tool by which a person is asked.
pub(super) fn asks(tool: &ToolDefinition) -> bool {
    tool.name == ASK_PERSON
}

/// What the task means by the answer of a person; without one, the question.
pub(super) fn clarified<'o>(
    toolbox: &Toolbox<'_>,
    clause: &str,
    offers: &'o [Vec<Part>],
    conversation: &Conversation<'_>,
    can_ask: bool,
) -> Clarified<'o> {
    let (mut choices, offers) = choices(toolbox, offers);
    let question = question(clause, &choices);
    let drop = if choices.len() == 1 { NO } else { DROP };
    if let [only] = choices.as_mut_slice() {
        *only = capped_choice(&format!("{YES}{only}"));
    }
    let answer = conversation.research.iter().rev().find(|research| research.name == ASK_PERSON);
    if let Some(answer) = answer {
        if !answer.outcome.is_success() {
            let why = answer.outcome.message.trim();
            return Clarified::Declined(format!("I asked: {question} {why} Nothing was done."));
        }
        let chosen = answer.outcome.value.get("answer").and_then(Value::as_str).unwrap_or_default();
        let offered = answer.arguments.get("choices").and_then(Value::as_array);
        let was_offered = offered.is_some_and(|offered| offered.iter().any(|choice| choice == chosen));
        return match choices.iter().position(|choice| choice == chosen).and_then(|index| offers.get(index)) {
            Some(parts) => Clarified::Parts(parts),
            None if chosen == drop => Clarified::Declined("You want none of that. Nothing was done.".to_owned()),
            None if !was_offered => Clarified::Declined("That answers none of it. Nothing was done.".to_owned()),
            None => Clarified::Declined(
                "The tools changed since I asked, so I don't know any more what the answer means. Nothing more is done."
                    .to_owned(),
            ),
        };
    }
    if !conversation.steps.is_empty() {
        // A long conversation may have lost the answer; the record still tells what was chosen.
        let fits = |parts: &&&Vec<Part>| stages::next(toolbox, parts, conversation) != Next::Astray;
        let mut fitting = offers.iter().filter(fits);
        return match (fitting.next(), fitting.next()) {
            (Some(only), None) => Clarified::Parts(only),
            _ => Clarified::Declined("I can't tell any more which was meant, so I can't go on with it.".to_owned()),
        };
    }
    if choices.is_empty() || !can_ask {
        let listed = if choices.len() > 1 { format!(" {}.", choices.join("; ")) } else { String::new() };
        return Clarified::Declined(format!("{question}{listed} Nothing was done. Say it in these words."));
    }
    let listed: Vec<&str> = choices.iter().map(String::as_str).chain([drop]).collect();
    let arguments = json!({"question": question, "choices": listed}).as_object().cloned().unwrap_or_default();
    Clarified::Ask(ModelCall {
        id: format!("reflex-{}", conversation.calls + 1),
        name: ASK_PERSON.to_owned(),
        arguments: CallArguments::Object(arguments),
    })
}

/// The question: one choice is part of it, several are listed with it. The words that it is about show what a choice
/// would leave out.
fn question(clause: &str, choices: &[String]) -> String {
    let clause = capped(clause, QUOTED_CHARACTERS);
    match choices {
        [only] => format!("I am not sure about \"{clause}\". Did you mean: {only}?"),
        _ => format!("Which did you mean by \"{clause}\"?"),
    }
}

/// What is offered, each in words of its own.
fn choices<'o>(toolbox: &Toolbox<'_>, offers: &'o [Vec<Part>]) -> (Vec<String>, Vec<&'o Vec<Part>>) {
    let mut choices: Vec<String> = Vec::new();
    let mut offered: Vec<&Vec<Part>> = Vec::new();
    for parts in offers {
        let choice = in_words(toolbox, parts);
        let is_new = !choices.contains(&choice) && choice != DROP && !offered.contains(&parts);
        if is_new && !parts.is_empty() && choices.len() + 1 < MAX_CHOICES {
            choices.push(choice);
            offered.push(parts);
        }
    }
    (choices, offered)
}

/// The parts as a sentence that is understood as exactly these calls; where there is none, by the names of the tools.
fn in_words(toolbox: &Toolbox<'_>, parts: &[Part]) -> String {
    let sentence = || -> Option<String> {
        let calls = calls_of(parts)?;
        let sentences: Option<Vec<String>> = calls.iter().map(|call| offers::sentence_for(toolbox, call)).collect();
        let sentence = sentences?.join(", then ");
        let is_short = sentence.chars().nth(CHOICE_CHARACTERS).is_none() && !sentence.contains(char::is_control);
        let is_meant = is_short && toolbox.calls(&sentence).is_some_and(|meant| meant == calls);
        is_meant.then_some(sentence)
    };
    sentence().unwrap_or_else(|| {
        let named: Vec<String> = parts.iter().filter_map(|part| by_name(toolbox, part)).collect();
        capped_choice(&named.join(", then "))
    })
}

fn by_name(toolbox: &Toolbox<'_>, part: &Part) -> Option<String> {
    let name = plain_name(toolbox.tool_of(part)?);
    let empty = Map::new();
    let arguments = if let Part::Call { call: Call { arguments, .. }, .. } = part { arguments } else { &empty };
    let values: Vec<String> = arguments.values().map(schema::spoken).collect();
    Some(if values.is_empty() { name } else { format!("{name} ({})", values.join(", ")) })
}

/// On one line, and of at most as many characters as a choice may have.
fn capped_choice(text: &str) -> String {
    let line: String = text.chars().map(|next| if next.is_control() { ' ' } else { next }).collect();
    match line.chars().nth(CHOICE_CHARACTERS) {
        Some(_) => line.chars().take(CHOICE_CHARACTERS - 1).chain(['…']).collect(),
        None => line,
    }
}
