//! Times in recipes.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Seconds of a day, the longest time that a recipe may name.
const DAY: f64 = 86_400.0;

/// A time in seconds: above 0, at most a day.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, JsonSchema)]
#[serde(into = "f64")]
#[schemars(with = "f64")]
#[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86_400))]
pub struct Seconds(f64);

impl Seconds {
    /// A whole number of seconds, as defaults have; 0 counts as 1, and more than a day as a day.
    pub(crate) const fn whole(seconds: u32) -> Self {
        match seconds {
            0 => Self(1.0),
            1..=86_400 => Self(seconds as f64),
            _ => Self(DAY),
        }
    }

    /// The same for programs.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0).unwrap_or_default()
    }
}

/// A number that is no time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} is no time; write a number of seconds above 0 and at most {DAY}")]
pub struct InvalidSeconds(pub f64);

impl TryFrom<f64> for Seconds {
    type Error = InvalidSeconds;

    fn try_from(seconds: f64) -> Result<Self, InvalidSeconds> {
        if seconds.is_finite() && seconds > 0.0 && seconds <= DAY {
            Ok(Self(seconds))
        } else {
            Err(InvalidSeconds(seconds))
        }
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

/// What is said of a value that is no number, after the value.
pub(crate) const NO_NUMBER: &str = " is no number of seconds";

/// Units that people write behind a time, and how many seconds each has.
const UNITS: [(&str, f64); 8] =
    [("ms", 0.001), ("s", 1.0), ("sec", 1.0), ("seconds", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0), ("", 1.0)];

/// The number of seconds that a text in quotes was probably meant as; 1.0 where nothing tells.
pub(crate) fn meant(quoted: &str) -> String {
    let text = quoted.trim_matches('"').trim();
    let end = text.find(|next: char| !next.is_ascii_digit() && next != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| factor);
    let seconds = number.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
    format!("{:?}", seconds.filter(|seconds| *seconds > 0.0 && *seconds <= DAY).unwrap_or(1.0))
}

// By hand, since "expected f64" tells nobody that "1s" is to be written 1.0.
impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecondsVisitor;

        impl Visitor<'_> for SecondsVisitor {
            type Value = Seconds;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number of seconds, such as 1.0")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Seconds, E> {
                Seconds::try_from(number).map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Seconds, E> {
                self.visit_f64(number as f64)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Seconds, E> {
                self.visit_f64(number as f64)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Seconds, E> {
                Err(E::custom(format!("{text:?}{NO_NUMBER}")))
            }

            fn visit_bool<E: Error>(self, word: bool) -> Result<Seconds, E> {
                Err(E::custom(format!("{word}{NO_NUMBER}")))
            }
        }

        deserializer.deserialize_any(SecondsVisitor)
    }
}
