//! One message of a loaded type.

use std::borrow::Cow;
use std::ffi::c_void;
use std::sync::Arc;
use std::{fmt, io};

use serde_json::Value;

use crate::conventions::position;
use crate::interfaces::MessageInterface;
use crate::model::Arity;
use crate::native::memory::Memory;
use crate::native::serialized;
use crate::native::view::{MessageView, Values};
use crate::read::{self, Place, Problem, ReadError, ReadOptions};
use crate::write::{self, LeftOut, WriteLimits, WriteOptions, Written};

/// A message: owned, initialised, and finalised when it is dropped.
pub struct Message {
    memory: Memory,
    interface: Arc<MessageInterface>,
}

impl Message {
    /// A message with the defaults of its interface.
    #[must_use]
    pub fn new(interface: &Arc<MessageInterface>) -> Self {
        Self { memory: Memory::new(Arc::clone(interface.layout())), interface: Arc::clone(interface) }
    }

    /// The message that a JSON tree describes.
    ///
    /// # Errors
    /// When it does not fit the type: every problem, with its path.
    pub fn from_json(
        interface: &Arc<MessageInterface>,
        value: &Value,
        options: &ReadOptions<'_>,
    ) -> Result<Self, ReadError> {
        let mut message = Self::new(interface);
        read::read_value(value, message.memory.edit(), Place::Message, options)?;
        Ok(message)
    }

    /// The message that JSON text describes. Faster than by way of a tree.
    ///
    /// # Errors
    /// When it is not JSON, or does not fit the type: every problem, with its path.
    pub fn from_json_str(
        interface: &Arc<MessageInterface>,
        text: &str,
        options: &ReadOptions<'_>,
    ) -> Result<Self, ReadError> {
        let mut message = Self::new(interface);
        read::read_text(text, message.memory.edit(), Place::Message, options)?;
        Ok(message)
    }

    /// Replaces one field by what a JSON tree describes, such as the `goal` of a request that has a `goal_id`, too. The
    /// paths of errors start with its name.
    ///
    /// # Errors
    /// When there is no such field, or the JSON does not fit it. The field then is anything of its type: drop the
    /// message.
    pub fn fill(&mut self, field: &str, value: &Value, options: &ReadOptions<'_>) -> Result<(), ReadError> {
        let Some(index) = position(self.interface.message_type(), field) else {
            let message = format!("{} has no such field", self.interface.message_type().name);
            return Err(ReadError::of(Problem { path: field.chars().take(64).collect(), message }));
        };
        read::read_value(value, self.memory.edit(), Place::Field(index), options)
    }

    /// Puts a message into a field that holds one, such as a goal into the request that sends it.
    ///
    /// # Errors
    /// Gives the message back when there is no such field, or when its type is another. The type must come from the same
    /// [`Interfaces`](crate::Interfaces).
    pub fn put(&mut self, field: &str, mut message: Message) -> Result<(), Message> {
        let place = position(self.interface.message_type(), field);
        match place {
            Some(index) if self.memory.edit().exchange(index, &mut message.memory.edit()) => Ok(()),
            _ => Err(message),
        }
    }

    /// The message of that type which the middleware wrote, as a raw subscription or a bag has it.
    ///
    /// # Errors
    /// What the middleware says when the bytes are no such message.
    pub fn from_serialized(interface: &Arc<MessageInterface>, bytes: &[u8]) -> Result<Self, SerializationError> {
        let mut message = Self::new(interface);
        serialized::deserialize(&mut message.memory, interface.type_support(), bytes)?;
        Ok(message)
    }

    /// The message as the middleware writes it.
    ///
    /// # Errors
    /// What the middleware says, such as when a list has more elements than its bound.
    pub fn to_serialized(&self) -> Result<Vec<u8>, SerializationError> {
        serialized::serialize(&self.memory, self.interface.type_support())
    }

    /// Its type.
    #[must_use]
    pub fn interface(&self) -> &Arc<MessageInterface> {
        &self.interface
    }

