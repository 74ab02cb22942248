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
use super::learnt;
use super::offers;
use super::schema;
use super::stages::{self, Next};
use super::toolbox::{Toolbox, calls_of, plain_name};
use crate::wordings::{Lesson, Wordings};

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
    Parts {
        /// The parts.
        parts: &'o [Part],
        /// What is learnt once they are carried out.
        lesson: Option<Lesson>,
        /// What is said with them: why nobody was asked.
        remark: Option<String>,
    },
    /// A person is asked.
    Ask(ModelCall),
    /// Nothing is done, and why.
    Declined(String),
}

/// Returns true if it is the tool by which a person is asked.
pub(super) fn asks(tool: &ToolDefinition) -> bool {
    tool.name == ASK_PERSON
}

/// A task that may mean one of several things.
pub(super) struct Unclear<'u, 'o> {
    /// The whole task.
    pub(super) task: &'u str,
    /// The words that are not clear.
    pub(super) clause: &'u str,
    /// What may be meant.
    pub(super) offers: &'o [Vec<Part>],
    /// What was learnt.
    pub(super) known: &'u Wordings,
    /// True if a person can be asked.
    pub(super) can_ask: bool,
}

/// One thing that is offered.
struct Choice<'o> {
    /// As it is shown.
    shown: String,
    /// A sentence for it that is understood, where what is shown tells all of it.
    sentence: Option<String>,
    parts: &'o [Part],
}

/// What the task means by the answer of a person, or by one that was given before; without one, the question.
pub(super) fn clarified<'o>(
    toolbox: &Toolbox<'_>,
    unclear: &Unclear<'_, 'o>,
    conversation: &Conversation<'_>,
) -> Clarified<'o> {
    let choices = choices(toolbox, unclear.offers);
    let shown: Vec<String> = choices.iter().map(|choice| choice.shown.clone()).collect();
    let question = question(unclear.clause, &shown);
    let (listed, drop) = match shown.as_slice() {
        [only] => (vec![capped_choice(&format!("{YES}{only}"))], NO),
        _ => (shown, DROP),
    };
    let answer = conversation.research.iter().rev().find(|research| research.name == ASK_PERSON);
    if let Some(answer) = answer {
        if !answer.outcome.is_success() {
            let why = answer.outcome.message.trim();
            return Clarified::Declined(format!("I asked: {question} {why} Nothing was done."));
        }
        let chosen = answer.outcome.value.get("answer").and_then(Value::as_str).unwrap_or_default();
        let offered = answer.arguments.get("choices").and_then(Value::as_array);
        let was_offered = offered.is_some_and(|offered| offered.iter().any(|choice| choice == chosen));
        let choice = listed.iter().position(|choice| choice == chosen).and_then(|index| choices.get(index));
        return match choice {
            Some(Choice { parts, sentence, .. }) => {
                // Which of several is meant may be another one the next time.
                let means = sentence.as_deref().filter(|_| choices.len() == 1);
                let lesson = learnt::accepted(toolbox, unclear.task, means, answer);
                Clarified::Parts { parts, lesson, remark: None }
            }
            None if chosen == drop => Clarified::Declined("You want none of that. Nothing was done.".to_owned()),
            None if !was_offered => Clarified::Declined("That answers none of it. Nothing was done.".to_owned()),
            None => Clarified::Declined(
                "The tools changed since I asked, so I don't know any more what the answer means. Nothing more is done."
                    .to_owned(),
            ),
        };
    }
    let fits = |choice: &&Choice<'o>| stages::next(toolbox, choice.parts, conversation) != Next::Astray;
    if let [only] = choices.as_slice()
        && let Some(wording) = learnt::settled(toolbox, unclear.known, unclear.task, only.sentence.as_deref())
        && fits(&only)
    {
        let lesson = Some(Lesson::Used { words: wording.words.clone() });
        return Clarified::Parts { parts: only.parts, lesson, remark: Some(learnt::as_told(wording)) };
    }
    if !conversation.steps.is_empty() {
        // A long conversation may have lost the answer; the record still tells what was chosen.
        let mut fitting = choices.iter().filter(fits);
        return match (fitting.next(), fitting.next()) {
            (Some(only), None) => Clarified::Parts { parts: only.parts, lesson: None, remark: None },
            _ => Clarified::Declined("I can't tell any more which was meant, so I can't go on with it.".to_owned()),
        };
    }
    if choices.is_empty() || !unclear.can_ask {
        let listed = if listed.len() > 1 { format!(" {}.", listed.join("; ")) } else { String::new() };
        return Clarified::Declined(format!("{question}{listed} Nothing was done. Say it in these words."));
    }
    let listed: Vec<&str> = listed.iter().map(String::as_str).chain([drop]).collect();
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
fn choices<'o>(toolbox: &Toolbox<'_>, offers: &'o [Vec<Part>]) -> Vec<Choice<'o>> {
    let mut choices: Vec<Choice<'o>> = Vec::new();
    for parts in offers {
        let choice = in_words(toolbox, parts);
        let is_known = choices.iter().any(|it| it.shown == choice.shown || it.parts == choice.parts);
        if !is_known && choice.shown != DROP && !parts.is_empty() && choices.len() + 1 < MAX_CHOICES {
            choices.push(choice);
        }
    }
    choices
}

