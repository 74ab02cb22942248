//! One visitor for all values: what kind of value comes is asked of the JSON, never of the type, so that a wrong kind
//! is a problem with a path and not the end of reading.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::context::quoted;

/// A value that is neither list nor object; those are named only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Found<'a> {
    Null,
    Boolean(bool),
    Unsigned(u64),
    Negative(i64),
    Float(f64),
    Text(&'a str),
    List,
    Object,
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Boolean(value) => write!(formatter, "{value}"),
            Self::Unsigned(value) => write!(formatter, "{value}"),
            Self::Negative(value) => write!(formatter, "{value}"),
            Self::Float(value) => write!(formatter, "{value:?}"),
            Self::Text(text) => formatter.write_str(&quoted(text)),
            Self::List => formatter.write_str("a list"),
            Self::Object => formatter.write_str("an object"),
        }
    }
}

/// Whether there was a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// Right or wrong.
    Value,
    Null,
}

/// Takes one value.
pub(crate) trait Reader<'de>: Sized {
    /// Takes what is neither list nor object, or is told that there was one that was not taken.
    fn scalar<E: Error>(self, found: Found<'_>) -> Result<Given, E>;

    /// Takes a list.
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Given, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.scalar(Found::List)
    }

    /// Takes an object.
    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Given, A::Error> {
        ignore_all(&mut object)?;
        self.scalar(Found::Object)
    }
}

/// Passes over the rest of an object.
pub(crate) fn ignore_all<'de, A: MapAccess<'de>>(object: &mut A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Gives the reader the value, whatever it is.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, R: Reader<'de>>(
    deserializer: D,
    reader: R,
) -> Result<Given, D::Error> {
    deserializer.deserialize_any(Any(reader))
}

/// A reader, as serde wants it.
pub(crate) struct Any<R>(pub(crate) R);

impl<'de, R: Reader<'de>> DeserializeSeed<'de> for Any<R> {
    type Value = Given;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Given, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: Reader<'de>> Visitor<'de> for Any<R> {
    type Value = Given;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Given, E> {
        self.0.scalar(Found::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Given, E> {
        self.0.scalar(Found::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Given, E> {
        self.0.scalar(Found::Boolean(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Given, E> {
        self.0.scalar(Found::Unsigned(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Given, E> {
        self.0.scalar(u64::try_from(value).map_or(Found::Negative(value), Found::Unsigned))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Given, E> {
        self.0.scalar(Found::Float(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Given, E> {
        self.0.scalar(Found::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Given, A::Error> {
        self.0.list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Given, A::Error> {
        self.0.object(object)
    }
}
