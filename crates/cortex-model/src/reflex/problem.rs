//! Why a clause can't be done as it stands. Any one of these ends the whole task before anything moves.

use super::lexicon::Guard;

/// What stands between a clause and a call. Tools are told by their index, parameters by their label.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Problem {
    /// No tool is meant by it.
    Unknown,
    /// A tool is meant, but some of the words mean nothing to it.
    UnknownWords { words: String },
    /// A text is wanted, and nothing says which of the words are meant as one.
    TextNotMarked,
    /// A value that the tool does not take, with those that it takes and the one that may be meant.
    UnknownValue { parameter: String, said: String, choices: Vec<String>, similar: Option<String> },
    /// A value that must be said was not; with what it may be, as the end of a sentence.
    Missing { tool: usize, parameter: String, wanted: String },
    /// A value outside the bounds, with the bounds in words.
    OutOfBounds { parameter: String, said: String, bounds: String },
    /// A unit that the parameter is not measured in, or nobody knows whether it is.
    Unit { parameter: String, said: String },
    /// A value that no sentence can say.
    Unsayable { tool: usize, parameter: String },
    /// Several tools are meant equally well.
    Several { tools: Vec<usize> },
    /// A word that forbids a guess.
    Guarded { guard: Guard, word: String },
    /// Something to be told that is nowhere to be had.
    NothingToTell,
    /// Something to be looked at without a tool that looks.
    NothingToSeeWith,
    /// A question that no tool answers.
    Unanswerable,
}
