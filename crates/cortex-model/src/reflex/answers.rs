//! What the reader says to a person: what it did, what it found, what it did not understand, what it can do.

use cortex_core::fragment::capped;
use cortex_protocol::{StepReport, StepStatus};
use serde_json::Value;

use super::lexicon::Guard;
use super::matching::listed;
use super::numbers;
use super::offers::{abilities, ability};
use super::problem::Problem;
use super::reader::{Intent, Misread};
use super::slots;
use super::stages::Done;
use super::tokens::{MAX_TOKENS, name_words};
use super::toolbox::{Tool, Toolbox, Usage};

/// Most characters of an answer.
const ANSWER_CHARACTERS: usize = 4_000;
/// Most characters of what a person or a component said, when it is repeated.
const QUOTED_CHARACTERS: usize = 200;
/// Most characters of a result that is spoken.
const SPOKEN_CHARACTERS: usize = 1_000;
/// Most meanings of a clause that are shown.
const SEVERAL_SHOWN: usize = 8;
/// How deep a result is spelt out.
const RESULT_DEPTH: usize = 4;

const ENGLISH_ONLY: &str = "I understand commands in English only. For other languages, and for anything that is not a \
                            plain command, configure a model: --model openai:NAME@URL.";

/// A result as a person reads it: text as it is, fields as `key: value`, shares in percent, units where names tell.
pub(super) fn readable(value: &Value) -> String {
    capped(&readable_at(value, 0), ANSWER_CHARACTERS)
}

/// A result as it is spoken: of at most so many characters as the tool takes.
pub(super) fn spoken(value: &Value, limit: Option<u64>) -> String {
    let text = readable(value);
    let text = if text.is_empty() { "There is nothing to tell.".to_owned() } else { text };
    let most = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(SPOKEN_CHARACTERS);
    text.chars().take(most.min(SPOKEN_CHARACTERS)).collect()
}

fn readable_at(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ if depth >= RESULT_DEPTH => value.to_string(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| readable_at(item, depth + 1)).collect();
            items.join(", ")
        }
        Value::Object(fields) => {
            // What only wraps one text is that text, and what brings words of its own is told in those.
            let only = fields.values().next().filter(|_| fields.len() == 1);
            if let Some(text) = fields.get("text").or(only).and_then(Value::as_str)
                && !text.trim().is_empty()
            {
                return text.trim().to_owned();
            }
            let fields: Vec<String> = fields
                .iter()
                .filter(|(_, field)| !field.is_null())
                .map(|(name, field)| readable_field(name, field, depth + 1))
                .collect();
            fields.join("; ")
        }
    }
}

fn readable_field(name: &str, value: &Value, depth: usize) -> String {
    let mut words = name_words(name);
    if let Some(number) = value.as_f64() {
        if words.iter().any(|word| matches!(word.as_str(), "percent" | "percentage" | "pct")) {
            // A fraction, as ROS 2 gives it, or already percent.
            let is_share = value.is_f64() && (0.0..=1.0).contains(&number);
            let percent = if is_share { number * 100.0 } else { number };
            return format!("{}: {} %", words.join(" "), rounded(percent));
        }
        let unit = words.last().filter(|last| words.len() > 1 && numbers::unit(last).is_some()).cloned();
        let unit = unit.or_else(|| words.last().filter(|last| words.len() > 1 && last.len() == 1).cloned());
        if let Some(unit) = unit {
            words.pop();
            let unit = match unit.as_str() {
                "mps" => "m/s".to_owned(),
                "v" | "a" | "w" => unit.to_uppercase(),
                _ => unit,
            };
            return format!("{}: {} {unit}", words.join(" "), rounded(number));
        }
        return format!("{}: {}", words.join(" "), rounded(number));
    }
    format!("{}: {}", words.join(" "), readable_at(value, depth))
}

