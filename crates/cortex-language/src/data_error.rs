//! What can be wrong with the data of a language.

use std::fmt::Display;

use thiserror::Error;

/// Why the data of a language can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// Something is missing, or of the wrong form.
    #[error("{problem}")]
    Unreadable {
        /// What the parser says.
        problem: String,
    },
    /// A word for something that the language of the tools does not know.
    #[error("data/en/senses.toml has no `{sense}`")]
    UnknownSense {
        /// What it would be a word for.
        sense: String,
    },
    /// A table that nothing reads.
    #[error("no table {table}")]
    UnknownTable {
        /// Its name.
        table: String,
    },
    /// A pattern names a list that is not there.
    #[error("no list {list}")]
    UnknownList {
        /// Its name.
        list: String,
    },
    /// An element of a pattern is empty.
    #[error("nothing to match")]
    NothingToMatch,
    /// A pattern asks for nothing.
    #[error("matches everything")]
    MatchesEverything,
    /// One of these, at a place.
    #[error("{place}: {problem}")]
    Within {
        /// The file, the table or the pattern.
        place: String,
        /// What is wrong there.
        problem: Box<DataError>,
    },
}

impl DataError {
    pub(crate) fn within(self, place: impl Display) -> Self {
        Self::Within { place: place.to_string(), problem: Box::new(self) }
    }
}

impl From<toml::de::Error> for DataError {
    fn from(problem: toml::de::Error) -> Self {
        Self::Unreadable { problem: problem.to_string() }
    }
}
