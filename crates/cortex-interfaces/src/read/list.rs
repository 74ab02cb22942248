//! Lists: fixed, bounded and unbounded, of values and of messages; and bytes as base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess};

use super::any::{Any, Found, Given, Reader, deserialize, ignore_all};
use super::context::{Context, Step, Stop};
use super::field::assign_next;
use super::message::MessageReader;
use super::scalar::Scalar;
use crate::model::{Arity, Field};
use crate::native::edit::{MessageMut, MessageSlots, Slots, Target};

/// The name under which bytes stand as base64.
pub(crate) const BASE64: &str = "base64";

/// What a list of the field is called in errors.
pub(super) fn expected(field: &Field) -> String {
    match field.arity {
        Arity::Array(count) => format!("a list of {count}"),
        Arity::Sequence { bound: Some(bound) } => format!("a list of at most {bound}"),
        Arity::One | Arity::Sequence { bound: None } => "a list".to_owned(),
    }
}

/// Reads a list into the elements of a field.
pub(super) fn read<'de, A: SeqAccess<'de>>(
    list: A,
    target: Target<'_>,
    field: &Field,
    element_size: usize,
    context: &mut Context<'_>,
) -> Result<(), A::Error> {
    let mut elements = Elements { list, field, element_size, context };
    match target {
        Target::Boolean(slots) => elements.values(slots),
        Target::Uint8(slots) => elements.values(slots),
        Target::Int8(slots) => elements.values(slots),
        Target::Uint16(slots) => elements.values(slots),
        Target::Int16(slots) => elements.values(slots),
        Target::Uint32(slots) => elements.values(slots),
        Target::Int32(slots) => elements.values(slots),
        Target::Uint64(slots) => elements.values(slots),
        Target::Int64(slots) => elements.values(slots),
        Target::Float32(slots) => elements.values(slots),
        Target::Float64(slots) => elements.values(slots),
        Target::Text(slots) => elements.values(slots),
        Target::WideText(slots) => elements.values(slots),
        Target::Messages(slots) => elements.messages(slots),
    }
}

struct Elements<'a, 'c, 'o, A> {
    list: A,
    field: &'a Field,
    element_size: usize,
    context: &'c mut Context<'o>,
}

impl<'de, A: SeqAccess<'de>> Elements<'_, '_, '_, A> {
    fn values<T: Scalar>(&mut self, mut slots: Slots<'_, T>) -> Result<(), A::Error> {
        slots.reserve(self.expected_growth());
        self.each(|list, field, context| list.next_element_seed(ValueSeed { slots: &mut slots, field, context }))
    }

    fn messages(&mut self, mut slots: MessageSlots<'_>) -> Result<(), A::Error> {
        slots.reserve(self.expected_growth());
        self.each(|list, _, context| list.next_element_seed(MessageSeed { slots: &mut slots, context }))
    }

    /// How many elements the list says it has, as far as that can be believed.
    fn expected_growth(&self) -> usize {
        let hint = self.list.size_hint().unwrap_or(0);
        hint.min(self.most()).min(self.context.room_for(self.element_size))
    }

    /// The most elements that are taken.
    fn most(&self) -> usize {
        let limit = self.context.limits().elements;
        match self.field.arity {
            Arity::One => 1,
            Arity::Array(count) => count,
            Arity::Sequence { bound } => bound.map_or(limit, |bound| bound.min(limit)),
        }
    }

    /// Reads one element after the other with `next`, and counts them.
    fn each(
        &mut self,
        mut next: impl FnMut(&mut A, &Field, &mut Context<'_>) -> Result<Option<()>, A::Error>,
    ) -> Result<(), A::Error> {
        let most = self.most();
        let grows = !matches!(self.field.arity, Arity::Array(_) | Arity::One);
        let mut count: usize = 0;
        while count < most {
            if grows {
                // Before the element is there: the last one is taken for nothing, which the limit allows for.
                self.context.take(self.element_size).map_err(A::Error::custom)?;
            }
            self.context.enter(Step::Index(count));
            let element = next(&mut self.list, self.field, self.context)?;
            self.context.leave();
            if element.is_none() {
                break;
            }
            count += 1;
        }
        if count == most {
            while self.list.next_element::<IgnoredAny>()?.is_some() {
                count += 1;
            }
        }
        self.check_count(count).map_err(A::Error::custom)
    }

    fn check_count(&mut self, count: usize) -> Result<(), Stop> {
        let limit = self.context.limits().elements;
        match self.field.arity {
            Arity::Array(exact) if count != exact => {
                self.context.problem(format!("expected {exact} elements, got {count}"))
            }
            Arity::Sequence { bound: Some(bound) } if count > bound => {
                self.context.problem(format!("expected at most {bound} elements, got {count}"))
            }
            Arity::Sequence { .. } if count > limit => {
                self.context.problem(format!("{count} elements; at most {limit} are read"))
            }
            _ => Ok(()),
        }
    }
}

