//! The class of a task, read from its words alone: a [`GoalClass`].
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

use cortex_protocol::GoalClass;

use clause::Reader;
use language::{Language, languages_of};
pub use sentences::Clauses;

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

/// What the task asks for.
#[must_use]
pub fn classify(task: &str) -> GoalClass {
    class_with(task, GoalClass::Action)
}

/// Whether the task is an order whose only deed is a look: "find the cup". What was seen carries it out.
#[must_use]
pub fn is_carried_out_by_a_look(task: &str) -> bool {
    let asked = GoalClass::QuestionAboutWorld;
    classify(task) == GoalClass::Action && class_with(task, asked) == asked
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
pub fn check() -> Result<(), String> {
    language::read_all().map(|_| ())
}

/// What a task asks for in one language.
struct Reading {
    class: GoalClass,
    /// Whether every clause was recognised, or one that asks for a deed.
    is_recognised: bool,
}

/// What the task asks for, where a search counts as `search`. Where several languages have the same words, the one that
/// recognises all of it decides, and an order that one of them recognises is one.
fn class_with(task: &str, search: GoalClass) -> GoalClass {
    if task.chars().nth(READ).is_some() {
        return GoalClass::Action;
    }
    let readings: Vec<Reading> = languages_of(task).into_iter().map(|language| read(task, search, language)).collect();
    // A greeting is one in every language: what one of several does not recognise may be an order in it.
    let all = || readings.iter().map(|reading| reading.class).max();
    let recognised = readings.iter().filter(|reading| reading.is_recognised).map(|reading| reading.class).max();
    let is_chat_in_some = recognised == Some(GoalClass::Conversation);
    if is_chat_in_some { all() } else { recognised.or_else(all) }.unwrap_or_default()
}

fn read(task: &str, search: GoalClass, language: &Language) -> Reading {
    let reader = Reader { language, search };
    let clauses = text::clauses(task, language);
    let mut asked: Option<GoalClass> = None;
    let mut is_recognised = true;
    let mut asks_for_a_deed = false;
    let mut is_order = false;
    for (index, clause) in clauses.iter().enumerate() {
        let class = reader.class_of(clause, asked, clauses.get(index + 1));
        is_recognised &= class.is_some();
        asks_for_a_deed |= class.is_some_and(|class| !class.is_answered_by_words());
        asked = asked.max(Some(class.unwrap_or_default()));
        is_order |= !clause.is_asked;
    }
    let class = asked.unwrap_or_default();
    let class = match class {
        GoalClass::Conversation | GoalClass::KnowledgeQuestion | GoalClass::QuestionAboutSelf => class,
        GoalClass::QuestionAboutWorld if !is_order => class,
        _ => scope::scope(&clauses, class, language),
    };
    Reading { class, is_recognised: is_recognised || asks_for_a_deed }
}
