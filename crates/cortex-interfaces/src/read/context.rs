//! What reading carries along: where it is, what was wrong, and how much may still be taken.

use std::fmt::{self, Write as _};

use super::{Problem, ReadError, ReadLimits, ReadOptions};
use crate::model::FieldKind;
use crate::{Conventions, Form, MessageType};

/// How much of a hostile text an error repeats, in characters.
const SHOWN: usize = 40;

/// A step on the way to a value. Names are looked up only when there is a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into the field at that place in its type.
    Field(usize),
    /// Into an element.
    Index(usize),
    /// Into a part that a convention knows, and the type does not.
    Part(&'static str),
}

/// Reading ends here: there are enough problems, or there is no sense in going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop;

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never shown: a stop always comes with a problem.
        formatter.write_str("stopped")
    }
}

pub(crate) struct Context<'o> {
    pub(crate) options: &'o ReadOptions<'o>,
    root: &'o MessageType,
    path: Vec<Step>,
    problems: Vec<Problem>,
    stopped: bool,
    memory_left: usize,
    /// Room for the units of a wide string, used again and again.
    pub(super) units: Vec<u16>,
}

impl<'o> Context<'o> {
    pub(super) fn new(options: &'o ReadOptions<'o>, root: &'o MessageType) -> Self {
        Self {
            options,
            root,
            path: Vec::new(),
            problems: Vec::new(),
            stopped: false,
            memory_left: options.limits.memory_bytes,
            units: Vec::new(),
        }
    }

    pub(crate) fn limits(&self) -> &'o ReadLimits {
        &self.options.limits
    }

    /// The conventions of friendly JSON.
    pub(crate) fn conventions(&self) -> Option<&'o Conventions> {
        match self.options.form {
            Form::Exact => None,
            Form::Friendly(conventions) => Some(conventions),
        }
    }

    pub(crate) fn enter(&mut self, step: Step) {
        self.path.push(step);
    }

    pub(crate) fn leave(&mut self) {
        self.path.pop();
    }

    /// How many steps deep the value is.
    pub(crate) fn depth(&self) -> usize {
        self.path.len()
    }

    /// Notes a problem of the value that is being read.
    pub(crate) fn problem(&mut self, message: impl Into<String>) -> Result<(), Stop> {
        let path = self.path_text();
        self.note(path, message.into())
    }

    /// Notes a problem of a part of the value that is being read, which the type does not know.
    pub(crate) fn problem_of(&mut self, part: &str, message: impl Into<String>) -> Result<(), Stop> {
        let mut path = self.path_text();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(part);
        self.note(path, message.into())
    }

    /// Notes a problem that ends reading.
    pub(crate) fn fatal(&mut self, message: impl Into<String>) -> Stop {
        // That there is no room for it makes no difference: reading ends in both cases.
        let _ = self.problem(message);
        self.stopped = true;
        Stop
    }

    fn note(&mut self, path: String, message: String) -> Result<(), Stop> {
        if self.problems.len() < self.options.limits.problems.max(1) {
            self.problems.push(Problem { path, message });
            return Ok(());
        }
        self.stopped = true;
        Err(Stop)
    }

    /// Takes memory for a part of the message, before it is allocated.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Stop> {
        match self.memory_left.checked_sub(bytes) {
            Some(left) => {
                self.memory_left = left;
                Ok(())
            }
            None => {
                let limit = self.options.limits.memory_bytes;
                Err(self.fatal(format!("the message takes more than {limit} bytes of memory")))
            }
        }
    }

    /// How many elements of a size there is memory for.
    pub(super) fn room_for(&self, element_size: usize) -> usize {
        self.memory_left / element_size.max(1)
    }

    /// Where reading is: `pose.points[3].x`.
    fn path_text(&self) -> String {
        let mut text = self.options.root.to_owned();
        let mut message_type = Some(self.root);
        for step in &self.path {
            let name = match step {
                Step::Index(index) => {
                    // Writing to a string does not fail.
                    let _ = write!(text, "[{index}]");
                    continue;
                }
                Step::Part(part) => part,
                Step::Field(index) => {
                    let Some(field) = message_type.and_then(|message_type| message_type.fields.get(*index)) else {
                        continue;
                    };
                    message_type = match &field.kind {
                        FieldKind::Message(nested) => Some(nested),
                        _ => None,
                    };
                    field.name.as_str()
                }
            };
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(name);
        }
        text
    }

    /// What came of it. `error` is what the reader of JSON said when it did not reach the end.
    pub(super) fn finish(mut self, error: Option<String>) -> Result<(), ReadError> {
        if let Some(error) = error {
            if !self.stopped {
                let path = self.options.root.to_owned();
                self.problems.push(Problem { path, message: format!("this is not JSON: {error}") });
            }
            self.stopped = true;
        }
        if self.problems.is_empty() && !self.stopped {
            return Ok(());
        }
        Err(ReadError { problems: self.problems, stopped: self.stopped })
    }
}

/// The start of a text, in quotes, for an error message.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => format!("{text:?}"),
    }
}
