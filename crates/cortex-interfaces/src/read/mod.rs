//! JSON to message.
//!
//! The JSON goes straight into the memory of the message: one pass, for text as for a tree, without anything in between.
//! A value that does not fit is noted with its path, and reading goes on, so that all problems are told at once. A
//! message with a problem is never handed out.

mod any;
mod context;
mod field;
mod list;
mod message;
mod problem;
mod scalar;

pub use problem::{Problem, ReadError};

use any::deserialize;
pub(crate) use any::{Any, Found, Given, Reader};
pub(crate) use context::{Context, Step, Stop};
pub(crate) use list::BASE64;
pub(crate) use message::KeyVisitor;
pub(crate) use scalar::number;

use serde::Deserializer;
use serde::de::Error as _;
use serde_json::Value;

use crate::native::edit::MessageMut;
use crate::{Conventions, Form, Timestamp};

/// How JSON is read.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Which JSON it is.
    pub form: Form<'a>,
    /// What happens to fields that are not given.
    pub missing: Missing,
    /// How much is taken.
    pub limits: ReadLimits,
    /// The time that "now" stands for, and that friendly JSON fills in where no time is given. Without it, "now" is
    /// refused and times start as zero.
    pub now: Option<Timestamp>,
    /// What the paths in errors start with, such as `goal`; empty for nothing.
    pub root: &'a str,
}

impl ReadOptions<'static> {
    /// For exact JSON.
    #[must_use]
    pub fn exact() -> Self {
        Self { form: Form::Exact, missing: Missing::UseDefault, limits: ReadLimits::default(), now: None, root: "" }
    }
}

impl<'a> ReadOptions<'a> {
    /// For JSON that a model or a person wrote.
    #[must_use]
    pub fn friendly(conventions: &'a Conventions, now: Timestamp) -> Self {
        Self { form: Form::Friendly(conventions), now: Some(now), ..ReadOptions::exact() }
    }
}

/// What happens to fields that are not given, or given as null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// They have their defaults.
    UseDefault,
    /// They are problems, except those that a convention fills.
    Refuse,
}

/// How much JSON may hold. What exceeds a limit is a problem, found before memory is taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Bytes of JSON text.
    pub input_bytes: usize,
    /// Bytes of memory for lists and strings of one message.
    pub memory_bytes: usize,
    /// Elements of one list.
    pub elements: usize,
    /// Bytes of one string.
    pub string_bytes: usize,
    /// How deep fields and lists may be nested.
    pub depth: usize,
    /// How many problems are told.
    pub problems: usize,
}

impl Default for ReadLimits {
    /// Room for an image or a point cloud, and a stop for what is larger.
    fn default() -> Self {
        const MEGABYTE: usize = 1024 * 1024;
        Self {
            input_bytes: 64 * MEGABYTE,
            memory_bytes: 64 * MEGABYTE,
            elements: 16 * MEGABYTE,
            string_bytes: 4 * MEGABYTE,
            depth: 32,
            problems: 16,
        }
    }
}

/// What JSON is read into.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// The whole message.
    Message,
    /// One field of it.
    Field(usize),
}

/// Reads text.
pub(crate) fn read_text(
    text: &str,
    message: MessageMut<'_>,
    place: Place,
    options: &ReadOptions<'_>,
) -> Result<(), ReadError> {
    if text.len() > options.limits.input_bytes {
        return Err(ReadError::of(Problem {
            path: options.root.to_owned(),
            message: format!("{} bytes of JSON; at most {} are read", text.len(), options.limits.input_bytes),
        }));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let root = message.message_type();
    let mut context = Context::new(options, root);
    let result = read(&mut deserializer, message, place, &mut context).and_then(|()| deserializer.end());
    context.finish(result.err().map(|error| error.to_string()))
}

/// Reads a tree.
pub(crate) fn read_value(
    value: &Value,
    message: MessageMut<'_>,
    place: Place,
    options: &ReadOptions<'_>,
) -> Result<(), ReadError> {
    let root = message.message_type();
    let mut context = Context::new(options, root);
    let result = read(value, message, place, &mut context);
    context.finish(result.err().map(|error| error.to_string()))
}

fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    message: MessageMut<'_>,
    place: Place,
    context: &mut Context<'_>,
) -> Result<(), D::Error> {
    match place {
        Place::Message => {
            let given = deserialize(deserializer, message::MessageReader { context, message })?;
            if given == Given::Null {
                context.problem("expected an object, got null").map_err(|Stop| D::Error::custom(Stop))?;
            }
        }
        Place::Field(index) => {
            context.enter(Step::Field(index));
            let mut message = message;
            let given = deserialize(deserializer, field::FieldReader { context, message: message.reborrow(), index })?;
            context.leave();
            if given == Given::Null {
                message::absent(context, &mut message, index).map_err(|Stop| D::Error::custom(Stop))?;
            }
        }
    }
    Ok(())
}
