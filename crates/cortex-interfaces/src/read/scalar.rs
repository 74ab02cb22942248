//! Single values: is this one of the kind, and in range.

use super::Found;
use super::context::{Context, Stop, quoted};
use crate::model::FieldKind;
use crate::native::element::{CBool, Element, Text, WideText};

/// Whole numbers in JSON that come as floats are exact up to here: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Why a value was not taken.
pub(super) enum Refused {
    /// It is of the wrong kind, or out of range; reading goes on.
    Wrong(String),
    /// Reading ends.
    Stop(Stop),
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// An element that a single JSON value fills.
pub(super) trait Scalar: Element {
    /// Replaces the element. Unchanged when the value is refused.
    fn assign(&mut self, found: Found<'_>, kind: &FieldKind, context: &mut Context<'_>) -> Result<(), Refused>;
}

fn wrong<T>(expected: &str, found: Found<'_>) -> Result<T, Refused> {
    Err(Refused::Wrong(format!("expected {expected}, got {found}")))
}

impl Scalar for CBool {
    fn assign(&mut self, found: Found<'_>, _: &FieldKind, _: &mut Context<'_>) -> Result<(), Refused> {
        let Found::Boolean(value) = found else { return wrong("true or false", found) };
        *self = value.into();
        Ok(())
    }
}

macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl Scalar for $integer {
            fn assign(&mut self, found: Found<'_>, _: &FieldKind, _: &mut Context<'_>) -> Result<(), Refused> {
                let value = match found {
                    Found::Unsigned(value) => Self::try_from(value).ok(),
                    Found::Negative(value) => Self::try_from(value).ok(),
                    // JSON has one kind of number: 3.0 is 3.
                    #[expect(clippy::cast_possible_truncation, reason = "a whole number that is small enough")]
                    Found::Float(value) if value.fract() == 0.0 && value.abs() <= EXACT => {
                        Self::try_from(value as i64).ok()
                    }
                    // Many languages lose the last digits of large numbers, so these may also be written as text.
                    Found::Text(text) if Self::BITS == u64::BITS => text.parse().ok(),
                    _ => None,
                };
                match value {
                    Some(value) => *self = value,
                    None => return wrong(&format!("a whole number from {} to {}", Self::MIN, Self::MAX), found),
                }
                Ok(())
            }
        }
    )+};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl Scalar for f64 {
    fn assign(&mut self, found: Found<'_>, _: &FieldKind, _: &mut Context<'_>) -> Result<(), Refused> {
        match number(found) {
            Some(value) => *self = value,
            None => return wrong("a number", found),
        }
        Ok(())
    }
}

impl Scalar for f32 {
    fn assign(&mut self, found: Found<'_>, _: &FieldKind, _: &mut Context<'_>) -> Result<(), Refused> {
        let Some(wide) = number(found) else { return wrong("a number", found) };
        #[expect(clippy::cast_possible_truncation, reason = "the nearest one is what is wanted; range is checked")]
        let value = wide as Self;
        if wide.is_finite() && !value.is_finite() {
            return wrong("a number from -3.4e38 to 3.4e38", found);
        }
        *self = value;
        Ok(())
    }
}

/// A number, or the name of one that JSON can't write.
pub(crate) fn number(found: Found<'_>) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is what was meant")]
    match found {
        Found::Unsigned(value) => Some(value as f64),
        Found::Negative(value) => Some(value as f64),
        Found::Float(value) => Some(value),
        Found::Text("NaN") => Some(f64::NAN),
        Found::Text("Infinity") => Some(f64::INFINITY),
        Found::Text("-Infinity") => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// The text of a value, if it is one that a string of ROS can hold.
fn text<'a>(found: Found<'a>, context: &Context<'_>) -> Result<&'a str, Refused> {
    let Found::Text(text) = found else { return wrong("a text", found) };
    let limit = context.limits().string_bytes;
    if text.len() > limit {
        return Err(Refused::Wrong(format!("expected at most {limit} bytes of text, got {}", text.len())));
    }
    if text.contains('\0') {
        return Err(Refused::Wrong(format!("expected a text without zero characters, got {}", quoted(text))));
    }
    Ok(text)
}

impl Scalar for Text {
    fn assign(&mut self, found: Found<'_>, kind: &FieldKind, context: &mut Context<'_>) -> Result<(), Refused> {
        let text = text(found, context)?;
        if let FieldKind::String { bound: Some(bound) } = kind
            && text.len() > *bound
        {
            return wrong(&format!("a text of at most {bound} bytes"), found);
        }
        context.take(text.len())?;
        if Self::assign(self, text) { Ok(()) } else { Err(context.fatal("there is no memory for it").into()) }
    }
}

impl Scalar for WideText {
    fn assign(&mut self, found: Found<'_>, kind: &FieldKind, context: &mut Context<'_>) -> Result<(), Refused> {
        let text = text(found, context)?;
        let mut units = std::mem::take(&mut context.units);
        units.clear();
        units.extend(text.encode_utf16());
        let result = assign_units(self, &units, found, kind, context);
        context.units = units;
        result
    }
}

fn assign_units(
    place: &mut WideText,
    units: &[u16],
    found: Found<'_>,
    kind: &FieldKind,
    context: &mut Context<'_>,
) -> Result<(), Refused> {
    if let FieldKind::WideString { bound: Some(bound) } = kind
        && units.len() > *bound
    {
        return wrong(&format!("a text of at most {bound} UTF-16 units"), found);
    }
    context.take(size_of_val(units))?;
    if place.assign(units) { Ok(()) } else { Err(context.fatal("there is no memory for it").into()) }
}