/// Without the digits that only a machine wants.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// The last words of a task: what was done and what was found.
pub(super) fn finished(toolbox: &Toolbox<'_>, intents: &[Intent], done: &[Done<'_>]) -> String {
    let mut deeds = Vec::new();
    let mut findings = Vec::new();
    let told: Vec<usize> = intents
        .iter()
        .filter_map(|intent| if let Intent::Tell { of, .. } = intent { Some(*of) } else { None })
        .collect();
    for (index, (intent, done)) in intents.iter().zip(done).enumerate() {
        if matches!(done, Done::Step(_)) {
            deeds.push(deed(toolbox, intent, done));
        }
        let observes = match intent {
            Intent::Call { tool, .. } => toolbox.get(*tool).is_some_and(|tool| tool.looks || tool.usage != Usage::Step),
            Intent::Help => {
                findings.push(abilities(toolbox));
                false
            }
            Intent::Tell { .. } => false,
        };
        let found = done.outcome().map(|outcome| readable(&outcome.value)).unwrap_or_default();
        if !found.is_empty() && observes && !told.contains(&index) {
            findings.push(found);
        }
    }
    let mut text = if deeds.is_empty() { String::new() } else { format!("Done: {}.", joined(&deeds)) };
    for finding in findings {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&capitalised(&sentence(&finding)));
    }
    if text.is_empty() { "The tool gave no answer.".to_owned() } else { capped(&text, ANSWER_CHARACTERS) }
}

/// What was done, in the words of the call: the task's own words may say more than was done.
fn deed(toolbox: &Toolbox<'_>, intent: &Intent, done: &Done<'_>) -> String {
    let (Intent::Call { tool, .. } | Intent::Tell { tool, .. }) = intent else { return String::new() };
    let speech = toolbox.get(*tool).and_then(|tool| tool.parameters.get(tool.speech?));
    let spoken = match (speech, done) {
        (Some(parameter), Done::Step(report)) => report.arguments.get(&parameter.name).and_then(Value::as_str),
        _ => None,
    };
    match (spoken, done) {
        (Some(text), _) => format!("said \"{}\"", capped(text, ANSWER_CHARACTERS / 2)),
        (None, Done::Step(report)) if !toolbox.get(*tool).is_some_and(|tool| tool.looks) => called(report),
        (None, _) => "looked".to_owned(),
    }
}

/// A call in its own words: the name of what was called, and its values.
fn called(report: &StepReport) -> String {
    let values: Vec<String> = report.arguments.values().map(slots::spoken).collect();
    let words = name_words(report.tool.as_str()).join(" ");
    let text = if values.is_empty() { words } else { format!("{words} ({})", values.join(", ")) };
    capped(&text, QUOTED_CHARACTERS)
}

/// Why the task ended before its end.
pub(super) fn failed(
    toolbox: &Toolbox<'_>,
    intents: Option<&[Intent]>,
    steps: &[&StepReport],
    report: &StepReport,
) -> String {
    let clause = |index: usize| -> Option<&str> {
        match intents?.iter().filter(|intent| is_step(toolbox, intent)).nth(index)? {
            Intent::Call { clause, .. } | Intent::Tell { clause, .. } => Some(clause),
            Intent::Help => None,
        }
    };
    let name = |index: usize, report: &StepReport| match clause(index) {
        Some(clause) => format!("\"{}\"", capped(clause, QUOTED_CHARACTERS)),
        None => described(report),
    };
    let mut done = Vec::new();
    let mut open = Vec::new();
    let mut failed = String::new();
    for (index, step) in steps.iter().enumerate() {
        match step.status {
            StepStatus::Success => done.push(described(step)),
            _ if std::ptr::eq(*step, report) => failed = name(index, step),
            _ => open.push(name(index, step)),
        }
    }
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

fn is_step(toolbox: &Toolbox<'_>, intent: &Intent) -> bool {
    match intent {
        Intent::Call { tool, .. } | Intent::Tell { tool, .. } => {
            toolbox.get(*tool).is_some_and(|tool| tool.usage != Usage::Research)
        }
        Intent::Help => false,
    }
}

/// A step without the person's words: the tool's name and its values.
fn described(report: &StepReport) -> String {
    format!("\"{}\"", called(report))
}

/// A question that was not answered.
pub(super) fn not_found(toolbox: &Toolbox<'_>, intents: &[Intent], done: &[Done<'_>], why: &str) -> String {
    let why = if why.trim().is_empty() { "no reason was given" } else { why };
    let told = format!("I could not find that out: {}", sentence(&capped(why, QUOTED_CHARACTERS * 2)));
    if done.iter().any(|done| matches!(done, Done::Step(_))) {
        format!("{} {told}", finished(toolbox, intents, done))
    } else {
        told
    }
}