    /// Its content.
    #[must_use]
    pub fn view(&self) -> MessageView<'_> {
        self.memory.view()
    }

    /// For calls of `rcl` that read it.
    #[must_use]
    pub fn as_ptr(&self) -> *const c_void {
        self.memory.as_ptr()
    }

    /// For calls of `rcl` that write it. Whatever writes there must leave a valid message of the type.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(formatter)
    }
}

/// With the start of its content.
impl fmt::Debug for MessageView<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = WriteOptions { limits: WriteLimits::READABLE, ..WriteOptions::exact() };
        write!(formatter, "{} {}", self.message_type().name, self.to_json(&options).value)
    }
}

/// The middleware can't write or read a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the middleware can't serialise or read the message: {problem}")]
pub struct SerializationError {
    /// What the middleware says.
    pub problem: String,
}

impl<'a> MessageView<'a> {
    /// The message as a JSON tree.
    #[must_use]
    pub fn to_json(self, options: &WriteOptions<'_>) -> Written {
        write::to_value(self, options)
    }

    /// The message as JSON text, in the order of its fields. Faster than by way of a tree. Returns what was left out.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_json(self, writer: impl io::Write, options: &WriteOptions<'_>) -> io::Result<Vec<LeftOut>> {
        write::write_text(self, writer, options)
    }

    /// The message in a field that holds one, such as the `feedback` of a feedback message.
    #[must_use]
    pub fn nested(self, field: &str) -> Option<MessageView<'a>> {
        match self.single(field)? {
            Values::Messages(messages) => messages.get(0),
            _ => None,
        }
    }

    /// The messages in a field that holds a list of them, such as the `status_list` of a status array. None when there is
    /// no such field.
    pub fn list(self, field: &str) -> Option<impl Iterator<Item = MessageView<'a>>> {
        match self.values(position(self.message_type(), field)?)? {
            Values::Messages(messages) => Some((0..messages.len()).filter_map(move |index| messages.get(index))),
            _ => None,
        }
    }

    /// The value of a field that holds one truth value.
    #[must_use]
    pub fn boolean(self, field: &str) -> Option<bool> {
        match self.single(field)? {
            Values::Boolean([value]) => Some(value.get()),
            _ => None,
        }
    }

    /// The value of a field that holds one whole number.
    #[must_use]
    pub fn integer(self, field: &str) -> Option<i128> {
        match self.single(field)? {
            Values::Uint8([value]) => Some((*value).into()),
            Values::Int8([value]) => Some((*value).into()),
            Values::Uint16([value]) => Some((*value).into()),
            Values::Int16([value]) => Some((*value).into()),
            Values::Uint32([value]) => Some((*value).into()),
            Values::Int32([value]) => Some((*value).into()),
            Values::Uint64([value]) => Some((*value).into()),
            Values::Int64([value]) => Some((*value).into()),
            _ => None,
        }
    }

    /// The value of a field that holds one number, whole or not. Whole numbers beyond 2^53 are rounded.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rounded, as documented")]
    pub fn number(self, field: &str) -> Option<f64> {
        match self.single(field)? {
            Values::Float32([value]) => Some((*value).into()),
            Values::Float64([value]) => Some(*value),
            _ => self.integer(field).map(|value| value as f64),
        }
    }

    /// The text of a field that holds one string. What is not UTF-8 is replaced.
    #[must_use]
    pub fn text(self, field: &str) -> Option<Cow<'a, str>> {
        match self.single(field)? {
            Values::Text([value]) => Some(String::from_utf8_lossy(value.bytes())),
            _ => None,
        }
    }

    /// The bytes of a field that holds a list of them, such as the `uuid` of a goal's id.
    #[must_use]
    pub fn bytes(self, field: &str) -> Option<&'a [u8]> {
        match self.values(position(self.message_type(), field)?)? {
            Values::Uint8(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The numbers of a field that holds a list of `int8`, such as the cells of a map.
    #[must_use]
    pub fn signed_bytes(self, field: &str) -> Option<&'a [i8]> {
        match self.values(position(self.message_type(), field)?)? {
            Values::Int8(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn single(self, field: &str) -> Option<Values<'a>> {
        let index = position(self.message_type(), field)?;
        let is_single = self.message_type().fields.get(index).is_some_and(|field| field.arity == Arity::One);
        if is_single { self.values(index) } else { None }
    }
}
