//! The two forms of JSON.

use crate::Conventions;

/// Which JSON is read or written.
#[derive(Debug, Clone, Copy)]
pub enum Form<'a> {
    /// The message, field by field. Loses nothing.
    Exact,
    /// For models and people: some types are written as these conventions say.
    Friendly(&'a Conventions),
}
