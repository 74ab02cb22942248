//! A field: a value, a message, or a list of either.

use serde::de::{Error, MapAccess, SeqAccess};

use super::any::{Found, Given, Reader};
use super::context::{Context, Stop};
use super::list;
use super::message::MessageReader;
use super::scalar::{Refused, Scalar};
use crate::model::{Arity, Field, FieldKind};
use crate::native::edit::{MessageMut, MessageSlots, Slots, Target};

pub(super) struct FieldReader<'c, 'o, 'm> {
    pub(super) context: &'c mut Context<'o>,
    /// The message that has the field.
    pub(super) message: MessageMut<'m>,
    pub(super) index: usize,
}

impl<'de> Reader<'de> for FieldReader<'_, '_, '_> {
    fn scalar<E: Error>(mut self, found: Found<'_>) -> Result<Given, E> {
        if found == Found::Null {
            return Ok(Given::Null);
        }
        let Some(field) = self.message.message_type().fields.get(self.index) else { return Ok(Given::Value) };
        if field.arity != Arity::One {
            let expected = format!("expected {}, got {found}", list::expected(field));
            self.context.problem(expected).map_err(E::custom)?;
            return Ok(Given::Value);
        }
        let context = self.context;
        match self.message.target(self.index) {
            Some(target) => match target {
                Target::Boolean(slots) => assign(slots, found, field, context),
                Target::Uint8(slots) => assign(slots, found, field, context),
                Target::Int8(slots) => assign(slots, found, field, context),
                Target::Uint16(slots) => assign(slots, found, field, context),
                Target::Int16(slots) => assign(slots, found, field, context),
                Target::Uint32(slots) => assign(slots, found, field, context),
                Target::Int32(slots) => assign(slots, found, field, context),
                Target::Uint64(slots) => assign(slots, found, field, context),
                Target::Int64(slots) => assign(slots, found, field, context),
                Target::Float32(slots) => assign(slots, found, field, context),
                Target::Float64(slots) => assign(slots, found, field, context),
                Target::Text(slots) => assign(slots, found, field, context),
                Target::WideText(slots) => assign(slots, found, field, context),
                Target::Messages(mut slots) => return message(&mut slots, context)?.scalar(found),
            },
            None => Err(context.fatal("there is no memory for it")),
        }
        .map_err(E::custom)?;
        Ok(Given::Value)
    }

    fn list<A: SeqAccess<'de>>(mut self, list: A) -> Result<Given, A::Error> {
        let Some(field) = self.message.message_type().fields.get(self.index) else { return Ok(Given::Value) };
        if field.arity == Arity::One {
            // Passes over the list.
            return Reader::list(Expected { context: self.context, expected: &field.kind.expected() }, list);
        }
        let element_size = self.message.element_size(self.index);
        match self.message.target(self.index) {
            Some(target) => list::read(list, target, field, element_size, self.context)?,
            None => return Err(A::Error::custom(self.context.fatal("there is no memory for it"))),
        }
        Ok(Given::Value)
    }

    fn object<A: MapAccess<'de>>(mut self, object: A) -> Result<Given, A::Error> {
        let Some(field) = self.message.message_type().fields.get(self.index) else { return Ok(Given::Value) };
        if field.arity != Arity::One {
            if matches!(field.kind, FieldKind::Byte | FieldKind::Uint8) {
                return list::read_base64(object, &mut self.message, self.index, field, self.context);
            }
            return Reader::object(Expected { context: self.context, expected: &list::expected(field) }, object);
        }
        if !matches!(field.kind, FieldKind::Message(_)) {
            return Reader::object(Expected { context: self.context, expected: &field.kind.expected() }, object);
        }
        match self.message.target(self.index) {
            Some(Target::Messages(mut slots)) => message(&mut slots, self.context)?.object(object),
            _ => Err(A::Error::custom(self.context.fatal("there is no memory for it"))),
        }
    }
}

/// The reader of a single message.
fn message<'c, 'o, 'm, E: Error>(
    slots: &'m mut MessageSlots<'_>,
    context: &'c mut Context<'o>,
) -> Result<MessageReader<'c, 'o, 'm>, E> {
    match slots.next() {
        Some(message) => Ok(MessageReader { context, message }),
        None => Err(E::custom(context.fatal("there is no memory for it"))),
    }
}

/// Gives the next element a value. A value that does not fit is noted.
pub(super) fn assign<T: Scalar>(
    mut slots: Slots<'_, T>,
    found: Found<'_>,
    field: &Field,
    context: &mut Context<'_>,
) -> Result<(), Stop> {
    assign_next(&mut slots, found, field, context)
}

/// As [`assign`], for one element of many.
pub(super) fn assign_next<T: Scalar>(
    slots: &mut Slots<'_, T>,
    found: Found<'_>,
    field: &Field,
    context: &mut Context<'_>,
) -> Result<(), Stop> {
    let Some(place) = slots.next() else { return Err(context.fatal("there is no memory for it")) };
    match place.assign(found, &field.kind, context) {
        Ok(()) => Ok(()),
        Err(Refused::Wrong(message)) => context.problem(message),
        Err(Refused::Stop(stop)) => Err(stop),
    }
}

/// Passes over a value that is of the wrong kind, and notes that.
pub(super) struct Expected<'c, 'o, 'e> {
    pub(super) context: &'c mut Context<'o>,
    pub(super) expected: &'e str,
}

impl<'de> Reader<'de> for Expected<'_, '_, '_> {
    fn scalar<E: Error>(self, found: Found<'_>) -> Result<Given, E> {
        self.context.problem(format!("expected {}, got {found}", self.expected)).map_err(E::custom)?;
        Ok(Given::Value)
    }
}

impl FieldKind {
    /// What a single value of the kind is called in errors.
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Float32 | Self::Float64 => "a number".to_owned(),
            Self::String { .. } | Self::WideString { .. } => "a text".to_owned(),
            Self::Message(_) => "an object".to_owned(),
            _ => match self.integer_range() {
                Some((lowest, highest)) => format!("a whole number from {lowest} to {highest}"),
                None => "a value".to_owned(),
            },
        }
    }
}
