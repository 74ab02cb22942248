//! The class of a task, read from its words alone: a [`TaskClass`].
//!
//! The class is the same for every robot and every model. It fails closed: a task is a question only where every clause of
//! it is recognised as a question or as talk, and none of them holds a request. What is not recognised is an action, for
//! which words alone are no success; of several clauses the one that asks for most decides.
//!
//! The way of a task: the language is told by its words (`language`), quotations are taken out, and the rest is divided
//! into sentences and clauses (`text`); each clause is held against the tables of the language (`clause`), which are data
//! in `data/classes`, one file a language, made of phrases (`phrases`), patterns (`pattern`) and words of small talk
//! (`vocabulary`). Last comes how far an
//! order goes (`scope`).

use std::collections::BTreeSet;

use cortex_protocol::{Effect, TaskClass, TaskReading, ToolName, ToolSpec};

use crate::DataError;
use clause::Reader;
use language::{Language, languages_of};

mod clause;
mod language;
mod pattern;
mod phrases;
mod scope;
mod sentences;
#[cfg(test)]
mod tests;
mod text;
mod vocabulary;

/// Most characters that are read; a longer task is an action.
const READ: usize = 4_000;

/// What the task asks for, by its words alone.
#[must_use]
pub fn classify(task: &str) -> TaskClass {
    read_as(task, TaskClass::Action, &[]).class
}

/// What the task asks for from a robot with these tools: a sentence that a tool which acts declares is an order as it
/// stands, whatever its words mean elsewhere.
#[must_use]
pub fn read<'t>(task: &str, tools: impl IntoIterator<Item = &'t ToolSpec>) -> TaskReading {
    let tools: Vec<&ToolSpec> = tools.into_iter().filter(|tool| !tool.phrases.is_empty()).collect();
    let Reading { class, declared_by, .. } = read_as(task, TaskClass::Action, &tools);
    let asked = TaskClass::QuestionAboutWorld;
    let is_search = class == TaskClass::Action && read_as(task, asked, &tools).class == asked;
    TaskReading { class, is_search, declared_by }
}

/// The codes of the languages that the task may be written in: of one, unless its words are the same in several.
#[must_use]
pub fn languages(task: &str) -> Vec<&'static str> {
    languages_of(task).into_iter().map(|language| language.code.as_str()).collect()
}

/// Reads the data of all languages.
///
/// # Errors
///
/// Which file is damaged, and where. Every task is an order then.
pub fn check() -> Result<(), DataError> {
    language::read_all().map(|_| ())
}

/// What a task asks for in one language.
#[derive(Default)]
struct Reading {
    class: TaskClass,
    /// Whether every clause was recognised, or one that asks for a deed.
    is_recognised: bool,
    declared_by: Vec<BTreeSet<ToolName>>,
}

/// What the task asks for, where a search counts as `search`. Where several languages have the same words, the one that
/// recognises all of it decides, and an order that one of them recognises is one.
fn read_as(task: &str, search: TaskClass, tools: &[&ToolSpec]) -> Reading {
    if task.chars().nth(READ).is_some() {
        return Reading::default();
    }
    let languages = languages_of(task);
    let mut readings: Vec<Reading> =
        languages.into_iter().map(|language| read_in(language, task, search, tools)).collect();
    // A greeting is one in every language: what one of several does not recognise may be an order in it.
    let all = || readings.iter().map(|reading| reading.class).max();
    let recognised = readings.iter().filter(|reading| reading.is_recognised).map(|reading| reading.class).max();
    let is_chat_in_some = recognised == Some(TaskClass::Conversation);
    let class = if is_chat_in_some { all() } else { recognised.or_else(all) }.unwrap_or_default();
    let first = if readings.is_empty() { Reading::default() } else { readings.swap_remove(0) };
    Reading { class, ..first }
}

fn read_in(language: &Language, task: &str, search: TaskClass, tools: &[&ToolSpec]) -> Reading {
    let clauses = text::clauses(task, language);
    let reader = Reader { language, is_alone: clauses.len() == 1, search };
    let declaring = sentences::declaring(&clauses, language, tools);
    let mut asked: Option<TaskClass> = None;
    // Without clauses that tell nothing: what comes after "next" goes on with nothing.
    let mut told: Option<TaskClass> = None;
    let mut is_recognised = true;
    let mut asks_for_a_deed = false;
    let mut is_order = false;
    for (index, clause) in clauses.iter().enumerate() {
        let acts = |tools: &Vec<&ToolSpec>| tools.iter().any(|tool| tool.effect != Effect::Observe);
        let declared = declaring.get(index).is_some_and(acts).then_some(TaskClass::Action);
        let class = declared.max(reader.class_of(clause, told, clauses.get(index + 1)));
        is_recognised &= class.is_some();
        asks_for_a_deed |= class.is_some_and(|class| !class.is_answered_by_words());
        asked = asked.max(Some(class.unwrap_or_default()));
        if !reader.tells_nothing(clause) {
            told = told.max(Some(class.unwrap_or_default()));
        }
        is_order |= !clause.is_asked;
    }
    let class = asked.unwrap_or_default();
    let class = match class {
        TaskClass::Conversation | TaskClass::KnowledgeQuestion | TaskClass::QuestionAboutSelf => class,
        TaskClass::QuestionAboutWorld if !is_order => class,
        _ => scope::scope(&clauses, class, language),
    };
    let names = |tools: &Vec<&ToolSpec>| tools.iter().map(|tool| tool.name.clone()).collect::<BTreeSet<_>>();
    let is_declared = declaring.iter().all(|tools| !tools.is_empty());
    let declared_by = if is_declared { declaring.iter().map(names).collect() } else { Vec::new() };
    Reading { class, is_recognised: is_recognised || asks_for_a_deed, declared_by }
}