/// The parts as a sentence that is understood as exactly these calls; where there is none, or none that is short enough,
/// by the names of the tools.
fn in_words<'o>(toolbox: &Toolbox<'_>, parts: &'o [Part]) -> Choice<'o> {
    let sentence = || -> Option<String> {
        let calls = calls_of(parts)?;
        let sentences: Option<Vec<String>> = calls.iter().map(|call| offers::sentence_for(toolbox, call)).collect();
        let sentence = sentences?.join(", then ");
        let is_meant =
            !sentence.contains(char::is_control) && toolbox.calls(&sentence).is_some_and(|meant| meant == calls);
        is_meant.then_some(sentence)
    };
    let sentence = sentence();
    if let Some(short) = sentence.as_ref().filter(|sentence| is_short(sentence)) {
        return Choice { shown: short.clone(), sentence, parts };
    }
    let named: Vec<String> = parts.iter().filter_map(|part| by_name(toolbox, part)).collect();
    let named = named.join(", then ");
    // Nobody has said yes to what was cut off.
    let sentence = sentence.filter(|_| is_short(&named));
    Choice { shown: capped_choice(&named), sentence, parts }
}

fn by_name(toolbox: &Toolbox<'_>, part: &Part) -> Option<String> {
    if let Part::If { condition, then, otherwise } = part {
        let all =
            |parts: &[Part]| parts.iter().filter_map(|part| by_name(toolbox, part)).collect::<Vec<_>>().join(", ");
        let what = if condition.unless { "unless" } else { "if" };
        let otherwise = if otherwise.is_empty() { String::new() } else { format!(", else {}", all(otherwise)) };
        return Some(format!("{what} {}: {}{otherwise}", condition.clause, all(then)));
    }
    let name = plain_name(toolbox.tool_of(part)?);
    let empty = Map::new();
    let arguments = if let Part::Call { call: Call { arguments, .. }, .. } = part { arguments } else { &empty };
    let values: Vec<String> = arguments.values().map(schema::spoken).collect();
    Some(if values.is_empty() { name } else { format!("{name} ({})", values.join(", ")) })
}

fn is_short(text: &str) -> bool {
    text.chars().nth(CHOICE_CHARACTERS).is_none()
}

/// On one line, and of at most as many characters as a choice may have.
fn capped_choice(text: &str) -> String {
    let line: String = text.chars().map(|next| if next.is_control() { ' ' } else { next }).collect();
    if is_short(&line) { line } else { line.chars().take(CHOICE_CHARACTERS - 1).chain(['…']).collect() }
}
