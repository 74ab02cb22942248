//! Why a clause can't be done as it stands. Any one of these ends the whole task before anything moves.

use crate::language::Guard;

/// An obstacle between a clause and a call. Tools are named by their index, parameters by their label.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// No tool is meant by it.
    Unknown,
    /// A tool is meant, but some of the words mean nothing to it.
    UnknownWords {
        /// The words.
        words: String,
    },
    /// A text is wanted, and nothing says which of the words are meant as one.
    TextNotMarked,
    /// A value that the tool does not take.
    UnknownValue {
        /// The parameter, in words.
        parameter: String,
        /// The words as said.
        said: String,
        /// The values that the tool takes.
        choices: Vec<String>,
        /// The one that may be meant.
        similar: Option<String>,
    },
    /// A value that must be said was not.
    Missing {
        /// The tool that needs it.
        tool: usize,
        /// The parameter, in words.
        parameter: String,
        /// The possible values, as the end of a sentence.
        wanted: String,
    },
    /// A value outside the bounds.
    OutOfBounds {
        /// The parameter, in words.
        parameter: String,
        /// The words as said.
        said: String,
        /// The bounds in words.
        bounds: String,
    },
    /// A unit that the parameter is not measured in, or nobody knows whether it is.
    Unit {
        /// The parameter, in words.
        parameter: String,
        /// The words as said.
        said: String,
    },
    /// A value that no sentence can say.
    Unsayable {
        /// The tool that needs it.
        tool: usize,
        /// The parameter, in words.
        parameter: String,
    },
    /// Several tools are meant equally well.
    Several {
        /// The tools.
        tools: Vec<usize>,
    },
    /// A word that forbids a guess.
    Guarded {
        /// Why.
        guard: Guard,
        /// The word.
        word: String,
    },
    /// Something to be told that is nowhere to be had.
    NothingToTell,
    /// Something to be looked at without a tool that looks.
    NothingToSeeWith,
    /// A question that no tool answers.
    Unanswerable,
}
