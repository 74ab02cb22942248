//! What writing carries along: how much may still be written, and what was left out.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};

use super::WriteOptions;
use crate::{Conventions, Form};

/// More places are not listed: each is also marked in the JSON.
const MOST_LISTED: usize = 64;

/// Something that is in the message and not in the JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The field.
    pub path: String,
    /// What is missing: `936 of 1000 elements`.
    pub what: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.what)
    }
}

/// How `float32` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Floats {
    /// With as few digits as tell it from its neighbours. Text has them.
    Short,
    /// As the `float64` with those digits. A tree knows only that one.
    Wide,
}

pub(super) struct Context<'o> {
    pub(super) options: &'o WriteOptions<'o>,
    pub(super) floats: Floats,
    bytes_left: Cell<usize>,
    left_out: RefCell<Vec<LeftOut>>,
}

/// The way to a value, as a chain on the stack: it costs nothing until it is shown.
#[derive(Clone, Copy)]
pub(super) struct Crumb<'a> {
    pub(super) parent: Option<&'a Crumb<'a>>,
    pub(super) step: Step<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Index(usize),
}

impl<'o> Context<'o> {
    pub(super) fn new(options: &'o WriteOptions<'o>, floats: Floats) -> Self {
        Self { options, floats, bytes_left: Cell::new(options.limits.total_bytes), left_out: RefCell::default() }
    }

    pub(super) fn conventions(&self) -> Option<&'o Conventions> {
        match self.options.form {
            Form::Exact => None,
            Form::Friendly(conventions) => Some(conventions),
        }
    }

    /// Notes that so many bytes were written.
    pub(super) fn spend(&self, bytes: usize) {
        self.bytes_left.set(self.bytes_left.get().saturating_sub(bytes));
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.bytes_left.get()
    }

    /// Notes what was left out.
    pub(super) fn leave_out(&self, crumb: Option<&Crumb<'_>>, what: String) {
        let mut left_out = self.left_out.borrow_mut();
        if left_out.len() < MOST_LISTED {
            left_out.push(LeftOut { path: path(crumb), what });
        }
    }

    pub(super) fn left_out(self) -> Vec<LeftOut> {
        self.left_out.into_inner()
    }
}

fn path(crumb: Option<&Crumb<'_>>) -> String {
    let Some(crumb) = crumb else { return String::new() };
    let mut text = path(crumb.parent);
    match crumb.step {
        Step::Index(index) => {
            // Writing to a string does not fail.
            let _ = write!(text, "[{index}]");
        }
        Step::Field(name) => {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(name);
        }
    }
    text
}
