//! Words that forbid a guess: "not", "unless", "tomorrow", "or".

/// Why a word forbids a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// Something is not to be done.
    Negation,
    /// It depends on something.
    Condition,
    /// At another time, or without end.
    Timing,
    /// One of several.
    Choice,
    /// It stands for something said elsewhere.
    Reference,
    /// An order is only spoken of.
    Report,
}