/// Why nothing is done.
pub(super) fn misread(toolbox: &Toolbox<'_>, task: &str, misread: &Misread) -> String {
    let text = match misread {
        Misread::Empty => format!("There is no command in that. {}", abilities(toolbox)),
        Misread::Unclosed => {
            "A quotation mark in that has no partner, so I can't tell where the quoted text ends. Nothing was done."
                .into()
        }
        Misread::TooLong => format!(
            "That is longer than I can read reliably: I take up to {MAX_TOKENS} words outside quotation marks and {} \
             clauses. Nothing was done. Say it in several tasks.",
            super::clauses::MAX_PIECES
        ),
        Misread::Problems(problems) => {
            let mut told: Vec<String> =
                problems.iter().map(|(clause, problem)| explained(toolbox, clause, problem)).collect();
            told.push("Nothing was done.".to_owned());
            let unknown = |problem: &Problem| {
                matches!(
                    problem,
                    Problem::Unknown
                        | Problem::UnknownWords { .. }
                        | Problem::UnknownValue { .. }
                        | Problem::Unanswerable
                )
            };
            if is_foreign(task) {
                told.push(ENGLISH_ONLY.to_owned());
            }
            if problems.iter().any(|(_, problem)| unknown(problem)) {
                told.push(abilities(toolbox));
            }
            told.join(" ")
        }
    };
    capped(&text, ANSWER_CHARACTERS)
}

fn explained(toolbox: &Toolbox<'_>, clause: &str, problem: &Problem) -> String {
    let clause = capped(clause, QUOTED_CHARACTERS);
    let quoted = |text: &str| capped(text, QUOTED_CHARACTERS);
    let ability =
        |tool: usize| ability(toolbox, tool).or_else(|| toolbox.get(tool).map(Tool::plain_name)).unwrap_or_default();
    match problem {
        Problem::Unknown => format!("I did not understand \"{clause}\"."),
        Problem::TextNotMarked => format!(
            "In \"{clause}\" I can't tell which words are meant as a text; put the text itself into quotation marks."
        ),
        Problem::UnknownWords { words } => format!("In \"{clause}\" I did not understand \"{}\".", quoted(words)),
        Problem::UnknownValue { parameter, said, choices, similar, .. } => {
            let meant = similar.as_ref().map(|similar| format!(" Did you mean \"{similar}\"?")).unwrap_or_default();
            format!("I know no {parameter} \"{}\".{meant} I know: {}.", quoted(said), listed(choices))
        }
        Problem::Missing { tool, parameter, wanted } => {
            format!("\"{clause}\" needs {}{wanted}. Say for example: {}.", with_article(parameter), ability(*tool))
        }
        Problem::OutOfBounds { parameter, said, bounds } => {
            format!("In \"{clause}\", {} is not possible: the {parameter} must be {bounds}.", quoted(said))
        }
        Problem::Unit { parameter, said } => {
            format!(
                "In \"{clause}\", I can't tell how {} fits the {parameter}; say it in the unit that the tool takes.",
                quoted(said)
            )
        }
        Problem::Unsayable { tool, parameter } => format!(
            "\"{clause}\" needs {} that I can't read from a sentence ({}).",
            with_article(parameter),
            toolbox.get(*tool).map(Tool::plain_name).unwrap_or_default()
        ),
        Problem::Several { tools } => {
            let shown: Vec<String> = tools.iter().take(SEVERAL_SHOWN).map(|tool| ability(*tool)).collect();
            let rest = tools.len().saturating_sub(SEVERAL_SHOWN);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("\"{clause}\" can mean several things: {}{more}. Say which.", shown.join(", "))
        }
        Problem::Guarded { guard, word } => {
            let why = match guard {
                Guard::Negation => "I can't work with what is not to be done",
                Guard::Condition => "I can't wait for conditions or other events",
                Guard::Timing => "I can't do things at a later time or more than once",
                Guard::Choice => "I don't choose between things",
                Guard::Series => "I take one thing at a time",
                Guard::Manner => "I can't do things in a special way",
                Guard::Reference => "I can't tell what that refers to",
            };
            format!(
                "I can't honour \"{word}\" in \"{clause}\": {why}. Say plainly what to do; put what is to be spoken into quotation marks."
            )
        }
        Problem::NothingToTell => {
            format!("I don't know what \"{clause}\" refers to: nothing was looked at or asked before it.")
        }
        Problem::NothingToSeeWith => format!("I can't do \"{clause}\": there is no one tool to look with."),
        Problem::Unanswerable => format!("I have no way to find out \"{clause}\"."),
    }
}

