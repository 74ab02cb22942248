//! How much of the machine a process may use.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The least memory that a process may be limited to: below, hardly a program starts.
const LEAST_BYTES: u64 = 1_000_000;
/// The most that may be written.
const MOST_BYTES: u64 = 1 << 50;
/// The least and the most processors.
const PROCESSORS: (f64, f64) = (0.01, 1_024.0);
/// What may stand behind a number of bytes.
const UNITS: [(&str, u64); 10] = [
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("G", 1 << 30),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("M", 1 << 20),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("K", 1 << 10),
    ("", 1),
];

/// An amount of memory: `"64 MB"`, `"1.5 GB"`, `"512 MiB"`, or a number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String")]
pub struct Bytes(u64);

impl Bytes {
    /// So many.
    #[must_use]
    pub const fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// How many.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
    }

    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|next: char| !next.is_ascii_digit() && next != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let (_, size) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
        #[expect(clippy::cast_precision_loss, reason = "no amount needs more digits than a float has")]
        let bytes = number.parse::<f64>().ok()? * *size as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is not negative, and bounded below"
        )]
        Some(Self(if bytes.is_finite() { bytes.min(MOST_BYTES as f64 * 2.0) as u64 } else { 0 }))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS
            .iter()
            .filter(|(name, _)| name.len() > 1)
            .find(|(_, size)| self.0 >= *size && self.0.is_multiple_of(*size));
        match whole {
            Some((name, size)) => write!(formatter, "{} {name}", self.0 / size),
            None => write!(formatter, "{} bytes", self.0),
        }
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        bytes.0.to_string()
    }
}

// By hand: a number and a text are both right.
impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl Visitor<'_> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an amount of memory, such as \"512 MB\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                let bytes = Bytes::read(text).filter(|bytes| (LEAST_BYTES..=MOST_BYTES).contains(&bytes.0));
                bytes.ok_or_else(|| {
                    E::custom(format!(
                        "{text:?} is no amount of memory; write one of at least 1 MB, such as \"512 MB\""
                    ))
                })
            }

            fn visit_u64<E: Error>(self, bytes: u64) -> Result<Bytes, E> {
                self.visit_str(&bytes.to_string())
            }

            fn visit_i64<E: Error>(self, bytes: i64) -> Result<Bytes, E> {
                self.visit_str(&bytes.to_string())
            }
        }

        deserializer.deserialize_any(BytesVisitor)
    }
}

/// A share of the machine's processors: 0.5 is half of one, 2 is two of them.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(extend("minimum" = PROCESSORS.0, "maximum" = PROCESSORS.1))]
pub struct Processors(f64);

impl Processors {
    /// In thousandths of one.
    #[must_use]
    pub fn thousandths(self) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
        let thousandths = (self.0 * 1_000.0).round() as u32;
        thousandths
    }
}

impl Eq for Processors {}

/// A number that no process can have of processors.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{processors} is no number of processors; write 0.5 for half of one, and at least {}", PROCESSORS.0)]
pub struct InvalidProcessors {
    /// The number.
    pub processors: f64,
}

impl TryFrom<f64> for Processors {
    type Error = InvalidProcessors;

    fn try_from(processors: f64) -> Result<Self, InvalidProcessors> {
        if (PROCESSORS.0..=PROCESSORS.1).contains(&processors) {
            Ok(Self(processors))
        } else {
            Err(InvalidProcessors { processors })
        }
    }
}

impl From<Processors> for f64 {
    fn from(processors: Processors) -> Self {
        processors.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_are_read_and_shown_as_people_write_them() {
        for (text, bytes, shown) in [
            ("64 MB", 64_000_000, "64 MB"),
            ("64MiB", 64 << 20, "64 MiB"),
            ("64M", 64 << 20, "64 MiB"),
            ("1.5 GB", 1_500_000_000, "1500 MB"),
            ("2G", 2 << 30, "2 GiB"),
            ("1048577", 1_048_577, "1048577 bytes"),
        ] {
            let read = Bytes::read(text).unwrap();
            assert_eq!((read.count(), read.to_string().as_str()), (bytes, shown), "{text}");
        }
        for text in ["", "much", "64 mb", "-1", "1e9", "64 MB/s"] {
            assert_eq!(Bytes::read(text), None, "{text}");
        }
    }
}
