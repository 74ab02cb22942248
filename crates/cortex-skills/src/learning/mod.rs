//! Skills that are learned from what was done: three tasks whose words differ only in values, each carried out by the same calls and
//! verified, are proposed as one skill with a procedure. A proposal is a text; nothing acts by it before a person says yes.
//!
//! What people say and what models call may be hostile: only plain words go into a skill, each text in quotation marks.

mod conditions;
mod pattern;

use std::collections::BTreeSet;

use cortex_protocol::ToolCall;

use crate::missions::DoneTask;
use crate::skill::Skill;
use crate::triggers::{LEARNED_FROM, PHRASES};
use pattern::Pattern;

/// Tasks that a skill is learned from.
const TASKS: usize = 3;
/// Most earlier tasks that a new one is compared with: those that were done last.
const MOST_COMPARED: usize = 30;
/// What the name of a learned skill begins with, and the most characters of it.
const NAME_BEGINNING: &str = "learned";
const NAME_CHARACTERS: usize = 60;

/// Whoever reads sentences as calls, and says calls as sentences: the embedded command reader.
pub trait CallSentences {
    /// Whether a task is understood without a skill, also where what it asks for depends on something, or where one of its words
    /// forbids a guess.
    fn understands(&self, task: &str) -> bool;

    /// The calls of the steps of a skill. None where one is not understood.
    fn procedure(&self, steps: &[String]) -> Option<Vec<ToolCall>>;

    /// A sentence that asks for exactly this call. None where there is none.
    fn sentence(&self, call: &ToolCall) -> Option<String>;

    /// Whether two lists hold the same calls.
    fn are_same(&self, one: &[ToolCall], other: &[ToolCall]) -> bool;
}

/// A skill that is proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Its name.
    pub name: String,
    /// Its file.
    pub text: String,
}

/// What is to be proposed now that this task was done. `earlier`: tasks that were done before, oldest first. `known`: all skills
/// there are, also those that are proposed or that people said no to. `used_names`: names that it must not have, such as those of
/// folders that hold no skill just now.
#[must_use]
pub fn propose(
    newest: &DoneTask,
    earlier: &[DoneTask],
    known: &[&Skill],
    used_names: &BTreeSet<String>,
    reader: &dyn CallSentences,
) -> Option<Proposal> {
    let is_known = |done: &DoneTask| known.iter().any(|skill| skill.asked_for(&done.task).is_some());
    // What is understood anyway needs no skill; what a skill is there for has one.
    // A skill acts whatever is so: what was said of when it is to be done would be lost.
    let is_new =
        |done: &DoneTask| !is_known(done) && !conditions::has_any(&done.task) && !reader.understands(&done.task);
    if !is_new(newest) {
        return None;
    }
    let has_same_tools = |done: &&DoneTask| {
        done.calls.len() == newest.calls.len()
            && done.calls.iter().zip(&newest.calls).all(|(one, other)| one.tool == other.tool)
    };
    let like: Vec<&DoneTask> = earlier
        .iter()
        .rev()
        .filter(|done| done.mission != newest.mission)
        .filter(has_same_tools)
        .filter(|done| is_new(done))
        .take(MOST_COMPARED)
        .collect();
    let pairs = like.iter().enumerate().flat_map(|(at, one)| like.iter().skip(at + 1).map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| one.mission != other.mission)
        .find_map(|(one, other)| proposal([other, one, newest], known, used_names, reader))
}

/// The skill of these tasks, if they have one in common that does each of them as it was done.
fn proposal(
    tasks: [&DoneTask; TASKS],
    known: &[&Skill],
    used_names: &BTreeSet<String>,
    reader: &dyn CallSentences,
) -> Option<Proposal> {
    let pattern = Pattern::of(tasks, reader)?;
    let name = free_name(&pattern.phrase, known, used_names)?;
    let text = written(&name, &pattern, tasks);
    let skill = Skill::read(&name, &text).ok()?;
    let is_reproduced = |done: &DoneTask| {
        let calls = skill.asked_for(&done.task).and_then(|steps| reader.procedure(&steps));
        calls.is_some_and(|calls| reader.are_same(&calls, &done.calls))
    };
    tasks.into_iter().all(is_reproduced).then_some(Proposal { name, text })
}

/// A name made of the words that stay the same.
fn free_name(phrase: &str, known: &[&Skill], used_names: &BTreeSet<String>) -> Option<String> {
    let words = phrase.split_whitespace().filter(|word| !word.starts_with('{'));
    let plain = |word: &str| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let mut name = NAME_BEGINNING.to_owned();
    for word in words.map(plain).filter(|word| !word.is_empty()) {
        if name.len() + 1 + word.len() <= NAME_CHARACTERS {
            name.push('-');
            name.push_str(&word);
        }
    }
    let is_free = |name: &String| !used_names.contains(name) && known.iter().all(|skill| skill.name != *name);
    let numbered = (2..100).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free)
}

/// The file. All that comes from tasks and calls is plain words by now, and quoted all the same.
fn written(name: &str, pattern: &Pattern, tasks: [&DoneTask; TASKS]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let missions: Vec<&str> = tasks.iter().map(|done| done.mission.as_str()).collect();
    let description = format!(
        "Does what the robot has done three times, verified each time, for tasks such as: {}",
        tasks.last().map(|done| pattern::plain_words(&done.task).unwrap_or_default().join(" ")).unwrap_or_default()
    );
    let mut text = format!(
        "---\nname: {name}\ndescription: {}\nmetadata:\n  {PHRASES}: {}\n  {LEARNED_FROM}: {}\n---\n\
         This skill was learned: a plan that was made three times was carried out and verified three times. It may be changed as \
         any other skill.\n\n## Procedure\n\n",
        quoted(&description),
        quoted(&pattern.phrase),
        quoted(&missions.join(" ")),
    );
    for (number, step) in pattern.steps.iter().enumerate() {
        text.push_str(&format!("{}. {step}\n", number + 1));
    }
    text
}

#[cfg(test)]
mod tests;
