//! Message to JSON.
//!
//! Straight from the memory of the message, to text or to a tree. What exceeds a limit is left out, and said: in its
//! place and in the summary.

mod context;
mod message;
mod values;

use std::io;

use serde::Serialize as _;
use serde_json::Value;

use crate::native::view::MessageView;
use crate::{Conventions, Form};

pub use context::LeftOut;
use context::{Context, Floats};
use message::{FieldJson, MessageJson};

/// How JSON is written.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    /// Which JSON.
    pub form: Form<'a>,
    /// How much of it.
    pub limits: WriteLimits,
    /// Lists of bytes that are longer than this are written as `{"base64": "..."}`.
    pub base64_over: usize,
}

/// Lists of bytes up to here are easier to read as numbers.
const BASE64_OVER: usize = 64;

impl WriteOptions<'static> {
    /// Exact JSON of the whole message, whatever its size.
    #[must_use]
    pub fn exact() -> Self {
        Self { form: Form::Exact, limits: WriteLimits::NONE, base64_over: BASE64_OVER }
    }
}

impl<'a> WriteOptions<'a> {
    /// JSON for a model or a person, of a size that they can read.
    #[must_use]
    pub fn friendly(conventions: &'a Conventions) -> Self {
        Self { form: Form::Friendly(conventions), limits: WriteLimits::READABLE, base64_over: BASE64_OVER }
    }
}

/// How much JSON is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteLimits {
    /// Elements of one list. One of bytes that is too long for numbers is not counted here.
    pub elements: usize,
    /// Bytes of one string.
    pub string_bytes: usize,
    /// Bytes of one list of bytes that is written as base64.
    pub binary_bytes: usize,
    /// Bytes of the whole, roughly. When they are used up, lists and strings end; the fields themselves are all written.
    pub total_bytes: usize,
}

impl WriteLimits {
    /// Everything.
    pub const NONE: Self =
        Self { elements: usize::MAX, string_bytes: usize::MAX, binary_bytes: usize::MAX, total_bytes: usize::MAX };

    /// What a model or a person reads at once.
    pub const READABLE: Self = Self { elements: 64, string_bytes: 4 * 1024, binary_bytes: 0, total_bytes: 16 * 1024 };
}

/// A message as a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The JSON.
    pub value: Value,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
}

/// Writes text. Fields are in the order of the type.
pub(crate) fn write_text(
    view: MessageView<'_>,
    writer: impl io::Write,
    options: &WriteOptions<'_>,
) -> io::Result<Vec<LeftOut>> {
    let context = Context::new(options, Floats::Short);
    let mut serializer = serde_json::Serializer::new(writer);
    MessageJson { view, context: &context, crumb: None }.serialize(&mut serializer)?;
    Ok(context.left_out())
}

/// Makes a tree.
pub(crate) fn to_value(view: MessageView<'_>, options: &WriteOptions<'_>) -> Written {
    let context = Context::new(options, Floats::Wide);
    // Only keys that are no text, and errors of our own, could make it fail; there are neither.
    let value = MessageJson { view, context: &context, crumb: None }
        .serialize(serde_json::value::Serializer)
        .unwrap_or_default();
    Written { value, left_out: context.left_out() }
}

/// One field as a tree.
pub(crate) fn field_to_json(view: MessageView<'_>, index: usize, options: &WriteOptions<'_>) -> Option<Value> {
    let context = Context::new(options, Floats::Wide);
    let field = view.message_type().fields.get(index)?;
    let values = view.values(index)?;
    let json = FieldJson { field, values, context: &context, crumb: None };
    json.serialize(serde_json::value::Serializer).ok()
}
