//! Values that are no messages, and lists of anything.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::context::{Context, Crumb, Floats, Step};
use super::message::FieldJson;
use crate::model::{Arity, FieldKind};
use crate::native::element::{CBool, Text, WideText};
use crate::native::view::Values;
use crate::read::BASE64;

/// Roughly what a number costs.
const NUMBER: usize = 8;

/// Writes a field that consists of no messages.
pub(super) fn serialize<S: Serializer>(json: &FieldJson<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    if let Values::Uint8(bytes) = json.values
        && json.field.arity != Arity::One
        && matches!(json.field.kind, FieldKind::Byte | FieldKind::Uint8)
        && bytes.len() > json.context.options.base64_over
    {
        return binary(bytes, json, serializer);
    }
    match json.values {
        Values::Boolean(values) => elements(values, json, serializer),
        Values::Uint8(values) => elements(values, json, serializer),
        Values::Int8(values) => elements(values, json, serializer),
        Values::Uint16(values) => elements(values, json, serializer),
        Values::Int16(values) => elements(values, json, serializer),
        Values::Uint32(values) => elements(values, json, serializer),
        Values::Int32(values) => elements(values, json, serializer),
        Values::Uint64(values) => elements(values, json, serializer),
        Values::Int64(values) => elements(values, json, serializer),
        Values::Float32(values) => elements(values, json, serializer),
        Values::Float64(values) => elements(values, json, serializer),
        Values::Text(values) => elements(values, json, serializer),
        Values::WideText(values) => elements(values, json, serializer),
        // Written by the caller, with the fields of each.
        Values::Messages(_) => serializer.serialize_unit(),
    }
}

fn elements<S: Serializer, T: Scalar>(values: &[T], json: &FieldJson<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let context = json.context;
    if json.field.arity == Arity::One {
        return match values.first() {
            Some(value) => ScalarJson { value, context, crumb: json.crumb }.serialize(serializer),
            None => serializer.serialize_unit(),
        };
    }
    list(serializer, values.len(), json, |list, index, crumb| match values.get(index) {
        Some(value) => list.serialize_element(&ScalarJson { value, context, crumb: Some(crumb) }),
        None => Ok(()),
    })
}

/// Writes a list: as many elements as the limits allow, and then how many are missing.
pub(super) fn list<S: Serializer>(
    serializer: S,
    count: usize,
    json: &FieldJson<'_>,
    mut element: impl FnMut(&mut S::SerializeSeq, usize, &Crumb<'_>) -> Result<(), S::Error>,
) -> Result<S::Ok, S::Error> {
    let context = json.context;
    let most = count.min(context.options.limits.elements);
    let mut list = serializer.serialize_seq(Some(count))?;
    let mut written = 0;
    while written < most && context.bytes_left() > 0 {
        let crumb = Crumb { parent: json.crumb, step: Step::Index(written) };
        element(&mut list, written, &crumb)?;
        written += 1;
    }
    if written < count {
        let what = format!("{} of {count} elements", count - written);
        list.serialize_element(&format!("… {what} left out"))?;
        context.leave_out(json.crumb, what);
    }
    list.end()
}

/// Writes bytes as base64, or how many there are.
fn binary<S: Serializer>(bytes: &[u8], json: &FieldJson<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let context = json.context;
    let mut map = serializer.serialize_map(Some(1))?;
    if bytes.len() <= context.options.limits.binary_bytes.min(context.bytes_left()) {
        context.spend(bytes.len() / 3 * 4);
        map.serialize_entry(BASE64, &DisplayJson(Base64Display::new(bytes, &STANDARD)))?;
    } else {
        let what = format!("{} bytes", bytes.len());
        map.serialize_entry("left_out", &what)?;
        context.leave_out(json.crumb, what);
    }
    map.end()
}

struct DisplayJson<T>(T);

impl<T: std::fmt::Display> Serialize for DisplayJson<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

struct ScalarJson<'a, T> {
    value: &'a T,
    context: &'a Context<'a>,
    crumb: Option<&'a Crumb<'a>>,
}

impl<T: Scalar> Serialize for ScalarJson<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.write(self.context, self.crumb, serializer)
    }
}

/// A single value.
trait Scalar {
    fn write<S: Serializer>(
        &self,
        context: &Context<'_>,
        crumb: Option<&Crumb<'_>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error>;
}

macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl Scalar for $integer {
            fn write<S: Serializer>(
                &self,
                context: &Context<'_>,
                _: Option<&Crumb<'_>>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                context.spend(NUMBER);
                self.serialize(serializer)
            }
        }
    )+};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl Scalar for CBool {
    fn write<S: Serializer>(
        &self,
        context: &Context<'_>,
        _: Option<&Crumb<'_>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        context.spend(NUMBER);
        serializer.serialize_bool(self.get())
    }
}

impl Scalar for f64 {
    fn write<S: Serializer>(
        &self,
        context: &Context<'_>,
        _: Option<&Crumb<'_>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        context.spend(NUMBER);
        match unwritable(*self) {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_f64(*self),
        }
    }
}

impl Scalar for f32 {
    fn write<S: Serializer>(
        &self,
        context: &Context<'_>,
        _: Option<&Crumb<'_>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        context.spend(NUMBER);
        match (unwritable(f64::from(*self)), context.floats) {
            (Some(name), _) => serializer.serialize_str(name),
            (None, Floats::Short) => serializer.serialize_f32(*self),
            (None, Floats::Wide) => {
                // With the digits that text would have.
                let wide = serde_json::to_string(self).ok().and_then(|digits| digits.parse().ok());
                serializer.serialize_f64(wide.unwrap_or_else(|| f64::from(*self)))
            }
        }
    }
}

/// The name of a number that JSON has no digits for.
fn unwritable(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}

impl Scalar for Text {
    fn write<S: Serializer>(
        &self,
        context: &Context<'_>,
        crumb: Option<&Crumb<'_>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text(&String::from_utf8_lossy(self.bytes()), context, crumb, serializer)
    }
}

impl Scalar for WideText {
    fn write<S: Serializer>(
        &self,
        context: &Context<'_>,
        crumb: Option<&Crumb<'_>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text(&String::from_utf16_lossy(self.units()), context, crumb, serializer)
    }
}

fn text<S: Serializer>(
    text: &str,
    context: &Context<'_>,
    crumb: Option<&Crumb<'_>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let most = context.options.limits.string_bytes.min(context.bytes_left());
    context.spend(text.len());
    if text.len() <= most {
        return serializer.serialize_str(text);
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let what = format!("{} of {} bytes", text.len() - end, text.len());
    context.leave_out(crumb, what.clone());
    serializer.serialize_str(&format!("{}… {what} left out", text.get(..end).unwrap_or_default()))
}
