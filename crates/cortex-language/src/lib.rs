//! Reads sentences that people say to a robot, grounded in the tools of that robot.
//!
//! The reader knows no robot and no language: a robot is its tools, a language is data. Every word of a sentence is
//! accounted for, or nothing is to be done: it is part of a verb that asks for a tool, a value of a parameter, a noun of
//! the tool, or one of a short list of words that carry nothing.
//!
//! The way of a sentence: `tokens` → `sentence` (words of a language, `slips` corrected) → `task` (clauses, in the order
//! in which they are done) → `reading` (each clause held against the tools of the `robot`). What wants no act is `talk`.
//! Apart from it, `task_class` says what kind of thing a text asks for, in many languages and without any robot.

mod compounds;
mod condition;
mod data_error;
mod facts;
mod filter;
mod grammar;
mod kept;
mod kin;
mod language;
mod languages;
mod numbers;
mod pattern;
mod phrases;
mod problem;
mod reading;
mod robot;
mod sentence;
mod slips;
mod stem;
mod talk;
mod task;
pub mod task_class;
mod tokens;
mod wording;
pub mod wordnet;

pub use condition::Condition;
pub use data_error::DataError;
pub use language::Guard;
pub use problem::Problem;
pub use reading::Call;
pub use robot::{Declared, Robot, Tool, Usage};
pub use talk::Talk;
pub use task::{Beginning, MAX_PIECES, Part, Understanding, beginning, understand, understand_after};
pub use tokens::{MAX_TOKENS, name_words};
pub use wording::wording;

/// Returns true if a word belongs to a language that is read, or to its lexicon.
#[must_use]
pub fn is_known(word: &str) -> bool {
    let word = word.to_lowercase();
    languages::of_text(&word).iter().any(|language| language.has(&word))
}

/// Most values that are listed for a person.
const LISTED: usize = 8;

/// The first of several values, and how many there are besides.
#[must_use]
pub fn listed(values: &[String]) -> String {
    let shown: Vec<&str> = values.iter().take(LISTED).map(String::as_str).collect();
    let more = values.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