/// Whether most of the task is not English, as far as a few words can tell.
fn is_foreign(task: &str) -> bool {
    /// Words that hardly any English task is without, and hardly any other has.
    const ENGLISH: [&str; 60] = [
        "the", "to", "and", "go", "then", "what", "is", "are", "you", "your", "my", "me", "it", "of", "on", "in",
        "how", "where", "please", "tell", "say", "look", "turn", "if", "when", "until", "every", "not", "don't",
        "with", "for", "at", "up", "down", "off", "open", "close", "stop", "this", "that", "there", "here", "i", "we",
        "can", "do", "see", "from", "after", "before", "while", "or", "but", "all", "set", "get", "make", "take",
        "put", "bring",
    ];
    let words: Vec<String> = task
        .split(|next: char| !(next.is_alphanumeric() || next == '\''))
        .filter(|word| !word.is_empty())
        .take(200)
        .map(str::to_lowercase)
        .collect();
    let other_script = |word: &String| word.chars().any(|next| next.is_alphabetic() && next > '\u{24f}');
    let known = words.iter().filter(|word| ENGLISH.contains(&word.as_str())).count();
    words.iter().any(other_script) || (words.len() >= 3 && known * 4 < words.len())
}

fn joined(items: &[String]) -> String {
    match items.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_told_as_a_person_reads_them() {
        for (value, text) in [
            (json!("a red cup "), "a red cup"),
            (json!({"text": "a red cup"}), "a red cup"),
            (json!({"place": "kitchen", "sees": ["cup"], "text": "I see a cup."}), "I see a cup."),
            (
                json!({"percentage": 0.834, "voltage_v": 12.103, "charging": false}),
                "charging: no; percentage: 83.4 %; voltage: 12.1 V",
            ),
            (json!({"percent": 42}), "percent: 42 %"),
            (
                json!({"speed_mps": 0.5, "pose": {"x": 1.0, "room": "kitchen"}}),
                "pose: room: kitchen; x: 1; speed: 0.5 m/s",
            ),
            (json!(["cup", "table"]), "cup, table"),
            (json!({"on": true}), "on: yes"),
            (json!([]), "none"),
            (json!(null), ""),
        ] {
            assert_eq!(readable(&value), text, "{value}");
        }
        assert!(readable(&json!("x".repeat(100_000))).chars().count() < ANSWER_CHARACTERS + 100);
    }

    #[test]
    fn other_languages_are_noticed() {
        for (task, foreign) in [
            ("go to the garage", false),
            ("dance", false),
            ("fahre bitte in die Küche", true),
            ("va a la cocina por favor", true),
            ("去厨房", true),
            ("поезжай на кухню", true),
        ] {
            assert_eq!(is_foreign(task), foreign, "{task}");
        }
    }
}
