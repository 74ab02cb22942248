//! What can be wrong with a policy, and how to fix it.

use serde_json::Value;
use thiserror::Error;

use super::MAX_RULES;
use super::check::{MAX_BYTES, MAX_ENTRIES};

/// What is wrong with a rule, or with all of them, and how to fix it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PolicyProblem {
    /// There are too many rules.
    #[error("there are {count} rules; at most {MAX_RULES} are taken. Join some of them")]
    TooManyRules {
        /// How many there are.
        count: usize,
    },
    /// A rule without anything that it is about.
    #[error(
        "it names nothing, so it would match every call. Fix: name tools, effects, arguments, when, hours or who; for \
         every tool, write tools = [\"*\"]"
    )]
    NamesNothing,
    /// A pattern that can't match.
    #[error("{list}: \"{pattern}\": {problem}. Fix: write a name, or a pattern such as \"base.*\"")]
    Pattern {
        /// The list that it is in.
        list: &'static str,
        /// As written.
        pattern: String,
        /// What is wrong with it.
        problem: PatternProblem,
    },
    /// A list is too long.
    #[error(transparent)]
    TooManyEntries(#[from] TooManyEntries),
    /// A test of an argument that can't be made.
    #[error("arguments.{path}: {problem}")]
    Argument {
        /// The argument, or the path within one.
        path: String,
        /// What is wrong with the test.
        problem: ArgumentTestProblem,
    },
    /// Hours that are no span of the day.
    #[error(
        "hours = \"{hours}\" is no span of the day. Fix: write it as \"22:00-06:00\", local time, the end not part of it"
    )]
    Hours {
        /// As written.
        hours: String,
    },
    /// A condition on something without its full name.
    #[error("when: \"{name}\" is not a full name. Fix: write it with its leading slash")]
    RelativeName {
        /// As written.
        name: String,
    },
    /// A condition that waits for a change.
    #[error("when: a change is of a call, and a rule is judged before there is one. Fix: compare with a value")]
    ConditionOnChange,
    /// A condition that refers to an argument of the call.
    #[error(
        "when: the condition of a rule is about the robot and can't refer to an argument. Fix: compare the argument under \
         'arguments'"
    )]
    ConditionOnArgument,
    /// A reason that is too long.
    #[error("because has {bytes} bytes; at most {MAX_BYTES} are taken")]
    LongReason {
        /// How long it is.
        bytes: usize,
    },
}

/// A list that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{list} has {count} entries; at most {MAX_ENTRIES} are taken")]
pub struct TooManyEntries {
    /// Which list.
    pub list: &'static str,
    /// How many entries it has.
    pub count: usize,
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PatternProblem {
    /// It is empty.
    #[error("an empty pattern matches nothing")]
    Empty,
    /// It is too long.
    #[error("the pattern is too long")]
    TooLong,
    /// It has spaces or control characters.
    #[error("a pattern has no spaces")]
    Spaces,
    /// It has wildcards that are none here.
    #[error("only * is a wildcard, for any text")]
    Wildcard,
}

/// What is wrong with the test of an argument.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ArgumentTestProblem {
    /// Its path leads nowhere.
    #[error("the path is none. Fix: write the argument's name, or a path such as pose.position.x")]
    Path,
    /// It compares with nothing.
    #[error("it compares with nothing. Fix: give above, below, one_of, none_of or contains")]
    ComparesWithNothing,
    /// A bound is infinite or no number.
    #[error("above and below must be finite numbers")]
    InfiniteBound,
    /// No number is within the bounds.
    #[error("no number is above {above} and below {below}. Fix: for what lies outside of a range, write two rules")]
    EmptyRange {
        /// The lower bound.
        above: f64,
        /// The upper bound.
        below: f64,
    },
    /// A list is too long.
    #[error(transparent)]
    TooManyEntries(#[from] TooManyEntries),
    /// A list has no values.
    #[error("{list} is empty. Fix: list values, or leave it out")]
    EmptyList {
        /// Which list.
        list: &'static str,
    },
    /// A value that is a list.
    #[error("{list}: {value} is a list. Fix: list its elements; each element of an argument is compared")]
    ListInList {
        /// The list that it is in.
        list: &'static str,
        /// The value.
        value: Value,
    },
    /// A text that every text contains.
    #[error("contains must list texts, and every text holds an empty one")]
    EmptyText,
}
