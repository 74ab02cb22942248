//! Bytes that identify something, as hexadecimal text.

use std::fmt::Write as _;

use crate::MessageType;
use crate::model::{Arity, FieldKind};
use crate::native::edit::{MessageMut, Target};
use crate::native::view::{MessageView, Values};
use crate::read::{Context, Found, Stop};

/// Longer lists of bytes are no identifiers.
const MOST_BYTES: usize = 64;

/// How many bytes the type has, if it is one for identifiers.
pub(crate) fn length(message_type: &MessageType) -> Option<usize> {
    match message_type.fields.as_slice() {
        [field] if field.kind == FieldKind::Uint8 => match field.arity {
            Arity::Array(count) if count <= MOST_BYTES => Some(count),
            _ => None,
        },
        _ => None,
    }
}

/// Reads an identifier. Hyphens may stand anywhere.
pub(super) fn read(found: Found<'_>, mut message: MessageMut<'_>, context: &mut Context<'_>) -> Result<(), Stop> {
    let length = length(message.message_type()).unwrap_or_default();
    let bytes = match found {
        Found::Text(text) => decode(text, length),
        _ => None,
    };
    let Some(bytes) = bytes else {
        return context.problem(format!("expected {} hexadecimal digits, got {found}", length * 2));
    };
    if let Some(Target::Uint8(mut slots)) = message.target(0) {
        for byte in bytes {
            if let Some(place) = slots.next() {
                *place = byte;
            }
        }
    }
    Ok(())
}

fn decode(text: &str, length: usize) -> Option<Vec<u8>> {
    // Twice the digits is more than enough room for hyphens.
    if text.len() > length * 4 {
        return None;
    }
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|character| *character != '-')
        .map(|character| character.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| digits.len() == length * 2)?;
    Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

/// The text of an identifier.
pub(crate) fn text(message: MessageView<'_>) -> Option<String> {
    let Some(Values::Uint8(bytes)) = message.values(0) else { return None };
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_with_and_without_hyphens() {
        assert_eq!(decode("00ff", 2), Some(vec![0, 255]));
        assert_eq!(decode("0-0F-f", 2), Some(vec![0, 255]));
        assert_eq!(decode("00f", 2), None);
        assert_eq!(decode("00ff0", 2), None);
        assert_eq!(decode("00fg", 2), None);
        assert_eq!(decode("+0ff", 2), None);
        assert_eq!(decode(&"-".repeat(10_000_000), 2), None);
    }
}
