//! What the reader says in the end: what was done, in the words of the calls and of what shows it, and what was found.
//! The words of the task say what was wanted, so they say nothing here.

use std::ops::Range;

use cortex_core::fragment::capped;
use cortex_core::output_refs;
use cortex_language::{Part, name_words};
use cortex_protocol::{StepReport, StepStatus};
use serde_json::{Map, Value};

use super::readable::readable;
use super::schema::{self, Kind};
use super::small_talk::{self, Itself};
use super::stages::{Account, Done};
use super::toolbox::{Toolbox, answers};

/// Most characters of an answer.
pub(super) const ANSWER_CHARACTERS: usize = 4_000;
/// Most characters of what a component said, when it is repeated.
const QUOTED_CHARACTERS: usize = 200;
/// Most characters of one value of a call.
const VALUE_CHARACTERS: usize = 1_000;

/// The last words of a task: what was done and what was found.
pub(super) fn finished(toolbox: &Toolbox<'_>, account: &Account<'_>, itself: &Itself<'_>) -> String {
    let text = told(toolbox, account, itself);
    if text.is_empty() { "The tool gave no answer.".to_owned() } else { capped(&text, ANSWER_CHARACTERS) }
}

/// What was done and found, in the order of the task where something depended on a condition.
fn told(toolbox: &Toolbox<'_>, account: &Account<'_>, itself: &Itself<'_>) -> String {
    let mut text = String::new();
    let mut at = 0;
    for check in &account.checks {
        add(&mut text, &stretch(toolbox, account, at..check.at, itself, "Done: "));
        let found = account.done.get(check.at).and_then(Done::outcome).map(|outcome| readable(&outcome.value));
        let found = capped(found.unwrap_or_default().trim().trim_end_matches('.'), QUOTED_CHARACTERS);
        at = check.at + 1 + check.parts;
        let therefore = match check.parts {
            0 => "so I did nothing.".to_owned(),
            _ => stretch(toolbox, account, check.at + 1..at, itself, "so I did: "),
        };
        add(&mut text, &format!("{}, {therefore}", capitalised(&found)));
    }
    add(&mut text, &stretch(toolbox, account, at..account.parts.len(), itself, "Done: "));
    text
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

/// What was done and found in some of the parts, with words before what was done.
fn stretch(
    toolbox: &Toolbox<'_>,
    account: &Account<'_>,
    range: Range<usize>,
    itself: &Itself<'_>,
    before: &str,
) -> String {
    let Account { parts, done, .. } = account;
    let mut actions = Vec::new();
    let mut findings = Vec::new();
    let spoken = |index: usize| parts.iter().any(|part| matches!(part, Part::Tell { of, .. } if *of == index));
    for (index, (part, done)) in parts.iter().zip(done).enumerate().skip(range.start).take(range.len()) {
        if let Part::Talk(talk) = part {
            findings.push(small_talk::answer(toolbox, talk, itself));
            continue;
        }
        let found = done.outcome().map(|outcome| readable(&outcome.value)).unwrap_or_default();
        let brings_answer = matches!(part, Part::Call { .. }) && toolbox.tool_of(part).is_some_and(answers);
        if brings_answer && !found.is_empty() && !spoken(index) {
            findings.push(found);
        } else if let Done::Step(report) = done {
            actions.push(action(toolbox, part, report));
        }
    }
    let mut text = if actions.is_empty() { String::new() } else { format!("{before}{}.", actions.join("; ")) };
    for finding in findings {
        add(&mut text, &capitalised(&sentence(&finding)));
    }
    text
}

/// What was done, in the words of the call and of what was seen that shows it.
fn action(toolbox: &Toolbox<'_>, part: &Part, report: &StepReport) -> String {
    let texts: Vec<String> = toolbox
        .tool_of(part)
        .map(|tool| schema::parameters(&tool.parameters))
        .unwrap_or_default()
        .into_iter()
        .filter(|parameter| matches!(parameter.kind, Kind::Text(_) | Kind::Any))
        .map(|parameter| parameter.name)
        .collect();
    let called = called(report, &texts);
    let seen: &[String] = report.outcome.as_ref().map(|outcome| outcome.evidence.as_slice()).unwrap_or_default();
    if seen.is_empty() { called } else { format!("{called}, as seen: {}", capped(&seen.join(", "), QUOTED_CHARACTERS)) }
}

/// A call in its own words: the name of what was called, and its values.
fn called(report: &StepReport, texts: &[String]) -> String {
    call(report.tool.as_str(), &report.arguments, texts)
}

/// The same, of a call that was not made.
pub(super) fn call(tool: &str, arguments: &Map<String, Value>, texts: &[String]) -> String {
    let values: Vec<String> = arguments.iter().map(|(name, value)| told_value(name, value, texts)).collect();
    let words = name_words(tool).join(" ");
    if values.is_empty() { words } else { format!("{words} ({})", values.join(", ")) }
}

fn told_value(name: &str, value: &Value, texts: &[String]) -> String {
    let alone = Map::from_iter([(name.to_owned(), value.clone())]);
    if let Some(step) = output_refs::references(&alone).first() {
        return format!("what step {step} was to bring");
    }
    let told = capped(&schema::spoken(value), VALUE_CHARACTERS);
    match value.as_str() {
        // Nothing is changed in a text that was handed over as one.
        Some(text) if texts.iter().any(|it| it == name) => format!("\"{}\"", capped(text, VALUE_CHARACTERS)),
        _ => told,
    }
}

/// Why the task ended before its end.
pub(super) fn failed(steps: &[&StepReport], report: &StepReport) -> String {
    let mut done = Vec::new();
    let mut open = Vec::new();
    for step in steps.iter().filter(|step| !std::ptr::eq(**step, report)) {
        match step.status {
            StepStatus::Success => done.push(quoted(step)),
            _ => open.push(quoted(step)),
        }
    }
    let failed = quoted(report);
    let why = report.outcome.as_ref().map_or(report.note.as_str(), |outcome| outcome.message.as_str()).trim();
    let why = if why.is_empty() { "no reason was given" } else { why };
    let mut text = match report.status {
        StepStatus::Skipped => format!("I left out {failed}: "),
        StepStatus::Pending | StepStatus::Running => format!("I did not see the end of {failed}: "),
        _ => format!("I could not do {failed}: "),
    };
    text.push_str(&sentence(&capped(why, QUOTED_CHARACTERS * 2)));
    if !done.is_empty() {
        text.push_str(&format!(" Done before: {}.", joined(&done)));
    }
    if !open.is_empty() {
        text.push_str(&format!(" Not done: {}.", joined(&open)));
    }
    capped(&text, ANSWER_CHARACTERS)
}

/// A task that another model began and of which it can't be told what is left; `open` are the steps that were never begun.
pub(super) fn lost(open: &[&StepReport]) -> String {
    let text = "The model that planned this can't be asked, and from the task alone I can't tell what is left of it. I went no \
                further.";
    let open: Vec<String> = open.iter().map(|report| quoted(report)).collect();
    if open.is_empty() {
        return text.to_owned();
    }
    capped(&format!("{text} It had still planned: {}.", joined(&open)), ANSWER_CHARACTERS)
}

fn quoted(report: &StepReport) -> String {
    format!("\"{}\"", capped(&called(report, &[]), QUOTED_CHARACTERS))
}

/// A question that was not answered.
pub(super) fn not_found(toolbox: &Toolbox<'_>, account: &Account<'_>, why: &str, itself: &Itself<'_>) -> String {
    let why = if why.trim().is_empty() { "no reason was given" } else { why };
    let failed = format!("I could not find that out: {}", sentence(&capped(why, QUOTED_CHARACTERS * 2)));
    if account.done.iter().any(|done| matches!(done, Done::Step(_))) {
        format!("{} {failed}", told(toolbox, account, itself))
    } else {
        failed
    }
}

/// A condition of which what was found does not tell whether it holds. The last part looked for it.
pub(super) fn undecided(toolbox: &Toolbox<'_>, mut account: Account<'_>, clause: &str, itself: &Itself<'_>) -> String {
    let found = account.done.pop().and_then(|done| done.outcome().map(|outcome| readable(&outcome.value)));
    account.parts.truncate(account.done.len());
    let mut text = told(toolbox, &account, itself);
    let found = capped(found.unwrap_or_default().trim(), QUOTED_CHARACTERS);
    let found = if found.is_empty() { "nothing".to_owned() } else { format!("\"{found}\"") };
    let clause = capped(clause, QUOTED_CHARACTERS);
    add(&mut text, &format!("I can't tell whether \"{clause}\" holds: I found {found}."));
    add(&mut text, "Nothing that depends on it was done, nor what comes after it.");
    capped(&text, ANSWER_CHARACTERS)
}

fn joined(items: &[String]) -> String {
    match items.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// With a full stop at the end, unless it has one.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', '。']) { text.to_owned() } else { format!("{text}.") }
}
