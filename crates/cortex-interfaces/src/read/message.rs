//! A message: its fields by name, and what is filled in where a field is not given.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::Missing;
use super::any::{Any, Found, Given, Reader};
use super::context::{Context, Step, Stop, quoted};
use super::field::FieldReader;
use crate::model::Field;
use crate::native::edit::MessageMut;
use crate::{Convention, conventions};

/// How many names an error lists.
const MOST_LISTED: usize = 20;

pub(super) struct MessageReader<'c, 'o, 'm> {
    pub(super) context: &'c mut Context<'o>,
    pub(super) message: MessageMut<'m>,
}

impl MessageReader<'_, '_, '_> {
    fn convention(&self) -> Option<Convention> {
        self.context.conventions()?.of(self.message.message_type())
    }
}

impl<'de> Reader<'de> for MessageReader<'_, '_, '_> {
    fn scalar<E: Error>(self, found: Found<'_>) -> Result<Given, E> {
        if found == Found::Null {
            return Ok(Given::Null);
        }
        let convention = self.convention();
        conventions::read_scalar(convention, found, self.message, self.context).map_err(E::custom)?;
        Ok(Given::Value)
    }

    fn object<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Given, A::Error> {
        if self.context.depth() > self.context.limits().depth {
            let problem = format!("nested more than {} deep", self.context.limits().depth);
            return Err(A::Error::custom(self.context.fatal(problem)));
        }
        if self.convention() == Some(Convention::Rotation) {
            return conventions::read_rotation(object, self.message, self.context);
        }
        let context = self.context;
        let message_type = self.message.message_type();
        let mut seen = Seen::default();
        let mut next = 0;
        while let Some(key) = object.next_key_seed(KeySeed { fields: &message_type.fields, guess: next })? {
            let index = match key {
                Key::Field(index) => index,
                Key::Unknown(name) => {
                    object.next_value::<IgnoredAny>()?;
                    context.problem_of(&name, unknown(&message_type.fields)).map_err(A::Error::custom)?;
                    continue;
                }
            };
            next = index + 1;
            context.enter(Step::Field(index));
            if seen.contains(index) {
                object.next_value::<IgnoredAny>()?;
                context.problem("given twice").map_err(A::Error::custom)?;
            } else {
                let field = FieldReader { context, message: self.message.reborrow(), index };
                if object.next_value_seed(Any(field))? == Given::Value {
                    seen.insert(index);
                }
            }
            context.leave();
        }
        if context.options.missing == Missing::Refuse || context.options.now.is_some() {
            for index in (0..message_type.fields.len()).filter(|index| !seen.contains(*index)) {
                absent(context, &mut self.message, index).map_err(A::Error::custom)?;
            }
        }
        Ok(Given::Value)
    }
}

/// A field was not given: it is filled in by a convention, or has its default, or that is refused.
pub(super) fn absent(context: &mut Context<'_>, message: &mut MessageMut<'_>, index: usize) -> Result<(), Stop> {
    if conventions::fill_absent(context, message, index) || context.options.missing == Missing::UseDefault {
        return Ok(());
    }
    context.enter(Step::Field(index));
    let result = context.problem("missing");
    context.leave();
    result
}

fn unknown(fields: &[Field]) -> String {
    if fields.is_empty() {
        return "there is no such field, nor any other".to_owned();
    }
    let mut names: Vec<&str> = fields.iter().take(MOST_LISTED).map(|field| field.name.as_str()).collect();
    if fields.len() > MOST_LISTED {
        names.push("…");
    }
    format!("there is no such field; there are: {}", names.join(", "))
}

/// The field that a key names.
enum Key {
    Field(usize),
    Unknown(String),
}

struct KeySeed<'a> {
    fields: &'a [Field],
    /// Where the field most likely is: fields mostly come in order.
    guess: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor(|key: &str| {
            if self.fields.get(self.guess).is_some_and(|field| field.name == key) {
                return Key::Field(self.guess);
            }
            match self.fields.iter().position(|field| field.name == key) {
                Some(index) => Key::Field(index),
                None => Key::Unknown(shown(key)),
            }
        }))
    }
}

/// A key as part of a path: as it is if it could be a name, and otherwise in quotes and shortened.
fn shown(key: &str) -> String {
    let is_name =
        !key.is_empty() && key.len() < 64 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name { key.to_owned() } else { quoted(key) }
}

/// Takes a key.
pub(crate) struct KeyVisitor<F>(pub(crate) F);

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for KeyVisitor<F> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<T, E> {
        Ok((self.0)(key))
    }
}

/// A set of fields, by place.
#[derive(Default)]
struct Seen {
    first: u128,
    others: Vec<usize>,
}

impl Seen {
    fn contains(&self, index: usize) -> bool {
        match bit(index) {
            Some(bit) => self.first & bit != 0,
            None => self.others.contains(&index),
        }
    }

    fn insert(&mut self, index: usize) {
        match bit(index) {
            Some(bit) => self.first |= bit,
            None => self.others.push(index),
        }
    }
}

fn bit(index: usize) -> Option<u128> {
    u32::try_from(index).ok().and_then(|index| 1_u128.checked_shl(index))
}
