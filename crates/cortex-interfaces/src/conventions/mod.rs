//! How some types are written for models and people: times in seconds, directions in degrees.
//!
//! This is the one place that knows of certain types. It is used by the schema, by reading and by writing, so that the
//! three agree.

pub(crate) mod identifier;
pub(crate) mod rotation;
pub(crate) mod time;

use std::collections::BTreeMap;

use serde::de::MapAccess;

pub use time::Timestamp;

use crate::model::{Arity, FieldKind};
use crate::native::edit::{MessageMut, Target};
use crate::read::{Context, Found, Given, Stop};
use crate::{Convention, InterfaceName, MessageType};

/// Which types are written how. The default knows the common ones; add your own with [`Conventions::with`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conventions {
    by_type: BTreeMap<InterfaceName, Convention>,
}

/// What everyone would expect.
const COMMON: [(&str, Convention); 5] = [
    ("builtin_interfaces/msg/Time", Convention::Time),
    ("builtin_interfaces/msg/Duration", Convention::Duration),
    ("geometry_msgs/msg/Quaternion", Convention::Rotation),
    ("std_msgs/msg/Header", Convention::Header),
    ("unique_identifier_msgs/msg/UUID", Convention::HexText),
];

impl Default for Conventions {
    fn default() -> Self {
        let named = COMMON.into_iter().filter_map(|(name, convention)| Some((name.parse().ok()?, convention)));
        Self { by_type: named.collect() }
    }
}

impl Conventions {
    /// These, and one more. Replaces what the type had; [`Convention::Plain`] takes it away.
    #[must_use]
    pub fn with(mut self, message_type: InterfaceName, convention: Convention) -> Self {
        self.by_type.insert(message_type, convention);
        self
    }

    /// How the type is written; none for plainly.
    #[must_use]
    pub fn of(&self, message_type: &MessageType) -> Option<Convention> {
        let convention = *self.by_type.get(&message_type.name)?;
        fits(convention, message_type).then_some(convention)
    }
}

/// Whether the type has the fields that the convention is about.
fn fits(convention: Convention, message_type: &MessageType) -> bool {
    let has = |name: &str, is_kind: fn(&FieldKind) -> bool| {
        message_type.field(name).is_some_and(|field| field.arity == Arity::One && is_kind(&field.kind))
    };
    match convention {
        Convention::Time | Convention::Duration => {
            has("sec", |kind| *kind == FieldKind::Int32) && has("nanosec", |kind| *kind == FieldKind::Uint32)
        }
        Convention::Rotation => {
            ["x", "y", "z", "w"].into_iter().all(|name| has(name, |kind| *kind == FieldKind::Float64))
        }
        Convention::Header => {
            has("stamp", |kind| matches!(kind, FieldKind::Message(_)))
                && has("frame_id", |kind| matches!(kind, FieldKind::String { .. }))
        }
        Convention::HexText => identifier::length(message_type).is_some(),
        Convention::Hidden => true,
        Convention::Plain => false,
    }
}

/// Reads a value that is no object into a message.
pub(crate) fn read_scalar(
    convention: Option<Convention>,
    found: Found<'_>,
    message: MessageMut<'_>,
    context: &mut Context<'_>,
) -> Result<(), Stop> {
    match convention {
        Some(Convention::Time) => time::read_time(found, message, context),
        Some(Convention::Duration) => time::read_duration(found, message, context),
        Some(Convention::HexText) => identifier::read(found, message, context),
        _ => context.problem(format!("expected an object, got {found}")),
    }
}

/// Reads a rotation.
pub(crate) fn read_rotation<'de, A: MapAccess<'de>>(
    object: A,
    message: MessageMut<'_>,
    context: &mut Context<'_>,
) -> Result<Given, A::Error> {
    rotation::read(object, message, context)
}

/// A field was not given: gives now to every time in it. Whether that is all that the field needs.
pub(crate) fn fill_absent(context: &Context<'_>, message: &mut MessageMut<'_>, index: usize) -> bool {
    let (Some(conventions), Some(now)) = (context.conventions(), context.options.now) else { return false };
    fill_field(conventions, now, message, index)
}

fn fill_field(conventions: &Conventions, now: Timestamp, message: &mut MessageMut<'_>, index: usize) -> bool {
    let Some(field) = message.message_type().fields.get(index) else { return false };
    let FieldKind::Message(nested) = &field.kind else { return false };
    // A sequence starts empty, and to look at its elements would empty it.
    if matches!(field.arity, Arity::Sequence { .. }) {
        return false;
    }
    let convention = conventions.of(nested);
    let Some(Target::Messages(mut elements)) = message.target(index) else { return false };
    while let Some(mut element) = elements.next() {
        if convention == Some(Convention::Time) {
            time::set(&mut element, now);
        } else {
            for index in 0..nested.fields.len() {
                fill_field(conventions, now, &mut element, index);
            }
        }
    }
    matches!(convention, Some(Convention::Time | Convention::Header))
}

/// The place of a field in its type.
pub(crate) fn position(message_type: &MessageType, name: &str) -> Option<usize> {
    message_type.fields.iter().position(|field| field.name == name)
}
