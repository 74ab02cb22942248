//! Where in the text something stands.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use crate::brackets::{Unbalanced, too_deep, unbalanced};
use crate::check::{Finding, Key};
use crate::problem::{Place, Problem, Problems};
use crate::wording::told;

/// Longest part of a line that is shown, in characters.
const SHOWN_CHARACTERS: usize = 200;

/// The text of a recipe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text)
    }

    pub(crate) fn bytes(self) -> usize {
        self.0.len()
    }

    /// The text as TOML, in which every value knows its place.
    pub(crate) fn tree(self) -> Result<Spanned<DeTable<'a>>, Problems> {
        if let Some(found) = too_deep(self.0) {
            return Err(Problems::new(vec![self.bracket(found)]));
        }
        let (tree, errors) = DeTable::parse_recoverable(self.0);
        if errors.is_empty() { Ok(tree) } else { Err(self.first(&errors)) }
    }

    /// The text as a value.
    pub(crate) fn form<T: DeserializeOwned>(self) -> Result<T, Problems> {
        toml::from_str(self.0).map_err(|error| Problems::new(vec![self.problem(&error)]))
    }

    /// Gives findings their places.
    pub(crate) fn locate(self, tree: &Spanned<DeTable<'a>>, findings: Vec<Finding>) -> Problems {
        let problem = |finding: Finding| Problem {
            place: self.place(&span(tree, &finding.path)),
            message: finding.message,
            fix: finding.fix,
        };
        Problems::new(findings.into_iter().map(problem).collect())
    }

    /// What is wrong with a text that is no TOML: one problem. After the first one, a parser guesses, and what it says
    /// of the lines that follow is about its guesses.
    fn first(self, errors: &[Error]) -> Problems {
        let start = |error: &&Error| error.span().map_or(usize::MAX, |span| span.start);
        let error = errors.iter().min_by_key(start);
        let unbalanced = unbalanced(self.0).map(|found| self.bracket(found));
        let line = |problem: &Problem| problem.place.as_ref().map_or(usize::MAX, |place| place.line);
        let parsed = error.map(|error| self.problem(error));
        // Of the two, what stands first in the text is the cause of the other.
        let problem = match (parsed, unbalanced) {
            (Some(parsed), Some(unbalanced)) if line(&parsed) < line(&unbalanced) => Some(parsed),
            (parsed, unbalanced) => unbalanced.or(parsed),
        };
        Problems::new(problem.into_iter().collect())
    }

    fn bracket(self, found: Unbalanced) -> Problem {
        Problem { place: self.place(&found.span), message: found.message, fix: found.fix }
    }

    fn problem(self, error: &Error) -> Problem {
        let (message, fix) = told(error.message());
        Problem { place: error.span().and_then(|span| self.place(&span)), message, fix }
    }

    fn place(self, span: &Range<usize>) -> Option<Place> {
        // The end of the text, or of a line, belongs to the line before.
        let before = self.0.get(..span.start)?;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = self.0.get(start..)?.lines().next().unwrap_or_default();
        let column = before.get(start..)?.chars().count() + 1;
        let marked = self.0.get(span.clone()).unwrap_or_default();
        let width = marked.lines().next().unwrap_or_default().chars().count();
        Some(Place {
            line: before.matches('\n').count() + 1,
            column,
            width: width.clamp(1, SHOWN_CHARACTERS),
            text: line.chars().take(SHOWN_CHARACTERS).collect(),
        })
    }
}

/// The bytes of the value at the path, or of what is there of the way to it.
fn span(tree: &Spanned<DeTable<'_>>, path: &[Key]) -> Range<usize> {
    // The path ends where a key is missing: then its table is meant.
    let mut found = 0..1;
    let mut here: Option<&Spanned<DeValue<'_>>> = None;
    for key in path {
        // Who found it after the reading writes an index as text.
        let index = match key {
            Key::Name(name) if here.is_some_and(|value| value.get_ref().is_array()) => {
                name.parse().ok().map(Key::Index)
            }
            Key::Name(_) | Key::Index(_) => None,
        };
        let key = index.as_ref().unwrap_or(key);
        let table = match here {
            None => Some(tree.get_ref()),
            Some(value) => value.get_ref().as_table(),
        };
        let next = match key {
            Key::Name(name) => table.and_then(|table| table.get_key_value(name.as_str())).map(|(key, value)| {
                // A table is shown by its name: it may go over many lines.
                found = if value.get_ref().is_table() { key.span() } else { value.span() };
                value
            }),
            Key::Index(index) => {
                let value = here.and_then(|value| value.get_ref().as_array()).and_then(|array| array.get(*index));
                found = value.map_or_else(|| found.clone(), Spanned::span);
                value
            }
        };
        match next {
            Some(value) => here = Some(value),
            None => break,
        }
    }
    found
}
