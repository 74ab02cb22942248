//! What is wrong with a recipe, and where.

use std::fmt;

use crate::check::{Finding, Key};
use crate::location::Text;

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is; the whole file has no place.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// How to fix it. Empty where the message says it.
    pub fix: String,
}

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// How many characters of the line it covers, at least 1.
    pub width: usize,
    /// The line.
    pub text: String,
}

/// Something that the reader of a recipe found wrong with it after it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The keys that lead to it, in arrays indices from 0. Where one is missing, its table is meant.
    pub path: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// How to fix it. May be empty.
    pub fix: String,
}

/// Everything that is wrong with a recipe, in the order of the lines; at least one problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Mistakes in a text that is TOML, with their places.
    #[must_use]
    pub fn locate(text: &str, mistakes: Vec<Mistake>) -> Self {
        let finding = |mistake: Mistake| Finding {
            path: mistake.path.into_iter().map(Key::Name).collect(),
            message: mistake.message,
            fix: mistake.fix,
        };
        let text = Text::new(text);
        match text.tree() {
            Ok(tree) => text.locate(&tree, mistakes.into_iter().map(finding).collect()),
            Err(problems) => problems,
        }
    }

    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|one, other| (&one.place, &one.message).cmp(&(&other.place, &other.message)));
        Self(problems)
    }

    pub(crate) fn whole(message: String) -> Self {
        Self(vec![Problem { place: None, message, fix: String::new() }])
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }

    /// For people: each problem with its line marked. `file` is what the file is called.
    pub fn show<'a>(&'a self, file: &'a str) -> impl fmt::Display + 'a {
        Shown { problems: self, file }
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

struct Shown<'a> {
    problems: &'a Problems,
    file: &'a str,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in self.problems {
            match &problem.place {
                None => writeln!(formatter, "{}: {}", self.file, problem.message)?,
                Some(place) => {
                    writeln!(formatter, "{}:{}:{}: {}", self.file, place.line, place.column, problem.message)?;
                    let number = place.line.to_string();
                    writeln!(formatter, "{number} | {}", place.text)?;
                    let margin = number.len() + 2 + place.column;
                    // A width of the format itself may have at most 65,535 columns, and panics beyond.
                    writeln!(formatter, "{}{}", " ".repeat(margin), "^".repeat(place.width))?;
                }
            }
            if !problem.fix.is_empty() {
                writeln!(formatter, "  {}", problem.fix)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Recipe;

    /// The format's own width has at most 65,535 columns.
    #[test]
    fn regression_a_mistake_at_the_end_of_a_very_long_line_ended_the_process() {
        let text = format!("recipe = 1\nsummary = \"{}\" x\n", "a".repeat(70_000));
        let problems = Recipe::read(&text).unwrap_err();
        let marked = problems.show("a.toml").to_string();
        assert!(
            marked.lines().any(|line| line.len() > 70_000 && line.trim_start().starts_with('^')),
            "{}",
            marked.len()
        );
    }
}
