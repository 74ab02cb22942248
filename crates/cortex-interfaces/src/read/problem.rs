//! What is wrong with JSON that was read.

use std::fmt;

use thiserror::Error;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field: `goal.pose.position.x`, `points[3].y`. Empty for the whole.
    pub path: String,
    /// What was expected, and what was found.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(formatter, "{}: ", self.path)?;
        }
        formatter.write_str(&self.message)
    }
}

/// Why JSON is not a message of the type. Written so that a model can fix it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ReadError {
    /// All problems, in the order of the JSON, up to the limit.
    pub problems: Vec<Problem>,
    /// Whether there may be more: reading was stopped.
    pub stopped: bool,
}

impl ReadError {
    pub(crate) fn of(problem: Problem) -> Self {
        Self { problems: vec![problem], stopped: true }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                formatter.write_str("; ")?;
            }
            problem.fmt(formatter)?;
        }
        if self.stopped && self.problems.len() > 1 {
            formatter.write_str("; there may be more")?;
        }
        Ok(())
    }
}