/// The next value of a list.
struct ValueSeed<'a, 's, 'c, 'o, T> {
    slots: &'a mut Slots<'s, T>,
    field: &'a Field,
    context: &'c mut Context<'o>,
}

impl<'de, T: Scalar> DeserializeSeed<'de> for ValueSeed<'_, '_, '_, '_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserialize(deserializer, self).map(|_| ())
    }
}

impl<'de, T: Scalar> Reader<'de> for ValueSeed<'_, '_, '_, '_, T> {
    fn scalar<E: Error>(self, found: Found<'_>) -> Result<Given, E> {
        assign_next(self.slots, found, self.field, self.context).map_err(E::custom)?;
        Ok(Given::Value)
    }
}

/// The next message of a list.
struct MessageSeed<'a, 's, 'c, 'o> {
    slots: &'a mut MessageSlots<'s>,
    context: &'c mut Context<'o>,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { slots, context } = self;
        let Some(message) = slots.next() else {
            return Err(D::Error::custom(context.fatal("there is no memory for it")));
        };
        if deserialize(deserializer, MessageReader { context, message })? == Given::Null {
            context.problem("expected an object, got null").map_err(D::Error::custom)?;
        }
        Ok(())
    }
}

/// Reads `{"base64": "..."}` into a list of bytes.
pub(super) fn read_base64<'de, A: MapAccess<'de>>(
    mut object: A,
    message: &mut MessageMut<'_>,
    index: usize,
    field: &Field,
    context: &mut Context<'_>,
) -> Result<Given, A::Error> {
    let mut is_read = false;
    while let Some(key) = object.next_key_seed(IsBase64)? {
        if !key || is_read {
            object.next_value::<IgnoredAny>()?;
            ignore_all(&mut object)?;
            let message = format!("expected {}, or {{\"{BASE64}\": \"...\"}} and nothing else", expected(field));
            context.problem(message).map_err(A::Error::custom)?;
            return Ok(Given::Value);
        }
        is_read = true;
        context.enter(Step::Part(BASE64));
        object.next_value_seed(Any(Base64Reader { context, message, index, field }))?;
        context.leave();
    }
    if !is_read {
        context.problem(format!("expected {}, got an empty object", expected(field))).map_err(A::Error::custom)?;
    }
    Ok(Given::Value)
}

/// Whether a key is [`BASE64`].
struct IsBase64;

impl<'de> DeserializeSeed<'de> for IsBase64 {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_identifier(super::message::KeyVisitor(|key: &str| key == BASE64))
    }
}

struct Base64Reader<'c, 'o, 'm, 'a> {
    context: &'c mut Context<'o>,
    message: &'c mut MessageMut<'m>,
    index: usize,
    field: &'a Field,
}

impl Base64Reader<'_, '_, '_, '_> {
    fn decode(self, found: Found<'_>) -> Result<(), Stop> {
        let Found::Text(text) = found else {
            return self.context.problem(format!("expected bytes as base64, got {found}"));
        };
        // Four characters are at most three bytes.
        self.context.take(text.len() / 4 * 3)?;
        let bytes = match STANDARD.decode(text) {
            Ok(bytes) => bytes,
            Err(error) => return self.context.problem(format!("expected bytes as base64: {error}")),
        };
        let (most, exact) = match self.field.arity {
            Arity::Array(count) => (count, Some(count)),
            Arity::Sequence { bound } => (bound.unwrap_or(usize::MAX), None),
            Arity::One => (1, Some(1)),
        };
        if bytes.len() > most.min(self.context.limits().elements) || exact.is_some_and(|exact| bytes.len() != exact) {
            return self.context.problem(format!("expected {}, got {} bytes", expected(self.field), bytes.len()));
        }
        let Some(Target::Uint8(mut slots)) = self.message.target(self.index) else {
            return Err(self.context.fatal("there is no memory for it"));
        };
        slots.reserve(bytes.len());
        for byte in bytes {
            match slots.next() {
                Some(place) => *place = byte,
                None => return Err(self.context.fatal("there is no memory for it")),
            }
        }
        Ok(())
    }
}

impl<'de> Reader<'de> for Base64Reader<'_, '_, '_, '_> {
    fn scalar<E: Error>(self, found: Found<'_>) -> Result<Given, E> {
        self.decode(found).map_err(E::custom)?;
        Ok(Given::Value)
    }
}
