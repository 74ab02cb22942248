//! A message: its fields by name, or what a convention makes of it.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::context::{Context, Crumb, Step};
use super::values;
use crate::Convention;
use crate::conventions::rotation::Rotation;
use crate::conventions::{identifier, time};
use crate::model::{Arity, Field, FieldKind};
use crate::native::view::{MessageView, Values};

/// Roughly what a field costs besides its value: quotes, colon, comma.
const PUNCTUATION: usize = 4;

pub(super) struct MessageJson<'a> {
    pub(super) view: MessageView<'a>,
    pub(super) context: &'a Context<'a>,
    pub(super) crumb: Option<&'a Crumb<'a>>,
}

impl Serialize for MessageJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let convention = self.context.conventions().and_then(|table| table.of(self.view.message_type()));
        match convention {
            Some(Convention::Time | Convention::Duration) => {
                if let Some(time) = time::get(self.view) {
                    return serializer.serialize_f64(time.seconds());
                }
            }
            Some(Convention::Rotation) => {
                if let Some(rotation) = Rotation::get(self.view) {
                    return rotation.serialize(serializer);
                }
            }
            Some(Convention::HexText) => {
                if let Some(text) = identifier::text(self.view) {
                    return serializer.serialize_str(&text);
                }
            }
            Some(Convention::Hidden) => return serializer.serialize_unit(),
            Some(Convention::Header | Convention::Plain) | None => {}
        }
        self.fields(serializer)
    }
}

impl MessageJson<'_> {
    fn fields<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = &self.view.message_type().fields;
        let mut map = serializer.serialize_map(Some(fields.len()))?;
        for (index, field) in fields.iter().enumerate() {
            let crumb = Crumb { parent: self.crumb, step: Step::Field(&field.name) };
            if self.is_hidden(field) {
                self.context.leave_out(Some(&crumb), format!("a {}", field.kind.name()));
                continue;
            }
            let Some(values) = self.view.values(index) else { continue };
            self.context.spend(field.name.len() + PUNCTUATION);
            let json = FieldJson { field, values, context: self.context, crumb: Some(&crumb) };
            map.serialize_entry(&field.name, &json)?;
        }
        map.end()
    }

    fn is_hidden(&self, field: &Field) -> bool {
        match (&field.kind, self.context.conventions()) {
            (FieldKind::Message(nested), Some(conventions)) => conventions.of(nested) == Some(Convention::Hidden),
            _ => false,
        }
    }
}

pub(super) struct FieldJson<'a> {
    pub(super) field: &'a Field,
    pub(super) values: Values<'a>,
    pub(super) context: &'a Context<'a>,
    pub(super) crumb: Option<&'a Crumb<'a>>,
}

impl Serialize for FieldJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { field, values, context, crumb } = *self;
        let Values::Messages(messages) = values else { return values::serialize(self, serializer) };
        if field.arity == Arity::One {
            return match messages.get(0) {
                Some(view) => MessageJson { view, context, crumb }.serialize(serializer),
                None => serializer.serialize_unit(),
            };
        }
        values::list(serializer, messages.len(), self, |list, index, crumb| match messages.get(index) {
            Some(view) => list.serialize_element(&MessageJson { view, context, crumb: Some(crumb) }),
            None => Ok(()),
        })
    }
}
