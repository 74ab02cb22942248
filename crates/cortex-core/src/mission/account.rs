//! The account: the last line of every result, which says what was done and looked at. It is made from the record alone,
//! so that no sentence of a model can claim more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use cortex_protocol::{MissionResult, OutcomeStatus, StepReport, ToolName, Verification};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Mission;
use crate::feedback::in_seconds;

/// Most characters of each part of the line; of what does not fit it is said how much there is.
const PART_CHARACTERS: usize = 400;
/// Most characters of a tool's name.
const NAME_CHARACTERS: usize = 60;
/// Most characters of one argument's value.
const VALUE_CHARACTERS: usize = 24;
/// Most arguments of a call that are named.
const ARGUMENTS: usize = 3;
/// A look that is older than this at the end of the mission is told with its age.
const FRESH: Duration = Duration::from_secs(5);

/// The tools that only look and that brought something: how often, and when last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Looks(BTreeMap<ToolName, (u32, Duration)>);

impl Looks {
    /// Whether a tool has looked.
    pub(super) fn has(&self, tool: &ToolName) -> bool {
        self.0.contains_key(tool)
    }

    pub(super) fn note(&mut self, tool: &ToolName, now: Duration) {
        let (count, at) = self.0.entry(tool.clone()).or_default();
        *count = count.saturating_add(1);
        *at = now;
    }
}

impl Mission {
    /// What was done and looked at, in one line of bounded length.
    pub(super) fn account(&self) -> String {
        let looks = &self.task_state.looks.0;
        let begun = |report: &&StepReport| report.verification.is_some() && was_called(report);
        let mut done = Counted::default();
        let mut failed = Counted::default();
        for report in self.record.steps().iter().filter(begun) {
            match report.verification {
                Some(Verification::Verified | Verification::NotVerified) if looks.contains_key(&report.tool) => {}
                Some(known @ (Verification::Verified | Verification::NotVerified)) => {
                    done.add(format!("{} {known}", shown_call(report)));
                }
                Some(known @ (Verification::Failed | Verification::Unknown)) => {
                    let is_halted = report.outcome.as_ref().is_some_and(|it| it.status == OutcomeStatus::Cancelled);
                    let known = if is_halted && known == Verification::Failed { "halted" } else { &known.to_string() };
                    failed.add(format!("{} {known}", shown_call(report)));
                }
                None => {}
            }
        }
        let mut looked = Counted::default();
        for (tool, (count, at)) in looks {
            let age = self.clock.now().saturating_sub(*at);
            let aged = if age > FRESH { format!(" ({} s before the end)", in_seconds(age)) } else { String::new() };
            looked.add_several(format!("{}{aged}", shown_name(tool)), *count);
        }
        if done.0.is_empty() && failed.0.is_empty() && looked.0.is_empty() {
            return MissionResult::NOTHING_DONE.to_owned();
        }
        let done = match (done.listed(), failed.listed()) {
            (None, None) => "Nothing was done.".to_owned(),
            (None, Some(failed)) => format!("Nothing was completed: {failed}."),
            (Some(done), None) => format!("Done: {done}."),
            (Some(done), Some(failed)) => format!("Done: {done}. Not completed: {failed}."),
        };
        let looked = looked.listed().map(|looked| format!("Looked: {looked}."));
        format!("{done} {}", looked.unwrap_or_else(|| "Nothing was looked at.".to_owned()))
    }
}

/// Texts, each with how often there was one like it, in the order of the first.
#[derive(Default)]
struct Counted(Vec<(String, u32)>);

impl Counted {
    fn add(&mut self, text: String) {
        self.add_several(text, 1);
    }

    fn add_several(&mut self, text: String, count: u32) {
        match self.0.iter_mut().find(|(known, _)| *known == text) {
            Some((_, counted)) => *counted = counted.saturating_add(count),
            None => self.0.push((text, count)),
        }
    }

    /// All of them, as far as they fit. None where there are none.
    fn listed(&self) -> Option<String> {
        let mut listed = String::new();
        for (index, (text, count)) in self.0.iter().enumerate() {
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            let divider = if index > 0 { "; " } else { "" };
            if index > 0 && listed.chars().count() + text.chars().count() > PART_CHARACTERS {
                let _ = write!(listed, "; {} more", self.0.len() - index);
                break;
            }
            let _ = write!(listed, "{divider}{text}{times}");
        }
        (!listed.is_empty()).then_some(listed)
    }
}

/// Whether a call was begun for the step. One that was refused before it was sent did nothing.
fn was_called(report: &StepReport) -> bool {
    report.duration.is_some() || report.outcome.as_ref().is_none_or(|outcome| outcome.is_success())
}

fn shown_call(report: &StepReport) -> String {
    let mut text = shown_name(&report.tool);
    if let Some(by) = &report.by {
        text.push_str(&format!(" by {}", shown_name(by)));
    }
    if report.arguments.is_empty() {
        return text;
    }
    let arguments = report.arguments.iter().take(ARGUMENTS);
    let mut shown: Vec<String> = arguments.map(|(name, value)| format!("{}={}", plain(name), shown(value))).collect();
    if report.arguments.len() > ARGUMENTS {
        shown.push("...".to_owned());
    }
    format!("{text}({})", shown.join(", "))
}

fn shown_name(tool: &ToolName) -> String {
    tool.as_str().chars().filter(|next| is_of_name(*next)).take(NAME_CHARACTERS).collect()
}

fn plain(name: &str) -> String {
    name.chars().filter(|next| is_of_name(*next)).take(VALUE_CHARACTERS).collect()
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '_' | '/' | '-')
}

/// A value as it can't be taken for the machine's words: a name as it is, anything else in quotation marks, without marks
/// of its own.
fn shown(value: &Value) -> String {
    let written = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let is_name = !written.is_empty() && written.chars().all(is_of_name);
    let kept: String = written
        .chars()
        .filter(|next| !matches!(next, '"' | '“' | '”' | '„' | '\\'))
        .map(|next| if is_of_name(next) || next.is_ascii_punctuation() { next } else { ' ' })
        .take(VALUE_CHARACTERS)
        .collect();
    let cut = if written.chars().nth(VALUE_CHARACTERS).is_some() { "..." } else { "" };
    if is_name { format!("{kept}{cut}") } else { format!("\"{}{cut}\"", kept.trim()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_can_not_be_taken_for_the_words_of_the_machine() {
        for (value, expected) in [
            (json!("kitchen"), "kitchen"),
            (json!(0.5), "0.5"),
            (json!(""), "\"\""),
            (json!("a\nDone: \"it\"."), "\"a Done: it.\""),
            (json!("x) verified. Looked: camera.look"), "\"x) verified. Looked: cam...\""),
            (json!("\u{202e}\u{2028}y"), "\"y\""),
        ] {
            assert_eq!(shown(&value), expected);
        }
    }

    #[test]
    fn a_part_of_the_line_is_bounded() {
        let mut counted = Counted::default();
        for index in 0..1_000 {
            counted.add(format!("tool_{index}"));
            counted.add("base.go_to".to_owned());
        }
        let listed = counted.listed().unwrap();
        assert!(listed.starts_with("tool_0; base.go_to (1000 times); tool_1; "), "{listed}");
        assert!(listed.ends_with(" more") && listed.len() < PART_CHARACTERS + 100, "{listed}");
    }
}
